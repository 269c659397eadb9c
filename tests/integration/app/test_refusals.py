"""Acknowledgements, the way on after an unknown status, refusals that climb, and reduced testing."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import OrchestratorError
from tests.integration.app.table import Answer, Table

# Acknowledgements


def test_only_the_manager_acknowledges() -> None:
    table = Table("A", plan=True)
    assert table.code("developer", "READY_FOR_QA", "A", acknowledge={"A": "fine"}) == "NOT_PERMITTED"


@pytest.mark.parametrize(
    ("acknowledge", "code"),
    [
        pytest.param({"X": "fine"}, "UNKNOWN_GROUP", id="unknown group"),
        pytest.param({"A": " "}, "REASON_REQUIRED", id="blank reason"),
        pytest.param({"A": 1}, "REASON_REQUIRED", id="no text"),
    ],
)
def test_an_acknowledgement_names_a_group_and_a_reason(acknowledge: dict[str, Any], code: str) -> None:
    assert Table("A", plan=True).code("project_manager", "CONTINUE", acknowledge=acknowledge) == code


def test_any_report_of_the_manager_that_acknowledges_a_group_confirms_it() -> None:
    table = Table("A", "B", plan=True)
    table.confirmable("A")
    answer = table.says("project_manager", "CONTINUE", acknowledge={"A": "seen"})
    assert (answer["completed"], table.status("A")) == (["A"], "completed")


def test_a_report_that_sends_its_group_to_work_again_does_not_confirm_it() -> None:
    table = Table("A", plan=True)
    table.confirmable("A")
    answer = table.says("project_manager", "ESCALATING_TO_TECH_LEAD", "A", acknowledge={"A": "seen"})
    assert (answer["next_agent"], table.status("A"), table.awaited("A")) == ("tech_lead", "in_progress", "tech_lead")


def test_a_confirmation_completes_every_group_that_only_waited_for_it() -> None:
    table = Table("A", "B", plan=True)
    table.confirmable("A")
    table.confirmable("B")
    answer = table.says("project_manager", "BAZINGA")
    assert (answer["completed"], table.session()) == (["A", "B"], ("active", "validator"))


# Refusals


def test_after_an_unknown_status_the_tech_lead_may_answer_the_open_turn() -> None:
    table = Table("A", plan=True)
    turn = table.turn("A")
    fallback = table.refused("developer", "DONE", "A").data["fallback_action"]
    assert (fallback["next_agent"], fallback["action"]) == ("tech_lead", "spawn")
    table.says("tech_lead", "CHANGES_REQUESTED", "A")
    assert table.rows("SELECT turn, turn_assumed FROM agent_reports WHERE role = 'tech_lead'") == [(turn, 1)]


def test_the_fallback_ends_with_the_next_refusal() -> None:
    table = Table("A", plan=True)
    table.refused("developer", "DONE", "A")
    table.refused("qa_expert", "PASS", "A")
    assert table.code("tech_lead", "CHANGES_REQUESTED", "A") == "OUT_OF_TURN"


def refuse_six_times(table: Table, role: str, group: str | None, status: str = "NONSENSE", **more: Any) -> list[Answer]:
    """Six refusals of one open turn; what followed the last one."""
    for _ in range(5):
        table.refused(role, status, group, **more)
    with pytest.raises(OrchestratorError) as caught:
        table.says(role, status, group, **more)
    found: list[Answer] = caught.value.data["followed_by"]
    return found


@pytest.mark.parametrize(
    ("more", "status"),
    [
        pytest.param({}, "NONSENSE", id="unknown status"),
        pytest.param({}, "MERGE_SUCCESS", id="merge out of turn"),
        pytest.param({"metadata": {"status": "implemented"}}, "BLOCKED", id="contradicting metadata"),
        pytest.param({"metadata": {"status": 7}}, "PARTIAL", id="invalid metadata"),
        pytest.param({"acknowledge": {"A": "x"}}, "PARTIAL", id="acknowledgement of a developer"),
        pytest.param({"testing_mode": "disabled"}, "PARTIAL", id="testing mode"),
    ],
)
def test_six_refusals_of_one_turn_call_the_next_rung(more: dict[str, Any], status: str) -> None:
    table = Table("A", plan=True)
    (followed,) = refuse_six_times(table, "developer", "A", status, **more)
    assert (followed["next_agent"], followed["action"], table.awaited("A")) == ("tech_lead", "spawn", "tech_lead")
    assert table.decisions("cause, report_id")[-1] == ("refusal", None)


def test_the_rungs_after_the_tech_lead_are_the_manager_and_a_person() -> None:
    table = Table("A", plan=True)
    refuse_six_times(table, "developer", "A")
    (second,) = refuse_six_times(table, "tech_lead", "A")
    assert (second["next_agent"], table.awaited("A")) == ("project_manager", "project_manager")
    (third,) = refuse_six_times(table, "project_manager", "A")
    assert (third["action"], table.awaited("A"), table.count("questions")) == ("pause_for_user", "user", 1)


def test_refusals_of_others_and_of_older_turns_do_not_count() -> None:
    table = Table("A", plan=True)
    for _ in range(7):
        table.refused("qa_expert", "PASS", "A")
        table.refused("developer", "PARTIAL", "A", turn=1)
    assert table.awaited("A") == "developer"


def test_six_refusals_of_the_manager_ask_a_person() -> None:
    table = Table("A")
    (followed,) = refuse_six_times(table, "project_manager", None)
    assert (followed["action"], table.session()) == ("pause_for_user", ("paused", "user"))
    assert table.rows("SELECT kind, group_id FROM questions") == [("budget", None)]


def test_a_testing_mode_is_repeated_or_tightened_only() -> None:
    table = Table("A", plan=True, testing_mode="minimal")
    refusal = table.refused("developer", "READY_FOR_QA", "A", testing_mode="disabled")
    assert (refusal.code, refusal.data) == ("TESTING_MODE_MISMATCH", {"testing_mode": "minimal"})
    assert table.says("developer", "READY_FOR_QA", "A", testing_mode="full")["next_agent"] == "qa_expert"


def test_in_reduced_testing_the_session_s_mode_rules() -> None:
    table = Table("A", plan=True, testing_mode="minimal")
    answer = table.says("developer", "READY_FOR_QA", "A")
    assert (answer["next_agent"], answer["skip_reason"]) == ("tech_lead", "QA skipped (testing_mode=minimal)")
