"""Suggestions as commands that work where they are copied to: with the `--db` that this call was given."""

from __future__ import annotations

import os
from typing import Any

from orchestrator.core import names, suggestions
from orchestrator.core.suggestions import ELSEWHERE, Suggestion

_options = ""
"""What the commands of this call's answer have between program and operation."""


def name_database(db: str | None) -> None:
    """Have every later command name a database.

    Args:
        db: the file as the call named it; None where it named none.
    """
    global _options
    _options = "" if db is None else option(db)


def option(db: str) -> str:
    """`--db FILE` as the words of a command that may be run in any folder."""
    try:
        path = os.path.abspath(db)
    except OSError:
        path = db
    return f"--db {names.word(path)}"


def worded(found: Any) -> Any:
    """A text or an answer, its commands with the database."""
    return suggestions.reword(found, _command) if _options else found


def _command(suggestion: Suggestion) -> str:
    named = "db" in suggestion.arguments or suggestion.audience == ELSEWHERE
    if named or not suggestion.operation:
        return suggestion
    return suggestions.command_line(suggestion.operation, suggestion.arguments, _options)
