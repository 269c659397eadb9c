"""The columns that tables share: short ways to say text, number, choice, and whom something waits for."""

from __future__ import annotations

import sqlalchemy as sa

GROUP_STATUSES = ("pending", "in_progress", "completed", "deferred_external", "cancelled")

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def text(name: str, *, null: bool = False) -> sa.Column[str]:
    """A text column."""
    return sa.Column(name, sa.Text, nullable=null)


def integer(name: str, *, null: bool = False, default: int | None = None) -> sa.Column[int]:
    """A whole-number column, with its default in the database."""
    server_default = None if default is None else sa.text(str(default))
    return sa.Column(name, sa.Integer, nullable=null, server_default=server_default)


def one_of(name: str, values: tuple[str, ...]) -> sa.CheckConstraint:
    """The constraint that a column holds one of some words: without IN, for which SQLite makes a table at each look."""
    return sa.CheckConstraint(" OR ".join(f"{name} = '{value}'" for value in values), name=name)


def flag(name: str) -> sa.CheckConstraint:
    """The constraint that a column is 0 or 1."""
    return sa.CheckConstraint(f"{name} IN (0, 1)", name=name)


def step_id(letter: str) -> sa.Column[str]:
    """The readable id of a row that a step wrote: `S1:D12`, and `S1:D12.2` for its second part."""
    return sa.Column(
        "id",
        sa.Text,
        sa.Computed(
            f"session_id || '\\:{letter}' || seq || CASE WHEN part = 1 THEN '' ELSE '.' || part END", persisted=False
        ),
        nullable=False,
    )


def awaited() -> tuple[sa.Column[str] | sa.Column[int], ...]:
    """Whom a session or group waits for, since when, and under which turn."""
    return (
        text("awaited_role", null=True),
        text("awaited_agent_id", null=True),
        text("awaited_action", null=True),
        integer("turn", null=True),
        text("awaited_since", null=True),
        text("held", null=True),
        integer("held_seq", null=True),
        integer("held_part", null=True),
    )


def status_change() -> tuple[sa.Column[str] | sa.Column[int], ...]:
    """A status with who set it last, when, and in which step."""
    return (text("status"), text("status_changed_by", null=True), text("status_changed_at"), integer("status_seq"))
