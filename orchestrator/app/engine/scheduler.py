"""The scheduler: after a step's decision, start what may start and never wait for nobody, until nothing follows.

It runs inside the transaction that frees a slot, meets a dependency, resolves a blocker or closes a group. Each thing
that it does is a decision of its own, without a report, whose cause says why.
"""

from __future__ import annotations

from orchestrator.app.engine import decision_answers, dispatch, overview, state_changes
from orchestrator.app.kernel.context import Answer, Version, Work
from orchestrator.core import strict_json
from orchestrator.core.routing import free_slots
from orchestrator.core.routing.facts import (
    MANAGER,
    PERSON,
    ROUTER,
    Fired,
    Group,
    Session,
    Target,
)
from orchestrator.hints import Any
from orchestrator.store import reader


def settle(work: Work, cause: str, *, closed: bool = False) -> None:
    """Run the machinery until nothing more follows.

    Args:
        work: the step under way.
        cause: why the decisions are made (`slot`, `set_status`, `session`, `group`, ...).
        closed: whether a group was closed outside a phase check, so that one is due.
    """
    version = work.version()
    filled = is_filled(work.decisions)
    while True:
        session = work.session()
        if session.status != "active":
            return
        held = work.reader.groups(reader.HELD, session.id)
        if filled and not held and not session.held:
            return
        board = load_board(work, session, version)
        if _release(work, session, version, board, held, _cause(cause)):
            filled = False
            continue
        starts = free_slots.batch(version.workflow, session, board)
        if starts:
            filled = is_filled([batch(work, session, version, starts, _cause(cause))])
            continue
        break
    if closed and session.awaited_role is None and not board.manager_called and not board.open_others:
        call_manager(work, session, version, _cause(cause), "phase_check")
    elif free_slots.stalled(board):
        call_manager(work, session, version, _cause(cause), "stalled")


def is_filled(decisions: list[Answer]) -> bool:
    """Whether the last decision was a batch, after which nothing follows unless something is held.

    It took all that may start, so an agent runs and no slot is left for who is pending. A project manager that stands
    in for a disabled role takes no slot.
    """
    spawns = decisions[-1]["spawns"] if decisions and decisions[-1]["action"] == "spawn_batch" else ()
    return bool(spawns) and all(spawn["agent"] != MANAGER for spawn in spawns)


def _cause(cause: str) -> str:
    return "slot" if cause == "report" else cause


def load_board(work: Work, session: Session, version: Version) -> free_slots.Board:
    """The session's board under its own limits."""
    limit = free_slots.limit(version.workflow, session)
    return work.reader.board(session, limit, version.workflow.rules.research_max_parallel, work.step.know)


def batch(work: Work, session: Session, version: Version, starts: tuple[free_slots.Start, ...], cause: str) -> Answer:
    """Start pending groups in free slots, as a decision of its own."""
    plan = next((t for t in version.workflow.transitions.values() if t.effect == "plan"), None)
    record = dispatch.Record(
        current_agent=ROUTER,
        response_status=cause.upper(),
        group=None,
        target=Target(starts[0].role, "spawn_batch"),
        cause=cause,
        rules=batch_rules(starts),
        include_context=plan.include_context if plan else (),
        starts=starts,
    )
    return dispatch.decide(work, session, version, record)


def batch_rules(starts: tuple[free_slots.Start, ...]) -> tuple[Fired, ...]:
    """What fired in a batch: itself, and what chose an agent other than the developer."""
    what = "pending group takes a free slot" if len(starts) == 1 else "pending groups take free slots"
    fired = [Fired("batch", f"{len(starts)} {what}: {', '.join(s.group.id for s in starts)}")]
    for start in starts:
        for reason in start.reasons:
            name, _, text = reason.partition(": ")
            fired.append(Fired(name, text))
    return tuple(fired)


def _release(
    work: Work, session: Session, version: Version, board: free_slots.Board, held: list[Group], cause: str
) -> bool:
    """Emit one spawn that was held back, if it may go out now."""
    if session.held and session.awaited_role:
        _emit(work, session, version, None, Target(session.awaited_role, session.awaited_action or "spawn"), cause)
        return True
    for group in held:
        slotless = group.awaited_role == MANAGER
        if slotless or board.running < board.limit:
            target = Target(group.awaited_role, group.awaited_action or "spawn", group.awaited_agent_id)
            _emit(work, session, version, group, target, "slot" if group.held == "slot" else cause)
            return True
        if group.held != "slot":
            state_changes.update_group(work, group.id, {"held": "slot"})
    return False


