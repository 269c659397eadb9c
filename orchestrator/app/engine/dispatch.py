"""Ordering agents to start: instances, turns, hand-offs, and the rows that say whom a group or session waits for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from orchestrator.app.engine import decision_answers, overview, state_changes
from orchestrator.app.kernel import agent_checks
from orchestrator.app.kernel.context import Answer, Version, Work
from orchestrator.core import canonical_json, handoff, sha256
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import free_slots
from orchestrator.core.routing.facts import (
    BUILDERS,
    MANAGER,
    NOTHING,
    PERSON,
    ROUTER,
    SENIOR,
    VALIDATOR,
    Blocker,
    Fired,
    Group,
    Session,
    Target,
)
from orchestrator.hints import Any
from orchestrator.store.reader import OPEN_TASKS
from orchestrator.store.step import Value


class Record(NamedTuple):
    """What a decision's row and answer are made of, whoever decided."""

    current_agent: str
    response_status: str
    group: Group | None
    target: Target
    cause: str
    rules: tuple[Fired, ...] = ()
    include_context: tuple[str, ...] = ()
    model: str | None = None
    extras: dict[str, Any] = NOTHING
    report: bool = False
    mandatory_review: bool = False
    reason: str | None = None
    starts: tuple[free_slots.Start, ...] = ()
    session_level: bool = False
    blockers: tuple[Blocker, ...] | None = None
    """The group's open blockers, where they are known."""
    question: str | None = None
    """The question whose answer this is; its note goes into the hand-off."""
    resume: int | None = None
    """The step whose report says where a successor goes on."""
    reported: str | None = None
    """The group whose report led to a call for the whole session, where it is not the decision's own."""

    @property
    def waiting(self) -> Group | None:
        """The group that is to wait for the target; None where the session as a whole does."""
        return None if self.session_level else self.group


class Frozen(NamedTuple):
    """What a decision's row holds of its hand-off: the hash, and the columns that store it, where it is not a row."""

    hash: str | None = None
    stored: dict[str, str] = NOTHING


_NOT_FROZEN = Frozen()


def told(decision: dict[str, Any]) -> dict[str, Any]:
    """What an earlier decision told its agent besides context, for a record that starts the agent later or anew."""
    question = decision.get("question_id") if "answered" in decision else None
    resume = (decision.get("resume") or {}).get("seq")
    return {"question": question, "resume": resume, "reported": decision.get("group_id")}


def instance(role: str, session: str, group: str | None) -> str:
    """The id of a role's agent in one group; the project manager's stands for the whole session."""
    return f"{role}@{session}:{group}" if group and role != MANAGER else f"{role}@{session}"


def register_instance(work: Work, role: str, group: str | None, agent_id: str | None = None) -> str:
    """Register the instance that a spawn names, once, under its role's agent; return its id.

    An instance that is deactivated is never started again: the next number stands in for it.
    """
    group = None if role == MANAGER else group
    for agent in _candidates(agent_id, instance(role, work.step.chain, group)):
        known, has_parent = work.reader.instance(agent, role)
        if known is None:
            break
        # The second instance of one group may be named as the first one of another.
        if known.active and known.role == role and agent_checks.within(known, work.step.chain, group):
            return agent
    work.step.insert(
        "agents",
        id=agent,
        role=role,
        parent_id=role if has_parent else None,
        kind="ai",
        session_id=work.step.chain,
        group_id=group,
        created_at=work.at,
        created_seq=work.seq,
    )
    return agent


def _candidates(agent_id: str | None, first: str) -> Iterator[str]:
    if agent_id is not None:
        yield agent_id
    yield first
    yield from (f"{first}.{number}" for number in itertools.count(2))


def decide(work: Work, session: Session, version: Version, record: Record) -> Answer:
    """Carry out a decision that is made: spawn, hold, ask or wait; write its row and return its answer.

    The answer is what `route` prints, and what a repeated call gets again.
    """
    part = work.step.count("router_decisions") + 1
    answer = _answer(work, version, record, part)
    frozen = _carry_out(work, session, version, record, answer, part)
    work.step.insert(
        "router_decisions",
        group_id=answer["group_id"],
        current_agent=record.current_agent,
        response_status=record.response_status,
        next_agent=answer["next_agent"],
        action=answer["action"],
        timestamp=work.at,
        report_id=answer["report_id"],
        cause=record.cause,
        rules=canonical_json.exact(answer["rules"]),
        workflow_version_id=version.id,
        rules_version=work.context.rules_version,
        handoff_hash=frozen.hash,
        mandatory_review=int(record.mandatory_review),
        answer=decision_answers.kept(answer, work.context.rules_version),
        **frozen.stored,
    )
    work.decisions.append(answer)
    return answer


