"""A hard block of a task is a matter for a person, who is asked and told."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from tests import persons
from tests.integration.tasks.board import Board

HARD = {"blocker_type": "permission_denied"}


@pytest.fixture
def board(tmp_path: pathlib.Path) -> Board:
    made = Board(tmp_path)
    made.mine("T", group_id="A")
    return made


def block(board: Board, reason: str = "no key", **more: Any) -> None:
    board.call(
        "task set-status", id="T", status="blocked", session_id="S1", by="dev-1", reason=reason, **{**HARD, **more}
    )


def inbox(board: Board) -> list[tuple[str, str, str]]:
    return [(each["kind"], each["task_id"], each["text"]) for each in board.call("inbox")["questions"]]


def as_person(board: Board, words: str, **arguments: Any) -> dict[str, Any]:
    persons.sit(board.context)
    try:
        return board.call(words, **arguments)
    finally:
        board.context.credential = None


def closed(board: Board) -> list[tuple[Any, ...]]:
    sql = "SELECT closed_by, answer FROM questions WHERE closed_seq IS NOT NULL ORDER BY id"
    return list(board.context.connection.execute(sql))


def test_it_stands_in_the_inbox_and_whoever_waits_is_told_of_the_question(board: Board) -> None:
    block(board)
    assert inbox(board) == [("review", "T", "no key")]
    (question,) = board.call("inbox")["questions"]
    told = board.next("dev-1")
    assert (told["action"], told["state"]) == ("wait_for_review", "awaiting_person")
    assert told["question_id"] == question["id"]
    assert board.call("status", session_id="S1")["exit_code"] == 2


def test_a_second_one_asks_no_second_time(board: Board) -> None:
    block(board)
    block(board, reason="no network either")
    assert inbox(board) == [("review", "T", "no key")]


def test_a_soft_one_asks_nobody_until_its_budget_is_used_up(board: Board) -> None:
    for _ in range(3):
        block(board, reason="busy", blocker_type="timeout")
        assert inbox(board) == []
        board.move("T", "in_progress", "dev-1")
    for _ in range(3):
        block(board, reason="busy", blocker_type="timeout")
        if inbox(board):
            break
        board.move("T", "in_progress", "dev-1")
    ((kind, task, text),) = inbox(board)
    assert (kind, task, text.partition(" (")[0]) == ("budget", "T", "busy")


@pytest.mark.parametrize(
    ("decision", "status"), [("continue", "in_progress"), ("revise", "in_progress"), ("abandon", "cancelled")]
)
def test_an_answer_lifts_it_or_ends_the_task(board: Board, decision: str, status: str) -> None:
    block(board)
    (question,) = board.call("inbox")["questions"]
    as_person(board, "answer", id=question["id"], decision=decision, note="the key is there")
    assert board.call("task show", id="T", session_id="S1")["task"]["status"] == status
    assert (inbox(board), closed(board)) == ([], [("user", decision)])


def test_a_person_who_lifts_it_by_hand_leaves_nothing_to_answer(board: Board) -> None:
    block(board)
    block(board, reason="no network either")
    first, second = board.context.connection.execute("SELECT id FROM blockers ORDER BY opened_seq").fetchall()
    as_person(board, "blocker resolve", id=first[0], session_id="S1", by="user", reason="given")
    assert inbox(board) == [("review", "T", "no key")]
    as_person(board, "blocker resolve", id=second[0], session_id="S1", by="user", reason="given")
    assert (inbox(board), closed(board)) == ([], [("user", "moot")])


def test_a_cancelled_task_asks_nothing_more(board: Board) -> None:
    block(board)
    board.move("T", "cancelled", "project_manager")
    assert (inbox(board), closed(board)) == ([], [("project_manager", "moot")])


def test_what_stands_below_asks_nothing_of_its_own(board: Board) -> None:
    board.subs("T.1", "T.2")
    block(board)
    assert inbox(board) == [("review", "T", "no key")]
