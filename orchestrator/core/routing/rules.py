"""Every rule of deciding, in one ordered list. A new rule is one function and one line in `RULES`.

A rule looks at the case and the target so far and answers what it proposes, or None when it does not fire.
Stages: *target* (the first that fires), *redirect* (all are asked, the highest rung wins), *constraint* (in order,
the last word on the agent is the last's). What follows of several groups stands in `free_slots`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import blocking
from orchestrator.core.routing.facts import (
    DEVELOPER,
    MANAGER,
    NOTHING,
    PERSON,
    QA,
    SENIOR,
    TECH_LEAD,
    Case,
    Target,
)
from orchestrator.hints import Any

COUNTERS = {"test_fail": "qa_attempts", "reject": "tl_review_attempts", "merge_fail": "merge_attempts"}
"""Which counter of the group an effect raises."""


class Proposal(NamedTuple):
    """What a rule that fires proposes; `extras` are further keys of the decision."""

    reason: str
    target: Target
    extras: dict[str, Any] = NOTHING


Rule = Callable[[Case, Target], Proposal | None]


def external_blocker(case: Case, target: Target) -> Proposal | None:
    """Guidance marked external goes to the project manager, who defers or resumes."""
    if not blocking.is_external_guidance(case):
        return None
    marked = blocking.newest(case, external=False) or blocking.newest(case, external=True)
    dependency = str(case.report.details["external_dependency"]).strip()
    reason = f"blocker {marked.id if marked else '?'} depends on {dependency}, outside the project"
    return Proposal(reason, Target(MANAGER, "spawn"))


def return_to_blocked(case: Case, target: Target) -> Proposal | None:
    """The group returns to whoever opened the blocker that this report settles."""
    blocker = blocking.returning_blocker(case)
    if not blocking.returns(case) or case.group is None or blocker is None:
        return None
    back = blocking.opener(case.workflow, case.group, blocker, case.transition.action)
    return Proposal(f"blocker {blocker.id} was opened by {blocker.opened_by or 'nobody recorded'}", back)


def rework(case: Case, target: Target) -> Proposal | None:
    """Rework goes to the group's own builder, whatever role the file names."""
    if case.transition.effect != "rework" or case.group is None:
        return None
    target = blocking.to_builder(case.workflow, case.group, case.transition.action)
    return Proposal(f"{target.agent} built group {case.group.id}", target)


def fallback(case: Case, target: Target) -> Proposal | None:
    """A role that the session does without is replaced: fallback_agent, else tech lead, else project manager."""
    # A batch gives each group its own agent (RTE-15).
    if target.agent not in case.session.disabled_roles or target.action == "spawn_batch":
        return None
    secured = case.group is not None and case.group.security_sensitive
    for role in (case.transition.fallback_agent, TECH_LEAD, MANAGER):
        barred = role in case.session.disabled_roles or (secured and role == DEVELOPER)
        if role and not barred and role != target.agent:
            merges = target.action == "spawn_merge" and role == case.transition.fallback_agent
            action = "spawn_merge" if merges else "spawn"
            return Proposal(f"{target.agent} is disabled in this session", Target(role, action))
    return None


def testing_mode(case: Case, target: Target) -> Proposal | None:
    """Where the session tests less, what would go to QA goes to the tech lead."""
    rule = case.workflow.rules.testing_modes.get(case.testing_mode)
    if rule is None or target.agent != QA or case.report.status not in rule.affected_statuses:
        return None
    reason = f"QA skipped (testing_mode={case.testing_mode})"
    return Proposal(reason, Target(rule.override_next_agent, "spawn"), {"skip_reason": reason})


def escalation(case: Case, target: Target) -> Proposal | None:
    """Repeated failures of one kind climb: escalation agent, tech lead, project manager, a person."""
    counter = COUNTERS.get(case.transition.effect)
    if counter is None or case.group is None or not case.transition.escalation_check:
        return None
    agent, threshold = case.workflow.rules.escalation_agent, case.workflow.rules.escalation_threshold
    count = getattr(case.group, counter) + 1
    band = count // threshold
    if agent is None or band < 1:
        return None
    lead = MANAGER if case.report.role == TECH_LEAD else TECH_LEAD
    rung = (agent, lead, MANAGER, PERSON)[min(band, 4) - 1]
    reason = f"Escalated after {count} failures ({counter})"
    return Proposal(
        reason,
        _rung(rung),
        {"escalation_applied": True, "escalation_reason": reason, "escalation_counter": {counter: count}},
    )