def _answer(work: Work, version: Version, record: Record, part: int) -> Answer:
    """What the decision says before it is carried out, which adds whom it starts."""
    session = work.step.chain
    answer: Answer = {
        "success": True,
        "current_agent": record.current_agent,
        "response_status": record.response_status,
        "next_agent": record.target.agent if record.target.agent != PERSON else None,
        "action": record.target.action,
        "group_id": record.group.id if record.group else None,
        "session_id": session,
        "include_context": list(record.include_context),
        **record.extras,
        "decision_id": f"{session}:D{work.seq}" + (f".{part}" if part > 1 else ""),
        "report_id": f"{session}:R{work.seq}" if record.report else None,
        "seq": work.seq,
        "rules": [fired._asdict() for fired in record.rules],
        "workflow_version": version.workflow.hash,
        "repeated": False,
        "dry_run": False,
    }
    if record.reason:
        answer["reason"] = record.reason
    if record.resume:
        answer["resume"] = overview.resume_point_of(work.reader, session, record.resume)
    return answer


def _carry_out(
    work: Work, session: Session, version: Version, record: Record, answer: Answer, part: int
) -> Frozen:
    target = record.target
    if record.starts:
        apart = len(record.starts) > 1 or _covers_others(work)
        begun = [_start(work, session, version, start, record, apart=apart) for start in record.starts]
        answer["spawns"] = [each for each, _ in begun]
        answer["groups_to_spawn"] = [start.group.id for start in record.starts]
        return _NOT_FROZEN._replace(stored=begun[0][1].stored)
    if target.agent == PERSON:
        _await(work, record.waiting, PERSON, PERSON, target.action, turn=None)
        _open_blockers(work, record.waiting and record.waiting.id, PERSON)
        return _NOT_FROZEN
    if target.agent is None:
        return _NOT_FROZEN
    hold = _why_hold(work, session, version, record)
    if hold:
        agent = register_instance(work, target.agent, record.waiting and record.waiting.id, target.instance)
        _await(work, record.waiting, target.agent, agent, target.action, turn=None, held=hold, part=part)
        _open_blockers(work, record.waiting and record.waiting.id, target.agent)
        answer["action"], answer["reason"] = "wait", "held" if hold == "slot" else hold
        answer["model"] = record.model or version.models.get(target.agent)
        return _NOT_FROZEN
    return _spawn(work, session, version, record, answer)


def _why_hold(work: Work, session: Session, version: Version, record: Record) -> str | None:
    if session.status != "active":
        return "session_paused"
    group, role = record.waiting, record.target.agent
    if group is None or role in (MANAGER, PERSON) or group.running:
        return None
    work.step.flush()
    running = work.reader.board(session, 0, 0).running
    return "slot" if running >= free_slots.limit(version.workflow, session) else None


def _spawn(work: Work, session: Session, version: Version, record: Record, answer: Answer) -> Frozen:
    role, group = str(record.target.agent), record.waiting
    agent = register_instance(work, role, group and group.id, record.target.instance)
    _await(work, group, role, agent, record.target.action, turn=work.seq, builds=role in BUILDERS)
    answer["model"] = record.model or version.models.get(role)
    answer["turn"] = work.seq
    answer["agent_id"] = agent
    group_id, action = group and group.id, record.target.action
    blockers = record.blockers if group is record.group else None
    noted = {name: value for name, value in (("question", record.question), ("resume", record.resume)) if value}
    reported = None
    if group_id is None and role == MANAGER:
        listed = record.extras.get("groups")
        noted |= overview.groups_now(work.reader, session.id, listed, planned=bool(session.planned))
        reported = record.group.id if record.group else record.reported
    apart = group_id is None or group_id != answer["group_id"] or _covers_others(work)
    frozen = freeze(
        work, session, version, group_id, role, agent, action, record.include_context, blockers, noted, reported,
        apart=apart,
    )
    answer["handoff"] = handoff.command(session.id, group_id, work.seq)
    answer["handoff_hash"] = frozen.hash
    alone = ("agent_id", "model", "turn", "handoff", "handoff_hash")
    answer["spawns"] = [{"group_id": group_id, "agent": role, **{name: answer[name] for name in alone}}]
    return frozen


def _covers_others(work: Work) -> bool:
    """Whether the step has hand-offs that are rows of their own, which it covers behind those with decisions."""
    return work.step.count("handoffs") > 0


def _start(
    work: Work, session: Session, version: Version, start: free_slots.Start, record: Record, *, apart: bool
) -> tuple[Answer, Frozen]:
    """Move a pending group and start its first agent; what the answer says of it, and the hand-off.

    Args:
        apart: whether the hand-off is a row of its own; otherwise the decision's row names its group and hash as well.
    """
    group, role = start.group, start.role
    state_changes.move_group(work, group, "in_progress", by=ROUTER, reason="a slot is free", cause="batch", hold=True)
    agent = register_instance(work, role, group.id)
    _await(work, group, role, agent, "spawn", turn=work.seq, builds=role in BUILDERS)
    # A blocker that is open keeps a pending group from being started.
    frozen = freeze(work, session, version, group.id, role, agent, "spawn", record.include_context, (), apart=apart)
    if not apart:
        of_group = {"handoff_group": group.id, "handoff_group_hash": str(frozen.hash)}
        frozen = frozen._replace(stored={**frozen.stored, **of_group})
    begun: Answer = {
        "group_id": group.id,
        "agent": role,
        "agent_id": agent,
        "model": version.models.get(role),
        "turn": work.seq,
        "handoff": handoff.command(session.id, group.id, work.seq),
        "handoff_hash": frozen.hash,
    }
    return begun, frozen


