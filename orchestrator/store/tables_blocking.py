"""Tables of what stands in the way: blockers, questions for a person, deferrals."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

blockers = sa.Table(
    "blockers",
    columns.metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.text("group_id", null=True),
    columns.text("task_id", null=True),
    columns.text("type"),
    columns.text("class"),
    columns.text("reason"),
    columns.text("opened_by", null=True),
    columns.text("opened_role", null=True),
    columns.text("opened_at"),
    columns.integer("opened_seq"),
    columns.text("report_id", null=True),
    columns.text("cause"),
    columns.integer("external", default=0),
    columns.text("external_dependency", null=True),
    columns.text("external_by", null=True),
    columns.integer("external_seq", null=True),
    columns.text("resolved_at", null=True),
    columns.text("resolved_by", null=True),
    columns.integer("resolved_seq", null=True),
    columns.text("resolution", null=True),
    columns.text("resolution_note", null=True),
    columns.one_of("class", ("soft", "hard")),
    columns.one_of("cause", ("report", "manual", "cascade", "gate", "dependency", "imported")),
    columns.flag("external"),
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
    sa.Index("ix_blockers_own", "session_id", "group_id", "opened_seq", sqlite_where=sa.text("task_id IS NULL")),
    sa.Index(
        "ix_blockers_own_resolved", "session_id", "group_id", "resolved_seq",
        sqlite_where=sa.text("task_id IS NULL AND resolved_seq IS NOT NULL"),
    ),
    sa.Index(
        "ix_blockers_task", "session_id", "task_id", "resolved_seq", "opened_seq",
        sqlite_where=sa.text("task_id IS NOT NULL"),
    ),
    sqlite_with_rowid=False,
)

questions = sa.Table(
    "questions",
    columns.metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.text("group_id", null=True),
    columns.text("task_id", null=True),
    columns.text("kind"),
    columns.text("text"),
    columns.text("asked_by"),
    columns.text("asked_at"),
    columns.integer("opened_seq"),
    columns.text("decision", null=True),
    columns.text("closed_at", null=True),
    columns.text("closed_by", null=True),
    columns.integer("closed_seq", null=True),
    columns.text("answer", null=True),
    columns.text("note", null=True),
    columns.text("channel", null=True),
    columns.one_of("kind", ("review", "clarification", "budget", "reply", "confirmation", "continuation")),
    sa.Index(
        "ix_questions_open", "session_id", "group_id", "opened_seq", sqlite_where=sa.text("closed_seq IS NULL")
    ),
    sa.Index("ix_questions_session", "session_id", "opened_seq"),
    sqlite_with_rowid=False,
)

deferrals = sa.Table(
    "deferrals",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("seq"),
    columns.text("group_id"),
    sa.Column("blocker_id", sa.Text, sa.ForeignKey("blockers.id"), nullable=False),
    columns.text("reason"),
    columns.text("dependency"),
    columns.text("confirmed_by"),
    columns.integer("confirmed_seq"),
    columns.text("deferred_by"),
    columns.text("deferred_at"),
    sa.PrimaryKeyConstraint("session_id", "seq"),
    sa.Index("ix_deferrals_group", "session_id", "group_id", "seq"),
    sqlite_with_rowid=False,
)
