"""The Python interface offers every operation, with the same parameters, answers and errors as the other doors."""

from __future__ import annotations

import ast
import concurrent.futures
import copy
import importlib
import inspect
import json
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
from typing import Any

import pytest

import orchestrator
from orchestrator import (
    EnvironmentProblem,
    InvalidInput,
    Orchestrator,
    OrchestratorError,
    Refused,
    UsageError,
    bootstrap,
)
from orchestrator.app.audit import audit_log
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.requests import REQUIRED
from orchestrator.core import canonical_json
from orchestrator.core.suggestions import suggest
from orchestrator.doors.python import methods
from tests.cases import every


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A database that the interface itself has made."""
    path = tmp_path_factory.mktemp("python") / "orchestrator.db"
    with Orchestrator.create(path) as o:
        o.session_create("S1", goal="one change")
        o.group_create("A", name="Login")
    return path


@every("words", [words for words, request in operations.every().items() if not request.is_writing])
def test_a_use_case_takes_what_its_operation_declares(words: str) -> None:
    request = operations.find(words)
    module, _, function = request.use_case.partition(":")
    taken = inspect.signature(getattr(importlib.import_module(f"orchestrator.app.{module}"), function)).parameters
    wanted = {name: each for name, each in taken.items() if name not in ("context", "at", "client")}
    together = asked_keys() if wanted.pop("asked", None) else {}
    declared = request.parameters()
    assert set(declared) == {*wanted, *together}
    for name, annotation in together.items():
        assert declared[name].annotation == annotation, name
    for name, each in wanted.items():
        assert declared[name].default in (each.default, REQUIRED if each.default is each.empty else ...), name
        assert declared[name].annotation == str(each.annotation), name


def asked_keys() -> dict[str, str]:
    """What every list of the record takes as `**asked`, with its types: of a class that only type checkers see."""
    tree = ast.parse(inspect.getsource(audit_log))
    (shape,) = (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == "Asked")
    fields = (each for each in shape.body if isinstance(each, ast.AnnAssign))
    return {ast.unparse(each.target): ast.unparse(each.annotation) for each in fields}


@every("words", operations.every())
def test_every_operation_is_a_method(words: str) -> None:
    method = getattr(Orchestrator, methods.name(words))
    assert set(inspect.signature(method).parameters) == {"self", *operations.find(words).parameters()}
    assert operations.find(words).help() in method.__doc__


def test_a_decision_is_the_same_as_the_command_lines(made: pathlib.Path, script: pathlib.Path) -> None:
    with Orchestrator.open(made) as o:
        given = {"current_agent": "developer", "status": "READY_FOR_QA", "group_id": "A", "dry_run": True}
        decision = o.route(**given)  # type: ignore[arg-type]
    words = ["route", "developer", "READY_FOR_QA", "-g", "A", "--dry-run", "--json"]
    environment = os.environ | {"ORCHESTRATOR_DB": str(made)}
    done = subprocess.run([sys.executable, str(script), *words], capture_output=True, check=True, env=environment)
    printed = json.loads(done.stdout)
    assert decision["handoff"] == decision["spawns"][0]["handoff"] == "o.handoff(group_id='A', turn=3, session_id='S1')"
    decision["handoff"] = decision["spawns"][0]["handoff"] = "orchestrator handoff A --turn 3 --session-id S1"
    assert decision == printed


def test_what_an_error_suggests_is_the_call_of_a_method(made: pathlib.Path) -> None:
    with Orchestrator.open(made) as o:
        with pytest.raises(Refused) as refused:
            o.group_show("Z")
        with pytest.raises(UsageError) as wrong:
            o.group_create("A/B")
        assert refused.value.suggestion == "o.group_list(session_id='S1')"
        assert [each["id"] for each in o.group_list(session_id="S1")["groups"]] == ["A"]
    assert wrong.value.suggestion.startswith("Use 1 to 128 of")


def test_errors_are_of_one_tree_with_the_same_codes(made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with Orchestrator.open(made) as o:
        with pytest.raises(Refused) as refused:
            o.session_create("S1")
        with pytest.raises(UsageError) as wrong:
            o.group_create("A/B")
        with pytest.raises(UsageError) as unfit:
            o.group_create("C", complexity="high")  # type: ignore[arg-type]
        with pytest.raises(UsageError) as infinite:
            o.route(current_agent="pm", status="PLANNING_COMPLETE", details={"n": float("nan")})
        with pytest.raises(UsageError) as broken:
            o.route(current_agent="pm", status="PLANNING_COMPLETE", summary="\ud800")
    with pytest.raises(EnvironmentProblem) as missing:
        Orchestrator.open(tmp_path / "nowhere.db")
    found = [each.value.code for each in (refused, wrong, unfit, infinite, broken, missing)]
    assert found == ["ALREADY_EXISTS", "INVALID_ID", "USAGE", "USAGE", "INVALID_TEXT", "NO_DATABASE"]
    assert all(isinstance(each.value, OrchestratorError) for each in (refused, wrong, missing))


@every("how", [copy.copy, copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])  # noqa: S301 - of its own making
def test_an_error_goes_to_another_process_whole(how: Any) -> None:
    for kind in (OrchestratorError, Refused, InvalidInput, UsageError, EnvironmentProblem):
        problem = kind("CODE", "What is wrong.", suggest("task show", id="T1"), sessions=["S1"], code_of=4)
        found = how(problem)
        assert (type(found), str(found), found.exit_code) == (kind, "What is wrong.", kind.exit_code)
        assert (found.code, found.suggestion, found.data) == (problem.code, problem.suggestion, problem.data)


def test_a_refusal_in_a_pool_of_processes_arrives(made: pathlib.Path) -> None:
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(Refused) as refused:
            pool.submit(refuse, made).result()
        assert (refused.value.code, pool.submit(len, "pool").result()) == ("ALREADY_EXISTS", 4)


def refuse(path: pathlib.Path) -> None:
    """What a worker of a pool does, so that it is refused."""
    with Orchestrator.open(path) as o:
        o.session_create("S1")


def test_misuse_is_an_error_of_the_product(made: pathlib.Path) -> None:
    o = Orchestrator.open(made)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        for call in (o.status, o.close):
            with pytest.raises(UsageError, match="belongs to the thread that opened it"):
                thread.submit(call).result()
    o.close()
    o.close()
    with pytest.raises(UsageError, match="is closed"):
        o.status()


def test_a_database_is_named_by_path_or_url(made: pathlib.Path) -> None:
    for name in (made, str(made), f"sqlite:///{made}"):
        with Orchestrator.open(name, read_only=True) as o:
            assert [session["id"] for session in o.session_list()["sessions"]] == ["S1"]
            assert o.path == str(made)
    with pytest.raises(EnvironmentProblem, match="files and PostgreSQL are supported"):
        Orchestrator.open("mysql://host/name")


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, orchestrator; print([name for name in sys.modules if name.startswith('orchestrator')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['orchestrator']"


def test_what_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = orchestrator.nothing_like_it


def test_a_drawing_shows_where_one_group_of_a_session_stands(tmp_path: pathlib.Path) -> None:
    with Orchestrator.create(tmp_path / "orchestrator.db") as o:
        o.session_create("S1", goal="two changes")
        for group in ("A", "B"):
            o.group_create(group, name=group, session_id="S1")
        o.route(current_agent="project_manager", status="PLANNING_COMPLETE", session_id="S1")
        o.route(current_agent="developer", status="READY_FOR_QA", group_id="B", session_id="S1")
        both = o.workflow_graph(session_id="S1")["positions"]
        each = [o.workflow_graph(session_id="S1", group_id=group)["positions"] for group in ("A", "B")]
        assert (both, each) == ({"developer": ["A"], "qa_expert": ["B"]}, [{"developer": ["A"]}, {"qa_expert": ["B"]}])
        with pytest.raises(Refused, match="no group 'none'") as unknown:
            o.workflow_graph(session_id="S1", group_id="none")
        with pytest.raises(UsageError, match="A group is one of a session"):
            o.workflow_graph(group_id="A")
    assert unknown.value.code == "UNKNOWN_GROUP"


def test_a_process_that_stays_writes_what_a_command_writes(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = []
    for name, quick in (("library.db", False), ("compiled.db", True)):
        monkeypatch.setattr(canonical_json, "quicken", lambda: None)
        writer = canonical_json.compiled() if quick else canonical_json.LIBRARY
        monkeypatch.setattr(canonical_json, "exact", writer.exact)
        monkeypatch.setattr(canonical_json, "line", writer.line)
        monkeypatch.setattr(bootstrap, "now", lambda: "2026-01-01T00:00:00.000000Z")
        with Orchestrator.create(tmp_path / name) as opened:
            opened.session_create("S1", goal='a "goal" of Größe 2⁶⁴')
            opened.group_create("A", name="one change")
            opened.route(current_agent="project_manager", status="PLANNING_COMPLETE", summary="go\n")
            opened.route(current_agent="developer", status="READY_FOR_QA", group_id="A", summary="é")
            heads.append(opened.audit_head(session_id="S1"))
    assert heads[0]["heads"] == heads[1]["heads"]
