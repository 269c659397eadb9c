"""Tables of runs: what an executor was given, what came of it, and what the runner saw with its own eyes."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

STATES = ("queued", "running", "awaiting_response", "complete", "incomplete", "error", "cancelled")
EXECUTOR_STATUSES = ("COMPLETE", "INCOMPLETE", "NO_EVIDENCE", "ERROR", "INVALID", "BLOCKED")
TASK_TYPES = (
    "READ_INFO", "REPORT", "LIGHT_EDIT", "IMPLEMENTATION", "REVIEW_RESPONSE", "CONFIG_CI_CHANGE", "DANGEROUS_OP",
)  # fmt: skip
TERMINAL = "('complete', 'incomplete', 'error', 'cancelled')"

runs = sa.Table(
    "runs",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.text("id"),
    columns.text("log_id"),
    columns.text("task_id"),
    columns.text("prompt"),
    columns.text("task_type"),
    columns.text("executor"),
    columns.text("provider"),
    columns.text("model", null=True),
    columns.text("retry_of", null=True),
    columns.text("verification_root"),
    sa.Column("queued_by", sa.Text, sa.ForeignKey("agents.id"), nullable=False),
    columns.text("queued_at"),
    columns.integer("created_seq"),
    columns.text("state"),
    columns.text("state_changed_by"),
    columns.text("state_changed_at"),
    columns.integer("state_seq"),
    columns.text("owner", null=True),
    columns.text("started_at", null=True),
    columns.text("ended_at", null=True),
    columns.text("executor_status", null=True),
    columns.text("error_code", null=True),
    columns.text("error_reason", null=True),
    columns.integer("executor_blocked", default=0),
    columns.text("blocked_reason", null=True),
    columns.integer("timeout_ms", null=True),
    columns.text("limit_name", null=True),
    columns.integer("files_modified_count", default=0),
    columns.text("output", null=True),
    columns.text("question_id", null=True),
    sa.PrimaryKeyConstraint("session_id", "id"),
    sa.UniqueConstraint("id"),
    sa.UniqueConstraint("session_id", "log_id"),
    sa.ForeignKeyConstraint(["session_id", "task_id"], ["tasks.session_id", "tasks.id"]),
    sa.ForeignKeyConstraint(["session_id", "retry_of"], ["runs.session_id", "runs.id"], name="fk_runs_retry_of"),
    columns.one_of("state", STATES),
    columns.one_of("task_type", TASK_TYPES),
    sa.CheckConstraint(
        f"executor_status IS NULL OR executor_status IN ({', '.join(map(repr, EXECUTOR_STATUSES))})",
        name="executor_status",
    ),
    sa.CheckConstraint("executor_status IS NOT 'BLOCKED' OR task_type = 'DANGEROUS_OP'", name="blocked"),
    sa.CheckConstraint(f"(state IN {TERMINAL}) = (ended_at IS NOT NULL)", name="ended"),
    sa.CheckConstraint("state <> 'complete' OR executor_status IS 'COMPLETE'", name="complete"),
    sa.CheckConstraint(
        "state NOT IN ('incomplete', 'error', 'cancelled') OR (error_reason IS NOT NULL AND error_reason <> '')",
        name="reason",
    ),
    sa.CheckConstraint("state <> 'awaiting_response' OR question_id IS NOT NULL", name="question"),
    sa.CheckConstraint("(state = 'running') = (owner IS NOT NULL)", name="owner"),
    columns.flag("executor_blocked"),
    sa.CheckConstraint("executor_blocked = 0 OR blocked_reason IS NOT NULL", name="blocked_reason"),
    sa.Index("ix_runs_created", "session_id", "created_seq"),
    sa.Index("ix_runs_task", "session_id", "task_id"),
    sa.Index("ix_runs_open", "state", "id", sqlite_where=sa.text("ended_at IS NULL")),
    sqlite_with_rowid=False,
)
"""One execution of a task; the REPL and HTTP call it a task, by its `id` outside and its `log_id` in the log."""

TURN_STATES = ("queued", "running", "answered", "no_answer", "failed", "limited")
TURN_ENDED = "('answered', 'no_answer', 'failed', 'limited')"

turn_runs = sa.Table(
    "turn_runs",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.text("id"),
    columns.text("group_id", null=True),
    columns.integer("turn"),
    columns.text("role"),
    columns.text("prompt"),
    columns.text("executor"),
    columns.text("model", null=True),
    columns.text("folder"),
    columns.text("root"),
    columns.text("lock_key"),
    sa.Column("queued_by", sa.Text, sa.ForeignKey("agents.id"), nullable=False),
    columns.text("queued_at"),
    columns.integer("created_seq"),
    columns.text("state"),
    columns.text("state_changed_by"),
    columns.text("state_changed_at"),
    columns.integer("state_seq"),
    columns.text("owner", null=True),
    columns.text("started_at", null=True),
    columns.text("ended_at", null=True),
    columns.text("reason", null=True),
    columns.text("error_code", null=True),
    columns.text("blocked_reason", null=True),
    columns.integer("timeout_ms", null=True),
    columns.text("limit_name", null=True),
    columns.text("output", null=True),
    columns.text("usage", null=True),
    sa.PrimaryKeyConstraint("session_id", "id"),
    sa.UniqueConstraint("id"),
    sa.ForeignKeyConstraint(["session_id", "group_id"], ["task_groups.session_id", "task_groups.id"]),
    columns.one_of("state", TURN_STATES),
    sa.CheckConstraint(f"(state IN {TURN_ENDED}) = (ended_at IS NOT NULL)", name="ended"),
    sa.CheckConstraint("(ended_at IS NULL) = (owner IS NOT NULL)", name="owner"),
    sa.CheckConstraint("state <> 'answered' OR (output IS NOT NULL AND output <> '')", name="answer"),
    sa.CheckConstraint(
        "state NOT IN ('no_answer', 'failed', 'limited') OR (reason IS NOT NULL AND reason <> '')", name="reason"
    ),
    sa.Index("ix_turn_runs_turn", "session_id", "group_id", "turn"),
    sa.Index("ix_turn_runs_open", "state", "id", sqlite_where=sa.text("ended_at IS NULL")),
    sqlite_with_rowid=False,
)
"""One execution of an agent's turn: its product is a report, and it belongs to no task. The row is its lock as well:
while it runs it holds its folder and its key."""

projects = sa.Table(
    "projects",
    columns.metadata,
    sa.Column("id", sa.Text, primary_key=True),
    columns.integer("seq"),
    columns.text("path"),
    columns.text("alias", null=True),
    sa.Column("created_by", sa.Text, sa.ForeignKey("agents.id"), nullable=False),
    columns.text("created_at"),
    sa.UniqueConstraint("path"),
    sa.UniqueConstraint("alias"),
    sqlite_with_rowid=False,
)
"""Folders that a server offers for runs, by the path that they really have."""

run_locks = sa.Table(
    "run_locks",
    columns.metadata,
    columns.text("session_id"),
    columns.text("run_id"),
    columns.text("path"),
    columns.text("mode"),
    columns.integer("seq"),
    columns.text("acquired_at"),
    columns.text("released_at", null=True),
    columns.integer("released_seq", null=True),
    sa.PrimaryKeyConstraint("session_id", "run_id", "path", "seq"),
    sa.ForeignKeyConstraint(["session_id", "run_id"], ["runs.session_id", "runs.id"]),
    columns.one_of("mode", ("read", "write")),
    sa.CheckConstraint("(released_at IS NULL) = (released_seq IS NULL)", name="released"),
    sa.Index("ix_run_locks_held", "path", sqlite_where=sa.text("released_seq IS NULL")),
    sqlite_with_rowid=False,
)
"""What a running run holds. A lock belongs to the process that is its run's owner."""


