"""All commands by their words: where each is declared, and one line about it. Cheap to load, for every call does."""

from __future__ import annotations

import importlib

from orchestrator.doors.cli.options import Command

# Plain tuples: a class for them would cost every call its making.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("setup", "Create or upgrade the database and load the workflow."),
    "demo": ("setup", "Play an incident in a temporary database, step by step."),
    "route": ("route", "Report what an agent answered and learn who acts next."),
    "next": ("next", "Say what an agent does now, or how a session goes on."),
    "status": ("status", "Show where a session stands and who is awaited."),
    "why": ("status", "Explain a group or a decision, rule by rule."),
    "handoff": ("status", "Print what the awaited agent of a group is told."),
    "redispatch": ("status", "Order an agent to start anew, under a new turn."),
    "inbox": ("inbox", "List what waits for a person."),
    "answer": ("inbox", "Answer a question, as a person."),
    "human enrol": ("human", "Enrol a passphrase, an SSH key or a token."),
    "human list": ("human", "List what is enrolled."),
    "human link": ("human", "Print a sign-in link for a running server."),
    "human remove": ("human", "Remove a token, passphrase or key."),
    "human reset": ("human", "Start over when a proof is lost."),
    "session create": ("session", "Create a session, pinned to the active workflow."),
    "session list": ("session", "List sessions."),
    "session show": ("session", "Show a session."),
    "session pause": ("session", "Pause a session: nobody is started until it resumes."),
    "session resume": ("session", "Resume a paused session."),
    "session end": ("session", "End a session."),
    "session testing-mode": ("session", "Change how much a session tests."),
    "session upgrade-workflow": ("session", "Move a session to the active workflow version."),
    "group create": ("group", "Create a task group."),
    "group list": ("group", "List the groups of a session."),
    "group show": ("group", "Show a group: who is awaited, blockers, completion path."),
    "group set-status": ("group", "Move a group by hand, as far as the guards allow."),
    "group depend": ("group", "Let a group wait for another one."),
    "group undepend": ("group", "Drop a dependency."),
    "task create": ("task", "Create a task."),
    "task set-status": ("task", "Change the status of a task, as far as the guards allow."),
    "task status": ("task", "The same as task set-status."),
    "task depend": ("task", "Let a task wait for another one."),
    "task undepend": ("task", "Drop a dependency of a task."),
    "task list": ("task", "List the tasks of a session."),
    "task show": ("task", "Show a task: what it waits for, blockers, subtasks."),
    "task claim": ("claim", "Pick a task and claim it, in one step."),
    "task heartbeat": ("claim", "Give a sign of life: the lease begins anew."),
    "task release": ("claim", "Give a task back, or free it of who is gone."),
    "blocker list": ("blocker", "List the blockers of a session."),
    "blocker show": ("blocker", "Show a blocker."),
    "blocker resolve": ("blocker", "Resolve a blocker, as far as it is yours to lift."),
    "criterion add": ("criterion", "Add a success criterion."),
    "criterion list": ("criterion", "List the success criteria of a session."),
    "criterion set": ("criterion", "Record what was found about a criterion."),
    "criterion remove": ("criterion", "Take a criterion out of the scope."),
    "import peer": ("importing", "Import the sessions of a peer's database, with findings."),
    "validate": ("validate", "Judge a session by its record: ACCEPT or REJECT."),
    "agent register": ("agent", "Register an agent under its parent."),
    "agent list": ("agent", "List agents."),
    "agent show": ("agent", "Show an agent."),
    "agent tree": ("agent", "Show who reports to whom."),
    "agent deactivate": ("agent", "Take an agent out of service."),
    "workflow load": ("workflow", "Check a workflow file and make it the active version."),
    "workflow check": ("workflow", "Check a workflow file and say all that is wrong with it."),
    "workflow show": ("workflow", "Show a loaded version."),
    "workflow versions": ("workflow", "List the loaded versions."),
    "workflow diff": ("workflow", "Compare two loaded versions."),
    "workflow graph": ("workflow", "Draw the workflow, a session's position in it."),
    "metadata check": ("metadata", "Check a metadata file."),
    "audit decisions": ("audit", "List decisions: who was sent where, by which rule."),
    "audit timeline": ("audit", "List all that happened, in order."),
    "audit refusals": ("audit", "List what was refused: who tried what, and why not."),
    "audit verify": ("verifying", "Verify the record: nothing altered, added, missing or cut off."),
    "audit head": ("verifying", "Print the newest step of each session, to be noted outside."),
    "audit replay": ("records", "Tell a session's events again and compare what comes of it."),
    "audit export": ("records", "Write a session's record to a file."),
    "audit import": ("records", "Tell an exported session again into an empty database."),
    "audit blockers": ("audit", "List blockers: by whom, how, and how long each stood."),
    "audit gaps": ("audit", "List what is missing from the record."),
    "audit stats": ("audit", "Count reports, rework, time in each role, escalations."),
    "audit query": ("audit", "Ask the database in SQL that only reads."),
    "db upgrade": ("db", "Bring the database to this program's schema."),
    "db downgrade": ("db", "Bring the database to an older schema, or refuse."),
    "db current": ("db", "Print the schema versions of the database and the program."),
    "db check": ("db", "Check the database: pages, references, triggers, orphans."),
    "db backup": ("db", "Copy the database while it is in use."),
    "db restore": ("db", "Put a backup in the place of the database."),
    "doctor": ("db", "Say what is the matter with the database, and what mends it."),
    "run": ("run", "Do one task: an executor works, and what it did is verified."),
    "repl": ("repl_command", "Do tasks and commands line by line, from a person or a script."),
    "batch": ("batch", "Run many commands in one process, a JSON line for each."),
    "serve": ("serve", "Serve HTTP: an interface for programs, and pages for people."),
    "mcp": ("mcp", "Serve one agent over the Model Context Protocol."),
    "schema": ("schema", "Print the JSON Schema of a command's answer."),
}

DOORS: dict[str, str] = {"mcp": "orchestrator.doors.mcp.serving", "serve": "orchestrator.doors.web.server"}
"""Doors that a command starts and gives the process to: by name, since no door knows another."""

GROUPS: dict[str, str] = {
    "session": "One piece of work, from goal to verdict.",
    "group": "Task groups: what is routed from agent to agent and completed.",
    "task": "Items of work inside groups.",
    "blocker": "What stands in the way of groups and tasks.",
    "criterion": "Success criteria: what must hold at the end.",
    "import": "What comes from other programs' databases.",
    "agent": "Registered actors.",
    "human": "Let a person prove their identity to a command.",
    "workflow": "The transitions that agents' answers are routed by.",
    "metadata": "Return metadata of agents.",
    "audit": "What happened, who decided it, and what was refused.",
    "db": "The database file.",
}


def below(group: str) -> list[str]:
    """The words that may follow a group's name; at the top the commands and the groups."""
    if group:
        return [words.partition(" ")[2] for words in COMMANDS if words.startswith(f"{group} ")]
    return [*(words for words in COMMANDS if " " not in words), *GROUPS]


def find(words: str) -> Command:
    """The declaration of a command."""
    module = importlib.import_module(f"orchestrator.doors.cli.{COMMANDS[words][0]}")
    commands: dict[str, Command] = module.COMMANDS
    return commands[words]
