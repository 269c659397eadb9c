"""May this report be accepted? The first steps of deciding, in their fixed order; each turns down with its own code.

Nothing is written before all of them have passed, so that a refusal can never leave half a step.
"""

from __future__ import annotations

from orchestrator.core import handoff, names
from orchestrator.core.routing import blocking
from orchestrator.core.routing.facts import (
    MANAGER,
    STARTING,
    TECH_LEAD,
    Case,
    Facts,
    Group,
    Refusal,
    Report,
)
from orchestrator.core.suggestions import options, sentence, suggest
from orchestrator.core.workflow.model import Transition, Workflow

NEEDS_GROUP = ("rework", "defer", "resume", "escalate")
STRICTNESS = {"disabled": 0, "minimal": 1, "full": 2}
MAX_CLARIFICATIONS = 3
_MOST_SHOWN = 60
"""Characters of an unknown status that are shown as they are."""


ANOTHER = suggest("session create", id="ID")
"""What helps whoever reports in a chat."""


def in_chat(session_id: str) -> str:
    """Why nobody reports in a chat: a report would let it await an agent whom nobody starts."""
    return f"Session {session_id} is a chat: its work is done by runs, so agents cannot report in it."


def refuse_state(facts: Facts, report: Report, transition: Transition | None) -> Refusal | None:
    """Whether session and group still take reports."""
    session, group = facts.session, facts.group
    if session.status == "ended":
        return Refusal(
            "SESSION_CLOSED",
            f"Session {session.id} has ended and takes no more reports.",
            suggest("status", session_id=session.id),
            {},
        )
    if report.testing_mode and STRICTNESS[report.testing_mode] < STRICTNESS[session.testing_mode]:
        return Refusal(
            "TESTING_MODE_MISMATCH",
            f"Session {session.id} tests in mode {session.testing_mode}; a report may repeat or tighten it, not loosen"
            f" it to {report.testing_mode}.",
            sentence("Leave out {}", options(testing_mode=True)),
            {"testing_mode": session.testing_mode},
        )
    if group is None:
        return None
    if facts.question_id:
        return Refusal(
            "QUESTION_OPEN",
            f"Group {group.id} waits for a person to answer question {facts.question_id}.",
            suggest("inbox", session_id=session.id),
            {"question_id": facts.question_id},
        )
    resumes = transition is not None and transition.effect == "resume" and group.status == "deferred_external"
    if group.status not in ("pending", "in_progress") and not resumes:
        return Refusal(
            "GROUP_CLOSED",
            f"Group {group.id} is {group.status} and takes no more reports.",
            _reopening(session.id, group) if report.role == MANAGER else "Discard the answer",
            {"group_status": group.status},
        )
    return None


def _reopening(session_id: str, group: Group) -> str:
    if group.status == "cancelled":
        return suggest("group create", id="ID", session_id=session_id)
    by = {"by": "project_manager", "reason": "TEXT"}
    return suggest("group set-status", id=group.id, status="in_progress", session_id=session_id, **by)


def refuse_turn(facts: Facts, report: Report, transition: Transition | None) -> Refusal | None:
    """Whether it is this role's turn, and whether the report answers the open turn."""
    if report.role == MANAGER:
        return _refuse_manager(facts, report, transition)
    group = facts.group
    if group is None:
        return Refusal(
            "UNKNOWN_GROUP",
            f"{report.role} reports need --group-id.",
            suggest("group list", session_id=facts.session.id),
            {"_recorded": f"A report by {report.role} belongs to a group; none is named."},
        )
    if group.status == "pending":
        failed = transition is not None and transition.effect == "merge_fail"
        return _refuse_first(facts, report, group) or (_refuse_merge(facts, group, transition) if failed else None)
    if group.held:
        held = f"Group {group.id} is held ({group.held}): {group.awaited_role} is not started yet."
        return _out_of_turn(facts, group, held)
    if report.turn is not None and report.turn != group.turn:
        return _stale(report, group.turn)
    fallback = report.role == TECH_LEAD and facts.refusal == "UNKNOWN_STATUS"
    if group.awaited_role != report.role and not fallback:
        return _out_of_turn(
            facts, group, f"Group {group.id} waits for {group.awaited_role or 'nobody'}, not for {report.role}."
        )
    return _refuse_merge(facts, group, transition)


def _refuse_first(facts: Facts, report: Report, group: Group) -> Refusal | None:
    if report.turn is not None:
        return _stale(report, None)
    if facts.open_dependencies:
        return _dependencies_open(facts, group, facts.open_dependencies)
    if facts.blockers:
        return _dependencies_open(facts, group, tuple(blocker.id for blocker in facts.blockers))
    return None


def _dependencies_open(facts: Facts, group: Group, open_: tuple[str, ...]) -> Refusal:
    """The refusal of a start before what the group waits for is done."""
    return Refusal(
        "DEPENDENCIES_OPEN",
        f"Group {group.id} cannot start before {', '.join(open_)}.",
        suggest("group show", id=group.id, session_id=facts.session.id),
        {"open": list(open_)},
    )


