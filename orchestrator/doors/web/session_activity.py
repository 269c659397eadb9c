"""What a session's page says of those at work: the driver, each agent, what it cost, and what was seen of it."""

from __future__ import annotations

from typing import Any

from orchestrator.app.audit import at_work
from orchestrator.app.driving import autopilot
from orchestrator.app.driving.autopilot import Autopilot
from orchestrator.app.session import board
from orchestrator.doors.web import failures
from orchestrator.doors.web.rendering import Look

_SAID = {
    autopilot.DRIVING: "This server drives the session.",
    autopilot.STOPPING: "The server stops: what runs may finish, no further turn is started.",
    autopilot.ELSEWHERE: "Another process drives the session.",
    autopilot.FAILED: "The session cannot be driven for now; this server tries again by itself.",
}


def of_session(look: Look, session: str) -> dict[str, Any]:
    """Who is at work in a session, what it has cost, and what was seen of what was reported."""
    used = look.ask("audit stats", session_id=session)["stats"]["driven"]
    return {
        "turns": at_work.turns(look.context, session, board.turns(look.context, session_id=session)),
        "used": used if used["runs"] else None,
        "seen": at_work.seen(look.context, session),
    }


def driver(autopilot: Autopilot | None, session: str, found: dict[str, Any]) -> dict[str, Any] | None:
    """How it is with the driver of a session, in words and without places; None where none is this server's.

    Args:
        found: its `state` and `questions`, as `status` answers them.
    """
    standing = autopilot.standing(session) if autopilot is not None else None
    if standing is None or found["state"] == "ended":
        return None
    reason = failures.told(standing.fault)[2] if standing.fault is not None else failures.said(standing.reason)
    words = _SAID.get(standing.state)
    if words is None:
        words = "A person is awaited; the session goes on by itself after the answer." if found["questions"] else (
            "The driver rests until something happens in the session."
        )
    return {"state": standing.state, "since": standing.since, "said": words, "reason": reason}
