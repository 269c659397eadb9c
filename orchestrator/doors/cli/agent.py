"""`agent ...`: registered actors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.doors.cli import shapes
from orchestrator.doors.cli.options import (
    BY,
    CHANGE,
    INTEGER,
    LIMIT,
    OF_SESSION,
    REQUEST,
    Command,
    argument,
    flag,
    option,
)

COLUMNS = ("id", "role", "kind", "parent_id", "active", "max_parallel_tasks")

_ALL = flag("all", "With those that are out of service.")


def _list(answer: dict[str, Any]) -> str:
    return shapes.listing(answer, "agents", COLUMNS)


def _tree(answer: dict[str, Any]) -> str:
    return "\n".join(line for agent in answer["agents"] for line in _branch(agent, "")) or "No agents."


def _branch(agent: dict[str, Any], indent: str) -> Iterator[str]:
    rest: list[tuple[dict[str, Any], str]] = [(agent, indent)]
    while rest:
        found, margin = rest.pop()
        role = "" if found["role"] == found["id"] else f" ({shapes.visible(found['role'])})"
        yield f"{margin}{shapes.visible(found['id'])}{role}"
        rest += [(child, margin + "  ") for child in reversed(found["children"])]


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
        BY,
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
    _list,
)

_SHOW = Command(
    "agent show",
    "Show an agent, those above it, and those right below it.",
    "orchestrator agent show developer",
    (argument("id", "The agent."),),
)

_TREE = Command("agent tree", "Show who reports to whom.", "orchestrator agent tree -s S1", (OF_SESSION, _ALL), _tree)

_DEACTIVATE = Command(
    "agent deactivate",
    "Take an agent out of service; what it did stays, and it acts no more.",
    "orchestrator agent deactivate developer-2 --by project_manager --reason 'replaced'",
    (argument("id", "The agent."), *CHANGE),
)

COMMANDS = {each.words: each for each in (_REGISTER, _LIST, _SHOW, _TREE, _DEACTIVATE)}
