"""How swimlanes are drawn in text."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import lanes, layout

DAY = "2026-01-01T"


def bar(role: str, start: str, end: str | None, **more: Any) -> dict[str, Any]:
    state = "done" if end else "open"
    return {"turn": 1, "role": role, "start": f"{DAY}{start}Z", "end": end and f"{DAY}{end}Z", "state": state,
            "rework": False, **more}  # fmt: skip


def lane(group: str | None, *bars: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"group_id": group, "bars": list(bars), "pauses": [], "blocks": [], **more}


ANSWER: dict[str, Any] = {
    "session_id": "S1", "start": f"{DAY}10:00:00Z", "end": f"{DAY}11:00:00Z", "ended": False, "has_more": False,
    "without_steps": 0,
    "lanes": [
        lane(None, bar("project_manager", "10:00:00", "10:06:00")),
        lane(
            "login", bar("developer", "10:06:00", "10:20:00"), bar("qa_expert", "10:20:00", "10:30:00"),
            bar("developer", "10:30:00", None, rework=True),
            blocks=[{"start": f"{DAY}10:24:00Z", "end": f"{DAY}10:30:00Z"}],
            pauses=[{"start": f"{DAY}10:40:00Z", "end": None}],
        ),
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def plain() -> Any:
    yield
    screen.use(screen.PLAIN)


def test_a_lane_shows_its_turns_and_below_them_what_stopped_it() -> None:
    screen.use(screen.Screen(width=71))
    assert lanes.lanes(ANSWER)[3:] == [
        "(session)  P======",
        "login            D=============Q=========D~~~~~~~~~~~~~~~~~~~~~~~~~~~~>",
        "                                   !!!!!!!         ????????????????????",
        "",
        "P project_manager, D developer, Q qa_expert, = at work, ~ rework, > still open, ! blocked,"
        " ? waits for a person",
    ]


@pytest.mark.parametrize("width", [None, 20, 80, 200])
def test_it_fits_the_screen(width: int | None) -> None:
    screen.use(screen.Screen(width=width))
    drawn = lanes.lanes(ANSWER)[2:-1]
    assert max(map(len, drawn)) <= max(width or lanes.NARROW, lanes.LEAST + len("(session)  "))


def test_colour_changes_no_column() -> None:
    screen.use(screen.Screen(width=80))
    plain_ = lanes.lanes(ANSWER)
    screen.use(screen.Screen(width=80, colour=True))
    coloured = lanes.lanes(ANSWER)
    assert any("\x1b[" in line for line in coloured)
    assert [layout.columns(line) for line in coloured] == [layout.columns(line) for line in plain_]


def test_turns_that_share_a_column_are_marked() -> None:
    made = {**ANSWER, "lanes": [lane("A", *(bar("developer", f"10:00:0{n}", f"10:00:0{n + 1}") for n in range(3)))]}
    assert "A  +" in lanes.lanes(made)


def test_a_session_without_lanes_says_so() -> None:
    assert lanes.lanes({**ANSWER, "lanes": []}) == ["No groups."]
    assert lanes.lanes({**ANSWER, "without_steps": 2})[-1] == "2 groups without a step."
