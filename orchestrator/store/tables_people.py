"""Tables of what people and successors go on from: tokens that prove a person, and the points where work stopped."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

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