def _emit(work: Work, session: Session, version: Version, group: Group | None, target: Target, cause: str) -> None:
    held = _held_decision(work, group)
    record = dispatch.Record(
        current_agent=ROUTER,
        response_status=cause.upper(),
        group=group,
        target=target,
        cause=cause,
        rules=(Fired("held", f"held back by step {held['seq']}, started now"),),
        include_context=tuple(held["include_context"]),
        model=held.get("model"),
        **dispatch.told(held),
    )
    dispatch.decide(work, session._replace(held=None), version, record)


def _held_decision(work: Work, group: Group | None) -> dict[str, Any]:
    table, where = ("task_groups", "id = :group") if group else ("sessions", "id = :session")
    scope = "session_id = :session AND " if group else ""
    held: Any = work.reader.one(
        f"SELECT held_seq, held_part FROM {table} WHERE {scope}{where}",
        session=work.step.chain,
        group=group.id if group else None,
    )
    seq, part = held or (None, None)
    answers = decision_answers.of_step(work.reader, work.step.chain, seq)
    return answers[part - 1] if part and part <= len(answers) else {"seq": 0, "include_context": []}


def begin(work: Work, session: Session, version: Version) -> Answer:
    """Call the project manager to a session that was created just now."""
    return _call(work, session, version, "session", Fired("session", "a session starts with its project manager"), {})


def call_manager(work: Work, session: Session, version: Version, cause: str, rule: str) -> Answer:
    """Call the project manager for the session as a whole, with the groups by kind and the causes."""
    kinds = overview.kinds(work.reader, session.id)
    causes = overview.causes(kinds)
    extras: Answer = {"groups": kinds, "causes": causes}
    if rule == "phase_check":
        extras["phase_check"] = free_slots.phase(kinds)
    fired = Fired(rule, f"nothing runs: {', '.join(causes) or 'all groups are settled'}")
    return _call(work, session, version, cause, fired, extras)


def _call(work: Work, session: Session, version: Version, cause: str, fired: Fired, extras: Answer) -> Answer:
    record = dispatch.Record(
        current_agent=ROUTER,
        response_status=cause.upper(),
        group=None,
        target=Target(MANAGER, "spawn"),
        cause=cause,
        rules=(fired,),
        extras=extras,
    )
    return dispatch.decide(work, session, version, record)


def after_refusal(work: Work, refused: dict[str, Any]) -> None:
    """After so many refusals of one open turn by the awaited role, call the next rung.

    Args:
        work: the refusal's step.
        refused: the refusal's group, role and turn.
    """
    if work.call.circumstances.measured is not None:
        from orchestrator.app.engine import measured

        measured.keep(work, refused["group_id"])
    version = work.version()
    session = work.session()
    group = work.group(str(refused["group_id"])) if refused["group_id"] else None
    waiting = group or session
    if waiting.awaited_role is None or refused["role"] != waiting.awaited_role or refused["turn"] != waiting.turn:
        return
    visits, role = version.workflow.rules.loop_max_visits, waiting.awaited_role
    if work.reader.turn_refusals(session.id, group and group.id, waiting.turn, role, visits) < visits:
        return
    rung = next_rung(version, str(waiting.awaited_role)) if group else PERSON
    reason = f"{visits} reports of {waiting.awaited_role} were refused in turn {waiting.turn}"
    escalate(work, session, version, group, rung, "refusal", reason)
    settle(work, "refusal")


def next_rung(version: Version, role: str) -> str:
    """The rung of the loop guard after a role; the first one for a role that is on none."""
    rungs = [PERSON if rung == "question" else rung for rung in version.workflow.rules.loop_on_exhausted]
    later = rungs[rungs.index(role) + 1 :] if role in rungs else rungs
    return later[0] if later else PERSON


def escalate(
    work: Work, session: Session, version: Version, group: Group | None, rung: str, cause: str, reason: str,
    *, postponed: Target | None = None,
) -> Answer:
    """Call a rung for a group (or a person for the session), outside any report.

    Args:
        postponed: what an answer to go on emits (default: whoever is awaited now).
    """
    question = None
    if rung == PERSON:
        question = ask(work, session, group, "budget", reason, decision=_awaited(group or session, postponed))
        session = work.session()
    record = dispatch.Record(
        current_agent=ROUTER,
        response_status=cause.upper(),
        group=group,
        target=Target(rung, "pause_for_user" if rung == PERSON else "spawn"),
        cause=cause,
        rules=(Fired("loop_guard", reason),),
        extras={"question_id": question} if question else {},
    )
    return dispatch.decide(work, session, version, record)


