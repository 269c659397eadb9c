"""A hand-off shows what an agent was told, and proves it by one hash."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator.core import handoff
from tests import forging
from tests.integration.app.desk import Desk

Answer = dict[str, Any]


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def tested(desk: Desk) -> Desk:
    """A group that awaits the tech lead's review."""
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA", "A", summary="built it", details={"dev_output": "all of it"})
    desk.report("qa_expert PASS", "A", summary="fine", details={"qa_report": {"passed": 3}})
    return desk


def test_it_has_all_that_the_agent_needs(tested: Desk) -> None:
    answer = tested.call("handoff", session_id="S1", group_id="A")
    full = answer["handoff"]
    assert (full["goal"], full["group"]["name"]) == ("goal of S1", "name of A")
    assert (full["role"], full["turn"]) == ("tech_lead", 5)
    assert full["role_text"].startswith("# Tech lead")
    assert {"name": "qa_report", "producer": "qa_expert@S1:A", "seq": 5, "value": {"passed": 3}} in full["context"]
    assert [report["summary"] for report in full["reports"]] == ["fine", "built it"]
    assert "APPROVED" in [each["status"] for each in full["statuses"]]
    assert full["report_command"] == tested.call("status", session_id="S1")["spawns"][0]["report_command"]


def test_what_nobody_gave_is_named(tested: Desk) -> None:
    full = tested.call("handoff", session_id="S1", group_id="A")["handoff"]
    given = {item["name"] for item in full["context"]}
    assert full["missing_context"] != []
    assert given & set(full["missing_context"]) == set()


def test_every_spawn_s_hash_is_in_its_decision(tested: Desk) -> None:
    decisions = tested.call("audit decisions", session_id="S1")["decisions"]
    spawns = [(each["id"], spawn) for each in decisions for spawn in each["spawns"]]
    found = [
        tested.call("handoff", session_id="S1", group_id=spawn["group_id"], turn=spawn["turn"]) for _, spawn in spawns
    ]
    assert [(each["decision_id"], each["hash"]) for each in found] == [
        (id_, spawn["handoff_hash"]) for id_, spawn in spawns
    ]
    assert [each["verified"] for each in found] == [True] * 4
    assert [each["open"] for each in found] == [False, False, False, True]


def test_a_document_that_was_changed_is_not_verified(tested: Desk) -> None:
    connection = tested.context.connection
    forging.disarm(connection)
    connection.execute("UPDATE router_decisions SET handoff = handoff || ' ' WHERE seq = 5")
    assert tested.call("handoff", session_id="S1", group_id="A")["verified"] is False


def test_merging_is_offered_only_to_who_is_sent_to_merge(tested: Desk) -> None:
    def offered() -> set[str]:
        full = tested.call("handoff", session_id="S1", group_id="A")["handoff"]
        return {each["status"] for each in full["statuses"]}

    tested.report("tech_lead CHANGES_REQUESTED", "A")
    before = offered()
    tested.report("developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED", "A")
    assert ("MERGE_SUCCESS" in before, "MERGE_SUCCESS" in offered()) == (False, True)


def test_open_blockers_are_handed_on(desk: Desk) -> None:
    desk.planned("S1", "A")
    desk.report("developer READY_FOR_QA,qa_expert BLOCKED", "A", summary="no env")
    full = desk.call("handoff", session_id="S1", group_id="A")
    assert [blocker["reason"] for blocker in full["handoff"]["blockers"]] == ["no env"]
    assert 'S1:B5 (hard unclassified): "no env"' in full["markdown"]


def test_the_project_manager_sees_every_group(desk: Desk) -> None:
    desk.session("S1", "A", "B")
    desk.report("project_manager PLANNING_COMPLETE")
    for group in ("A", "B"):
        steps = "developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED,developer MERGE_SUCCESS"
        desk.report(steps, group)
    full = desk.call("handoff", session_id="S1")["handoff"]
    told = {"status": "completed", "awaited_role": None, "cause": None, "unmet": []}
    assert full["groups"] == [{"id": id_, "name": f"name of {id_}", **told} for id_ in ("A", "B")]


def test_only_so_many_groups_are_named_and_the_rest_is_counted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handoff, "LISTED", 2)
    desk.session("S1", "A", "B", "C")
    desk.call("redispatch", session_id="S1", reason="the agent died")
    answer = desk.call("handoff", session_id="S1")
    assert [each["id"] for each in answer["handoff"]["groups"]] == ["A", "B"]
    assert answer["handoff"]["group_counts"] == {"pending": 3}
    assert "- the first 2 of 3; in all: 3 pending" in answer["markdown"]


