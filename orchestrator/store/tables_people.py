"""Tables of what people and successors go on from: what proves a person, and the points where work stopped."""

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
