"""The floor: a raw loop that reads the group and the transition and writes the rows of each step, and no more.

What it writes was recorded from real routes, so that both sides store the same rows: here without views and triggers,
with one update per changed row and a constant in place of every hash of the chain.
"""

from __future__ import annotations

import pathlib
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from orchestrator.app.kernel.context import Context
from orchestrator.store import guards, sqlite
from tools.benchmarks import mix

CONSTANT_HASH = bytes(32)
DERIVED = {
    "router_decisions": {"rules": "[]", "answer": "{}", "handoff": "{}"},
    "standalone_handoffs": {"document": "{}"},
    "audit_events": {"input": "{}", "rows": "{}"},
}
"""Texts that repeat other columns; a lean loop does not store them."""

READ_GROUP = "SELECT * FROM task_groups WHERE session_id = ? AND id = ?"
READ_TRANSITION = """SELECT next_agent, action, effect FROM workflow_transitions
    WHERE workflow_version_id = ? AND current_agent = ? AND response_status = ?"""
_KEYS = {"task_groups": ("session_id", "id"), "sessions": ("id",)}

_EVENT = ("session_id", "seq", "kind", "actor", "channel", "at", "input", "rows", "prev_hash", "hash")

Row = dict[str, Any]
Statement = tuple[str, Sequence[Any]]


class Step(NamedTuple):
    """What one route reads and writes, ready to be executed."""

    group: tuple[str, str]
    transition: tuple[int, str, str]
    writes: tuple[Statement, ...]


class Recording(sqlite.Connection):
    """A connection that remembers every insert made through it."""

    inserted: list[Statement]

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        """As usual, and remembered."""
        if sql.startswith("INSERT INTO "):
            self.inserted.append((sql, tuple(parameters)))
        return super().execute(sql, parameters)


def record(database: bytes, calls: Sequence[mix.Call], *, lean: bool = False) -> list[Step]:
    """Route the calls on a copy of a database in memory and keep what each step wrote.

    Args:
        lean: leave out the texts that repeat what other columns say.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, factory=Recording, cached_statements=256)
    connection.deserialize(database)
    sqlite.prepare(connection)
    connection.inserted = []
    context = mix.in_memory(database)
    context.connection = connection
    context.reader.connection = connection
    return [_recorded(context, call, lean=lean) for call in calls]


def _recorded(context: Context, call: mix.Call, *, lean: bool) -> Step:
    connection = context.connection
    connection.inserted.clear()
    before = {table: _rows(connection, table, call["session_id"]) for table in _KEYS}
    mix.route(context, call)
    inserts = [_insert(sql, values, lean=lean) for sql, values in connection.inserted]
    updates = [
        _update(table, before[table][key], row)
        for table in _KEYS
        for key, row in _rows(connection, table, call["session_id"]).items()
        if row != before[table].get(key, row)
    ]
    return Step(
        (call["session_id"], call["group_id"]), (1, call["current_agent"], call["status"]), (*inserts, *updates)
    )


def _rows(connection: sqlite3.Connection, table: str, session: str) -> dict[tuple[str, ...], Row]:
    """The rows of a session that a step may change; pending ones only as far as the next batch reaches."""
    where = "id = :session"
    if table == "task_groups":
        where = (
            "session_id = :session AND (status = 'in_progress' OR id IN (SELECT id FROM task_groups"
            " WHERE session_id = :session AND status = 'pending' ORDER BY created_seq LIMIT 8) OR id IN"
            " (SELECT id FROM task_groups WHERE session_id = :session AND status_seq ="
            " (SELECT max(seq) FROM audit_events WHERE session_id = :session)))"
        )
    cursor = connection.execute(f"SELECT * FROM {table} WHERE {where}", {"session": session})
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, row, strict=True)) for row in cursor]
    return {tuple(row[key] for key in _KEYS[table]): row for row in rows}


def _insert(sql: str, values: Sequence[Any], *, lean: bool) -> Statement:
    table = sql.split()[2]
    row = dict(zip(columns(sql), values, strict=True))
    row |= {"prev_hash": CONSTANT_HASH, "hash": CONSTANT_HASH} if table == "audit_events" else {}
    texts = DERIVED.get(table, {}) if lean else {}
    row |= {name: text for name, text in texts.items() if row[name] is not None}
    return sql, tuple(row.values())


def columns(sql: str) -> list[str]:
    """The columns that an insert of ours names; the one that names none is the audit event's."""
    named = sql.partition("VALUES")[0].partition("(")[2].rpartition(")")[0]
    return [name.strip(' "') for name in named.split(",")] if named else list(_EVENT)


def _update(table: str, old: Row, new: Row) -> Statement:
    changed = {name: value for name, value in new.items() if value != old[name]}
    sets = ", ".join(f"{name} = ?" for name in changed)
    where = " AND ".join(f"{key} = ?" for key in _KEYS[table])
    sql = f"UPDATE {table} SET {sets} WHERE {where}"
    return sql, (*changed.values(), *(new[key] for key in _KEYS[table]))


def open_file(path: pathlib.Path, database: bytes, synchronous: str) -> sqlite3.Connection:
    """The same tables, indexes and rows without views and triggers, with the settings that the store has."""
    mix.write(path, database)
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
    guards.drop_all(connection)
    connection.execute(f"PRAGMA synchronous={synchronous}")
    return connection


def run(connection: sqlite3.Connection, step: Step) -> None:
    """One step of the raw loop."""
    execute = connection.execute
    execute("BEGIN IMMEDIATE")
    execute(READ_GROUP, step.group).fetchone()
    execute(READ_TRANSITION, step.transition).fetchone()
    for sql, values in step.writes:
        execute(sql, values)
    execute("COMMIT")
