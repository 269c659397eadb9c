"""Commands that an answer prints, with the `--db` that the call was given: what is copied works on the same file."""

from __future__ import annotations

import os
import re
from typing import Any

from orchestrator.app import outcomes
from orchestrator.core import names
from orchestrator.doors.cli import catalogue

COMMANDS = outcomes.COMMANDS
_TEXTS = frozenset(("text", "markdown"))
_GIVEN = frozenset(("context", "details", "metadata", "input", "report", "goal", "summary", "message"))
"""What agents and people wrote: theirs, and left as it is."""
_LABEL = "(?:(?:Next|try|hand-off|report|start again|[a-z ]* is awaited): +)?"
_WORDS = "|".join(sorted({words.partition(" ")[0] for words in catalogue.COMMANDS}))
_COMMAND = re.compile(rf"^([ \t`]*{_LABEL})orchestrator (?=(?:{_WORDS})\b)(?![^\n]* --db )", re.MULTILINE)


def repeat(found: Any, db: str) -> Any:
    """The answer with `--db` in every command that it prints.

    Args:
        found: an answer, or a part of one.
        db: the file as the call named it.
    """
    return _walk(found, option(db))


def option(db: str) -> str:
    """`--db FILE` as the words of a command that may be run in any folder."""
    try:
        path = os.path.abspath(db)
    except OSError:
        path = db
    return f"--db {names.word(path)}"


def in_text(text: str, words: str) -> str:
    """The text with the option after the program's name in each of its lines that is a command."""
    return _COMMAND.sub(lambda match: f"{match[1]}orchestrator {words} ", text)


def _walk(found: Any, words: str) -> Any:
    if isinstance(found, dict):
        return {name: _named(name, value, words) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [_walk(each, words) for each in found]
    return found


def _named(name: str, value: Any, words: str) -> Any:
    if name in _GIVEN:
        return value
    if isinstance(value, str):
        return in_text(value, words) if name in COMMANDS or name in _TEXTS else value
    if name in COMMANDS and isinstance(value, list):
        return [in_text(each, words) if isinstance(each, str) else _walk(each, words) for each in value]
    return _walk(value, words)
