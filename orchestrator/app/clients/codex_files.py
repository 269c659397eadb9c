"""What Codex reads in a project: agent files, the skill, hooks and rules for commands. Texts and values only.

A project has one file of hooks, so both scopes write it: with the path of this machine, or with a command that finds
the program on any.

Source: spec 80, sections 3 and 4.
"""

from __future__ import annotations

import json
import re
import shlex

from orchestrator.app.clients import client_files, codex
from orchestrator.app.clients.client_files import COMMANDS, Hook
from orchestrator.core import agents, names
from orchestrator.hints import Any

FOLDERS = (".codex", ".agents")
HOOKS = ".codex/hooks.json"
SETTINGS = dict.fromkeys(client_files.SCOPES, HOOKS)
"""The settings file of each scope."""
AGENTS = ".codex/agents"
RULES = ".codex/rules/orchestrator.rules"
SKILL = ".agents/skills/orchestrate/SKILL.md"
POLICY = ".agents/skills/orchestrate/agents/openai.yaml"

EVENTS = {
    "SessionStart": Hook("", 10),
    "UserPromptSubmit": Hook("", 10),
    # A guard that takes too long is ignored by the client.
    "PreToolUse": Hook("", 60),
    "PostToolUse": Hook("", 10),
    "SubagentStart": Hook("", 10),
    "SubagentStop": Hook("", 30),
    "Stop": Hook("", 10),
    # The client gives this one no more than 3 seconds.
    "SessionEnd": Hook("", 3),
}
_TOOLS = {
    "PreToolUse": ("spawn_agent", "send_input", "send_message", "followup_task"),
    "PostToolUse": ("spawn_agent", "wait_agent", "close_agent", "interrupt_agent"),
}
"""The tools that an event is about, without their namespaces."""
_TOP = "# Written by orchestrator when it was installed for Codex, and again by each later installation."
_POLICY = f"{_TOP}\npolicy:\n  allow_implicit_invocation: false\n"
"""The skill is run only if the user types its name."""


def hooks(scope: str, strict: bool) -> dict[str, dict[str, Any]]:
    """The entry of each event for the file of hooks."""
    return {event: _entry(scope, event, hook, strict=strict) for event, hook in EVENTS.items()}


def _entry(scope: str, event: str, hook: Hook, *, strict: bool) -> dict[str, Any]:
    is_strict = strict and event == "PreToolUse"
    arguments = f' --client codex --process "$PPID"{" --strict" if is_strict else ""}'
    tools = (*_TOOLS.get(event, ()), *(codex.BUILDS if is_strict else ()))
    matcher = f"^[A-Za-z0-9_]*({'|'.join(tools)})$" if tools else ""
    guards = event in codex.GUARDING
    return client_files.entry(_found(scope), arguments, hook._replace(matcher=matcher), guards=guards)


def _found(scope: str) -> str:
    """What comes before `hook` in a command of a scope."""
    if scope == "local":
        return client_files.program()
    top = "$(git rev-parse --show-toplevel 2>/dev/null || pwd)"
    return f'o=orchestrator; command -v $o >/dev/null || o="{top}/.venv/bin/orchestrator"; "$o"'


def permissions(_: str) -> list[str]:
    """The file of hooks has no list of permissions; the rules for commands stand in a file of their own."""
    return []


def all_files(scope: str, roles: tuple[str, ...]) -> dict[str, str]:
    """The files of ours by their place."""
    return {
        **agent_files(roles), SKILL: client_files.skill("orchestrate_codex.md"),
        POLICY: client_files.stamped(_POLICY), RULES: client_files.stamped(rules(scope)),
    }  # fmt: skip


def rules(scope: str) -> str:
    """What the main agent may run without being asked, and outside of the sandbox, which hides other processes."""
    commands = [[*shlex.split(called), *words.split()] for called in client_files.called(scope) for words in COMMANDS]
    lines = [f'prefix_rule(pattern={json.dumps(words)}, decision="allow")' for words in commands]
    return "\n".join([_TOP, *lines, ""])


def agent_files(roles: tuple[str, ...]) -> dict[str, str]:
    """The agent files by their place in a project: one for every role that an agent plays."""
    found = {}
    for role, text in client_files.shipped_agents(roles).items():
        agent = agents.parse(text, role)
        values = {"name": role, "description": agent.description, "developer_instructions": agent.text}
        lines = [f"{key} = {_toml(value)}" for key, value in values.items()]
        found[f"{AGENTS}/{role}.toml"] = client_files.stamped("\n".join([_TOP, *lines, ""]))
    return found


def _toml(text: str) -> str:
    """A text as TOML writes it, in lines of its own where it has several."""
    quoted = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    if "\n" not in text:
        return quoted
    lines = re.sub(r"(?<!\\)((?:\\\\)*)\\n", r"\1\n", quoted[1:-1])
    return f'"""\n{lines}"""'


def names_role(text: str, roles: tuple[str, ...]) -> str | None:
    """The role that an agent file is named after."""
    found = re.search(r"""^name[ \t]*=[ \t]*["']([\w-]+)["']""", text, re.MULTILINE)
    role = names.role_name(found[1]) if found else ""
    return role if role in roles else None
