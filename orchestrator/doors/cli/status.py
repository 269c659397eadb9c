"""`status`, `why`, `handoff` and `redispatch`: where a session stands, and how it goes on."""

from __future__ import annotations

from orchestrator.doors.cli import calling, route
from orchestrator.doors.cli.options import (
    AT,
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
from orchestrator.errors import UsageError


def _handoff(given: Given) -> Result:
    arguments = dict(given.arguments)
    notation = arguments.pop("format", "md")
    found = calling.operation("handoff", given._replace(arguments=arguments))
    if notation == "md":
        return found
    import json

    return found._replace(text=json.dumps(found.answer["handoff"], indent=2))


def _status(given: Given) -> Result:
    arguments = dict(given.arguments)
    watched, interval = arguments.pop("watch", False), arguments.pop("interval", None)
    asked = given._replace(arguments=arguments)
    if not watched:
        if interval is not None:
            raise UsageError("USAGE", "--interval belongs to --watch.", "orchestrator status --watch")
        return calling.operation("status", asked)
    if "at_seq" in arguments:
        raise UsageError("USAGE", "--at and --watch exclude each other: the past does not change.", "Leave one out")
    from orchestrator.doors.cli import watching

    return watching.watch(asked, interval)


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
                flag("watch", "Print it again and again, until the session has ended."),
                AT,
                option("interval", "Seconds between two looks of --watch; 2 where left out.", kind=INTEGER),
            ),
            None,
            _status,
        ),
        Command(
            "why",
            "Explain why a group or task is not finished, or why a decision was made, rule by rule.",
            "orchestrator why A -s S1",
            (argument("id", "A group, a task, or a decision such as S1:D12."), SESSION, AT),
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
