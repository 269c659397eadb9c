"""What any client reads in a project: the form of a hook, and files that tell whether they were changed.

Source: spec 80, sections 3 and 4.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable

from orchestrator import files, resources
from orchestrator.app.clients.install_record import Problem
from orchestrator.core import agents, names, sha256
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

SCOPES = ("local", "project")
MARKER = "orchestrator-hook"
"""Stands in every hook command of ours."""
STAMP = "orchestrator_sha256"
"""Before the hash of the rest, in the front matter of our files or in a comment at their top."""
COMMANDS = ("session create", "status", "next", "handoff", "why", "route", "validate", "redispatch")
"""The commands that a main agent may run without being asked."""


class Hook(NamedTuple):
    """A hook as it is installed.

    matcher: the tools that it is called for; empty for an event that is about no tool.
    timeout: seconds after which the client gives up on it.
    """

    matcher: str
    timeout: int


class Client(NamedTuple):
    """A client for which a project is set up.

    name: as in `install NAME`. folders: everything of ours lies below these.
    settings: the settings file of each scope, in which other entries than ours are kept.
    hooks: the entry of each event, by scope and strictness. permissions: by scope, the entries of its list of them.
    files: the files that are wholly ours, by scope and the roles of the workflow.
    checks: what is amiss around them, by project, scope and roles.
    limits: the rules of hooks that its events cannot hold, a sentence each.
    """

    name: str
    folders: tuple[str, ...]
    settings: dict[str, str]
    hooks: Callable[[str, bool], dict[str, dict[str, Any]]]
    permissions: Callable[[str], list[str]]
    files: Callable[[str, tuple[str, ...]], dict[str, str]]
    checks: Callable[[str, str, tuple[str, ...]], list[Problem]]
    limits: tuple[str, ...] = ()

    def has(self, path: str) -> bool:
        """Whether a path of the project is below one of its folders."""
        return any(path == each or path.startswith(f"{each}/") for each in self.folders)


def program() -> str:
    """This installation's command as a shell word, by its path on this machine."""
    script = os.path.join(os.path.dirname(sys.executable), "orchestrator")
    # A script in a folder with a blank in its name cannot start: its first line is cut there.
    if os.access(script, os.X_OK) and " " not in script:
        return names.word(script)
    return f"{names.word(sys.executable)} -P -m orchestrator"


_DENIED = "orchestrator: the hook failed, so this is denied; run orchestrator doctor"
_SILENT = json.dumps({"systemMessage": "orchestrator: the hook failed; run orchestrator doctor"})


def entry(found: str, arguments: str, hook: Hook, *, guards: bool) -> dict[str, Any]:
    """An event's entry in a client's settings.

    Args:
        found: what comes before `hook` in its command. arguments: what comes behind it.
        guards: a hook that fails denies.
    """
    fails = f"{{ echo {names.word(_DENIED)} >&2; exit 2; }}" if guards else f"echo {names.word(_SILENT)}"
    command = f"{found} hook{arguments} || {fails} # {MARKER}"
    own = {"hooks": [{"type": "command", "command": command, "timeout": hook.timeout}]}
    return {"matcher": hook.matcher, **own} if hook.matcher else own


def called(scope: str) -> list[str]:
    """How a main agent may call the program: by its name, or by its path if the shell does not find the name."""
    return ["orchestrator"] if scope == "project" else ["orchestrator", program()]


def shipped_agents(roles: tuple[str, ...]) -> dict[str, str]:
    """The shipped agent file of every role that an agent plays, under the role's own name."""
    texts = {file.name: files.text(file) for file in sorted(resources.path("agents").glob("*.md"))}
    by_role = {agents.parse(text, name).role: text for name, text in texts.items()}
    wanted = [role for role in by_role if role in roles and role not in agents.WITH_VARIANTS]
    return {role: _named(by_role[role], role) for role in wanted}


def _named(text: str, role: str) -> str:
    """A shipped agent file under the role's name, by which events call the agent."""
    return re.sub(r"^name: .*", f"name: {role}", text.replace("\r\n", "\n"), count=1, flags=re.MULTILINE)


def skill(name: str) -> str:
    """A shipped skill. It may be committed, so it holds no path of one machine."""
    return stamped(files.text(resources.path("agents") / "skills" / name).replace("\r\n", "\n"))


def stamped(text: str) -> str:
    """A file with the hash of the rest in its front matter, or in a comment where it has none."""
    if not text.startswith("---\n"):
        head, _, body = text.partition("\n")
        return f"{head}\n# {STAMP}: {_hash(text)}\n{body}"
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


_STAMPED = re.compile(rf"\n(?:# )?{STAMP}: ([0-9a-f]{{64}})(?=\n)")


def _plain(text: str) -> str:
    """A text with the line ends that it was written with; git may have changed them."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _hash(text: str) -> str:
    return sha256.new(text.encode("utf-8", "surrogatepass")).hexdigest()
