"""What is open in a session: each turn, the validator, each question, and what a group waits for.

`status` and `next` read it here, so that neither can leave out what the other one shows.
"""

from __future__ import annotations

import json
from datetime import datetime

from orchestrator.app import starts
from orchestrator.app.engine import decision_views as decided
from orchestrator.app.engine import overview
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import handoff
from orchestrator.core.routing.facts import MANAGER, PERSON, VALIDATOR
from orchestrator.core.suggestions import suggest
from orchestrator.hints import Any
from orchestrator.store import queries
from orchestrator.store.queries import Row


def turns(context: Context, session: Row, groups: list[Row], now: str) -> list[Answer]:
    """The open turns in their order: who works now, on what, and how each reads its hand-off and reports.

    Args:
        session, groups: rows as `kernel.views` shapes them.
        now: UTC, ISO 8601; it decides what is overdue.
    """
    open_ = [row for row in (session, *groups) if row["turn"] is not None and row["held"] is None]
    found = (turn(context, session, row, now) for row in sorted(open_, key=lambda row: int(row["turn"])))
    return [each for each in found if each is not None]


def turn(context: Context, session: Row, row: Row, now: str) -> Answer | None:
    """The open turn of a group's row, or of the session's own; None where no agent was started for it."""
    group = row["id"] if "session_id" in row else None
    given = decided.spawned(context.reader, session["id"], group, row["turn"])
    if given is None:
        return None
    role, number = row["awaited_role"], row["turn"]
    late = overdue(session, row, now)
    found = {
        "group_id": group,
        "agent": role,
        "agent_id": row["awaited_agent_id"],
        "model": given[1]["model"],
        "action": row["awaited_action"],
        "turn": number,
        "since": row["awaited_since"],
        "overdue": late,
        "report_command": handoff.report_command(session["id"], group, role, number),
        "handoff": handoff.command(session["id"], group, number),
    }
    start, limited = _start(context, session["id"], group, number, now)
    if start is not None:
        found["start"] = start
    if limited is not None:
        found["limited"] = limited
    if (late and group) or (start is not None and start["state"] == starts.LOST):
        where = {"group_id": group} if group else {}
        found["redispatch"] = suggest("redispatch", **where, session_id=session["id"], reason="TEXT")
    return found


_TOLD = ("via", "client", "worker", "state", "started_at", "last_sign", "isolation")


def _start(
    context: Context, session: str, group: str | None, turn: int, now: str
) -> tuple[Answer | None, Answer | None]:
    """Who was started for a turn, where anybody was; else the usage limit that its last agent has to wait for."""
    newest = context.reader.one(queries.NEWEST_START, session=session, group=group or "", turn=turn)
    if newest is None:
        return None, None
    ended, outcome, due_at, reason, worker = newest
    if ended is not None:
        waits = outcome == starts.LIMITED and due_at is not None and str(due_at) > now
        return None, {"due_at": due_at, "reason": reason, "worker": worker} if waits else None
    row = starts.of_turn(context, session, group, turn)
    return row and told(row), None


def told(start: Row) -> Answer:
    """What answers say of a start."""
    return {name: start[name] for name in _TOLD}


def is_under_way(turn: Answer) -> bool:
    """Whether an agent is at work on a turn, so that nobody else is to be started for it."""
    return "start" in turn and turn["start"]["state"] != starts.LOST


def is_due(turn: Answer) -> bool:
    """Whether a turn needs an agent now: none works on it, and no usage limit is in force."""
    return not is_under_way(turn) and "limited" not in turn


def overdue(session: Row, row: Row, now: str) -> bool:
    """Whether an agent has had its turn longer than the session allows. A person is never overdue."""
    since = row["awaited_since"]
    if since is None or row["turn"] is None or row["held"] or row["awaited_role"] == PERSON:
        return False
    waited = datetime.fromisoformat(now) - datetime.fromisoformat(since)
    return waited.total_seconds() > int(session["turn_timeout"]) * 60


def resume_point(context: Context, session_id: str, group: str | None) -> dict[str, Any]:
    """Where the agent of a turn goes on, as keys of its entry; each None where it begins from the start."""
    point = overview.resume_point(context.reader, session_id, group)
    if point is None:
        return dict.fromkeys(("stage", "from_phase", "phases_completed", "phases_total", "handoff_path"))
    kept = ("stage", "phases_completed", "phases_total", "handoff_path")
    return {**{name: point[name] for name in kept}, "from_phase": point["phase"]}


def validation(session: Row) -> Answer | None:
    """The command that a session waits for where the validator is awaited, and since when; else None."""
    if session["awaited_role"] != VALIDATOR:
        return None
    return {"command": suggest("validate", session_id=session['id']), "since": session["awaited_since"]}


def questions(context: Context, rows: list[Row]) -> list[Row]:
    """Open questions in full, each with the answers that it may be given, and with the report that asked."""
    if not rows:
        return []
    from orchestrator.app.questions import inbox

    return [
        {**row, "answers": inbox.answers(context.reader, row), "report": inbox.report(context, row)} for row in rows
    ]


def of_session(context: Context, session_id: str) -> list[Row]:
    """The rows of the open questions of a session, the oldest first."""
    return queries.rows(context.reader, queries.OPEN_QUESTIONS, session=session_id)


def may_be_stuck(session: Row, groups: list[Row]) -> bool:
    """Whether any group of a session is pending or waits for the project manager: no other one can be stuck."""
    return session["kind"] != "chat" and any(
        group["status"] == "pending" or (group["status"] == "in_progress" and group["awaited_role"] == MANAGER)
        for group in groups
    )


def dependencies(context: Context, session_id: str, groups: list[Row]) -> dict[str, list[str]]:
    """The groups that each pending one of these still waits for, as `Reader.open_dependencies`, in one statement."""
    pending = json.dumps([row["id"] for row in groups if row["status"] == "pending"])
    found: dict[str, list[str]] = {}
    settled: dict[str, bool] = {}
    for edge in queries.rows(context.reader, queries.OPEN_EDGES, session=session_id, groups=pending):
        other = edge["depends_on"]
        if other not in settled:
            # The view is asked for one group at a time, and only for those of which it can say so.
            path = context.reader.path(session_id, other) if edge["status"] == "in_progress" else None
            settled[other] = bool(path and path.awaiting_confirmation)
        if not settled[other]:
            found.setdefault(edge["group_id"], []).append(other)
    return found
