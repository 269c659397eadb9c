"""Whether the record of one session is whole: every event hashes to what it says, every row is covered by its event.

One pass over the events, beside it one over each table, all in the order of the steps. Rows that may change must be as
the last step that wrote them left them.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator.store import rows, step
from orchestrator.store.constants import STORE_CHAIN

_IN_PART = ("seq", "seq, part")
_ORDER = {
    "acknowledgements": _IN_PART,
    "agent_reports": _IN_PART,
    "context_items": ("seq", "seq, name"),
    "deferrals": ("seq", "seq"),
    "evidence": _IN_PART,
    "grandfathered_groups": ("seq", "seq, group_id"),
    "handoffs": ("turn", "turn, rowid"),
    "import_findings": _IN_PART,
    "imported_logs": _IN_PART,
    "imported_sessions": ("seq", "seq"),
    "refusals": _IN_PART,
    "requests": ("seq", "seq"),
    "router_decisions": _IN_PART,
    "status_changes": _IN_PART,
}
"""The tables whose rows are compared with the digests of their events: the column of the step, and the order in which
a step wrote them."""
_OWNED = {
    "agents": "session_id",
    "blockers": "session_id",
    "criteria": "session_id",
    "group_dependencies": "session_id",
    "questions": "session_id",
    "sessions": "id",
    "task_groups": "session_id",
}
"""The tables whose rows may change, with the column that names their session."""

_STORE_STATES = """SELECT rows FROM audit_events WHERE session_id = :chain AND kind LIKE 'agent %'
    AND rows LIKE '%"agents"%' ORDER BY seq"""
_EVENTS = "SELECT * FROM audit_events WHERE session_id = :session ORDER BY seq"


_States = dict[str, dict[str, tuple[int, str]]]
"""By table and key: the last step that wrote the row, and the digest of what it left."""


class Broken(NamedTuple):
    """A step that does not verify: its number, and what is wrong with it."""

    seq: int
    why: str


def broken(connection: sqlite3.Connection, session: str) -> Iterator[Broken]:
    """Every step of a session's chain that does not verify, in order."""
    tables = {table: _Rows(connection, table, session) for table in _ORDER}
    states: _States = {}
    last, expected = step.FIRST_HASH, 1
    for row in connection.execute(_EVENTS, {"session": session}):
        seq, written, prev_hash, own_hash = row[1], row[7], row[8], row[9]
        if seq != expected:
            yield Broken(expected, "the step is missing")
        elif prev_hash != last:
            yield Broken(seq, "it does not follow the step before it")
        if not step.verify_event(row):
            yield Broken(seq, "its event was altered")
        covered = json.loads(written)
        _fold(states, seq, covered)
        yield from _compared(seq, covered, tables)
        last, expected = own_hash, seq + 1
    for table, found in tables.items():
        yield from found.uncovered(table, None)
    for (written,) in connection.execute(_STORE_STATES, {"chain": STORE_CHAIN}):
        _fold_known(states, json.loads(written))
    for table in _OWNED:
        yield from _states_of(connection, table, session, states.get(table, {}))


def _fold(states: _States, seq: int, covered: dict[str, Any]) -> None:
    """The states of rows after one more step."""
    for table, found in covered.get(step.STATE, {}).items():
        states.setdefault(table, {}).update({key: (seq, digest) for key, digest in found.items()})


def _fold_known(states: _States, covered: dict[str, Any]) -> None:
    """The store's own changes of agents that the session started."""
    known = states.get("agents", {})
    for key, digest in covered[step.STATE]["agents"].items():
        if key in known:
            known[key] = (known[key][0], digest)


def _states_of(
    connection: sqlite3.Connection, table: str, session: str, expected: dict[str, tuple[int, str]]
) -> Iterator[Broken]:
    """The rows of a table that are not as the last step that wrote them left them."""
    names = [word.partition("=")[0] for word in rows.COLUMNS[table].split()]
    places = [names.index(name) for name in rows.KEYS[table]]
    columns = ", ".join(f'"{name}"' for name in names)
    for row in connection.execute(f"SELECT {columns} FROM {table} WHERE {_OWNED[table]} = ?", (session,)):
        key = step.state_key(tuple(row[place] for place in places))
        seq, digest = expected.pop(key, (0, None))
        if digest is None:
            yield Broken(seq, f"no event covers row {key} of {table}")
        elif hashlib.sha256(step.row_line(row)).hexdigest() != digest:
            yield Broken(seq, f"row {key} of {table} is not as step {seq} left it")
    for key, (seq, _) in expected.items():
        yield Broken(seq, f"row {key} of {table} is missing")


def _compared(seq: int, written: dict[str, Any], tables: dict[str, _Rows]) -> Iterator[Broken]:
    for table, found in tables.items():
        yield from found.uncovered(table, seq)
        if found.seq == seq:
            if table not in written:
                yield Broken(seq, f"rows of {table} were added to it")
            elif found.digest != written[table]:
                yield Broken(seq, f"its rows of {table} were altered")
            found.advance()
        elif table in written:
            yield Broken(seq, f"its rows of {table} are missing")


class _Rows:
    """The rows of one table and session, step by step: the step that is next, and the digest of its rows."""

    def __init__(self, connection: sqlite3.Connection, table: str, session: str) -> None:
        column, order = _ORDER[table]
        names = [word.partition("=")[0] for word in rows.COLUMNS[table].split()]
        columns = ", ".join(f'"{name}"' for name in names)
        sql = f"SELECT {column}, {columns} FROM {table} WHERE session_id = :session ORDER BY {order}"
        self._cursor = connection.execute(sql, {"session": session})
        self._row = self._cursor.fetchone()
        self.seq: int | None = None
        self.digest = ""
        self.advance()

    def advance(self) -> None:
        """Go on to the next step; behind the last one `seq` is None."""
        self.seq = None if self._row is None else self._row[0]
        sha = hashlib.sha256()
        while self._row is not None and self._row[0] == self.seq:
            sha.update(step.row_line(list(self._row[1:])))
            self._row = self._cursor.fetchone()
        self.digest = sha.hexdigest()

    def uncovered(self, table: str, before: int | None) -> Iterator[Broken]:
        """The steps before a step (None: all the rest) that no event tells of."""
        while self.seq is not None and (before is None or self.seq < before):
            yield Broken(self.seq, f"no event covers its rows of {table}")
            self.advance()
