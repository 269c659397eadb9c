"""Which moves of tasks there are, and what each asks: every row of the tables of moves and guards."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from orchestrator.app import operations
from orchestrator.core import lifecycle_table
from orchestrator.errors import Refused
from tests.cases import every
from tests.integration.app.board import Board, board

__all__ = ["board"]

STATUSES = lifecycle_table.TASK_STATUSES
BY_HAND = {
    "backlog": {"todo", "in_progress", "cancelled"},
    "todo": {"backlog", "in_progress", "cancelled"},
    "in_progress": {"blocked", "done", "cancelled"},
    "blocked": {"in_progress", "cancelled"},
    "done": set(),
    "cancelled": set(),
}
BY_SYSTEM = {
    ("backlog", "blocked"): {"cascade", "dependency"},
    ("todo", "blocked"): {"cascade", "dependency"},
    ("blocked", "backlog"): {"release"},
    ("blocked", "todo"): {"release"},
    ("in_progress", "todo"): {"claim_release"},
}
WAYS = {
    "backlog": ("backlog",), "todo": (), "in_progress": ("in_progress",), "blocked": ("in_progress", "blocked"),
    "done": ("in_progress", "done"), "cancelled": ("cancelled",),
}  # fmt: skip
PAIRS = [(old, new) for old, new in itertools.product(STATUSES, STATUSES) if old != new]


def at(board: Board, status: str) -> None:
    board.task("T")
    board.move("T", *WAYS[status])
    assert board.status("T") == {"T": status}


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=[f"{old} to {new}" for old, new in PAIRS])
def test_a_task_moves_by_hand_as_the_table_says(board: Board, old: str, new: str) -> None:
    at(board, old)
    if new in BY_HAND[old]:
        assert board.move("T", new)["status"] == new
    else:
        refusal = board.no("T", new)
        assert (refusal.code, set(refusal.data["allowed"])) == ("ILLEGAL_MOVE", BY_HAND[old])
        assert board.status("T") == {"T": old}


@every("cause", ["set_status", "claim", "run", *lifecycle_table.TASK_SYSTEM_MOVES])
@every(("old", "new"), PAIRS, ids=[f"{old} to {new}" for old, new in PAIRS])
def test_there_are_the_moves_of_the_table_and_no_other(old: str, new: str, cause: str) -> None:
    may = new in BY_HAND[old] or cause in BY_SYSTEM.get((old, new), set())
    try:
        lifecycle_table.refuse_task_move(old, new, cause)
        moved = True
    except Refused:
        moved = False
    assert may == moved


def test_an_unknown_status_names_the_known_ones_and_the_nearest(board: Board) -> None:
    board.task("T")
    refusal = board.no("T", "in-progress")
    assert (refusal.code, refusal.data["did_you_mean"]) == ("UNKNOWN_STATUS", "in_progress")
    assert refusal.data["valid_statuses"] == list(STATUSES)


def test_an_unknown_task_names_the_nearest(board: Board) -> None:
    board.task("login-form")
    refusal = board.no("login-from", "in_progress")
    assert (refusal.code, refusal.data["did_you_mean"]) == ("UNKNOWN_TASK", "login-form")


ORDER: list[tuple[str, dict[str, Any], str]] = [
    ("exists first", {"id": "nowhere", "status": "done", "by": None, "expect_version": 9}, "UNKNOWN_TASK"),
    ("then the version", {"id": "D", "status": "in_progress", "by": None, "expect_version": 9}, "VERSION_CONFLICT"),
    ("then the move", {"id": "D", "status": "in_progress", "by": None}, "ILLEGAL_MOVE"),
    ("then the actor", {"id": "W", "status": "in_progress", "by": None}, "ACTOR_REQUIRED"),
    ("then who that is", {"id": "W", "status": "in_progress", "by": "nobody"}, "UNKNOWN_AGENT"),
    ("then the permission", {"id": "W", "status": "in_progress", "by": "qa-1"}, "NOT_PERMITTED"),
    ("then the guards", {"id": "W", "status": "in_progress", "by": "dev-1"}, "DEPENDENCIES_OPEN"),
]


@pytest.mark.parametrize(("given", "code"), [row[1:] for row in ORDER], ids=[row[0] for row in ORDER])
def test_what_is_asked_first_is_answered_first(board: Board, given: dict[str, Any], code: str) -> None:
    board.task("D")
    board.move("D", "in_progress", "done")
    board.task("O")
    board.task("W", depends_on=("O",))
    before = board.rows("SELECT * FROM tasks")
    refusal = board.refused("task set-status", **given)
    assert refusal.code == code
    assert board.rows("SELECT * FROM tasks") == before
    assert board.refusals()[-1] == (given["by"] or "", code)


# --- version


def test_every_change_is_the_next_version(board: Board) -> None:
    board.task("T")
    versions = [board.move("T", status)["version"] for status in ("in_progress", "blocked", "in_progress", "done")]
    assert versions == [2, 3, 4, 5]


def test_of_two_changes_of_one_version_the_second_is_told_of_the_first(board: Board) -> None:
    board.task("T")
    board.move("T", "in_progress", expect_version=1)
    refusal = board.no("T", "done", expect_version=1)
    assert (refusal.code, refusal.data["version"]) == ("VERSION_CONFLICT", 2)
    assert board.status("T") == {"T": "in_progress"}


# --- to in_progress


def test_a_task_with_an_open_dependency_does_not_begin_and_names_it(board: Board) -> None:
    board.task("A1")
    board.task("A2")
    board.task("T", depends_on=("A1", "A2"))
    board.move("A1", "in_progress", "done")
    refusal = board.no("T", "in_progress")
    assert (refusal.code, refusal.data["open"]) == ("DEPENDENCIES_OPEN", ["A2"])
    board.move("A2", "in_progress", "done")
    assert board.move("T", "in_progress")["status"] == "in_progress"


def test_a_cancelled_dependency_is_not_done(board: Board) -> None:
    board.task("A1")
    board.task("T", depends_on=("A1",))
    board.move("A1", "cancelled")
    assert board.no("T", "in_progress").data["open"] == ["A1"]


def test_a_task_waits_for_the_dependencies_of_its_group(board: Board) -> None:
    board.call("group depend", id="A", on="B", by="project_manager")
    board.task("T")
    refusal = board.no("T", "in_progress")
    assert (refusal.code, refusal.data["open"]) == ("DEPENDENCIES_OPEN", ["B"])


def test_an_agent_has_as_many_tasks_in_progress_as_it_takes(board: Board) -> None:
    board.task("T1")
    board.task("T2")
    board.move("T1", "in_progress")
    refusal = board.no("T2", "in_progress")
    assert (refusal.code, refusal.data["tasks"]) == ("ASSIGNEE_BUSY", ["T1"])
    for task in ("U1", "U2", "U3"):
        board.task(task, assignee="busy")
    board.move("U1", "in_progress", by="busy")
    board.move("U2", "in_progress", by="busy")
    assert board.no("U3", "in_progress", by="busy").data["tasks"] == ["U1", "U2"]


def test_subtasks_do_not_count(board: Board) -> None:
    board.task("T1")
    board.task("P", assignee="dev-2")
    board.task("C1", parent="P")
    board.task("C2", parent="P")
    board.move("T1", "in_progress")
    assert board.move("C1", "in_progress")["status"] == "in_progress"
    assert board.move("C2", "in_progress")["status"] == "in_progress"


def test_tasks_of_an_ended_session_do_not_count(board: Board) -> None:
    board.task("T1")
    board.move("T1", "in_progress")
    with board.person():
        operations.call(board.context, "session end", id="S1", by="user", reason="over")
    operations.call(board.context, "session create", id="S2", goal="another")
    operations.call(board.context, "task create", id="T1", title="t", session_id="S2", assignee="dev-1")
    moved = operations.call(
        board.context, "task set-status", id="T1", status="in_progress", session_id="S2", by="dev-1"
    )
    assert moved["task"]["status"] == "in_progress"


def test_starting_a_task_that_nobody_has_assigns_the_starter(board: Board) -> None:
    board.task("T", assignee=None)
    assert board.move("T", "in_progress", by="dev-2")["assignee"] == "dev-2"


# --- to done


def test_a_task_is_done_when_its_subtasks_are(board: Board) -> None:
    board.task("P")
    board.task("C1", parent="P")
    board.task("C2", parent="P")
    board.move("P", "in_progress")
    board.move("C1", "in_progress", "done")
    refusal = board.no("P", "done")
    assert refusal.code == "COMPLETION_GATE"
    assert "C2" in refusal.message
    assert refusal.data["next"]["action"] == "start_subtask"
    board.move("C2", "cancelled")
    assert board.move("P", "done")["status"] == "done"


def test_a_task_whose_subtasks_are_all_cancelled_is_not_done(board: Board) -> None:
    board.task("P")
    board.task("C1", parent="P")
    board.move("P", "in_progress")
    board.move("C1", "cancelled")
    refusal = board.no("P", "done")
    assert (refusal.code, refusal.data["next"]["state"]) == ("COMPLETION_GATE", "all_cancelled")


def test_nothing_is_swept_to_done(board: Board) -> None:
    board.task("P")
    board.task("C1", parent="P")
    board.move("P", "in_progress")
    assert board.no("P", "done").code == "COMPLETION_GATE"
    assert board.status("P", "C1") == {"P": "in_progress", "C1": "todo"}


def test_the_gate_carries_exactly_what_next_answers(board: Board) -> None:
    board.task("P")
    board.task("C1", parent="P")
    board.move("P", "in_progress")
    board.move("C1", "in_progress", "blocked")
    refusal = board.no("P", "done")
    following = board.call("next", agent_id="dev-1", task="P")
    told = {name: value for name, value in following.items() if name in refusal.data["next"]}
    assert refusal.data["next"] == told
    assert told["action"] == "unblock_and_continue"


# --- reasons


@pytest.mark.parametrize("status", ["blocked", "cancelled"])
@pytest.mark.parametrize("reason", ["", "  \t"])
def test_blocking_and_cancelling_need_a_reason(board: Board, status: str, reason: str) -> None:
    board.task("T")
    board.move("T", "in_progress")
    assert board.no("T", status, reason=reason).code == "REASON_REQUIRED"


def test_blocking_keeps_the_reason_and_leaving_clears_it(board: Board) -> None:
    board.task("T")
    assert board.move("T", "in_progress", "blocked", reason="no data")["blocked_reason"] == "no data"
    assert board.move("T", "in_progress")["blocked_reason"] is None


def test_every_change_records_who_and_when_and_stands_in_the_record(board: Board) -> None:
    board.task("T", by="tech_lead")
    made = [("todo", "tech_lead", board.show("T")["status_changed_at"])]
    for status, by in (("in_progress", "dev-1"), ("blocked", "developer"), ("in_progress", "tech_lead")):
        row = board.move("T", status, by=by)
        assert (row["status"], row["status_changed_by_agent_id"]) == (status, by)
        made.append((status, by, row["status_changed_at"]))
    found = board.rows(
        "SELECT to_status, changed_by, changed_at FROM status_changes WHERE entity = 'task' AND entity_id = 'T'"
        " ORDER BY seq, part"
    )
    assert found == made
    assert len({at for _, _, at in made}) == 4
