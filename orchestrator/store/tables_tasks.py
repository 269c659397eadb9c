"""Tables of tasks: what is to be done inside a group, what waits for what, and what a manager is told."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

TASK_STATUSES = ("backlog", "todo", "in_progress", "blocked", "done", "cancelled")

tasks = sa.Table(
    "tasks",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.text("id"),
    columns.text("group_id", null=True),
    columns.text("parent_id", null=True),
    columns.text("title"),
    columns.text("description"),
    columns.text("type"),
    columns.integer("priority", default=2),
    sa.Column("assignee", sa.Text, sa.ForeignKey("agents.id"), nullable=True),
    columns.integer("auto_unblock", default=0),
    sa.Column("created_by", sa.Text, sa.ForeignKey("agents.id"), nullable=True),
    columns.text("created_at"),
    columns.integer("created_seq"),
    columns.text("status"),
    sa.Column("status_changed_by_agent_id", sa.Text, sa.ForeignKey("agents.id"), nullable=True),
    columns.text("status_changed_at"),
    columns.integer("status_seq"),
    columns.text("former_status", null=True),
    columns.text("blocked_reason", null=True),
    columns.integer("version", default=1),
    sa.Column("claim_holder", sa.Text, sa.ForeignKey("agents.id"), nullable=True),
    columns.text("claim_token", null=True),
    columns.text("claim_until", null=True),
    columns.text("claim_beat_at", null=True),
    sa.PrimaryKeyConstraint("session_id", "id"),
    sa.ForeignKeyConstraint(["session_id", "group_id"], ["task_groups.session_id", "task_groups.id"]),
    sa.ForeignKeyConstraint(
        ["session_id", "parent_id"], ["tasks.session_id", "tasks.id"], name="fk_tasks_parent_id"
    ),
    columns.one_of("status", TASK_STATUSES),
    columns.flag("auto_unblock"),
    sa.CheckConstraint("priority BETWEEN 0 AND 3", name="priority"),
    sa.CheckConstraint("parent_id IS NULL OR parent_id <> id", name="parent"),
    sa.CheckConstraint("(status = 'blocked') = (former_status IS NOT NULL)", name="former_status"),
    sa.CheckConstraint("(status = 'blocked') = (blocked_reason IS NOT NULL)", name="blocked_reason"),
    sa.CheckConstraint(
        "(claim_holder IS NULL) = (claim_token IS NULL) AND (claim_holder IS NULL) = (claim_until IS NULL)"
        " AND (claim_holder IS NULL) = (claim_beat_at IS NULL)",
        name="claim",
    ),
    sa.CheckConstraint("claim_holder IS NULL OR status IN ('in_progress', 'blocked')", name="claimed"),
    sa.Index("idx_tasks_status_changed_by", "status_changed_by_agent_id"),
    sa.Index("ix_tasks_parent", "session_id", "parent_id", "status", "priority", "created_at"),
    sa.Index("ix_tasks_created", "session_id", "created_seq"),
    sa.Index("ix_tasks_group", "session_id", "group_id", "status"),
    sa.Index("ix_tasks_assignee", "assignee", "status"),
    sa.Index("ix_tasks_claimed", "session_id", "claim_until", sqlite_where=sa.text("claim_until IS NOT NULL")),
    sa.Index(
        "ix_tasks_pending", "session_id", "priority", "created_at",
        sqlite_where=sa.text("status IN ('backlog', 'todo')"),
    ),
    sqlite_with_rowid=False,
)  # fmt: skip

task_dependencies = sa.Table(
    "task_dependencies",
    columns.metadata,
    columns.text("session_id"),
    columns.text("task_id"),
    columns.text("depends_on_id"),
    columns.integer("seq"),
    sa.Column("added_by", sa.Text, sa.ForeignKey("agents.id"), nullable=True),
    columns.integer("removed_seq", null=True),
    columns.text("removed_by", null=True),
    columns.text("removed_reason", null=True),
    sa.PrimaryKeyConstraint("session_id", "task_id", "depends_on_id", "seq"),
    sa.ForeignKeyConstraint(["session_id", "task_id"], ["tasks.session_id", "tasks.id"]),
    sa.ForeignKeyConstraint(
        ["session_id", "depends_on_id"], ["tasks.session_id", "tasks.id"], name="fk_task_dependencies_depends_on_id"
    ),
    sa.CheckConstraint("task_id <> depends_on_id", name="self"),
    sa.Index("ix_task_dependencies_depends_on", "session_id", "depends_on_id"),
    sqlite_with_rowid=False,
)

notices = sa.Table(
    "notices",
    columns.metadata,
    columns.text("session_id"),
    columns.integer("seq"),
    columns.integer("part", default=1),
    sa.Column("agent_id", sa.Text, sa.ForeignKey("agents.id"), nullable=False),
    columns.text("task_id"),
    sa.Column("blocker_id", sa.Text, sa.ForeignKey("blockers.id"), nullable=False),
    sa.PrimaryKeyConstraint("session_id", "seq", "part"),
    sa.ForeignKeyConstraint(["session_id", "task_id"], ["tasks.session_id", "tasks.id"]),
    sa.Index("ix_notices_agent", "agent_id", "session_id", "seq"),
    sqlite_with_rowid=False,
)
"""That a task below a manager was blocked; a manager has seen what came before their own last step."""
