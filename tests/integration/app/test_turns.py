"""Whose turn it is: the awaited role, the first report of a group, and the project manager."""

from __future__ import annotations

import pytest

from tests.integration.app.table import REVIEW, SESSION, Table, names

# Turns


def test_out_of_turn_names_who_is_awaited() -> None:
    table = Table("A", plan=True)
    refusal = table.refused("qa_expert", "PASS", "A")
    expected = {"expected_agent": "developer", "expected_action": "spawn", "turn": table.turn("A")}
    assert (refusal.code, refusal.data) == ("OUT_OF_TURN", expected)


def test_the_late_answer_of_a_replaced_agent_moves_nothing() -> None:
    table = Table("A", plan=True)
    old = table.turn("A")
    table.do("redispatch", session_id=SESSION, group_id="A", reason="the agent died")
    refusal = table.refused("developer", "READY_FOR_QA", "A", turn=old)
    assert (refusal.code, refusal.data) == ("STALE_TURN", {"turn": table.turn("A")})


@pytest.mark.parametrize("status", ["MERGE_SUCCESS", "MERGE_CONFLICT", "MERGE_TEST_FAILURE"])
def test_nobody_merges_before_being_sent_to(status: str) -> None:
    refusal = Table("A", plan=True).refused("developer", status, "A")
    assert (refusal.code, refusal.data["expected_action"]) == ("OUT_OF_TURN", "spawn_merge")


@pytest.mark.parametrize("status", ["MERGE_CONFLICT", "MERGE_TEST_FAILURE", "MERGE_BLOCKED"])
def test_after_a_failed_merge_the_way_back_is_a_new_approval(status: str) -> None:
    table = Table("A", plan=True)
    table.approve("A")
    table.says("developer", status, "A")
    if status == "MERGE_BLOCKED":
        table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A")
    assert table.code("developer", "MERGE_SUCCESS", "A") == "OUT_OF_TURN"
    table.complete("A")
    expected = "in_progress" if status == "MERGE_BLOCKED" else "completed"
    assert table.status("A") == expected


@pytest.mark.parametrize(
    ("role", "status", "expected"),
    [
        pytest.param("developer", "READY_FOR_QA", "qa_expert", id="developer"),
        pytest.param("qa_expert", "PASS", "tech_lead", id="QA"),
        pytest.param("tech_lead", "APPROVED", "developer", id="tech lead"),
        pytest.param("investigator", "EXHAUSTED", "tech_lead", id="investigator"),
    ],
)
def test_any_role_may_give_the_first_report_of_a_group_that_nobody_started(
    role: str, status: str, expected: str
) -> None:
    table = Table("A")
    answer = table.says(role, status, "A")
    assert (table.status("A"), table.awaited("A"), answer["group_status"]) == ("in_progress", expected, "in_progress")


def test_a_merge_as_first_report_completes_nothing_and_goes_to_the_tech_lead() -> None:
    table = Table("A")
    answer = table.says("developer", "MERGE_SUCCESS", "A")
    assert (answer["next_agent"], names(answer), table.status("A")) == (
        "tech_lead", ["merge_without_approval"], "in_progress",
    )  # fmt: skip


def test_c02_a_group_cannot_start_before_what_it_depends_on() -> None:
    table = Table("G1")
    table.group("G2", depends_on=("G1",))
    refusal = table.refused("developer", "READY_FOR_QA", "G2")
    assert (refusal.code, refusal.data) == ("DEPENDENCIES_OPEN", {"open": ["G1"]})
    table.plan()
    assert table.running() == ["G1"]
    table.complete("G1")
    assert table.running() == ["G2"]


def test_c02_a_dependency_that_was_reopened_keeps_its_dependent_open() -> None:
    table = Table("G1")
    table.group("G2", depends_on=("G1",))
    table.plan()
    table.complete("G1")
    moved = table.move("G1", "in_progress")
    assert moved["dependents"] == [{"group_id": "G2", "status": "in_progress"}]
    answer = table.complete("G2")
    unmet = {part["part"]: part["reason"] for part in answer["path"] if not part["met"]}
    assert (table.status("G2"), unmet) == ("in_progress", {"unblocked": "it depends on group G1, which is not done"})
    table.complete("G1")
    assert (table.status("G1"), table.status("G2")) == ("completed", "completed")


# The project manager


def test_the_managers_report_answers_every_open_turn_of_theirs_and_says_which_groups_await_them_again() -> None:
    table = Table("A", "B", "C", plan=True)
    table.mark_external("A")
    table.mark_external("B")
    answer = table.says("project_manager", "CONTINUE")
    assert answer["awaiting_manager"] == ["A", "B"]
    assert [table.row(group, "awaited_role, awaited_action, turn") for group in "AB"] == [
        ("project_manager", "wait", answer["seq"])
    ] * 2
    assert table.blockers("external") == [(1,), (1,)]


