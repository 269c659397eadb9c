"""P4: seven phases in order, each left through its gate, with at most three retries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import lifecycle, lifecycle_table
from orchestrator.core.running import phases
from orchestrator.core.running.phases import Outcome, Progress

PHASES = (
    "REQUIREMENT_ANALYSIS", "TASK_DECOMPOSITION", "PLANNING", "EXECUTION", "QA", "COMPLETION_VALIDATION", "REPORT",
)  # fmt: skip
PASSED = dict.fromkeys(("lint", "tests", "types", "build"), "passed")
EVIDENCE: dict[str, Any] = {
    "requirements": ["R1"], "tasks": {"t1": "complete"}, "plan": "P", "checks": PASSED, "evidence_verified": True,
    "report": {"session_id": "s"},
}  # fmt: skip


def codes_of(outcome: Outcome) -> list[str]:
    return [problem.code for problem in outcome.refusals]


def test_p4_the_phases_are_seven_in_order() -> None:
    assert lifecycle_table.PHASES == PHASES


def test_p4_a_session_goes_through_all_phases() -> None:
    progress = Progress()
    for following in PHASES[1:]:
        progress = phases.finish(progress, EVIDENCE).progress
        progress = phases.advance(progress, following).progress
    assert phases.finish(progress, EVIDENCE) == Outcome(Progress("REPORT", True))


@pytest.mark.parametrize(
    ("source", "to", "code"),
    [
        pytest.param("REQUIREMENT_ANALYSIS", "PLANNING", "E202", id="skips"),
        pytest.param("PLANNING", "TASK_DECOMPOSITION", "E202", id="goes back"),
        pytest.param("REPORT", "QA", "E202", id="goes back from the end"),
        pytest.param("PLANNING", "PLANNING", "E203", id="stays"),
        pytest.param("PLANNING", "DEPLOYMENT", "E203", id="no phase"),
        pytest.param("PLANNING", "execution", "E203", id="another spelling"),
    ],
)
@pytest.mark.parametrize("finished", [True, False], ids=["finished", "unfinished"])
def test_p4_any_move_but_to_the_next_phase_makes_the_session_invalid(
    source: str, to: str, code: str, finished: bool
) -> None:
    outcome = phases.advance(Progress(source, finished), to)
    assert (codes_of(outcome), outcome.progress) == ([code], Progress(source, finished, "INVALID"))


def test_p4_execution_with_an_unfinished_task_is_not_left() -> None:
    gated = phases.finish(Progress("EXECUTION"), {"tasks": {"t1": "complete", "t2": "running"}})
    left = phases.advance(gated.progress, "QA")
    assert (codes_of(gated), codes_of(left), left.progress.status) == (["E210"], ["E204"], "INVALID")


@pytest.mark.parametrize("status", ["ERROR", "INVALID"])
def test_p4_a_session_that_ended_does_nothing_more(status: str) -> None:
    ended = Progress("PLANNING", status=status)
    every = [phases.advance(ended, "EXECUTION"), phases.finish(ended, EVIDENCE), phases.fail(ended, recoverable=True)]
    assert [(codes_of(each), each.progress.status) for each in every] == [(["E204"], "INVALID")] * 3


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("evidence", [{}, {"other": 1}], ids=["nothing", "something else"])
def test_p4_a_phase_without_evidence_is_not_finished(phase: str, evidence: Mapping[str, Any]) -> None:
    outcome = phases.finish(Progress(phase), evidence)
    assert (codes_of(outcome), outcome.progress) == (["E209"], Progress(phase))


@pytest.mark.parametrize("phase", PHASES)
def test_p4_a_phase_with_its_evidence_is_finished(phase: str) -> None:
    assert phases.finish(Progress(phase), EVIDENCE) == Outcome(Progress(phase, True))


@pytest.mark.parametrize(
    ("phase", "evidence", "sentences"),
    [
        pytest.param("REQUIREMENT_ANALYSIS", {"requirements": []}, ["requirements is empty"], id="no requirements"),
        pytest.param("TASK_DECOMPOSITION", {"tasks": {}}, ["tasks is empty"], id="no tasks"),
        pytest.param("PLANNING", {"plan": ""}, ["plan is empty"], id="no plan"),
        pytest.param(
            "EXECUTION", {"tasks": {"a": "running", "b": "error", "c": "queued"}},
            ["task a is running", "task c is queued"], id="unfinished tasks",
        ),
        pytest.param(
            "QA", {"checks": PASSED | {"lint": "failed", "tests": "not run"}}, ["lint failed", "tests not run"],
            id="failed checks",
        ),
        pytest.param("QA", {"checks": {"lint": "passed", "tests": "passed"}},
                     ["nothing is said of types", "nothing is said of build"], id="silence"),
        pytest.param("QA", {"checks": PASSED | {"luck": "passed"}}, ["'luck' is no check"], id="unknown check"),
        pytest.param("COMPLETION_VALIDATION", {"evidence_verified": False},
                     ["the evidence is not verified"], id="not verified"),
        pytest.param("COMPLETION_VALIDATION", {"evidence_verified": 1},
                     ["the evidence is not verified"], id="something like true"),
        pytest.param("REPORT", {"report": {}}, ["report is empty"], id="no report"),
    ],
)  # fmt: skip
def test_p4_a_gate_names_everything_that_it_refuses(
    phase: str, evidence: Mapping[str, Any], sentences: list[str]
) -> None:
    found = phases.gate(phase, evidence)
    assert [(each.code, each.message) for each in found] == [("E210", f"{phase}: {text}.") for text in sentences]


def test_p4_checks_that_a_project_does_not_have_are_no_fault() -> None:
    assert phases.gate("QA", {"checks": {"lint": None, "tests": "passed", "types": None, "build": None}}) == []


def test_p4_the_fourth_recoverable_error_ends_the_session() -> None:
    progress, found = Progress("PLANNING"), []
    for _ in range(4):
        outcome = phases.fail(progress, recoverable=True)
        progress = outcome.progress
        found.append((codes_of(outcome), progress.status))
    assert found == [([], "COMPLETE")] * 3 + [(["E201"], "ERROR")]


def test_p4_a_critical_error_ends_the_session_at_once() -> None:
    outcome = phases.fail(Progress("QA", True), recoverable=False)
    after = phases.finish(outcome.progress, EVIDENCE)
    assert (codes_of(outcome), outcome.progress.status, codes_of(after)) == (["E201"], "ERROR", ["E204"])


def test_p4_the_next_phase_counts_its_errors_afresh() -> None:
    assert phases.advance(Progress("PLANNING", True, retries=3), "EXECUTION").progress == Progress("EXECUTION")


def test_p4_the_phase_machine_has_no_other_triggers() -> None:
    machine, model = lifecycle.phase_machine()
    names = {trigger for trigger, _, _ in lifecycle_table.PHASE_MOVES}
    assert (set(machine.events), model.state, [name for name in dir(model) if name.startswith("to_")]) == (
        names, PHASES[0], [],
    )  # fmt: skip


def test_p4_an_unknown_phase_has_no_next() -> None:
    with pytest.raises(ValueError, match="DEPLOYMENT"):
        lifecycle.next_phase("DEPLOYMENT")


step = st.one_of(
    st.tuples(st.just("advance"), st.sampled_from((*PHASES, "OTHER"))),
    st.tuples(st.just("next"), st.none()),
    st.tuples(st.just("finish"), st.sampled_from([EVIDENCE, {}])),
    st.tuples(st.just("finish"), st.just(EVIDENCE)),
    st.tuples(st.just("fail"), st.booleans()),
)


def taken(progress: Progress, kind: str, value: Any) -> Outcome:
    if kind == "fail":
        return phases.fail(progress, recoverable=value)
    if kind == "finish":
        return phases.finish(progress, value)
    return phases.advance(progress, value or lifecycle.next_phase(progress.phase) or "")


@given(st.lists(step, max_size=30))
def test_p4_random_moves_skip_nothing_and_revive_nothing(steps: list[tuple[str, Any]]) -> None:
    progress = Progress()
    for kind, value in steps:
        before, outcome = progress, taken(progress, kind, value)
        progress = outcome.progress
        moved = PHASES.index(progress.phase) - PHASES.index(before.phase)
        assert moved in ((0, 1) if before.finished and before.status == "COMPLETE" else (0,))
        assert before.status == "COMPLETE" or progress.status == "INVALID"
        assert progress.retries <= 4
        assert bool(outcome.refusals) or progress.status == "COMPLETE"
