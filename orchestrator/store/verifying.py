"""Whether the record of one session is whole: every event hashes to what it says, every row is covered by its event.

One pass over the events, beside it one over each table, all in the order of the steps. Rows that may change are looked
at as they were written, as far as the columns of their origin tell.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.store import step

_IN_PART = ("seq", "seq, part")
_ORDER = {
    "acknowledgements": _IN_PART,
    "agent_reports": _IN_PART,
    "blockers": ("opened_seq", "opened_seq, length(id), id"),
    "context_items": ("seq", "seq, name"),
    "deferrals": ("seq", "seq"),
    "evidence": _IN_PART,
    "handoffs": ("turn", "turn, rowid"),
    "questions": ("opened_seq", "opened_seq, length(id), id"),
    "refusals": _IN_PART,
    "requests": ("seq", "seq"),
    "router_decisions": _IN_PART,
    "status_changes": _IN_PART,
}
"""The tables whose rows are compared with the digests of their events: the column of the step, and the order in which
a step wrote them."""
_WRITTEN_LATER = {
    "blockers": {
        "external": "0", "external_dependency": "NULL", "external_by": "NULL", "external_seq": "NULL",
        "resolved_at": "NULL", "resolved_by": "NULL", "resolved_seq": "NULL", "resolution": "NULL",
        "resolution_note": "NULL",
    },
    "questions": {
        "closed_at": "NULL", "closed_by": "NULL", "closed_seq": "NULL", "answer": "NULL", "note": "NULL",
        "channel": "NULL",
    },
}  # fmt: skip
"""Columns that are written after the row, with what a row has in them when it is written."""

_EVENTS = "SELECT * FROM audit_events WHERE session_id = :session ORDER BY seq"


class Broken(NamedTuple):
    """A step that does not verify: its number, and what is wrong with it."""

    seq: int
    why: str


def broken(connection: sqlite3.Connection, session: str) -> Iterator[Broken]:
    """Every step of a session's chain that does not verify, in order."""
    tables = {table: _Rows(connection, table, session) for table in _ORDER}
    last, expected = step.FIRST_HASH, 1
    for row in connection.execute(_EVENTS, {"session": session}):
        seq, written, prev_hash, own_hash = row[1], row[7], row[8], row[9]
        if seq != expected:
            yield Broken(expected, "the step is missing")
        elif prev_hash != last:
            yield Broken(seq, "it does not follow the step before it")
        if not step.verify_event(row):
            yield Broken(seq, "its event was altered")
        yield from _compared(seq, json.loads(written), tables)
        last, expected = own_hash, seq + 1
    for table, rows in tables.items():
        yield from rows.uncovered(table, None)


def _compared(seq: int, written: dict[str, str], tables: dict[str, _Rows]) -> Iterator[Broken]:
    for table, rows in tables.items():
        yield from rows.uncovered(table, seq)
        if rows.seq == seq:
            if table not in written:
                yield Broken(seq, f"rows of {table} were added to it")
            elif rows.digest != written[table]:
                yield Broken(seq, f"its rows of {table} were altered")
            rows.advance()
        elif table in written:
            yield Broken(seq, f"its rows of {table} are missing")


class _Rows:
    """The rows of one table and session, step by step: the step that is next, and the digest of its rows."""

    def __init__(self, connection: sqlite3.Connection, table: str, session: str) -> None:
        column, order = _ORDER[table]
        names = [word.partition("=")[0] for word in step.COLUMNS[table].split()]
        later = _WRITTEN_LATER.get(table, {})
        columns = ", ".join(later.get(name, f'"{name}"') for name in names)
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
