"""`init` and `demo`: the first two commands of a newcomer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from orchestrator import bootstrap
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.doors.cli import invoke, output, shapes
from orchestrator.doors.cli.options import Command, Given, Result, flag, option
from orchestrator.hints import Any


def _init(given: Given) -> Result:
    from orchestrator.app import maintenance, setup

    file, root = given.arguments.get("workflow"), given.arguments.get("project")
    # Checked before anything is created, so that a wrong argument leaves no database behind.
    if file is not None:
        setup.require_valid(Path(file))
    if root is not None:
        setup.require_project(root)
    url = bootstrap.server(given.db)
    if url is not None:
        return _on_server(given, url, file, root)
    folder = maintenance.working_folder(given.db, os.environ) if root is None else Path(os.path.abspath(root))
    path = maintenance.place(given.db, os.environ, folder)
    lost = maintenance.lost(path, os.environ)
    moved = setup.create_database(path, bootstrap.now())
    context = bootstrap.open_context(path, write=True, door=invoke.DOOR)
    try:
        answer = setup.initialise(context, workflow=Path(file) if file is not None else None)
        at_risk = maintenance.warnings(context)
    finally:
        context.connection.close()
    own = {"before": moved.before, "after": moved.after, "backup": str(moved.backup) if moved.backup else None}
    warnings = [*lost, *moved.warnings, *at_risk, *_about_workflow(answer["problems"], file)]
    return invoke.result({**own, **answer, **_set_up(root), "warnings": warnings}, path)


def _on_server(given: Given, url: str, file: str | None, root: str | None) -> Result:
    """The same for a database on a server, which exists already: its schema is created."""
    from orchestrator.app import maintenance, setup

    allowed = given.allow_superuser
    moved = maintenance.create_on_server(url, bootstrap.now(), allow_superuser=allowed)
    context = bootstrap.open_context(url, write=True, door=invoke.DOOR, allow_superuser=allowed)
    try:
        answer = setup.initialise(context, workflow=Path(file) if file is not None else None)
    finally:
        context.connection.close()
    own = {name: moved[name] for name in ("before", "after", "backup")}
    warnings = _about_workflow(answer["problems"], file)
    return invoke.result({**own, **answer, **_set_up(root), "warnings": warnings}, context.path)


def _set_up(root: str | None) -> dict[str, Any]:
    """The project that was set up, and what was made for it; nothing where none was named."""
    from orchestrator.app import setup

    return {} if root is None else {"project": os.path.abspath(root), "created": list(setup.set_up_project(root))}


def _about_workflow(problems: list[dict[str, Any]], file: str | None) -> list[str]:
    """One line about the warnings of a workflow that was named; those of the shipped one are known."""
    if not problems or file is None:
        return []
    count = "1 warning" if len(problems) == 1 else f"{len(problems)} warnings"
    return [sentence("{} about the workflow: {}", count, suggest("workflow check", file=file))]


def _show(answer: dict[str, Any]) -> str:
    if answer["before"] == answer["after"]:
        database = f"Database {shapes.visible(answer['db'])} is up to date (schema version {answer['after']})."
    else:
        database = f"Database {shapes.visible(answer['db'])} is ready (schema version {answer['after']})."
    version = answer["version"]
    workflow = f"Workflow {shapes.visible(version['name'])} ({version['hash'][:12]}) is active."
    if "project" in answer:
        made = ", ".join(answer["created"]) or "nothing was missing"
        workflow += f"\nProject {shapes.visible(answer['project'])} is set up: {shapes.visible(made)}."
    create = output.worded(suggest("session create", id="S1", goal="My goal"))
    return f"{database}\n{workflow}\nNext: {create}"


def _demo(given: Given) -> Result:
    from orchestrator.app import demo

    if given.arguments.get("drive"):
        return _driven(given)
    steps = [played._asdict() for played in demo.play(_opened, bootstrap.now())]
    return Result({"db": None, "steps": steps, "next": list(demo.NEXT)})


def _opened(path: str) -> Any:
    return bootstrap.open_context(path, write=True, door=invoke.DOOR, environment={})


def _driven(given: Given) -> Result:
    """Drive a team; a person sees each event as it happens."""
    from orchestrator.app.driving import demonstration
    from orchestrator.doors.cli import drive

    steps: list[dict[str, Any]] = []

    def tell(event: dict[str, Any]) -> None:
        steps.append(event)
        if not given.json:
            drive.Teller(json=False).tell(event)

    ended = demonstration.play(_opened, bootstrap.now(), tell)
    code = ended.pop("exit_code")
    following = list(demonstration.NEXT)
    if given.json:
        return Result({"db": None, "steps": [*steps, ended], "next": following}, exit_code=code)
    words = "\n".join([*drive.ended({**ended, "next": []}), "", *_try(following)])
    return Result({"db": None}, words, code)


def _try(following: Sequence[str]) -> list[str]:
    return ["Try it yourself:", *(f"  {shapes.visible(command)}" for command in following)]


def _story(answer: dict[str, Any]) -> str:
    visible = shapes.visible
    lines: list[str] = []
    for number, step in enumerate(answer["steps"], 1):
        lines += [f"{number:2}. {visible(step['say'])}", f"    $ {visible(step['command'])}"]
        lines += [f"    {visible(step['result'])}", ""]
    return "\n".join([*lines, *_try(answer["next"])])


COMMANDS = {
    "init": Command(
        "init",
        "Create or upgrade the database, register the first agents, and load the workflow. Safe to repeat.",
        "orchestrator init --project .",
        (
            option("workflow", "A transitions file (default: the shipped one).", metavar="FILE"),
            option(
                "project",
                "Also set up this folder for runs: create what is missing in .claude (CLAUDE.md, settings.json,"
                " agents/, rules/); overwrite nothing.",
                metavar="PATH",
            ),
        ),
        _show,
        _init,
        line="Create or upgrade the database and load the workflow.",
        answer=("shapes.Init",),
    ),
    "demo": Command(
        "demo",
        "Replay an incident in a temporary database: agents try to mark blocked work as completed.",
        "orchestrator demo",
        (flag("drive", "Instead, let a scripted team run by itself, from a goal to a verdict."),),
        _story,
        _demo,
        line="Replay an incident in a temporary database, step by step.",
        answer=("shapes.Demo",),
    ),
}
