"""Sessions: one piece of work from goal to verdict."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.app.engine import group_changes, scheduler, state_changes
from orchestrator.app.kernel import actors, human, operations
from orchestrator.app.kernel.context import Answer, Circumstances, Context, Work, call_of, perform
from orchestrator.app.session.requests import (
    CreateSession,
    EndSession,
    PauseSession,
    ResumeSession,
    SetTestingMode,
    UpgradeWorkflow,
)
from orchestrator.core import lifecycle_table, names
from orchestrator.core.routing.admission import STRICTNESS
from orchestrator.core.routing.facts import (
    DEVELOPER,
    MANAGER,
    PERSON,
    QA,
    ROUTER,
    SENIOR,
    TECH_LEAD,
    VALIDATOR,
)
from orchestrator.core.suggestions import again, suggest
from orchestrator.core.workflow import vocabulary
from orchestrator.core.workflow.model import Workflow
from orchestrator.errors import Refused, UsageError
from orchestrator.hints import Any
from orchestrator.store.reader import Agent


def create(context: Context, request: CreateSession) -> Answer:
    """Create a session, pinned to the active workflow version, and call the project manager.

    Returns:
        `session`, the decision that calls the project manager (`decision`), and `workflow`: the version that it is
        pinned to, and who made that active. Where no person did, and its rules differ from those of the last version
        that `init` or a person made active, `warnings` say so.

    Raises:
        UsageError: INVALID_ID, USAGE. Refused: ALREADY_EXISTS. EnvironmentProblem: NO_WORKFLOW.
    """
    names.check_id("session", request.id)
    disabled = _roles(request.disabled_roles)
    _check_reachable(disabled, request.testing_mode)
    answer = operations.carry_out(
        context, request.replaced(disabled_roles=disabled), Circumstances(client=context.client)
    )
    # Beside the step, so that what older records answered is told again as it was.
    return answer | _told(context, request.id, disabled)


def _told(context: Context, session_id: str, disabled: tuple[str, ...]) -> Answer:
    """By which rules a session goes, and what they and its disabled roles make of it."""
    from orchestrator.app.engine import feasible
    from orchestrator.store import versions

    pinned = versions.pinned(context.connection, session_id)
    if pinned is None:
        return {}
    rules = [f"{pinned.text()}."] if pinned.differs else []
    warnings = rules + feasible.beforehand(context.version(pinned.version).workflow, disabled)
    return {"workflow": pinned.to_json(), **({"warnings": warnings} if warnings else {})}


def free_id(context: Context) -> str:
    """An id that no session has: S1, S2, ..."""
    number = 1
    while context.reader.session(f"S{number}") is not None:
        number += 1
    return f"S{number}"


_Change = PauseSession | ResumeSession | SetTestingMode | UpgradeWorkflow


class Taken(Exception):
    """There is a session of the id. The caller goes on otherwise, so that nothing is refused, and nothing recorded."""


def begin_chat(context: Context, *, id: str, client: str | None = None) -> Answer:
    """Create a chat of an id that the program made up, or that may be there already.

    Whether it is free is asked in the step that takes it: between a look before it and the step another may come.

    Args:
        client: in which client's own session this was called.

    Raises:
        Taken: there is a session of this id; nothing was written.
    """

    def action(work: Work) -> Answer:
        if work.reader.session(id) is not None:
            raise Taken
        return operations.action(CreateSession.event)(work)

    return perform(context, call_of(CreateSession(id=id, kind="chat"), Circumstances(client=client)), action)


def _roles(given: tuple[str, ...]) -> tuple[str, ...]:
    roles = tuple(dict.fromkeys(names.role_name(role) for role in given))
    for role in roles:
        if role not in vocabulary.ROLES:
            raise UsageError("USAGE", f"Unknown role {names.shown(role)}.", suggest("agent list"))
        if role in (MANAGER, TECH_LEAD, VALIDATOR):
            raise UsageError("USAGE", f"{role} cannot be disabled: a session always needs it.", "Leave it out")
    return roles


def _check_reachable(disabled: tuple[str, ...], testing_mode: str) -> None:
    """Whether a group can be built, and tested as the mode demands, without the disabled roles."""
    if {DEVELOPER, SENIOR} <= set(disabled):
        what = f"{DEVELOPER} and {SENIOR} cannot both be disabled: nobody could build."
        raise UsageError("USAGE", what, "Leave one of them out")
    if QA in disabled and testing_mode == "full":
        raise UsageError(
            "USAGE", f"Without {QA} no group can pass the tests that testing mode full requires.",
            again(testing_mode="minimal"),
        )


def begin(work: Work, request: CreateSession) -> Answer:
    """The step that creates a session."""
    session_id = work.step.chain
    if work.reader.session(session_id) is not None:
        raise Refused(
            "ALREADY_EXISTS",
            f"Session {session_id} already exists; nothing changed.",
            suggest("status", session_id=session_id),
            _recorded=f"There is a session {session_id} already; nothing changed.",
        )
    by = request.by or MANAGER
    actors.named_actor(work, by, "Creating a session")
    version = work.context.active_version()
    kind = request.kind or "orchestration"
    work.step.insert(
        "sessions",
        id=session_id,
        kind=kind,
        mode=request.mode or "parallel",
        testing_mode=request.testing_mode or "full",
        goal=request.goal or "",
        workflow_version_id=version.id,
        turn_timeout=request.turn_timeout,
        disabled_roles=",".join(request.disabled_roles or ()),
        created_by=by,
        created_at=work.at,
        status="active",
        status_changed_by=by,
        status_changed_at=work.at,
        status_seq=work.seq,
    )
    client = work.call.circumstances.client
    if client and kind != "chat":
        work.step.insert("adoptions", client=client, adopted_at=work.at)
    answer: Answer = {"success": True, "session": None, "seq": work.seq}
    if kind == "chat":
        _open_chat(work, session_id, by)
    else:
        answer["decision"] = scheduler.begin(work, work.session(), version)
    answer["session"] = _row(work)
    return answer


def _open_chat(work: Work, session_id: str, by: str) -> None:
    group = group_changes.insert(work, session_id, name="Chat", kind="chat", by=ROUTER)
    why = "a chat runs from its start"
    state_changes.move_group(work, group, "in_progress", by=ROUTER, reason=why, cause="session")


def _row(work: Work) -> dict[str, Any]:
    from orchestrator.app.kernel import views

    row: dict[str, Any] = views.session_row(work.reader, work.step.chain)
    return row


def _acting(work: Work, request: _Change, what: str, *others: Callable[[], object]) -> tuple[Agent, str]:
    """The actor and the reason of a change that is the project manager's or a person's.

    Args:
        others: what is checked afterwards, to be named at once where the call lacks it.
    """
    work.context.require_session(work.step.chain)
    begun = f"{what[0].upper()}{what[1:]}"

    def reason() -> str:
        return actors.reason(request.reason, begun)

    agent = actors.first_of(work, lambda: actors.actor(work, request.by), reason, *others)
    if agent.kind == "human":
        actors.first_of(work, lambda: human.require(work, agent, f"{begun} as {agent.id}"), reason)
    elif agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED",
            f"Only the project manager or a person may do this ({what}); {agent.id} is {agent.role}.",
            again(by="project_manager"),
            _recorded=f"{agent.id} is {agent.role}; {what} is the project manager's or a person's to do.",
        )
    return agent, actors.first_of(work, reason, *others)


def pause(work: Work, request: PauseSession) -> Answer:
    """Pause a session: reports are still accepted and decided, but nobody is started until `session resume`.

    Raises:
        Refused: UNKNOWN_SESSION, ILLEGAL_MOVE, NOT_PERMITTED, REASON_REQUIRED, ACTOR_REQUIRED, UNKNOWN_AGENT.
    """
    by, reason = _acting(work, request, "pausing a session")
    _refuse_session_move(work, "paused")
    state_changes.move_session(work, "active", "paused", by=by.id, reason=reason, cause="manual")
    return {"success": True, "session": _row(work), "seq": work.seq}


def resume(work: Work, request: ResumeSession) -> Answer:
    """Resume a paused session: what was held back is emitted now, as far as slots allow.

    Raises:
        Refused: UNKNOWN_SESSION, ILLEGAL_MOVE, QUESTION_OPEN, NOT_PERMITTED, REASON_REQUIRED, ACTOR_REQUIRED,
            UNKNOWN_AGENT.
    """
    by, reason = _acting(work, request, "resuming a session")
    _refuse_session_move(work, "active")
    question = work.reader.question(work.step.chain, None)
    if question is not None:
        raise Refused(
            "QUESTION_OPEN", f"Session {work.step.chain} waits for a person to answer question {question}.",
            suggest("inbox", session_id=work.step.chain), question_id=question,
        )
    state_changes.move_session(work, "paused", "active", by=by.id, reason=reason, cause="manual")
    scheduler.settle(work, "session", closed=True)
    return _settled(work)


def _settled(work: Work) -> Answer:
    answer: Answer = {"success": True, "session": _row(work), "seq": work.seq}
    if work.decisions:
        answer["followed_by"] = work.decisions
    return answer


def _refuse_session_move(work: Work, to: str) -> None:
    status = work.session().status
    moves = [dest for _, source, dest in lifecycle_table.SESSION_MOVES if source == status]
    if to not in moves:
        raise lifecycle_table.illegal("session", status, to, moves)


def end(work: Work, request: EndSession) -> Answer:
    """End a session: a chat is closed; abandoning an orchestration is a person's to do.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED, HUMAN_REQUIRED, REASON_REQUIRED, ACTOR_REQUIRED, UNKNOWN_AGENT,
            ILLEGAL_MOVE {runs} (something in it runs).
    """
    session = work.open_session()
    chat = session.kind == "chat"
    what = f"{'Closing' if chat else 'Abandoning'} session {session.id}"

    def reasoned() -> str:
        return actors.reason(request.reason, "Ending a session")

    def proven() -> None:
        if not chat:
            actors.person_named(work, request.by, what)

    agent = actors.first_of(work, lambda: actors.actor(work, request.by), reasoned, proven)
    reason = actors.first_of(work, reasoned, proven)
    if not chat or agent.kind == "human":
        human.require(work, agent, f"{what} as {agent.id}")
    elif agent.role not in (MANAGER, "orchestrator"):
        raise Refused(
            "NOT_PERMITTED",
            f"{agent.id} is {agent.role}; only the project manager or a person may close a chat.",
            again(by="project_manager"),
            _recorded=f"{agent.id} is {agent.role}; closing a chat is the project manager's or a person's.",
        )
    cancelled = close(work, by=agent.id, reason=reason, cause="manual")
    answer: Answer = {"success": True, "session": _row(work), "seq": work.seq}
    return answer if chat else {**answer, "cancelled": cancelled}


def close(work: Work, *, by: str, reason: str, cause: str) -> list[str]:
    """End the step's session with all that is open in it; the groups that were cancelled.

    Raises:
        Refused: ILLEGAL_MOVE {runs}, something in it runs.
    """
    session, runs = work.session(), work.context.runs
    runs.refuse_running(work)
    runs.end_all(work, by=by)
    cancelled = group_changes.cancel_open(work, by=by, reason=reason, cause="session")
    outcome = "closed" if session.kind == "chat" else "abandoned"
    state_changes.move_session(work, session.status, "ended", by=by, reason=reason, cause=cause, outcome=outcome)
    return cancelled


def set_testing_mode(work: Work, request: SetTestingMode) -> Answer:
    """Change how much a session tests. Tightening is the project manager's; loosening needs a person.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED, NOT_PERMITTED, HUMAN_REQUIRED, REASON_REQUIRED, ACTOR_REQUIRED.
    """
    session, mode = work.open_session(), request.mode
    what = f"Loosening the testing mode from {session.testing_mode} to {mode}"
    is_looser = STRICTNESS.get(mode, 0) < STRICTNESS[session.testing_mode]
    proven = [lambda: actors.person_named(work, request.by, what)] if mode in STRICTNESS and is_looser else []
    by, reason = _acting(work, request, "changing the testing mode", *proven)
    if mode not in STRICTNESS:
        raise UsageError("USAGE", f"Unknown testing mode {names.shown(mode)}.", f"One of: {', '.join(STRICTNESS)}")
    if mode == session.testing_mode:
        return {"success": True, "session": _row(work), "unchanged": True}
    if mode == "full" and QA in session.disabled_roles:
        raise Refused(
            "NOT_PERMITTED",
            f"Session {session.id} runs without {QA}, so no group could pass the tests that mode full requires.",
            suggest("status", session_id=session.id),
            _recorded=f"Session {session.id} does without {QA}, so no group could pass what mode full demands.",
        )
    if is_looser:
        human.require(work, by, what)
    state_changes.record_change(
        work, "session_testing_mode", session.id, session.testing_mode, mode, by=by.id, reason=reason
    )
    work.update_session({"testing_mode": mode})
    return {"success": True, "session": _row(work), "seq": work.seq}


def upgrade_workflow(work: Work, request: UpgradeWorkflow) -> Answer:
    """Move a session to the active workflow version, unless its open state does not exist there.

    Where the rules of the two differ it is a person's to do.

    Returns:
        `session`, `changes` (the rules that differ, in words) or, with `confirm`, `confirmed` (what was confirmed).

    Raises:
        Refused: UPGRADE_REFUSED {open}, HUMAN_REQUIRED {changes}, UNKNOWN_SESSION, SESSION_CLOSED, NOT_PERMITTED,
            REASON_REQUIRED, ACTOR_REQUIRED.
    """
    from orchestrator.app.workflow import rule_changes

    session = work.open_session()
    by, reason = _acting(work, request, "upgrading the workflow")
    old, new = work.context.version(session.workflow_version_id), work.context.active_version()
    if request.confirm:
        confirmed = rule_changes.confirm(work, by, old.workflow.hash, reason)
        made: Answer = {"seq": work.seq} if confirmed else {"unchanged": True}
        return {"success": True, "session": _row(work), "confirmed": confirmed, **made}
    if old.id == new.id:
        return {"success": True, "session": _row(work), "unchanged": True}
    open_ = _missing(work, old.workflow, new.workflow)
    if open_:
        raise Refused(
            "UPGRADE_REFUSED",
            f"Session {session.id} cannot move to version {new.workflow.name}: {'; '.join(open_)}.",
            "Wait until the session is in a state that exists in both versions",
            open=open_,
        )
    differs = rule_changes.require_person_to_upgrade(work, by, old.id, new.id)
    state_changes.record_change(
        work, "session_workflow", session.id, old.workflow.hash, new.workflow.hash, by=by.id, reason=reason
    )
    work.update_session({"workflow_version_id": new.id})
    scheduler.settle(work, "session")
    # What older rules answered is told again as it was (WFL-14).
    return _settled(work) | ({"changes": list(differs)} if work.asks(rule_changes.ASKED_SINCE) else {})


_AWAITED = """SELECT id, awaited_role, awaited_action, qa_attempts, tl_review_attempts, merge_attempts
    FROM task_groups INDEXED BY ix_task_groups_open
    WHERE session_id = :session AND status = 'in_progress' AND awaited_role IS NOT NULL ORDER BY created_seq"""
_UNFINISHED = """SELECT id, kind, security_sensitive FROM task_groups WHERE session_id = :session
    AND status NOT IN ('completed', 'cancelled') ORDER BY created_seq"""
_COUNTED = {"qa_attempts": "test_fail", "tl_review_attempts": "reject", "merge_attempts": "merge_fail"}


def _missing(work: Work, old: Workflow, new: Workflow) -> list[str]:
    """Each awaited role, status of it, counter and blocker of the session that the new version does not have.

    Args:
        work: the session's step.
        old: the version that the session is pinned to.
        new: the version that it would move to.
    """
    found: list[str] = []
    effects = {transition.effect for transition in new.transitions.values()}
    for group, role, action, *counters in work.context.connection.execute(_AWAITED, {"session": work.step.chain}):
        if role not in (PERSON, VALIDATOR):
            found += [f"group {group} {what}" for what in _of_role(old, new, role)]
        if action == "spawn_merge" and "merge" not in effects:
            found.append(f"group {group} is sent to merge, and no status merges there")
        for (name, effect), count in zip(_COUNTED.items(), counters, strict=True):
            if count and effect not in effects:
                found.append(f"group {group} has {name} {count}, and nothing counts as {effect} there")
    found += _of_blockers(work, new)
    found += _endless(work, old, new)
    session = work.session()
    if session.awaited_role == MANAGER:
        found += [f"the session {what}" for what in _of_role(old, new, MANAGER)]
    return found


def _endless(work: Work, old: Workflow, new: Workflow) -> list[str]:
    """Groups that could be completed by the old rules and could not by the new ones, for want of a disabled role."""
    from orchestrator.app.engine import feasible

    disabled = work.session().disabled_roles
    rows = work.context.connection.execute(_UNFINISHED, {"session": work.step.chain}) if disabled else ()
    found = []
    for id_, kind, secure in rows:
        before, after = (
            feasible.why_not(each, disabled, id=id_, kind=kind, security_sensitive=bool(secure)) for each in (old, new)
        )
        found += [after] if after and not before else []
    return found


def _of_role(old: Workflow, new: Workflow, role: str) -> list[str]:
    statuses = new.statuses_of(role)
    if not statuses:
        return [f"awaits {role}, which reports nothing there"]
    gone = [status for status in old.statuses_of(role) if new.find(role, status) is None]
    return [f"awaits {role}, whose {status} does not exist there" for status in gone]


def _of_blockers(work: Work, new: Workflow) -> list[str]:
    rows = work.context.connection.execute(
        "SELECT id, opened_role FROM blockers INDEXED BY ix_blockers_open"
        " WHERE session_id = :session AND resolved_seq IS NULL AND cause = 'report' ORDER BY opened_seq",
        {"session": work.step.chain},
    )
    return [f"blocker {blocker} returns to {role}, which reports nothing there" for blocker, role in rows
            if not new.statuses_of(role)]
