"""The views and triggers of the database, each once: what "complete" means, and what no client may do.

A migration keeps a frozen copy of these statements; the audit compares the database with them.

SQLite asks the triggers of a table in an order of its own. Wherever two could speak, their conditions exclude each
other, so that the message does not depend on it.
"""

from __future__ import annotations

import sqlite3

import sqlalchemy as sa

from orchestrator.store import (
    guards_groups,
    guards_imported,
    guards_path,
    guards_rows,
    guards_running,
    guards_tables,
    guards_tasks,
)

VIEWS: tuple[tuple[str, str], ...] = (guards_tables.HANDOFFS, *guards_path.VIEWS)
"""Every view as (name, statement), in the order in which they are made."""

TRIGGERS: tuple[tuple[str, str], ...] = (
    *guards_tables.TRIGGERS,
    *guards_rows.TRIGGERS,
    *guards_groups.TRIGGERS,
    *guards_tasks.TRIGGERS,
    *guards_imported.TRIGGERS,
    *guards_running.TRIGGERS,
    *guards_running.STARTS,
)
"""Every trigger as (name, statement)."""


def _run(connection: sa.Connection | sqlite3.Connection, statements: list[str]) -> None:
    for statement in statements:
        if isinstance(connection, sa.Connection):
            connection.exec_driver_sql(statement)
        else:
            connection.execute(statement)


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
