"""`decide`: from one accepted report and the recorded facts to one decision. Pure, total, replayable."""

from __future__ import annotations

from orchestrator.core import names
from orchestrator.core.routing import admission, blocking, rules
from orchestrator.core.routing.facts import (
    NO_PATH,
    PERSON,
    ROUTER,
    SPAWNING,
    VALIDATOR,
    Case,
    Decision,
    Facts,
    Fired,
    Group,
    Question,
    Refusal,
    Report,
    Session,
    Target,
)
from orchestrator.core.workflow.model import Transition, Workflow
from orchestrator.hints import Any

REVIEWED = ("submit_test", "submit_review")
"""Effects after which a security-sensitive group owes a review by the tech lead."""

_NO_TRANSITION = Transition(
    ROUTER, "", None, "", None, "none", (), None, None, False, False, None, "none", False, False, ""
)


def find(workflow: Workflow, report: Report) -> tuple[Transition | None, str | None]:
    """The transition of a report and the alias it came by, if any; (None, None) for an unknown status."""
    found = workflow.find(report.role, report.status)
    return found if found else (None, None)


def admit(case: Case | None, workflow: Workflow, facts: Facts, report: Report) -> Refusal | None:
    """Whether the report is accepted: state, turn, transition, content, in this order.

    `case` is None exactly when the status is unknown; nothing then needs its content.
    """
    transition = case.transition if case else None
    refusal = admission.refuse_state(facts, report, transition)
    if refusal is None and report.role != VALIDATOR:
        refusal = admission.refuse_turn(facts, report, transition)
    if refusal is None and case is None:
        refusal = admission.refuse_status(workflow, facts, report)
    if refusal is None and case is not None:
        refusal = admission.refuse_content(case)
    return refusal


def decide(case: Case) -> Decision:
    """Apply the ordered rules to an admitted report.

    Args:
        case: the report with everything recorded that it rests on; `path` as the completion view answers once the
            report is written.

    Returns:
        The decision: whom to start how, with which model and context, the rules that fired, and what it does to
        blockers. Fan-out over several groups (`spawn_batch`, `check_phase`) is left to `free_slots`.
    """
    transition = case.transition
    base = Target(transition.next_agent, transition.action)
    target, fired, extras = _apply(case, base)
    model = case.models.get(target.agent or "")
    if transition.model_override and target.agent == transition.next_agent:
        model = transition.model_override
    if transition.bypass_qa:
        extras["bypass_qa"] = True
    question, postponed = _question(case, base, target, fired)
    if question and case.report.review_mark:
        extras[case.report.review_mark] = True
    if question:
        target = Target(PERSON, "pause_for_user")
    return Decision(
        target=target,
        model=model if target.action in SPAWNING else None,
        include_context=transition.include_context,
        rules=tuple(fired),
        extras=extras,
        question=question,
        postponed=postponed,
        resolves=blocking.settles(case),
        marks_external=_marks_external(case),
        mandatory_review=_mandatory(case),
    )


def _apply(case: Case, base: Target) -> tuple[Target, list[Fired], dict[str, Any]]:
    fired: list[Fired] = []
    extras: dict[str, Any] = {}
    if case.alias:
        fired.append(Fired("alias", f"{case.alias} stands for {case.transition.status}"))
    target = _first(case, base, fired, extras)
    target = _highest(case, target, fired, extras)
    return _constrained(case, target, fired, extras), fired, extras


def may_ask(case: Case) -> bool:
    """Whether deciding could ask a person; most reports are told apart here, before anything is decided."""
    transition, rules_ = case.transition, case.workflow.rules
    return bool(
        case.report.review_reason
        or case.facts.visits + 1 >= rules_.loop_max_visits
        or transition.effect in rules.COUNTERS
        or transition.iteration_budget_check
        or transition.action == "pause_for_user"
    )


