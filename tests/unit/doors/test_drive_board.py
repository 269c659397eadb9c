"""The live table of `drive`: what stands in it, and that it fits its screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.doors.cli import drive_board, screen
from orchestrator.doors.cli.text import layout

NOW = "2026-05-04T10:10:00.000000Z"


@pytest.fixture(autouse=True)
def _plain_afterwards() -> Iterator[None]:
    yield
    screen.use(screen.PLAIN)


def turn(**more: Any) -> dict[str, Any]:
    return {
        "group_id": "LOGIN", "role": "developer", "turn": 7, "action": "spawn", "state": "running", "via": "drive",
        "since": "2026-05-04T10:07:00.000000Z", "last_sign": "2026-05-04T10:09:58.000000Z", "due_at": None,
        "executor": "claude-code", "model": "sonnet", "cost_usd": "1.20", **more,
    }  # fmt: skip


LIMITED = turn(
    group_id=None, role="project_manager", state="limited", last_sign=None, cost_usd=None, model=None,
    due_at="2026-05-04T10:40:00.000000Z",
)  # fmt: skip


def drawn(width: int, *turns: dict[str, Any], newest: tuple[str, ...] = (), rows: int = 30) -> list[str]:
    screen.use(screen.Screen(width, colour=False, now=NOW))
    standing = drive_board.Standing("S1", "Ship the login page", "running", turns, "3.40")
    return drive_board.frame(standing, newest, 3725, rows)


def test_it_says_who_is_at_work_since_when_and_what_it_cost() -> None:
    assert drawn(80, turn(), newest=("LOGIN turn 7 developer started",)) == [
        "Session S1: running, 1:02:05, $3.40",
        "Ship the login page",
        "",
        "GROUP  WHO                 STATE    SINCE      LAST SIGN  COST",
        "LOGIN  developer (sonnet)  running  3 min ago  2 s ago    $1.20",
        "",
        "LOGIN turn 7 developer started",
    ]


def test_who_waits_for_a_usage_limit_says_until_when() -> None:
    (row,) = (line for line in drawn(120, LIMITED) if "project_manager" in line)
    assert "waits for a usage limit for another 30 min" in row


def test_nobody_at_work_is_said() -> None:
    assert "Nobody is at work." in drawn(80)


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    told = ("x" * 300, "終" * 200, "a\x1b[2Jb")
    lines = drawn(width, turn(group_id="A-GROUP-WITH-A-LONG-NAME"), LIMITED, newest=told)
    assert max(map(layout.columns, lines)) <= width
    assert not any("\x1b" in line for line in lines)
    assert lines[-3].endswith("…")


@pytest.mark.parametrize(("rows", "shown"), [(30, 8), (11, 4), (5, 0)])
def test_the_newest_give_way_where_the_screen_is_low(rows: int, shown: int) -> None:
    newest = tuple(f"event {number}" for number in range(9))
    lines = [line for line in drawn(80, turn(), newest=newest, rows=rows) if line.startswith("event")]
    assert lines == [f"event {number}" for number in range(9)][9 - shown :]
