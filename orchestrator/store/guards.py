"""The views and triggers of the database as SQL: what "complete" means, and what no client may do.

They are declared in the `guards_` modules and rendered into `sql/schema.sql`. A migration keeps a frozen copy of these
statements; the audit compares the database with them.

SQLite asks the triggers of a table in an order of its own. Wherever two could speak, their conditions exclude each
other, so that the message does not depend on it.
"""

from __future__ import annotations

import sqlite3

from orchestrator.hints import TYPE_CHECKING
from orchestrator.store import schema_script

if TYPE_CHECKING:
    import sqlalchemy as sa

Statement = tuple[str, str]

VIEWS: tuple[Statement, ...] = tuple((each.name, each.sql) for each in schema_script.parts() if each.kind == "view")
"""Every view as (name, statement), in the order in which they are made."""

_TRIGGERS = [each for each in schema_script.parts() if each.kind == "trigger"]

TRIGGERS: tuple[Statement, ...] = tuple(
    (each.name, each.sql) for each in _TRIGGERS if each.table != schema_script.VERSION_TABLE
)
"""Every trigger as (name, statement)."""
VERSION_TRIGGERS: tuple[Statement, ...] = tuple(
    (each.name, each.sql) for each in _TRIGGERS if each.table == schema_script.VERSION_TABLE
)
"""Those on Alembic's own table."""
VERSION_TABLE = next(each.sql for each in schema_script.parts() if each.name == schema_script.VERSION_TABLE)
"""Alembic's own table, as Alembic makes it."""


def _run(connection: sa.Connection | sqlite3.Connection, statements: list[str]) -> None:
    for statement in statements:
        if isinstance(connection, sqlite3.Connection):
            connection.execute(statement)
        else:
            connection.exec_driver_sql(statement)


def create_all(connection: sa.Connection | sqlite3.Connection) -> None:
    """Make every view and trigger in a database that has the tables.

    Args:
        connection: An open connection, of SQLAlchemy or of `sqlite3`. Nothing is committed.

    Raises:
        sqlite3.OperationalError: One exists already (through SQLAlchemy: its `OperationalError`).
    """
    _run(connection, [statement for _, statement in (*VIEWS, *TRIGGERS)])


def drop_all(connection: sa.Connection | sqlite3.Connection) -> None:
    """Take every view and trigger away, as far as it is there, so that tables can be rebuilt.

    Args:
        connection: An open connection, of SQLAlchemy or of `sqlite3`. Nothing is committed.
    """
    _run(connection, [f"DROP TRIGGER IF EXISTS {name}" for name, _ in TRIGGERS])
    _run(connection, [f"DROP VIEW IF EXISTS {name}" for name, _ in reversed(VIEWS)])
