"""What reports do to blockers: which one a guidance settles, what external means, whom a blocked group returns to."""

from __future__ import annotations

from orchestrator.core import names, oversized, strict_json
from orchestrator.core.routing.facts import (
    DEVELOPER,
    MANAGER,
    RESEARCHER,
    SENIOR,
    Blocker,
    Case,
    Group,
    Refusal,
    Target,
)
from orchestrator.core.suggestions import suggest
from orchestrator.core.workflow.model import Workflow
from orchestrator.hints import Any

_MARKED = 'Give --details \'{"external": true, "external_dependency": "what is missing, and whose it is"}\''
SENIOR_COMPLEXITY = 7
"""From this complexity on (1 to 10) a group is built by the senior engineer."""


def newest(case: Case, *, external: bool) -> Blocker | None:
    """The newest open blocker that is external, or that is not."""
    return next((b for b in case.facts.blockers if bool(b.external) == external), None)


def is_external_guidance(case: Case) -> bool:
    """Whether the report is guidance that names an external cause by its flag; words in the text count for nothing."""
    return case.transition.effect == "guide" and case.report.details.get("external") is True


def returns(case: Case) -> bool:
    """Whether the transition goes back to whoever was blocked."""
    return case.transition.next_agent == "_return_to_blocked"


def returning_blocker(case: Case) -> Blocker | None:
    """The blocker whose opener a `_return_to_blocked` goes to."""
    return newest(case, external=case.transition.effect == "resume")


def refuse(case: Case) -> Refusal | None:
    """Whether guidance, resumption or deferral lacks the blocker that it is about."""
    if case.transition.effect == "defer":
        return _refuse_deferral(case)
    if is_external_guidance(case):
        return _refuse_external(case)
    if case.transition.effect == "guide" and (wrong := _half_external(case)):
        return wrong
    if returns(case) and returning_blocker(case) is None:
        kind = "external blocker" if case.transition.effect == "resume" else "blocker"
        return _nothing_blocked(case, f"has no open {kind}, so there is nobody to return to")
    return None


def _half_external(case: Case) -> Refusal | None:
    """Guidance that seems to mean something outside the project and does not say so would lift the blocker instead."""
    details = case.report.details
    marked = details.get("external")
    if marked is not None and not isinstance(marked, bool):
        return Refusal(
            "DEFERRAL_INCOMPLETE", f"external must be true or false, not {names.shown(marked)}.", _MARKED, {}
        )
    if marked is None and details.get("external_dependency") is not None:
        return Refusal(
            "DEFERRAL_INCOMPLETE",
            "Guidance that names a dependency outside the project must be marked external, else it lifts the blocker.",
            f'{_MARKED}, or "external": false', {},
        )
    return None


def _refuse_external(case: Case) -> Refusal | None:
    dependency = case.report.details.get("external_dependency")
    if not isinstance(dependency, str) or not names.said(dependency):
        return Refusal(
            "DEFERRAL_INCOMPLETE",
            "Guidance marked external must name the dependency outside the project.",
            _MARKED,
            {},
        )
    if newest(case, external=False) is None and newest(case, external=True) is None:
        return _nothing_blocked(case, "has no open blocker that could be external")
    return None


def _refuse_deferral(case: Case) -> Refusal | None:
    group = case.group
    assert group is not None  # noqa: S101 - admission refuses a deferral without a group
    if group.status != "in_progress" or newest(case, external=True) is None:
        return deferral_not_confirmed(group.id)
    return None


def deferral_not_confirmed(group_id: str) -> Refusal:
    """The refusal of a deferral that no external guidance of the tech lead stands behind."""
    return Refusal(
        "DEFERRAL_NOT_CONFIRMED",
        f"Group {group_id} has no blocker that the tech lead's guidance marked external.",
        'The tech lead reports guidance with --details \'{"external": true, "external_dependency": "..."}\'',
        {},
    )


