"""The commands that agents call at every step start fast, because they load little.

Each is called through the installed command with `-X importtime`, which names every module that the process loads.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from tests import conftest

# The one list of what a hot verb may not load, each package with all that is below it.
FORBIDDEN = (
    "_hashlib",
    "alembic",
    "asyncio",
    "dataclasses",
    "email",
    "fastapi",
    "http",
    "hypothesis",
    "importlib.metadata",
    "logging",
    "mcp",
    "orjson",
    "pathlib",
    "pydantic",
    "rich",
    "sqlalchemy",
    "transitions",
    "typing",
    "uvicorn",
    "xml",
    "yaml",
)
# A verb that moves a status runs the status machine.
MOVES_A_STATUS = {"route", "task set-status"}
ALLOWED_WHERE_A_STATUS_MOVES = {"transitions"}
# What the machine's own library loads.
ALLOWED_WITH_TRANSITIONS = {"logging", "typing"}

SETUP = (
    ("init",),
    ("session", "create", "S1", "--goal", "one small change"),
    ("group", "create", "A", "--session-id", "S1", "--name", "A", "--by", "project_manager"),
    ("route", "--session-id", "S1", "--group-id", "A", "--current-agent", "developer", "--status", "READY_FOR_QA"),
    ("task", "create", "T", "--session-id", "S1", "--title", "one file", "--by", "tech_lead"),
)

HOT = {
    "route": ("route", "-s", "S1", "-g", "A", "--current-agent", "qa_expert", "--status", "PASS"),
    "route short form": ("route", "qa_expert", "PASS", "-s", "S1", "-g", "A"),
    "status": ("status", "S1"),
    "group show": ("group", "show", "A", "--session-id", "S1"),
    "task set-status": ("task", "set-status", "T", "in_progress", "-s", "S1", "--by", "tech_lead"),
    "next": ("next", "--agent-id", "developer", "--session-id", "S1"),
    "hook": ("hook",),
    "audit decisions": ("audit", "decisions", "--session-id", "S1"),
}


CLIENT = "c1"
EVENT = {
    "hook_event_name": "PreToolUse", "session_id": CLIENT, "tool_name": "Agent", "tool_use_id": "toolu_1",
    "tool_input": {"subagent_type": "qa_expert", "prompt": "test it", "description": "d"},
}  # fmt: skip
STDIN = {"hook": json.dumps(EVENT)}


@pytest.fixture(scope="module")
def used(script: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A database where one group has been routed once, to be copied."""
    path = tmp_path_factory.mktemp("used") / "orchestrator.db"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}
    for arguments in SETUP:
        argv = [sys.executable, str(script), *arguments, "--json"]
        environment = kept | {"ORCHESTRATOR_DB": str(path), "CLAUDE_CODE_SESSION_ID": CLIENT}
        done = subprocess.run(argv, env=environment, cwd=path.parent, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), (arguments, done.stdout, done.stderr)
    return path


@pytest.fixture
def used_database(command: conftest.Command, used: pathlib.Path, environment: dict[str, str]) -> conftest.Command:
    """The command, on the test's own copy of that database."""
    shutil.copy(used, environment["ORCHESTRATOR_DB"])
    return command


def loaded(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The modules that a process under `-X importtime` loaded."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip() for line in lines[1:]}


def forbidden(modules: set[str], verb: str) -> set[str]:
    """The modules that the verb may not load."""
    allowed: set[str] = set()
    if verb.removesuffix(" short form") in MOVES_A_STATUS:
        allowed = ALLOWED_WHERE_A_STATUS_MOVES | (ALLOWED_WITH_TRANSITIONS if "transitions" in modules else set())
    names = [name for name in FORBIDDEN if name not in allowed]
    return {module for module in modules if any(f"{module}.".startswith(f"{name}.") for name in names)}


@pytest.mark.parametrize("form", [pytest.param((), id="text"), pytest.param(("--json",), id="json")])
@pytest.mark.parametrize("verb", HOT)
def test_a_hot_verb_loads_only_what_it_needs(used_database: conftest.Command, verb: str, form: tuple[str, ...]) -> None:
    done = used_database(*HOT[verb], *form, python=("-X", "importtime"), stdin=STDIN.get(verb, ""))
    modules = loaded(done)
    assert done.returncode == 0, (done.stdout, done.stderr[-500:])
    assert "orchestrator.doors.cli.main" in modules
    assert "sqlite3" in modules
    assert forbidden(modules, verb) == set()


def test_a_hot_verb_answers(used_database: conftest.Command) -> None:
    answer = json.loads(used_database(*HOT["route"], "--json").stdout)
    assert (answer["success"], answer["next_agent"]) == (True, "tech_lead")


@pytest.mark.parametrize(
    ("verb", "modules", "found"),
    [
        pytest.param("status", {"sqlalchemy.orm", "json"}, {"sqlalchemy.orm"}, id="below a forbidden package"),
        pytest.param("status", {"richer"}, set(), id="a name that only begins alike"),
        pytest.param("status", {"transitions.core"}, {"transitions.core"}, id="a machine where nothing moves"),
        pytest.param("route", {"transitions", "transitions.core", "logging"}, set(), id="a machine that moves"),
        pytest.param("route", {"logging"}, {"logging"}, id="logging without the machine"),
    ],
)
def test_a_forbidden_module_is_found(verb: str, modules: set[str], found: set[str]) -> None:
    assert forbidden(modules, verb) == found
