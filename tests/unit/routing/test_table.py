"""The shipped table: what each report leads to where no rule has a say."""

from __future__ import annotations

import pytest

from orchestrator.core.routing.facts import Path
from tests.cases import every
from tests.unit.routing import build

DEV, SSE, QA, TL = "developer", "senior_software_engineer", "qa_expert", "tech_lead"
PM, INV, RE = "project_manager", "investigator", "requirements_engineer"

TABLE = [
    (DEV, "READY_FOR_QA", QA, "spawn"),
    (DEV, "READY_FOR_REVIEW", TL, "spawn"),
    (DEV, "NEEDS_TECH_LEAD_VALIDATION", TL, "spawn"),
    (DEV, "BLOCKED", INV, "spawn"),
    (DEV, "SPAWN_INVESTIGATOR", INV, "spawn"),
    (DEV, "PARTIAL", DEV, "respawn"),
    (DEV, "INCOMPLETE", DEV, "respawn"),
    (DEV, "ESCALATE_SENIOR", SSE, "spawn"),
    (DEV, "MERGE_CONFLICT", DEV, "respawn"),
    (DEV, "MERGE_TEST_FAILURE", DEV, "respawn"),
    (DEV, "MERGE_BLOCKED", TL, "spawn"),
    (SSE, "READY_FOR_QA", QA, "spawn"),
    (SSE, "READY_FOR_REVIEW", TL, "spawn"),
    (SSE, "BLOCKED", TL, "spawn"),
    (SSE, "NEEDS_TECH_LEAD_VALIDATION", TL, "spawn"),
    (SSE, "ROOT_CAUSE_FOUND", TL, "spawn"),
    (SSE, "SPAWN_INVESTIGATOR", INV, "spawn"),
    (SSE, "PARTIAL", SSE, "respawn"),
    (SSE, "MERGE_CONFLICT", SSE, "respawn"),
    (SSE, "MERGE_TEST_FAILURE", SSE, "respawn"),
    (SSE, "MERGE_BLOCKED", TL, "spawn"),
    (QA, "PASS", TL, "spawn"),
    (QA, "PARTIAL", TL, "spawn"),
    (QA, "FLAKY", TL, "spawn"),
    (QA, "BLOCKED", TL, "spawn"),
    (QA, "FAIL", DEV, "respawn"),
    (QA, "FAIL_ESCALATE", SSE, "spawn"),
    (TL, "APPROVED", DEV, "spawn_merge"),
    (TL, "APPROVED_WITH_NOTES", DEV, "spawn_merge"),
    (TL, "CHANGES_REQUESTED", DEV, "respawn"),
    (TL, "SPAWN_INVESTIGATOR", INV, "spawn"),
    (TL, "ESCALATE_TO_OPUS", TL, "respawn"),
    (TL, "ARCHITECTURAL_DECISION_MADE", DEV, "spawn"),
    (PM, "ESCALATING_TO_TECH_LEAD", TL, "spawn"),
    (PM, "INVESTIGATION_NEEDED", INV, "spawn"),
    (PM, "PLANNING_COMPLETE", DEV, "spawn_batch"),
    (PM, "CONTINUE", DEV, "spawn_batch"),
    (PM, "BAZINGA", None, "validate_then_end"),
    (PM, "DEFER_EXTERNAL", None, "check_phase"),
    (PM, "NEEDS_CLARIFICATION", "user", "pause_for_user"),
    (PM, "INVESTIGATION_ONLY", None, "end_session"),
    (INV, "ROOT_CAUSE_FOUND", TL, "spawn"),
    (INV, "INVESTIGATION_INCOMPLETE", TL, "spawn"),
    (INV, "BLOCKED", TL, "spawn"),
    (INV, "EXHAUSTED", TL, "spawn"),
    (INV, "NEED_DEVELOPER_DIAGNOSTIC", DEV, "spawn"),
    (INV, "HYPOTHESIS_ELIMINATED", INV, "respawn"),
    (INV, "NEED_MORE_ANALYSIS", INV, "respawn"),
    (RE, "READY_FOR_REVIEW", TL, "spawn"),
    (RE, "BLOCKED", INV, "spawn"),
    (RE, "PARTIAL", RE, "respawn"),
    ("validator", "ACCEPT", None, "end_session"),
    ("validator", "REJECT", PM, "spawn"),
]


