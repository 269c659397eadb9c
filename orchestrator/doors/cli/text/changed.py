"""What a change came to, as text: what now is, who is awaited, and what followed."""

from __future__ import annotations

from orchestrator.core import handoff
from orchestrator.doors.cli.shapes import visible
from orchestrator.hints import Any

Answer = dict[str, Any]


def session(answer: Answer) -> list[str]:
    """The answer of a command that creates or changes a session."""
    row, called = answer["session"], answer.get("decision")
    how = f"testing {row['testing_mode']}, workflow version {row['workflow_version_id']}"
    # What a session's groups await is theirs to say.
    waits = f", awaits {_awaited(row)}" if row["awaited_role"] else ""
    lines = [visible(f"Session {row['id']} is {row['status']} ({how}){waits}{repeated(answer)}.")]
    return [*lines, *_rules(answer), *([f"Next: {visible(called['handoff'])}"] if called else []), *followed(answer)]


def _rules(answer: Answer) -> list[str]:
    """By which rules a session goes: who made its version active, and which of them were changed or confirmed."""
    pinned = answer.get("workflow")
    lines = [f"Rules: version {pinned['version']} ({pinned['name']}), made active by {pinned['by']}"] if pinned else []
    lines += [f"Changed: {each}" for each in answer.get("changes") or ()]
    lines += [f"Confirmed: {each}" for each in answer.get("confirmed") or ()]
    if answer.get("confirmed") == []:
        lines.append("No rule changes are waiting for confirmation.")
    return [visible(line) for line in lines]


def group(answer: Answer) -> list[str]:
    """The answer of a command that creates or changes a group."""
    row = answer["group"]
    waits = f", awaits {_awaited(row)}" if row["status"] == "in_progress" else ""
    line = f"Group {row['id']} of {row['session_id']} is {row['status']}{waits}{repeated(answer)}."
    waiting = [f"{each['group_id']} ({each['status']})" for each in answer.get("dependents") or ()]
    dependents = [visible(f"Groups that depend on it: {', '.join(waiting)}.")] if waiting else []
    return [visible(line), *dependents, *followed(answer)]


def agent(answer: Answer) -> list[str]:
    """The answer of `agent register` and `agent deactivate`."""
    row = answer["agent"]
    state = "registered" if row["active"] else "deactivated"
    above = f", reports to {row['parent_id']}" if row["parent_id"] else ""
    return [visible(f"Agent {row['id']} is {state} ({row['role']}{above}){repeated(answer)}.")]


def _awaited(row: Answer) -> str:
    role = row["awaited_role"]
    if role is None:
        return "nobody"
    if role == "user":
        return "a person"
    return f"{role}, held: {row['held']}" if row["held"] else f"{role}, turn {row['turn']}"


def repeated(answer: Answer) -> str:
    """What tells that a request was answered before."""
    return " (recorded before)" if answer.get("repeated") else ""


def followed(answer: Answer) -> list[str]:
    """What the machinery decided after a change, one decision a line."""
    return [visible(f"Then: {_decided(each)}.") for each in answer.get("followed_by") or ()]


def _decided(decision: Answer) -> str:
    """A decision in one line: who was started on what, or who is called."""
    rules = ", ".join(rule["name"] for rule in decision["rules"])
    if decision.get("spawns") and "turn" not in decision:
        starts = [f"{each['agent']} on {each['group_id']}, turn {each['turn']}" for each in decision["spawns"]]
        return f"{decision['action']} {'; '.join(starts)} ({rules})"
    if not decision["next_agent"]:
        return f"nobody to start, {nobody(decision)} ({rules})"
    turn, where = decision.get("turn"), handoff.place(decision)
    return f"{decision['action']} {decision['next_agent']}{where}{f', turn {turn}' if turn else ''} ({rules})"


def decision(answer: dict[str, Any]) -> list[str]:
    """A decision in a few lines: who acts next, which rules fired, what else followed."""
    lines = [_first(answer)]
    if answer.get("dry_run"):
        lines[0] += " (dry run: nothing was recorded)"
    if answer.get("repeated"):
        lines[0] += " (recorded before)"
    lines += [
        f"  rule {visible(rule.get('name'))}: {visible(rule.get('reason'))}" for rule in answer.get("rules") or ()
    ]
    lines += _planned(answer)
    lines += [_in_file(part) for part in answer.get("evidence") or ()]
    if "turn" not in answer:
        # The first line names the one agent that a decision starts alone.
        lines += [_spawn(spawn) for spawn in answer.get("spawns") or ()]
    for name in _SHOWN:
        if answer.get(name) and not (name == "reason" and _says(lines[0], answer[name])):
            lines.append(f"  {name.replace('_', ' ')}: {visible(answer[name])}")
    for each in answer.get("followed_by") or ():
        first, *rest = decision(each)
        lines += [f"  then {first}", *rest]
    return lines


def _says(line: str, reason: str) -> bool:
    return reason.replace("_", " ") in line


def _first(answer: dict[str, Any]) -> str:
    """Who acts next, or why nobody is started."""
    if answer.get("next_agent"):
        return f"{visible(answer.get('action'))}: {visible(answer['next_agent'])}{_where(answer)}"
    return visible(f"Nobody to start: {nobody(answer)}")


_WAITS = {
    "validate_then_end": "the validator decides next",
    "pause_for_user": "a person must answer a question",
    "end_session": "the session has ended",
}


def nobody(answer: dict[str, Any]) -> str:
    """Why a decision starts nobody, in words."""
    left = answer.get("awaiting_manager") or ()
    if left:
        return f"{', '.join(left)} {'waits' if len(left) == 1 else 'wait'} for the project manager"
    action = str(answer.get("action"))
    return _WAITS.get(action) or str(answer.get("reason") or action).replace("_", " ")


def _planned(answer: dict[str, Any]) -> list[str]:
    """What the report's plan made, and what it named that existed already."""
    named = [(what, answer.get("planned", {}).get(what)) for what in ("groups", "criteria", "unchanged")]
    return [f"  planned {what}: {visible(', '.join(ids))}" for what, ids in named if ids]


_SHOWN = (
    "reason",
    "model",
    "skip_reason",
    "escalation_reason",
    "phase_check",
    "blockers_opened",
    "blockers_resolved",
    "tasks_done",
    "group_status",
    "question_id",
    "answered",
    "decision_id",
)


def _where(answer: dict[str, Any]) -> str:
    turn, place = answer.get("turn"), handoff.place(answer)
    place = place and visible(place)
    return f"{place}, turn {turn}" if turn is not None else place


def _in_file(part: dict[str, Any]) -> str:
    return f"  kept in a file: {part['what']}, {part['bytes']} bytes, {visible(part['path'])}"


def _spawn(spawn: dict[str, Any]) -> str:
    who = f"{visible(spawn.get('agent'))} ({visible(spawn.get('model'))})"
    return f"  start {who} on {visible(spawn.get('group_id'))}, turn {visible(spawn.get('turn'))}"
