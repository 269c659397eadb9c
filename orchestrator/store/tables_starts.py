"""Tables of started turns: which client took a session on, and which agent was started for which turn."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

VIA = ("hook", "mcp", "drive")
"""Through what an agent was started."""
OUTCOMES = ("failed", "lost", "freed", "limited")
"""How a start ends without an answer. That its turn was answered or superseded is read off the record of turns."""

starts = sa.Table(
    "starts",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.text("group_id"),
    columns.integer("turn"),
    columns.integer("seq"),
    columns.text("role"),
    columns.text("agent_id"),
    columns.text("via"),
    columns.text("client"),
    columns.text("owner", null=True),
    columns.text("call_id", null=True),
    columns.text("isolation", null=True),
    columns.text("started_at"),
    columns.text("worker", null=True),
    columns.text("trace", null=True),
    columns.text("bound_at", null=True),
    columns.integer("bound_seq", null=True),
    columns.text("ended_at", null=True),
    columns.integer("ended_seq", null=True),
    columns.text("outcome", null=True),
    columns.text("reason", null=True),
    columns.text("due_at", null=True),
    sa.PrimaryKeyConstraint("session_id", "group_id", "turn", "seq"),
    columns.one_of("via", VIA),
    sa.CheckConstraint("isolation IS NULL OR isolation IN ('worktree', 'none')", name="isolation"),
    sa.CheckConstraint(f"outcome IS NULL OR outcome IN ({', '.join(map(repr, OUTCOMES))})", name="outcome"),
    sa.CheckConstraint(
        "(ended_seq IS NULL) = (ended_at IS NULL) AND (ended_seq IS NULL) = (outcome IS NULL)", name="ended"
    ),
    sa.CheckConstraint("(bound_seq IS NULL) = (bound_at IS NULL)", name="bound"),
    sa.Index(
        "ix_starts_open", "session_id", "group_id", "turn", sqlite_where=sa.text("ended_seq IS NULL"),
    ),
    sa.Index("ix_starts_client", "client", "worker"),
    sqlite_with_rowid=False,
)
"""One start of an agent for a turn; `group_id` is empty for a turn of the session as a whole.

client: the id of the client's own session; owner: its process; call_id: the tool call that starts the agent; worker:
the client's id of the agent; trace: the file that grows while the agent works.
"""

adoptions = sa.Table(
    "adoptions",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("seq"),
    columns.text("client", null=True),
    columns.text("adopted_at"),
    sa.PrimaryKeyConstraint("session_id", "seq"),
    sa.Index("ix_adoptions_client", "client", "session_id", "seq"),
    sqlite_with_rowid=False,
)
"""Which client directs a session, newest last; without a client the next one that begins takes the session on."""