def _awaited(waiting: Group | Session, postponed: Target | None) -> str:
    """What is awaited now, or is postponed, as the decision that an answer to go on emits."""
    now = (waiting.awaited_role, waiting.awaited_action, getattr(waiting, "awaited_agent_id", None))
    target = list(postponed or now)
    return strict_json.canonical({"target": target, "include_context": [], "model": None, "blockers": []})


def ask(
    work: Work,
    session: Session,
    group: Group | None,
    kind: str,
    text: str,
    *,
    by: str = ROUTER,
    decision: str | None = None,
) -> str:
    """Open a question; one that concerns no single group pauses the session."""
    whose = group.id if group else None
    question = state_changes.open_question(work, whose, kind=kind, text=text, by=by, decision=decision)
    if group is None and session.status == "active":
        state_changes.move_session(work, "active", "paused", by=ROUTER, reason=f"question {question}", cause="question")
    return question


def set_status_rung(work: Work, version: Version, group: Group, target: str | None) -> str | None:
    """The rung that an agent's repeated `set-status` on one group has reached, if any; never the target itself."""
    # Since the last answer, not the last progress: an approval after every reopening would otherwise go on for ever.
    visits = work.reader.count(
        reader.STATUS_SETTINGS, session=work.step.chain, group=group.id, since=group.answered_seq,
        most=version.most_visits,
    )
    return _rung_of_visits(version, visits + 1, target)


def redispatch_rung(work: Work, session: Session, version: Version, group: Group | None) -> str | None:
    """The rung that repeated redispatches of one group (or of the session) have reached, if any."""
    since = work.reader.progress(session, group)
    visits = work.reader.count(
        reader.REDISPATCHES, session=session.id, group=group and group.id, since=since, most=version.most_visits
    )
    rung = _rung_of_visits(version, visits + 1, (group or session).awaited_role)
    return PERSON if rung and group is None else rung


def _rung_of_visits(version: Version, visits: int, target: str | None) -> str | None:
    over = visits - version.workflow.rules.loop_max_visits
    if over < 0:
        return None
    rungs = version.workflow.rules.loop_on_exhausted[over:]
    return next((PERSON if rung == "question" else rung for rung in rungs if rung != target), PERSON)


def complete_freed(work: Work, group_id: str) -> None:
    """Complete a group that a dropped dependency was the last thing missing for."""
    group = work.group(group_id)
    if group is not None and group.awaited_role == MANAGER:
        state_changes.complete(work, [group_id])


def fan_out(work: Work, version: Version, record: dispatch.Record, next_agent: str | None) -> dispatch.Record:
    """A decision to start a batch or to check the phase, as it looks once the other groups are looked at.

    Args:
        record: the decision; its target's action is `spawn_batch` or `check_phase`.
        next_agent: the role that a batch is said to go to.
    """
    session = work.session()
    checking = record.target.action == "check_phase"
    if session.status != "active":
        return record._replace(target=Target(None, "wait"), reason=free_slots.PAUSED)
    board = load_board(work, session, version)
    starts = free_slots.batch(version.workflow, session, board)
    if starts:
        role = starts[0].role if checking else next_agent
        extras = {**record.extras, "phase_check": "continue"} if checking else record.extras
        fired = (*record.rules, *batch_rules(starts))
        return record._replace(target=Target(role, "spawn_batch"), extras=extras, rules=fired, starts=starts)
    if checking and not board.open_others:
        return _settled(work, record, "phase_check")
    reason = free_slots.why_nothing(board)
    if reason is None and not board.held:
        return _settled(work, record, "stalled")
    extras = {**record.extras, "phase_check": "wait"} if checking else record.extras
    return record._replace(target=Target(None, "wait"), extras=extras, reason=reason or free_slots.SLOTS_BUSY)


def _settled(work: Work, record: dispatch.Record, rule: str) -> dispatch.Record:
    """Nothing runs and nothing can start: the project manager is called, for the session as a whole."""
    kinds = overview.kinds(work.reader, work.step.chain)
    causes = overview.causes(kinds)
    extras: dict[str, Any] = {**record.extras, "groups": kinds, "causes": causes}
    if rule == "phase_check":
        extras["phase_check"] = free_slots.phase(kinds)
    # What a batch gives its builders is not the manager's; a phase check's context is for whoever it calls.
    context = record.include_context if record.target.action == "check_phase" else ()
    fired = Fired(rule, f"nothing runs: {', '.join(causes) or 'all groups are settled'}")
    return record._replace(
        target=Target(MANAGER, "spawn"), extras=extras, rules=(*record.rules, fired), session_level=True,
        model=None, include_context=context,
    )
