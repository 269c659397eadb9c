"""`task ...`: items of work inside groups, their status, and what waits for what."""

from __future__ import annotations

from orchestrator.core import blockers, task_types
from orchestrator.doors.cli import calling
from orchestrator.doors.cli.options import (
    AT,
    BY,
    CHANGE,
    GROUP,
    HUMAN,
    INTEGER,
    PAGE,
    REASON,
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

BLOCKER_TYPES = (*blockers.TYPES, *blockers.SYNONYMS)
_BY = BY._replace(help="Who does it: an agent's id; else the awaited agent of the task's group, else project_manager.")
_PRIORITY = option("priority", "In which order tasks are taken up.", choices=("urgent", "high", "medium", "low"))

_CREATE = Command(
    "task create",
    "Create a task.",
    "orchestrator task create T1 --title 'Login form' -s S1 -g A --assignee developer --depends-on T0",
    (
        argument("id", "The new task's id, unique in its session."),
        option("title", "What is to be done, in one line.", kind=TEXT, required=True),
        option("description", "All there is to say about it.", kind=TEXT),
        SESSION,
        GROUP,
        option("parent", "The task that it is a part of.", metavar="ID"),
        option("assignee", "The agent that has it; nobody has it until somebody starts it.", metavar="AGENT"),
        _PRIORITY,
        option("type", "What kind of work it is.", choices=task_types.TYPES),
        option("status", "What it begins as; blocked needs a reason.", choices=("backlog", "todo", "blocked")),
        option("depends_on", "A task that must be done first. Repeatable.", kind=WORDS, metavar="ID"),
        flag("auto_unblock", "Blocked while dependencies are open; let go when the last is done.", "--auto-unblock"),
        _BY,
        REASON,
        HUMAN,
        REQUEST,
    ),
)


def _set_status(given: Given) -> Result:
    return calling.operation("task set-status", given)


_STATUS = (
    argument("id", "The task."),
    argument("status", "backlog, todo, in_progress, blocked, done or cancelled."),
    SESSION,
    option("blocker_type", "Of the blocker that blocked opens; manual where left out.", choices=BLOCKER_TYPES),
    option("expect_version", "Refuse if the task has another version.", kind=INTEGER, metavar="N"),
    option("claim_token", "The token of the claim on the task.", metavar="TOKEN"),
    *CHANGE,
)

_SET_STATUS = Command(
    "task set-status",
    "Change the status of a task, as far as moves, permissions and guards allow.",
    "orchestrator task set-status T1 blocked -s S1 --by developer --reason 'no test data'",
    _STATUS,
)

_ALIAS = Command(
    "task status",
    "The same as task set-status.",
    "orchestrator task status T1 done -s S1 --by developer",
    _STATUS,
    None,
    _set_status,
)

_PLANNED = (_BY, REASON, HUMAN, REQUEST)
_ON = (
    argument("id", "The task that waits."),
    option("on", "The task that is waited for.", required=True, metavar="ID"),
    SESSION,
)

_DEPEND = Command(
    "task depend",
    "Let a task wait for another one of its session.",
    "orchestrator task depend T2 --on T1 -s S1 --by developer",
    (*_ON, flag("auto_unblock", "Blocked while dependencies are open; let go when the last is done."), *_PLANNED),
)

_UNDEPEND = Command(
    "task undepend",
    "Drop a dependency of a task.",
    "orchestrator task undepend T2 --on T1 -s S1 --by developer --reason 'T1 was cancelled'",
    (*_ON, *_PLANNED),
)

_LIST = Command(
    "task list",
    "List the tasks of a session.",
    "orchestrator task list -s S1 -g A --status blocked",
    (
        SESSION,
        GROUP,
        option("status", "Only tasks of this status."),
        option("assignee", "Only tasks that this agent has.", metavar="AGENT"),
        option("parent", "Only the subtasks right below this task.", metavar="ID"),
        *PAGE,
    ),
)

_SHOW = Command(
    "task show",
    "Show a task: what it waits for, what blocks it, its subtasks.",
    "orchestrator task show T1 -s S1 --json",
    (argument("id", "The task."), SESSION, AT),
)

COMMANDS = {each.words: each for each in (_CREATE, _SET_STATUS, _ALIAS, _DEPEND, _UNDEPEND, _LIST, _SHOW)}
