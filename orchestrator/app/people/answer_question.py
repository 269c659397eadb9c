"""Answering what waits for a person: one way for every kind of question.

An answer closes its question, and what was kept back while the person was asked goes on as a decision of its own.

Source: seed 003, Recommendations 2 (a person decides before the work goes on)
"""

from __future__ import annotations

from orchestrator.app.engine import dispatch, report_effects, scheduler, state_changes
from orchestrator.app.kernel import actors, operations
from orchestrator.app.kernel.context import Answer, Circumstances, Context, Version, Work
from orchestrator.app.people.requests import AnswerQuestion
from orchestrator.app.reports import withheld_reports
from orchestrator.core import names, questions, strict_json
from orchestrator.core.questions import ABANDONS, CLARIFICATION, GOES_ON, REVISES
from orchestrator.core.routing import engine
from orchestrator.core.routing.facts import MANAGER, PERSON, VALIDATOR, Fired, Group, Session, Target
from orchestrator.core.suggestions import again, suggest
from orchestrator.errors import Refused, UsageError
from orchestrator.hints import Any
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Agent

_IDLE = "idle"
"""Under what a step keeps that no process goes on with its session; without it the session stays as it is."""
COUNTERS = ("qa_attempts", "tl_review_attempts", "merge_attempts", "iterations")
"""What an answer about a group sets back."""

_PAUSED_BY = """SELECT cause FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity = 'session' AND entity_id = :session ORDER BY seq DESC, part DESC LIMIT 1"""


def answer(context: Context, request: AnswerQuestion) -> Answer:
    """Answer a question, as a person, through a human channel.

    Returns:
        The decision that follows, as `route` answers it, with `question_id`, `answered` and `followed_by`.

    Raises:
        Refused: UNKNOWN_ID {kind}, UNKNOWN_SESSION, QUESTION_CLOSED, SESSION_CLOSED, HUMAN_REQUIRED, REASON_REQUIRED,
            ACTOR_REQUIRED, UNKNOWN_AGENT. UsageError: USAGE, a decision that the question does not ask for.
    """
    # Which processes live is not in the record, so the step keeps it in its input for the replay (RUN-21).
    elsewhere = {_IDLE: True} if _is_idle(context, request.chain) else None
    return operations.carry_out(context, request, Circumstances(elsewhere=elsewhere))


def _is_idle(context: Context, session_id: str) -> bool:
    """Whether it is a chat that no process goes on with, so that its last answer ends it."""
    session = context.reader.session(session_id)
    if session is None or session.kind != "chat":
        return False
    return context.runs.is_idle(context, session_id)


def close(work: Work, request: AnswerQuestion) -> Answer:
    """The step that answers a question."""
    question = _question(work, request.id)
    decision, note = request.decision, names.said(request.note)
    person = actors.first_of(
        work, lambda: actors.person_named(work, request.by, f"Answering question {question['id']}"),
        lambda: _check_note(question, decision, note),
    )  # fmt: skip
    _refuse_closed(question)
    session = work.open_session()
    # Answers recorded under earlier rules replay with the choices of their time (PPL-15).
    _check_fit(question, decision, note, before=not work.asks(4))
    decision, note = questions.recorded(question["kind"], decision, note)
    work.actor = person.id
    _close(work, question, person, decision, note)
    version = work.context.version(session.workflow_version_id)
    if question["task_id"] is not None:
        from orchestrator.app.task import answer_tasks

        kept = answer_tasks.Said(request.decision, decision, note)
        found = answer_tasks.decide(work, session, version, question, person, kept)
    else:
        found = _decide(work, request, session, version, question, person)
    if session.kind != "chat":
        scheduler.settle(work, "question", closed=question["group_id"] is None)
    elif (work.call.circumstances.elsewhere or {}).get(_IDLE):
        work.context.runs.end_over(work)
    if len(work.decisions) > 1:
        found["followed_by"] = work.decisions[1:]
    return found


def look(context: Context, id: str, decision: str, note: str) -> None:
    """See whether a question can be answered so, by whomever; nothing is recorded.

    Raises:
        Refused: UNKNOWN_ID {kind}, QUESTION_CLOSED, REASON_REQUIRED. UsageError: USAGE.
    """
    question = queries.row(context.reader, queries.QUESTION, id=id)
    if question is None:
        raise _unknown(context, id)
    _refuse_closed(question)
    _check_fit(question, decision, names.said(note))


def _question(work: Work, id_: str) -> Row:
    row = queries.row(work.reader, queries.QUESTION, id=id_)
    if row is None or row["session_id"] != work.step.chain:
        raise _unknown(work.context, id_)
    return row


def _unknown(context: Context, id_: str) -> Refused:
    known = [each[0] for each in context.connection.execute(
        "SELECT id FROM questions WHERE closed_seq IS NULL ORDER BY asked_at, id LIMIT 50"
    )]  # fmt: skip
    return Refused(
        "UNKNOWN_ID", f"There is no question {names.shown(id_)}.", suggest("inbox"),
        kind="question", did_you_mean=names.nearest(id_, known),
    )


def _refuse_closed(question: Row) -> None:
    if question["closed_seq"] is None:
        return
    raise Refused(
        "QUESTION_CLOSED",
        f"Question {question['id']} was closed by {question['closed_by']}: {question['answer']}; nothing changed.",
        suggest("inbox"),
        question_id=question["id"], answer=question["answer"], closed_by=question["closed_by"],
        closed_at=question["closed_at"],
    )


def _check_fit(question: Row, decision: str, note: str, *, before: bool = False) -> None:
    kind, allowed = question["kind"], questions.decisions(question["kind"], question["text"], before=before)
    if decision not in allowed:
        raise UsageError(
            "USAGE", f"Question {question['id']} ({kind}) takes {' or '.join(allowed)}, not {decision}.",
            questions.command(question["id"], allowed[0], kind), choices=list(allowed),
        )
    _check_note(question, decision, note)


