"""Whether a database file is as it was when a connection that is kept was opened."""

from __future__ import annotations

import os
import sqlite3

from orchestrator.store.sqlite import Connection, Identity


def note(connection: sqlite3.Connection) -> None:
    """Note how the file of a connection is, right after it was opened."""
    if isinstance(connection, Connection) and connection.identity is not None:
        connection.mark = _mark(connection.path)


def is_as_opened(connection: sqlite3.Connection) -> bool:
    """Whether nobody has written to the file itself since it was opened, which steps do only once in a while.

    A connection goes on with what it has read of a file that was overwritten or cut off; one that is opened anew finds
    that out. The file is not read here: closing it would end the locks of every connection in this process.
    """
    mark: Identity | None = getattr(connection, "mark", None)
    return mark is None or _mark(getattr(connection, "path", "")) == mark


def _mark(path: str) -> Identity | None:
    """Size and time of the last change of a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