def test_with_a_group_the_report_answers_that_groups_turn_only() -> None:
    table = Table("A", "B", "C", plan=True)
    table.mark_external("A")
    table.mark_external("B")
    before = table.row("B", "awaited_role, awaited_action, turn")
    answer = table.says("project_manager", "REWORK", "A")
    assert ("awaiting_manager" in answer, table.row("B", "awaited_role, awaited_action, turn")) == (False, before)
    assert table.awaited("A") == "developer"


def test_a_turn_of_another_group_is_no_answer_for_this_one() -> None:
    table = Table("A", "B", "C", plan=True)
    table.mark_external("A")
    table.mark_external("B")
    assert table.code("project_manager", "REWORK", "B", turn=table.turn("A")) == "STALE_TURN"
    table.says("project_manager", "REWORK", "B", turn=table.turn("B"))


def test_the_manager_is_never_out_of_turn() -> None:
    table = Table("A", plan=True)
    assert table.says("project_manager", "CONTINUE")["action"] == "wait"


def test_a_group_that_another_role_works_on_is_taken_away_on_purpose_only() -> None:
    table = Table("A", plan=True)
    turn = table.turn("A")
    assert table.code("project_manager", "ESCALATING_TO_TECH_LEAD", "A") == "OUT_OF_TURN"
    table.says("project_manager", "ESCALATING_TO_TECH_LEAD", "A", interrupt=True)
    assert table.awaited("A") == "tech_lead"
    assert table.code("developer", "READY_FOR_QA", "A", turn=turn) == "STALE_TURN"


def test_an_interrupted_group_that_is_sent_nowhere_awaits_the_manager() -> None:
    table = Table("A", "B", plan=True)
    answer = table.says("project_manager", "CONTINUE", "A", interrupt=True)
    assert (answer["awaiting_manager"], table.awaited("A")) == (["A"], "project_manager")


@pytest.mark.parametrize("status", ["REWORK", "DEFER_EXTERNAL", "RESUME_BLOCKED", "ESCALATING_TO_TECH_LEAD"])
def test_what_concerns_one_group_must_name_it(status: str) -> None:
    assert Table("A", plan=True).code("project_manager", status) == "UNKNOWN_GROUP"


def test_an_investigation_without_a_group_gets_a_research_group() -> None:
    table = Table("A", plan=True)
    answer = table.says("project_manager", "INVESTIGATION_NEEDED", summary="Why is it slow?")
    group = f"investigation-{answer['seq']}"
    assert (answer["group_id"], table.row(group, "kind, status, awaited_role, name")) == (
        group, ("research", "in_progress", "investigator", "Why is it slow?"),
    )  # fmt: skip


def test_an_investigation_that_a_person_must_look_at_asks_about_its_group() -> None:
    table = Table("A", plan=True)
    answer = table.says("project_manager", "INVESTIGATION_NEEDED", metadata=REVIEW)
    assert table.rows("SELECT group_id FROM questions") == [(answer["group_id"],)]
    assert (table.row(answer["group_id"], "awaited_role"), table.session("status")) == (("user",), ("active",))


def test_a_confirmation_makes_the_session_await_the_validator() -> None:
    table = Table("A", plan=True)
    table.complete("A")
    answer = table.says("project_manager", "BAZINGA")
    assert (answer["action"], answer["next_agent"], table.session()) == (
        "validate_then_end", None, ("active", "validator"),
    )  # fmt: skip


def test_a_clarification_pauses_the_session_and_awaits_the_person() -> None:
    table = Table("A", plan=True)
    answer = table.says("project_manager", "NEEDS_CLARIFICATION", summary="Which API?")
    assert (answer["action"], answer["next_agent"]) == ("pause_for_user", None)
    assert table.session() == ("paused", "user")
    assert table.rows("SELECT kind, text, group_id, asked_by FROM questions") == [
        ("clarification", "Which API?", None, "project_manager")
    ]


def test_the_fourth_clarification_without_an_answer_is_refused() -> None:
    table = Table("A")
    for _ in range(3):
        table.says("project_manager", "NEEDS_CLARIFICATION")
    assert table.code("project_manager", "NEEDS_CLARIFICATION") == "CLARIFICATION_LIMIT"


def test_research_alone_ends_a_session_and_cancels_what_is_pending() -> None:
    table = Table("A", "B")
    answer = table.says("project_manager", "INVESTIGATION_ONLY", summary="answered")
    assert (answer["cancelled"], table.status("A"), table.session("status, outcome")) == (
        ["A", "B"], "cancelled", ("ended", "investigation_only"),
    )  # fmt: skip
    assert table.rows("SELECT DISTINCT reason FROM status_changes WHERE to_status = 'cancelled'") == [("answered",)]


def test_research_does_not_end_a_session_whose_code_groups_are_in_progress() -> None:
    table = Table("A", "B", plan=True)
    refusal = table.refused("project_manager", "INVESTIGATION_ONLY")
    assert (refusal.code, refusal.data) == ("OPEN_GROUPS", {"open": ["A", "B"]})
