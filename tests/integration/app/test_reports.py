"""`route`: names, repeats and the state of session and group; a refusal has its code and moves nothing."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import Refused
from orchestrator.store.constants import STORE_CHAIN
from tests.integration.app.table import REVIEW, Table, names

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
    if status == "completed":
        table.complete("A")
    elif status == "cancelled":
        table.move("A", status)
    else:
        table.defer("A")
    refusal = table.refused("developer", "PARTIAL", "A")
    assert (refusal.code, refusal.data) == ("GROUP_CLOSED", {"group_status": status})


def test_a_group_with_an_open_question_takes_no_report_of_anybody() -> None:
    table = Table("A", "B", plan=True)
    question = table.says("developer", "PARTIAL", "A", metadata=REVIEW)["question_id"]
    for role, status in (("developer", "PARTIAL"), ("project_manager", "REWORK")):
        refusal = table.refused(role, status, "A", interrupt=True)
        assert (refusal.code, refusal.data) == ("QUESTION_OPEN", {"question_id": question})
    assert table.says("developer", "READY_FOR_QA", "B")["next_agent"] == "qa_expert"


def test_cancelling_closes_the_question_with_the_group() -> None:
    table = Table("A", plan=True)
    table.says("developer", "PARTIAL", "A", metadata=REVIEW)
    table.move("A", "cancelled")
    assert table.rows("SELECT answer, closed_by FROM questions") == [("moot", "project_manager")]
    assert table.status("A") == "cancelled"


def test_the_flag_opens_a_question_in_the_same_step_and_frees_the_slot() -> None:
    table = Table("A", "B", plan=True, mode="simple")
    answer = table.says("developer", "PARTIAL", "A", metadata=REVIEW)
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
