"""What follows from a decision, in plain words: whom to hand what, and who is at work meanwhile."""

from __future__ import annotations

from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import invoke, output
from orchestrator.doors.cli.options import Given
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]

PLANNED = "PLANNING_COMPLETE"


def after_route(answer: Answer, given: Given) -> list[str]:
    """The lines below a decision; a wait says who is working, which the record is asked for."""
    if answer.get("dry_run"):
        return []
    lines = []
    if answer.get("group_status") == "completed":
        lines.append(f"Group {visible(answer['group_id'])} is completed.")
    last = ([answer, *(answer.get("followed_by") or ())])[-1]
    return [*lines, *_next(last, given)]


def _next(decision: Answer, given: Given) -> list[str]:
    action, session = decision.get("action"), decision["session_id"]
    if action == "validate_then_end":
        return [f"Waiting for the validator: {output.worded(suggest('validate', session_id=session))}"]
    if action == "pause_for_user":
        question = visible(decision.get("question_id"))
        inbox = output.worded(suggest("inbox", session_id=session))
        return [f"A person must answer question {question}: {inbox}"]
    if decision.get("handoff"):
        return [f"Next: {visible(decision['handoff'])}"]
    if decision.get("spawns"):
        return [f"Next: {visible(each['handoff'])}" for each in decision["spawns"]]
    if action == "wait":
        return _at_work(_status(session, given))
    return []


def _at_work(standing: Answer) -> list[str]:
    names = [f"{each['agent']} on {each['group_id'] or 'the session'}" for each in standing["spawns"]]
    return [f"Already working: {visible(', '.join(names))}"] if names else []


def after_create(answer: Answer, given: Given) -> list[str]:
    """What follows when a group was created: while nothing is planned, that the plan is reported."""
    session = answer["group"]["session_id"]
    if _status(session, given)["session"]["planned"]:
        return []
    command = suggest("route", current_agent="project_manager", status=PLANNED, session_id=session)
    return [f"Once all groups are created, report the plan: {output.worded(command)}"]


def _status(session: str, given: Given) -> Answer:
    asked = given._replace(arguments={"session_id": session, "brief": True})
    return invoke.operation("status", asked).answer
