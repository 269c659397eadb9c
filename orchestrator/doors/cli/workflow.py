"""`workflow ...`: the transitions that agents' answers are routed by."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from orchestrator.doors.cli import calling, shapes
from orchestrator.doors.cli.options import BY, OF_SESSION, REQUEST, Command, Given, Result, argument, flag, option
from orchestrator.doors.cli.text import layout
from orchestrator.errors import EXIT_INVALID, EXIT_OK, InvalidInput, UsageError

_AGENTS = option("agents", "A folder of agent files; the shipped ones where left out.", metavar="FOLDER")


def _sources(given: Given) -> tuple[str, dict[str, str], str]:
    """Text of the workflow file, the agent files that go with it, and their folder."""
    from orchestrator import resources
    from orchestrator.app import setup

    named = given.arguments.get("agents")
    folder = pathlib.Path(named) if named is not None else resources.path("agents")
    if not folder.is_dir():
        raise UsageError("USAGE", f"--agents: {named} is no folder.", "Name a folder of agent files")
    content, _ = setup.read_workflow(pathlib.Path(given.arguments["file"]))
    return content, setup.agent_texts(folder), str(folder)


def _load(given: Given) -> Result:
    content, texts, _ = _sources(given)
    name = pathlib.Path(given.arguments["file"]).name
    chosen = {key: value for key, value in given.arguments.items() if key in ("by", "request_id")}
    arguments = {**chosen, "content": content, "agent_texts": texts, "source": name}
    found = calling.operation("workflow load", given._replace(arguments=arguments))
    return found._replace(text=_loaded(found.answer))


def _loaded(answer: dict[str, Any]) -> str:
    version = answer["version"]
    done = "loaded and active" if answer["activated"] else "active already"
    lines = [f"Workflow version {version['id']} ({shapes.visible(version['name'])}, {version['hash'][:12]}): {done}."]
    return "\n".join([*lines, *map(_finding, answer["problems"])])


def _finding(problem: dict[str, Any]) -> str:
    return shapes.visible(f"{problem['severity']} {problem['id']}: {problem['message']} ({problem['path']})")


def _check(given: Given) -> Result:
    from orchestrator.app import workflows
    from orchestrator.core.workflow import report as reports
    from orchestrator.core.workflow.problems import ERROR, Problem

    content, texts, folder = _sources(given)
    source = given.arguments["file"]
    report, _, found = workflows.check(content, texts, source, folder)
    strict = given.arguments.get("strict", False)
    problems = tuple(Problem(**each) if isinstance(each, dict) else each for each in found)
    if strict:
        problems = tuple(each._replace(severity=ERROR) for each in problems)
    ok = all(each.severity != ERROR for each in problems)
    whole = report._replace(problems=problems, ok=ok)
    notation = given.arguments.get("format") or ("json" if given.json else "text")
    code = EXIT_OK if ok else EXIT_INVALID
    if notation == "sarif":
        return Result({"db": None}, json.dumps(_sarif(whole), indent=2), code, raw=True)
    if notation == "text":
        return Result({"db": None}, reports.to_text(whole), code, raw=True)
    answer = reports.to_json(whole)
    # The envelope's own `warnings` are sentences; the report's is a number.
    answer = {**answer, "warnings": [], "errors": answer["errors"], "warning_count": answer["warnings"]}
    if not ok:
        details = {key: value for key, value in answer.items() if key != "warnings"}
        message = f"{source} has {layout.counted(answer['errors'], 'error')}."
        raise InvalidInput("WORKFLOW_INVALID", message, "Mend every listed problem and check again", **details)
    return Result({"db": None, **answer})


def _sarif(whole: Any) -> dict[str, Any]:
    """The report as SARIF; findings on agent files have rules of their own."""
    from orchestrator.core.workflow import report as reports
    from orchestrator.core.workflow.problems import CATALOGUE

    known = tuple(each for each in whole.problems if each.id in CATALOGUE)
    document = reports.to_sarif(whole._replace(problems=known))
    run = document["runs"][0]
    for each in whole.problems:
        if each.id not in CATALOGUE:
            message = {"text": f"{each.message} {each.hint}"}
            place = {"physicalLocation": {"artifactLocation": {"uri": each.path}}}
            run["results"].append({"ruleId": each.id, "level": each.severity, "message": message, "locations": [place]})
    return document


def _versions(answer: dict[str, Any]) -> str:
    return shapes.listing(answer, "versions", ("id", "active", "name", "hash", "loaded_at"))


def _show(answer: dict[str, Any]) -> str:
    head = {"version": answer["version"], "agent_files": answer["agent_files"]}
    return f"{shapes.everything(head)}\n{json.dumps(answer['workflow'], indent=2)}"


_NOTATIONS = ("mermaid", "dot", "svg")
_KEY = "The version's number, name or hash"

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "workflow load",
            "Check a workflow file with its agent files, and make it the active version.",
            "orchestrator workflow load workflow/transitions.json --by project_manager",
            (argument("file", "The transitions file."), _AGENTS, BY, REQUEST),
            None,
            _load,
        ),
        Command(
            "workflow check",
            "Check a workflow file with its agent files, and say all that is wrong. Nothing is stored.",
            "orchestrator workflow check workflow/transitions.json --strict --format sarif",
            (
                argument("file", "The transitions file."),
                _AGENTS,
                flag("strict", "Warnings are errors."),
                option("format", "How it is printed.", choices=("text", "json", "sarif")),
            ),
            None,
            _check,
        ),
        Command(
            "workflow show",
            "Show a loaded version.",
            "orchestrator workflow show 1 --json",
            (argument("version", f"{_KEY}; the active one where left out.", required=False),),
            _show,
        ),
        Command("workflow versions", "List the loaded versions.", "orchestrator workflow versions", (), _versions),
        Command(
            "workflow diff",
            "Compare two loaded versions, transition by transition.",
            "orchestrator workflow diff 1 2",
            (argument("a", f"{_KEY}."), argument("b", f"{_KEY}.")),
            lambda answer: str(answer["text"]),
        ),
        Command(
            "workflow graph",
            "Draw the workflow; with a session, its position is highlighted.",
            "orchestrator workflow graph --format mermaid -s S1",
            (
                option("format", "The notation.", choices=_NOTATIONS),
                OF_SESSION,
                option("version", f"{_KEY}; the active one where left out."),
            ),
            lambda answer: str(answer["graph"]),
        ),
    )
}
