"""The test plan of blocked-task recovery, row by row, and its two scenarios step by step.

Source: seed 002, テスト計画.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.app.board import Board, board

__all__ = ["board"]

WORKER = "dev-1"


def subtasks(board: Board, *ids: str, **given: Any) -> None:
    """A main task of the worker, in progress, with subtasks of the worker's own making."""
    board.task("MAIN")
    board.move("MAIN", "in_progress")
    for id_ in ids:
        board.task(id_, parent="MAIN", by=WORKER, **given)


def following(board: Board, agent: str = WORKER) -> dict[str, Any]:
    return board.call("next", agent_id=agent)


# --- Phase 1, 1: who changed a status


def test_a_change_records_the_agent(board: Board) -> None:
    board.task("T")
    assert board.move("T", "in_progress")["status_changed_by_agent_id"] == WORKER


def test_a_change_records_the_time(board: Board) -> None:
    created = board.task("T")["status_changed_at"]
    assert board.move("T", "in_progress")["status_changed_at"] > created


def test_leaving_blocked_clears_the_reason(board: Board) -> None:
    board.task("T")
    assert board.move("T", "in_progress", "blocked", reason="no file")["blocked_reason"] == "no file"
    assert board.move("T", "in_progress")["blocked_reason"] is None


# --- Phase 1, 2: who may unblock


@pytest.mark.parametrize(
    ("changer", "requester", "allowed"),
    [
        pytest.param("dev-1", "dev-1", True, id="own change is allowed"),
        pytest.param("dev-1", "developer", True, id="a subordinate worker's change is allowed"),
        pytest.param("developer", "dev-1", False, id="a manager's change is refused"),
        pytest.param("tech_lead", "developer", False, id="a manager's manager's change is refused"),
        pytest.param("dev-1", "qa-1", False, id="a change of another line is refused"),
    ],
)
def test_a_block_is_lifted_by_who_made_it_or_stands_above(
    board: Board, changer: str, requester: str, allowed: bool
) -> None:
    board.task("T")
    board.move("T", "in_progress", "blocked", by=changer)
    if allowed:
        assert board.move("T", "in_progress", by=requester)["status_changed_by_agent_id"] == requester
    else:
        refusal = board.no("T", "in_progress", by=requester)
        assert (refusal.code, refusal.data["opened_by"]) == ("UNBLOCK_NOT_PERMITTED", changer)


def test_a_block_of_nobody_on_record_is_anybodys_to_lift(board: Board) -> None:
    nobodys_block(board, "T")
    board.move("T", "in_progress", by="qa-1")
    assert [row["resolution"] for row in board.show("T")["blockers"]] == ["legacy"]


def nobodys_block(board: Board, id: str) -> None:
    """A blocked task as it comes from an older database: its changer is null."""
    board.context.connection.execute(
        'INSERT INTO blockers (id, session_id, group_id, task_id, type, "class", reason, opened_at, opened_seq, cause)'
        " VALUES (?, 'S1', 'A', ?, 'manual', 'soft', 'from before', '2025', 1, 'imported')",
        (f"OLD-{id}", id),
    )
    board.context.connection.execute(
        "INSERT INTO tasks (session_id, id, group_id, title, description, type, created_at, created_seq, status,"
        " status_changed_at, status_seq, former_status, blocked_reason)"
        " VALUES ('S1', ?, 'A', 't', '', 'REPORT', '2025', 1, 'blocked', '2025', 1, 'todo', 'from before')",
        (id,),
    )


# --- Phase 1, 3: the completion gate


def test_all_subtasks_done_is_reported_as_completion(board: Board) -> None:
    subtasks(board, "A1", "A2")
    for id_ in ("A1", "A2"):
        board.move(id_, "in_progress", "done")
    assert following(board)["action"] == "report_completion"


def test_an_own_blocked_subtask_is_unblocked_and_continued(board: Board) -> None:
    subtasks(board, "A1", "A2")
    board.move("A1", "in_progress", "blocked", reason="no file")
    board.move("A2", "in_progress", "done")
    found = following(board)
    assert (found["action"], found["state"]) == ("unblock_and_continue", "has_self_blocked_subtask")
    assert found["blocked_subtask"] == {"id": "A1", "title": "title of A1", "blocked_reason": "no file"}
    refusal = board.no("MAIN", "done")
    assert (refusal.code, refusal.data["next"]["action"]) == ("COMPLETION_GATE", "unblock_and_continue")


