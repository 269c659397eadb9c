"""`route`: the one command that agents' answers go through."""

from __future__ import annotations

from typing import Any

from orchestrator.core import handoff, names
from orchestrator.doors.cli import calling, values
from orchestrator.doors.cli.options import (
    DOCUMENT,
    FLAG,
    GROUP,
    INTEGER,
    OBJECT,
    OBJECT_FILE,
    PAIRS,
    REQUEST,
    SESSION,
    TEXT,
    Command,
    Given,
    Result,
    argument,
    option,
)
from orchestrator.errors import InvalidInput, UsageError

_FROM_DOCUMENT = ("status", "summary", "details", "metadata", "acknowledge")


def _route(given: Given) -> Result:
    arguments = dict(given.arguments)
    try:
        take_document(arguments)
    except InvalidInput as problem:
        calling.record_unread("route", given, problem)
        raise
    for name, flag in (("current_agent", "--current-agent ROLE"), ("status", "--status CODE")):
        if name not in arguments:
            raise UsageError("USAGE", f"route needs {flag}.", "orchestrator route ROLE STATUS -g GROUP")
    found = calling.operation("route", given._replace(arguments=arguments))
    if given.json:
        return found
    from orchestrator.doors.cli import following

    return found._replace(text="\n".join([show(found.answer), *following.after_route(found.answer, given)]))


def take_document(arguments: dict[str, Any]) -> None:
    """Take the parts of a report out of `report` or `output`, the bytes of a document or of a message.

    Raises:
        UsageError: USAGE, both are given, or they contradict the other arguments. InvalidInput: what is wrong in them.
    """
    report, message = arguments.pop("report", None), arguments.pop("output", None)
    if report is None and message is None:
        return
    if report is not None and message is not None:
        raise UsageError("USAGE", "--report and --output cannot be given together.", "Give one of them")
    from orchestrator.core import extract

    if message is None:
        found, flag = extract.document(report), "--report"
    else:
        text = message.decode("utf-8-sig")
        found, flag = extract.extract(text), "--output"
        arguments["raw_text"] = text
    for name in _FROM_DOCUMENT:
        value = getattr(found, name)
        if value and not (name == "status" and _same_status(arguments.get(name), value)):
            plain = value if isinstance(value, str) else dict(value)
            values.agree(arguments, name, plain, f"{flag} and --{name}")


def _same_status(given: str | None, found: str) -> bool:
    return given is not None and names.status_name(given) == names.status_name(found)


def show(answer: dict[str, Any]) -> str:
    """A decision in a few lines: who acts next, which rules fired, what else followed."""
    from orchestrator.doors.cli import shapes

    visible = shapes.visible
    lines = [f"{visible(answer.get('action'))}: {visible(answer.get('next_agent') or 'nobody')}{_where(answer)}"]
    if answer.get("dry_run"):
        lines[0] += " (dry run: nothing was recorded)"
    if answer.get("repeated"):
        lines[0] += " (recorded before)"
    lines += [
        f"  rule {visible(rule.get('name'))}: {visible(rule.get('reason'))}" for rule in answer.get("rules") or ()
    ]
    lines += [_in_file(part) for part in answer.get("evidence") or ()]
    if "turn" not in answer:
        # The first line names the one agent that a decision starts alone.
        lines += [_spawn(spawn) for spawn in answer.get("spawns") or ()]
    for name in _SHOWN:
        if answer.get(name):
            lines.append(f"  {name.replace('_', ' ')}: {visible(answer[name])}")
    for decision in answer.get("followed_by") or ():
        lines.append(f"  then {show(decision)}")
    return "\n".join(lines)


_SHOWN = (
    "reason",
    "model",
    "skip_reason",
    "escalation_reason",
    "phase_check",
    "blockers_opened",
    "blockers_resolved",
    "group_status",
    "question_id",
    "answered",
    "decision_id",
)


def _where(answer: dict[str, Any]) -> str:
    from orchestrator.doors.cli import shapes

    turn, place = answer.get("turn"), handoff.place(answer)
    place = place and shapes.visible(place)
    return f"{place}, turn {turn}" if turn is not None else place


def _in_file(part: dict[str, Any]) -> str:
    from orchestrator.doors.cli import shapes

    return f"  kept in a file: {part['what']}, {part['bytes']} bytes, {shapes.visible(part['path'])}"


def _spawn(spawn: dict[str, Any]) -> str:
    from orchestrator.doors.cli import shapes

    visible = shapes.visible
    who = f"{visible(spawn.get('agent'))} ({visible(spawn.get('model'))})"
    return f"  start {who} on {visible(spawn.get('group_id'))}, turn {visible(spawn.get('turn'))}"


PARAMETERS = (
    argument("role", "The reporting role.", target="current_agent", required=False),
    argument("code", "The reported status.", target="status", required=False, metavar="STATUS"),
    SESSION,
    GROUP,
    option("current_agent", "The reporting role.", metavar="ROLE"),
    option("status", "The reported status.", metavar="CODE"),
    option("testing_mode", "Repeats or tightens the session's mode.", choices=("full", "minimal", "disabled")),
    option("turn", "The turn that this answers.", kind=INTEGER),
    option("agent_id", "The reporting agent; else the awaited one.", metavar="AGENT"),
    option("summary", "What was done, in a sentence.", kind=TEXT),
    option("details", "A JSON object with context for the next agent.", kind=OBJECT, metavar="JSON"),
    option("metadata", "A JSON file: how far the agent came, and what stopped it.", kind=OBJECT_FILE, metavar="FILE"),
    option("acknowledge", "Project manager: accept a group as it is. Repeatable.", kind=PAIRS, metavar="GROUP=REASON"),
    option("report", "Take the report from one JSON document.", kind=DOCUMENT, metavar="FILE"),
    option("output", "Find the report in an agent's final message.", kind=DOCUMENT, metavar="FILE"),
    option("interrupt", "Project manager: supersede another role's open turn.", kind=FLAG),
    option("dry_run", "Decide, and record nothing.", kind=FLAG),
    REQUEST,
)

COMMANDS = {
    "route": Command(
        "route",
        "Report what an agent answered, and learn who acts next.",
        "orchestrator route developer READY_FOR_QA -s S1 -g A --summary 'login works' --json",
        PARAMETERS,
        show,
        _route,
    ),
}
