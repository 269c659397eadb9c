"""The phases of a run as its log tells them: also what cannot come about while the runner alone moves them is told."""

from __future__ import annotations

import pytest

from orchestrator.core import lifecycle
from orchestrator.core.lifecycle_table import PHASES
from orchestrator.core.running import phases

AT = "2026-01-02T03:04:05.000006Z"
TIMES = dict.fromkeys(PHASES, AT)
MADE = phases.evidence_of(
    prompt="create a.md", tasks={"task-1": "complete"}, plan={"executor": "x"}, checks={}, verified=True, report="made"
)


def texts(**more: object) -> list[str]:
    return [entry["text"] for entry in phases.walk({**MADE, **more}, TIMES)]  # type: ignore[dict-item]


def test_p4_all_seven_are_passed_in_order() -> None:
    assert texts() == [f"{phase}: passed" for phase in PHASES]


@pytest.mark.parametrize("phase", PHASES)
def test_p4_a_phase_without_its_evidence_is_the_last_one(phase: str) -> None:
    assert texts(**{phase: {}})[-1] == f"{phase}: E209 {phase} has no evidence: {phases.NEEDS[phase]} is missing."


@pytest.mark.parametrize(
    ("following", "expected"),
    [
        pytest.param("PLANNING", "E202 REQUIREMENT_ANALYSIS is followed by TASK_DECOMPOSITION, not by", id="skip"),
        pytest.param("DEPLOYMENT", "E203 There is no move from REQUIREMENT_ANALYSIS to", id="no phase"),
    ],
)
def test_p4_a_move_out_of_order_is_told_and_ends_the_walk(
    monkeypatch: pytest.MonkeyPatch, following: str, expected: str
) -> None:
    told, wrong = lifecycle.next_phase, iter([following])
    monkeypatch.setattr(lifecycle, "next_phase", lambda phase: next(wrong, None) or told(phase))
    found = texts()
    assert (len(found), found[0]) == (2, "REQUIREMENT_ANALYSIS: passed")
    assert found[1].startswith(f"REQUIREMENT_ANALYSIS: {expected}")
    assert told("REQUIREMENT_ANALYSIS") == "TASK_DECOMPOSITION"


def test_p4_a_phase_that_is_not_finished_is_not_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "finish", lambda progress, evidence: phases.Outcome(progress))
    assert texts() == [
        "REQUIREMENT_ANALYSIS: passed", "REQUIREMENT_ANALYSIS: E204 REQUIREMENT_ANALYSIS is not finished."
    ]  # fmt: skip
