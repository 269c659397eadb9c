"""What `install --check` finds: files that are missing or of another version, programs, trust, unknown events.

Source: spec 80, section 3.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from orchestrator.app.clients import claude_code_files
from orchestrator.app.clients.install_record import Problem
from orchestrator.core import names, strictjson
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.hints import Any
from orchestrator.runner import commands

CLIENT = "claude"
VERSIONS = ("2.1.332",)
"""The versions of Claude Code that the hooks were tested with."""
CLIENT_EVENTS = (
    *claude_code_files.EVENTS, "SubagentStart", "Notification", "PreCompact", "PostCompact", "PreModelSwitch",
    "PostModelSwitch", "PermissionRequest", "PermissionDenied", "PostToolBatch", "UserPromptExpansion", "Setup",
    "TeammateIdle", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove",
    "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay", "PreSkillShellCommand",
)  # fmt: skip
"""The events that hooks of these versions may name."""
_KEYS = (
    "type", "command", "args", "timeout", "matcher", "hooks", "prompt", "url", "model", "async", "asyncRewake", "once",
    "if", "statusMessage", "headers", "allowedEnvVars", "shell", "server", "tool", "input", "continueOnBlock",
)  # fmt: skip
_SECONDS = 20.0
_INSTALL = suggest("install claude-code")
_SAID = {"create": ("missing", "is missing"), "update": ("outdated", "is not up to date")}


def pending(changes: Iterable[Any]) -> list[Problem]:
    """What an installation would change, as problems."""
    found = ((each.path, *_SAID[each.change]) for each in changes)
    return [Problem(id_, path, sentence("{} {}; {}", path, what, _INSTALL)) for path, id_, what in found]


def surroundings(root: str, scope: str, roles: tuple[str, ...], *, has_database: bool) -> list[Problem]:
    """What is amiss around the files: database, programs, trust, agents of the same name, unknown events."""
    found = []
    if not has_database:
        found.append(Problem("missing", ".orchestrator", sentence("No database; {}", _INSTALL)))
    if shutil.which("orchestrator") is None:
        message = "orchestrator is not on the PATH; agents call it by name."
        found.append(Problem("not_found", "orchestrator", message))
    found += _client()
    if scope == "project" and not is_trusted(root):
        said = sentence(
            "Claude Code does not trust {} yet, so it ignores permissions in {}. Start claude there once and accept the"
            " trust prompt.",
            local(root), claude_code_files.SHARED,
        )
        found.append(Problem("untrusted", root, said))
    return [*found, *_rivals(root, roles), *_unknown(root)]


def _client() -> list[Problem]:
    """Whether the client is there, and of a version that is known."""
    place = shutil.which(CLIENT)
    if place is None:
        return [Problem("not_found", CLIENT, "claude is not on the PATH; install Claude Code.")]
    ended = commands.run([place, "--version"], folder="/", timeout_s=_SECONDS, variables=dict(os.environ))
    version = re.match(r"\s*(\d+\.\d+\.\d+)", ended.output)
    if version is not None and version[1] in VERSIONS:
        return []
    said = version[1] if version else f"unknown ({names.said(ended.output.strip())[:80] or ended.why})"
    tested = f"the hooks were tested with {', '.join(VERSIONS)}"
    return [Problem("unknown", CLIENT, f"Claude Code's version is {said}; {tested}.")]


def is_trusted(root: str) -> bool:
    """Whether the user has told the client to trust a folder."""
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~")
    found = _document(os.path.join(home, ".claude.json")).get("projects")
    project = found.get(root) if isinstance(found, dict) else None
    return isinstance(project, dict) and project.get("hasTrustDialogAccepted") is True


def _rivals(root: str, roles: tuple[str, ...]) -> list[Problem]:
    """Other agent files that have a role's name; which one the client takes is chance."""
    folder, found = Path(root) / claude_code_files.AGENTS, []
    for file in sorted(folder.rglob("*.md")):
        path = file.relative_to(root).as_posix()
        try:
            role = claude_code_files.names_role(file.read_text(encoding="utf-8", errors="replace"), roles)
        except OSError:
            continue
        if role is not None and path != f"{claude_code_files.AGENTS}/{role}.md":
            found.append(Problem("foreign", path, f"{path} has the name of the role {role}; rename or remove it."))
    return found


def _unknown(root: str) -> list[Problem]:
    """Events and keys of hooks that the tested versions do not know."""
    found = []
    for path in claude_code_files.SETTINGS.values():
        hooks = _document(os.path.join(root, path)).get("hooks")
        for event, entries in (hooks if isinstance(hooks, dict) else {}).items():
            if event not in CLIENT_EVENTS:
                near = names.nearest(event, CLIENT_EVENTS)
                hint = f"; did you mean {near}?" if near else "."
                found.append(Problem("unknown", path, f"{path} has hooks for {event}, an unknown event{hint}"))
            for key in dict.fromkeys(key for each in _objects(entries) for key in each if key not in _KEYS):
                found.append(Problem("unknown", path, f"{path} has the unknown key {key} in a hook for {event}."))
    return found


def _objects(entries: object) -> Iterator[dict[str, Any]]:
    """The entries of an event, and the hooks in them."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield entry
            yield from _objects(entry.get("hooks"))


def _document(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            found = strictjson.lenient(file.read())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
