"""What a page says of a driver: in words, and of no place on the machine."""

from __future__ import annotations

from typing import Any, cast

import pytest

pytest.importorskip("fastapi", reason="the pages need the extra `web`")

from orchestrator.app.driving import autopilot, crew
from orchestrator.app.driving.autopilot import Autopilot, Standing
from orchestrator.app.driving.requests import Drive
from orchestrator.core.suggestions import sentence
from orchestrator.doors.web import session_activity
from orchestrator.errors import EnvironmentProblem
from orchestrator.runner.executors import command
from tests.cases import every

PROGRAM = "/srv/my agents/agent.sh"
MEMBER = crew.Member(f"command:{PROGRAM}", cast(Any, None))
LACKS = EnvironmentProblem(
    "PREFLIGHT_FAILED",
    sentence("executor {}: {}", MEMBER.shown, command.program_state(PROGRAM, {"PATH": ""}).reason), "",
)
OPEN: dict[str, Any] = {"state": "running", "questions": []}
ASKED: dict[str, Any] = {"state": "person_awaited", "questions": [{}]}


def said(standing: Standing | None, found: dict[str, Any]) -> dict[str, Any] | None:
    request = Drive(executor=f"command:{PROGRAM}")
    pilot = Autopilot(cast(Any, None), cast(Any, None), request, lambda _: None)
    if standing is not None:
        pilot._rests["S1"] = autopilot._Rest(1, None, 0, standing)
    return session_activity.driver(pilot, "S1", found)


def test_a_fault_is_told_without_places() -> None:
    found = said(Standing(autopilot.FAILED, "", fault=LACKS), OPEN)
    assert found is not None
    assert "tries again" in found["said"]
    assert found["reason"].startswith("executor command: There is no program")
    assert "/srv" not in str(found)


@every(
    ("state", "found", "words"),
    [
        (autopilot.RESTING, ASKED, "A person is awaited"),
        (autopilot.RESTING, OPEN, "rests until something happens"),
        (autopilot.ELSEWHERE, OPEN, "Another process drives"),
    ],
)
def test_each_state_has_its_sentence(state: str, found: dict[str, Any], words: str) -> None:
    told = said(Standing(state, ""), found)
    assert told is not None
    assert words in told["said"]


def test_nothing_is_said_of_a_session_that_has_ended_or_is_not_driven_here() -> None:
    assert said(Standing(autopilot.RESTING, ""), {**OPEN, "state": "ended"}) is None
    assert said(None, OPEN) is None
