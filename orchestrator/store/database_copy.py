"""A database copied into an empty one, row by row: from a file to a server, or back.

All rows come as they are, with the keys by which steps are ordered, so that every chain has the same hashes. Guards
judge steps and not copies, so they are created behind the rows; what the copy holds is verified before it is kept.

Source: spec 90, section 3.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator

from orchestrator.core import database_urls
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import sentence
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import Any
from orchestrator.store import guards, import_database, problems, schema_script, server, sqlite, verify_chain
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.findings import Found
from orchestrator.store.row_hashes import Span

_HEADS = """SELECT e.session_id, e.seq, e.hash FROM audit_events e WHERE e.seq =
    (SELECT max(m.seq) FROM audit_events m WHERE m.session_id = e.session_id) ORDER BY e.session_id"""
_WITHOUT_ROWID, _TYPE, _KEY = 4, 2, 5
"""Columns of PRAGMA table_list and PRAGMA table_info."""


class Table(NamedTuple):
    """A table whose rows are copied.

    columns: those that are written; rowid: whether its rows have the hidden key; is_own: whether that is a column of
    the table in a file.
    """

    name: str
    columns: tuple[str, ...]
    rowid: bool
    is_own: bool

    @property
    def names(self) -> str:
        """What is read of a row, the hidden key first."""
        return ", ".join([*(["rowid"] if self.rowid else []), *(f'"{name}"' for name in self.columns)])

    @property
    def select(self) -> str:
        """The statement that reads all rows, in the order in which they were written."""
        return f"SELECT {self.names} FROM {self.name}{' ORDER BY rowid' if self.rowid else ''}"


class Copied(NamedTuple):
    """What was copied. heads: the number and hash of the last step of each chain."""

    rows: int
    heads: dict[str, tuple[int, str]]


def tables() -> list[Table]:
    """Every table with rows of the record, in order of creation."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        found = [part for part in schema_script.parts() if part.kind == "table"]
        for part in found:
            connection.execute(part.sql)
        return [_table(connection, part.name) for part in found if part.name != schema_script.VERSION_TABLE]


def _table(connection: sqlite3.Connection, name: str) -> Table:
    columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    (listed,) = connection.execute(f'PRAGMA table_list("{name}")').fetchall()
    keys = [column for column in columns if column[_KEY]]
    is_own = len(keys) == 1 and keys[0][_TYPE].upper() == "INTEGER"
    return Table(name, tuple(column[1] for column in columns), not listed[_WITHOUT_ROWID], is_own)


def copy(source: str, target: str, at: str, *, deadline_s: float, allow_superuser: bool = False) -> Copied:
    """Copy all rows in one transaction, while nobody takes a step in the source: who wants to waits.

    Args:
        source, target: a file or a URL each; the target is a file that does not exist, or an empty database.
        at: the present time, UTC, ISO 8601.

    Raises:
        Refused: NOT_EMPTY. EnvironmentProblem: CORRUPT, the copy does not verify; and those of both databases. Nothing
            was changed.
    """
    with _held(source, deadline_s), contextlib.closing(_opened(source, deadline_s)) as reading:
        reading.execute("BEGIN")
        if database_urls.is_postgresql(target):
            with server.filling(target, deadline_s, allow_superuser=allow_superuser) as filling:
                rows = sum(filling.load(each, _rows(reading, each)) for each in tables())
                return Copied(rows, _verified(reading, filling))
        return _into_file(reading, target, at)


@contextlib.contextmanager
def _held(source: str, deadline_s: float) -> Iterator[None]:
    """Keep steps from being taken in a database; in one that cannot be written here, nobody here takes any."""
    try:
        holding = _opened(source, deadline_s, write=not database_urls.is_postgresql(source))
    except EnvironmentProblem as problem:
        if problem.code != "READ_ONLY":
            raise
        yield
        return
    with contextlib.closing(holding):
        if database_urls.is_postgresql(source):
            holding.execute("BEGIN")
            holding.wait_for(STORE_CHAIN, deadline_s)
        else:
            sqlite.begin_immediate(holding, deadline_s)
        yield


def _opened(source: str, deadline_s: float, *, write: bool = False) -> Any:
    connect = server.connect if database_urls.is_postgresql(source) else sqlite.connect
    return connect(source, write=write, deadline=deadline_s)


def _rows(reading: Any, table: Table) -> Iterator[tuple[Any, ...]]:
    streamed = getattr(reading, "streamed", None)
    return iter(reading.execute(table.select) if streamed is None else streamed(table.select))


def _into_file(reading: Any, target: str, at: str) -> Copied:
    if os.path.exists(target):
        raise problems.not_empty(target)
    with import_database.aside(target, at) as filling:
        filling.settle()
        filling.executescript("PRAGMA foreign_keys=OFF")
        filling.execute("BEGIN")
        guards.drop_all(filling)
        rows = sum(_load(filling, each, _rows(reading, each)) for each in tables())
        guards.create_all(filling)
        filling.commit()
        found = Copied(rows, _verified(reading, filling))
        import_database.put(filling, target, at, None)
    return found


def _load(filling: sqlite3.Connection, table: Table, rows: Iterator[tuple[Any, ...]]) -> int:
    skips = int(table.rowid and table.is_own)
    names = table.names.removeprefix("rowid, ") if skips else table.names
    places = ", ".join("?" * (names.count(",") + 1))
    given = (row[skips:] for row in rows)
    return filling.executemany(f"INSERT INTO {table.name} ({names}) VALUES ({places})", given).rowcount


def _verified(reading: Any, filling: Any) -> dict[str, tuple[int, str]]:
    """The heads of a copy that verifies, and that are those of its source."""
    found = Found(filling.path, 1)
    for span in (Span(STORE_CHAIN), Span(None)):
        verify_chain.verify(filling, span, found)
    for finding in found.kept:
        raise _unsound(reading.path, finding.message.rstrip("."))
    heads, own = (each.execute(_HEADS).fetchall() for each in (reading, filling))
    if heads != own:
        raise _unsound(reading.path, "the copy ends with other steps")
    return {chain: (seq, bytes(digest).hex()) for chain, seq, digest in own}


def _unsound(path: str, why: str) -> EnvironmentProblem:
    return problems.corrupt(path, sentence("{}; nothing was copied", why))
