"""The lines of `drive`: how it ended, what was removed."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.doors.cli import drive

NEXT = ["orchestrator drive S1", "orchestrator handoff A", "orchestrator route developer CODE"]


@pytest.mark.parametrize(
    ("outcome", "lines"),
    [
        pytest.param("work_remains", ["Work remains after 1 turn", "Next: orchestrator drive S1"], id="driven on"),
        pytest.param("person", ["Waiting for a person after 1 turn", *(f"Next: {each}" for each in NEXT)], id="by"
            " hand"),
        pytest.param("stalled", ["Stalled after 1 turn: why", *(f"Next: {each}" for each in NEXT)], id="with a reason"),
    ],
)
def test_an_end_is_said_once_with_what_goes_on(outcome: str, lines: list[str]) -> None:
    answer: dict[str, Any] = {"outcome": outcome, "reason": "why", "steps": 1, "questions": [], "next": NEXT}
    assert drive.ended(answer) == lines


def test_what_was_removed_and_what_stays_is_a_line_each() -> None:
    answer = {"removed": ["o/S1/A"], "kept": ["o/S1/B"], "in_use": ["o/S1/C"]}
    assert drive.cleaned(answer).splitlines() == [
        "removed o/S1/A", "kept o/S1/B: not merged into the checked-out branch",
        "kept o/S1/C: a driver, an agent, or another --clean is at work",
    ]  # fmt: skip
    assert drive.cleaned({"removed": [], "kept": [], "in_use": []}) == "Nothing left to remove."
