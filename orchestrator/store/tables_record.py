"""Tables of the record: reports, decisions, hand-offs, events; versions of workflows; people; imports. Few change."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

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
    # Each further index would be a page of its own in nearly every step (STO-34).
    sa.Index("ix_agent_reports_group", "session_id", "group_id", "seq", "role", "effect"),
    sa.Index("ix_agent_reports_confirm", "session_id", "seq", sqlite_where=sa.text("effect = 'confirm'")),
    sa.Index("ix_agent_reports_verdict", "session_id", "seq", sqlite_where=sa.text("role = 'validator'")),
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
    columns.text("handoff_agent", null=True),
    columns.text("handoff", null=True),
    columns.text("handoff_group", null=True),
    columns.text("handoff_group_hash", null=True),
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

standalone_handoffs = sa.Table(
    "standalone_handoffs",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("turn"),
    columns.text("group_id"),
    columns.text("agent_id"),
    columns.text("document"),
    columns.text("hash"),
    sa.UniqueConstraint("session_id", "group_id", "turn"),
)
"""Hand-offs that no single decision can hold: it starts several agents, or one for the session as a whole; and those
that older versions wrote here. The view `handoffs` has these and the others."""

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
    sa.Index("ix_refusals_gate", "session_id", "group_id", "turn", sqlite_where=sa.text("code = 'GATE_FAILED'")),
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


workflow_versions = sa.Table(
    "workflow_versions",
    columns.metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    columns.text("hash"),
    columns.text("name"),
    columns.text("content"),
    columns.text("transitions_hash"),
    columns.text("loaded_at"),
    columns.integer("seq"),
    sa.UniqueConstraint("hash"),
)

workflow_transitions = sa.Table(
    "workflow_transitions",
    columns.metadata,
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    columns.text("current_agent"),
    columns.text("response_status"),
    columns.text("next_agent", null=True),
    columns.text("action"),
    columns.text("include_context", null=True),
    columns.integer("escalation_check", default=0),
    columns.text("model_override", null=True),
    columns.text("fallback_agent", null=True),
    columns.integer("bypass_qa", default=0),
    columns.integer("max_parallel", null=True),
    columns.text("then_action", null=True),
    columns.text("effect"),
    sa.PrimaryKeyConstraint("workflow_version_id", "current_agent", "response_status"),
    sqlite_with_rowid=False,
)

workflow_activations = sa.Table(
    "workflow_activations",
    columns.metadata,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    columns.text("activated_by"),
    columns.text("activated_at"),
)

agent_files = sa.Table(
    "agent_files",
    columns.metadata,
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    columns.text("role"),
    columns.text("name"),
    columns.text("model", null=True),
    columns.text("reports_to", null=True),
    columns.text("content"),
    columns.text("hash"),
    sa.PrimaryKeyConstraint("workflow_version_id", "name"),
)


human_tokens = sa.Table(
    "human_tokens",
    columns.metadata,
    sa.Column("id", sa.Text, primary_key=True),
    columns.integer("seq"),
    sa.Column("agent_id", sa.Text, sa.ForeignKey("agents.id"), nullable=False),
    columns.text("hash"),
    columns.text("enrolled_at"),
    sa.UniqueConstraint("hash"),
    sa.Index("ix_human_tokens_agent", "agent_id", "seq"),
    sqlite_with_rowid=False,
)
"""Only the newest token of a person is in force; the token itself is kept nowhere."""

human_credentials = sa.Table(
    "human_credentials",
    columns.metadata,
    sa.Column("id", sa.Text, primary_key=True),
    columns.integer("seq"),
    sa.Column("agent_id", sa.Text, sa.ForeignKey("agents.id"), nullable=False),
    columns.text("kind"),
    columns.text("created_at"),
    columns.text("verifier", null=True),
    columns.text("source", null=True),
    columns.text("rests_on", null=True),
    columns.text("ends", null=True),
    columns.text("due_at", null=True),
    columns.one_of("kind", ("passphrase", "ssh-key", "removal", "reset", "link", "use")),
    sa.UniqueConstraint("ends"),
    sqlite_with_rowid=False,
)
"""What proves a person, and what ended it.

verifier: the scrypt hash of a passphrase, a public key, the hash of a link's code. source: the file of a key, as it was
named. rests_on: the passphrase or key by which a link was made. ends: the row, or the token, that a removal, a use or a
newer passphrase ends. due_at: when a reset counts, or a link ends.
"""

resume_points = sa.Table(
    "resume_points",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("seq"),
    columns.text("group_id", null=True),
    columns.text("task_id", null=True),
    columns.text("status"),
    columns.text("type"),
    columns.text("class"),
    columns.text("stage", null=True),
    columns.integer("phases_completed", null=True),
    columns.integer("phases_total", null=True),
    columns.text("handoff_path", null=True),
    sa.PrimaryKeyConstraint("session_id", "seq"),
    columns.one_of("status", ("partial", "blocked", "failed")),
    columns.one_of("class", ("soft", "hard")),
    sa.Index("ix_resume_points_group", "session_id", "group_id", "seq"),
    sqlite_with_rowid=False,
)
"""Where a report with return metadata stopped, and by what; only a partial one is a point to resume from."""


imported_sessions = sa.Table(
    "imported_sessions",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("seq"),
    columns.text("peer_id"),
    columns.text("peer_status", null=True),
    columns.integer("peer_version", null=True),
    columns.text("source"),
    columns.text("source_hash"),
    sa.PrimaryKeyConstraint("session_id"),
    sqlite_with_rowid=False,
)

grandfathered_groups = sa.Table(
    "grandfathered_groups",
    columns.metadata,
    columns.text("session_id"),
    columns.text("group_id"),
    columns.integer("seq"),
    columns.text("peer_id"),
    columns.text("peer_status", null=True),
    columns.text("completed_at", null=True),
    sa.PrimaryKeyConstraint("session_id", "group_id"),
    # The group is written after this row, since its own guard asks for it.
    sa.ForeignKeyConstraint(
        ["session_id", "group_id"],
        ["task_groups.session_id", "task_groups.id"],
        deferrable=True,
        initially="DEFERRED",
    ),
    sqlite_with_rowid=False,
)

imported_logs = sa.Table(
    "imported_logs",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("imported_sessions.session_id"), nullable=False),
    columns.integer("seq"),
    columns.integer("part", default=1),
    columns.text("group_id", null=True),
    columns.text("peer_id", null=True),
    columns.text("agent", null=True),
    columns.text("kind", null=True),
    columns.text("logged_at", null=True),
    columns.text("content"),
    columns.text("more", null=True),
    sa.UniqueConstraint("session_id", "seq", "part"),
)

import_findings = sa.Table(
    "import_findings",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("imported_sessions.session_id"), nullable=False),
    columns.integer("seq"),
    columns.integer("part", default=1),
    columns.text("group_id", null=True),
    columns.text("code"),
    columns.text("text"),
    sa.PrimaryKeyConstraint("session_id", "seq", "part"),
    sa.Index("ix_import_findings_group", "session_id", "group_id"),
    sqlite_with_rowid=False,
)