def _refuse_merge(facts: Facts, group: Group, transition: Transition | None) -> Refusal | None:
    merging = transition is not None and transition.effect in ("merge", "merge_fail")
    if not merging or group.awaited_action == "spawn_merge":
        return None
    return _out_of_turn(
        facts,
        group,
        f"Group {group.id} was not sent to merge (awaited: {group.awaited_action}); a merge follows an approval.",
        expected_action="spawn_merge",
    )


def _refuse_manager(facts: Facts, report: Report, transition: Transition | None) -> Refusal | None:
    group, session = facts.group, facts.session
    effect = transition.effect if transition else "none"
    turns = facts.manager_turns
    if group is not None:
        turns = tuple(turn for turn in turns if turn in (group.turn, session.turn))
    if report.turn is not None and report.turn not in turns:
        return _stale(report, max(turns, default=None))
    if group is None:
        if effect in NEEDS_GROUP or (_starts(transition) and effect != "investigate"):
            return Refusal(
                "UNKNOWN_GROUP",
                f"{report.status} concerns one group; name it with --group-id.",
                suggest("group list", session_id=session.id),
                {},
            )
        return None
    if group.status == "pending":
        return _refuse_first(facts, report._replace(turn=None), group) if _starts(transition) else None
    if group.status == "in_progress" and group.awaited_role != MANAGER and not report.interrupt:
        return _out_of_turn(
            facts,
            group,
            f"Group {group.id} waits for {group.awaited_role}; a report of the project manager on it would take that"
            " turn away.",
            suggestion=sentence(
                "{}; or repeat the call with {} to supersede the open turn",
                _awaited(session.id, group), options(interrupt=True),
            ),
        )
    return _refuse_merge(facts, group, transition) if group.status == "in_progress" else None


def _starts(transition: Transition | None) -> bool:
    return transition is not None and transition.action in STARTING and transition.next_agent != MANAGER


def refuse_status(workflow: Workflow, facts: Facts, report: Report) -> Refusal:
    """The refusal of a status that the role does not have, with the way on."""
    statuses = workflow.statuses_of(report.role)
    near = names.nearest(report.status, statuses)
    group = facts.group.id if facts.group else None
    nearest = suggest("route", current_agent=report.role, status=near, session_id=facts.session.id, group_id=group)
    listed = f"Repeat with one of: {', '.join(statuses)}" if statuses else suggest("workflow show")
    said = f"{report.role} has no status {{}} in this workflow."
    whole = report.status or "(empty)"
    shown = whole if len(whole) <= _MOST_SHOWN and whole.isprintable() else names.shown(whole)
    return Refusal(
        "UNKNOWN_STATUS",
        said.format(shown),
        nearest if near else listed,
        {
            **({} if shown == whole else {"_recorded": said.format(whole)}),
            "valid_statuses": list(statuses),
            "did_you_mean": near,
            "fallback_action": {
                "next_agent": TECH_LEAD,
                "action": "spawn",
                "reason": f"{report.role} reported a status that the workflow does not know; the tech lead judges it",
            },
        },
    )


def refuse_content(case: Case) -> Refusal | None:
    """Whether what the report says can be carried out: blockers to settle, deferrals to confirm, groups to leave."""
    effect = case.transition.effect
    if effect == "clarify" and case.facts.clarifications >= MAX_CLARIFICATIONS:
        return Refusal(
            "CLARIFICATION_LIMIT",
            f"{case.facts.clarifications} clarifications are open or unanswered since the last answer; a person must"
            " answer one before the next.",
            suggest("inbox", session_id=case.session.id),
            {"open": case.facts.clarifications},
        )
    if effect == "end_research" and case.facts.open_code_groups:
        open_ = case.facts.open_code_groups
        return Refusal(
            "OPEN_GROUPS",
            f"{case.report.status} ends the session, but code groups are in progress: {', '.join(open_)}.",
            suggest("status", session_id=case.session.id),
            {"open": list(open_)},
        )
    return blocking.refuse(case) or blocking.refuse_unreasoned(case)


def _out_of_turn(
    facts: Facts, group: Group, message: str, *, expected_action: str | None = None, suggestion: str | None = None
) -> Refusal:
    data = {
        "expected_agent": group.awaited_role,
        "expected_action": expected_action or group.awaited_action,
        "turn": group.turn,
    }
    if facts.session.kind == "chat":
        return Refusal("OUT_OF_TURN", in_chat(facts.session.id), ANOTHER, {**data, "_recorded": message})
    return Refusal("OUT_OF_TURN", message, suggestion or _awaited(facts.session.id, group), data)


def _awaited(session_id: str, group: Group) -> str:
    """How a group goes on: the report of who is awaited, or where nobody is, a look at the session."""
    if group.held or group.awaited_role is None:
        return suggest("status", session_id=session_id)
    return handoff.report_command(session_id, group.id, group.awaited_role, group.turn)


def _stale(report: Report, turn: int | None) -> Refusal:
    open_ = f"the open turn is {turn}" if turn else "no turn is open"
    return Refusal(
        "STALE_TURN",
        f"Turn {report.turn} is not open; {open_}. An answer to another turn moves nothing.",
        "Discard the answer",
        {"turn": turn},
    )