def freeze(
    work: Work,
    session: Session,
    version: Version,
    group_id: str | None,
    role: str,
    agent: str,
    action: str,
    include_context: tuple[str, ...],
    known_blockers: tuple[Blocker, ...] | None = None,
    noted: dict[str, Any] = NOTHING,
    reported: str | None = None,
    *,
    apart: bool = True,
) -> Frozen:
    """Freeze what a spawned agent gets, as references to rows that never change.

    Args:
        reported: the group of the report that led to this, where the agent is called for the session as a whole:
            what the transition passes on was said there.
        apart: whether it is a row of its own; otherwise it goes into the row of its decision.
    """
    handed = work.reader.handed_on(session.id, group_id, group_id or reported, include_context)
    items = list(zip(include_context, handed.items, strict=True))
    blockers = _open_blockers(work, group_id, role, known_blockers)
    document = {
        "session_id": session.id,
        "group_id": group_id,
        "turn": work.seq,
        "role": role,
        "agent_id": agent,
        "action": action,
        "workflow_version": version.workflow.hash,
        "context": [[name, seq] for name, seq in items if seq is not None],
        "missing_context": [name for name, seq in items if seq is None],
        "blockers": [blocker.id for blocker in blockers],
        "reports": handed.reports,
        **_moment(work, group_id, tasks=handed.tasks, external=any(blocker.external for blocker in blockers)),
        **{name: value for name, value in noted.items() if value is not None},
    }
    text = canonical_json.exact(document)
    hash_ = sha256.new(text.encode()).hexdigest()
    if apart:
        work.step.insert("handoffs", turn=work.seq, group_id=group_id or "", agent_id=agent, document=text, hash=hash_)
        return Frozen(hash_)
    work.step.cover("handoffs", (session.id, work.seq, group_id, agent, text, hash_))
    return Frozen(hash_, {"handoff_agent": agent, "handoff": text})


def _open_blockers(
    work: Work, group_id: str | None, awaited: str, known: tuple[Blocker, ...] | None = None
) -> tuple[Blocker, ...]:
    """The group's open blockers. Their external marks end where another role than the project manager is awaited.

    While a person is asked they stay: the report that the answer may turn down changes nothing.
    """
    if known is not None:
        blockers = known
    else:
        blockers = work.reader.blockers(work.step.chain, group_id) if group_id else ()
    if awaited in (MANAGER, PERSON) or not any(blocker.external for blocker in blockers):
        return blockers
    state_changes.unmark_external(work, blockers)
    return tuple(blocker._replace(external=0) for blocker in blockers)


def _moment(work: Work, group_id: str | None, *, tasks: bool, external: bool) -> dict[str, Any]:
    """What the document itself must hold, because the rows will say something else later."""
    connection, key = work.context.connection, {"session": work.step.chain, "group": group_id}
    found: dict[str, Any] = {}
    if tasks:
        found["tasks"] = [list(row) for row in connection.execute(OPEN_TASKS, key)]
    if external:
        marked = connection.execute(
            "SELECT id, external_seq FROM blockers INDEXED BY ix_blockers_open WHERE session_id = :session"
            " AND group_id = :group AND task_id IS NULL AND resolved_seq IS NULL AND external = 1"
            " ORDER BY opened_seq DESC, id DESC",
            key,
        )
        found["external"] = [list(row) for row in marked]
    return found


def _await(
    work: Work,
    group: Group | None,
    role: str,
    agent: str,
    action: str,
    *,
    turn: int | None,
    held: str | None = None,
    part: int | None = None,
    builds: bool = False,
) -> None:
    values: dict[str, Value] = {
        "awaited_role": role,
        "awaited_agent_id": agent,
        "awaited_action": action,
        "turn": turn,
        "awaited_since": work.at,
        "held": held,
        "held_seq": work.seq if held else None,
        "held_part": part if held else None,
    }
    if group is None:
        work.update_session(values)
        return
    if builds:
        values["builder_role"], values["builder_agent_id"] = role, agent
        if role == SENIOR:
            values["senior"] = 1
    if group.running and role in (MANAGER, PERSON):
        work.unsettled = True
    state_changes.update_group(work, group.id, values)


def await_manager(work: Work, group: Group) -> None:
    """The group waits for the project manager, who is named in the next call to them; nobody is started for it."""
    agent = register_instance(work, MANAGER, None)
    _await(work, group, MANAGER, agent, "wait", turn=work.seq)


def await_validator(work: Work) -> None:
    """The session waits for the validator's verdict."""
    _await(work, None, VALIDATOR, "system:validator", "validate", turn=None)
