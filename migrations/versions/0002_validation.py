"""Success criteria and evidence, and the guard that only a verdict accepts a session. No row of before is touched."""

from __future__ import annotations

import pathlib

import sqlalchemy as sa
from alembic import op

from orchestrator.store import migrate

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

GUARDS = pathlib.Path(__file__).with_suffix(".sql")
OLDER_TABLES = ("sessions", "alembic_version")
"""Tables of an older version that got a guard here; the guards of new tables go with their tables."""


def upgrade() -> None:
    _create_criteria()
    _create_evidence()
    for statement in migrate.statements(GUARDS):
        op.execute(statement)


def _create_criteria() -> None:
    op.create_table(
        "criteria",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("metric", "operator", "target", "command")),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("created_seq", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("actual", "reason", "evidence", "set_by", "set_at")),
        sa.Column("set_seq", sa.Integer(), nullable=True),
        sa.Column("removed_seq", sa.Integer(), nullable=True),
        sa.Column("removed_by", sa.Text(), nullable=True),
        sa.Column("removed_reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("session_id", "id", name="pk_criteria"),
        sa.CheckConstraint("status IN ('open', 'met', 'deferred')", name="status"),
        sa.CheckConstraint(
            "(operator IS NULL OR operator IN ('ge', 'gt', 'le', 'lt', 'eq'))"
            " AND (operator IS NULL) = (metric IS NULL) AND (operator IS NULL) = (target IS NULL)",
            name="measure",
        ),
        sa.CheckConstraint("status <> 'met' OR (operator IS NULL AND command IS NULL)", name="computed"),
        sa.CheckConstraint("actual IS NULL OR operator IS NOT NULL", name="actual"),
        sa.CheckConstraint(
            "(set_seq IS NULL) = (set_by IS NULL) AND (set_seq IS NULL) = (set_at IS NULL)", name="set"
        ),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_criteria_session_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_criteria_created", "criteria", ["session_id", "created_seq"])


def _create_evidence() -> None:
    readable = "session_id || '\\:E' || seq || CASE WHEN part = 1 THEN '' ELSE '.' || part END"
    op.create_table(
        "evidence",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False, server_default=sa.text("1")),
        sa.Column("id", sa.Text(), sa.Computed(readable, persisted=False), nullable=False),
        sa.Column("group_id", sa.Text(), nullable=True),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("kind", "subject", "outcome", "hash")),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("path", sa.Text(), nullable=True),
        sa.UniqueConstraint("session_id", "seq", "part", name="uq_evidence_session_id_seq_part"),
        sa.CheckConstraint("(content IS NULL) <> (path IS NULL)", name="place"),
        sa.CheckConstraint("size >= 0", name="size"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_evidence_session_id"),
    )


def downgrade() -> None:
    """Drop what was added, unless that would lose a row."""
    migrate.refuse_loss(op.get_bind(), ("criteria", "evidence"))
    for statement in migrate.statements(GUARDS):
        name, table = _named(statement)
        if table in OLDER_TABLES:
            op.execute(f"DROP TRIGGER {name}")
    op.drop_table("evidence")
    op.drop_index("ix_criteria_created", "criteria")
    op.drop_table("criteria")


def _named(statement: str) -> tuple[str, str]:
    """The name of a trigger, and of the table that it stands on."""
    words = statement.split()
    return words[2], words[words.index("ON") + 1]
