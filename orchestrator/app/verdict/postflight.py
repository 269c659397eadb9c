"""With which commands a session goes on after its agents have stopped, or why it must wait for a person.

Source: seed 003, Recommendations 2 (skill postflight updates).
"""

from __future__ import annotations

from orchestrator import errors
from orchestrator.app.engine import overview
from orchestrator.app.kernel import views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.session import open_work
from orchestrator.core.questions import BUDGET, REVIEW
from orchestrator.core.running import advice
from orchestrator.core.suggestions import suggest
from orchestrator.store import queries
from orchestrator.store.queries import Row

PERSON, RESUMABLE, PAUSED, NOTHING = "awaiting_person", "resumable", "paused", "nothing_to_resume"
VALIDATE, STUCK, ENDED = "validate", "stuck", "ended"


def postflight(context: Context, session_id: str, group_id: str | None = None) -> Answer:
    """What waits for a person, or else what can be resumed; never both.

    Args:
        group_id: only this group; what the whole session waits for counts for it too.

    Returns:
        `session_id`, `group_id`, `state`, `questions` in full, with the command that goes on after each, `resume` with
        role, model, the command and the phase of each open turn, `turns` (every open turn, also while a question is
        open), `validate` (the command, where the validator is awaited), `stuck` (as `status` gives it), `outcome` and
        `verdict` of a session that has ended, `exit_code`: 2 where a person is awaited.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP.

    Source: seed 003, Recommendations 2.
    """
    context.require_session(session_id)
    if group_id is not None:
        views.require_group(context, session_id, group_id)
    session = views.session_row(context.reader, session_id)
    groups = [
        views.group_shape(row)
        for row in queries.rows(context.reader, queries.GROUPS, session=session_id, since=0, status=None, limit=-1)
    ]
    rows = open_work.of_session(context, session_id)
    asked = [_question(each) for each in open_work.questions(context, _about(rows, group_id))]
    found: Answer = {
        "session_id": session_id, "group_id": group_id, "questions": asked,
        "turns": _turns(context, session, groups, group_id),
        "validate": open_work.validation(session) if group_id is None else None,
        "stuck": _stuck(context, session, groups, rows, group_id),
        "outcome": session["outcome"],
        "verdict": queries.row(context.reader, queries.LAST_VERDICT, session=session_id),
    }  # fmt: skip
    resume = [] if asked else _resume(context, session, found["turns"])
    code = errors.EXIT_PERSON if asked else errors.EXIT_OK
    return {"success": True, **found, "resume": resume, "state": _state(session, found, resume), "exit_code": code}


def _state(session: Row, found: Answer, resume: list[Answer]) -> str:
    if found["questions"]:
        return PERSON
    if session["status"] in (PAUSED, ENDED):
        return str(session["status"])
    if resume:
        return RESUMABLE
    if found["validate"]:
        return VALIDATE
    return STUCK if found["stuck"] else NOTHING


def _about(rows: list[Row], group_id: str | None) -> list[Row]:
    """The questions that hold up a group: its own and those of the session; all of them for the session."""
    return [row for row in rows if group_id is None or (row["group_id"] in (group_id, None) and (
        row["group_id"] == group_id or row["task_id"] is None
    ))]  # fmt: skip


def _question(row: Row) -> Answer:
    kept = ("id", "group_id", "task_id", "kind", "text", "asked_by", "asked_at", "answers", "report")
    return {**{name: row[name] for name in kept}, "reason": _reason(row), "command": _goes_on(row)}


def _goes_on(row: Row) -> str:
    """The answer after which the work goes on, which is the first one; a note is always possible."""
    return suggest("answer", id=row["id"], decision=row["answers"][0]["decision"], note="TEXT")


def _reason(row: Row) -> str:
    """What is asked; where the system asks by the type of an error alone, also what the agent says of that error."""
    text, told = str(row["text"]), row["report"]
    if told is None or row["kind"] not in (REVIEW, BUDGET):
        return text
    errors = [each["message"] for each in told["errors"] if each["message"] and each["type"] in text]
    said = " ".join((errors[0] if errors else "").split())
    return f"{text}: {said}" if said and said not in text else text


def _turns(context: Context, session: Row, groups: list[Row], group_id: str | None) -> list[Answer]:
    own = groups if group_id is None else [row for row in groups if row["id"] == group_id]
    found = open_work.turns(context, session, own, context.clock())
    return [
        {**each, **open_work.resume_point(context, session["id"], each["group_id"])}
        for each in found
        if group_id is None or each["group_id"] == group_id
    ]


def _stuck(
    context: Context, session: Row, groups: list[Row], questions: list[Row], group_id: str | None
) -> list[Answer]:
    if not open_work.may_be_stuck(session, groups):
        return []
    from orchestrator.app.session import stuck

    found = stuck.groups(context, session, groups, questions)
    return [each for each in found if group_id in (None, each["group_id"])]


def _resume(context: Context, session: Row, turns: list[Answer]) -> list[Answer]:
    """The open turns in their order; of a session that is paused, its resumption."""
    if session["status"] == "paused":
        return [_of_nobody(None, overview.resume_command(session["id"]))]
    return _queued(context, session) + [
        {**each, "command": None if open_work.is_under_way(each) else each.get("redispatch", each["handoff"])}
        for each in turns
    ]


def _queued(context: Context, session: Row) -> list[Answer]:
    """The runs of a chat that wait for somebody who goes on with them."""
    if session["kind"] != "chat":
        return []
    return [
        _of_nobody(session["id"], advice.by_hand(run.verification_root, run.id))
        for run in context.runs.queued(context, session["id"])
    ]


def _of_nobody(group: str | None, command: str) -> Answer:
    """What goes on by a command, and is no agent's turn."""
    nobody = dict.fromkeys(("agent", "agent_id", "turn", "report_command", "model", "action"))
    point = dict.fromkeys(("stage", "from_phase", "phases_completed", "phases_total", "handoff_path"))
    return {"group_id": group, "command": command, **nobody, **point}