@every(
    ("role", "status", "agent", "action"), [pytest.param(*row, id=f"{row[0]} {row[1]}") for row in TABLE]
)
def test_a_report_leads_where_the_table_says(role: str, status: str, agent: str | None, action: str) -> None:
    decision = build.decide(role, status)
    assert (decision.target.agent, decision.target.action, decision.rules) == (agent, action, ())


@pytest.mark.parametrize("role", [DEV, SSE])
def test_an_approved_merge_leads_to_the_phase_check(role: str) -> None:
    approved = Path(approved=True, merged=True, valid=True)
    assert build.target(role, "MERGE_SUCCESS", path=approved) == (None, "check_phase")


def test_the_tables_together_name_every_transition() -> None:
    others = {(DEV, "MERGE_SUCCESS"), (SSE, "MERGE_SUCCESS"), (PM, "REWORK"), (PM, "RESUME_BLOCKED")}
    others |= {(TL, "UNBLOCKING_GUIDANCE"), (TL, "UNBLOCKING_GUIDANCE_PROVIDED")}
    assert {(role, status) for role, status, _, _ in TABLE} | others == set(build.shipped().transitions)


@pytest.mark.parametrize(
    ("role", "status", "expected"),
    [
        pytest.param(TL, "APPROVED", "haiku", id="of the role's agent file"),
        pytest.param(QA, "BLOCKED", "sonnet", id="of another role"),
        pytest.param(TL, "ESCALATE_TO_OPUS", "opus", id="of the transition"),
        pytest.param(DEV, "BLOCKED", None, id="agent file that names none"),
        pytest.param(PM, "BAZINGA", None, id="nobody is started"),
        pytest.param(PM, "PLANNING_COMPLETE", "haiku", id="a batch"),
    ],
)
def test_the_model_is_named_for_whatever_starts_an_agent(role: str, status: str, expected: str | None) -> None:
    assert build.decide(role, status).model == expected


def test_the_models_override_is_dropped_when_a_rule_changes_the_agent() -> None:
    override = build.workflow(build.put(QA, "FAIL", model_override="opus-max"))
    plain, secured = build.group(), build.group(security_sensitive=1)
    assert build.decide(QA, "FAIL", workflow=override, group=plain).model == "opus-max"
    assert build.decide(QA, "FAIL", workflow=override, group=secured).model == "opus"


def test_the_context_of_the_transition_goes_to_the_next_agent() -> None:
    assert build.decide(QA, "BLOCKED").include_context == ("blocker_details",)


@pytest.mark.parametrize(
    ("role", "status", "secure", "expected"),
    [
        pytest.param(SSE, "ROOT_CAUSE_FOUND", 0, True, id="the transition says so"),
        pytest.param(DEV, "READY_FOR_QA", 0, False, id="plain submission"),
        pytest.param(SSE, "READY_FOR_QA", 1, True, id="security group, for test"),
        pytest.param(SSE, "READY_FOR_REVIEW", 1, True, id="security group, for review"),
        pytest.param(SSE, "PARTIAL", 1, False, id="security group, nothing submitted"),
    ],
)
def test_a_review_is_mandatory(role: str, status: str, secure: int, expected: bool) -> None:
    assert build.decide(role, status, group=build.group(security_sensitive=secure)).mandatory_review is expected


def test_no_review_is_mandatory_where_the_file_does_not_ask_for_it() -> None:
    lax = build.workflow(build.rule("security_sensitive", mandatory_review=False))
    assert not build.decide(SSE, "READY_FOR_QA", workflow=lax, group=build.group(security_sensitive=1)).mandatory_review


def test_bypassing_quality_assurance_is_carried_into_the_decision() -> None:
    assert build.decide(RE, "READY_FOR_REVIEW").extras == {"bypass_qa": True}
    assert build.decide(DEV, "READY_FOR_REVIEW").extras == {}


@pytest.mark.parametrize(
    ("role", "status", "agent", "alias"),
    [
        pytest.param(DEV, "INCOMPLETE", DEV, None, id="a role's own status wins over the alias"),
        pytest.param(INV, "INCOMPLETE", TL, "INCOMPLETE stands for INVESTIGATION_INCOMPLETE", id="alias"),
        pytest.param(PM, "REASSIGNING_FOR_FIXES", DEV, "REASSIGNING_FOR_FIXES stands for REWORK", id="alias of PM"),
    ],
)
def test_an_alias_stands_in_the_decision(role: str, status: str, agent: str, alias: str | None) -> None:
    decision = build.decide(role, status)
    named = [rule.reason for rule in decision.rules if rule.name == "alias"]
    assert (decision.target.agent, named) == (agent, [alias] if alias else [])
