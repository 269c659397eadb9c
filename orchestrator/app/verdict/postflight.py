"""With which commands a session goes on after its agents have stopped, or why it must wait for a person.

Source: seed 003, Recommendations 2 (skill postflight updates).
"""

from __future__ import annotations

from typing import Any

from orchestrator import errors
from orchestrator.app.engine import resuming, turns
from orchestrator.app.kernel import views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import handoff
from orchestrator.core.questions import BUDGET, REVIEW
from orchestrator.core.running import advice
from orchestrator.store import queries
from orchestrator.store.queries import Row

PERSON, RESUMABLE, PAUSED, NOTHING = "awaiting_person", "resumable", "paused", "nothing_to_resume"


def postflight(context: Context, session_id: str, group_id: str | None = None) -> Answer:
    """What waits for a person, or else what can be resumed; never both.

    Args:
        group_id: only this group; what the whole session waits for counts for it too.

    Returns:
        `session_id`, `group_id`, `state`, `questions` with the command that goes on after each, `resume` with the
        command and the phase of each open spawn, `exit_code`: 2 where a person is awaited.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP.

    Source: seed 003, Recommendations 2.
    """
    context.require_session(session_id)
    if group_id is not None:
        views.require_group(context, session_id, group_id)
    session = views.session_row(context.reader, session_id)
    found = [_question(context, each) for each in _questions(context, session_id, group_id)]
    resume = [] if found else _resume(context, session, group_id)
    state = PERSON if found else _state(session, resume)
    answer: Answer = {
        "success": True, "session_id": session_id, "group_id": group_id, "state": state, "questions": found,
        "resume": resume, "exit_code": errors.EXIT_PERSON if found else errors.EXIT_OK,
    }  # fmt: skip
    return answer


def _state(session: Row, resume: list[Answer]) -> str:
    if session["status"] == "paused":
        return PAUSED
    return RESUMABLE if resume else NOTHING


def _questions(context: Context, session_id: str, group_id: str | None) -> list[Row]:
    rows = queries.rows(context.reader, queries.OPEN_QUESTIONS, session=session_id)
    of_session = [row for row in rows if row["group_id"] is None and row["task_id"] is None]
    return rows if group_id is None else [row for row in rows if row["group_id"] == group_id or row in of_session]


def _question(context: Context, row: Row) -> Answer:
    return {
        "id": row["id"],
        "group_id": row["group_id"],
        "task_id": row["task_id"],
        "kind": row["kind"],
        "reason": _reason(context, row),
        "command": f"orchestrator answer {row['id']} --decision continue --note TEXT",
    }


def _reason(context: Context, row: Row) -> str:
    """What is asked; where the system asks by the type of an error alone, also what the agent says of that error."""
    from orchestrator.app.questions import inbox

    text = str(row["text"])
    told = inbox.report(context, row)
    if told is None or row["kind"] not in (REVIEW, BUDGET):
        return text
    errors = [each["message"] for each in told["errors"] if each["message"] and each["type"] in text]
    said = " ".join((errors[0] if errors else "").split())
    return f"{text}: {said}" if said and said not in text else text


def _resume(context: Context, session: Row, group_id: str | None) -> list[Answer]:
    """The open spawns in the order of their turns; of a session that is paused, its resumption."""
    session_id = session["id"]
    if session["status"] == "paused":
        return [_paused(session_id)]
    rows = queries.rows(context.reader, queries.GROUPS, session=session_id, since=0, status=None, limit=-1)
    open_ = [row for row in (session, *rows) if row["turn"] is not None and row["held"] is None]
    if group_id is not None:
        open_ = [row for row in open_ if row.get("session_id") and row["id"] == group_id]
    found = _queued(context, session)
    for row in sorted(open_, key=lambda row: int(row["turn"])):
        group = row["id"] if "session_id" in row else None
        if turns.spawn(context.reader, session_id, group, row["turn"]) is not None:
            found.append(_spawn(context, session_id, group, row))
    return found


def _queued(context: Context, session: Row) -> list[Answer]:
    """The runs of a chat that wait for somebody who goes on with them."""
    if session["kind"] != "chat":
        return []
    return [
        _of_nobody(session["id"], advice.by_hand(run.verification_root, run.id))
        for run in context.runs.queued(context, session["id"])
    ]


def _paused(session_id: str) -> Answer:
    return _of_nobody(None, resuming.command(session_id))


def _of_nobody(group: str | None, command: str) -> Answer:
    """What goes on by a command, and is no agent's turn."""
    return {"group_id": group, "agent": None, "agent_id": None, "turn": None, "command": command,
            "report_command": None, **_point(None)}  # fmt: skip


def _spawn(context: Context, session_id: str, group: str | None, row: Row) -> Answer:
    turn = int(row["turn"])
    return {
        "group_id": group,
        "agent": row["awaited_role"],
        "agent_id": row["awaited_agent_id"],
        "turn": turn,
        "command": handoff.command(session_id, group, turn),
        "report_command": handoff.report_command(session_id, group, row["awaited_role"], turn),
        **_point(resuming.newest(context.reader, session_id, group)),
    }


def _point(point: dict[str, Any] | None) -> dict[str, Any]:
    """From where work goes on, as keys of a spawn."""
    if point is None:
        return dict.fromkeys(("stage", "from_phase", "phases_completed", "phases_total", "handoff_path"))
    kept = ("stage", "phases_completed", "phases_total", "handoff_path")
    return {**{name: point[name] for name in kept}, "from_phase": point["phase"]}
