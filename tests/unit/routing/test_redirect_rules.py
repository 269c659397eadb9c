"""The stage *redirect*: reduced testing, escalation, budgets, the loop guard, merges without approval."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.routing import rules
from orchestrator.core.routing.facts import Path, Target
from tests.unit.routing import build
from tests.unit.routing.build import case, group, session

DEV, SSE, QA, TL = "developer", "senior_software_engineer", "qa_expert", "tech_lead"
PM, USER = "project_manager", "user"


# Reduced testing


@pytest.mark.parametrize(
    ("mode", "role", "status", "expected"),
    [
        pytest.param("full", DEV, "READY_FOR_QA", QA, id="full"),
        pytest.param("minimal", DEV, "READY_FOR_QA", TL, id="minimal"),
        pytest.param("disabled", DEV, "READY_FOR_QA", TL, id="disabled"),
        pytest.param("disabled", SSE, "READY_FOR_QA", TL, id="disabled, senior"),
        pytest.param("disabled", DEV, "PARTIAL", DEV, id="not on its way to QA"),
        pytest.param("minimal", TL, "CHANGES_REQUESTED", DEV, id="no affected status"),
    ],
)
def test_where_a_session_tests_less_work_skips_quality_assurance(
    mode: str, role: str, status: str, expected: str
) -> None:
    decision = build.decide(role, status, session=session(testing_mode=mode))
    skipped = mode != "full" and status == "READY_FOR_QA"
    reason = f"QA skipped (testing_mode={mode})"
    assert decision.target.agent == expected
    assert (build.fired(decision), decision.extras) == (
        (["testing_mode"], {"skip_reason": reason}) if skipped else ([], {})
    )


def test_only_affected_statuses_skip_quality_assurance() -> None:
    used = build.workflow(build.rule("testing_mode_minimal", affected_statuses=["OTHER"]))
    assert build.target(DEV, "READY_FOR_QA", session=session(testing_mode="minimal"), workflow=used) == (QA, "spawn")


def test_a_mode_without_a_rule_skips_nothing() -> None:
    used = build.workflow(build.without_rule("testing_mode_minimal"))
    assert build.target(DEV, "READY_FOR_QA", session=session(testing_mode="minimal"), workflow=used) == (QA, "spawn")


def test_a_report_may_ask_for_more_testing_than_its_session() -> None:
    minimal = session(testing_mode="minimal")
    assert build.target(DEV, "READY_FOR_QA", session=minimal, testing_mode="full") == (QA, "spawn")


# Escalation

FAIL = (QA, "FAIL", "qa_attempts")
REJECT = (TL, "CHANGES_REQUESTED", "tl_review_attempts")
MERGE = (DEV, "MERGE_CONFLICT", "merge_attempts")
TESTS = (DEV, "MERGE_TEST_FAILURE", "merge_attempts")


@pytest.mark.parametrize(
    ("failing", "failures", "expected"),
    [
        pytest.param(failing, failures, expected, id=f"{failing[1]} {failures} times")
        for failing, ladder in (
            (FAIL, [DEV, SSE, SSE, TL, TL, PM, PM, USER, USER, USER]),
            (REJECT, [DEV, SSE, SSE, PM, PM, PM, PM, USER, USER, USER]),
            (MERGE, [DEV, SSE, SSE, TL, TL, PM, PM, USER, USER, USER]),
            (TESTS, [DEV, SSE, SSE, TL, TL, PM, PM, USER, USER, USER]),
        )
        for failures, expected in enumerate(ladder, start=1)
    ],
)
def test_failures_of_one_kind_climb_band_by_band(failing: tuple[str, str, str], failures: int, expected: str) -> None:
    role, status, counter = failing
    decision = build.decide(role, status, group=group(**{counter: failures - 1}))
    action = "pause_for_user" if expected == USER else "respawn" if failures == 1 else "spawn"
    assert decision.target == Target(expected, action)
    reason = f"Escalated after {failures} failures ({counter})"
    applied = {"escalation_applied": True, "escalation_reason": reason, "escalation_counter": {counter: failures}}
    assert decision.extras == (applied if failures > 1 else {})
    assert build.fired(decision) == (["escalation"] if failures > 1 else [])


@pytest.mark.parametrize(
    ("threshold", "failures", "expected"),
    [
        pytest.param(1, 1, SSE, id="1: at once"),
        pytest.param(1, 2, TL, id="1: second"),
        pytest.param(1, 3, PM, id="1: third"),
        pytest.param(1, 4, USER, id="1: fourth"),
        pytest.param(3, 2, DEV, id="3: below"),
        pytest.param(3, 5, SSE, id="3: end of the first band"),
        pytest.param(3, 6, TL, id="3: second band"),
        pytest.param(3, 11, PM, id="3: end of the third band"),
        pytest.param(3, 12, USER, id="3: from four times on"),
    ],
)
def test_the_bands_follow_the_threshold(threshold: int, failures: int, expected: str) -> None:
    used = build.workflow(build.rule("escalation_after_failures", threshold=threshold))
    decision = build.decide(QA, "FAIL", group=group(qa_attempts=failures - 1), workflow=used)
    assert decision.target.agent == expected


def test_kinds_are_counted_apart() -> None:
    others = group(tl_review_attempts=9, merge_attempts=9)
    assert build.target(QA, "FAIL", group=others) == (DEV, "respawn")


def test_only_a_transition_with_the_check_is_redirected_though_it_counts() -> None:
    assert build.target(QA, "FAIL_ESCALATE", group=group(qa_attempts=5)) == (SSE, "spawn")


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"group": None}, id="no group"),
        pytest.param({"workflow": build.workflow(build.without_rule("escalation_after_failures"))}, id="no rule"),
    ],
)
def test_nothing_escalates_without(more: dict[str, Any]) -> None:
    failed = {"group": group(qa_attempts=5), **more}
    assert build.target(QA, "FAIL", **failed) == (DEV, "respawn")


def test_the_persons_question_says_why() -> None:
    decision = build.decide(QA, "FAIL", group=group(qa_attempts=7))
    assert decision.question == ("budget", "Escalated after 8 failures (qa_attempts)")
    assert decision.postponed == Target(DEV, "respawn")


def test_an_escalation_to_a_disabled_role_falls_back() -> None:
    decision = build.decide(QA, "FAIL", group=group(qa_attempts=1), session=session(disabled_roles=(SSE,)))
    assert (decision.target.agent, build.fired(decision)) == (TL, ["escalation", "fallback"])


# Investigation budget


@pytest.mark.parametrize("status", ["HYPOTHESIS_ELIMINATED", "NEED_MORE_ANALYSIS"])
@pytest.mark.parametrize(
    ("rounds", "expected"),
    [pytest.param(n, "investigator" if n < 5 else TL, id=f"round {n}") for n in range(1, 7)],
)
def test_an_investigation_has_five_rounds(status: str, rounds: int, expected: str) -> None:
    decision = build.decide("investigator", status, group=group(iterations=rounds - 1))
    assert decision.target.agent == expected
    assert build.fired(decision) == ([] if rounds < 5 else ["iteration_budget"])


def test_other_reports_of_the_investigator_use_no_round() -> None:
    decision = build.decide("investigator", "NEED_DEVELOPER_DIAGNOSTIC", group=group(iterations=9))
    assert (decision.target.agent, decision.rules) == (DEV, ())


def test_an_exhausted_budget_may_go_to_a_person() -> None:
    used = build.workflow(build.rule("investigation_budget", on_exhausted="question", max_iterations=1))
    decision = build.decide("investigator", "NEED_MORE_ANALYSIS", workflow=used)
    assert (decision.target, decision.question) == (
        Target(USER, "pause_for_user"), ("budget", "1 investigation rounds used")
    )


def test_a_budget_needs_a_group() -> None:
    assert build.target("investigator", "NEED_MORE_ANALYSIS", group=None) == ("investigator", "respawn")


# Loop guard


@pytest.mark.parametrize(
    ("role", "status", "visits", "expected"),
    [
        pytest.param(DEV, "PARTIAL", 5, DEV, id="below the limit"),
        pytest.param(DEV, "PARTIAL", 6, TL, id="first rung"),
        pytest.param(DEV, "PARTIAL", 7, PM, id="second rung"),
        pytest.param(DEV, "PARTIAL", 8, USER, id="third rung"),
        pytest.param(DEV, "PARTIAL", 50, USER, id="long after"),
        pytest.param(QA, "BLOCKED", 5, TL, id="below, on its way to the tech lead"),
        pytest.param(QA, "BLOCKED", 6, PM, id="the target is skipped"),
        pytest.param(QA, "BLOCKED", 7, PM, id="second rung after a skipped one"),
        pytest.param(QA, "BLOCKED", 8, USER, id="third rung after a skipped one"),
        pytest.param(TL, "ARCHITECTURAL_DECISION_MADE", 6, PM, id="the reporter is skipped"),
        pytest.param(TL, "ARCHITECTURAL_DECISION_MADE", 8, USER, id="the reporter, third rung"),
        pytest.param(PM, "ESCALATING_TO_TECH_LEAD", 6, USER, id="target and reporter are skipped"),
        pytest.param(PM, "REWORK", 6, TL, id="the manager's rework"),
        pytest.param(PM, "REWORK", 7, USER, id="the manager is skipped"),
    ],
)
def test_the_same_report_without_progress_climbs_rung_by_rung(
    role: str, status: str, visits: int, expected: str
) -> None:
    decision = build.decide(role, status, facts={"visits": visits - 1})
    assert decision.target.agent == expected
    guarded = [f"{role} {status} for the {visits}th time without progress"] if visits > 5 else []
    assert [rule.reason for rule in decision.rules if rule.name == "loop_guard"] == guarded


@pytest.mark.parametrize(
    ("rungs", "visits", "expected"),
    [
        pytest.param(["question"], 3, USER, id="a person at once"),
        pytest.param(["project_manager", "question"], 3, PM, id="the manager first"),
        pytest.param(["tech_lead"], 4, USER, id="past the last rung"),
    ],
)
def test_rungs_and_limit_are_the_files(rungs: list[str], visits: int, expected: str) -> None:
    used = build.workflow(build.rule("loop_guard", max_visits=3, on_exhausted=rungs))
    assert build.decide(DEV, "PARTIAL", workflow=used, facts={"visits": visits - 1}).target.agent == expected


@pytest.mark.parametrize(
    ("status", "at"),
    [
        pytest.param("CONTINUE", None, id="of the session"),
        pytest.param("BAZINGA", None, id="the confirmation"),
        pytest.param("CONTINUE", build.pending(), id="on a group that it does not start"),
        pytest.param("DEFER_EXTERNAL", build.group(), id="on a group that it closes"),
    ],
)
def test_where_no_group_waits_the_person_is_asked_at_once(status: str, at: Any) -> None:
    decision = build.decide(PM, status, group=at, facts={"visits": 5})
    assert decision.target == Target(USER, "pause_for_user")
    assert decision.question is not None
    assert decision.question.kind == "budget"


def test_a_report_that_completes_its_group_is_never_redirected() -> None:
    done = Path(approved=True, merged=True, valid=True)
    decision = build.decide(DEV, "MERGE_SUCCESS", path=done, facts={"visits": 99})
    assert (decision.target.action, decision.rules) == ("check_phase", ())


def test_a_verdict_is_not_sent_elsewhere() -> None:
    assert build.target("validator", "ACCEPT", group=None, facts={"visits": 99}) == (None, "end_session")


# Merge without approval


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(Path(), (TL, "spawn"), id="never approved"),
        pytest.param(Path(merged=True), (TL, "spawn"), id="the approval was voided"),
        pytest.param(Path(approved=True, merged=True), (None, "check_phase"), id="approved"),
    ],
)
def test_a_merge_without_a_valid_approval_goes_to_the_tech_lead(path: Path, expected: tuple[str | None, str]) -> None:
    decision = build.decide(DEV, "MERGE_SUCCESS", path=path)
    assert (decision.target.agent, decision.target.action) == expected
    assert build.fired(decision) == ([] if path.approved else ["merge_without_approval"])


# The highest rung wins


@pytest.mark.parametrize(
    ("failures", "visits", "expected"),
    [
        pytest.param(2, 6, TL, id="loop guard's tech lead over the escalation agent"),
        pytest.param(2, 7, PM, id="loop guard's manager over the escalation agent"),
        pytest.param(4, 6, TL, id="both say tech lead"),
        pytest.param(6, 6, PM, id="escalation's manager over the tech lead"),
        pytest.param(4, 8, USER, id="a question over the tech lead"),
        pytest.param(8, 7, USER, id="a question over the manager"),
    ],
)
def test_of_several_redirections_the_highest_rung_wins_and_all_are_named(
    failures: int, visits: int, expected: str
) -> None:
    decision = build.decide(QA, "FAIL", group=group(qa_attempts=failures - 1), facts={"visits": visits - 1})
    assert (decision.target.agent, build.fired(decision)) == (expected, ["escalation", "loop_guard"])


def test_a_question_names_every_reason() -> None:
    decision = build.decide(QA, "FAIL", group=group(qa_attempts=7), facts={"visits": 5})
    assert decision.question is not None
    assert decision.question.text == (
        "Escalated after 8 failures (qa_attempts); qa_expert FAIL for the 6th time without progress"
    )


def test_an_unapproved_merge_that_loops_climbs_over_the_tech_lead() -> None:
    decision = build.decide(DEV, "MERGE_SUCCESS", facts={"visits": 6})
    assert (decision.target.agent, build.fired(decision)) == (PM, ["loop_guard", "merge_without_approval"])


def test_reduced_testing_gives_way_to_the_loop_guard() -> None:
    decision = build.decide(DEV, "READY_FOR_QA", session=session(testing_mode="disabled"), facts={"visits": 6})
    assert (decision.target.agent, build.fired(decision)) == (PM, ["testing_mode", "loop_guard"])


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        pytest.param(USER, 4, id="question"),
        pytest.param(PM, 3, id="project manager"),
        pytest.param(TL, 2, id="tech lead"),
        pytest.param(SSE, 1, id="escalation agent"),
        pytest.param(DEV, 0, id="other"),
        pytest.param(None, 0, id="nobody"),
    ],
)
def test_how_high_a_target_stands(agent: str | None, expected: int) -> None:
    assert rules.height(case(QA, "FAIL"), Target(agent, "spawn")) == expected


@pytest.mark.parametrize("agent", [TL, PM])
def test_an_escalation_agent_that_is_a_rung_keeps_the_rungs_height(agent: str) -> None:
    used = build.workflow(build.rule("escalation_after_failures", escalation_agent=agent))
    plain = rules.height(case(QA, "FAIL"), Target(agent, "spawn"))
    assert rules.height(case(QA, "FAIL", workflow=used), Target(agent, "spawn")) == plain