def _of_a_run(name: str, *more: sa.Column[str] | sa.Column[int] | sa.CheckConstraint) -> sa.Table:
    return sa.Table(
        name,
        columns.metadata,
        columns.text("session_id"),
        columns.integer("seq"),
        columns.integer("part", default=1),
        columns.text("run_id"),
        *more,
        sa.PrimaryKeyConstraint("session_id", "seq", "part"),
        sa.ForeignKeyConstraint(["session_id", "run_id"], ["runs.session_id", "runs.id"]),
        sa.Index(f"ix_{name}_run", "session_id", "run_id", "seq"),
        sqlite_with_rowid=False,
    )


run_events = _of_a_run(
    "run_events",
    columns.text("at"),
    columns.text("kind"),
    columns.text("level"),
    columns.text("text"),
    columns.one_of("level", ("summary", "full")),
)
"""The log of a run. What has the level `full` is shown on request only."""

run_files = _of_a_run(
    "run_files",
    columns.text("path"),
    columns.text("change", null=True),
    columns.integer("present"),
    columns.text("detected_at"),
    columns.text("detection_method"),
    columns.one_of("detection_method", ("diff", "executor_claim")),
    columns.flag("present"),
)
"""Files that a run changed or claims to have changed, and whether the runner found them on the disk."""

run_violations = _of_a_run(
    "run_violations", columns.text("type"), columns.integer("limit_value"), columns.integer("actual"),
    columns.text("at"),
)  # fmt: skip
"""Limits that a run went over."""
