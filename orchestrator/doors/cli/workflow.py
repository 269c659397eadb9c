"""`workflow ...`: the transitions that agents' answers are routed by."""

from __future__ import annotations

import json
import pathlib
import sys

from orchestrator.app.kernel import operations
from orchestrator.app.workflow.requests import AskWhatIf, DrawWorkflow, LoadWorkflow
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import invoke, output, screen, shapes
from orchestrator.doors.cli.options import (
    INTEGER,
    Command,
    Given,
    Result,
    argument,
    flag,
    of_operation,
    option,
)
from orchestrator.doors.cli.text import layout
from orchestrator.errors import EXIT_INVALID, EXIT_OK, InvalidInput, UsageError
from orchestrator.hints import Any

_AGENTS = option("agents", "A folder of agent files (default: the shipped ones).", metavar="FOLDER")


def _sources(arguments: dict[str, Any]) -> tuple[str, dict[str, str], str]:
    """Text of the workflow file, the agent files that go with it, and their folder."""
    from orchestrator import resources
    from orchestrator.app import setup

    named = arguments.get("agents")
    folder = pathlib.Path(named) if named is not None else resources.path("agents")
    if not folder.is_dir():
        raise UsageError("USAGE", f"--agents: {named} is not a folder.", "Name a folder of agent files")
    content, _ = setup.read_workflow(pathlib.Path(arguments["file"]))
    return content, setup.agent_texts(folder), str(folder)


def loading(arguments: dict[str, Any]) -> dict[str, Any]:
    """The parameters of `workflow load` from the names `file` and `agents`.

    Raises:
        UsageError: USAGE, there is no such folder. InvalidInput: WORKFLOW_INVALID, the file cannot be read.
    """
    content, texts, _ = _sources(arguments)
    return {"content": content, "agent_texts": texts, "source": pathlib.Path(arguments["file"]).name}


def assuming(arguments: dict[str, Any]) -> dict[str, Any]:
    """The parameters of `workflow what-if` from the names `file` and `agents`, as `loading`.

    Without a folder of agent files each session keeps its own.
    """
    found = loading(arguments)
    return found if "agents" in arguments else {name: found[name] for name in ("content", "source")}


def _what_if(given: Given) -> Result:
    from orchestrator.app import setup

    chosen = {key: value for key, value in given.arguments.items() if key in ("sessions", "every")}
    with setup.naming(given.arguments["file"]):
        return invoke.operation(
            "workflow what-if", given._replace(arguments={**chosen, **assuming(given.arguments)})
        )


def _load(given: Given) -> Result:
    chosen = {key: value for key, value in given.arguments.items() if key in ("by", "request_id")}
    arguments = {**chosen, **loading(given.arguments)}
    from orchestrator.app import setup

    with setup.naming(given.arguments["file"]):
        found = invoke.operation("workflow load", given._replace(arguments=arguments))
    if found.answer["activated"]:
        found.answer["what_if"] = output.worded(
            suggest("workflow what-if", file=given.arguments["file"], every=True)
        )
    return found._replace(text=_loaded(found.answer))


def _loaded(answer: dict[str, Any]) -> str:
    version = answer["version"]
    done = "loaded and active" if answer["activated"] else "active already"
    lines = [f"Workflow version {version['id']} ({shapes.visible(version['name'])}, {version['hash'][:12]}): {done}."]
    lines += map(_finding, answer["problems"])
    if "what_if" in answer:
        lines.append(f"What recorded sessions would have decided under it: {answer['what_if']}")
    return "\n".join(lines)


def _finding(problem: dict[str, Any]) -> str:
    return shapes.visible(f"{problem['severity']} {problem['id']}: {problem['message']} ({problem['path']})")


def _differs(problem: str) -> bool:
    """Whether it is a difference between the workflow and its agent files."""
    return problem.startswith("A1")


def _check(given: Given) -> Result:
    from orchestrator.app.workflow import workflows
    from orchestrator.core.workflow import report as reports
    from orchestrator.core.workflow.problems import ERROR, Problem

    alone = [f"--{name}" for name in ("seconds", "thorough") if given.arguments.get(name)]
    if alone and not given.arguments.get("prove"):
        raise UsageError("USAGE", f"{alone[0]} needs --prove.", "Repeat with --prove")
    content, texts, folder = _sources(given.arguments)
    source = given.arguments["file"]
    report, _, found = workflows.check(content, texts, source, folder)
    strict = given.arguments.get("strict", False)
    problems = tuple(Problem(**each) if isinstance(each, dict) else each for each in found)
    if strict:
        problems = tuple(each._replace(severity=ERROR) if _differs(each.id) else each for each in problems)
    ok = all(each.severity != ERROR for each in problems)
    whole = report._replace(problems=problems, ok=ok)
    notation = given.arguments.get("format") or ("json" if given.json else "text")
    code = EXIT_OK if ok else EXIT_INVALID
    proof = _proof(content, texts, given.arguments) if ok and given.arguments.get("prove") else None
    if proof is not None and not proof.ok:
        code = EXIT_INVALID
    if notation == "sarif":
        return Result({"db": None}, json.dumps(_sarif(whole), indent=2), code, raw=True)
    if notation == "text":
        return Result({"db": None}, "\n".join([reports.to_text(whole).rstrip(), *_proved(proof)]), code, raw=True)
    answer: dict[str, Any] = reports.to_json(whole)
    # The envelope's own `warnings` are sentences; the report's is a number.
    answer = {**answer, "warnings": [], "errors": answer["errors"], "warning_count": answer["warnings"]}
    if proof is not None:
        answer |= {"ok": proof.ok, "proof": proof.answer()}
    if code == EXIT_OK:
        document = {"db": None, **answer}
        return Result(document, json.dumps(operations.success(document, None), indent=2))
    problem = _invalid(source, answer)
    if given.json:
        raise problem
    return Result({"db": None}, json.dumps(operations.failure(problem, None), indent=2), code, raw=True)


