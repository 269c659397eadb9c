"""What a change came to, as text: what now is, who is awaited, and what followed."""

from __future__ import annotations

from typing import Any

from orchestrator.core import handoff
from orchestrator.doors.cli.text import decisions
from orchestrator.doors.cli.text.layout import visible

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
        return f"nobody to start, {decisions.nobody(decision)} ({rules})"
    turn, where = decision.get("turn"), handoff.place(decision)
    return f"{decision['action']} {decision['next_agent']}{where}{f', turn {turn}' if turn else ''} ({rules})"
