"""What `install codex --check` finds that is Codex's own: its version, whom it trusts, its agents and events."""

from __future__ import annotations

import functools
import json
import os
import re
import tomllib
from pathlib import Path

from orchestrator.app.clients import codex_files, install_checks
from orchestrator.app.clients.client_files import MARKER
from orchestrator.app.clients.install_record import Problem
from orchestrator.core import sha256
from orchestrator.core.suggestions import local, sentence
from orchestrator.hints import Any

VERSIONS = ("0.171.0",)
"""The versions that the hooks were tested with."""
CLIENT_EVENTS = (*codex_files.EVENTS, "PermissionRequest", "PreCompact", "PostCompact", "Interrupt")
"""The events that hooks of these versions may name."""
_KEYS = (
    "type", "command", "commandWindows", "command_windows", "timeout", "matcher", "hooks", "async", "statusMessage",
)  # fmt: skip
LIMITS = (
    "An agent that dies of an error or a usage limit sends no event: it is noticed when the main agent waits for it,"
    " and with the tools called collaboration only by the main agent itself, which then has to run redispatch.",
    "With the tools called collaboration an agent's message is encrypted: the hand-off is given to the agent beside it,"
    " as a context of at most 9,000 characters, and what the main agent wrote reaches the agent as it is.",
    "The model of a turn is not passed on: Codex does not know the names in the agent files, and an agent has the model"
    " of the main agent.",
    "--strict denies apply_patch and agents of other types, but not a shell command that changes a file.",
    "Codex does not wake its main agent when an agent has ended: the main agent is held once while its agents work,"
    " and told to wait; if it stops all the same, type a message to let it go on.",
    "A conversation that is cleared or started anew does not inherit the session: type $orchestrate in the new one.",
    "Codex has no events about a list of tasks, so entries there are not compared with the session's tasks.",
    "Where a background server runs the conversation, a killed terminal is not noticed while that server lives.",
)
"""The rules for hooks that its events cannot hold."""
_HASHED = ("PreToolUse", "PostToolUse")
"""Events whose hash has the matcher in it, of those that we install."""


def checks(root: str, _: str, roles: tuple[str, ...]) -> list[Problem]:
    """What is amiss around the files of ours."""
    config, place = _config()
    found = install_checks.version("codex", "Codex", VERSIONS)
    if not _is_trusted(config, root):
        said = sentence(
            "Codex does not trust {} yet, so it ignores its hooks, agents and rules. Start codex there once and accept"
            " the trust prompt.",
            local(root),
        )
        found.append(Problem("untrusted", root, said))
    if _part(config, "features").get("hooks") is False:
        said = sentence("{} switches hooks off (features.hooks); remove that line.", local(place))
        found.append(Problem("untrusted", place, said))
    found += _untrusted(root, _part(_part(config, "hooks"), "state"))
    role_of = functools.partial(codex_files.names_role, roles=roles)
    found += install_checks.rivals(root, codex_files.AGENTS, "*.toml", role_of)
    return found + install_checks.unknown(root, (codex_files.HOOKS,), CLIENT_EVENTS, _KEYS)


def _config() -> tuple[dict[str, Any], str]:
    """The user's configuration, empty where it cannot be read, and its file."""
    home = os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
    place = os.path.join(home, "config.toml")
    try:
        with open(place, "rb") as file:
            return tomllib.load(file), place
    except (OSError, ValueError):
        return {}, place


def _is_trusted(config: dict[str, Any], root: str) -> bool:
    """Whether the user trusts a folder, by itself or by the repository that it lies in."""
    places = [root, *(str(each) for each in Path(root).parents if (each / ".git").exists())]
    projects = _part(config, "projects")
    return any(_part(projects, place).get("trust_level") == "trusted" for place in places)


def _untrusted(root: str, state: dict[str, Any]) -> list[Problem]:
    """Our hooks that the user has not reviewed since they were written, or has switched off."""
    place = os.path.join(root, codex_files.HOOKS)
    hooks = _part(install_checks.document(place), "hooks")
    waiting, off = [], []
    for event in codex_files.EVENTS:
        entries = hooks.get(event)
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            for index, hook in _ours(entry):
                known = _part(state, f"{place}:{_snake(event)}:{number}:{index}")
                if known.get("enabled") is False:
                    off.append(event)
                elif known.get("trusted_hash") != trusted_hash(event, entry, hook):
                    waiting.append(event)
    found = []
    if waiting:
        said = f"Codex does not run hooks that you have not reviewed: {', '.join(waiting)}."
        found.append(Problem("untrusted", codex_files.HOOKS, f"{said} Start codex here, type /hooks and trust them."))
    if off:
        said = f"Hooks are switched off in Codex: {', '.join(off)}. Switch them on by /hooks."
        found.append(Problem("untrusted", codex_files.HOOKS, said))
    return found


def _ours(entry: object) -> list[tuple[int, dict[str, Any]]]:
    """Our hooks in an entry, with their numbers."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    numbered = enumerate(hooks if isinstance(hooks, list) else ())
    return [(number, each) for number, each in numbered if isinstance(each, dict) and _is_marked(each)]


def _is_marked(hook: dict[str, Any]) -> bool:
    command = hook.get("command")
    return isinstance(command, str) and MARKER in command


def trusted_hash(event: str, entry: dict[str, Any], hook: dict[str, Any]) -> str:
    """The hash by which Codex notes that a hook was reviewed; it depends on the command, its timeout and its tools."""
    own = {
        "type": "command", "command": hook.get("command"), "timeout": hook.get("timeout", 600),
        "async": hook.get("async", False),
    }  # fmt: skip
    whole: dict[str, Any] = {"event_name": _snake(event), "hooks": [own]}
    if event in _HASHED and "matcher" in entry:
        whole["matcher"] = entry["matcher"]
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256.new(text.encode()).hexdigest()}"


def _snake(event: str) -> str:
    """An event's name as the configuration writes it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def _part(document: Any, name: str) -> dict[str, Any]:
    """A table of the configuration; empty where there is none."""
    value = document.get(name) if isinstance(document, dict) else None
    return value if isinstance(value, dict) else {}
