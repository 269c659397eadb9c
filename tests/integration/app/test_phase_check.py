"""After a merge, deferral or cancellation: what goes on, and that nobody is ever left waiting for nobody."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.app.table import REVIEW, SESSION, Table, names
from tests.integration.app.test_slots import slots, started


def kinds(answer: dict[str, Any]) -> dict[str, list[str]]:
    """The groups of each kind by name, without the kinds that are empty."""
    return {kind: [each["group_id"] for each in found] for kind, found in answer["groups"].items() if found}


def test_pending_groups_take_the_slot_that_a_merge_frees() -> None:
    table = slots(1, "A", "B")
    answer = table.complete("A")
    assert (answer["action"], answer["phase_check"], answer["next_agent"], started(answer)) == (
        "spawn_batch", "continue", "developer", ["B"],
    )  # fmt: skip
    assert (answer["completed"], answer["group_status"]) == (["A"], "completed")


def test_the_next_agent_of_a_phase_check_is_the_first_that_it_starts() -> None:
    table = slots(1, "A")
    table.group("B", complexity=9)
    assert table.complete("A")["next_agent"] == "senior_software_engineer"


def test_while_others_work_a_phase_check_waits() -> None:
    table = Table("A", "B", plan=True)
    answer = table.complete("A")
    assert (answer["action"], answer["phase_check"], answer["next_agent"]) == ("wait", "wait", None)
    assert answer["reason"] == "groups_running"


def test_while_a_person_is_awaited_a_phase_check_waits() -> None:
    table = Table("A", "B", plan=True)
    table.says("developer", "PARTIAL", "B", metadata=REVIEW)
    answer = table.complete("A")
    assert (answer["phase_check"], answer["reason"]) == ("wait", "person_awaited")


def test_approval_alone_checks_no_phase() -> None:
    assert "phase_check" not in Table("A", plan=True).approve("A")


def test_the_last_merge_completes_the_phase_and_calls_the_manager() -> None:
    table = Table("A", "B", "C", "D", plan=True)
    table.defer("A")
    table.move("B", "cancelled")
    table.confirmable("C")
    answer = table.complete("D")
    assert (answer["action"], answer["next_agent"], answer["phase_check"]) == ("spawn", "project_manager", "complete")
    assert kinds(answer) == {
        "deferred_external": ["A"], "cancelled": ["B"], "awaiting_confirmation": ["C"], "completed": ["D"],
    }  # fmt: skip
    assert table.session() == ("active", "project_manager")


def test_c03_a_phase_is_never_complete_by_the_absence_of_open_groups() -> None:
    table = Table("A", "B", "C", "E", plan=True)
    table.complete("A")
    table.defer("E")
    table.submit("C")
    table.says("tech_lead", "APPROVED", "C")
    table.says("developer", "READY_FOR_QA", "B")
    table.says("qa_expert", "FAIL", "B")
    answer = table.says("developer", "MERGE_SUCCESS", "C")
    assert (answer["completed"], answer["phase_check"]) == (["C"], "wait")
    table.group("D")
    table.block("D")
    table.says("tech_lead", "UNBLOCKING_GUIDANCE", "D", details={"external": True, "external_dependency": "IT"})
    last = table.complete("B")
    assert last["phase_check"] == "attention"
    assert kinds(last) == {"completed": ["A", "B", "C"], "deferred_external": ["E"], "in_progress": ["D"]}
    assert [(each["cause"], each["missing"]) for each in last["groups"]["in_progress"]] == [("blocked", "approved")]
    assert last["causes"] == ["blocked", "nothing_pending"]


@pytest.mark.parametrize("act", ["defer", "cancel"])
def test_deferral_and_cancellation_check_the_phase(act: str) -> None:
    table = slots(1, "A", "B", "C")
    if act == "cancel":
        answer = table.move("A", "cancelled")
        assert started({"followed_by": answer["followed_by"]}) == ["B"]
    else:
        table.mark_external("A")
        answer = table.says("project_manager", "DEFER_EXTERNAL", "A", summary="no environment")
        assert (answer["phase_check"], table.running()) == ("wait", ["B"])


def test_the_last_cancellation_calls_the_manager() -> None:
    table = Table("A", plan=True)
    (followed,) = table.move("A", "cancelled")["followed_by"]
    assert (followed["next_agent"], followed["phase_check"], names(followed)) == (
        "project_manager", "complete", ["phase_check"],
    )  # fmt: skip
    assert table.decisions()[-1] == ("system:router", "SET_STATUS", "project_manager", "spawn", "set_status")


# Stalled


def test_a_session_begins_with_the_manager() -> None:
    table = Table()
    decision = table.do("session show", id=SESSION)["session"]
    assert (decision["awaited_role"], table.decisions()) == (
        "project_manager", [("system:router", "SESSION", "project_manager", "spawn", "session")],
    )  # fmt: skip


def confirmation_needed(table: Table) -> dict[str, Any]:
    return table.confirmable("A")


def path_missing(table: Table) -> dict[str, Any]:
    table.says("tech_lead", "APPROVED", "A") if table.awaited("A") == "tech_lead" else None
    table.says("developer", "READY_FOR_QA", "A")
    table.says("qa_expert", "FAIL", "A")
    table.says("developer", "READY_FOR_REVIEW", "A")
    table.says("tech_lead", "APPROVED", "A")
    return table.says("developer", "MERGE_SUCCESS", "A")


def blocked(table: Table) -> dict[str, Any]:
    table.mark_external("A")
    return table.says("project_manager", "CONTINUE")


def waiting_on_deferred(table: Table) -> dict[str, Any]:
    table.group("B", depends_on=("A",))
    table.mark_external("A")
    return table.says("project_manager", "DEFER_EXTERNAL", "A", summary="no environment")


def waiting_on_cancelled(table: Table) -> dict[str, Any]:
    table.group("B", depends_on=("A",))
    (followed,) = table.move("A", "cancelled")["followed_by"]
    return dict(followed)


def nothing_pending(table: Table) -> dict[str, Any]:
    return table.complete("A")


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        pytest.param(confirmation_needed, ["confirmation_needed", "nothing_pending", "nothing_completed"],
                     id="confirmation_needed"),
        pytest.param(path_missing, ["path_missing", "nothing_pending", "nothing_completed"], id="path_missing"),
        pytest.param(blocked, ["blocked", "nothing_pending", "nothing_completed"], id="blocked"),
        pytest.param(waiting_on_deferred, ["waiting_on_deferred", "nothing_completed"], id="waiting_on_deferred"),
        pytest.param(waiting_on_cancelled, ["waiting_on_cancelled", "nothing_completed"], id="waiting_on_cancelled"),
        pytest.param(nothing_pending, ["nothing_pending"], id="nothing_pending"),
    ],
)  # fmt: skip
def test_where_nothing_goes_on_the_manager_is_called_with_the_causes(way: Any, expected: list[str]) -> None:
    table = Table("A", plan=True)
    answer = way(table)
    called = next(each for each in (answer, *answer.get("followed_by", ())) if "causes" in each)
    assert (called["next_agent"], called["action"], called["causes"]) == ("project_manager", "spawn", expected)
    assert table.session() == ("active", "project_manager")
    assert table.session("turn") == (called["turn"],)


def test_external_guidance_on_the_last_group_awaits_the_manager_for_it() -> None:
    table = Table("A", plan=True)
    table.mark_external("A")
    assert (table.row("A", "awaited_role, awaited_action"), table.session()) == (
        ("project_manager", "spawn"), ("active", None),
    )  # fmt: skip


def test_a_merged_group_that_is_not_complete_awaits_the_manager_and_the_decision_lists_the_parts() -> None:
    table = Table("A", "B", plan=True)
    answer = table.confirmable("A")
    assert table.row("A", "status, awaited_role, awaited_action") == ("in_progress", "project_manager", "wait")
    assert [(part["part"], part["met"]) for part in answer["path"]] == [
        ("approved", True), ("tested", True), ("merged", True), ("unblocked", True), ("reviewed", True),
        ("confirmed", False),
    ]  # fmt: skip


def test_what_awaits_its_confirmation_satisfies_who_depends_on_it() -> None:
    table = Table("A", plan=True)
    table.group("B", depends_on=("A",))
    answer = table.confirmable("A")
    assert (answer["phase_check"], started(answer)) == ("continue", ["B"])
    answer = table.complete("B")
    assert kinds(answer) == {"awaiting_confirmation": ["A"], "completed": ["B"]}
    assert (answer["phase_check"], table.says("project_manager", "BAZINGA")["completed"]) == ("complete", ["A"])


# Liveness, as the acceptance scenarios tell it


def test_two_once_blocked_groups_are_merged_one_after_the_other() -> None:
    table = Table("A", "B", plan=True)
    assert table.confirmable("A")["phase_check"] == "wait"
    answer = table.confirmable("B")
    assert (answer["phase_check"], answer["next_agent"]) == ("complete", "project_manager")
    assert table.says("project_manager", "BAZINGA")["completed"] == ["A", "B"]


def test_three_groups_share_two_slots() -> None:
    table = slots(2, "A", "B", "C")
    assert started(table.complete("A")) == ["C"]
    assert table.complete("B")["phase_check"] == "wait"
    assert table.complete("C")["phase_check"] == "complete"
    assert table.says("project_manager", "BAZINGA")["action"] == "validate_then_end"


def test_seed_004_s_own_positive_scenario() -> None:
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    blocked_ = table.says("qa_expert", "BLOCKED", "A")
    assert (blocked_["next_agent"], blocked_["action"], len(blocked_["blockers_opened"])) == ("tech_lead", "spawn", 1)
    approved = table.says("tech_lead", "APPROVED", "A")
    assert (approved["action"], approved["blockers_resolved"]) == ("spawn_merge", blocked_["blockers_opened"])
    assert table.blockers("resolution") == [("accepted",)]
    merged = table.says("developer", "MERGE_SUCCESS", "A")
    assert (merged["next_agent"], "completed" in merged, table.status("A")) == ("project_manager", False, "in_progress")
    confirmed = table.says("project_manager", "BAZINGA")
    assert (confirmed["completed"], confirmed["action"], table.status("A")) == (["A"], "validate_then_end", "completed")
    assert table.rows("SELECT count(*) FROM agent_reports") == table.rows(
        "SELECT count(*) FROM router_decisions WHERE report_id IS NOT NULL"
    )
