"""Several statements that speak of one moment: what is committed meanwhile is seen by none of them.

A second connection can hold the same moment, so that a thread reads while another one computes: SQLite lets other
threads run while it works.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from orchestrator.errors import EnvironmentProblem
from orchestrator.store import sqlite

_TRIES = 5
"""How often two connections are begun anew, because something was committed between them."""


@contextlib.contextmanager
def of(connection: sqlite3.Connection, deadline_s: float = sqlite.DEADLINE_S) -> Iterator[None]:
    """Hold one moment of the database while statements read; inside a transaction that is open it is that one's.

    Args:
        deadline_s: seconds to wait while another process holds the file.

    Raises:
        EnvironmentProblem: BUSY, CORRUPT.
    """
    if connection.in_transaction:
        yield
        return
    sqlite.with_retry(lambda: _begin(connection), getattr(connection, "path", ""), deadline_s)
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextlib.contextmanager
def of_two(
    connection: sqlite3.Connection, deadline_s: float = sqlite.DEADLINE_S
) -> Iterator[sqlite3.Connection | None]:
    """Hold one moment as `of` does, on this connection and on a second one to the same file, for another thread.

    The second one is None where there is none: in memory, inside a transaction that is open, where the file cannot be
    opened twice, and where others commit so often that both never see the same.

    Args:
        deadline_s: seconds to wait while another process holds the file.

    Raises:
        EnvironmentProblem: BUSY, CORRUPT; of the connection itself alone.
    """
    second = None if connection.in_transaction else _another(connection)
    try:
        if second is not None and not _begin_both(connection, second, deadline_s):
            second.close()
            second = None
        with of(connection, deadline_s) if second is None else contextlib.nullcontext():
            yield second
    finally:
        if second is not None:
            second.close()
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _another(connection: sqlite3.Connection) -> sqlite3.Connection | None:
    identity = getattr(connection, "identity", None)
    if identity is None:
        return None
    try:
        second = sqlite.open_file(connection.path, write=False, deadline=0, shared=True)  # type: ignore[attr-defined]
    except EnvironmentProblem:
        return None
    if second.identity == identity:
        return second
    second.close()
    return None


def _begin_both(connection: sqlite3.Connection, second: sqlite3.Connection, deadline_s: float) -> bool:
    """Begin the second one while the first says that nobody commits; else neither is begun."""
    path = getattr(connection, "path", "")
    for _ in range(_TRIES):
        before = sqlite.with_retry(lambda: _version(connection), path, deadline_s)
        try:
            _begin(second)
        except sqlite3.Error:
            return False
        sqlite.with_retry(lambda: _begin(connection), path, deadline_s)
        if _version(connection) == before:
            return True
        connection.execute("ROLLBACK")
        second.execute("ROLLBACK")
    return False


def _version(connection: sqlite3.Connection) -> int:
    """A number that differs after others have committed."""
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return int(version)


def _begin(connection: sqlite3.Connection) -> None:
    """The moment is that of the first row which is read."""
    connection.execute("BEGIN")
    try:
        connection.execute(getattr(connection, "first_read", "SELECT 1 FROM sqlite_master LIMIT 1")).fetchone()
    except sqlite3.Error:
        connection.execute("ROLLBACK")
        raise
