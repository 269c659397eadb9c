"""What threatens the database as a file, or has happened to it, however whole the record inside is."""

from __future__ import annotations

import os
import sqlite3

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import Sentence, local, sentence, suggest
from orchestrator.store import git, high_water

TRACKED = "TRACKED_BY_GIT"
WENT_BACK = "WENT_BACK"
REPLACED = "REPLACED"
EARLIER = "EARLIER_DATABASE"
MOVED = "MOVED_WITHOUT_LOG"


class Risk(NamedTuple):
    """A stable id, how bad it is (error, warning), a sentence, and what to run."""

    id: str
    severity: str
    message: str
    suggestion: str

    def warning(self) -> str:
        """The risk as one warning of an answer."""
        return sentence("{} Run: {}", self.message, self.suggestion)


def risks(connection: sqlite3.Connection, state_folder: str | None) -> list[Risk]:
    """What threatens the file of a connection; none for a database in memory.

    Args:
        state_folder: where this machine keeps what it has seen, as `high_water.state_folder` gives it.
    """
    path: str = getattr(connection, "path", "")
    if not os.path.isabs(path):
        return []
    found = (lacking(connection, state_folder), replaced(connection, state_folder), tracked(path))
    return [each for each in found if each is not None]


def tracked(path: str) -> Risk | None:
    """That git tracks the database, so that a checkout, a reset or a stash swaps it."""
    command = git.untrack(path)
    if command is None:
        return None
    message = sentence(
        "Git tracks {}: a checkout, reset or stash can remove recorded steps or bring old ones back.", local(path)
    )
    return Risk(TRACKED, "warning", message, sentence("{}, then commit", command))


def lacking(connection: sqlite3.Connection, state_folder: str | None) -> Risk | None:
    """That the database lacks a step that this machine has seen of it, here or elsewhere."""
    return went_back(connection, state_folder) or moved(connection, state_folder)


def went_back(connection: sqlite3.Connection, state_folder: str | None) -> Risk | None:
    """That the database lacks a step that this machine has seen of it."""
    seen = high_water.missing(connection, state_folder)
    if seen is None:
        return None
    message = (
        f"The database went back: {high_water.worded(seen)}, which this machine has seen, is not in it. It was"
        f" replaced by an old copy (by git, or by hand)."
    )
    return Risk(WENT_BACK, "error", message, _restoring(connection))


def replaced(connection: sqlite3.Connection, state_folder: str | None) -> Risk | None:
    """That an older database was put in the place of another one, of which this machine has seen later steps."""
    seen = high_water.replaced(connection, state_folder)
    if seen is None:
        return None
    message = (
        f"Another database was here, and is lost with all of its steps: {high_water.worded(seen)} is the newest that"
        " this machine has seen of it. It was replaced by this older database (by git, or by hand)."
    )
    return Risk(REPLACED, "error", message, _restoring(connection))


def moved(connection: sqlite3.Connection, state_folder: str | None) -> Risk | None:
    """That the database lacks a step that this machine has seen of the same file elsewhere."""
    seen = high_water.moved(connection, state_folder)
    if seen is None:
        return None
    message = (
        f"The database lacks its last steps, up to {high_water.worded(seen)}: it was moved here without its -wal file,"
        " which holds them."
    )
    return Risk(MOVED, "error", message, "move the file back to where it was, beside its -wal, and then both together")


def lost(path: str, state_folder: str | None) -> list[str]:
    """That a database was at a path where none is now, as a warning for who begins a new one there."""
    seen = None if os.path.exists(path) else high_water.gone(path, state_folder)
    return [] if seen is None else [f"{_was_here(seen)} It was deleted or moved (by git, or by hand)."]


def earlier(connection: sqlite3.Connection, state_folder: str | None) -> Risk | None:
    """That another database was here before this one was begun; no fault, but worth knowing where it was no plan."""
    seen = high_water.earlier(connection, state_folder)
    if seen is None:
        return None
    message = f"{_was_here(seen)} This one was created after it was deleted or moved."
    return Risk(EARLIER, "info", message, _restoring(connection))


def _was_here(seen: high_water.Seen) -> str:
    return f"Another database was here, of which this machine has seen steps up to {high_water.worded(seen)}."


def _restoring(connection: sqlite3.Connection) -> Sentence:
    path = str(getattr(connection, "path", ""))
    return sentence(
        "{} with the newest copy of it (to continue with the current one, first {})",
        suggest("db restore", file="FILE", db=path), suggest("db backup", file="FILE", db=path),
    )  # fmt: skip
