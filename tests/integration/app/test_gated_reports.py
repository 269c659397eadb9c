"""`route --run-commands`: the gates that are due are run before a report by hand counts."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from orchestrator.app.verdict import finding_runs, gates
from orchestrator.errors import Refused
from orchestrator.runner import commands
from tests.cases import every
from tests.integration.app.desk import Desk

READY: dict[str, Any] = {
    "session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "READY_FOR_QA", "run_commands": True,
}  # fmt: skip


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    """A session on whose group a developer is awaited; its gate passes once the file `built` is there."""
    (tmp_path / ".orchestrator").mkdir()
    desk = Desk(tmp_path / ".orchestrator")
    desk.planned("S1", "A")
    desk.context.run = commands.run
    desk.call(
        "criterion add", id="C1", text="it is built", session_id="S1", command=("test", "-e", "built"),
        at_status=("READY_FOR_QA",), by="project_manager", reason="x",
    )  # fmt: skip
    return desk


def rows(desk: Desk, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in desk.context.connection.execute(sql).fetchall()]


def refused(desk: Desk, **more: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        desk.call("route", **READY | more)
    return caught.value


def test_a_report_counts_once_its_gates_pass(desk: Desk, tmp_path: pathlib.Path) -> None:
    problem = refused(desk)
    assert (problem.code, problem.data["gates"][0]["why"]) == ("GATE_FAILED", "exit 1")
    assert rows(desk, "SELECT code, role FROM refusals") == [("GATE_FAILED", "developer")]
    assert rows(desk, "SELECT kind, subject, outcome FROM evidence") == [("gate", "C1", "exit 1")]
    (tmp_path / "built").write_text("")
    assert desk.call("route", **READY)["next_agent"] == "qa_expert"
    assert rows(desk, "SELECT count(*) FROM evidence") == [(1,)]
    assert desk.call("audit replay", session_id="S1")["equal"] is True
    assert desk.call("audit verify")["findings"] == []


def test_after_three_times_it_is_routed_with_the_failure(desk: Desk) -> None:
    for _ in range(3):
        refused(desk)
    decision = desk.call("route", **READY, details={"own": 1})
    assert decision["next_agent"] == "qa_expert"
    ((details,),) = rows(desk, "SELECT details FROM agent_reports WHERE role = 'developer'")
    assert sorted(json.loads(details)) == ["gate_failures", "own"]
    (report,) = [each for each in desk.call("handoff", session_id="S1", group_id="A")["handoff"]["reports"]
                 if each["role"] == "developer"]
    assert [(each["criterion"], each["why"]) for each in report["gates"]] == [("C1", "exit 1")]
    told = " ".join(desk.call("why", id=f"S1:D{report['seq']}", session_id="S1")["sentences"])
    assert "What was seen of it: gate C1 failed: exit 1." in told
    checks = desk.call("validate", session_id="S1", dry_run=True)["checks"]
    assert [(each["level"], each["subject"], each["message"]) for each in checks if each["id"] == "V17"] == [
        ("warning", "A", "gate C1 did not pass when READY_FOR_QA was reported: exit 1")
    ]
    ((turn,),) = rows(desk, "SELECT turn FROM agent_reports WHERE role = 'developer'")
    assert list(finding_runs.turns(desk.context, session_id="S1").values()) == [turn]


def test_a_dry_run_tells_and_records_nothing(desk: Desk) -> None:
    assert refused(desk, dry_run=True).code == "GATE_FAILED"
    assert rows(desk, "SELECT count(*) FROM refusals") == [(0,)]


def test_nothing_is_run_for_a_report_that_answers_no_open_turn(desk: Desk) -> None:
    desk.context.run = lambda *_, **__: pytest.fail("a command was run")
    assert refused(desk, current_agent="qa_expert", status="PASS").code == "OUT_OF_TURN"
    assert refused(desk, turn=1).code == "STALE_TURN"


def test_a_report_that_was_answered_before_runs_nothing_again(desk: Desk, tmp_path: pathlib.Path) -> None:
    (tmp_path / "built").write_text("")
    first = desk.call("route", **READY, request_id="r1")
    (tmp_path / "built").unlink()
    again = desk.call("route", **READY, request_id="r1")
    assert (again["repeated"], again["decision_id"]) == (True, first["decision_id"])


def test_where_no_commands_are_run_the_report_says_so(desk: Desk) -> None:
    desk.context.run = None
    desk.call("route", **READY)
    ((details,),) = rows(desk, "SELECT details FROM agent_reports WHERE role = 'developer'")
    assert json.loads(details)["gates_not_run"][0]["why"] == "not run: this program runs no commands"


PLACES: list[Any] = [
    ({}, None, "tree"), ({}, "own", "own"), ({}, "missing", "project"),
    ({"isolation": "worktree"}, "own", "tree"), ({"isolation": "none"}, None, "project"),
]  # fmt: skip


@every(("start", "folder", "found"), PLACES)
def test_gates_run_where_the_agent_worked(
    desk: Desk, tmp_path: pathlib.Path, start: dict[str, Any], folder: str | None, found: str
) -> None:
    tree, own = tmp_path / ".orchestrator/worktrees/S1/A", tmp_path / "own"
    for each in (tree, own):
        each.mkdir(parents=True, exist_ok=True)
    (tree / ".git").write_text("gitdir: x")
    places = {str(tree): "tree", str(own): "own", str(tmp_path): "project"}
    given = None if folder is None else str(tmp_path / folder)
    assert places[gates.where(desk.context, {"session_id": "S1", "group_id": "A", **start}, given)] == found
