"""`redispatch`: a new turn for the awaited role when an agent died; the old turn is stale."""

from __future__ import annotations

from orchestrator.app.engine import decision_answers, dispatch, scheduler
from orchestrator.app.kernel import actors
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.reports.requests import Redispatch
from orchestrator.core import handoff
from orchestrator.core.routing.facts import PERSON, ROUTER, VALIDATOR, Fired, Group, Session, Target
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused

ORCHESTRATOR = "orchestrator"


def redispatch(work: Work, request: Redispatch) -> Answer:
    """Order the awaited role of a group (or of the session, without one) to start anew, under a new turn.

    Returns:
        The decision, as `route` answers it.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP, SESSION_CLOSED, GROUP_CLOSED, QUESTION_OPEN, OUT_OF_TURN (nobody was
            started), REASON_REQUIRED, UNKNOWN_AGENT.
    """
    session = work.open_session()

    def reasoned() -> str:
        return actors.reason(request.reason, "A redispatch")

    actors.first_of(work, lambda: actors.named_actor(work, request.by, "Starting an agent again"), reasoned)
    reason = reasoned()
    group = _group(work, session, request.group_id)
    waiting = group or session
    _check_waiting(work, session, group)
    version = work.context.version(session.workflow_version_id)
    rung = scheduler.redispatch_rung(work, session, version, group)
    if rung:
        answer = scheduler.escalate(work, session, version, group, rung, "redispatch", f"redispatched again: {reason}")
    else:
        agent = group.awaited_agent_id if group else None
        previous = _previous(work, group, waiting.turn)
        answer = dispatch.decide(
            work,
            session,
            version,
            dispatch.Record(
                current_agent=ROUTER,
                response_status="REDISPATCH",
                group=group,
                target=Target(waiting.awaited_role, _action(waiting), agent),
                cause="redispatch",
                rules=(Fired("redispatch", reason),),
                **previous,
            ),
        )
    scheduler.settle(work, "redispatch")
    return answer


class GiveUp(Request, event="give up", use_case="reports.redispatch:give_up"):
    """Ask a person about an open turn."""

    session_id: str
    group_id: str | None
    reason: str
    by: str = ORCHESTRATOR


def give_up(work: Work, request: GiveUp) -> Answer:
    """Ask a person about an open turn whose agents do not report, however often it is started anew.

    Returns:
        The decision, as `route` answers it.

    Raises:
        Refused: as `redispatch`.
    """
    session = work.open_session()
    group = _group(work, session, request.group_id)
    _check_waiting(work, session, group)
    version = work.context.version(session.workflow_version_id)
    answer = scheduler.escalate(work, session, version, group, PERSON, "redispatch", request.reason)
    scheduler.settle(work, "redispatch")
    return answer


def _action(waiting: Group | Session) -> str:
    """How the role is started anew; one that was only named to the project manager is now called for itself."""
    return waiting.awaited_action if waiting.awaited_action not in (None, "wait") else "spawn"


def _previous(work: Work, group: Group | None, turn: int | None) -> Answer:
    """What the open turn was given: context, model, an answer, a resume point; nothing where it only names its role."""
    command = handoff.command(work.step.chain, group and group.id, turn or 0)
    for answer in decision_answers.of_step(work.reader, work.step.chain, turn):
        for spawn in answer.get("spawns") or (answer,):
            if spawn.get("handoff") == command:
                given = {"include_context": tuple(answer["include_context"]), "model": spawn["model"]}
                return given | dispatch.told(answer)
    return {"include_context": (), "model": None}


def _group(work: Work, session: Session, group_id: str | None) -> Group | None:
    if group_id is None:
        return None
    group = work.group(group_id)
    if group is None:
        raise Refused(
            "UNKNOWN_GROUP", f"Session {session.id} has no group {group_id}.",
            suggest("group list", session_id=session.id),
        )
    return group


def _check_waiting(work: Work, session: Session, group: Group | None) -> None:
    if group is not None and group.status not in ("pending", "in_progress"):
        look = suggest("group show", id=group.id, session_id=session.id)
        raise Refused("GROUP_CLOSED", f"Group {group.id} is {group.status}.", look)
    waiting = group or session
    if waiting.awaited_role == PERSON:
        raise Refused(
            "QUESTION_OPEN",
            "The session waits for a person, not for an agent.",
            suggest("inbox", session_id=session.id),
            question_id=work.reader.question(session.id, group.id if group else None),
            _recorded="A person is awaited, not an agent.",
        )
    if waiting.turn is None or waiting.held or waiting.awaited_role in (None, VALIDATOR):
        name = f"Group {group.id}" if group else f"Session {session.id}"
        raise Refused(
            "OUT_OF_TURN",
            f"{name} has no open turn, so there is no agent to start again.",
            suggest("status", session_id=session.id),
            expected_agent=waiting.awaited_role,
            expected_action=waiting.awaited_action,
            turn=waiting.turn,
            _recorded=f"{name} has no open turn, so there is nobody to start anew.",
        )


