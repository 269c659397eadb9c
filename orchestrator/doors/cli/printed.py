"""Commands that an answer prints, with the `--db` that the call was given: what is copied works on the same file."""

from __future__ import annotations

import os
import re
from typing import Any

from orchestrator.app.kernel import outcomes
from orchestrator.core import names
from orchestrator.doors.cli import catalogue

COMMANDS = outcomes.COMMANDS
_SENTENCES = COMMANDS | {"instruction", "why", "notes", "note", "warnings", "completes", "hints", "limits", "persons"}
"""What the product says itself: a command may stand anywhere in it."""
_TEXTS = frozenset(("text", "markdown"))
_GIVEN = frozenset(("context", "details", "metadata", "input", "report", "goal", "summary", "message"))
"""What agents and people wrote: theirs, and left as it is."""
_LABEL = "(?:(?:Next|try|hand-off|report|start again|[a-z ]* is awaited): +)?"
_WORDS = "|".join(sorted(catalogue.FIRST_WORDS))
_COMMAND = re.compile(rf"^([ \t`]*{_LABEL})orchestrator (?=(?:{_WORDS})\b)(?![^\n]* --db )", re.MULTILINE)
_ANYWHERE = re.compile(rf"(?<![\w@/.\-])(?<!Where the session is: )orchestrator (?=(?:{_WORDS})\b)(?![^\n`]* --db )")


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


def in_sentence(text: str, words: str) -> str:
    """The text with the option after the program's name in each command that it holds, wherever it stands."""
    return _ANYWHERE.sub(lambda match: f"{match[0]}{words} ", text)


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
        return in_text(value, words) if name in _TEXTS else in_sentence(value, words) if name in _SENTENCES else value
    if name in _SENTENCES and isinstance(value, list | tuple):
        return [in_sentence(each, words) if isinstance(each, str) else _walk(each, words) for each in value]
    return _walk(value, words)
