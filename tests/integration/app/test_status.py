"""`status` alone says whom a session awaits, and how it goes on."""

from __future__ import annotations

import pathlib
import shlex

import pytest

from tests.integration.app.desk import Desk


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


WAY_TO_THE_END = {
    ("project_manager", "spawn"): "PLANNING_COMPLETE",
    ("developer", "spawn"): "READY_FOR_QA",
    ("qa_expert", "spawn"): "PASS",
    ("tech_lead", "spawn"): "APPROVED",
    ("developer", "spawn_merge"): "MERGE_SUCCESS",
}


def follow(desk: Desk, command: str, status: str) -> None:
    """Carry out a report command of `status` as it stands there."""
    words = shlex.split(command)
    assert words[:2] == ["orchestrator", "route"]
    given = dict(zip(words[2::2], words[3::2], strict=True))
    desk.call(
        "route", session_id=given["--session-id"], group_id=given.get("--group-id"),
        current_agent=given["--current-agent"], turn=int(given["--turn"]), status=status,
    )  # fmt: skip


def test_an_agent_that_knows_nothing_else_brings_the_work_to_its_end(desk: Desk) -> None:
    desk.session("S1", "A", "B")
    desk.call("group create", id="C", session_id="S1", depends_on=("A",))
    steps = 0
    while desk.call("status", session_id="S1")["progress"]["by_status"].get("completed") != 3:
        spawn = desk.call("status", session_id="S1")["spawns"][0]
        follow(desk, spawn["report_command"], WAY_TO_THE_END[spawn["agent"], spawn["action"]])
        steps += 1
    assert steps == 1 + 3 * 4


def test_a_spawn_names_agent_model_turn_and_commands(desk: Desk) -> None:
    desk.planned("S1", "A")
    (spawn,) = desk.call("status", session_id="S1")["spawns"]
    assert spawn == {
        "group_id": "A",
        "agent": "developer",
        "agent_id": "developer@S1:A",
        "model": "sonnet",
        "action": "spawn",
        "turn": 3,
        "since": desk.clock(),
        "overdue": False,
        "report_command": "orchestrator route --session-id S1 --group-id A --current-agent developer --turn 3"
        " --status CODE --summary TEXT --details JSON",
        "handoff": "orchestrator handoff A --turn 3 --session-id S1",
    }


def test_a_new_session_awaits_the_project_manager(desk: Desk) -> None:
    desk.session("S1")
    answer = desk.call("status", session_id="S1")
    assert (answer["state"], answer["exit_code"], answer["awaited"]["role"]) == ("running", 0, "project_manager")
    assert [spawn["group_id"] for spawn in answer["spawns"]] == [None]
    assert answer["goal"] == "goal of S1"


