"""Errors as an agent may read them: an object without paths, and never more than one sentence."""

from __future__ import annotations

import os
from typing import Any

from orchestrator.app.kernel import hiding, operations
from orchestrator.core.suggestions import reword, sentence, suggest
from orchestrator.doors.mcp import suggested_calls
from orchestrator.errors import EnvironmentProblem, OrchestratorError

INTERNAL = "INTERNAL"
_PATHS = ("db", "path", "resource")
"""Keys of an error's data that hold paths."""
_OPERATOR = reword(sentence("For whoever runs this server, {}", suggest("doctor")), suggested_calls.worded)
_DATABASE, _FOLDER, _ELSEWHERE = "the database", "its folder", "its place"


def document(
    problem: OrchestratorError, session: str | None, database: str | None,
    worded: suggested_calls.Worded = suggested_calls.worded,
) -> dict[str, Any]:
    """The object of an error, with calls of tools where use cases suggest commands.

    Args:
        session: the one that the call was about.
        database: the file as far as it is known; it is named by no error.
        worded: says a suggestion in the words of the server.
    """
    found = operations.failure(_without_paths(problem, database, worded), operations.hinted(problem, session))
    said: dict[str, Any] = reword(found, worded)
    return said


def unexpected(problem: Exception) -> OrchestratorError:
    """A fault of the program, without its words, which may hold anything."""
    what = f"Unexpected: {type(problem).__name__}."
    return OrchestratorError(INTERNAL, what, "See the server log, and report it as a bug")


def _without_paths(
    problem: OrchestratorError, database: str | None, worded: suggested_calls.Worded
) -> OrchestratorError:
    said = _Said(problem, database)
    message, suggestion = said.text(problem.message), reword(problem.suggestion, worded)
    if said.text(suggestion) != suggestion:
        suggestion = _OPERATOR
    if message != problem.message:
        message = message[:1].upper() + message[1:]
    rest = {name: value for name, value in problem.data.items() if not _is_place(name, value)}
    rest = said.value(reword(rest, worded))
    return type(problem)(problem.code, message, suggestion, **rest)


def _is_place(name: str, value: Any) -> bool:
    return name in _PATHS and isinstance(value, str) and os.path.isabs(value)


class _Said:
    """What an error says, with words instead of paths.

    Those of the database and its folder come first, which may hold blanks. What else looks like a path is none of this
    machine for sure but in errors about the surroundings: elsewhere it may be what a caller said, a title or an id.
    """

    def __init__(self, problem: OrchestratorError, database: str | None) -> None:
        own = [each for each in (problem.data.get("db"), database) if isinstance(each, str)]
        places = hiding.places(problem)
        words = dict.fromkeys([*places, *hiding.folders(places)], _ELSEWHERE)
        words |= dict.fromkeys([*hiding.folders(own), *hiding.working_folder()], _FOLDER)
        self._own, self._words = own, words | dict.fromkeys(own, _DATABASE)
        self._rest = _ELSEWHERE if isinstance(problem, EnvironmentProblem) else None

    def text(self, text: str) -> str:
        for path in self._own:
            text = text.replace(f"database {path}", "database")
        return hiding.without_places(text, self._words, self._rest)

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(each) for name, each in value.items()}
        return [self.value(each) for each in value] if isinstance(value, list | tuple) else value
