"""What threatens the database as a file, or has happened to it, however whole the record inside is."""

from __future__ import annotations

import os
import sqlite3

from orchestrator.core.suggestions import sentence, suggest
from orchestrator.core.tuples import NamedTuple
from orchestrator.store import git, high_water

TRACKED = "TRACKED_BY_GIT"
WENT_BACK = "WENT_BACK"


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
    return [each for each in (went_back(connection, state_folder), tracked(path)) if each is not None]


def tracked(path: str) -> Risk | None:
    """That git tracks the database, so that a checkout, a reset or a stash swaps it."""
    command = git.untrack(path)
    if command is None:
        return None
    message = f"Git tracks {path}: a checkout, reset or stash takes recorded steps away or brings old ones back."
    return Risk(TRACKED, "warning", message, f"{command}, then commit")


def went_back(connection: sqlite3.Connection, state_folder: str | None) -> Risk | None:
    """That the database lacks a step that this machine has seen of it."""
    seen = high_water.missing(connection, state_folder)
    if seen is None:
        return None
    path = str(getattr(connection, "path", ""))
    chain = "the store" if seen.chain.startswith("@") else f"session {seen.chain}"
    message = (
        f"The database went back: step {seen.seq} of {chain} ({seen.at}), which this machine has seen, is not in it."
        " An old copy of the file was put in its place (by git, or by hand)."
    )
    suggestion = sentence(
        "{} with the newest copy of it (to go on with what is there: first {})",
        suggest("db restore", file="FILE", db=path), suggest("db backup", file="FILE", db=path),
    )  # fmt: skip
    return Risk(WENT_BACK, "error", message, suggestion)
