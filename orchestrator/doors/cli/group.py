"""`group ...`: what is routed from agent to agent and completed."""

from __future__ import annotations

from orchestrator.doors.cli import calling
from orchestrator.doors.cli.options import (
    AT,
    BY_MANAGER,
    CHANGE,
    HUMAN,
    INTEGER,
    PAGE,
    REQUEST,
    SESSION,
    TEXT,
    WORDS,
    Command,
    Given,
    Result,
    argument,
    flag,
    option,
)


def _create(given: Given) -> Result:
    found = calling.operation("group create", given)
    if given.json or found.answer["group"]["status"] != "pending":
        return found
    from orchestrator.doors.cli import following, text

    lines = [text.render("group create", found.answer), *following.after_create(found.answer, given)]
    return found._replace(text="\n".join(lines))


_CREATE = Command(
    "group create",
    "Create a task group.",
    "orchestrator group create A -s S1 --name 'Login page' --depends-on B",
    (
        argument("id", "The new group's id, unique in its session."),
        SESSION,
        option("name", "What people call it.", kind=TEXT),
        option("kind", "What it makes.", choices=("code", "research")),
        flag("security_sensitive", "Only the senior engineer may build it.", "--security-sensitive"),
        option("complexity", "1 to 10; from 7 on the senior engineer builds it.", kind=INTEGER),
        option("priority", "In which order free slots are taken.", choices=("urgent", "high", "medium", "low")),
        option("depends_on", "A group that must be done first. Repeatable.", kind=WORDS, metavar="GROUP"),
        BY_MANAGER,
        HUMAN,
        REQUEST,
    ),
    None,
    _create,
)

_LIST = Command(
    "group list",
    "List the groups of a session.",
    "orchestrator group list -s S1 --status in_progress",
    (SESSION, option("status", "Only groups of this status."), *PAGE),
)

_SHOW = Command(
    "group show",
    "Show a group: who is awaited, what stands in its way, each part of its completion path.",
    "orchestrator group show A -s S1 --json",
    (argument("id", "The group."), SESSION, AT),
)

_SET_STATUS = Command(
    "group set-status",
    "Move a group by hand, as far as the table of moves and the guards allow.",
    "orchestrator group set-status A cancelled -s S1 --by project_manager --reason 'out of scope'",
    (
        argument("id", "The group."),
        argument("status", "pending, in_progress, completed, deferred_external or cancelled."),
        SESSION,
        *CHANGE,
    ),
)

_DEPEND = Command(
    "group depend",
    "Let a group wait for another one of its session.",
    "orchestrator group depend A --on B -s S1 --by project_manager --reason 'needs its tables'",
    (
        argument("id", "The group that waits."),
        option("on", "The group that must be done first.", required=True, metavar="GROUP"),
        SESSION,
        *CHANGE,
    ),
)

_UNDEPEND = Command(
    "group undepend",
    "Drop a dependency on a group that is cancelled or deferred.",
    "orchestrator group undepend A --on B -s S1 --by project_manager --reason 'B was cancelled'",
    (
        argument("id", "The group that waits."),
        option("on", "The group that it no longer waits for.", required=True, metavar="GROUP"),
        SESSION,
        *CHANGE,
    ),
)

COMMANDS = {each.words: each for each in (_CREATE, _LIST, _SHOW, _SET_STATUS, _DEPEND, _UNDEPEND)}