class TestWhatIsToldIsWhatStoodThen:
    """Later steps change nothing of it, but that the turn is over."""

    def before_and_after(self, desk: Desk, group: str | None, later: str, of: str) -> tuple[Answer, Answer]:
        before = desk.call("handoff", session_id="S1", group_id=group)
        desk.report(later, of, summary="as it is")
        after = desk.call("handoff", session_id="S1", group_id=group, turn=before["handoff"]["turn"])
        assert (before["open"], after["open"]) == (True, False)
        return before["handoff"] | {"report_command": None}, after["handoff"]

    def test_a_group_and_its_blockers(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.report("developer READY_FOR_QA,qa_expert BLOCKED", "A", summary="no env")
        before, after = self.before_and_after(
            desk, "A", "tech_lead UNBLOCKING_GUIDANCE,qa_expert PASS,tech_lead APPROVED", "A"
        )
        assert (before["blockers"] != [], before) == (True, after)

    def test_a_mark_that_is_taken_away_later(self, desk: Desk) -> None:
        desk.planned("S1", "A")
        desk.report("developer READY_FOR_QA,qa_expert BLOCKED", "A", summary="no env")
        external = {"external": True, "external_dependency": "the hospital's IT"}
        desk.report("tech_lead UNBLOCKING_GUIDANCE", "A", details=external)
        before, after = self.before_and_after(desk, "A", "project_manager RESUME_BLOCKED", "A")
        assert [each["external_dependency"] for each in after["blockers"]] == ["the hospital's IT"]
        assert before == after

    def test_every_group_of_a_session(self, desk: Desk) -> None:
        desk.session("S1", "A", "B")
        desk.call("redispatch", session_id="S1", reason="the agent died")
        before = desk.call("handoff", session_id="S1")["handoff"]
        desk.report("project_manager PLANNING_COMPLETE")
        desk.report("developer READY_FOR_QA", "A")
        after = desk.call("handoff", session_id="S1", turn=before["turn"])["handoff"]
        assert [each["status"] for each in before["groups"]] == ["pending", "pending"]
        assert before | {"report_command": None} == after


def test_a_turn_that_is_over_asks_for_no_report(tested: Desk) -> None:
    old = tested.call("handoff", session_id="S1", group_id="A", turn=4)
    assert "\nTurn 4 is over; this is what the agent was told.\n" in old["markdown"]
    assert ("orchestrator route" in old["markdown"].split("## Your role")[0], old["open"]) == (False, False)


def test_an_open_turn_asks_for_its_report(tested: Desk) -> None:
    answer = tested.call("handoff", session_id="S1", group_id="A")
    assert answer["handoff"]["report_command"] in answer["markdown"]
    assert "is over" not in answer["markdown"].split("## Your role")[0]


@pytest.mark.parametrize(
    ("role", "status", "group", "action"),
    [
        pytest.param("project_manager", "PLANNING_COMPLETE", None, "spawn_batch", id="batch"),
        pytest.param("developer", "READY_FOR_QA", "A", "spawn", id="spawn"),
        pytest.param("qa_expert", "FAIL", "A", "respawn", id="respawn"),
        pytest.param("tech_lead", "APPROVED", "A", "spawn_merge", id="merge"),
        pytest.param("developer", "MERGE_SUCCESS", "A", "spawn", id="the project manager at the end"),
    ],
)
def test_every_agent_that_is_started_is_an_entry_of_spawns(
    desk: Desk, role: str, status: str, group: str | None, action: str
) -> None:
    desk.session("S1", "A")
    before = {
        "READY_FOR_QA": "project_manager PLANNING_COMPLETE",
        "FAIL": "project_manager PLANNING_COMPLETE,developer READY_FOR_QA",
        "APPROVED": "project_manager PLANNING_COMPLETE,developer READY_FOR_QA,qa_expert PASS",
        "MERGE_SUCCESS": "project_manager PLANNING_COMPLETE,developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED",
    }.get(status, "")
    for step in filter(None, before.split(",")):
        desk.report(step, None if step.startswith("project_manager") else "A")
    answer = desk.call("route", session_id="S1", current_agent=role, status=status, group_id=group)
    (spawn,) = answer["spawns"]
    given = desk.call("handoff", session_id="S1", group_id=spawn["group_id"], turn=spawn["turn"])
    assert set(spawn) == {"group_id", "agent", "agent_id", "model", "turn", "handoff", "handoff_hash"}
    assert (answer["action"], spawn["agent"]) == (action, answer["next_agent"])
    assert (spawn["agent_id"], spawn["handoff_hash"], spawn["model"]) == (
        given["handoff"]["agent_id"], given["hash"], given["model"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param({"group_id": "B"}, "UNKNOWN_GROUP", id="no such group"),
        pytest.param({"group_id": ""}, "UNKNOWN_GROUP", id="empty group"),
        pytest.param({"group_id": "A", "turn": 99}, "UNKNOWN_ID", id="no such turn"),
        pytest.param({"turn": 5}, "UNKNOWN_ID", id="a group's turn without the group"),
    ],
)
def test_what_is_unknown_is_refused(tested: Desk, arguments: dict[str, object], code: str) -> None:
    assert tested.refused("handoff", session_id="S1", **arguments).code == code


def test_a_group_that_never_started_has_none(desk: Desk) -> None:
    desk.session("S1", "A")
    assert desk.refused("handoff", session_id="S1", group_id="A").code == "UNKNOWN_ID"
