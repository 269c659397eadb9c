"""A database of its own for events that are told again: the declared schema, and nothing that outlives the process.

It lies in a temporary file which SQLite makes and removes, so that memory does not grow with the record.
"""

from __future__ import annotations

import functools
import sqlite3

from orchestrator.core import sha256
from orchestrator.hints import Any
from orchestrator.store import declared, shared_commit, sqlite
from orchestrator.store.records import AGENT_COLUMNS, Outsider, Recorded

CACHE_KIB = 65_536
STEPS_A_COMMIT = 1000
"""How many steps are committed together: a commit costs as much as all else that a step writes."""

_LAST = "SELECT * FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
_SEQ = "SELECT seq FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
_EVENT = "INSERT INTO audit_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TEXT = "INSERT INTO texts SELECT :hash, :content WHERE NOT EXISTS (SELECT 1 FROM texts WHERE hash = :hash)"
_AGENT = f"INSERT INTO agents ({', '.join(AGENT_COLUMNS)}) VALUES ({', '.join('?' * len(AGENT_COLUMNS))})"


class Connection(shared_commit.Connection):
    """A connection on which so many steps share one commit."""

    begin_words = "BEGIN"
    joins = True
    _steps = 0

    def _begin(self) -> sqlite3.Cursor:
        if self._steps % STEPS_A_COMMIT == 0:
            self.settle()
        self._steps += 1
        return super()._begin()


def connect() -> Connection:
    """A writing connection to an empty database with the declared tables, indexes and views.

    Triggers and references are left out: they only ever refuse, and what they let through once is what is told.
    """
    connection = sqlite3.connect("", isolation_level=None, factory=Connection, cached_statements=512)
    for sql in _statements():
        connection.execute(sql)
    sqlite.prepare(connection)
    connection.executescript(
        "PRAGMA foreign_keys=OFF; PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY;"
        f" PRAGMA cache_size=-{CACHE_KIB};"
    )
    return connection


@functools.cache
def _statements() -> tuple[str, ...]:
    return tuple(sql for sql in declared.creation() if not sql.lstrip().startswith("CREATE TRIGGER"))


def last(connection: sqlite3.Connection, chain: str) -> Recorded | None:
    """The last event of a chain as it was told."""
    row: tuple[Any, ...] | None = connection.execute(_LAST, (chain,)).fetchone()
    return None if row is None else Recorded(*row)


def carry(connection: sqlite3.Connection, event: Recorded) -> None:
    """Take an event over as it is recorded, where telling it left nothing in its place."""
    connection.execute(_EVENT, event[:10])


def stand_before(connection: sqlite3.Connection, event: Recorded) -> None:
    """Let a chain stand right before an event, where the record misses the events between."""
    told = connection.execute(_SEQ, (event.chain,)).fetchone()
    if event.seq > 1 and (0 if told is None else told[0]) < event.seq - 1:
        missing = event._replace(seq=event.seq - 1, kind="missing", input="{}", rows="{}", hash=event.prev_hash)
        carry(connection, missing)


def add_outsider(connection: sqlite3.Connection, agent: Outsider) -> None:
    """Let an agent of another session be known."""
    connection.execute(_AGENT, agent.values)


def add_text(connection: sqlite3.Connection, content: str) -> None:
    """Let a text that another session had first be on record."""
    hash_ = sha256.new(content.encode()).hexdigest()
    connection.execute(_TEXT, {"hash": hash_, "content": content})