def test_a_subtask_that_others_blocked_is_waited_for(board: Board) -> None:
    subtasks(board, "A1", "A2")
    board.move("A1", "in_progress", "blocked", by="tech_lead")
    board.move("A2", "in_progress", "done")
    found = following(board)
    assert (found["action"], found["state"]) == ("wait_for_unblock", "has_external_blocked_subtask")
    assert [row["id"] for row in found["blocked_subtasks"]] == ["A1"]
    assert board.no("MAIN", "done").data["next"]["action"] == "wait_for_unblock"


def test_a_pending_subtask_comes_before_completion(board: Board) -> None:
    subtasks(board, "A1", "A2")
    board.move("A1", "in_progress", "done")
    found = following(board)
    assert (found["action"], found["next_subtask"]["id"]) == ("start_subtask", "A2")
    assert board.no("MAIN", "done").code == "COMPLETION_GATE"


# --- Phase 2, 1: filtering by dependencies


def offered(board: Board) -> list[str]:
    """The subtasks that are offered when each is started and put off again, until none is."""
    found: list[str] = []
    while (step := following(board))["action"] == "start_subtask":
        found.append(step["next_subtask"]["id"])
        board.move(found[-1], "in_progress", "blocked", by="tech_lead")
    return found


def test_without_dependencies_all_are_pending(board: Board) -> None:
    subtasks(board, "A1", "A2", "A3")
    assert offered(board) == ["A1", "A2", "A3"]


def test_with_an_open_dependency_a_subtask_is_not_pending(board: Board) -> None:
    subtasks(board, "A1")
    board.task("A2", parent="MAIN", depends_on=("A1",))
    assert offered(board) == ["A1"]


def test_with_a_done_dependency_a_subtask_is_pending(board: Board) -> None:
    subtasks(board, "A1")
    board.task("A2", parent="MAIN", depends_on=("A1",))
    board.move("A1", "in_progress", "done")
    assert offered(board) == ["A2"]


@pytest.mark.parametrize(("done", "expected"), [(("A1",), ["A2"]), (("A1", "A2"), ["A3"])], ids=["some", "all"])
def test_of_several_dependencies_all_must_be_done(board: Board, done: tuple[str, ...], expected: list[str]) -> None:
    subtasks(board, "A1", "A2")
    board.task("A3", parent="MAIN", depends_on=("A1", "A2"))
    for id_ in done:
        board.move(id_, "in_progress", "done")
    assert offered(board) == expected


# --- Phase 2, 2: next action


def test_the_first_of_two_dependent_subtasks_is_offered_and_then_the_second(board: Board) -> None:
    subtasks(board, "A1")
    board.task("A2", parent="MAIN", depends_on=("A1",))
    assert following(board)["next_subtask"]["id"] == "A1"
    board.move("A1", "in_progress", "done")
    assert following(board)["next_subtask"]["id"] == "A2"


# --- scenarios


def test_scenario_a_order_by_dependencies(board: Board) -> None:
    subtasks(board, "create-file")
    board.task("check-file", parent="MAIN", by=WORKER, depends_on=("create-file",))
    found = following(board)
    assert (found["action"], found["next_subtask"]["id"]) == ("start_subtask", "create-file")
    assert board.no("check-file", "in_progress").code == "DEPENDENCIES_OPEN"
    board.move("create-file", "in_progress")
    assert following(board)["action"] == "execute_subtask"
    board.move("create-file", "done")
    found = following(board)
    assert (found["action"], found["next_subtask"]["id"]) == ("start_subtask", "check-file")
    board.move("check-file", "in_progress", "done")
    assert following(board)["action"] == "report_completion"
    board.move("MAIN", "done")
    assert set(board.status("MAIN", "create-file", "check-file").values()) == {"done"}


def test_scenario_b_recovery_from_an_own_block(board: Board) -> None:
    subtasks(board, "check-file", "create-file")
    board.call("task create", id="unused", title="x", assignee="dev-2")
    assert following(board)["next_subtask"]["id"] == "check-file"
    board.move("check-file", "in_progress")
    row = board.move("check-file", "blocked", reason="the file does not exist")
    assert (row["status_changed_by_agent_id"], row["blocked_reason"]) == (WORKER, "the file does not exist")
    assert following(board)["next_subtask"]["id"] == "create-file"
    board.move("create-file", "in_progress", "done")
    refusal = board.no("MAIN", "done")
    assert refusal.code == "COMPLETION_GATE"
    assert refusal.data["next"]["action"] == "unblock_and_continue"
    assert refusal.data["next"]["blocked_subtask"]["id"] == "check-file"
    row = board.move("check-file", "in_progress")
    assert (row["status"], row["blocked_reason"]) == ("in_progress", None)
    board.move("check-file", "done")
    assert following(board)["action"] == "report_completion"
    board.move("MAIN", "done")
    assert set(board.status("MAIN", "create-file", "check-file").values()) == {"done"}