def iteration_budget(case: Case, target: Target) -> Proposal | None:
    """An investigation has so many rounds; then somebody else judges."""
    rules = case.workflow.rules
    if case.group is None or not case.transition.iteration_budget_check:
        return None
    count = case.group.iterations + 1
    if count < rules.investigation_max_iterations:
        return None
    return Proposal(f"{count} investigation rounds used", _rung(rules.investigation_on_exhausted))


def loop_guard(case: Case, target: Target) -> Proposal | None:
    """The same report again and again, without progress between, climbs rung by rung to a person."""
    visits = case.facts.visits + 1
    rules = case.workflow.rules
    if visits < rules.loop_max_visits or case.path.valid or case.transition.action == "end_session":
        return None
    reason = f"{case.report.role} {case.report.status} for the {visits}th time without progress"
    return Proposal(reason, _rung(climb(case, target, visits - rules.loop_max_visits)))


def climb(case: Case, target: Target, step: int) -> str:
    """The rung of the loop guard at its given step (0 for the first); one that changes nothing is skipped."""
    if case.waiting is None:
        return PERSON
    rungs = case.workflow.rules.loop_on_exhausted[step:]
    passed = (case.report.role, target.agent)
    return next((rung for rung in map(_role_of_rung, rungs) if rung == PERSON or rung not in passed), PERSON)


def merge_without_approval(case: Case, target: Target) -> Proposal | None:
    """A merge that no valid approval stands behind completes nothing; the tech lead judges it."""
    if case.transition.effect != "merge" or case.path.approved:
        return None
    return Proposal("merged without a valid approval", Target(TECH_LEAD, "spawn"))


def research(case: Case, target: Target) -> Proposal | None:
    """In a research group nobody merges, and the research agent takes the developer's place."""
    group = case.group
    if group is None or group.kind != "research":
        return None
    if target.action == "spawn_merge":
        return Proposal("a research group has nothing to merge", Target(None, "check_phase"))
    if target.agent == DEVELOPER and not group.senior:
        agent = case.workflow.rules.research_agent
        return Proposal(f"research goes to {agent}", target._replace(agent=agent, instance=None))
    return None


def no_downgrade(case: Case, target: Target) -> Proposal | None:
    """Once the senior engineer has the group it does not go back to a developer; `security` has the later word."""
    if target.agent != DEVELOPER or case.group is None or not case.group.senior or _secured(case):
        return None
    return Proposal("the senior engineer has this group", target._replace(agent=SENIOR, instance=None))


def security(case: Case, target: Target) -> Proposal | None:
    """A security-sensitive group never goes to a developer; the flag counts, never the name."""
    if target.agent != DEVELOPER or not _secured(case):
        return None
    forced = target._replace(agent=case.workflow.rules.security_force_agent, instance=None)
    return Proposal("the group is security-sensitive", forced, {"security_override": True})


def _secured(case: Case) -> bool:
    flagged = case.group is not None and case.group.security_sensitive
    return bool(flagged) and case.workflow.rules.security_force_agent is not None


RULES: tuple[tuple[str, str, Rule], ...] = (
    ("target", "external_blocker", external_blocker),
    ("target", "return_to_blocked", return_to_blocked),
    ("target", "rework", rework),
    ("target", "fallback", fallback),
    ("redirect", "testing_mode", testing_mode),
    ("redirect", "escalation", escalation),
    ("redirect", "iteration_budget", iteration_budget),
    ("redirect", "loop_guard", loop_guard),
    ("redirect", "merge_without_approval", merge_without_approval),
    ("constraint", "research", research),
    ("constraint", "no_downgrade", no_downgrade),
    ("constraint", "security", security),
    ("constraint", "fallback", fallback),
)


@functools.cache
def of_stage(stage: str) -> tuple[tuple[str, Rule], ...]:
    """The rules of a stage with their names, in their order."""
    return tuple((name, rule) for each, name, rule in RULES if each == stage)


def _role_of_rung(rung: str) -> str:
    return PERSON if rung == "question" else rung


def _rung(role: str) -> Target:
    role = _role_of_rung(role)
    return Target(role, "pause_for_user" if role == PERSON else "spawn")


def height(case: Case, target: Target) -> int:
    """How high a target stands on the ladder: question, project manager, tech lead, escalation agent, other."""
    ladder = {case.workflow.rules.escalation_agent: 1, TECH_LEAD: 2, MANAGER: 3, PERSON: 4}
    return ladder.get(target.agent, 0)
