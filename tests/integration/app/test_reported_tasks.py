"""The tasks of a group reach its agents, and a report may finish them."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator.core import handoff
from tests.integration.app.desk import Desk

WAY = "developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED"


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    found = Desk(tmp_path)
    found.session("S1", "A")
    for id_, more in (("T1", {"description": "two fields"}), ("T2", {}), ("T3", {"parent": "T1"})):
        found.call("task create", id=id_, session_id="S1", group_id="A", title=f"title of {id_}", **more)
    found.report("project_manager PLANNING_COMPLETE")
    return found


def status(desk: Desk, task: str) -> str:
    return str(desk.call("task show", id=task, session_id="S1")["task"]["status"])


def test_a_hand_off_names_the_open_tasks_and_how_they_are_finished(desk: Desk) -> None:
    given = desk.call("handoff", session_id="S1", group_id="A")
    assert [(each["id"], each["status"]) for each in given["handoff"]["tasks"]] == [
        ("T1", "todo"), ("T2", "todo"), ("T3", "todo"),
    ]  # fmt: skip
    markdown = given["markdown"]
    assert "## Open tasks of this group" in markdown
    assert '- T1 (todo): "title of T1"\n\n```\ntwo fields\n```' in markdown
    assert '"tasks_done": ["T1"]' in markdown
    commands = [line for line in markdown.splitlines() if line.startswith("orchestrator task set-status ID")]
    assert [line.split()[4] for line in commands] == ["in_progress", "done"]
    for words in (command.split() for command in commands):
        desk.call("task set-status", id="T3", status=words[4], session_id="S1", by=words[-1])
    assert status(desk, "T3") == "done"


def test_who_reports_by_a_message_is_told_of_no_command_for_its_tasks(desk: Desk) -> None:
    told = desk.call("handoff", session_id="S1", group_id="A")["handoff"]
    markdown = handoff.render({**told, "by_message": True})
    assert 'such as `"details": {"tasks_done": ["T1"]}`.\n' in markdown
    assert "orchestrator task" not in markdown


def test_a_group_without_open_tasks_is_told_of_none(desk: Desk) -> None:
    desk.report("developer READY_FOR_QA", "A", details={"tasks_done": ["T1", "T2", "T3"]})
    given = desk.call("handoff", session_id="S1", group_id="A")
    assert "tasks" not in given["handoff"]
    assert "Open tasks" not in given["markdown"]


def test_a_report_finishes_tasks_parts_before_their_whole(desk: Desk) -> None:
    answer = desk.report("developer READY_FOR_QA", "A", details={"tasks_done": ["T1", "T3"]})
    assert answer["tasks_done"] == ["T1", "T3"]
    assert [status(desk, task) for task in ("T1", "T2", "T3")] == ["done", "todo", "done"]
    again = desk.report("qa_expert PASS", "A", details={"tasks_done": ["T1"]})
    assert again["next_agent"] == "tech_lead"


def test_a_merge_that_finishes_the_last_task_completes_the_group(desk: Desk) -> None:
    desk.report(WAY, "A")
    desk.report("developer MERGE_SUCCESS", "A", details={"tasks_done": ["T1", "T2", "T3"]})
    assert desk.group("A")["status"] == "completed"
    answer = desk.call("audit replay", session_id="S1")
    assert (answer["equal"], answer["count"]) == (True, 0), answer


REFUSED: list[tuple[Any, str]] = [
    ("T1", "METADATA_INVALID"), ([1], "METADATA_INVALID"), (["NONE"], "UNKNOWN_TASK"),
    (["T2", "T1"], "COMPLETION_GATE"),
]  # fmt: skip


@pytest.mark.parametrize(("named", "code"), REFUSED, ids=str)
def test_what_cannot_be_finished_refuses_the_whole_report(desk: Desk, named: Any, code: str) -> None:
    given = {"session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "READY_FOR_QA"}
    assert desk.refused("route", **given, details={"tasks_done": named}).code == code
    assert desk.group("A")["awaited"]["role"] == "developer"
    assert status(desk, "T2") == "todo"


def test_the_manager_is_told_of_open_tasks_and_what_helps(desk: Desk) -> None:
    desk.call("task set-status", id="T2", status="in_progress", session_id="S1", by="developer")
    desk.report(f"{WAY},developer MERGE_SUCCESS", "A")
    given = desk.call("handoff", session_id="S1")["handoff"]
    (group,) = given["groups"]
    assert [(each["id"], each["status"]) for each in group["tasks"]] == [("T2", "in_progress"), ("T3", "todo")]
    steps = {step["what"]: step["command"] for step in given["next"]}
    at = "--session-id S1 --by project_manager"
    assert steps["say that task T2 is done"] == f"orchestrator task set-status T2 done {at}"
    assert steps["drop task T3 of A"] == f"orchestrator task set-status T3 cancelled {at} --reason TEXT"
    assert "send A back to its builder" in steps
    desk.call("task set-status", id="T2", status="done", session_id="S1", by="project_manager")
    for task in ("T3", "T1"):
        desk.call("task set-status", id=task, status="cancelled", session_id="S1", by="project_manager", reason="moot")
    assert desk.group("A")["status"] == "completed"
