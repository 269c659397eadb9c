"""The stage *constraint*, which has the last word on the agent, and the override *user_review*."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.routing import engine
from orchestrator.core.routing.facts import Fired, Target
from tests.unit.routing import build
from tests.unit.routing.build import blocker, group, session

DEV, SSE, QA, TL, RE = "developer", "senior_software_engineer", "qa_expert", "tech_lead", "requirements_engineer"

TO_DEVELOPER = [
    ("qa_expert", "FAIL"),
    ("tech_lead", "CHANGES_REQUESTED"),
    ("tech_lead", "APPROVED"),
    ("tech_lead", "ARCHITECTURAL_DECISION_MADE"),
    ("developer", "PARTIAL"),
    ("investigator", "NEED_DEVELOPER_DIAGNOSTIC"),
    ("project_manager", "REWORK"),
]
TO_DEVELOPER_IDS = [f"{role} {status}" for role, status in TO_DEVELOPER]
OF_DEVELOPER = blocker(opened_role=DEV, opened_by="developer@S1:G")


@pytest.mark.parametrize(("role", "status"), TO_DEVELOPER, ids=TO_DEVELOPER_IDS)
def test_a_security_group_never_goes_to_a_developer_and_the_action_stays(role: str, status: str) -> None:
    plain = build.decide(role, status, group=group(builder_role=DEV))
    decision = build.decide(role, status, group=group(builder_role=DEV, security_sensitive=1))
    assert decision.target == Target(SSE, plain.target.action)
    assert decision.extras == {"security_override": True}
    assert build.fired(decision)[-1] == "security"


@pytest.mark.parametrize(("role", "status"), TO_DEVELOPER, ids=TO_DEVELOPER_IDS)
def test_what_the_senior_engineer_has_does_not_go_back_to_a_developer(role: str, status: str) -> None:
    plain = build.decide(role, status, group=group(builder_role=DEV))
    decision = build.decide(role, status, group=group(builder_role=DEV, senior=1))
    assert decision.target == Target(SSE, plain.target.action)
    assert build.fired(decision)[-1] == "no_downgrade"


@pytest.mark.parametrize(
    ("values", "expected", "rules"),
    [
        pytest.param({"senior": 1}, SSE, ["return_to_blocked", "no_downgrade"], id="senior"),
        pytest.param({"security_sensitive": 1}, SSE, ["return_to_blocked", "security"], id="security"),
        pytest.param({}, DEV, ["return_to_blocked"], id="plain"),
    ],
)
def test_returning_to_a_blocked_developer_is_constrained_too(
    values: dict[str, Any], expected: str, rules: list[str]
) -> None:
    decision = build.decide("tech_lead", "UNBLOCKING_GUIDANCE", group=group(**values), blockers=(OF_DEVELOPER,))
    assert (decision.target.agent, build.fired(decision)) == (expected, rules)
    assert decision.target.instance == ("developer@S1:G" if expected == DEV else None)


def test_a_name_that_speaks_of_security_changes_nothing() -> None:
    assert build.target("qa_expert", "FAIL", group=group(name="OAuth2 login")) == (DEV, "respawn")


def test_without_a_forced_agent_in_the_file_security_changes_no_agent() -> None:
    used = build.workflow(build.without_rule("security_sensitive"))
    assert build.target("qa_expert", "FAIL", group=group(security_sensitive=1), workflow=used) == (DEV, "respawn")


def test_no_other_agent_is_replaced_for_security() -> None:
    decision = build.decide("senior_software_engineer", "READY_FOR_QA", group=group(security_sensitive=1))
    assert (decision.target.agent, decision.rules) == (QA, ())


def test_in_a_security_group_security_has_the_last_word() -> None:
    used = build.workflow(build.rule("security_sensitive", force_agent=TL))
    decision = build.decide("qa_expert", "FAIL", group=group(security_sensitive=1, senior=1), workflow=used)
    assert (decision.target.agent, build.fired(decision)) == (TL, ["security"])


@pytest.mark.parametrize("status", ["APPROVED", "APPROVED_WITH_NOTES"])
def test_nobody_merges_research(status: str) -> None:
    decision = build.decide("tech_lead", status, group=group(kind="research"))
    assert (decision.target, decision.model) == (Target(None, "check_phase"), None)
    assert build.fired(decision) == ["research"]


@pytest.mark.parametrize(
    ("values", "expected", "rules"),
    [
        pytest.param({}, RE, ["research"], id="the research agent takes the developer's place"),
        pytest.param({"senior": 1}, SSE, ["no_downgrade"], id="until the senior engineer has the group"),
        pytest.param({"security_sensitive": 1}, RE, ["research"], id="in a security group too"),
        pytest.param({"senior": 1, "security_sensitive": 1}, SSE, ["security"], id="senior and security"),
    ],
)
def test_developers_do_no_research(values: dict[str, Any], expected: str, rules: list[str]) -> None:
    decision = build.decide("tech_lead", "CHANGES_REQUESTED", group=group(kind="research", **values))
    assert (decision.target, build.fired(decision)) == (Target(expected, "respawn"), rules)


def test_other_agents_stay_in_research() -> None:
    decision = build.decide("requirements_engineer", "READY_FOR_REVIEW", group=group(kind="research"))
    assert (decision.target.agent, decision.rules) == (TL, ())


def test_constraints_follow_redirections() -> None:
    used = build.workflow(build.rule("escalation_after_failures", escalation_agent=DEV))
    failed = group(qa_attempts=1, security_sensitive=1)
    decision = build.decide("qa_expert", "FAIL", group=failed, workflow=used)
    assert (decision.target, build.fired(decision)) == (Target(SSE, "spawn"), ["escalation", "security"])


def test_a_role_that_a_constraint_chose_may_be_disabled() -> None:
    without = session(disabled_roles=(SSE,))
    decision = build.decide("qa_expert", "FAIL", group=group(security_sensitive=1), session=without)
    assert (decision.target.agent, build.fired(decision)) == (TL, ["security", "fallback"])


@pytest.mark.parametrize(
    ("values", "disabled", "expected", "rules"),
    [
        pytest.param({}, (), DEV, [], id="plain"),
        pytest.param({"senior": 1}, (), SSE, ["no_downgrade"], id="senior"),
        pytest.param({"security_sensitive": 1}, (), SSE, ["security"], id="security"),
        pytest.param({"kind": "research"}, (), RE, ["research"], id="research"),
        pytest.param({}, (DEV,), TL, ["fallback"], id="disabled"),
    ],
)
def test_targets_that_no_report_led_to_are_constrained_alike(
    values: dict[str, Any], disabled: tuple[str, ...], expected: str, rules: list[str]
) -> None:
    found, fired = engine.constrain(
        build.shipped(), session(disabled_roles=disabled), group(**values), Target(DEV, "respawn")
    )
    assert (found.agent, [rule.name for rule in fired]) == (expected, rules)


# The override


def test_a_report_that_asks_for_review_waits_for_a_person_and_keeps_what_would_have_followed() -> None:
    decision = build.decide("qa_expert", "FAIL", group=group(qa_attempts=1), review_reason="the data looks wrong")
    assert decision.target == Target("user", "pause_for_user")
    assert decision.postponed == Target(SSE, "spawn")
    assert decision.question == ("review", "the data looks wrong")
    assert decision.rules[-1] == Fired("user_review", "the data looks wrong")
    assert build.fired(decision) == ["escalation", "user_review"]
    assert not decision.asks_session


def test_what_a_review_postpones_is_never_a_second_question() -> None:
    decision = build.decide("qa_expert", "FAIL", group=group(qa_attempts=7), review_reason="look")
    assert (decision.postponed, decision.question) == (Target("developer", "respawn"), ("review", "look"))


@pytest.mark.parametrize(("mark", "words"), [("over_flagged", "over-flagged"), ("under_flagged", "under-flagged")])
def test_a_review_that_is_marked_says_so(mark: str, words: str) -> None:
    decision = build.decide("qa_expert", "FAIL", review_reason="look", review_mark=mark)
    assert (decision.extras[mark], decision.rules[-1].reason) == (True, f"look ({words})")
    assert decision.question == ("review", "look")


def test_an_exhausted_budget_of_continuations_asks_as_such() -> None:
    decision = build.decide("developer", "PARTIAL", review_reason="timeout: used up", review_kind="budget")
    assert (decision.question, decision.postponed) == (("budget", "timeout: used up"), Target("developer", "respawn"))


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        pytest.param(" Which API? ", "Which API?", id="the summary"),
        pytest.param("  ", "project_manager reported NEEDS_CLARIFICATION", id="without a summary"),
    ],
)
def test_a_clarification_is_a_question_of_the_session(summary: str, expected: str) -> None:
    decision = build.decide("project_manager", "NEEDS_CLARIFICATION", summary=summary)
    assert (decision.question, decision.asks_session) == (("clarification", expected), True)
    assert (decision.target, decision.postponed) == (Target("user", "pause_for_user"), None)


def test_another_status_that_pauses_asks_for_a_review() -> None:
    used = build.workflow(build.put("project_manager", "BLOCKED", effect="block"))
    decision = build.decide("project_manager", "BLOCKED", workflow=used, summary="no key")
    assert (decision.question, decision.asks_session) == (("review", "no key"), False)


def test_a_decision_without_a_question_asks_nobody() -> None:
    assert not build.decide("developer", "PARTIAL").asks_session
