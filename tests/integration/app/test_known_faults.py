"""Faults that other tools of this kind are known for, by their number, where no other test has them."""

from __future__ import annotations

import pytest

from orchestrator.errors import Refused
from tests import forging
from tests.integration.app.table import Table, names


def test_a05_nothing_of_another_session_is_touched_or_told() -> None:
    table = Table("AUTH", plan=True)
    table.do("session create", id="S2")
    table.group("AUTH", session="S2")
    table.says("project_manager", "PLANNING_COMPLETE", session="S2", request_id="1")
    first = table.says("developer", "BLOCKED", "AUTH", request_id="1", summary="the secret of S1")
    before = table.rows("SELECT * FROM task_groups WHERE session_id = 'S1'")
    assert first["repeated"] is False
    refusal = table.refused("developer", "PARTIAL", "AUTH", session="S2", request_id="1")
    assert (refusal.code, refusal.data, "secret" in refusal.message) == ("REQUEST_ID_REUSED", {}, False)
    assert table.code("tech_lead", "UNBLOCKING_GUIDANCE", "AUTH", session="S2") == "OUT_OF_TURN"
    table.says("developer", "READY_FOR_REVIEW", "AUTH", session="S2")
    table.says("tech_lead", "APPROVED", "AUTH", session="S2")
    assert table.says("developer", "MERGE_SUCCESS", "AUTH", session="S2")["completed"] == ["AUTH"]
    assert table.rows("SELECT * FROM task_groups WHERE session_id = 'S1'") == before


def test_r08_guidance_returns_to_the_group_that_it_is_about() -> None:
    table = Table("A", "B", plan=True)
    assert table.code("tech_lead", "UNBLOCKING_GUIDANCE", "A") == "OUT_OF_TURN"
    table.says("developer", "READY_FOR_REVIEW", "A")
    assert table.code("tech_lead", "UNBLOCKING_GUIDANCE", "A") == "NOTHING_BLOCKED"
    table.says("tech_lead", "CHANGES_REQUESTED", "A")
    table.says("developer", "BLOCKED", "A")
    blocker = table.block("B")
    answer = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "B")
    assert (answer["next_agent"], answer["blockers_resolved"]) == ("qa_expert", [blocker])
    assert blocker in answer["rules"][0]["reason"]


def test_r08_a_group_that_is_blocked_twice_returns_to_the_newer_one_first() -> None:
    table = Table("A", plan=True)
    (older,) = table.says("developer", "BLOCKED", "A")["blockers_opened"]
    (newer,) = table.says("investigator", "BLOCKED", "A")["blockers_opened"]
    first = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A")
    assert (first["next_agent"], first["blockers_resolved"]) == ("investigator", [newer])
    table.says("investigator", "ROOT_CAUSE_FOUND", "A")
    second = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A")
    assert (second["next_agent"], second["blockers_resolved"]) == ("developer", [older])


def test_r05_a_roles_own_status_wins_over_an_alias() -> None:
    table = Table("A", plan=True)
    assert table.says("developer", "INCOMPLETE", "A")["next_agent"] == "developer"
    table.says("developer", "SPAWN_INVESTIGATOR", "A")
    answer = table.says("investigator", "INCOMPLETE", "A")
    assert (answer["next_agent"], answer["response_status"], names(answer)) == (
        "tech_lead", "INVESTIGATION_INCOMPLETE", ["alias"],
    )  # fmt: skip
    table.says("tech_lead", "ARCHITECTURAL_DECISION_MADE", "A")
    table.says("developer", "READY_FOR_QA", "A")
    assert table.code("qa_expert", "INCOMPLETE", "A") == "UNKNOWN_STATUS"


@pytest.mark.parametrize(
    "status",
    ["NOT APPROVED", "DISAPPROVED", "UNAPPROVED", "Verdict: BLOCKED - cannot be APPROVED until S4 has a value"],
)
def test_r02_no_text_that_merely_contains_the_word_approves(status: str) -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_REVIEW", "A", summary="regression against the previously approved draft")
    refusal = table.refused("tech_lead", status, "A")
    assert (refusal.code, refusal.data["did_you_mean"]) in (("UNKNOWN_STATUS", None), ("UNKNOWN_STATUS", "BLOCKED"))
    parts = {part["part"]: part for part in table.move_refused("A", "completed").data["path"]}
    assert parts["approved"]["met"] is False


def test_a08_refusals_are_recorded_with_actor_input_and_reason() -> None:
    table = Table("A", plan=True)
    table.refused("developer", "DONE", "A")
    table.move_refused("A", "completed", "orchestrator")
    assert table.rows("SELECT door, actor, group_id, role, status, code FROM refusals ORDER BY seq") == [
        ("python", "developer", "A", "developer", "DONE", "UNKNOWN_STATUS"),
        ("python", "orchestrator", "A", None, "completed", "COMPLETION_PATH_MISSING"),
    ]


@pytest.mark.parametrize("kept", ["audit_events", "router_decisions", "agent_reports"])
def test_a08_a_step_that_cannot_be_recorded_leaves_nothing(kept: str) -> None:
    table = Table("A", plan=True)
    before = table.state()
    with forging.refusing(table.context.connection, kept, "the disk is full"):
        with pytest.raises(Exception, match="the disk is full"):
            table.says("developer", "READY_FOR_QA", "A")
    assert table.state() == before
    assert table.says("developer", "READY_FOR_QA", "A")["next_agent"] == "qa_expert"


def test_a_request_id_belongs_to_one_session() -> None:
    table = Table("A", plan=True)
    table.do("session create", id="S2", request_id="1")
    table.says("developer", "PARTIAL", "A", request_id="1")
    with pytest.raises(Refused, match="used before"):
        table.says("project_manager", "CONTINUE", session="S2", request_id="1")
