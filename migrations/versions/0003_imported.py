"""What comes from another program's database, and the one way for it to begin as completed."""

from __future__ import annotations

import pathlib

import sqlalchemy as sa
from alembic import op

from orchestrator.store import migrate

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

GUARDS = pathlib.Path(__file__).with_suffix(".sql")
BEFORE = pathlib.Path(__file__).with_name("0001_initial.sql")
TABLES = ("import_findings", "imported_logs", "grandfathered_groups", "imported_sessions")
REPLACED = "task_groups_begin_pending"
"""The guard of an older table that lets imported groups pass now."""
ADDED = "audit_events_tell_of_imports"
"""The new guard of an older table; those of new tables go with their tables."""


def upgrade() -> None:
    _create_sessions()
    _create_grandfathered()
    _create_texts()
    op.execute(f"DROP TRIGGER {REPLACED}")
    for statement in migrate.statements(GUARDS):
        op.execute(statement)


def _create_sessions() -> None:
    op.create_table(
        "imported_sessions",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("peer_id", sa.Text(), nullable=False),
        sa.Column("peer_status", sa.Text(), nullable=True),
        sa.Column("peer_version", sa.Integer(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="pk_imported_sessions"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_imported_sessions_session_id"),
        sqlite_with_rowid=False,
    )


def _create_grandfathered() -> None:
    op.create_table(
        "grandfathered_groups",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("group_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("peer_id", sa.Text(), nullable=False),
        sa.Column("peer_status", sa.Text(), nullable=True),
        sa.Column("completed_at", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("session_id", "group_id", name="pk_grandfathered_groups"),
        sa.ForeignKeyConstraint(
            ["session_id", "group_id"],
            ["task_groups.session_id", "task_groups.id"],
            name="fk_grandfathered_groups_session_id_group_id",
            deferrable=True,
            initially="DEFERRED",
        ),
        sqlite_with_rowid=False,
    )


def _create_texts() -> None:
    op.create_table(
        "imported_logs",
        *_numbered(),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("peer_id", "agent", "kind", "logged_at")),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("more", sa.Text(), nullable=True),
        sa.UniqueConstraint("session_id", "seq", "part", name="uq_imported_logs_session_id_seq_part"),
        sa.ForeignKeyConstraint(["session_id"], ["imported_sessions.session_id"], name="fk_imported_logs_session_id"),
    )
    op.create_table(
        "import_findings",
        *_numbered(),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "seq", "part", name="pk_import_findings"),
        sa.ForeignKeyConstraint(["session_id"], ["imported_sessions.session_id"], name="fk_import_findings_session_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_import_findings_group", "import_findings", ["session_id", "group_id"])


def _numbered() -> tuple[sa.Column[str] | sa.Column[int], ...]:
    return (
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False, server_default=sa.text("1")),
        sa.Column("group_id", sa.Text(), nullable=True),
    )


def downgrade() -> None:
    """Drop what was added, unless that would lose a row."""
    migrate.refuse_loss(op.get_bind(), TABLES)
    op.execute(f"DROP TRIGGER {ADDED}")
    op.execute(f"DROP TRIGGER {REPLACED}")
    op.drop_index("ix_import_findings_group", "import_findings")
    for table in TABLES:
        op.drop_table(table)
    for statement in migrate.statements(BEFORE):
        if statement.startswith(f"CREATE TRIGGER {REPLACED} "):
            op.execute(statement)
