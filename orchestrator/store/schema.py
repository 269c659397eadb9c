"""The tables, declared once. Migrations are compared with this; triggers and the completion view stand in `guards`.

Fat append-only tables keep SQLite's rowid (a row of a WITHOUT ROWID table travels in the inner nodes of its tree);
the small keyed ones do without, so that no REPLACE can reach a row by a number that no trigger sees.
`id` columns of the append-only tables are derived from session and step, never stored and never random.
"""

from __future__ import annotations

import sqlalchemy as sa

STORE_CHAIN = "@store"
"""The chain of steps that belong to no session. `@` is outside the alphabet of session ids."""

GROUP_STATUSES = ("pending", "in_progress", "completed", "deferred_external", "cancelled")

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=null)


def _int(name: str, *, null: bool = False, default: int | None = None) -> sa.Column[int]:
    server_default = None if default is None else sa.text(str(default))
    return sa.Column(name, sa.Integer, nullable=null, server_default=server_default)


def _one_of(name: str, values: tuple[str, ...]) -> sa.CheckConstraint:
    allowed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{name} IN ({allowed})", name=name)


def _flag(name: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{name} IN (0, 1)", name=name)


def _step_id(letter: str) -> sa.Column[str]:
    """The readable id of a row that a step wrote: `S1:D12`, and `S1:D12.2` for its second part."""
    return sa.Column(
        "id",
        sa.Text,
        sa.Computed(
            f"session_id || '\\:{letter}' || seq || CASE WHEN part = 1 THEN '' ELSE '.' || part END", persisted=False
        ),
        nullable=False,
    )


def _awaited() -> tuple[sa.Column[str] | sa.Column[int], ...]:
    """Whom a session or group waits for, since when, and under which turn."""
    return (
        _text("awaited_role", null=True),
        _text("awaited_agent_id", null=True),
        _text("awaited_action", null=True),
        _int("turn", null=True),
        _text("awaited_since", null=True),
        _text("held", null=True),
        _int("held_seq", null=True),
        _int("held_part", null=True),
    )


def _status_change() -> tuple[sa.Column[str] | sa.Column[int], ...]:
    return (_text("status"), _text("status_changed_by", null=True), _text("status_changed_at"), _int("status_seq"))


workflow_versions = sa.Table(
    "workflow_versions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    _text("hash"),
    _text("name"),
    _text("content"),
    _text("transitions_hash"),
    _text("loaded_at"),
    _int("seq"),
    sa.UniqueConstraint("hash"),
)

workflow_transitions = sa.Table(
    "workflow_transitions",
    metadata,
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    _text("current_agent"),
    _text("response_status"),
    _text("next_agent", null=True),
    _text("action"),
    _text("include_context", null=True),
    _int("escalation_check", default=0),
    _text("model_override", null=True),
    _text("fallback_agent", null=True),
    _int("bypass_qa", default=0),
    _int("max_parallel", null=True),
    _text("then_action", null=True),
    _text("effect"),
    sa.PrimaryKeyConstraint("workflow_version_id", "current_agent", "response_status"),
    sqlite_with_rowid=False,
)

workflow_activations = sa.Table(
    "workflow_activations",
    metadata,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    _text("activated_by"),
    _text("activated_at"),
)

agent_files = sa.Table(
    "agent_files",
    metadata,
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    _text("role"),
    _text("name"),
    _text("model", null=True),
    _text("reports_to", null=True),
    _text("content"),
    _text("hash"),
    sa.PrimaryKeyConstraint("workflow_version_id", "name"),
)

agents = sa.Table(
    "agents",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _text("role"),
    sa.Column("parent_id", sa.Text, sa.ForeignKey("agents.id"), nullable=True),
    _text("kind"),
    _int("max_parallel_tasks", default=1),
    _int("active", default=1),
    _text("session_id", null=True),
    _text("group_id", null=True),
    _text("created_at"),
    _int("created_seq"),
    _one_of("kind", ("ai", "human", "system")),
    _flag("active"),
    sa.CheckConstraint("max_parallel_tasks >= 1", name="max_parallel_tasks"),
    sa.Index("ix_agents_parent_id", "parent_id"),
    sqlite_with_rowid=False,
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _text("kind"),
    _text("mode"),
    _text("testing_mode"),
    _text("goal"),
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    _int("turn_timeout"),
    _text("disabled_roles"),
    _text("created_by"),
    _text("created_at"),
    *_status_change(),
    _text("outcome", null=True),
    _text("outcome_reason", null=True),
    _int("planned", default=0),
    *_awaited(),
    _int("progress_seq", default=0),
    _int("answered_seq", default=0),
    _one_of("kind", ("orchestration", "chat")),
    _one_of("mode", ("simple", "parallel")),
    _one_of("testing_mode", ("full", "minimal", "disabled")),
    _one_of("status", ("active", "paused", "ended")),
    sa.CheckConstraint(
        "(status = 'ended') = (outcome IS NOT NULL)"
        " AND (outcome IS NULL OR outcome IN ('accepted', 'investigation_only', 'abandoned', 'imported', 'closed'))",
        name="outcome",
    ),
    _flag("planned"),
    sa.Index("ix_sessions_open", "id", sqlite_where=sa.text("status <> 'ended'")),
    sqlite_with_rowid=False,
)

task_groups = sa.Table(
    "task_groups",
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _text("id"),
    _text("name"),
    _text("kind"),
    _int("security_sensitive", default=0),
    _int("complexity", default=3),
    _int("priority", default=2),
    _text("created_by"),
    _text("created_at"),
    _int("created_seq"),
    *_status_change(),
    *_awaited(),
    _int("qa_attempts", default=0),
    _int("tl_review_attempts", default=0),
    _int("merge_attempts", default=0),
    _int("iterations", default=0),
    _int("senior", default=0),
    _text("builder_role", null=True),
    _text("builder_agent_id", null=True),
    _int("progress_seq", default=0),
    _int("answered_seq", default=0),
    sa.PrimaryKeyConstraint("session_id", "id"),
    _one_of("kind", ("code", "research", "chat")),
    _one_of("status", GROUP_STATUSES),
    _flag("security_sensitive"),
    _flag("senior"),
    sa.CheckConstraint("complexity BETWEEN 1 AND 10", name="complexity"),
    sa.CheckConstraint("priority BETWEEN 0 AND 3", name="priority"),
    sa.CheckConstraint("held IS NULL OR held IN ('slot', 'session_paused')", name="held"),
    sa.CheckConstraint("status = 'in_progress' OR awaited_role IS NULL", name="awaited"),
    sa.Index(
        "ix_task_groups_pending",
        "session_id",
        "priority",
        "created_seq",
        sqlite_where=sa.text("status = 'pending'"),
    ),
    sa.Index(
        "ix_task_groups_awaited",
        "session_id",
        "awaited_role",
        "held",
        sqlite_where=sa.text("awaited_role IS NOT NULL"),
    ),
    sa.Index(
        "ix_task_groups_running",
        "session_id",
        sqlite_where=sa.text(
            "awaited_role IS NOT NULL AND held IS NULL AND awaited_role NOT IN ('project_manager', 'user')"
        ),
    ),
    sa.Index("ix_task_groups_held", "session_id", "held_seq", sqlite_where=sa.text("held IS NOT NULL")),
    sqlite_with_rowid=False,
)

group_dependencies = sa.Table(
    "group_dependencies",
    metadata,
    _text("session_id"),
    _text("group_id"),
    _text("depends_on"),
    _int("seq"),
    _text("added_by"),
    _int("removed_seq", null=True),
    _text("removed_by", null=True),
    _text("removed_reason", null=True),
    sa.PrimaryKeyConstraint("session_id", "group_id", "depends_on", "seq"),
    sa.ForeignKeyConstraint(["session_id", "group_id"], ["task_groups.session_id", "task_groups.id"]),
    sa.ForeignKeyConstraint(
        ["session_id", "depends_on"],
        ["task_groups.session_id", "task_groups.id"],
        name="fk_group_dependencies_depends_on",
    ),
    sa.CheckConstraint("group_id <> depends_on", name="self"),
    sa.Index("ix_group_dependencies_depends_on", "session_id", "depends_on"),
    sqlite_with_rowid=False,
)


def _effect_index(name: str, where: str) -> sa.Index:
    return sa.Index(f"ix_agent_reports_{name}", "session_id", "group_id", "seq", sqlite_where=sa.text(where))


agent_reports = sa.Table(
    "agent_reports",
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _int("seq"),
    _int("part", default=1),
    _step_id("R"),
    _text("group_id", null=True),
    _text("role"),
    sa.Column("agent_id", sa.Text, sa.ForeignKey("agents.id"), nullable=False),
    _text("response_status"),
    _text("raw_role"),
    _text("raw_status"),
    _text("effect"),
    _int("turn", null=True),
    _int("turn_assumed"),
    _text("summary"),
    _text("details"),
    _text("metadata", null=True),
    _text("raw_hash", null=True),
    _text("reported_at"),
    sa.UniqueConstraint("session_id", "seq", "part"),
    sa.CheckConstraint("part = 1", name="one_report_per_step"),
    # What can void an approval: everything but merges; of the project manager only rework and defer count.
    _effect_index(
        "standing", "effect <> 'merge' AND (role <> 'project_manager' OR effect IN ('rework', 'defer'))"
    ),
    *(
        _effect_index(effect, f"effect = '{effect}'")
        for effect in ("approve", "merge", "submit_test", "submit_review", "test_pass", "test_fail")
    ),
    _effect_index("qa_answer", "role = 'qa_expert' AND effect IN ('test_pass', 'test_fail', 'inconclusive', 'block')"),
    _effect_index("qa", "role = 'qa_expert'"),
    _effect_index("tech_lead", "role = 'tech_lead'"),
    _effect_index("manager", "role = 'project_manager'"),
    _effect_index("block", "effect = 'block'"),
    sa.Index("ix_agent_reports_confirm", "session_id", "seq", sqlite_where=sa.text("effect = 'confirm'")),
    sa.Index("ix_agent_reports_key", "session_id", "group_id", "role", "response_status", "seq"),
)

acknowledgements = sa.Table(
    "acknowledgements",
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _int("seq"),
    _int("part", default=1),
    _text("group_id"),
    _text("reason"),
    sa.PrimaryKeyConstraint("session_id", "seq", "part"),
    sa.Index("ix_acknowledgements_group", "session_id", "group_id", "seq"),
    sqlite_with_rowid=False,
)

router_decisions = sa.Table(
    "router_decisions",
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _int("seq"),
    _int("part", default=1),
    _step_id("D"),
    _text("group_id", null=True),
    _text("current_agent"),
    _text("response_status"),
    _text("next_agent", null=True),
    _text("action"),
    _text("timestamp"),
    _text("report_id", null=True),
    _text("cause"),
    _text("rules"),
    sa.Column("workflow_version_id", sa.Integer, sa.ForeignKey("workflow_versions.id"), nullable=False),
    _int("rules_version"),
    _text("handoff_hash", null=True),
    _int("mandatory_review", default=0),
    _text("answer"),
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
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _int("turn"),
    _text("group_id"),
    _text("agent_id"),
    _text("document"),
    _text("hash"),
    sa.UniqueConstraint("session_id", "group_id", "turn"),
)

context_items = sa.Table(
    "context_items",
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _text("group_id"),
    _text("name"),
    _int("seq"),
    sa.PrimaryKeyConstraint("session_id", "group_id", "name", "seq"),
    sqlite_with_rowid=False,
)

blockers = sa.Table(
    "blockers",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _text("group_id", null=True),
    _text("task_id", null=True),
    _text("type"),
    _text("class"),
    _text("reason"),
    _text("opened_by", null=True),
    _text("opened_role", null=True),
    _text("opened_at"),
    _int("opened_seq"),
    _text("report_id", null=True),
    _text("cause"),
    _int("external", default=0),
    _text("external_dependency", null=True),
    _text("external_by", null=True),
    _int("external_seq", null=True),
    _text("resolved_at", null=True),
    _text("resolved_by", null=True),
    _int("resolved_seq", null=True),
    _text("resolution", null=True),
    _text("resolution_note", null=True),
    _one_of("class", ("soft", "hard")),
    _one_of("cause", ("report", "manual", "cascade", "gate", "dependency", "imported")),
    _flag("external"),
    # A blank reason has at least one character that is none of these.
    sa.CheckConstraint("reason <> ''", name="reason"),
    sa.CheckConstraint("(external = 1) = (external_dependency IS NOT NULL)", name="external_dependency"),
    sa.CheckConstraint(
        "(resolved_seq IS NULL) = (resolved_at IS NULL) AND (resolved_seq IS NULL) = (resolution IS NULL)",
        name="resolved",
    ),
    sa.Index(
        "ix_blockers_open", "session_id", "group_id", "opened_seq", sqlite_where=sa.text("resolved_seq IS NULL")
    ),
    sa.Index("ix_blockers_group", "session_id", "group_id", "opened_seq"),
    sa.Index(
        "ix_blockers_resolved",
        "session_id",
        "group_id",
        "resolved_seq",
        sqlite_where=sa.text("resolved_seq IS NOT NULL"),
    ),
    sqlite_with_rowid=False,
)

questions = sa.Table(
    "questions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _text("group_id", null=True),
    _text("task_id", null=True),
    _text("kind"),
    _text("text"),
    _text("asked_by"),
    _text("asked_at"),
    _int("opened_seq"),
    _text("decision", null=True),
    _text("closed_at", null=True),
    _text("closed_by", null=True),
    _int("closed_seq", null=True),
    _text("answer", null=True),
    _text("note", null=True),
    _text("channel", null=True),
    _one_of("kind", ("review", "clarification", "budget", "reply", "confirmation", "continuation")),
    sa.Index(
        "ix_questions_open", "session_id", "group_id", "opened_seq", sqlite_where=sa.text("closed_seq IS NULL")
    ),
    sa.Index("ix_questions_session", "session_id", "opened_seq"),
    sqlite_with_rowid=False,
)

deferrals = sa.Table(
    "deferrals",
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    _int("seq"),
    _text("group_id"),
    sa.Column("blocker_id", sa.Text, sa.ForeignKey("blockers.id"), nullable=False),
    _text("reason"),
    _text("dependency"),
    _text("confirmed_by"),
    _int("confirmed_seq"),
    _text("deferred_by"),
    _text("deferred_at"),
    sa.PrimaryKeyConstraint("session_id", "seq"),
    sa.Index("ix_deferrals_group", "session_id", "group_id", "seq"),
    sqlite_with_rowid=False,
)

status_changes = sa.Table(
    "status_changes",
    metadata,
    _text("session_id"),
    _int("seq"),
    _int("part", default=1),
    _text("entity"),
    _text("entity_id"),
    _text("from_status", null=True),
    _text("to_status"),
    _text("changed_by"),
    _text("changed_at"),
    _text("reason"),
    _text("cause"),
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
    metadata,
    _text("session_id"),
    _int("seq"),
    _int("part", default=1),
    _step_id("X"),
    _text("door"),
    _text("actor", null=True),
    _text("claimed_session", null=True),
    _text("group_id", null=True),
    _text("role", null=True),
    _text("status", null=True),
    _int("turn", null=True),
    _text("code"),
    _text("detail"),
    _text("refused_at"),
    sa.UniqueConstraint("session_id", "seq", "part"),
    sa.Index("ix_refusals_turn", "session_id", "group_id", "turn", "seq", sqlite_where=sa.text("turn IS NOT NULL")),
)

requests = sa.Table(
    "requests",
    metadata,
    _text("session_id"),
    _text("request_id"),
    _text("command"),
    _text("input_hash"),
    _int("seq"),
    _text("answer"),
    sa.PrimaryKeyConstraint("session_id", "request_id"),
    sqlite_with_rowid=False,
)

texts = sa.Table(
    "texts",
    metadata,
    sa.Column("hash", sa.Text, primary_key=True),
    _text("content"),
)

audit_events = sa.Table(
    "audit_events",
    metadata,
    _text("session_id"),
    _int("seq"),
    _text("kind"),
    _text("actor"),
    _text("channel"),
    _text("at"),
    _text("input"),
    _text("rows"),
    sa.Column("prev_hash", sa.LargeBinary, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("session_id", "seq"),
    sa.CheckConstraint("seq >= 1", name="seq"),
)
