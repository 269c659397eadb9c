"""A lane of swimlanes as a picture: where its parts stand, and that what is in it is text."""

from __future__ import annotations

import re
from typing import Any

import pytest

from orchestrator.core import lane_picture

START, END = "2025-01-01T00:00:00.000000Z", "2025-01-01T01:40:00.000000Z"
"""A hundred minutes, ten units of the picture each."""


def at(minute: int) -> str:
    return f"2025-01-01T{minute // 60:02d}:{minute % 60:02d}:00.000000Z"


def bar(start: int, end: int | None, **more: Any) -> dict[str, Any]:
    return {
        "turn": 3, "role": "developer", "agent_id": "d", "start": at(start), "end": None if end is None else at(end),
        "state": "done", "rework": False, "report_id": "S:R4", "response_status": "READY_FOR_QA", "effect": "none",
        "summary": "done", "decision_id": "S:D4", "next_agent": "qa_expert", "action": "spawn", **more,
    }  # fmt: skip


def lane(*bars: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"group_id": "A", "bars": list(bars), "pauses": [], "blocks": [], **more}


def drawn(found: dict[str, Any], *, zoom: int = 1, part: int = 0, base: str = "") -> str:
    shown = lane_picture.part(lane_picture.window(START, END), zoom, part)
    return lane_picture.svg(found, shown, base)


@pytest.mark.parametrize(
    ("start", "end", "zoom", "part", "place"),
    [
        pytest.param(10, 30, 1, 0, ("100.0", "199.0"), id="inside"),
        pytest.param(50, None, 1, 0, ("500.0", "499.0"), id="open until the edge"),
        pytest.param(10, 10, 1, 0, ("100.0", "3.0"), id="no time, and still seen"),
        pytest.param(10, 30, 4, 0, ("400.0", "599.0"), id="cut at the end of a part"),
        pytest.param(10, 30, 4, 1, ("0.0", "199.0"), id="cut at the beginning of a part"),
    ],
)
def test_a_bar_stands_where_its_time_is(
    start: int, end: int | None, zoom: int, part: int, place: tuple[str, str]
) -> None:
    found = drawn(lane(bar(start, end)), zoom=zoom, part=part)
    assert re.findall(r'<rect class="bar [^"]*" x="([\d.]+)" y="5" width="([\d.]+)"', found) == [place]


def test_what_is_outside_of_the_time_is_not_drawn() -> None:
    assert "<rect" not in drawn(lane(bar(10, 20)), zoom=4, part=3)


def test_rework_questions_and_blocked_time_are_marked() -> None:
    pause = {"id": "S:Q1", "kind": "review", "text": "Right?", "start": at(1), "end": None}
    block = {"id": "S:B1", "type": "external", "class": "soft", "reason": "no key", "start": at(2), "end": at(4)}
    found = drawn(lane(bar(0, 1, rework=True), pauses=[pause], blocks=[block]))
    assert re.findall(r'class="(again|pause|block)"', found) == ["again", "pause", "block"]
    assert re.findall("<title>([^<]*)</title>", found)[1:] == ["review: Right?", "blocked (external): no key"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "developer, turn 3: READY_FOR_QA → qa expert: done"),
        ({"rework": True, "next_agent": None, "summary": ""}, "developer, turn 3, rework: READY_FOR_QA"),
        ({"state": "open"}, "developer, turn 3: at work"),
        ({"state": "replaced"}, "developer, turn 3: no report; the turn was replaced"),
        ({"turn": None}, "developer, no turn: READY_FOR_QA → qa expert: done"),
    ],
)
def test_a_bar_says_what_it_stands_for(more: dict[str, Any], told: str) -> None:
    assert lane_picture.told(bar(0, 1, **more)) == told


def test_a_bar_leads_to_its_decision_and_an_open_one_to_its_hand_off() -> None:
    assert lane_picture.address(bar(0, 1), "A", "/sessions/S") == "/sessions/S/decisions/D4"
    assert lane_picture.address(bar(0, None, decision_id=None), "A", "/s") == "/s/handoffs/3?group=A"
    assert "<a " not in drawn(lane(bar(0, 1)))


def test_text_in_a_lane_is_text() -> None:
    hostile = "</title><script>alert(1)</script>\x00\""
    found = drawn(lane(bar(0, 1, summary=hostile, response_status=hostile)), base="/sessions/S")
    assert ("<script" in found, "\x00" in found) == (False, False)


def test_an_unknown_role_has_a_colour_too() -> None:
    assert [lane_picture.tone(role) for role in ("qa_expert", "poet")] == ["role-qa-expert", "role-other"]


def test_the_moments_of_a_time_are_its_quarters() -> None:
    assert lane_picture.moments(lane_picture.window(START, END))[::2] == [
        "2025-01-01T00:00:00Z", "2025-01-01T00:50:00Z", "2025-01-01T01:40:00Z",
    ]  # fmt: skip
