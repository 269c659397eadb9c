"""`route`: what is accepted, what is refused with which code, and that a refusal moves nothing."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import OrchestratorError, Refused
from orchestrator.store.constants import STORE_CHAIN
from tests.integration.app.table import SESSION, Answer, Table, names

# Names


@pytest.mark.parametrize(
    "raw", ["blocked", "BLOCKED ", "BLOCKED\r\n", "\tBLOCKED", "BLOCKED\u00a0", " bLoCkEd\r"], ids=ascii
)
def test_r01_case_and_surrounding_whitespace_are_forgiven_and_the_raw_text_is_kept(raw: str) -> None:
    table = Table("A", plan=True)
    assert table.says("developer", raw, "A")["next_agent"] == "investigator"
    assert table.rows("SELECT raw_status, response_status FROM agent_reports WHERE role = 'developer'") == [
        (raw, "BLOCKED")
    ]


@pytest.mark.parametrize(
    "raw", ["**BLOCKED**", "BLOCKED.", "BLOCKED: need key", "BLO\u0421KED", "", "   "], ids=ascii
)
def test_r01_anything_else_is_another_name_and_refused(raw: str) -> None:
    table = Table("A", plan=True)
    refusal = table.refused("developer", raw, "A")
    assert (refusal.code, "BLOCKED" in refusal.data["valid_statuses"]) == ("UNKNOWN_STATUS", True)
    assert table.rows("SELECT role, status, code FROM refusals") == [("developer", raw, "UNKNOWN_STATUS")]
    assert table.awaited("A") == "developer"


@pytest.mark.parametrize(
    ("short", "role"),
    [
        ("pm", "project_manager"), ("tl", "tech_lead"), ("sse", "senior_software_engineer"), ("qa", "qa_expert"),
        ("dev", "developer"), ("re", "requirements_engineer"), (" Developer\r\n", "developer"),
    ],
)  # fmt: skip
def test_roles_have_short_names(short: str, role: str) -> None:
    table = Table("A", "B")
    status = {"project_manager": "PLANNING_COMPLETE", "qa_expert": "PASS", "tech_lead": "CHANGES_REQUESTED"}
    answer = table.says(short, status.get(role, "PARTIAL"), "A")
    assert answer["current_agent"] == role


@pytest.mark.parametrize(
    ("role", "code"),
    [
        pytest.param("wizard", "UNKNOWN_ROLE", id="no role"),
        pytest.param("", "UNKNOWN_ROLE", id="empty"),
        pytest.param("orchestrator", "UNKNOWN_ROLE", id="the orchestrator reports nothing"),
        pytest.param("user", "UNKNOWN_ROLE", id="a person reports nothing"),
        pytest.param("validator", "RESERVED_ROLE", id="the validator's verdicts are its own"),
        pytest.param("system:router", "RESERVED_ROLE", id="the router"),
    ],
)
def test_who_may_not_report(role: str, code: str) -> None:
    assert Table("A", plan=True).code(role, "ACCEPT", "A") == code


def test_a_verdict_may_be_previewed() -> None:
    table = Table("A", plan=True)
    before = table.state()
    answer = table.says("validator", "REJECT", dry_run=True)
    assert (answer["next_agent"], answer["dry_run"], table.state()) == ("project_manager", True, before)


def test_an_unknown_session_is_refused_and_recorded_in_the_chain_of_the_store() -> None:
    table = Table("A")
    refusal = table.refused("developer", "PARTIAL", "A", session="S9")
    assert (refusal.code, refusal.data) == ("UNKNOWN_SESSION", {"sessions": ["S1"]})
    assert table.rows("SELECT session_id, claimed_session, code FROM refusals") == [
        (STORE_CHAIN, "S9", "UNKNOWN_SESSION")
    ]


def test_r12_a_misspelt_group_is_refused_and_not_created() -> None:
    table = Table("AUTH", plan=True)
    refusal = table.refused("qa_expert", "FAIL", "AUHT")
    assert (refusal.code, refusal.data["did_you_mean"]) == ("UNKNOWN_GROUP", "AUTH")


def test_an_agent_that_nobody_registered_never_acts() -> None:
    table = Table("A", plan=True)
    assert table.code("qa_expert", "PASS", "A", agent_id="nobody") == "UNKNOWN_AGENT"
    assert table.code("developer", "PARTIAL", "A", agent_id="qa_expert") == "NOT_PERMITTED"


def test_an_inactive_agent_never_acts() -> None:
    table = Table("A", plan=True)
    table.do("agent register", id="dev-2", role="developer", parent="tech_lead", by="project_manager")
    table.do("agent deactivate", id="dev-2", by="project_manager", reason="left")
    assert table.code("developer", "PARTIAL", "A", agent_id="dev-2") == "UNKNOWN_AGENT"


def test_the_agent_that_reports_is_the_awaited_instance_unless_another_is_named() -> None:
    table = Table("A", "B", plan=True)
    table.says("developer", "PARTIAL", "A")
    table.says("developer", "PARTIAL", "B", agent_id="developer")
    assert table.rows("SELECT agent_id FROM agent_reports WHERE role = 'developer' ORDER BY seq") == [
        ("developer@S1:A",), ("developer",),
    ]  # fmt: skip


# Repeats


def test_a_request_id_is_answered_once_and_repeated_unchanged() -> None:
    table = Table("A", plan=True)
    first = table.says("developer", "READY_FOR_QA", "A", request_id="r1")
    before = table.state()
    again = table.says("developer", "READY_FOR_QA", "A", request_id="r1")
    assert ({**first, "repeated": True}, table.state()) == (again, before)


def test_a_request_id_with_other_input_is_refused() -> None:
    table = Table("A", "B", plan=True)
    table.says("developer", "READY_FOR_QA", "A", request_id="r1")
    refusal = table.refused("developer", "READY_FOR_QA", "B", request_id="r1")
    assert (refusal.code, refusal.data) == ("REQUEST_ID_REUSED", {})


def test_a_refused_request_may_be_tried_again_under_its_id() -> None:
    table = Table("A", plan=True)
    table.refused("qa_expert", "PASS", "A", request_id="r1")
    table.says("developer", "READY_FOR_QA", "A")
    assert table.says("qa_expert", "PASS", "A", request_id="r1")["repeated"] is False


def test_the_same_answer_to_the_same_turn_is_answered_as_before() -> None:
    table = Table("A", plan=True)
    turn = table.turn("A")
    first = table.says("developer", "READY_FOR_QA", "A", turn=turn)
    table.says("qa_expert", "PASS", "A")
    before = table.state()
    again = table.says("dev", " ready_for_qa", "A", turn=turn, summary="said otherwise")
    assert (again, table.state()) == ({**first, "repeated": True}, before)


def test_what_followed_is_repeated_too() -> None:
    table = Table("A", "B", plan=True, mode="simple")
    table.approve("A")
    turn = table.turn("A")
    first = table.says("developer", "MERGE_SUCCESS", "A", turn=turn)
    assert table.says("developer", "MERGE_SUCCESS", "A", turn=turn) == {**first, "repeated": True}


@pytest.mark.parametrize(
    ("role", "status", "group"),
    [
        pytest.param("developer", "PARTIAL", "A", id="another status"),
        pytest.param("qa_expert", "READY_FOR_QA", "A", id="another role"),
        pytest.param("developer", "READY_FOR_QA", "B", id="another group"),
    ],
)
def test_another_answer_to_an_answered_turn_is_stale(role: str, status: str, group: str) -> None:
    table = Table("A", "B", plan=True)
    turn = table.turn("A")
    table.says("developer", "READY_FOR_QA", "A", turn=turn)
    table.says("developer", "READY_FOR_QA", "B")
    assert table.code(role, status, group, turn=turn) == "STALE_TURN"


def test_an_assumed_turn_is_marked_and_makes_no_repeat() -> None:
    table = Table("A", plan=True)
    turn = table.turn("A")
    table.says("developer", "READY_FOR_QA", "A")
    assert table.rows("SELECT turn, turn_assumed FROM agent_reports WHERE role = 'developer'") == [(turn, 1)]
    assert table.code("developer", "READY_FOR_QA", "A", turn=turn) == "STALE_TURN"


def test_an_alias_repeats_what_it_stands_for() -> None:
    table = Table("A", plan=True)
    table.says("developer", "SPAWN_INVESTIGATOR", "A")
    turn = table.turn("A")
    first = table.says("investigator", "INVESTIGATION_INCOMPLETE", "A", turn=turn)
    assert table.says("investigator", "INCOMPLETE", "A", turn=turn) == {**first, "repeated": True}


def test_a_dry_run_decides_as_usual_and_writes_nothing() -> None:
    table = Table("A", plan=True)
    before = table.state()
    answer = table.says("developer", "READY_FOR_QA", "A", dry_run=True, request_id="r1")
    assert (answer["next_agent"], answer["dry_run"], table.state()) == ("qa_expert", True, before)
    assert table.says("developer", "READY_FOR_QA", "A", request_id="r1")["repeated"] is False


def test_a_refused_dry_run_leaves_no_refusal() -> None:
    table = Table("A", plan=True)
    with pytest.raises(Refused, match="waits for developer"):
        table.says("qa_expert", "PASS", "A", dry_run=True)
    assert table.count("refusals") == 0


# State


def test_an_ended_session_takes_no_reports() -> None:
    table = Table()
    table.says("project_manager", "INVESTIGATION_ONLY")
    assert table.code("project_manager", "CONTINUE") == "SESSION_CLOSED"


@pytest.mark.parametrize("status", ["completed", "deferred_external", "cancelled"])
def test_a_closed_group_takes_no_reports(status: str) -> None:
    table = Table("A", plan=True)
    {"completed": table.complete, "deferred_external": table.defer}.get(status, lambda g: table.move(g, status))("A")
    refusal = table.refused("developer", "PARTIAL", "A")
    assert (refusal.code, refusal.data) == ("GROUP_CLOSED", {"group_status": status})


METADATA: dict[str, Any] = {
    "status": "partial", "requires_user_review": True, "review_reason": "the figures look wrong", "errors": [],
}  # fmt: skip


def test_a_group_with_an_open_question_takes_no_report_of_anybody() -> None:
    table = Table("A", "B", plan=True)
    question = table.says("developer", "PARTIAL", "A", metadata=METADATA)["question_id"]
    for role, status in (("developer", "PARTIAL"), ("project_manager", "REWORK")):
        refusal = table.refused(role, status, "A", interrupt=True)
        assert (refusal.code, refusal.data) == ("QUESTION_OPEN", {"question_id": question})
    assert table.says("developer", "READY_FOR_QA", "B")["next_agent"] == "qa_expert"


def test_cancelling_closes_the_question_with_the_group() -> None:
    table = Table("A", plan=True)
    table.says("developer", "PARTIAL", "A", metadata=METADATA)
    table.move("A", "cancelled")
    assert table.rows("SELECT answer, closed_by FROM questions") == [("moot", "project_manager")]
    assert table.status("A") == "cancelled"


def test_the_flag_opens_a_question_in_the_same_step_and_frees_the_slot() -> None:
    table = Table("A", "B", plan=True, mode="simple")
    answer = table.says("developer", "PARTIAL", "A", metadata=METADATA)
    assert (answer["action"], answer["next_agent"], names(answer)) == ("pause_for_user", None, ["user_review"])
    assert table.rows("SELECT id, kind, text, group_id, opened_seq FROM questions") == [
        (answer["question_id"], "review", "the figures look wrong", "A", answer["seq"])
    ]
    assert (table.awaited("A"), table.running(), table.session()) == ("user", ["B"], ("active", None))


def test_a_hard_partial_without_the_flag_is_asked_about_all_the_same() -> None:
    table = Table("A", plan=True)
    hard = {"status": "partial", "errors": [{"type": "permission_denied", "message": "no", "recoverable": False}]}
    answer = table.says("developer", "PARTIAL", "A", metadata=hard)
    assert (answer["action"], names(answer)) == ("pause_for_user", ["user_review"])


def test_a_blocked_report_alone_asks_no_person() -> None:
    table = Table("A", plan=True)
    table.says("developer", "BLOCKED", "A")
    assert (table.count("questions"), table.awaited("A")) == (0, "investigator")


@pytest.mark.parametrize(
    ("metadata", "status", "code"),
    [
        pytest.param({"status": "partial", "requires_user_review": "yes"}, "PARTIAL", "METADATA_INVALID", id="flag"),
        pytest.param({"status": "implemented"}, "BLOCKED", "METADATA_MISMATCH", id="contradiction"),
    ],
)
def test_wrong_metadata_is_refused(metadata: dict[str, Any], status: str, code: str) -> None:
    assert Table("A", plan=True).code("developer", status, "A", metadata=metadata) == code


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
    partial = {"status": "partial", "requires_user_review": True, "review_reason": "may I?", "errors": []}
    answer = table.says("project_manager", "INVESTIGATION_NEEDED", metadata=partial)
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
