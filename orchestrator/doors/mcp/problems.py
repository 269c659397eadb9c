"""Errors as an agent may read them: the command line's object, without paths, and never more than one sentence."""

from __future__ import annotations

from typing import Any

from orchestrator.app import hiding, outcomes
from orchestrator.errors import EnvironmentProblem, OrchestratorError

INTERNAL = "INTERNAL"
_PATHS = ("db", "path", "resource")
"""Keys of an error's data that hold paths."""
_OPERATOR = "Whoever runs this server repairs it: orchestrator doctor"
_DATABASE, _FOLDER, _ELSEWHERE = "the database", "its folder", "its place"


def document(problem: OrchestratorError, session: str | None, database: str | None) -> dict[str, Any]:
    """The object of an error.

    Args:
        session: the one that the call was about.
        database: the file as far as it is known; it is named by no error.
    """
    if isinstance(problem, EnvironmentProblem):
        problem = _without_paths(problem, database)
    return outcomes.failure(problem, outcomes.hinted(problem, session))


def unexpected(problem: Exception) -> OrchestratorError:
    """A fault of the program, without its words, which may hold anything."""
    what = f"Unexpected: {type(problem).__name__}."
    return OrchestratorError(INTERNAL, what, "See the log of the server, and report it as a fault")


def _without_paths(problem: EnvironmentProblem, database: str | None) -> EnvironmentProblem:
    known = [each for each in (problem.data.get("db"), database) if isinstance(each, str)]
    message = _said(problem.message, known)
    suggestion = _said(problem.suggestion, known)
    if suggestion != problem.suggestion:
        suggestion = _OPERATOR
    rest = {name: value for name, value in problem.data.items() if name not in _PATHS}
    return EnvironmentProblem(problem.code, message[:1].upper() + message[1:], suggestion, **rest)


def _said(text: str, known: list[str]) -> str:
    """The text with words instead of paths, those of the database and its folder first, which may hold blanks."""
    for path in known:
        text = text.replace(f"database {path}", "database")
    words = dict.fromkeys([*hiding.folders(known), *hiding.working_folder()], _FOLDER)
    return hiding.without_places(text, words | dict.fromkeys(known, _DATABASE), _ELSEWHERE)
