"""The scenarios of recovering blocked tasks, step by step, through the command line and the Python interface.

Source: seed 002, 統合テスト (UC003拡張).
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from orchestrator import Orchestrator, OrchestratorError

Call = Callable[..., dict[str, Any]]
WORKER, MANAGER = "developer", "tech_lead"


@contextmanager
def python(path: pathlib.Path, script: pathlib.Path) -> Iterator[Call]:
    """Calls of methods; a refusal is answered as the command line prints it."""

    def call(words: str, **given: Any) -> dict[str, Any]:
        method = getattr(o, words.replace(" ", "_").replace("-", "_"))
        try:
            answer: dict[str, Any] = method(**given)
        except OrchestratorError as problem:
            return {"success": False, "code": problem.code, **problem.data}
        return answer

    with Orchestrator.create(path) as o:
        yield call


@contextmanager
def command_line(path: pathlib.Path, script: pathlib.Path) -> Iterator[Call]:
    """Calls of the installed command."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}
    environment = kept | {"ORCHESTRATOR_DB": str(path)}

    def call(words: str, **given: Any) -> dict[str, Any]:
        places = [str(given.pop(name)) for name in ("id", "status") if name in given and words != "task create"]
        if words == "task create":
            places = [given.pop("id")]
        options: list[str] = []
        for name, value in given.items():
            for each in value if isinstance(value, tuple) else (value,):
                options += [f"--{name.replace('_', '-')}", str(each)]
        argv = [sys.executable, str(script), *words.split(), *places, *options, "--json"]
        done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False, timeout=60)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    call("init")
    yield call


@pytest.fixture(params=[pytest.param(python, id="python interface"), pytest.param(command_line, id="command line")])
def door(request: pytest.FixtureRequest, tmp_path: pathlib.Path, stand_in: pathlib.Path) -> Iterator[Call]:
    """A door to a database with a worker's task in progress, T, in session S1."""
    with request.param(tmp_path / "orchestrator.db", stand_in) as call:
        call("session create", id="S1", goal="UC003")
        call("group create", id="A", session_id="S1", name="files")
        call("task create", id="T", session_id="S1", group_id="A", title="Make a file", by=MANAGER, assignee=WORKER)
        move(call, "T", "in_progress")
        yield call


def subtask(call: Call, id: str, title: str, **more: Any) -> None:
    given = {"session_id": "S1", "parent": "T", "group_id": "A", "by": WORKER, "assignee": WORKER, **more}
    assert call("task create", id=id, title=title, **given)["success"]


def move(call: Call, id: str, status: str, by: str = WORKER, **more: Any) -> dict[str, Any]:
    return call("task set-status", id=id, status=status, session_id="S1", by=by, **more)


def next_action(call: Call, agent: str = WORKER) -> dict[str, Any]:
    return call("next", agent_id=agent, session_id="S1")


def test_scenario_a_order_by_dependencies(door: Call) -> None:
    # 1. the worker makes subtasks with a dependency
    subtask(door, "create", "Create the file")
    subtask(door, "check", "Check the file", depends_on=("create",))
    # 2. only "create" is offered
    answer = next_action(door)
    assert (answer["action"], answer["next_subtask"]["id"]) == ("start_subtask", "create")
    assert move(door, "check", "in_progress")["code"] == "DEPENDENCIES_OPEN"
    # 3. "create" is done
    assert move(door, "create", "in_progress")["success"]
    assert next_action(door)["current_subtask"]["id"] == "create"
    assert move(door, "create", "done")["success"]
    # 4. "check" is offered
    answer = next_action(door)
    assert (answer["action"], answer["next_subtask"]["id"]) == ("start_subtask", "check")
    # 5. "check" is done
    assert move(door, "check", "in_progress")["success"]
    assert move(door, "check", "done")["success"]
    # 6. all is done
    answer = next_action(door)
    assert (answer["action"], answer["progress"]["done"]) == ("report_completion", 2)
    assert move(door, "T", "done")["success"]
    assert next_action(door)["action"] == "no_work"


def test_scenario_b_back_from_ones_own_block(door: Call) -> None:
    # 1. the worker makes subtasks without a dependency
    subtask(door, "check", "Check the file", priority="high")
    subtask(door, "create", "Create the file")
    # 2. "check" is offered first
    assert next_action(door)["next_subtask"]["id"] == "check"
    assert move(door, "check", "in_progress")["success"]
    # 3. the worker finds that there is no file, and blocks it by its own judgement
    assert move(door, "check", "blocked", reason="no file yet")["success"]
    shown = door("task show", id="check", session_id="S1")["task"]
    assert (shown["status_changed_by_agent_id"], shown["blocked_reason"]) == (WORKER, "no file yet")
    # 4. "create" is offered and done
    assert next_action(door)["next_subtask"]["id"] == "create"
    assert move(door, "create", "in_progress")["success"]
    assert move(door, "create", "done")["success"]
    # 5. completion is refused; what to do instead is what next says
    refused = move(door, "T", "done")
    assert (refused["code"], refused["next"]["action"]) == ("COMPLETION_GATE", "unblock_and_continue")
    answer = next_action(door)
    assert answer["state"] == "has_self_blocked_subtask"
    assert answer["blocked_subtask"] == {"id": "check", "title": "Check the file", "blocked_reason": "no file yet"}
    # 6. the worker unblocks it and goes on
    assert move(door, "check", "in_progress")["success"]
    assert door("task show", id="check", session_id="S1")["task"]["blocked_reason"] is None
    assert next_action(door)["current_subtask"]["id"] == "check"
    # 7. all is done
    assert move(door, "check", "done")["success"]
    assert next_action(door)["action"] == "report_completion"
    assert move(door, "T", "done")["success"]


def test_a_managers_block_is_not_the_workers_to_lift(door: Call) -> None:
    subtask(door, "create", "Create the file")
    assert move(door, "create", "in_progress")["success"]
    assert move(door, "create", "blocked", by=MANAGER, reason="wait for the design")["success"]
    answer = next_action(door)
    assert (answer["action"], answer["state"]) == ("wait_for_unblock", "has_external_blocked_subtask")
    assert answer["blocked_subtasks"] == [{"id": "create", "title": "Create the file", "blocked_by": MANAGER}]
    assert move(door, "create", "in_progress")["code"] == "UNBLOCK_NOT_PERMITTED"
    assert move(door, "create", "in_progress", by=MANAGER)["success"]
    assert next_action(door)["action"] == "execute_subtask"


def test_a_claim_through_each_door(door: Call) -> None:
    door("task create", id="U", session_id="S1", title="Another", by=MANAGER)
    answer = door("task claim", agent_id="qa_expert", session_id="S1")
    token = answer["claim"]["token"]
    assert (answer["task"]["id"], answer["claim"]["holder"]) == ("U", "qa_expert")
    lost = door("task claim", id="U", agent_id="investigator", session_id="S1")
    assert (lost["code"], lost["holder"]) == ("CLAIM_LOST", "qa_expert")
    assert door("task heartbeat", id="U", session_id="S1", claim_token=token)["success"]
    assert door("task release", id="U", session_id="S1", claim_token=token)["task"]["status"] == "todo"