def _invalid(source: str, answer: dict[str, Any]) -> InvalidInput:
    details = {key: value for key, value in answer.items() if key != "warnings"}
    message = f"{source} has {layout.counted(answer['errors'], 'error')}."
    if not answer["errors"]:
        message = f"{source}: {layout.counted(len(answer['proof']['counterexamples']), 'counterexample')} found."
    return InvalidInput("WORKFLOW_INVALID", message, "Fix every listed problem and check again", **details)


def _proof(content: str, texts: dict[str, str], given: dict[str, Any]) -> Any:
    from orchestrator.app.prover import model_check

    seconds = given.get("seconds", model_check.DEFAULT_SECONDS)
    if seconds < 1:
        raise UsageError("USAGE", "--seconds must be a whole number of 1 or more.", "Repeat with --seconds 300")
    return model_check.prove(content, texts, seconds=float(seconds), thorough=bool(given.get("thorough")))


def _proved(proof: Any) -> list[str]:
    """What the search showed: its configurations, what was tried in them, and each counterexample as a batch."""
    if proof is None:
        return []
    rows = [
        (each.name, _reach(each), each.states, _how_far(each), f"{each.seconds:.1f} s") for each in proof.configurations
    ]
    lines = ["", *layout.table(("CONFIGURATION", "REACH", "STATES", "SEARCHED", "TIME"), rows), ""]
    for reach, roles in proof.tried.items():
        words = "; ".join(f"{role} {', '.join(statuses)}" for role, statuses in roles.items())
        lines.append(shapes.visible(f"{reach}: {words}"))
    lines.append("")
    for each in proof.counterexamples:
        how = "" if each.replayed else " (not reached with exact counters)"
        lines += [shapes.visible(f"{each.invariant}, {each.configuration}: {each.message}{how}")]
        lines += [f"  {line}" for line in each.lines]
    searched = layout.counted(proof.states, "state")
    if not proof.ok:
        return [*lines, f"Refuted: {layout.counted(len(proof.counterexamples), 'counterexample')} in {searched}."]
    cut = [each for each in proof.configurations if not each.complete]
    left = f"; {len(cut)} of {len(proof.configurations)} searches were cut short and prove no more" if cut else ""
    return [*lines, f"No problems found in {searched}{left}."]


def _reach(each: Any) -> str:
    """How much was tried."""
    return each.reach if each.blockers is None else f"{each.reach}, {layout.counted(each.blockers, 'blocker')} at once"


def _how_far(each: Any) -> str:
    """Whether a search came to its end, and how far it got otherwise."""
    if each.complete:
        return f"complete, {layout.counted(each.depth, 'move')} deep"
    return f"cut by {each.cut} at {layout.counted(each.whole, 'move')}, {layout.counted(each.open, 'state')} left"


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


_PLAIN = str.maketrans("└├─│", "`|-|")


def _graph(given: Given) -> Result:
    """The drawing; text where a person looks at a terminal and names no notation."""
    arguments = dict(given.arguments)
    if not given.json and screen.is_terminal(sys.stdout):
        arguments.setdefault("format", "text")
    found = invoke.operation("workflow graph", given._replace(arguments=arguments))
    drawn = str(found.answer["graph"])
    if arguments.get("format") == "text" and not _has_lines(sys.stdout):
        drawn = drawn.translate(_PLAIN)
    return found._replace(text=drawn)


def _has_lines(stream: Any) -> bool:
    """Whether a stream's encoding has the lines that boxes are drawn with."""
    try:
        "└├─│".encode(getattr(stream, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


_FILE = argument("file", "The transitions file.")
_OTHER_AGENTS = option(
    "agents", "A folder of agent files (default: those each session is pinned to).", metavar="FOLDER"
)

COMMANDS = {
    "workflow graph": of_operation(DrawWorkflow, handler=_graph),
    "workflow load": of_operation(LoadWorkflow, _FILE, _AGENTS, handler=_load),
    "workflow what-if": of_operation(AskWhatIf, _FILE, _OTHER_AGENTS, handler=_what_if),
    "workflow check": Command(
        "workflow check",
        "Check a workflow file and its agent files, and list every problem. Nothing is stored.",
        "orchestrator workflow check workflow/transitions.json --strict --format sarif",
        (
            _FILE,
            _AGENTS,
            flag("strict", "Treat differences between agent files and workflow as errors."),
            flag("prove", "Search everything that can happen in small sessions for a forbidden state."),
            option("seconds", "With --prove: time limit in seconds (default: 1800).", kind=INTEGER, metavar="N"),
            flag("thorough", "With --prove: search further; takes minutes to hours (set --seconds)."),
            option("format", "Output format.", choices=("text", "json", "sarif")),
        ),
        None,
        _check,
        line="Check a workflow file and list every problem.",
        answer=("shapes.WorkflowCheck",),
    ),
}
