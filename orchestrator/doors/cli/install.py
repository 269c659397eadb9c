"""`install ...`: the projects that coding clients work in."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from orchestrator import bootstrap
from orchestrator.app.clients.requests import InstallClaudeCode, InstallCodex
from orchestrator.app.kernel import arguments
from orchestrator.app.kernel.context import Context
from orchestrator.core import database_urls
from orchestrator.core.suggestions import local, sentence
from orchestrator.doors.cli import invoke, shapes
from orchestrator.doors.cli.options import Given, Result, of_operation
from orchestrator.doors.cli.text import layout
from orchestrator.errors import EnvironmentProblem, UsageError
from orchestrator.hints import Any

_READS = ("check", "dry_run", "uninstall")
"""Flags of calls that create no database."""


def _install(name: str, given: Given) -> Result:
    from orchestrator.app.clients import install

    client = install.CLIENTS[name]
    bound = arguments.bind(f"install {client.name}", given.arguments)
    folder = Path(bound.get("project", "."))
    creates = not any(bound.get(flag) for flag in _READS)
    if creates:
        # What cannot be installed is refused before a database is created.
        install.install(None, client, **{**bound, "dry_run": True})
    context = _context(given.db, folder, creates=creates)
    try:
        answer = install.install(context, client, **bound)
        path = context.path if context else None
    finally:
        if context is not None:
            context.connection.close()
    return invoke.result(answer, path)


def _context(db: str | None, folder: Path, *, creates: bool) -> Context | None:
    """The project's database: created or upgraded where that is wanted, None if there is none."""
    from orchestrator.app import maintenance, setup

    url = bootstrap.server(db)
    if creates and url is not None:
        _require_named(url, folder)
        maintenance.create_on_server(url, bootstrap.now())
        context = bootstrap.open_context(url, write=True, door=invoke.DOOR)
        setup.initialise(context)
        return context
    if creates:
        path = maintenance.place(db, os.environ, folder)
        setup.create_database(path, bootstrap.now())
        _require_found(path, folder)
        context = bootstrap.open_context(path, write=True, door=invoke.DOOR)
        setup.initialise(context)
        return context
    try:
        return bootstrap.open_context(db, write=False, door=invoke.DOOR, folder=str(folder))
    except EnvironmentProblem as problem:
        if problem.code != "NO_DATABASE":
            raise
        return None


def _require_named(url: str, folder: Path) -> None:
    """The same of a database on a server."""
    if bootstrap.server(None) != url:
        used, named = database_urls.masked(bootstrap.server(None) or "a file"), database_urls.masked(url)
        message = sentence("Hooks in {} use {}, not {}.", local(folder), local(used), local(named))
        raise UsageError("USAGE", message, "Leave --db out, and set ORCHESTRATOR_DB for the client as well")


def _require_found(path: str, folder: Path) -> None:
    """Require that hooks, which are given no options, find this database."""
    from orchestrator.app import maintenance

    found = maintenance.find(None, os.environ, folder)
    if os.path.realpath(found) != os.path.realpath(path):
        message = sentence("Hooks in {} use the database {}, not {}.", local(folder), local(found), local(path))
        raise UsageError("USAGE", message, "Leave --db out, or set ORCHESTRATOR_DB for the client as well")


_DONE = {"create": "created", "update": "updated", "remove": "removed", "restore": "restored"}
_IN_PLACE = "Everything is in place."
_NEXT = {
    "claude-code": "start claude in this project and type /orchestrate GOAL",
    "codex": "start codex in this project, trust it and its hooks when asked (/hooks), and type $orchestrate GOAL",
}
_NOTHING = {"install": _IN_PLACE, "check": _IN_PLACE, "uninstall": "Nothing is installed."}


def show(answer: dict[str, Any]) -> str:
    """What was done, would be done or is wrong, a line each."""
    planned = answer["dry_run"]
    lines = [
        (f"would {each['change']}" if planned else _DONE[each["change"]])
        + f" {each['path']}" + (f" (copy: {each['copy']})" if each["copy"] else "")
        for each in answer["changes"]
    ]
    for each in answer["problems"]:
        lines += [each["message"], *(f"  {line}" for line in each["difference"].splitlines())]
    if not lines:
        lines = [_NOTHING[answer["mode"]]]
    elif answer["mode"] == "install" and not planned and not answer["problems"]:
        lines.append(f"Next: {_NEXT[answer['client']]}")
    if answer["problems"]:
        lines.append(f"{layout.counted(len(answer['problems']), 'problem')}.")
    if answer["limits"]:
        lines += ["What its events cannot hold:", *(f"- {each}" for each in answer["limits"])]
    return "\n".join(map(shapes.visible, lines))


COMMANDS = {
    "install claude-code": of_operation(
        InstallClaudeCode, handler=functools.partial(_install, "claude-code")
    )._replace(show=show),
    "install codex": of_operation(InstallCodex, handler=functools.partial(_install, "codex"))._replace(show=show),
}
