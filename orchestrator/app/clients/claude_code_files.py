"""What Claude Code reads in a project: agent files, the skill, hooks and permissions. Texts and values only.

Source: spec 80, sections 3 and 4.
"""

from __future__ import annotations

import re

from orchestrator.app.clients import client_files
from orchestrator.app.clients.client_files import COMMANDS, MARKER, Hook
from orchestrator.core import names
from orchestrator.hints import Any

FOLDER = ".claude"
LOCAL, SHARED = f"{FOLDER}/settings.local.json", f"{FOLDER}/settings.json"
SETTINGS = {"local": LOCAL, "project": SHARED}
"""The settings file of each scope."""
AGENTS = f"{FOLDER}/agents"
SKILL = f"{FOLDER}/skills/orchestrate/SKILL.md"

_STARTS, _BUILDS = "Agent|Task|SendMessage|SubagentHandback", "Edit|Write|NotebookEdit"
EVENTS = {
    "SessionStart": Hook("", 10),
    "UserPromptSubmit": Hook("", 10),
    # A guard that takes too long is ignored by the client, so it gets as long as the client allows by default (RTE-45).
    "PreToolUse": Hook(_STARTS, 60),
    "PostToolUse": Hook("Agent|Task", 10),
    "PostToolUseFailure": Hook("Agent|Task", 10),
    "SubagentStop": Hook("", 30),
    "StopFailure": Hook("", 10),
    "Stop": Hook("", 10),
    "SessionEnd": Hook("", 10),
    "TaskCreated": Hook("", 10),
    "TaskCompleted": Hook("", 10),
}
GUARDS = ("PreToolUse", "TaskCreated", "TaskCompleted")
"""Events in which a hook that fails denies."""


def hooks(scope: str, strict: bool) -> dict[str, dict[str, Any]]:
    """The entry of each event for the settings of a scope."""
    found = {}
    for event, hook in EVENTS.items():
        is_strict = strict and event == "PreToolUse"
        wanted = hook._replace(matcher=f"{hook.matcher}|{_BUILDS}") if is_strict else hook
        arguments = " --strict" if is_strict else ""
        found[event] = client_files.entry(_found(scope), arguments, wanted, guards=event in GUARDS)
    return found


def _found(scope: str) -> str:
    """What comes before `hook` in a command of a scope.

    The shared command leaves the event to the local one where that is installed too: the client runs both.
    """
    if scope == "local":
        return client_files.program()
    local = f'"$CLAUDE_PROJECT_DIR"/{LOCAL}'
    search = "o=orchestrator; command -v $o >/dev/null || o=\"$CLAUDE_PROJECT_DIR/.venv/bin/orchestrator\""
    return f'grep -qs {MARKER} {local} && exit 0; {search}; "$o"'


def permissions(scope: str) -> list[str]:
    """What the main agent may run without being asked."""
    return [f"Bash({called} {words}:*)" for called in client_files.called(scope) for words in COMMANDS]


def agent_files(roles: tuple[str, ...]) -> dict[str, str]:
    """The agent files by their place in a project: one for every role that an agent plays."""
    shipped = client_files.shipped_agents(roles)
    return {f"{AGENTS}/{role}.md": client_files.stamped(text) for role, text in shipped.items()}


def all_files(_: str, roles: tuple[str, ...]) -> dict[str, str]:
    """The files of ours by their place; they are the same in every scope."""
    return {**agent_files(roles), SKILL: client_files.skill("orchestrate.md")}


def names_role(text: str, roles: tuple[str, ...]) -> str | None:
    """The role that an agent file is named after; the client takes hyphens and underscores as one."""
    found = re.search(r"\A(?:\ufeff)?---\r?\n(?:.*\r?\n)*?name:[ \t]*[\"']?([\w-]+)", text)
    role = names.role_name(found[1]) if found else ""
    return role if role in roles else None
