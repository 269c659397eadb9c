"""Two databases that should hold the same rows of one session, table by table, in one pass over each.

Tables and keys are read from the schema, so that a new table is compared before anybody thinks of it. Events are left
out: whoever tells them compares them one by one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.table_metadata import STORED_AS, STORED_WITH, column_names, listed

Row = tuple[Any, ...]

_LEFT_OUT = frozenset(("alembic_version", "audit_events", "texts", *STORED_AS.values()))
_HANDOFFS = "SELECT {} FROM handoffs WHERE session_id = :chain ORDER BY session_id, group_id, turn"
_TEXTS = """SELECT r.seq, r.raw_hash, t.content FROM agent_reports r LEFT JOIN texts t ON t.hash = r.raw_hash
    WHERE r.session_id = :chain AND r.raw_hash IS NOT NULL ORDER BY r.seq"""
_TYPES = (type(None), int, float, str, bytes)


class Difference(NamedTuple):
    """A row that is not on both sides, or not the same: its step, table and key, and the columns that differ.

    recorded, told: the values of those columns; None for a side that lacks the row.
    """

    seq: int
    table: str
    key: tuple[Any, ...]
    columns: tuple[str, ...]
    recorded: tuple[Any, ...] | None
    told: tuple[Any, ...] | None


class _Table(NamedTuple):
    name: str
    columns: tuple[str, ...]
    key: tuple[int, ...]
    seqs: tuple[int, ...]
    sql: str


def differences(recorded: sqlite3.Connection, told: sqlite3.Connection, chain: str) -> Iterator[Difference]:
    """Every difference between what is on record of a chain and what was told, decisions first.

    Args:
        recorded: the database on record.
        told: the one that the events were told into.
        chain: a session's id, or the chain of the store: then the tables that belong to no session are compared too.
    """
    # Both have the declared schema, and only a file tells it: the one on record may be on a server.
    for table in _tables(told, chain):
        sides = (each.execute(table.sql, {"chain": chain}) for each in (recorded, told))
        yield from _compared(table, *sides)


def _tables(connection: sqlite3.Connection, chain: str) -> list[_Table]:
    names = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        if name not in _LEFT_OUT and not name.startswith("sqlite_")
    ]  # fmt: skip
    found = [table for name in names if (table := _table(connection, name, chain)) is not None]
    texts = _Table("texts", ("seq", "hash", "content"), (0, 1), (0,), _TEXTS)
    # Compared as they are read: an older record has each in a row of its own, a newer one most with their decisions.
    handoffs = _Table("handoffs", column_names("handoffs"), (0, 2, 1), (1,), _HANDOFFS.format(listed("handoffs")))
    return sorted((*found, handoffs, texts), key=lambda table: table.name != "router_decisions")


def _table(connection: sqlite3.Connection, name: str, chain: str) -> _Table | None:
    # Names come from the schema itself.
    info = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    columns = tuple(row[1] for row in info if row[1] not in STORED_WITH.get(name, ()))
    where = _where(name, columns, chain)
    key = [row[1] for row in sorted(info, key=lambda row: int(row[5])) if row[5]] or _unique(connection, name)
    if where is None or not key:
        return None
    places = tuple(columns.index(column) for column in key)
    seqs = tuple(place for place, column in enumerate(columns) if column == "seq" or column.endswith("_seq"))
    seqs = seqs or tuple(place for place, column in enumerate(columns) if column == "turn")
    named = ", ".join(f'"{column}"' for column in columns)
    order = ", ".join(f'"{column}"' for column in key)
    return _Table(name, columns, places, seqs, f'SELECT {named} FROM "{name}" WHERE {where} ORDER BY {order}')


def _where(name: str, columns: tuple[str, ...], chain: str) -> str | None:
    """The rows of a table that belong to a chain; None where none of them can."""
    if name == "agents" and chain == STORE_CHAIN:
        return "session_id IS NULL AND :chain = :chain"
    if "session_id" in columns:
        return "session_id = :chain"
    if name == "sessions":
        return "id = :chain"
    return ":chain = :chain" if chain == STORE_CHAIN else None


def _unique(connection: sqlite3.Connection, name: str) -> list[str]:
    for index in connection.execute(f'PRAGMA index_list("{name}")').fetchall():
        if index[2] and index[3] == "u":
            return [row[2] for row in connection.execute(f'PRAGMA index_info("{index[1]}")')]
    return []


def _compared(table: _Table, recorded: sqlite3.Cursor, told: sqlite3.Cursor) -> Iterator[Difference]:
    one, other = recorded.fetchone(), told.fetchone()
    while one is not None or other is not None:
        if one == other:
            one, other = recorded.fetchone(), told.fetchone()
            continue
        order = _order(table, one, other)
        if order == 0:
            changed = tuple(place for place in range(len(one)) if one[place] != other[place])
            yield _difference(table, changed, one, other)
            one, other = recorded.fetchone(), told.fetchone()
        elif order < 0:
            yield _difference(table, (), one, None)
            one = recorded.fetchone()
        else:
            yield _difference(table, (), None, other)
            other = told.fetchone()


def _order(table: _Table, one: Row | None, other: Row | None) -> int:
    """Which row comes first: below 0 the recorded, above 0 the told, 0 where both have the same key."""
    if one is None or other is None:
        return 1 if one is None else -1
    first, second = (tuple(_rank(row[place]) for place in table.key) for row in (one, other))
    return -1 if first < second else int(first > second)


def _rank(value: Any) -> tuple[int, Any]:
    """Values in SQLite's own order, whatever their types are."""
    kind = 1 if isinstance(value, float) else _TYPES.index(type(value))
    return (kind, 0 if value is None else value)


def _difference(table: _Table, changed: tuple[int, ...], one: Row | None, other: Row | None) -> Difference:
    rows = [row for row in (one, other) if row is not None]
    seqs = [row[place] for row in rows for place in table.seqs if isinstance(row[place], int)]
    return Difference(
        max(seqs, default=0),
        table.name,
        tuple(rows[0][place] for place in table.key),
        tuple(table.columns[place] for place in changed),
        None if one is None else tuple(one[place] for place in changed),
        None if other is None else tuple(other[place] for place in changed),
    )
