"""Tables of what a verdict rests on: success criteria, and the evidence of what was done to check them."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

criteria = sa.Table(
    "criteria",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.text("id"),
    columns.text("text"),
    columns.text("metric", null=True),
    columns.text("operator", null=True),
    columns.text("target", null=True),
    columns.text("command", null=True),
    columns.text("created_by"),
    columns.text("created_at"),
    columns.integer("created_seq"),
    columns.text("status"),
    columns.text("actual", null=True),
    columns.text("reason", null=True),
    columns.text("evidence", null=True),
    columns.text("set_by", null=True),
    columns.text("set_at", null=True),
    columns.integer("set_seq", null=True),
    columns.integer("removed_seq", null=True),
    columns.text("removed_by", null=True),
    columns.text("removed_reason", null=True),
    columns.text("group_id", null=True),
    columns.text("due_at", null=True),
    columns.text("approval", null=True),
    columns.text("approved_by", null=True),
    columns.integer("approved_seq", null=True),
    sa.PrimaryKeyConstraint("session_id", "id"),
    columns.one_of("status", ("open", "met", "deferred")),
    sa.CheckConstraint(
        "(operator IS NULL OR operator IN ('ge', 'gt', 'le', 'lt', 'eq'))"
        " AND (operator IS NULL) = (metric IS NULL) AND (operator IS NULL) = (target IS NULL)",
        name="measure",
    ),
    # What is computed is met by what it computes, never by a word.
    sa.CheckConstraint("status <> 'met' OR (operator IS NULL AND command IS NULL)", name="computed"),
    sa.CheckConstraint("actual IS NULL OR operator IS NOT NULL", name="actual"),
    sa.CheckConstraint(
        "(set_seq IS NULL) = (set_by IS NULL) AND (set_seq IS NULL) = (set_at IS NULL)", name="set"
    ),
    sa.Index("ix_criteria_created", "session_id", "created_seq"),
    sqlite_with_rowid=False,
)

evidence = sa.Table(
    "evidence",
    columns.metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    columns.integer("seq"),
    columns.integer("part", default=1),
    columns.step_id("E"),
    columns.text("group_id", null=True),
    columns.text("kind"),
    columns.text("subject"),
    columns.text("outcome"),
    columns.text("hash"),
    columns.integer("size"),
    columns.text("content", null=True),
    columns.text("path", null=True),
    sa.UniqueConstraint("session_id", "seq", "part"),
    sa.CheckConstraint("(content IS NULL) <> (path IS NULL)", name="place"),
    sa.CheckConstraint("size >= 0", name="size"),
)
