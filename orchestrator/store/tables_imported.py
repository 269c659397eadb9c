"""Tables of what came from another program's database: closed to inserts but for the step that brings a session."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import columns

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