REASONS = {"defer": "deferral_reason", "resume": "resume_reason", "end_research": "investigation_answers"}
"""Effects of the project manager's reports that need a reason, and the key of `details` that gives it beside `reason`.

The agent file of the project manager names the same keys.
"""


def reason(case: Case) -> str:
    """Why the project manager reports what needs a reason: the summary, else the key of the details that gives it."""
    report = case.report
    given = (report.details.get(name) for name in (REASONS.get(case.transition.effect, "reason"), "reason"))
    return next(filter(None, map(names.said, (report.summary, *map(_text, given)))), "")


def _text(value: Any) -> str | None:
    """What a value of the details says: a text, how one begins that lies in a file, or the JSON of a list or object."""
    if isinstance(value, (list, dict)) and value and oversized.reference(value) is None:
        return strict_json.canonical(value)
    return oversized.beginning(value)


def refuse_unreasoned(case: Case) -> Refusal | None:
    """Whether a report that moves a group, or cancels some, lacks the reason that stays on record for it."""
    effect, report = case.transition.effect, case.report
    if effect not in REASONS or reason(case) or (effect == "end_research" and not case.facts.cancels):
        return None
    what = f"group {case.group.id}" if case.group is not None else f"session {case.session.id}"
    return Refusal(
        "REASON_REQUIRED", f"{report.status} of {what} needs a reason.",
        f"Repeat with --summary TEXT, or with {REASONS[effect]} in --details", {"details_key": REASONS[effect]},
    )


def _nothing_blocked(case: Case, what: str) -> Refusal:
    group = case.group
    assert group is not None  # noqa: S101 - admission refuses what returns to somebody without a group
    look = suggest("group show", id=group.id, session_id=case.session.id)
    return Refusal("NOTHING_BLOCKED", f"Group {group.id} {what}.", look, {})


def settles(case: Case) -> tuple[str, ...]:
    """Ids of the open blockers that this report settles. External ones are settled by a resumption only."""
    if not case.facts.blockers:
        return ()
    if case.transition.effect == "resume":
        external = newest(case, external=True)
        return (external.id,) if external else ()
    if is_external_guidance(case):
        return ()
    own = [blocker.id for blocker in case.facts.blockers if not blocker.external]
    return {"all": tuple(own), "newest": tuple(own[:1])}.get(case.transition.resolves, ())


def concerned(case: Case) -> tuple[str, ...]:
    """Ids of the open blockers that the report settles, marks as external, or defers its group for."""
    found = settles(case)
    if is_external_guidance(case):
        marked = newest(case, external=False) or newest(case, external=True)
    else:
        marked = newest(case, external=True) if case.transition.effect == "defer" else None
    return (*found, marked.id) if marked and marked.id not in found else found


def builder(workflow: Workflow, group: Group) -> str:
    """The role that builds a group: who built it last, else by security, complexity and kind."""
    return group.builder_role or first_builder(workflow, group)


def to_builder(workflow: Workflow, group: Group, action: str) -> Target:
    """The group's builder, and the very agent that built it last."""
    return Target(builder(workflow, group), action, group.builder_agent_id)


def first_builder(workflow: Workflow, group: Group) -> str:
    """The role that a fresh group is given."""
    if group.kind == "research":
        return SENIOR if group.senior else workflow.rules.research_agent or RESEARCHER
    if group.security_sensitive and workflow.rules.security_force_agent:
        return workflow.rules.security_force_agent
    return SENIOR if group.senior or group.complexity >= SENIOR_COMPLEXITY else DEVELOPER


def opener(workflow: Workflow, group: Group, blocker: Blocker, action: str) -> Target:
    """Whom a lifted blocker returns its group to: its opener, or the builder where a person or manager opened it."""
    if blocker.cause == "report" and blocker.opened_role and blocker.opened_role != MANAGER:
        return Target(blocker.opened_role, action, blocker.opened_by)
    return to_builder(workflow, group, action)
