"""How an answer and an error are shown by the doors that speak JSON: the same keys through each of them."""

from __future__ import annotations

from typing import Any

from orchestrator.core.suggestions import suggest
from orchestrator.errors import OrchestratorError

SCHEMA = 1
_NO_HINT = ("UNKNOWN_SESSION", "AMBIGUOUS_SESSION", "INVALID_ID", "INVALID_TEXT", "USAGE")


def success(answer: dict[str, Any], db: str | None) -> dict[str, Any]:
    """The object of an answer, the keys that every one has first."""
    head = {"success": True, "schema": SCHEMA, "db": db, "warnings": answer.get("warnings") or []}
    return {**head, **{key: value for key, value in answer.items() if key not in head}}


def failure(problem: OrchestratorError, session: str | None, db: str | None = None) -> dict[str, Any]:
    """The object of an error."""
    head: dict[str, Any] = {
        "success": False,
        "schema": SCHEMA,
        "code": problem.code,
        "error": problem.message,
        "suggestion": problem.suggestion,
    }
    if session:
        head["status_hint"] = suggest("status", session_id=session)
    if db:
        head["db"] = db
    return {**head, **{key: value for key, value in problem.data.items() if key not in head and key[0] != "_"}}


def session_of(words: str, bound: dict[str, Any]) -> str | None:
    """The session that a call was about."""
    found = bound.get("id") if words.startswith("session ") else bound.get("session_id")
    return found if isinstance(found, str) else None


def hinted(problem: OrchestratorError, session: str | None) -> str | None:
    """The session to look at after an error, where looking helps."""
    return None if problem.code in _NO_HINT else session
