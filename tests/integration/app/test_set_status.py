"""Moving groups by hand: every move, every actor, and what a move does to the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.cases import every
from tests.integration.app.table import SESSION, Table, names
from tests.integration.app.test_slots import slots

STATUSES = ("pending", "in_progress", "completed", "deferred_external", "cancelled")
ACTORS = ("project_manager", "orchestrator", "tech_lead", "developer", "qa_expert", "user", "system:router")


def pending() -> Table:
    table = Table()
    table.group("A")
    return table


def in_progress() -> Table:
    """Blocked from outside, as the tech lead said, so that it may be deferred."""
    table = Table("A", "B", plan=True)
    table.mark_external("A")
    return table


def completed() -> Table:
    table = Table("A", "B", plan=True)
    table.complete("A")
    return table


def deferred() -> Table:
    table = Table("A", "B", plan=True)
    table.defer("A")
    return table


def cancelled() -> Table:
    table = Table("A", "B", plan=True)
    table.move("A", "cancelled")
    return table


MADE: dict[str, Callable[[], Table]] = {
    "pending": pending, "in_progress": in_progress, "completed": completed, "deferred_external": deferred,
    "cancelled": cancelled,
}  # fmt: skip
LEGAL = {
    ("pending", "in_progress"): (),
    ("in_progress", "completed"): ("project_manager",),
    ("in_progress", "deferred_external"): ("project_manager",),
    ("deferred_external", "in_progress"): ("project_manager",),
    ("pending", "cancelled"): ("project_manager",),
    ("in_progress", "cancelled"): ("project_manager",),
    ("deferred_external", "cancelled"): ("project_manager",),
    ("completed", "in_progress"): ("project_manager",),
}


def expected(from_: str, to: str, actor: str) -> str | None:
    """The code that the move is refused with; None where it is made."""
    if to == "completed" and from_ != "completed":
        return "COMPLETION_PATH_MISSING"
    if (from_, to) not in LEGAL:
        return "ILLEGAL_MOVE"
    if actor == "user":
        return "HUMAN_REQUIRED"
    return None if actor in LEGAL[from_, to] else "NOT_PERMITTED"


@every(
    ("from_", "to", "actor"),
    [
        pytest.param(from_, to, actor, id=f"{from_} to {to} by {actor}")
        for from_ in STATUSES
        for to in STATUSES
        for actor in ACTORS
    ],
)
def test_every_move_by_every_actor(from_: str, to: str, actor: str) -> None:
    table = MADE[from_]()
    code = expected(from_, to, actor)
    if code is not None:
        assert (table.move_refused("A", to, actor).code, table.status("A")) == (code, from_)
        return
    table.move("A", to, actor)
    assert table.row("A", "status, status_changed_by") == (to, actor)
    assert table.rows("SELECT from_status, to_status, changed_by, reason, cause FROM status_changes"
                      " WHERE entity = 'group' AND entity_id = 'A' ORDER BY seq DESC LIMIT 1") == [
        (from_, to, actor, "a reason", "set_status")
    ]  # fmt: skip


# The order of the checks


@pytest.mark.parametrize(
    ("group", "to", "by", "reason", "code"),
    [
        pytest.param("X", "nonsense", "nobody", "", "UNKNOWN_GROUP", id="the group"),
        pytest.param("A", "nonsense", None, "", "ACTOR_REQUIRED", id="an actor"),
        pytest.param("A", "nonsense", "nobody", "", "UNKNOWN_AGENT", id="a known one"),
        pytest.param("A", "nonsense", "developer", "", "UNKNOWN_STATUS", id="the status"),
        pytest.param("A", "completed", "developer", "", "COMPLETION_PATH_MISSING", id="completion before the actor"),
        pytest.param("A", "pending", "developer", "", "ILLEGAL_MOVE", id="the move"),
        pytest.param("A", "cancelled", "developer", "", "NOT_PERMITTED", id="the actor"),
        pytest.param("A", "deferred_external", "project_manager", " ", "REASON_REQUIRED", id="the reason"),
        pytest.param("A", "deferred_external", "project_manager", "r", "DEFERRAL_NOT_CONFIRMED", id="the guard"),
    ],
)
def test_the_first_thing_that_is_wrong_is_named(group: str, to: str, by: str | None, reason: str, code: str) -> None:
    table = Table("A", plan=True)
    assert table.move_refused(group, to, by, reason).code == code


def test_an_unknown_status_names_the_nearest() -> None:
    refusal = Table("A").move_refused("A", "canceled")
    assert (refusal.data["did_you_mean"], refusal.data["valid_statuses"]) == ("cancelled", list(STATUSES))


def test_blocked_is_no_status() -> None:
    assert Table("A").move_refused("A", "blocked").code == "UNKNOWN_STATUS"


def test_an_illegal_move_names_the_legal_ones() -> None:
    assert Table("A").move_refused("A", "deferred_external").data == {"allowed": ["in_progress", "cancelled"]}


# Completion


@pytest.mark.parametrize("actor", ["orchestrator", "developer", "qa_expert", "tech_lead", "project_manager"])
def test_blocked_work_is_completed_by_nobody(actor: str) -> None:
    table = Table("A", plan=True)
    table.block("A")
    refusal = table.move_refused("A", "completed", actor)
    assert refusal.code == "COMPLETION_PATH_MISSING"
    required = "tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group"
    assert refusal.data["required"] == required
    assert {part["part"] for part in refusal.data["path"] if not part["met"]} >= {"approved", "merged", "unblocked"}


def test_the_manager_completes_what_their_confirmation_acknowledges() -> None:
    table = Table("A", "B", plan=True)
    table.mark_external("A")
    table.says("project_manager", "RESUME_BLOCKED", "A", summary="it is there")
    table.says("project_manager", "BAZINGA", acknowledge={"A": "good enough"})
    assert table.move_refused("A", "completed", "tech_lead").code == "NOT_PERMITTED"
    table.move("A", "completed")
    assert table.row("A", "status, status_changed_by, awaited_role") == ("completed", "project_manager", None)


def test_c01_the_database_refuses_it_past_every_door() -> None:
    table = Table("A", plan=True)
    before = table.state()
    with pytest.raises(Exception, match="approved"):
        table.context.connection.execute("UPDATE task_groups SET status = 'completed' WHERE id = 'A'")
    assert table.state() == before


# Deferral


def test_a_deferral_keeps_reason_dependency_and_who() -> None:
    table = in_progress()
    answer = table.move("A", "deferred_external", reason="not before June")
    assert table.rows("SELECT group_id, reason, dependency, confirmed_by, deferred_by FROM deferrals") == [
        ("A", "not before June", "the hospital's IT", "tech_lead@S1:A", "project_manager")
    ]
    assert table.blockers("external, resolution") == [(1, None)]
    assert (answer["group"]["status"], table.awaited("A")) == ("deferred_external", None)


@pytest.mark.parametrize(
    ("act", "code"),
    [
        pytest.param(lambda t: t.refused("tech_lead", "UNBLOCKING_GUIDANCE", "A", details={
            "external": True, "external_dependency": ""}), "DEFERRAL_INCOMPLETE", id="empty dependency"),
        pytest.param(lambda t: t.refused("tech_lead", "UNBLOCKING_GUIDANCE", "A", details={
            "external": True, "external_dependency": "   "}), "DEFERRAL_INCOMPLETE", id="blank dependency"),
        pytest.param(lambda t: t.refused("project_manager", "DEFER_EXTERNAL", "A", summary="s", interrupt=True),
                     "DEFERRAL_NOT_CONFIRMED", id="by the manager before guidance"),
        pytest.param(lambda t: t.move_refused("A", "deferred_external"), "DEFERRAL_NOT_CONFIRMED",
                     id="by hand before guidance"),
        pytest.param(lambda t: t.refused("qa_expert", "DEFER_EXTERNAL", "A"), "OUT_OF_TURN", id="reported by QA"),
        pytest.param(lambda t: t.move_refused("A", "deferred_external", "qa_expert"), "NOT_PERMITTED", id="QA by hand"),
        pytest.param(lambda t: t.move_refused("A", "deferred_external", "tech_lead"), "NOT_PERMITTED",
                     id="the tech lead by hand"),
    ],
)  # fmt: skip
def test_c08_nothing_is_deferred_without_the_tech_leads_external_guidance(act: Any, code: str) -> None:
    table = Table("A", plan=True)
    table.block("A")
    assert (act(table).code, table.status("A")) == (code, "in_progress")


def test_c08_the_word_external_in_a_text_counts_for_nothing() -> None:
    table = Table("A", plan=True)
    table.block("A")
    answer = table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", summary="external tests of OUR module fail", details={
        "guidance": "external tests of OUR module fail"})  # fmt: skip
    assert (answer["next_agent"], table.blockers("external, resolution")) == ("qa_expert", [(0, "guidance")])
    assert table.code("project_manager", "DEFER_EXTERNAL", "A", summary="s", interrupt=True) == "DEFERRAL_NOT_CONFIRMED"


def test_c08_the_proper_way_defers_and_shows_as_deferred() -> None:
    table = Table("A", "B", plan=True)
    table.defer("A")
    shown = table.do("status", session_id=SESSION)
    assert [(group["id"], group["status"]) for group in shown["groups"]] == [
        ("A", "deferred_external"), ("B", "in_progress"),
    ]  # fmt: skip
    answer = table.complete("B")
    assert [each["group_id"] for each in answer["groups"]["completed"]] == ["B"]
    assert [each["group_id"] for each in answer["groups"]["deferred_external"]] == ["A"]


def test_the_external_mark_goes_when_another_role_is_awaited() -> None:
    table = in_progress()
    table.says("project_manager", "REWORK", "A")
    assert table.blockers("external, external_dependency, resolution") == [(0, None, None)]
    assert table.code("project_manager", "DEFER_EXTERNAL", "A", summary="s", interrupt=True) == "DEFERRAL_NOT_CONFIRMED"


# Coming back


@pytest.mark.parametrize("way", ["report", "by hand"])
def test_a_deferred_group_comes_back_to_whoever_was_blocked(way: str) -> None:
    table = deferred()
    if way == "report":
        decision = table.says("project_manager", "RESUME_BLOCKED", "A", summary="it is there")
    else:
        (decision,) = table.move("A", "in_progress")["followed_by"]
    assert (decision["next_agent"], decision["agent_id"]) == ("qa_expert", "qa_expert@S1:A")
    assert table.blockers("external, resolution") == [(1, "resumed")]
    assert table.row("A", "status, awaited_role") == ("in_progress", "qa_expert")


def test_a_completed_group_that_is_reopened_goes_to_its_last_builder_and_loses_its_approval() -> None:
    table = completed()
    (decision,) = table.move("A", "in_progress", reason="a fault in production")["followed_by"]
    assert (decision["next_agent"], decision["action"], names(decision)) == ("developer", "respawn", ["set_status"])
    assert table.rows("SELECT cause FROM router_decisions ORDER BY seq DESC LIMIT 1") == [("set_status",)]
    parts = {part["part"]: part["met"] for part in table.move_refused("A", "completed").data["path"]}
    assert (parts["approved"], parts["merged"]) == (False, False)
    assert table.complete("A")["completed"] == ["A"]


def test_dependents_are_named_when_a_group_is_reopened_or_cancelled() -> None:
    table = Table("A", plan=True)
    table.group("B", depends_on=("A",))
    table.group("C", depends_on=("B",))
    assert table.move("A", "cancelled")["dependents"] == [{"group_id": "B", "status": "pending"}]


def test_a_group_that_returns_by_hand_is_constrained_like_any_other() -> None:
    """A developer's blocker was deferred after the senior engineer had taken the group over."""
    table = Table("A", "B", plan=True)
    table.says("developer", "BLOCKED", "A")
    table.says("investigator", "NEED_DEVELOPER_DIAGNOSTIC", "A")
    table.says("developer", "ESCALATE_SENIOR", "A")
    table.says("senior_software_engineer", "READY_FOR_REVIEW", "A")
    external = {"external": True, "external_dependency": "IT"}
    table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", details=external)
    table.says("project_manager", "DEFER_EXTERNAL", "A", summary="s")
    (decision,) = table.move("A", "in_progress")["followed_by"]
    assert (decision["next_agent"], names(decision)) == ("senior_software_engineer", ["set_status", "no_downgrade"])


