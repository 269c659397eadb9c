"""The words of a workflow: roles, actions, effects, and the effect that a well-known status has by itself.

Hot module: read by every routed report, so it holds constants and one look-up.

Source: seed 004, Proposed Solution 1 (routing comes from the transitions file, never from an agent's prose).
"""

from __future__ import annotations

from orchestrator.hints import Final

PROJECT_MANAGER: Final = "project_manager"
TECH_LEAD: Final = "tech_lead"
DEVELOPER: Final = "developer"
SENIOR: Final = "senior_software_engineer"
QA_EXPERT: Final = "qa_expert"
INVESTIGATOR: Final = "investigator"
REQUIREMENTS_ENGINEER: Final = "requirements_engineer"
VALIDATOR: Final = "validator"
ORCHESTRATOR: Final = "orchestrator"

ROLES: Final = (
    PROJECT_MANAGER,
    TECH_LEAD,
    DEVELOPER,
    SENIOR,
    QA_EXPERT,
    INVESTIGATOR,
    REQUIREMENTS_ENGINEER,
    VALIDATOR,
    ORCHESTRATOR,
)
# The orchestrator spawns and records; it never reports, so no file gives it statuses.
REPORTING_ROLES: Final = ROLES[:-1]
BUILDERS: Final = (DEVELOPER, SENIOR, REQUIREMENTS_ENGINEER)

RETURN_TO_BLOCKED: Final = "_return_to_blocked"
QUESTION: Final = "question"

SPAWN: Final = "spawn"
RESPAWN: Final = "respawn"
SPAWN_MERGE: Final = "spawn_merge"
SPAWN_BATCH: Final = "spawn_batch"
CHECK_PHASE: Final = "check_phase"
VALIDATE_THEN_END: Final = "validate_then_end"
PAUSE_FOR_USER: Final = "pause_for_user"
END_SESSION: Final = "end_session"

ACTIONS: Final = (
    SPAWN,
    RESPAWN,
    SPAWN_MERGE,
    SPAWN_BATCH,
    CHECK_PHASE,
    VALIDATE_THEN_END,
    PAUSE_FOR_USER,
    END_SESSION,
)
AGENT_ACTIONS: Final = frozenset({SPAWN, RESPAWN, SPAWN_MERGE, SPAWN_BATCH})

NONE: Final = "none"

# In the order in which people read them: a group's life first, the project manager's words last.
EFFECT_ORDER: Final = (
    "submit_test",
    "submit_review",
    "test_pass",
    "test_fail",
    "inconclusive",
    "approve",
    "reject",
    "merge",
    "merge_fail",
    "block",
    "guide",
    "escalate",
    "investigate",
    "progress",
    "plan",
    "continue",
    "confirm",
    "defer",
    "resume",
    "rework",
    "clarify",
    "end_research",
    NONE,
)
EFFECTS: Final = frozenset(EFFECT_ORDER)
# What the router counts per group, and so what `escalation_check` can act on.
COUNTED_EFFECTS: Final = frozenset({"test_fail", "reject", "merge_fail"})
# Whose word completion and blockers trust for these.
ENTITLED: Final = {
    "approve": (TECH_LEAD,),
    "guide": (TECH_LEAD,),
    "merge": BUILDERS,
    "plan": (PROJECT_MANAGER,),
    "confirm": (PROJECT_MANAGER,),
    "defer": (PROJECT_MANAGER,),
}

NEWEST: Final = "newest"
ALL: Final = "all"
RESOLVES: Final = (NEWEST, ALL, NONE)

