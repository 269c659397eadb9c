"""What Claude Code reads in a project: agent files, the skill, hooks and permissions. Texts and values only.

Source: spec 80, sections 3 and 4.
"""

from __future__ import annotations

import json
import os
import re
import sys

from orchestrator import files, resources
from orchestrator.core import agents, names, sha256
from orchestrator.core.tuples import NamedTuple
from orchestrator.hints import Any

FOLDER = ".claude"
LOCAL, SHARED = f"{FOLDER}/settings.local.json", f"{FOLDER}/settings.json"
SETTINGS = {"local": LOCAL, "project": SHARED}
"""The settings file of each scope."""
AGENTS = f"{FOLDER}/agents"
SKILL = f"{FOLDER}/skills/orchestrate/SKILL.md"
MARKER = "orchestrator-hook"
"""Stands in every hook command of ours."""
STAMP = "orchestrator_sha256"
"""The key in the front matter of our files that holds the hash of the rest."""

COMMANDS = ("session create", "status", "next", "handoff", "why", "route", "validate", "redispatch")
"""The commands that a main agent may run without being asked."""


class Hook(NamedTuple):
    """A hook as it is installed.

    matcher: the tools that it is called for; empty for an event that is about no tool.
    timeout: seconds after which the client gives up on it.
    """

    matcher: str
    timeout: int


_STARTS, _BUILDS = "Agent|Task|SendMessage|SubagentHandback", "Edit|Write|NotebookEdit"
EVENTS = {
    "SessionStart": Hook("", 10),
    "UserPromptSubmit": Hook("", 10),
    # A guard that takes too long is ignored by the client, so it gets as long as the client allows by default.
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

_DENIED = "orchestrator: the hook failed, so this is denied; run orchestrator doctor"
_SILENT = json.dumps({"systemMessage": "orchestrator: the hook failed; run orchestrator doctor"})


def program() -> str:
    """This installation's command as a shell word, by its path on this machine."""
    script = os.path.join(os.path.dirname(sys.executable), "orchestrator")
    # A script in a folder with a blank in its name cannot start: its first line is cut there.
    if os.access(script, os.X_OK) and " " not in script:
        return names.word(script)
    return f"{names.word(sys.executable)} -P -m orchestrator"


def hooks(scope: str, *, strict: bool) -> dict[str, dict[str, Any]]:
    """The entry of each event for the settings of a scope."""
    return {event: _entry(scope, event, hook, strict=strict) for event, hook in EVENTS.items()}


def _entry(scope: str, event: str, hook: Hook, *, strict: bool) -> dict[str, Any]:
    guards = event in GUARDS
    arguments = " --strict" if strict and event == "PreToolUse" else ""
    fails = f"{{ echo {names.word(_DENIED)} >&2; exit 2; }}" if guards else f"echo {names.word(_SILENT)}"
    command = f"{_found(scope)} hook{arguments} || {fails} # {MARKER}"
    matcher = f"{hook.matcher}|{_BUILDS}" if arguments else hook.matcher
    entry = {"hooks": [{"type": "command", "command": command, "timeout": hook.timeout}]}
    return {"matcher": matcher, **entry} if matcher else entry


def _found(scope: str) -> str:
    """What comes before `hook` in a command of a scope.

    The shared command leaves the event to the local one where that is installed too: the client runs both.
    """
    if scope == "local":
        return program()
    local = f'"$CLAUDE_PROJECT_DIR"/{LOCAL}'
    search = "o=orchestrator; command -v $o >/dev/null || o=\"$CLAUDE_PROJECT_DIR/.venv/bin/orchestrator\""
    return f'grep -qs {MARKER} {local} && exit 0; {search}; "$o"'


def permissions(scope: str) -> list[str]:
    """What the main agent may run without being asked."""
    return [f"Bash({called} {words}:*)" for called in _called(scope) for words in COMMANDS]


def _called(scope: str) -> list[str]:
    """How a main agent may call the program: by its name, or by its path if the shell does not find the name."""
    return ["orchestrator"] if scope == "project" else ["orchestrator", program()]


def agent_files(roles: tuple[str, ...]) -> dict[str, str]:
    """The agent files by their place in a project: one for every role that an agent plays."""
    texts = {file.name: files.text(file) for file in sorted(resources.path("agents").glob("*.md"))}
    by_role = {agents.parse(text, name).role: text for name, text in texts.items()}
    wanted = [role for role in by_role if role in roles and role not in agents.WITH_VARIANTS]
    return {f"{AGENTS}/{role}.md": stamped(_installed(by_role[role], role)) for role in wanted}


def _installed(text: str, role: str) -> str:
    """A shipped agent file under the role's name, by which events call the agent."""
    return re.sub(r"^name: .*", f"name: {role}", text.replace("\r\n", "\n"), count=1, flags=re.MULTILINE)


def skill() -> str:
    """The skill that `/orchestrate GOAL` runs. It may be committed, so it holds no path of one machine."""
    return stamped(files.text(resources.path("agents") / "skills" / "orchestrate.md").replace("\r\n", "\n"))


def stamped(text: str) -> str:
    """A file with front matter and the hash of the rest in it."""
    head, mark, body = text.partition("\n---\n")
    return f"{head}\n{STAMP}: {_hash(text)}{mark}{body}"


def is_stamped(text: str) -> bool:
    """Whether a file is one of ours, changed or not."""
    return _STAMPED.search(_plain(text)) is not None


def is_unchanged(text: str) -> bool:
    """Whether a file is just as some version of this program has written it."""
    plain = _plain(text)
    found = _STAMPED.search(plain)
    return found is not None and found[1] == _hash(plain[: found.start()] + plain[found.end() :])


_STAMPED = re.compile(rf"\n{STAMP}: ([0-9a-f]{{64}})(?=\n)")


def _plain(text: str) -> str:
    """A text with the line ends that it was written with; git may have changed them."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _hash(text: str) -> str:
    return sha256.new(text.encode("utf-8", "surrogatepass")).hexdigest()


def names_role(text: str, roles: tuple[str, ...]) -> str | None:
    """The role whose name an agent file has; the client takes hyphens and underscores as one."""
    found = re.search(r"\A(?:\ufeff)?---\r?\n(?:.*\r?\n)*?name:[ \t]*[\"']?([\w-]+)", text)
    role = names.role_name(found[1]) if found else ""
    return role if role in roles else None
