"""What an error in the middle of a call means: the file is busy or full, or what it holds was damaged or taken away.

A damaged value shows itself anywhere: as a text that is none, as JSON that cannot be read, as a number that is a word.
So after any error that nobody expected the file is looked over, and only where it is sound the fault is ours.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from orchestrator import errors
from orchestrator.core.suggestions import local, sentence
from orchestrator.store import problems, sqlite
from orchestrator.store.constants import SCHEMA_VERSION, STORE_CHAIN

DEADLINE_S = 0.3
_LACKS = ("no such table", "no such view", "no such index", "no such column")


def environment_problem(error: Exception, path: str | Path) -> errors.OrchestratorError | None:
    """What any error in the middle of a call means for the file; None where the fault is none of the file's.

    Args:
        path: the file; where it is not known, the words of the error decide.
    """
    known = sqlite.translate(error, path) if isinstance(error, sqlite3.Error) else None
    if known is not None:
        return known
    if not os.path.isabs(path):
        said = str(error)
        lacks = isinstance(error, sqlite3.Error) and said.startswith(_LACKS)
        return problems.corrupt(os.fspath(path), said) if lacks else None
    found = _damage(os.fspath(path))
    # An error of ours is not excused by a file that is only busy or gone since.
    is_ours = not isinstance(error, sqlite3.Error | LookupError)
    return None if found is not None and is_ours and found.code != "CORRUPT" else found


def _damage(path: str) -> errors.OrchestratorError | None:
    """What is wrong with a file, the first of it; None where it is sound."""
    try:
        connection = sqlite.open_file(path, write=False, deadline=DEADLINE_S)
    except errors.OrchestratorError as problem:
        return problem
    try:
        for why in _looks(connection):
            return problems.corrupt(path, why)
    except sqlite3.Error as error:
        return sqlite.translate(error, path) or problems.corrupt(path, str(error))
    except Exception as error:
        # What looks the file over stumbles over what it finds in a schema that was altered.
        return problems.corrupt(path, sentence("{}: {}", type(error).__name__, local(error)))
    finally:
        connection.close()
    return None


def _looks(connection: sqlite.Connection) -> Iterator[str]:
    from orchestrator.store import maintenance, text_damage, verify_chain
    from orchestrator.store.findings import Found
    from orchestrator.store.row_hashes import Span

    # An older file lacks what later versions add; that is no damage.
    is_current = sqlite.read_version(connection) == SCHEMA_VERSION
    every = maintenance.schema_problems(connection) if is_current else ()
    if lost := [each for each in every if each.severity == "error"]:
        more = f" ({len(lost) - 1} more problems of this kind)" if lost[1:] else ""
        yield lost[0].message.rstrip(".") + more
    for damage in text_damage.damages(connection):
        yield damage.message
    for (message,) in connection.execute("PRAGMA quick_check(1)"):
        if message != "ok":
            yield message
    if not is_current:
        return
    found = Found(connection.path, 1)
    for span in (Span(STORE_CHAIN), Span(None)):
        verify_chain.verify(connection, span, found)
    for finding in found.kept:
        yield finding.message.rstrip(".")
