"""All commands by their words: operations as they are declared, and what the command line has of its own."""

from __future__ import annotations

import functools
import importlib

from orchestrator.app.kernel import operations
from orchestrator.doors.cli import options
from orchestrator.doors.cli.options import Command

OWN: dict[str, str] = {
    "init": "setup",
    "demo": "setup",
    "install claude-code": "install",
    "install codex": "install",
    "route": "route",
    "status": "status",
    "handoff": "status",
    "answer": "answer",
    "session testing-mode": "session",
    "group create": "group",
    "workflow load": "workflow",
    "workflow what-if": "workflow",
    "workflow check": "workflow",
    "workflow graph": "workflow",
    "metadata check": "metadata",
    "audit export": "records",
    "audit import": "records",
    "certificate make": "certificate",
    "certificate check": "certificate",
    "gate": "gate",
    "db upgrade": "db",
    "db downgrade": "db",
    "db current": "db",
    "db check": "db",
    "db backup": "db",
    "db copy": "db",
    "db grant": "db",
    "db restore": "db",
    "doctor": "db",
    "drive": "drive",
    "run": "run",
    "repl": "repl_command",
    "hook": "hook",
    "batch": "batch",
    "serve": "serve",
    "mcp": "mcp",
    "schema": "schema",
    "completion": "completion",
}
"""Commands that are no operations, and those of which calling the operation is not all, with their modules."""

DOORS: dict[str, str] = {"mcp": "orchestrator.doors.mcp.server_lifecycle", "serve": "orchestrator.doors.web.server"}
"""Doors that a command starts and gives the process to: by name, since no door knows another."""

GROUPS: dict[str, str] = {
    "install": "Set up a project for a coding client.",
    "session": "Sessions: one piece of work each, from goal to verdict.",
    "group": "Task groups: the units of work routed between agents.",
    "task": "Tasks inside groups.",
    "blocker": "What blocks groups and tasks.",
    "criterion": "Success criteria of a session.",
    "import": "Import from other tools' databases.",
    "agent": "Registered actors.",
    "human": "Let a person prove their identity to a command.",
    "workflow": "The transitions that route agents' reports.",
    "metadata": "Return metadata of agents.",
    "audit": "The audit record: what happened, who decided it, and what was refused.",
    "certificate": "Certificates: a verdict with its proofs, checked without the database.",
    "db": "The database file.",
}

FIRST_WORDS = (
    "init", "install", "demo", "drive", "route", "next", "status", "why", "handoff", "redispatch", "inbox", "answer",
    "human",
    "session", "group", "task", "blocker", "criterion", "import", "validate", "agent", "workflow", "metadata", "audit",
    "certificate", "gate", "db", "doctor", "run", "repl", "hook", "batch", "serve", "mcp", "schema",
    "completion",
)  # fmt: skip
"""The first words of all commands, in the order in which they are listed."""


def every_words() -> list[str]:
    """The words of all commands, in the order in which they are listed."""
    words = dict.fromkeys((*operations.every(), *OWN))
    return [each for first in FIRST_WORDS for each in words if each.partition(" ")[0] == first]


def every() -> dict[str, Command]:
    """All commands by their words, in the order in which they are listed."""
    return {each: find(each) for each in every_words()}


def below(group: str) -> list[str]:
    """The words that may follow a group's name; at the top the commands and the groups."""
    if group:
        return [words.partition(" ")[2] for words in every_words() if words.startswith(f"{group} ")]
    return [*(words for words in FIRST_WORDS if words not in GROUPS), *GROUPS]


@functools.lru_cache(maxsize=256)
def known(words: str) -> Command | None:
    """The declaration of a command, or None where there is none of these words."""
    own = OWN.get(words)
    if own is not None:
        commands: dict[str, Command] = importlib.import_module(f"orchestrator.doors.cli.{own}").COMMANDS
        return commands[words]
    request = operations.known(words)
    return options.of_operation(request) if request is not None else None


def find(words: str) -> Command:
    """The declaration of a command.

    Raises:
        KeyError: there is no command of these words.
    """
    found = known(words)
    if found is None:
        raise KeyError(words)
    return found