def test_cancelling_settles_what_is_open_and_makes_the_turn_stale() -> None:
    table = Table("A", "B", plan=True)
    table.block("A")
    turn = table.turn("A")
    table.move("A", "cancelled", reason="no longer wanted")
    assert table.blockers("resolution, resolution_note") == [("cancelled", "no longer wanted")]
    assert table.row("A", "awaited_role, turn") == (None, None)
    assert table.code("tech_lead", "APPROVED", "A", turn=turn) == "GROUP_CLOSED"


def test_a_cancelled_group_stays_cancelled() -> None:
    assert cancelled().move_refused("A", "in_progress").data == {"allowed": []}


def test_set_status_again_and_again_climbs_the_rungs_of_the_loop_guard() -> None:
    table = deferred()
    for _ in range(2):
        table.move("A", "in_progress")
        table.says("qa_expert", "BLOCKED", "A")
        table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", details={"external": True, "external_dependency": "IT"})
        table.move("A", "deferred_external")
    table.move("A", "in_progress")
    table.says("qa_expert", "BLOCKED", "A")
    table.says("tech_lead", "UNBLOCKING_GUIDANCE", "A", details={"external": True, "external_dependency": "IT"})
    table.says("project_manager", "DEFER_EXTERNAL", "A", summary="again")
    (decision,) = table.move("A", "in_progress")["followed_by"]
    assert (decision["next_agent"], names(decision)) == ("tech_lead", ["loop_guard"])


def test_a_freed_slot_is_taken_at_once() -> None:
    table = slots(1, "A", "B")
    (followed,) = table.move("A", "cancelled")["followed_by"]
    assert (followed["groups_to_spawn"], table.running()) == (["B"], ["B"])