def _check_note(question: Row, decision: str, note: str) -> None:
    kind = question["kind"]
    if not note and questions.needs_note(kind, decision):
        raise Refused(
            "REASON_REQUIRED", f"Answering question {question['id']} ({kind}) with {decision} needs a note.",
            again(note="TEXT"),
        )


def _close(work: Work, question: Row, person: Agent, decision: str, note: str) -> None:
    work.step.update(
        "questions", (question["id"],),
        {
            "closed_at": work.at, "closed_by": person.id, "closed_seq": work.seq, "answer": decision,
            "note": note or None, "channel": work.context.spoken,
        },
    )
    if question["task_id"] is not None:
        return
    if question["group_id"] is None:
        work.update_session({"answered_seq": work.seq})
    else:
        state_changes.update_group(work, question["group_id"], {"answered_seq": work.seq, **dict.fromkeys(COUNTERS, 0)})


def _decide(
    work: Work, request: AnswerQuestion, session: Session, version: Version, question: Row, person: Agent
) -> Answer:
    """What was kept back goes on, as the decision says."""
    group = work.group(question["group_id"]) if question["group_id"] else None
    stored: dict[str, Any] = strict_json.stored(question["decision"]) if question["decision"] else {}
    decision = request.decision
    extras: Answer = {"question_id": question["id"], "answered": decision}
    if decision in GOES_ON and (released := _release(work, request, stored, person)):
        extras["blockers_resolved"] = released
    if group is None:
        _resume(work, request, session)
    kept = stored.get(withheld_reports.REPORT)
    if kept is not None and decision in GOES_ON:
        group = work.group(kept["group_id"]) if kept["group_id"] else None
    elif kept is not None and kept["begins"] and group is not None:
        withheld_reports.drop(work, group, request.id, by=person.id)
        group = None
    target, fired = _target(version, session, group, question, stored, decision)
    record = dispatch.Record(
        current_agent=PERSON,
        response_status=decision.upper(),
        group=group,
        target=target,
        cause="question",
        rules=(Fired("question", f"question {question['id']} was answered by {person.id}: {decision}"), *fired),
        include_context=tuple(stored.get("include_context") or ()),
        model=stored.get("model") if decision in GOES_ON else None,
        extras=extras,
        question=question["id"],
        resume=stored.get("resume"),
    )
    if kept is not None and decision in GOES_ON:
        return withheld_reports.release(work, version, record, question, kept)
    return dispatch.decide(work, work.session(), version, _spread(work, version, record))


def _release(work: Work, request: AnswerQuestion, stored: dict[str, Any], person: Agent) -> list[str]:
    """Resolve the blockers that the stored report opened, as far as nobody did so before."""
    open_ = [id_ for id_ in stored.get("blockers") or () if _is_open(work, id_)]
    for blocker in open_:
        note = request.note or ""
        state_changes.resolve_blocker(work, blocker, by=person.id, resolution="answered", note=note)
    return open_


def _is_open(work: Work, blocker: str) -> bool:
    return work.reader.one("SELECT 1 FROM blockers WHERE id = :id AND resolved_seq IS NULL", id=blocker) is not None


def _resume(work: Work, request: AnswerQuestion, session: Session) -> None:
    """A session that a question paused goes on with its last answer; one that was paused by hand does not."""
    if session.awaited_role == PERSON:
        state_changes.clear_session(work)
    by_question = work.reader.one(_PAUSED_BY, session=session.id) == ("question",)
    if session.status == "paused" and by_question and work.reader.question(session.id, None) is None:
        state_changes.move_session(
            work, "paused", "active", by=work.actor, reason=f"question {request.id} is answered",
            cause="question",
        )


def _target(
    version: Version, session: Session, group: Group | None, question: Row, stored: dict[str, Any], decision: str
) -> tuple[Target, tuple[Fired, ...]]:
    """Whom the answer goes to."""
    manager = Target(MANAGER, "spawn")
    if question["kind"] == CLARIFICATION or decision in ABANDONS:
        return manager, ()
    kept = Target(*(stored.get("target") or (None, "wait", None)))
    if decision in REVISES:
        reporter = stored.get("reporter") or {"role": kept.agent, "agent_id": kept.instance}
        kept = Target(reporter["role"], reporter.get("action", "respawn"), reporter["agent_id"])
    if kept.agent in (MANAGER, VALIDATOR, PERSON, None) and kept.action not in _OF_THE_SESSION:
        return manager, ()
    if kept.agent is None or kept.action == "spawn_batch":
        return kept, ()
    if group is None:
        return manager, ()
    if kept.action == "wait":
        kept = kept._replace(action="spawn")
    return engine.constrain(version.workflow, session, group, kept)


_OF_THE_SESSION = ("check_phase", "spawn_batch", "validate_then_end")
"""Actions that start nobody on the group itself."""


def _spread(work: Work, version: Version, record: dispatch.Record) -> dispatch.Record:
    """The decision where it starts nobody on the group: that awaits the manager, and the others are looked at."""
    target, group = record.target, record.group
    if target.action not in _OF_THE_SESSION:
        return record
    if group is not None:
        if completed := state_changes.complete(work, [group.id]):
            record.extras["completed"] = list(completed)
        fired = report_effects.await_completion(work, group.id, record.extras)
        record = record._replace(rules=(*record.rules, *fired))
    work.step.flush()
    if target.action == "validate_then_end":
        dispatch.await_validator(work)
        return record._replace(session_level=True)
    return scheduler.fan_out(work, version, record, target.agent)._replace(session_level=True)
