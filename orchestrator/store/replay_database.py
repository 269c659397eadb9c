"""A database of its own for events that are told again: the declared schema, and nothing that outlives the process.

It lies in a temporary file which SQLite makes and removes, so that memory does not grow with the record.
"""

from __future__ import annotations

import functools
import sqlite3

from orchestrator.core import sha256
from orchestrator.hints import Any
from orchestrator.store import declared_schema, shared_commit, sqlite, step
from orchestrator.store.event_stream import AGENT_COLUMNS, Outsider, Recorded

CACHE_KIB = 65_536
STEPS_A_COMMIT = 1000
"""How many steps are committed together: a commit costs as much as all else that a step writes."""

_LAST = "SELECT * FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
_TEXT = "INSERT INTO texts SELECT :hash, :content WHERE NOT EXISTS (SELECT 1 FROM texts WHERE hash = :hash)"
_AGENT = f"INSERT INTO agents ({', '.join(AGENT_COLUMNS)}) VALUES ({', '.join('?' * len(AGENT_COLUMNS))})"


class CannotUndo(Exception):
    """A step has to be undone after it wrote something, on a connection that keeps nothing to undo it with."""


class Connection(shared_commit.Connection):
    """A connection on which so many steps share one commit.

    With `undoes` each step is a savepoint. Few ever need it, since what is refused is refused before its first write;
    without it such a step raises `CannotUndo`.

    Attributes:
        heads: the last event of each chain, the columns of `audit_events`.
    """

    begin_words = "BEGIN"
    # By its journal mode.
    keeps_in_memory = True
    joins = True
    undoes = True
    _steps = 0
    _written = 0
    _sealed: tuple[Any, ...] = ()

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.heads: dict[str, tuple[Any, ...]] = {}

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As usual; the event that seals a step is noted, and is the chain's head once the step is kept.

        Raises:
            CannotUndo: a step that wrote something has to be undone.
        """
        word = _WORDS.get(sql)
        if word is None:
            return _execute(self, sql, parameters)
        if word == "seal":
            self._sealed = parameters
            return _execute(self, sql, parameters)
        return self._begin() if word == "begin" else self._keep() if word == "keep" else self._take_back()

    def _begin(self) -> sqlite3.Cursor:
        if self._steps % STEPS_A_COMMIT == 0:
            self.settle()
        self._steps += 1
        if self.undoes:
            return super()._begin()
        if not self.is_shared:
            _execute(self, self.begin_words)
            self.is_shared = True
        self._in_step = True
        self._written = self.total_changes
        return self.cursor()

    def _keep(self) -> sqlite3.Cursor:
        if self._sealed:
            self.heads[self._sealed[0]] = self._sealed
        if self.undoes:
            return super()._keep()
        self._in_step = False
        return self.cursor()

    def _take_back(self) -> sqlite3.Cursor:
        self._sealed = ()
        if self._in_step and not self.undoes:
            self._in_step = False
            if self.total_changes != self._written:
                raise CannotUndo
        return super()._take_back()

    def _commit(self) -> None:
        _execute(self, "COMMIT")


_execute = sqlite3.Connection.execute
_WORDS = {"BEGIN IMMEDIATE": "begin", "COMMIT": "keep", "ROLLBACK": "take back", step.EVENT: "seal"}


def connect(*, undoes: bool = True) -> Connection:
    """A writing connection to an empty database with the declared tables, indexes and views.

    Triggers and references are left out: they only ever refuse, and what they let through once is what is told.

    Args:
        undoes: whether a step can be undone after it wrote something.
    """
    connection = sqlite3.connect("", isolation_level=None, factory=Connection, cached_statements=512)
    connection.undoes = undoes
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
    return tuple(sql for sql in declared_schema.creation() if not sql.lstrip().startswith("CREATE TRIGGER"))


def last(connection: sqlite3.Connection, chain: str) -> Recorded | None:
    """The last event of a chain as it was told."""
    row: tuple[Any, ...] | None
    if isinstance(connection, Connection):
        row = connection.heads.get(chain)
    else:
        row = connection.execute(_LAST, (chain,)).fetchone()
    return None if row is None else Recorded(*row)


def carry(connection: sqlite3.Connection, event: Recorded) -> None:
    """Take an event over as it is recorded, where telling it left nothing in its place."""
    connection.execute(step.EVENT, event[:10])
    if isinstance(connection, Connection):
        connection.heads[event.chain] = event[:10]


def stand_before(connection: sqlite3.Connection, event: Recorded) -> None:
    """Let a chain stand right before an event, where the record misses the events between."""
    told = last(connection, event.chain)
    if event.seq > 1 and (0 if told is None else told.seq) < event.seq - 1:
        missing = event._replace(seq=event.seq - 1, kind="missing", input="{}", rows="{}", hash=event.prev_hash)
        carry(connection, missing)


def add_outsider(connection: sqlite3.Connection, agent: Outsider) -> None:
    """Let an agent of another session be known."""
    connection.execute(_AGENT, agent.values)


def add_text(connection: sqlite3.Connection, content: str) -> None:
    """Let a text that another session had first be on record."""
    hash_ = sha256.new(content.encode()).hexdigest()
    connection.execute(_TEXT, {"hash": hash_, "content": content})
