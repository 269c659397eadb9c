"""Blocking tasks: who lifts what, what stands below a blocked task, blockers one by one."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.kernel import operations
from orchestrator.core import permissions
from orchestrator.testing import memory_context
from tests.integration.app.board import Board, board

__all__ = ["board"]


def blocked(board: Board, *, by: str = "dev-1", **given: Any) -> None:
    """A task of dev-1, blocked by somebody."""
    board.task("T")
    board.move("T", "in_progress")
    if by == "user":
        with board.person():
            board.move("T", "blocked", by=by, **given)
    else:
        board.move("T", "blocked", by=by, **given)


# --- who may lift

LIFTS = [
    ("itself, soft", "dev-1", "dev-1", None, None),
    ("an ancestor of the opener", "dev-1", "developer", None, None),
    ("an ancestor further up", "dev-1", "project_manager", None, None),
    ("a descendant of the opener", "developer", "dev-1", None, "UNBLOCK_NOT_PERMITTED"),
    ("another branch", "dev-1", "qa-1", None, "UNBLOCK_NOT_PERMITTED"),
    ("who was blocked by a person", "user", "dev-1", None, "UNBLOCK_NOT_PERMITTED"),
    ("the manager, what a person blocked", "user", "project_manager", None, "UNBLOCK_NOT_PERMITTED"),
    ("itself, hard", "dev-1", "dev-1", "missing_dependency", "UNBLOCK_NOT_PERMITTED"),
    ("the manager, hard", "dev-1", "project_manager", "missing_dependency", "UNBLOCK_NOT_PERMITTED"),
    ("nobody named", "dev-1", None, None, "ACTOR_REQUIRED"),
    ("an unknown one", "dev-1", "dev-9", None, "UNKNOWN_AGENT"),
    ("a person's name alone", "dev-1", "user", None, "HUMAN_REQUIRED"),
    ("the system", "dev-1", "system:router", None, "NOT_PERMITTED"),
]


@pytest.mark.parametrize("door", ["task set-status", "blocker resolve"])
@pytest.mark.parametrize(("opener", "by", "type_", "code"), [row[1:] for row in LIFTS], ids=[row[0] for row in LIFTS])
def test_a_task_is_unblocked_by_who_may(
    board: Board, door: str, opener: str, by: str | None, type_: str | None, code: str | None
) -> None:
    blocked(board, by=opener, blocker_type=type_)
    (blocker,) = board.open("T")
    given = {"id": "T", "status": "in_progress"} if door == "task set-status" else {"id": blocker}
    if code is None:
        board.call(door, by=by, reason="mended", **given)
        assert board.status("T") == {"T": "in_progress"}
        return
    before = board.rows("SELECT * FROM tasks"), board.rows("SELECT * FROM blockers")
    refusal = board.refused(door, by=by, reason="mended", **given)
    assert refusal.code == code
    assert (board.rows("SELECT * FROM tasks"), board.rows("SELECT * FROM blockers")) == before
    assert board.refusals()[-1] == (by or "", code)


@pytest.mark.parametrize("door", ["task set-status", "blocker resolve"])
@pytest.mark.parametrize("type_", [None, "missing_dependency"])
@pytest.mark.parametrize("opener", ["dev-1", "project_manager", "user"])
def test_a_person_lifts_anything_by_a_human_channel(board: Board, opener: str, type_: str | None, door: str) -> None:
    blocked(board, by=opener, blocker_type=type_)
    (blocker,) = board.open("T")
    given = {"id": "T", "status": "in_progress"} if door == "task set-status" else {"id": blocker}
    with board.person():
        board.call(door, by="user", reason="looked at it", **given)
    row = board.call("blocker show", id=blocker)["blocker"]
    assert (row["opened_by"], row["resolved_by"]) == (opener, "user")
    assert board.status("T") == {"T": "in_progress"}
    assert board.rows("SELECT channel FROM audit_events ORDER BY rowid DESC LIMIT 1") == [("terminal",)]


def test_a_refusal_says_who_opened_it_when_why_and_who_may(board: Board) -> None:
    blocked(board, by="developer", reason="no data")
    refusal = board.no("T", "in_progress", by="dev-1")
    row = board.show("T")["blockers"][0]
    assert {name: refusal.data[name] for name in ("opened_by", "when", "why", "may", "hard")} == {
        "opened_by": "developer",
        "when": row["opened_at"],
        "why": "no data",
        "may": ["developer", "tech_lead", "project_manager", permissions.A_PERSON],
        "hard": False,
    }


def test_it_is_the_opener_that_counts_and_not_who_touched_the_task_last(board: Board) -> None:
    blocked(board, by="dev-1")
    board.move("T", "blocked", by="developer", reason="a second one")
    assert board.no("T", "in_progress", by="dev-1").data["opened_by"] == "developer"
    board.resolve(board.open("T")[1], by="developer")
    assert board.move("T", "in_progress", by="dev-1")["status"] == "in_progress"


def test_all_blockers_are_liftable_or_none_is_lifted(board: Board) -> None:
    blocked(board)
    board.move("T", "blocked", by="dev-1", blocker_type="missing_dependency", reason="a hard one")
    assert board.no("T", "in_progress", by="dev-1").code == "UNBLOCK_NOT_PERMITTED"
    assert len(board.open("T")) == 2


def test_instances_lift_within_their_own_group(board: Board) -> None:
    for group in ("A", "B"):
        for role in ("developer", "tech_lead"):
            board.context.connection.execute(
                "INSERT INTO agents (id, role, parent_id, kind, session_id, group_id, created_at, created_seq)"
                " VALUES (?, ?, ?, 'ai', 'S1', ?, 't', 1)",
                (f"{role}@S1:{group}", role, role, group),
            )
    for group in ("A", "B"):
        worker = f"developer@S1:{group}"
        board.task(f"T{group}", group_id=group, assignee=worker)
        board.move(f"T{group}", "in_progress", "blocked", by=worker)
    assert board.no("TB", "in_progress", by="tech_lead@S1:A").code == "NOT_PERMITTED"
    assert board.move("TA", "in_progress", by="tech_lead@S1:A")["status"] == "in_progress"
    assert board.move("TB", "in_progress", by="tech_lead")["status"] == "in_progress"


def test_an_instance_takes_what_its_role_agent_was_assigned(board: Board) -> None:
    board.context.connection.execute(
        "INSERT INTO agents (id, role, parent_id, kind, session_id, group_id, created_at, created_seq)"
        " VALUES ('developer@S1:A', 'developer', 'developer', 'ai', 'S1', 'A', 't', 1)"
    )
    board.task("T", assignee="developer")
    assert board.move("T", "in_progress", by="developer@S1:A")["assignee"] == "developer@S1:A"


# --- other moves

MOVERS = [
    ("the assignee", "dev-1", None),
    ("an ancestor", "tech_lead", None),
    ("a descendant", "helper", "NOT_PERMITTED"),
    ("another branch", "qa-1", "NOT_PERMITTED"),
    ("a person's name alone", "user", "HUMAN_REQUIRED"),
]


@pytest.mark.parametrize("status", ["blocked", "cancelled", "done"])
@pytest.mark.parametrize(("by", "code"), [row[1:] for row in MOVERS], ids=[row[0] for row in MOVERS])
def test_a_task_in_progress_is_moved_by_who_may(board: Board, by: str, code: str | None, status: str) -> None:
    operations.call(board.context, "agent register", id="helper", role="developer", parent="dev-1")
    board.task("T")
    board.move("T", "in_progress")
    if code is None:
        assert board.move("T", status, by=by)["status"] == status
    else:
        assert board.no("T", status, by=by).code == code


def test_a_person_moves_any_task_by_a_human_channel(board: Board) -> None:
    board.task("T")
    with board.person():
        assert board.move("T", "in_progress", by="user")["assignee"] == "dev-1"


CANCELLERS = [
    ("who may lift it", "dev-1", None, None),
    ("an ancestor", "tech_lead", None, None),
    ("who may not lift it", "dev-1", "missing_dependency", "UNBLOCK_NOT_PERMITTED"),
    ("the lead, hard", "tech_lead", "missing_dependency", "UNBLOCK_NOT_PERMITTED"),
    ("the manager, hard", "project_manager", "missing_dependency", None),
    ("another branch", "qa-1", None, "UNBLOCK_NOT_PERMITTED"),
]


@pytest.mark.parametrize(("by", "type_", "code"), [row[1:] for row in CANCELLERS], ids=[row[0] for row in CANCELLERS])
def test_a_blocked_task_is_cancelled_by_who_may(board: Board, by: str, type_: str | None, code: str | None) -> None:
    blocked(board, blocker_type=type_)
    if code is None:
        assert board.move("T", "cancelled", by=by)["status"] == "cancelled"
        assert [row["resolution"] for row in board.show("T")["blockers"]] == ["cancelled"]
    else:
        assert board.no("T", "cancelled", by=by).code == code


def test_cancelling_cancels_what_is_open_below(board: Board) -> None:
    board.task("P")
    for task in ("C", "D", "E"):
        board.task(task, parent="P")
    board.move("C", "in_progress", "blocked")
    board.move("D", "in_progress", "done")
    board.move("P", "cancelled", by="tech_lead")
    assert board.status("P", "C", "D", "E") == {"P": "cancelled", "C": "cancelled", "D": "done", "E": "cancelled"}


def test_cancelling_is_no_way_round_a_hard_block_below(board: Board) -> None:
    board.task("P")
    board.task("C", parent="P")
    board.move("C", "in_progress")
    board.move("C", "blocked", blocker_type="permission_denied")
    assert board.no("P", "cancelled", by="dev-1").code == "UNBLOCK_NOT_PERMITTED"
    assert board.move("P", "cancelled", by="project_manager")["status"] == "cancelled"


# --- the cascade


def family(board: Board) -> None:
    board.task("P")
    board.task("C", parent="P")
    board.task("D", parent="P", status="backlog")
    board.task("E", parent="P")
    board.task("G", parent="C")
    board.move("P", "in_progress")
    board.move("C", "in_progress")
    board.move("E", "in_progress", "done")


def test_a_blocked_parent_blocks_what_is_open_below(board: Board) -> None:
    family(board)
    board.move("P", "blocked", by="tech_lead", reason="wrong plan")
    assert board.status("P", "C", "D", "E", "G") == {
        "P": "blocked", "C": "blocked", "D": "blocked", "E": "done", "G": "blocked",
    }  # fmt: skip
    for task, former in (("C", "in_progress"), ("D", "backlog"), ("G", "todo")):
        row = board.show(task)
        assert (row["status_changed_by_agent_id"], row["former_status"]) == ("tech_lead", former)
        assert row["blocked_reason"] == "P is blocked: wrong plan"
        assert [each["cause"] for each in row["blockers"]] == ["cascade"]
        assert board.rows(
            "SELECT cause, reason FROM status_changes WHERE entity_id = :id AND to_status = 'blocked'", id=task
        ) == [("cascade", "P is blocked: wrong plan")]


def test_unblocking_a_parent_releases_exactly_what_it_blocked(board: Board) -> None:
    family(board)
    board.move("G", "in_progress", "blocked", reason="its own")
    before = board.status("P", "C", "D", "E", "G")
    board.move("P", "blocked", by="tech_lead")
    board.move("P", "in_progress", by="tech_lead")
    assert board.status("P", "C", "D", "E", "G") == before
    assert board.show("G")["blocked_reason"] == "its own"


def test_a_release_of_the_last_blocker_brings_the_former_status_back(board: Board) -> None:
    family(board)
    before = board.status("P", "C", "D", "E", "G")
    board.move("P", "blocked", by="tech_lead")
    board.resolve(board.open("P")[0], by="tech_lead")
    assert board.status("P", "C", "D", "E", "G") == before


def test_what_stands_below_two_blocked_tasks_is_released_by_the_second(board: Board) -> None:
    family(board)
    board.move("C", "blocked")
    board.move("P", "blocked", by="tech_lead")
    board.move("P", "in_progress", by="tech_lead")
    assert board.status("C", "D", "G") == {"C": "blocked", "D": "backlog", "G": "blocked"}
    board.move("C", "in_progress")
    assert board.status("C", "G") == {"C": "in_progress", "G": "todo"}


def test_a_block_below_that_is_lifted_first_leaves_the_cascade_of_the_parent(board: Board) -> None:
    family(board)
    board.move("C", "blocked")
    board.move("P", "blocked", by="tech_lead")
    own = next(each["id"] for each in board.show("C")["blockers"] if each["cause"] == "manual")
    board.resolve(own)
    assert board.status("C", "G") == {"C": "blocked", "G": "blocked"}
    board.move("P", "in_progress", by="tech_lead")
    assert board.status("C", "G") == {"C": "in_progress", "G": "todo"}


def test_what_was_freed_below_a_blocked_task_is_released_by_the_one_above_alone(board: Board) -> None:
    family(board)
    board.move("C", "blocked", by="dev-1")
    board.move("G", "in_progress", by="dev-1")
    board.move("P", "blocked", by="tech_lead")
    assert board.status("C", "G") == {"C": "blocked", "G": "blocked"}
    board.move("P", "in_progress", by="tech_lead")
    assert board.status("C", "G") == {"C": "blocked", "G": "in_progress"}


def test_what_was_freed_once_is_held_by_a_later_block(board: Board) -> None:
    family(board)
    board.move("C", "blocked", by="dev-1")
    board.move("G", "in_progress", by="dev-1")
    board.move("C", "blocked", by="dev-1")
    board.move("P", "blocked", by="tech_lead")
    board.move("P", "in_progress", by="tech_lead")
    assert board.status("C", "G") == {"C": "blocked", "G": "blocked"}


def test_a_hard_block_of_a_parent_is_hard_below(board: Board) -> None:
    family(board)
    board.move("P", "blocked", by="dev-1", blocker_type="missing_dependency")
    assert board.no("C", "in_progress", by="dev-1").code == "UNBLOCK_NOT_PERMITTED"


def test_a_task_below_a_blocked_one_begins_blocked(board: Board) -> None:
    family(board)
    board.move("P", "blocked", by="tech_lead")
    assert board.task("N", parent="P")["status"] == "blocked"
    board.move("P", "in_progress", by="tech_lead")
    assert board.status("N") == {"N": "todo"}


def test_who_has_no_room_gets_a_released_task_back_as_todo(board: Board) -> None:
    blocked(board)
    board.task("U")
    board.move("U", "in_progress")
    board.resolve(board.open("T")[0])
    assert board.status("T", "U") == {"T": "todo", "U": "in_progress"}


# --- created blocked


def test_a_task_created_blocked_has_its_blocker_and_is_released_as_todo(board: Board) -> None:
    row = board.task("T", by="tech_lead", status="blocked", reason="not yet")
    assert (row["status"], row["blocked_reason"], row["former_status"]) == ("blocked", "not yet", "todo")
    assert row["status_changed_by_agent_id"] == "tech_lead"
    assert board.no("T", "in_progress", by="dev-1").code == "UNBLOCK_NOT_PERMITTED"
    board.resolve(board.open("T")[0], by="tech_lead")
    assert board.status("T") == {"T": "todo"}


def test_creating_a_blocked_task_needs_a_reason(board: Board) -> None:
    refusal = board.refused("task create", id="T", title="t", group_id="A", status="blocked")
    assert refusal.code == "REASON_REQUIRED"
    assert board.rows("SELECT count(*) FROM tasks") == [(0,)]


# --- blockers one by one


def test_each_blocker_is_told_apart_by_its_id(board: Board) -> None:
    board.task("T")
    board.move("T", "in_progress")
    for reason, type_ in (("same", "missing_dependency"), ("soft", "waiting"), ("same", "missing_dependency")):
        board.move("T", "blocked", reason=reason, blocker_type=type_)
    first, soft, last = board.open("T")
    assert board.show("T")["blocked_reason"] == "same"
    with board.person():
        board.resolve(last, by="user")
        assert board.show("T")["blocked_reason"] == "soft"
        board.resolve(first, by="user")
    assert (board.status("T"), board.open("T")) == ({"T": "blocked"}, [soft])
    refusal = board.refused("blocker resolve", id=first, by="dev-1", reason="again")
    assert (refusal.code, refusal.data["resolved_by"]) == ("ALREADY_RESOLVED", "user")
    board.resolve(soft)
    assert board.status("T") == {"T": "in_progress"}


def test_a_blocker_needs_a_reason_to_be_resolved(board: Board) -> None:
    blocked(board)
    assert board.refused("blocker resolve", id=board.open("T")[0], by="dev-1", reason=" ").code == "REASON_REQUIRED"


def test_an_unknown_blocker_is_refused(board: Board) -> None:
    refusal = board.refused("blocker resolve", id="S1:B99", by="dev-1", reason="x")
    assert (refusal.code, refusal.data["kind"]) == ("UNKNOWN_ID", "blocker")


def test_blockers_are_listed_by_task_group_and_state(board: Board) -> None:
    blocked(board)
    board.move("T", "blocked", reason="second")
    board.resolve(board.open("T")[0])
    first, second = (row["id"] for row in board.show("T")["blockers"])

    def listed(**given: Any) -> list[str]:
        return [row["id"] for row in board.call("blocker list", **given)["blockers"]]

    assert listed() == listed(task="T") == listed(group_id="A") == listed(group_id="A", task="T") == [first, second]
    assert listed(open=True) == listed(task="T", open=True) == listed(group_id="A", open=True) == [second]
    assert listed(group_id="B") == listed(group_id="B", task="T") == []


CLASSES = [
    *((name, "soft") for name in (
        "timeout", "context_exhaustion_handoff", "phase_incomplete", "mcp_transient", "build_warning", "waiting",
        "manual",
    )),
    *((name, "hard") for name in (
        "mathematically_false", "missing_dependency", "unresolvable_build_error", "invalid_specification",
        "resource_exhausted", "strategy_failed", "permission_denied", "verification_failed", "external",
        "unclassified",
    )),
]  # fmt: skip


@pytest.mark.parametrize(("name", "severity"), CLASSES, ids=[name for name, _ in CLASSES])
def test_a_blocker_has_the_class_of_its_type(board: Board, name: str, severity: str) -> None:
    blocked(board, blocker_type=name)
    row = board.show("T")["blockers"][0]
    assert (row["type"], row["class"], row["cause"]) == (name, severity, "manual")


def test_without_a_type_a_blocker_is_manual_and_soft(board: Board) -> None:
    blocked(board)
    row = board.show("T")["blockers"][0]
    assert (row["type"], row["class"], row["group_id"], row["task_id"]) == ("manual", "soft", "A", "T")


def test_a_soft_blocker_that_returns_more_than_three_times_is_hard(board: Board) -> None:
    board.task("T")
    board.move("T", "in_progress")
    found = []
    for _ in range(5):
        board.move("T", "blocked", reason="slow", blocker_type="timeout")
        found.append(board.show("T")["blockers"][-1])
        if found[-1]["class"] == "soft":
            board.move("T", "in_progress")
    assert [row["class"] for row in found] == ["soft"] * 4 + ["hard"]
    assert found[-1]["reason"] == "slow (hard: the same blocker returned more than 3 times)"
    assert board.no("T", "in_progress").code == "UNBLOCK_NOT_PERMITTED"


def test_soft_blockers_of_several_types_are_hard_after_five(board: Board) -> None:
    board.task("T")
    board.move("T", "in_progress")
    types = ("timeout", "manual", "waiting", "mcp_transient", "build_warning", "phase_incomplete")
    for type_ in types:
        board.move("T", "blocked", blocker_type=type_)
        if type_ != types[-1]:
            board.move("T", "in_progress")
    last = board.show("T")["blockers"][-1]
    assert (last["type"], last["class"]) == ("phase_incomplete", "hard")


def test_those_above_are_told_of_a_block_and_not_of_its_cascade(board: Board) -> None:
    family(board)
    board.move("P", "blocked", by="developer", reason="stop")
    (blocker,) = board.open("P")
    told = board.rows("SELECT agent_id, task_id, blocker_id FROM notices ORDER BY part")
    assert told == [("tech_lead", "P", blocker), ("project_manager", "P", blocker)]


# --- the record


def test_what_happened_to_tasks_can_be_told_again(board: Board) -> None:
    from orchestrator.app.audit import replay_events

    family(board)
    board.move("P", "blocked", by="tech_lead")
    board.no("P", "in_progress", by="dev-1")
    board.move("P", "in_progress", by="tech_lead")
    board.task("W", depends_on=("C",), auto_unblock=True)
    board.move("G", "cancelled")
    board.task("X", parent="C")
    board.move("X", "in_progress", "done")
    board.move("C", "done")
    with board.person():
        board.move("D", "cancelled", by="user")
    again = memory_context()
    events = replay_events.events(board.context)
    replay_events.replay(again, events[len(replay_events.events(again)) :])
    for table in ("tasks", "task_dependencies", "blockers", "notices", "status_changes", "audit_events", "refusals"):
        sql = f"SELECT * FROM {table}"
        assert sorted(again.connection.execute(sql).fetchall(), key=repr) == sorted(board.rows(sql), key=repr), table
