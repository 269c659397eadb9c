"""`status`, `why`, `handoff` and `redispatch`: where a session stands, and how it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.doors.cli import calling, route, shapes
from orchestrator.doors.cli.options import (
    CHANGE,
    GROUP,
    INTEGER,
    SESSION,
    Command,
    Given,
    Result,
    argument,
    flag,
    option,
)

_GROUP_COLUMNS = ("id", "status", "awaited", "overdue", "rework", "cause", "blockers", "name")


def _status(answer: dict[str, Any]) -> str:
    if "sessions" in answer:
        parts = [_head(head) for head in answer["sessions"]]
        return "\n\n".join(parts) or "No session is open. Next: orchestrator session create ID --goal TEXT"
    return "\n".join((_head(answer), *_details(answer)))


def _head(answer: dict[str, Any]) -> str:
    session, done = answer["session"], answer["progress"]
    by_status = ", ".join(f"{count} {status}" for status, count in done["by_status"].items()) or "none yet"
    outcome = f", {shapes.visible(session['outcome'])}" if session.get("outcome") else ""
    lines = [
        f"Session {shapes.visible(session['id'])}: {answer['state'].replace('_', ' ')}{outcome}",
        f"  goal: {shapes.visible(answer.get('goal'))}",
        f"  groups: {by_status}; rework: {done['rework']}; testing mode {session['testing_mode']}",
    ]
    if answer.get("awaited"):
        lines.append(f"  awaits: {_awaited(answer['awaited'])}")
    return "\n".join(lines)


def _awaited(awaited: dict[str, Any] | None) -> str:
    if not awaited:
        return shapes.NOTHING
    held = " (held)" if awaited.get("held") else ""
    return f"{shapes.visible(awaited['role'])}{held} since {shapes.visible(awaited['since'])}"


def _details(answer: dict[str, Any]) -> Iterator[str]:
    groups = [{**group, "awaited": _awaited(group.get("awaited"))} for group in answer.get("groups") or ()]
    if groups:
        yield ""
        yield shapes.table(groups, _GROUP_COLUMNS)
    for question in answer.get("questions") or ():
        yield f"Question {shapes.visible(question.get('id'))}: {shapes.visible(question.get('text'))}"
    if answer.get("causes"):
        yield f"Why nothing runs: {shapes.visible(answer['causes'])}"
    if answer.get("next"):
        yield "Next:"
        yield from (f"  {shapes.visible(command)}" for command in answer["next"])


def _why(answer: dict[str, Any]) -> str:
    lines = [shapes.visible(sentence) for sentence in answer.get("sentences") or ()]
    if answer.get("path"):
        lines += ["", shapes.table(answer["path"], ("part", "met", "reason"))]
    return "\n".join(lines)


def _handoff(given: Given) -> Result:
    arguments = dict(given.arguments)
    notation = arguments.pop("format", "md")
    found = calling.operation("handoff", given._replace(arguments=arguments))
    if notation == "md":
        return found._replace(text=_printable(found.answer["markdown"]))
    import json

    return found._replace(text=json.dumps(found.answer["handoff"], indent=2))


def _printable(text: str) -> str:
    """A text of many lines that cannot move the cursor."""
    return "\n".join(shapes.UNSAFE.sub(_tab_or_spelt, line) for line in text.split("\n"))


def _tab_or_spelt(found: Any) -> str:
    return "\t" if found.group() == "\t" else shapes.visible(found.group())


_GROUP = argument("group", "The group; the session itself where left out.", target="group_id", required=False)

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "status",
            "Show where a session stands: who is awaited, since when, and with which commands it goes on."
            " Exit 0 running or ended, 2 a person is awaited, 1 stalled.",
            "orchestrator status S1 --json",
            (
                argument("session", "The session; else all open ones, briefly.", target="session_id", required=False),
                SESSION,
                flag("brief", "Leave out the groups one by one."),
            ),
            _status,
        ),
        Command(
            "why",
            "Explain why a group is not finished, or why a decision was made, rule by rule.",
            "orchestrator why A -s S1",
            (argument("id", "A group, or a decision such as S1:D12."), SESSION),
            _why,
        ),
        Command(
            "handoff",
            "Print what the agent of a turn was told, as it was frozen when the agent was started.",
            "orchestrator handoff A -s S1 --turn 7",
            (
                _GROUP,
                GROUP,
                SESSION,
                option("turn", "The turn; the newest one where left out.", kind=INTEGER),
                option("format", "How it is printed.", choices=("md", "json")),
            ),
            None,
            _handoff,
        ),
        Command(
            "redispatch",
            "Order the awaited agent of a group to start anew, under a new turn; the old turn is stale.",
            "orchestrator redispatch A -s S1 --reason 'the agent died'",
            (_GROUP, GROUP, SESSION, *CHANGE),
            route.show,
        ),
    )
}
