"""A client of the database file that is not this program, as an agent with a database shell would be one."""

from __future__ import annotations

import sqlite3
from pathlib import Path


def attempt(path: Path, statement: str) -> str | None:
    """Run a statement on the file past every door.

    Returns:
        The database's refusal, or None where it let the statement through.
    """
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.execute(statement)
    except sqlite3.Error as error:
        return str(error)
    finally:
        connection.close()
    return None