def test_the_manager_called_after_a_merge_is_awaited_by_the_session(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED,developer MERGE_SUCCESS", "A")
    (spawn,) = desk.call("status", session_id="S1")["spawns"]
    assert (spawn["agent"], spawn["group_id"], spawn["model"]) == ("project_manager", None, "opus")


@pytest.mark.parametrize(
    ("minutes", "overdue"), [pytest.param(60, False, id="in time"), pytest.param(61, True, id="past the timeout")]
)
def test_a_turn_is_overdue_past_the_session_s_timeout(desk: Desk, minutes: int, overdue: bool) -> None:
    desk.planned("S1", "A")
    desk.clock.minutes += minutes
    answer = desk.call("status", session_id="S1")
    (spawn,), (group,) = answer["spawns"], answer["groups"]
    assert (spawn["overdue"], group["overdue"], "redispatch" in spawn) == (overdue, overdue, overdue)
    assert ("orchestrator redispatch A --session-id S1 --reason TEXT" in answer["next"]) == overdue


def test_a_question_awaits_a_person(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("project_manager NEEDS_CLARIFICATION", summary="which colour?")
    answer = desk.call("status", session_id="S1")
    (question,) = answer["questions"]
    assert (answer["state"], answer["exit_code"]) == ("person_awaited", 2)
    assert answer["next"][0] == "orchestrator inbox --session-id S1"
    assert [each["decision"] for each in question["answers"]] == ["continue"]


def test_a_paused_session_says_how_it_goes_on(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.call("session pause", id="S1", by="project_manager", reason="lunch")
    answer = desk.call("status", session_id="S1")
    assert (answer["state"], answer["exit_code"]) == ("paused", 0)
    assert "orchestrator session resume S1 --by project_manager --reason TEXT" in answer["next"]


def test_a_session_that_is_paused_by_a_question_goes_on_by_its_answer_alone(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("project_manager NEEDS_CLARIFICATION", summary="which colour?")
    status = desk.context.connection.execute("SELECT status FROM sessions WHERE id = 'S1'").fetchone()
    commands = desk.call("status", session_id="S1")["next"]
    assert (status, [each for each in commands if "resume" in each]) == (("paused",), [])


def test_an_ended_session_is_at_rest(desk: Desk) -> None:
    desk.session("S1", "A")
    desk.report("project_manager INVESTIGATION_ONLY", summary="nothing to build")
    answer = desk.call("status", session_id="S1")
    assert (answer["state"], answer["exit_code"], answer["next"]) == ("ended", 0, [])
    assert answer["session"]["outcome"] == "investigation_only"


def test_an_active_session_that_awaits_nobody_is_stalled(desk: Desk) -> None:
    desk.session("S1", "A")
    desk.context.connection.execute("UPDATE sessions SET awaited_role = NULL, turn = NULL")
    answer = desk.call("status", session_id="S1")
    assert (answer["state"], answer["stalled"], answer["exit_code"]) == ("stalled", True, 1)
    assert answer["next"] == ["orchestrator why A --session-id S1"]


def test_a_group_without_a_slot_is_held(desk: Desk) -> None:
    desk.planned("S1", "A", "B", "C", "D", "E")
    desk.report("project_manager REWORK", "A", interrupt=True)
    desk.report("developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED,developer MERGE_SUCCESS", "A")
    desk.call("group set-status", id="A", status="in_progress", session_id="S1", by="project_manager", reason="again")
    answer = desk.call("status", session_id="S1")
    assert answer["held"] == ["A"]
    assert [spawn["group_id"] for spawn in answer["spawns"] if spawn["agent"] == "developer"] == ["B", "C", "D", "E"]


def test_what_does_not_go_on_by_itself_has_its_causes(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA,qa_expert BLOCKED", "A")
    external = {"external": True, "external_dependency": "their server"}
    desk.report("tech_lead UNBLOCKING_GUIDANCE", "A", details=external)
    answer = desk.call("status", session_id="S1")
    assert answer["causes"] == ["blocked", "nothing_pending", "nothing_completed"]
    assert answer["groups"][0]["blockers"] == ["S1:B5"]


def test_a_brief_status_leaves_the_groups_out(desk: Desk) -> None:
    desk.planned("S1", "A")
    full, brief = desk.call("status", session_id="S1"), desk.call("status", session_id="S1", brief=True)
    assert full.keys() - brief.keys() == {"groups", "causes", "workflow"}
    assert brief == {name: full[name] for name in brief}


def test_without_a_session_every_open_one_is_listed(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.session("S2", "A")
    desk.report("project_manager INVESTIGATION_ONLY", session="S2", summary="answered")
    desk.planned("S3", "A")
    desk.report("project_manager NEEDS_CLARIFICATION", session="S3", summary="which colour?")
    answer = desk.call("status")
    assert [(each["session"]["id"], each["state"]) for each in answer["sessions"]] == [
        ("S1", "running"), ("S3", "person_awaited"),
    ]  # fmt: skip
    assert answer["exit_code"] == 2


def test_rework_is_counted(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA,qa_expert FAIL,developer READY_FOR_QA,qa_expert PASS", "A")
    desk.report("tech_lead CHANGES_REQUESTED", "A")
    assert desk.call("status", session_id="S1")["progress"] == {
        "groups": 1, "by_status": {"in_progress": 1}, "rework": 2,
    }  # fmt: skip
