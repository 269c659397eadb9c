"""What `install --check` finds for every client: missing or outdated files, programs, unknown events.

Source: spec 80, section 3.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from orchestrator import files
from orchestrator.app.clients.client_files import Client
from orchestrator.app.clients.install_record import Problem
from orchestrator.core import names, strict_json
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.hints import Any
from orchestrator.runner import commands

_SECONDS = 20.0
_SAID = {"create": ("missing", "is missing"), "update": ("outdated", "is not up to date")}


def pending(client: Client, changes: Iterable[Any]) -> list[Problem]:
    """What an installation would change, as problems."""
    found, again = ((each.path, *_SAID[each.change]) for each in changes), suggest(f"install {client.name}")
    return [Problem(id_, path, sentence("{} {}; {}", path, what, again)) for path, id_, what in found]


def surroundings(
    client: Client, root: str, scope: str, roles: tuple[str, ...], *, has_database: bool
) -> list[Problem]:
    """What is amiss around the files: database, programs, trust, agents of the same name, unknown events."""
    found = []
    if not has_database:
        again = suggest(f"install {client.name}")
        found.append(Problem("missing", ".orchestrator", sentence("No database; {}", again)))
    if shutil.which("orchestrator") is None:
        message = "orchestrator is not on the PATH; agents call it by name."
        found.append(Problem("not_found", "orchestrator", message))
    return [*found, *client.checks(root, scope, roles)]


def version(program: str, title: str, tested: tuple[str, ...]) -> list[Problem]:
    """Whether a client's program is there, and of a version that is known."""
    place = shutil.which(program)
    if place is None:
        return [Problem("not_found", program, f"{program} is not on the PATH; install {title}.")]
    ended = commands.run([place, "--version"], folder="/", timeout_s=_SECONDS, variables=dict(os.environ))
    found = re.search(r"(?m)^(?:\S+ )?(\d+\.\d+\.\d+)", ended.output.strip())
    if found is not None and found[1] in tested:
        return []
    said = found[1] if found else f"unknown ({names.said(ended.output.strip())[:80] or ended.why})"
    known = f"the hooks were tested with {', '.join(tested)}"
    return [Problem("unknown", program, f"{title}'s version is {said}; {known}.")]


def rivals(
    root: str, folder: str, pattern: str, role_of: Callable[[str], str | None]
) -> list[Problem]:
    """Other agent files that have a role's name; which one the client takes is chance."""
    found = []
    for file in sorted((Path(root) / folder).rglob(pattern)):
        path = file.relative_to(root).as_posix()
        try:
            role = role_of(files.content(file).decode("utf-8", "replace"))
        except files.Unreadable:
            continue
        if role is not None and path != f"{folder}/{role}{file.suffix}":
            found.append(Problem("foreign", path, f"{path} has the name of the role {role}; rename or remove it."))
    return found


def unknown(root: str, paths: Iterable[str], events: tuple[str, ...], keys: tuple[str, ...]) -> list[Problem]:
    """Events and keys of hooks that the tested versions of a client do not know."""
    found = []
    for path in dict.fromkeys(paths):
        hooks = document(os.path.join(root, path)).get("hooks")
        for event, entries in (hooks if isinstance(hooks, dict) else {}).items():
            if event not in events:
                near = names.nearest(event, events)
                hint = f"; did you mean {near}?" if near else "."
                found.append(Problem("unknown", path, f"{path} has hooks for {event}, an unknown event{hint}"))
            for key in dict.fromkeys(key for each in _objects(entries) for key in each if key not in keys):
                found.append(Problem("unknown", path, f"{path} has the unknown key {key} in a hook for {event}."))
    return found


def _objects(entries: object) -> Iterator[dict[str, Any]]:
    """The entries of an event, and the hooks in them."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield entry
            yield from _objects(entry.get("hooks"))


def document(path: str) -> dict[str, Any]:
    """The object in a JSON file; empty where it cannot be read."""
    try:
        found = strict_json.lenient(files.text(path))
    except (files.Unreadable, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
