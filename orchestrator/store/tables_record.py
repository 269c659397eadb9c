"""Tables of the record, which never change: reports, decisions, hand-offs, status changes, refusals, events."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns


def _effect_index(name: str, where: str) -> sa.Index:
    return sa.Index(f"ix_agent_reports_{name}", "session_id", "group_id", "seq", sqlite_where=sa.text(where))


agent_reports = sa.Table(
    "agent_reports",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("seq"),
    columns.integer("part", default=1),
    columns.step_id("R"),
    columns.text("group_id", null=True),
    columns.text("role"),
    sa.Column("agent_id", sa.Text, sa.ForeignKey("agents.id"), nullable=False),
    columns.text("response_status"),
    columns.text("raw_role"),
    columns.text("raw_status"),
    columns.text("effect"),
    columns.integer("turn", null=True),
    columns.integer("turn_assumed"),
    columns.text("summary"),
    columns.text("details"),
    columns.text("metadata", null=True),
    columns.text("raw_hash", null=True),
    columns.text("reported_at"),
    sa.UniqueConstraint("session_id", "seq", "part"),
    sa.CheckConstraint("part = 1", name="one_report_per_step"),
    # What can void an approval: everything but merges; of the project manager only rework and defer count.
    # A report that a person is asked about has the effect `withheld` and counts for nothing.
    _effect_index(
        "standing",
        "effect <> 'merge' AND effect <> 'withheld'"
        " AND (role <> 'project_manager' OR effect IN ('rework', 'defer'))",
    ),
    *(
        _effect_index(effect, f"effect = '{effect}'")
        for effect in ("approve", "merge", "submit_test", "submit_review", "test_pass", "test_fail")
    ),
    _effect_index("qa_answer", "role = 'qa_expert' AND effect IN ('test_pass', 'test_fail', 'inconclusive', 'block')"),
    _effect_index("by_qa", "role = 'qa_expert' AND effect <> 'withheld'"),
    _effect_index("by_tech_lead", "role = 'tech_lead' AND effect <> 'withheld'"),
    _effect_index("by_manager", "role = 'project_manager' AND effect <> 'withheld'"),
    _effect_index("block", "effect = 'block'"),
    sa.Index("ix_agent_reports_confirm", "session_id", "seq", sqlite_where=sa.text("effect = 'confirm'")),
    sa.Index("ix_agent_reports_key", "session_id", "group_id", "role", "response_status", "seq"),
)

acknowledgements = sa.Table(
    "acknowledgements",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("seq"),
    columns.integer("part", default=1),
    columns.text("group_id"),
    columns.text("reason"),
    sa.PrimaryKeyConstraint("session_id", "seq", "part"),
    sa.Index("ix_acknowledgements_group", "session_id", "group_id", "seq"),
    sqlite_with_rowid=False,
)

router_decisions = sa.Table(
    "router_decisions",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("seq"),
    columns.integer("part", default=1),
    columns.step_id("D"),
    columns.text("group_id", null=True),
    columns.text("current_agent"),
    columns.text("response_status"),
    columns.text("next_agent", null=True),
    columns.text("action"),
    columns.text("timestamp"),
    columns.text("report_id", null=True),
    columns.text("cause"),
    columns.text("rules"),
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    columns.integer("rules_version"),
    columns.text("handoff_hash", null=True),
    columns.integer("mandatory_review", default=0),
    columns.text("answer"),
    sa.UniqueConstraint("session_id", "seq", "part"),
    sa.CheckConstraint(
        "(report_id IS NULL OR (part = 1 AND report_id = session_id || '\\:R' || seq))"
        " AND (report_id IS NOT NULL) = (cause = 'report')",
        name="report_id",
    ),
    sa.Index("idx_router_decisions_session", "session_id", "group_id"),
    sa.Index(
        "ix_router_decisions_mandatory", "session_id", "group_id", "seq", sqlite_where=sa.text("mandatory_review = 1")
    ),
    sa.Index(
        "ix_router_decisions_redispatch", "session_id", "group_id", "seq", sqlite_where=sa.text("cause = 'redispatch'")
    ),
)

handoffs = sa.Table(
    "handoffs",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("turn"),
    columns.text("group_id"),
    columns.text("agent_id"),
    columns.text("document"),
    columns.text("hash"),
    sa.UniqueConstraint("session_id", "group_id", "turn"),
)

context_items = sa.Table(
    "context_items",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.text("group_id"),
    columns.text("name"),
    columns.integer("seq"),
    sa.PrimaryKeyConstraint("session_id", "group_id", "name", "seq"),
    sqlite_with_rowid=False,
)

status_changes = sa.Table(
    "status_changes",
    columns.metadata,
    columns.text("session_id"),
    columns.integer("seq"),
    columns.integer("part", default=1),
    columns.text("entity"),
    columns.text("entity_id"),
    columns.text("from_status", null=True),
    columns.text("to_status"),
    columns.text("changed_by"),
    columns.text("changed_at"),
    columns.text("reason"),
    columns.text("cause"),
    sa.PrimaryKeyConstraint("session_id", "seq", "part"),
    sa.Index("ix_status_changes_entity", "session_id", "entity", "entity_id", "seq"),
    sa.Index(
        "ix_status_changes_reopened",
        "session_id",
        "entity",
        "entity_id",
        "seq",
        sqlite_where=sa.text("from_status = 'completed'"),
    ),
    sqlite_with_rowid=False,
)

refusals = sa.Table(
    "refusals",
    columns.metadata,
    columns.text("session_id"),
    columns.integer("seq"),
    columns.integer("part", default=1),
    columns.step_id("X"),
    columns.text("door"),
    columns.text("actor", null=True),
    columns.text("claimed_session", null=True),
    columns.text("group_id", null=True),
    columns.text("role", null=True),
    columns.text("status", null=True),
    columns.integer("turn", null=True),
    columns.text("code"),
    columns.text("detail"),
    columns.text("refused_at"),
    sa.UniqueConstraint("session_id", "seq", "part"),
    sa.Index("ix_refusals_turn", "session_id", "group_id", "turn", "seq", sqlite_where=sa.text("turn IS NOT NULL")),
)

requests = sa.Table(
    "requests",
    columns.metadata,
    columns.text("session_id"),
    columns.text("request_id"),
    columns.text("command"),
    columns.text("input_hash"),
    columns.integer("seq"),
    columns.text("answer"),
    sa.PrimaryKeyConstraint("session_id", "request_id"),
    sqlite_with_rowid=False,
)

texts = sa.Table(
    "texts",
    columns.metadata,
    sa.Column("hash", sa.Text, primary_key=True),
    columns.text("content"),
)

audit_events = sa.Table(
    "audit_events",
    columns.metadata,
    columns.text("session_id"),
    columns.integer("seq"),
    columns.text("kind"),
    columns.text("actor"),
    columns.text("channel"),
    columns.text("at"),
    columns.text("input"),
    columns.text("rows"),
    sa.Column("prev_hash", sa.LargeBinary, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("session_id", "seq"),
    sa.CheckConstraint("seq >= 1", name="seq"),
)