def confirmed(case: Case, target: Target, model: str | None, include_context: tuple[str, ...]) -> Decision:
    """The decision on a report that a person has let go on: what was kept for the answer, and what the report does."""
    extras: dict[str, Any] = {"bypass_qa": True} if case.transition.bypass_qa else {}
    return Decision(
        target=target,
        model=model,
        include_context=include_context,
        rules=(),
        extras=extras,
        resolves=blocking.settles(case),
        marks_external=_marks_external(case),
        mandatory_review=_mandatory(case),
    )


def constrain(workflow: Workflow, session: Session, group: Group, target: Target) -> tuple[Target, tuple[Fired, ...]]:
    """A target that no report led to, under the constraints that hold for every decision of the group."""
    transition = _NO_TRANSITION._replace(next_agent=target.agent, action=target.action)
    case = Case(workflow, {}, Facts(session, group), Report(ROUTER, "", "", ""), transition, None, NO_PATH)
    fired: list[Fired] = []
    return _constrained(case, target, fired, {}), tuple(fired)


def _constrained(case: Case, target: Target, fired: list[Fired], extras: dict[str, Any]) -> Target:
    for name, rule in rules.of_stage("constraint"):
        if proposal := rule(case, target):
            fired.append(Fired(name, proposal.reason))
            extras.update(proposal.extras)
            target = proposal.target
    return target


def _first(case: Case, target: Target, fired: list[Fired], extras: dict[str, Any]) -> Target:
    for name, rule in rules.of_stage("target"):
        if proposal := rule(case, target):
            fired.append(Fired(name, proposal.reason))
            extras.update(proposal.extras)
            return proposal.target
    return target


def _highest(case: Case, target: Target, fired: list[Fired], extras: dict[str, Any]) -> Target:
    best: Target | None = None
    for name, rule in rules.of_stage("redirect"):
        if proposal := rule(case, target):
            fired.append(Fired(name, proposal.reason))
            extras.update(proposal.extras)
            if best is None or rules.height(case, proposal.target) > rules.height(case, best):
                best = proposal.target
    return best or target


def _unredirected(case: Case, base: Target) -> Target:
    """Where the report would have gone without the redirect to a person: what an answer to go on emits."""
    return _constrained(case, _first(case, base, [], {}), [], {})


def _question(case: Case, base: Target, target: Target, fired: list[Fired]) -> tuple[Question | None, Target | None]:
    """The question that the decision opens, and the target that waits for its answer."""
    report = case.report
    if report.review_reason:
        mark = f" ({report.review_mark.replace('_', '-')})" if report.review_mark else ""
        fired.append(Fired("user_review", f"{report.review_reason}{mark}"))
        # Who answers has looked: what goes on afterwards is no second question (PPL-20).
        waits = _unredirected(case, base) if target.agent == PERSON else target
        return Question(report.review_kind, report.review_reason), waits
    if target.agent == PERSON:
        return Question("budget", "; ".join(rule.reason for rule in fired)), _unredirected(case, base)
    if target.action == "pause_for_user":
        kind = "clarification" if case.transition.effect == "clarify" else "review"
        return Question(kind, _asked(report)), None
    return None, None


def _asked(report: Report) -> str:
    """What a report asks a person: its question where its details hold one, else its summary."""
    question = report.details.get("clarification_question")
    said = names.said(question) if isinstance(question, str) else ""
    return said or names.said(report.summary) or f"{report.role} reported {report.status}"


def _marks_external(case: Case) -> str | None:
    if not blocking.is_external_guidance(case):
        return None
    blocker = blocking.newest(case, external=False) or blocking.newest(case, external=True)
    return blocker.id if blocker else None


def _mandatory(case: Case) -> bool:
    if case.transition.mandatory_review:
        return True
    secured = case.group is not None and case.group.security_sensitive and case.workflow.rules.security_mandatory_review
    return bool(secured) and case.transition.effect in REVIEWED
