"""`agent ...`: registered actors."""

from __future__ import annotations

from orchestrator.doors.cli.options import (
    BY_MANAGER,
    CHANGE,
    HUMAN,
    INTEGER,
    LIMIT,
    OF_SESSION,
    REQUEST,
    Command,
    argument,
    flag,
    option,
)

_ALL = flag("all", "With those that are out of service.")

_REGISTER = Command(
    "agent register",
    "Register an agent under its parent.",
    "orchestrator agent register developer-2 --role developer --parent tech_lead",
    (
        argument("id", "The new agent's id."),
        option("role", "What it is.", required=True),
        option("parent", "Whom it reports to; else the agent of its role.", metavar="AGENT"),
        option("kind", "Who it is. A person is registered by a person only.", choices=("ai", "human")),
        option("max_parallel_tasks", "How many tasks it may have in progress.", kind=INTEGER),
        BY_MANAGER,
        HUMAN,
        REQUEST,
    ),
)

_LIST = Command(
    "agent list",
    "List agents.",
    "orchestrator agent list --role developer",
    (
        OF_SESSION,
        option("role", "Only agents of this role."),
        _ALL,
        LIMIT,
        option("since", "Only what comes after this id.", metavar="ID"),
    ),
)

_SHOW = Command(
    "agent show",
    "Show an agent, those above it, and those right below it.",
    "orchestrator agent show developer",
    (argument("id", "The agent."),),
)

_TREE = Command("agent tree", "Show who reports to whom.", "orchestrator agent tree -s S1", (OF_SESSION, _ALL))

_DEACTIVATE = Command(
    "agent deactivate",
    "Take an agent out of service; what it did stays, and it acts no more.",
    "orchestrator agent deactivate developer-2 --by project_manager --reason 'replaced'",
    (argument("id", "The agent."), *CHANGE),
)

COMMANDS = {each.words: each for each in (_REGISTER, _LIST, _SHOW, _TREE, _DEACTIVATE)}
