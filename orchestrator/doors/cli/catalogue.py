"""All commands by their words: where each is declared, and one line about it. Cheap to load, for every call does."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """The module of the package that declares a command, and what lists say about it."""

    module: str
    help: str


COMMANDS: dict[str, Entry] = {
    "init": Entry("setup", "Create or upgrade the database and load the workflow."),
    "demo": Entry("setup", "Play an incident in a temporary database, step by step."),
    "route": Entry("route", "Report what an agent answered and learn who acts next."),
    "status": Entry("status", "Show where a session stands and who is awaited."),
    "why": Entry("status", "Explain a group or a decision, rule by rule."),
    "handoff": Entry("status", "Print what the awaited agent of a group is told."),
    "redispatch": Entry("status", "Order an agent to start anew, under a new turn."),
    "session create": Entry("session", "Create a session, pinned to the active workflow."),
    "session list": Entry("session", "List sessions."),
    "session show": Entry("session", "Show a session."),
    "session pause": Entry("session", "Pause a session: nobody is started until it resumes."),
    "session resume": Entry("session", "Resume a paused session."),
    "session end": Entry("session", "End a session."),
    "session testing-mode": Entry("session", "Change how much a session tests."),
    "session upgrade-workflow": Entry("session", "Move a session to the active workflow version."),
    "group create": Entry("group", "Create a task group."),
    "group list": Entry("group", "List the groups of a session."),
    "group show": Entry("group", "Show a group: who is awaited, blockers, completion path."),
    "group set-status": Entry("group", "Move a group by hand, as far as the guards allow."),
    "group depend": Entry("group", "Let a group wait for another one."),
    "group undepend": Entry("group", "Drop a dependency."),
    "agent register": Entry("agent", "Register an agent under its parent."),
    "agent list": Entry("agent", "List agents."),
    "agent show": Entry("agent", "Show an agent."),
    "agent tree": Entry("agent", "Show who reports to whom."),
    "agent deactivate": Entry("agent", "Take an agent out of service."),
    "workflow load": Entry("workflow", "Check a workflow file and make it the active version."),
    "workflow check": Entry("workflow", "Check a workflow file and say all that is wrong with it."),
    "workflow show": Entry("workflow", "Show a loaded version."),
    "workflow versions": Entry("workflow", "List the loaded versions."),
    "workflow diff": Entry("workflow", "Compare two loaded versions."),
    "workflow graph": Entry("workflow", "Draw the workflow, a session's position in it."),
    "metadata check": Entry("metadata", "Check a metadata file."),
    "audit decisions": Entry("audit", "List decisions: who was sent where, by which rule."),
    "audit timeline": Entry("audit", "List all that happened, in order."),
    "audit refusals": Entry("audit", "List what was refused: who tried what, and why not."),
    "db upgrade": Entry("db", "Bring the database to this program's schema."),
    "db downgrade": Entry("db", "Bring the database to an older schema, or refuse."),
    "db current": Entry("db", "Print the schema versions of the database and the program."),
    "db check": Entry("db", "Check the database: pages, references, triggers, orphans."),
    "db backup": Entry("db", "Copy the database while it is in use."),
    "doctor": Entry("db", "Say what is the matter with the database, and what mends it."),
    "batch": Entry("batch", "Run many commands in one process: JSON lines in, JSON lines out."),
    "schema": Entry("schema", "Print the JSON Schema of a command's answer."),
}

GROUPS: dict[str, str] = {
    "session": "One piece of work, from goal to verdict.",
    "group": "Task groups: what is routed from agent to agent and completed.",
    "agent": "Registered actors.",
    "workflow": "The transitions that agents' answers are routed by.",
    "metadata": "Return metadata of agents.",
    "audit": "What happened, who decided it, and what was refused.",
    "db": "The database file.",
}

ALIASES: dict[str, str] = {}
"""Other words for a command."""


def below(group: str) -> list[str]:
    """The words that may follow a group's name; at the top the commands and the groups."""
    if group:
        return [words.partition(" ")[2] for words in COMMANDS if words.startswith(f"{group} ")]
    return [*(words for words in COMMANDS if " " not in words), *GROUPS]
