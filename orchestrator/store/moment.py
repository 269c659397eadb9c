"""Several statements that speak of one moment: what is committed meanwhile is seen by none of them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from orchestrator.store import sqlite


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


def _begin(connection: sqlite3.Connection) -> None:
    """The moment is that of the first row which is read."""
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.Error:
        connection.execute("ROLLBACK")
        raise
