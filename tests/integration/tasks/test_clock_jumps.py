"""A clock that is a day or more off warns, is named by doctor, and keeps no lease alive."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator.store import doctor
from tests.integration.app.desk import Desk
from tests.integration.tasks.board import DEV, Board

FUTURE = "2037-06-01T12:00:00.000000Z"
TODAY = "2025-01-01T00:00:00.000000Z"


class Set:
    """A clock that says what it is set to."""

    def __init__(self, now: str) -> None:
        self.now = now

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def board(tmp_path: pathlib.Path) -> Board:
    return Board(tmp_path)


def at(board: Desk, time: str) -> None:
    board.context.clock = Set(time)


def claim(board: Board, agent: str, **given: Any) -> dict[str, Any]:
    return board.call("task claim", id="T", agent_id=agent, session_id="S1", **given)


@pytest.mark.parametrize(
    ("then", "word"),
    [
        ("2025-01-01T23:59:59.999999Z", None),
        ("2025-01-02T00:00:00.000000Z", "after the newest step"),
        (FUTURE, "after the newest step"),
        ("2024-12-31T00:00:00.000001Z", None),
        ("2024-12-31T00:00:00.000000Z", "before a step that was recorded"),
        ("2000-01-01T00:00:00.000000Z", "before a step that was recorded"),
    ],
)
def test_a_step_a_day_from_those_before_it_warns(board: Board, then: str, word: str | None) -> None:
    at(board, TODAY)
    assert "warnings" not in board.task("A1")
    at(board, then)
    answer = board.task("A2", request_id="r")
    if word is None:
        assert "warnings" not in answer
    else:
        (warning,) = answer["warnings"]
        assert word in warning
        assert then in warning
        assert TODAY in warning
    assert "warnings" not in board.task("A3")
    assert "warnings" not in board.task("A2", request_id="r")


def test_a_session_that_slept_while_others_went_on_is_no_jump(board: Board) -> None:
    at(board, TODAY)
    board.task("A1")
    for day in range(1, 9):
        at(board, f"2025-01-0{day}T23:00:00.000000Z")
        board.call("session create", id=f"X{day}")
    assert "warnings" not in board.task("A2")


def test_a_lease_of_a_clock_in_the_future_ends_with_this_clock(board: Board) -> None:
    at(board, TODAY)
    board.task("T")
    at(board, FUTURE)
    token = claim(board, "dev-1", lease=600)["claim"]["token"]
    assert board.refused("task claim", id="T", agent_id="dev-2", session_id="S1").code == "CLAIM_LOST"
    at(board, "2025-01-01T00:01:00.000000Z")
    assert board.says("dev-2")[0] != "no_work"
    assert board.call("why", id="T", session_id="S1")["claim"]["overdue"]
    beat = board.call("task heartbeat", session_id="S1", id="T", claim_token=token)
    assert beat["claim"]["until"] == "2025-01-01T00:11:00.000000Z"
    assert board.refused("task claim", id="T", agent_id="dev-2", session_id="S1").code == "CLAIM_LOST"
    at(board, "2025-01-01T00:12:00.000000Z")
    assert claim(board, "dev-2")["taken_over_from"] == "dev-1"


def test_a_step_in_the_future_makes_no_later_lease_last_until_then(board: Board) -> None:
    board.task("T")
    at(board, FUTURE)
    board.task("X")
    at(board, TODAY)
    assert claim(board, "dev-1", lease=600)["claim"]["until"] == "2025-01-01T00:10:00.000000Z"


def test_a_lease_under_a_day_ahead_is_kept(board: Board) -> None:
    at(board, "2025-01-01T23:59:00.000000Z")
    board.task("T")
    claim(board, "dev-1", lease=600)
    at(board, TODAY)
    assert board.refused("task claim", id="T", agent_id="dev-2", session_id="S1").code == "CLAIM_LOST"


@pytest.mark.sqlite("doctor looks at the file")
def test_doctor_names_the_step_of_a_wrong_clock(board: Board) -> None:
    def jumps() -> list[str]:
        found = doctor.doctor(str(board.path), {}, pathlib.Path("/")).findings
        return [each.message for each in found if each.id == "CLOCK_JUMP"]

    board.task("A1", by=DEV)
    assert jumps() == []
    at(board, FUTURE)
    seq = board.task("A2", by=DEV)["seq"]
    (message,) = jumps()
    assert f"Step {seq} of S1 says {FUTURE}, a day or more ahead of the time now" in message
    at(board, "2025-01-01T00:01:00.000000Z")
    board.task("A3", by=DEV)
    (message,) = jumps()
    assert f"Step {seq} of S1 says {FUTURE}, a day or more ahead of step {seq + 1}" in message