# Whoever says these means the same by them.
_BY_STATUS: Final = {
    "BLOCKED": "block",
    "MERGE_BLOCKED": "block",
    "PARTIAL": "progress",
    "INCOMPLETE": "progress",
    "INVESTIGATION_INCOMPLETE": "progress",
    "SPAWN_INVESTIGATOR": "investigate",
    "INVESTIGATION_NEEDED": "investigate",
}
# Only the role named may mean them: an "APPROVED" of a developer approves nothing.
_BY_ROLE: Final = {
    **{
        (role, status): effect
        for role in BUILDERS
        for status, effect in (
            ("READY_FOR_QA", "submit_test"),
            ("READY_FOR_REVIEW", "submit_review"),
            ("NEEDS_TECH_LEAD_VALIDATION", "submit_review"),
            ("MERGE_SUCCESS", "merge"),
            ("MERGE_CONFLICT", "merge_fail"),
            ("MERGE_TEST_FAILURE", "merge_fail"),
        )
    },
    (SENIOR, "ROOT_CAUSE_FOUND"): NONE,
    (QA_EXPERT, "PASS"): "test_pass",
    (QA_EXPERT, "FAIL"): "test_fail",
    (QA_EXPERT, "FAIL_ESCALATE"): "test_fail",
    (QA_EXPERT, "PARTIAL"): "inconclusive",
    (QA_EXPERT, "FLAKY"): "inconclusive",
    (TECH_LEAD, "APPROVED"): "approve",
    (TECH_LEAD, "APPROVED_WITH_NOTES"): "approve",
    (TECH_LEAD, "CHANGES_REQUESTED"): "reject",
    (TECH_LEAD, "UNBLOCKING_GUIDANCE"): "guide",
    (TECH_LEAD, "UNBLOCKING_GUIDANCE_PROVIDED"): "guide",
    (TECH_LEAD, "ARCHITECTURAL_DECISION_MADE"): "guide",
    (PROJECT_MANAGER, "PLANNING_COMPLETE"): "plan",
    (PROJECT_MANAGER, "CONTINUE"): "continue",
    (PROJECT_MANAGER, "BAZINGA"): "confirm",
    (PROJECT_MANAGER, "DEFER_EXTERNAL"): "defer",
    (PROJECT_MANAGER, "REWORK"): "rework",
    (PROJECT_MANAGER, "REASSIGNING_FOR_FIXES"): "rework",
    (PROJECT_MANAGER, "RESUME_BLOCKED"): "resume",
    (PROJECT_MANAGER, "NEEDS_CLARIFICATION"): "clarify",
    (PROJECT_MANAGER, "INVESTIGATION_ONLY"): "end_research",
    (INVESTIGATOR, "ROOT_CAUSE_FOUND"): NONE,
    (INVESTIGATOR, "EXHAUSTED"): NONE,
    (INVESTIGATOR, "NEED_DEVELOPER_DIAGNOSTIC"): NONE,
    (INVESTIGATOR, "HYPOTHESIS_ELIMINATED"): NONE,
    (INVESTIGATOR, "NEED_MORE_ANALYSIS"): NONE,
    (VALIDATOR, "ACCEPT"): NONE,
    (VALIDATOR, "REJECT"): NONE,
}

KNOWN_STATUSES: Final = frozenset((*_BY_STATUS, *(status for _, status in _BY_ROLE)))
"""Statuses that the built-in table knows, whoever reports them."""


def known_statuses(role: str) -> frozenset[str]:
    """The statuses that the built-in table knows of a role."""
    return frozenset((*_BY_STATUS, *(status for owner, status in _BY_ROLE if owner == role)))


def known_effect(role: str, status: str) -> str | None:
    """What the built-in table says about a status of a role; None when it does not know the name."""
    effect = _BY_ROLE.get((role, status)) or _BY_STATUS.get(status)
    if effect is None and status.startswith(("ESCALATE_", "ESCALATING_")):
        return "escalate"
    return effect


def effect_of(role: str, status: str) -> str:
    """The effect of a transition that names none: the built-in one, else `none`."""
    return known_effect(role, status) or NONE


DEFAULT_RESOLVES = {"guide": NEWEST, "resume": NEWEST, "approve": ALL}
"""Which open blockers a report of an effect settles where its transition does not say; of any other effect, none."""
