"""The stage *target*: external blockers, returning to who was blocked, rework, roles that a session does without."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.routing.facts import Target
from tests.unit.routing import build
from tests.unit.routing.build import blocker, group, session

EXTERNAL = {"external": True, "external_dependency": " the vendor's key "}
OF_DEVELOPER = blocker("B1", opened_role="developer", opened_by="developer@S1:G")
OF_INVESTIGATOR = blocker("B2", opened_role="investigator", opened_by="investigator@S1:G")


def test_guidance_returns_to_whoever_opened_the_newest_blocker_and_settles_that_one_only() -> None:
    decision = build.decide("tech_lead", "UNBLOCKING_GUIDANCE", blockers=(OF_INVESTIGATOR, OF_DEVELOPER))
    assert decision.target == Target("investigator", "spawn", "investigator@S1:G")
    assert (build.fired(decision), decision.resolves) == (["return_to_blocked"], ("B2",))
    assert "B2" in decision.rules[0].reason


@pytest.mark.parametrize(
    "opened",
    [
        pytest.param({"cause": "manual", "opened_role": "tech_lead", "opened_by": "tech_lead"}, id="by hand"),
        pytest.param({"cause": "manual", "opened_role": None, "opened_by": None}, id="by a person"),
        pytest.param({"opened_role": "project_manager", "opened_by": "project_manager"}, id="by the PM's report"),
        pytest.param({"cause": "import", "opened_role": None, "opened_by": None}, id="by the system"),
    ],
)
@pytest.mark.parametrize(
    ("values", "builder"),
    [
        pytest.param({}, "developer", id="fresh group"),
        pytest.param({"builder_role": "senior_software_engineer"}, "senior_software_engineer", id="senior"),
        pytest.param({"kind": "research"}, "requirements_engineer", id="research"),
        pytest.param({"complexity": 7}, "senior_software_engineer", id="complex"),
        pytest.param({"security_sensitive": 1}, "senior_software_engineer", id="security"),
    ],
)
def test_a_blocker_that_no_agent_reported_returns_to_the_builder(
    opened: dict[str, Any], values: dict[str, Any], builder: str
) -> None:
    decision = build.decide("tech_lead", "UNBLOCKING_GUIDANCE", group=group(**values), blockers=(blocker(**opened),))
    assert (decision.target.agent, decision.target.instance) == (builder, None)


def test_a_resumption_settles_the_newest_external_blocker_and_returns_to_its_opener() -> None:
    held = (blocker("B3", external=0, opened_role="tech_lead"), blocker("B2", external=1), blocker("B1", external=1))
    decision = build.decide("project_manager", "RESUME_BLOCKED", blockers=held)
    assert (decision.target, decision.resolves) == (Target("qa_expert", "spawn", "qa_expert@S1:G"), ("B2",))


def test_external_guidance_goes_to_the_manager_marks_the_newest_blocker_and_settles_nothing() -> None:
    decision = build.decide(
        "tech_lead", "UNBLOCKING_GUIDANCE", blockers=(OF_INVESTIGATOR, OF_DEVELOPER), details=EXTERNAL
    )
    assert decision.target == Target("project_manager", "spawn")
    assert (decision.marks_external, decision.resolves) == ("B2", ())
    assert build.fired(decision) == ["external_blocker"]
    assert decision.rules[0].reason == "blocker B2 depends on the vendor's key, outside the project"


def test_external_guidance_marks_an_external_blocker_again_where_there_is_no_other() -> None:
    decision = build.decide(
        "tech_lead", "ARCHITECTURAL_DECISION_MADE", blockers=(blocker("B1", external=1),), details=EXTERNAL
    )
    assert (decision.target.agent, decision.marks_external) == ("project_manager", "B1")


@pytest.mark.parametrize(
    "details",
    [
        pytest.param({"note": "external tests of OUR module fail"}, id="the word in a text"),
        pytest.param({"external": "true", "external_dependency": "x"}, id="a text"),
        pytest.param({"external": 1, "external_dependency": "x"}, id="a number"),
        pytest.param({"external": False, "external_dependency": "x"}, id="false"),
    ],
)
def test_only_the_flag_makes_guidance_external(details: dict[str, Any]) -> None:
    decision = build.decide("tech_lead", "UNBLOCKING_GUIDANCE", blockers=(OF_DEVELOPER,), details=details)
    assert (decision.target.agent, decision.marks_external) == ("developer", None)


def test_the_flag_means_nothing_in_a_report_that_is_no_guidance() -> None:
    decision = build.decide("qa_expert", "BLOCKED", details=EXTERNAL)
    assert (decision.target.agent, decision.marks_external) == ("tech_lead", None)


@pytest.mark.parametrize(
    ("status", "resolves", "expected"),
    [
        pytest.param("APPROVED", None, ("B2", "B1"), id="approve: all"),
        pytest.param("UNBLOCKING_GUIDANCE", None, ("B2",), id="guide: the newest"),
        pytest.param("CHANGES_REQUESTED", None, (), id="others: none"),
        pytest.param("UNBLOCKING_GUIDANCE", "all", ("B2", "B1"), id="guide: all by the file"),
        pytest.param("CHANGES_REQUESTED", "newest", ("B2",), id="reject: the newest by the file"),
    ],
)
def test_what_a_report_settles(status: str, resolves: str | None, expected: tuple[str, ...]) -> None:
    used = build.workflow(build.put("tech_lead", status, resolves=resolves)) if resolves else None
    blockers = (blocker("B3", external=1), OF_INVESTIGATOR, OF_DEVELOPER)
    assert build.decide("tech_lead", status, blockers=blockers, workflow=used).resolves == expected


@pytest.mark.parametrize(
    ("values", "builder"),
    [
        pytest.param({}, "developer", id="developer"),
        pytest.param({"senior": 1}, "senior_software_engineer", id="senior"),
        pytest.param({"kind": "research"}, "requirements_engineer", id="research"),
        pytest.param({"kind": "research", "senior": 1}, "senior_software_engineer", id="research of the senior"),
        pytest.param({"builder_role": "requirements_engineer"}, "requirements_engineer", id="the last builder"),
    ],
)
def test_rework_goes_to_the_groups_own_builder(values: dict[str, Any], builder: str) -> None:
    decision = build.decide("project_manager", "REWORK", group=group(**values))
    assert (decision.target, build.fired(decision)) == (Target(builder, "respawn"), ["rework"])


@pytest.mark.parametrize(
    ("role", "status", "disabled", "expected"),
    [
        pytest.param("developer", "BLOCKED", ("investigator",), "tech_lead", id="the transition's fallback"),
        pytest.param("developer", "READY_FOR_QA", ("qa_expert",), "tech_lead", id="else the tech lead"),
        pytest.param("tech_lead", "SPAWN_INVESTIGATOR", ("investigator",), "tech_lead", id="the tech lead's own"),
    ],
)
def test_a_disabled_role_is_replaced(role: str, status: str, disabled: tuple[str, ...], expected: str) -> None:
    decision = build.decide(role, status, session=session(disabled_roles=disabled))
    assert (decision.target, build.fired(decision)) == (Target(expected, "spawn"), ["fallback"])


def test_a_fallback_that_is_disabled_itself_is_passed_over() -> None:
    used = build.workflow(build.put("developer", "BLOCKED", fallback_agent="qa_expert"))
    both = session(disabled_roles=("investigator", "qa_expert"))
    assert build.target("developer", "BLOCKED", session=both, workflow=used) == ("tech_lead", "spawn")


def test_a_fallback_never_sends_a_security_group_to_a_developer() -> None:
    used = build.workflow(build.put("qa_expert", "BLOCKED", next_agent="investigator", fallback_agent="developer"))
    without = session(disabled_roles=("investigator",))
    assert build.target("qa_expert", "BLOCKED", session=without, workflow=used) == ("developer", "spawn")
    secured = group(security_sensitive=1)
    assert build.target("qa_expert", "BLOCKED", session=without, workflow=used, group=secured) == ("tech_lead", "spawn")


def test_where_nobody_is_left_the_target_stays() -> None:
    """Tech lead and project manager cannot be disabled through any door; deciding is total all the same."""
    nobody = session(disabled_roles=("qa_expert", "tech_lead", "project_manager"))
    assert build.target("developer", "READY_FOR_QA", session=nobody) == ("qa_expert", "spawn")


def test_without_a_group_too_a_disabled_role_is_replaced() -> None:
    without = session(disabled_roles=("investigator",))
    found = build.target("project_manager", "INVESTIGATION_NEEDED", group=None, session=without)
    assert found == ("tech_lead", "spawn")


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        pytest.param(EXTERNAL, ["external_blocker"], id="external before returning"),
        pytest.param({}, ["return_to_blocked"], id="returning"),
    ],
)
def test_the_first_rule_of_the_stage_that_fires_is_the_only_one(details: dict[str, Any], expected: list[str]) -> None:
    decision = build.decide("tech_lead", "UNBLOCKING_GUIDANCE", blockers=(OF_DEVELOPER,), details=details)
    assert build.fired(decision) == expected


def test_returning_needs_a_group_and_a_blocker() -> None:
    """Admission refuses both; deciding names nobody instead of failing."""
    assert build.target("tech_lead", "UNBLOCKING_GUIDANCE") == ("_return_to_blocked", "spawn")
    external = build.decide("tech_lead", "UNBLOCKING_GUIDANCE", details=EXTERNAL)
    assert (external.target.agent, external.marks_external, external.resolves) == ("project_manager", None, ())
    assert build.decide("project_manager", "RESUME_BLOCKED").resolves == ()


def test_who_stands_in_for_a_disabled_role_is_named_by_that_rule_before_the_testing_mode_is_asked() -> None:
    without = session(testing_mode="minimal", disabled_roles=("qa_expert",))
    decision = build.decide("developer", "READY_FOR_QA", session=without)
    assert (decision.target, build.fired(decision)) == (Target("tech_lead", "spawn"), ["fallback"])
    assert "skip_reason" not in decision.extras
