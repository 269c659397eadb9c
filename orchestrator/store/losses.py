"""What an error in the middle of a call means, also where somebody took away from the file what a statement names."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from orchestrator import errors
from orchestrator.store import problems, sqlite

DEADLINE_S = 0.3
_ERROR = 1
_LACKS = ("no such table", "no such view", "no such index", "no such column")


def environment_problem(error: Exception, path: str | Path) -> errors.OrchestratorError | None:
    """What any error in the middle of a call means for the file; None where it is none of SQLite's, or our fault.

    Args:
        path: the file; empty where it is not known, and then the words of the error decide.
    """
    if isinstance(error, LookupError):
        # A column that has another name is missed only where its value is wanted.
        return _lost(os.fspath(path), "")
    if not isinstance(error, sqlite3.Error):
        return None
    failed = getattr(error, "sqlite_errorcode", 0) == _ERROR
    return sqlite.translate(error, path) or (_lost(os.fspath(path), str(error)) if failed else None)


def _lost(path: str, said: str) -> errors.OrchestratorError | None:
    """The file lacks what this program made in it; None where it has all of that, so that the statement is wrong."""
    if not path:
        return problems.corrupt(path, said) if said.startswith(_LACKS) else None
    from orchestrator.store import maintenance

    try:
        connection = sqlite.open_file(path, write=False, deadline=DEADLINE_S)
    except errors.OrchestratorError as problem:
        return problem
    try:
        lost = [each for each in maintenance.schema_problems(connection) if each.severity == "error"]
    finally:
        connection.close()
    more = f" ({len(lost) - 1} more problems of this kind)" if lost[1:] else ""
    return problems.corrupt(path, f"{lost[0].message.rstrip('.')}{more}") if lost else None
