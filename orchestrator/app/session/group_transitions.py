"""Moving groups by hand, as far as the table of moves and the guards allow; deferring, cancelling, reopening them."""

from __future__ import annotations

from orchestrator.app.engine import dispatch, group_changes, overview, scheduler, state_changes
from orchestrator.app.kernel import actors, human
from orchestrator.app.kernel.context import Answer, Version, Work
from orchestrator.app.session.requests import SetGroupStatus
from orchestrator.core import completion_wording, lifecycle_table, names
from orchestrator.core.routing import blocking, engine
from orchestrator.core.routing.facts import (
    ROUTER,
    Blocker,
    Fired,
    Group,
    Session,
    Target,
)
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.store.reader import Agent


def set_status(work: Work, request: SetGroupStatus) -> Answer:
    """Change the status of a group, as far as the rules allow.

    Returns:
        `group`, and what the machinery did (`followed_by`).

    Raises:
        Refused: ACTOR_REQUIRED, UNKNOWN_AGENT, UNKNOWN_STATUS, ILLEGAL_MOVE, NOT_PERMITTED, HUMAN_REQUIRED,
            REASON_REQUIRED, COMPLETION_PATH_MISSING, DEFERRAL_NOT_CONFIRMED, in this order; for `completed` the guard
            speaks first.

    Source: seed 004, Proposed Solution 3 and 4.
    """
    session = work.open_session()
    group = work.group(request.id)
    if group is None:
        raise Refused(
            "UNKNOWN_GROUP", f"Session {session.id} has no group {request.id}.",
            suggest("group list", session_id=session.id),
        )
    to, reason = request.status.strip().lower(), names.said(request.reason)
    agent = actors.first_of(work, lambda: actors.actor(work, request.by), lambda: _reason(group, to, reason))
    if session.kind == "chat":
        raise Refused(
            "NOT_PERMITTED", f"Session {session.id} is a chat: closing the session closes its group.",
            suggest("session end", id=session.id, by="project_manager", reason="..."),
        )
    _check_move(work, group, to, agent, reason)
    version = work.context.version(session.workflow_version_id)
    MOVES[to](work, session, version, group, agent.id, reason)
    from orchestrator.app.kernel import views

    answer: Answer = {"success": True, "group": views.group_row(work.reader, session.id, group.id), "seq": work.seq}
    dependents = views.dependents(work.reader, session.id, group.id)
    if dependents:
        answer["dependents"] = dependents
    if work.decisions:
        answer["followed_by"] = work.decisions
    return answer


def _check_move(work: Work, group: Group, to: str, agent: Agent, reason: str) -> None:
    if to not in lifecycle_table.GROUP_STATUSES:
        raise Refused(
            "UNKNOWN_STATUS",
            f"Unknown group status {names.shown(to)}.",
            f"One of: {', '.join(lifecycle_table.GROUP_STATUSES)}",
            valid_statuses=list(lifecycle_table.GROUP_STATUSES),
            did_you_mean=names.nearest(to, lifecycle_table.GROUP_STATUSES),
            _recorded=f"A group has no status {names.shown(to)}.",
        )
    if to == "completed" and group.status != "completed":
        _guard_completion(work, group)
    lifecycle_table.refuse_move(group.status, to)
    movers = lifecycle_table.GROUP_MOVERS[group.status, to]
    person = agent.kind == "human" and to != "completed"
    if person:
        what = f"Moving group {group.id} to {to} as {agent.id}"
        actors.first_of(work, lambda: human.require(work, agent, what), lambda: _reason(group, to, reason))
    if agent.role not in movers and not (person and movers):
        raise Refused(
            "NOT_PERMITTED", f"{agent.id} ({agent.role}) may not move a group from {group.status} to {to}.",
            f"It is done by {', or '.join((*movers, 'a person')) if movers else 'the router alone'}",
        )
    _reason(group, to, reason)
    if to == "deferred_external":
        _external(work, group)
        _refuse_asked(work, group)


def _reason(group: Group, to: str, reason: str) -> None:
    actors.reason(reason, f"Moving group {group.id} to {to}")


def _refuse_asked(work: Work, group: Group) -> None:
    """A group that waits for a person's answer is deferred by that answer alone."""
    question = work.reader.question(work.step.chain, group.id)
    if question is not None:
        raise Refused(
            "QUESTION_OPEN", f"Group {group.id} waits for a person to answer question {question}.",
            suggest("inbox", session_id=work.step.chain), question_id=question,
        )


def _guard_completion(work: Work, group: Group) -> None:
    row = overview.path_row(work.reader, work.step.chain, group.id)
    if row and row["valid"] == 1:
        return
    raise Refused(
        "COMPLETION_PATH_MISSING",
        f"Group {group.id} has no valid completion path: {row.get('missing') or 'approved'} is not met.",
        suggest("why", id=group.id, session_id=work.step.chain),
        required=completion_wording.REQUIRED,
        path=completion_wording.parts(row),
    )


def _external(work: Work, group: Group) -> Blocker:
    blocker = next((b for b in work.reader.blockers(work.step.chain, group.id) if b.external), None)
    if blocker is None:
        refusal = blocking.deferral_not_confirmed(group.id)
        raise Refused(refusal.code, refusal.message, refusal.suggestion)
    return blocker


def _complete(work: Work, session: Session, version: Version, group: Group, by: str, reason: str) -> None:
    state_changes.move_group(work, group, "completed", by=by, reason=reason, cause="set_status")
    scheduler.settle(work, "set_status", closed=True)


def _defer(work: Work, session: Session, version: Version, group: Group, by: str, reason: str) -> None:
    group_changes.defer(work, group, _external(work, group).id, reason=reason, by=by, cause="set_status")
    scheduler.settle(work, "set_status", closed=True)


def _cancel(work: Work, session: Session, version: Version, group: Group, by: str, reason: str) -> None:
    group_changes.cancel(work, group, by=by, reason=reason, cause="set_status")
    scheduler.settle(work, "set_status", closed=True)


def _reopen(work: Work, session: Session, version: Version, group: Group, by: str, reason: str) -> None:
    blocker = next((b for b in work.reader.blockers(session.id, group.id) if b.external), None)
    target = blocking.to_builder(version.workflow, group, "respawn")
    if group.status == "deferred_external" and blocker is not None:
        target = blocking.opener(version.workflow, group, blocker, "respawn")
        state_changes.resolve_blocker(work, blocker.id, by=by, resolution="resumed", note=reason)
    rung = scheduler.set_status_rung(work, version, group, target.agent)
    state_changes.move_group(work, group, "in_progress", by=by, reason=reason, cause="set_status")
    if rung:
        again = "set-status again and again"
        scheduler.escalate(work, session, version, group, rung, "set_status", again, postponed=target)
    else:
        dispatch.decide(work, session, version, _reopened(version, session, group, target, reason))
    scheduler.settle(work, "set_status")


def _reopened(version: Version, session: Session, group: Group, target: Target, reason: str) -> dispatch.Record:
    target, fired = engine.constrain(version.workflow, session, group, target)
    return dispatch.Record(
        current_agent=ROUTER,
        response_status="SET_STATUS",
        group=group,
        target=target,
        cause="set_status",
        rules=(Fired("set_status", reason), *fired),
    )


MOVES = {"completed": _complete, "deferred_external": _defer, "cancelled": _cancel, "in_progress": _reopen}
