"""Errors as an agent may read them: an object without paths, and never more than one sentence."""

from __future__ import annotations

import os
from typing import Any

from orchestrator.app.kernel import operations
from orchestrator.core.suggestions import elsewhere, is_local, reword, sentence, suggest
from orchestrator.doors.mcp import suggested_calls
from orchestrator.errors import OrchestratorError

INTERNAL = "INTERNAL"
_PATHS = ("db", "path", "resource")
"""Keys of an error's data that hold paths."""
_OPERATOR = reword(sentence("For whoever runs this server, {}", suggest("doctor")), suggested_calls.worded)


def document(
    problem: OrchestratorError, session: str | None, worded: suggested_calls.Worded = suggested_calls.worded
) -> dict[str, Any]:
    """The object of an error, with calls of tools where use cases suggest commands.

    Args:
        session: the one that the call was about.
        worded: says a suggestion in the words of the server.
    """
    rest = {name: value for name, value in problem.data.items() if not _is_place(name, value)}
    suggestion = _OPERATOR if is_local(problem.suggestion) else problem.suggestion
    told = type(problem)(problem.code, problem.message, suggestion, **rest)
    said: dict[str, Any] = elsewhere(operations.failure(told, operations.hinted(problem, session)), worded)
    return said


def unexpected(problem: Exception) -> OrchestratorError:
    """A fault of the program, without its words, which may hold anything."""
    what = f"Unexpected: {type(problem).__name__}."
    return OrchestratorError(INTERNAL, what, "See the server log, and report it as a bug")


def _is_place(name: str, value: Any) -> bool:
    return name in _PATHS and isinstance(value, str) and os.path.isabs(value)
