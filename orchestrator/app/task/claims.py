"""Claims: who has a task, by a token, for as long as signs of life come.

A lease is counted from the largest time on record, so that a clock that was set back and is set right again ends
none; a sign of life never shortens one. It has ended once the clock itself is past its end: a time on record that is
ahead of the clock ends none either. Tokens come from the number of the step, so that a replay gives the same.

Source: seed 002, get_next_action (one worker for each task).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from orchestrator.app.engine import state_changes, task_blocks
from orchestrator.app.kernel import agent_checks, human
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.task import status_checks, task_status
from orchestrator.app.task.requests import ClaimTask, HeartbeatTask, ReleaseTask
from orchestrator.core import clock_jumps, names, permissions, tasks
from orchestrator.core.suggestions import again, options, sentence, suggest
from orchestrator.core.tasks import Task
from orchestrator.errors import EXIT_NEGATIVE, Refused
from orchestrator.store import task_reader
from orchestrator.store.reader import Agent
from orchestrator.store.step import Value

LEASE_S = 900
"""Seconds that a claim holds without a sign of life, where none are given."""
_LOOK_BACK = 1000
_LARGEST = """SELECT max(at) FROM (
    SELECT at FROM audit_events WHERE session_id = :session ORDER BY seq DESC LIMIT :most) WHERE at < :until"""


def claim(work: Work, request: ClaimTask) -> Answer:
    """Pick a task and claim it, in one step; of any number of callers exactly one gets it.

    Returns:
        `task`, `claim {token, holder, until, lease}`, `taken_over_from`; `task` null and `why` where there is nothing.

    Raises:
        Refused: UNKNOWN_TASK, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED, CLAIM_LOST {holder}, DEPENDENCIES_OPEN,
            ASSIGNEE_BUSY, ILLEGAL_MOVE (blocked or closed), SESSION_CLOSED.

    Source: seed 002, get_next_action.
    """
    work.open_session()
    agent = _agent(work, request.agent_id)
    status_checks.by_hand(work, agent)
    lease = request.lease or LEASE_S
    if request.id is None:
        from orchestrator.app.task import answer_next

        task = _held(work, agent, request.claim_token) or answer_next.pick(work, agent)
        if task is None:
            return _nothing(work, agent)
    else:
        task = status_checks.require_task(work, work.step.chain, request.id)
    agent_checks.refuse_outside(work, agent, task.group_id)
    status_checks.takes_part(work, agent.id)
    if task.claim_token is not None and request.claim_token == task.claim_token and task.claim_holder == agent.id:
        return {**_answer(work, task), "repeated": True, "unchanged": True}
    return _claimed(work, task, agent, lease)


def _agent(work: Work, given: str | None) -> Agent:
    if not given:
        raise Refused(
            "ACTOR_REQUIRED",
            "A claim needs an agent.",
            again(agent_id="AGENT"),
            _recorded="A claim is somebody's.",
        )
    agent = agent_checks.require_agent(work, given)
    agent_checks.refuse_outside(work, agent, None)
    return agent


def _held(work: Work, agent: Agent, token: str | None) -> Task | None:
    """The task whose claim a token is of, where the agent still holds it."""
    if token is None:
        return None
    row = work.reader.one(
        "SELECT id FROM tasks INDEXED BY ix_tasks_claimed WHERE session_id = :session AND claim_until IS NOT NULL"
        " AND claim_token = :token AND claim_holder = :agent",
        session=work.step.chain, token=token, agent=agent.id,
    )
    return status_checks.require_task(work, work.step.chain, str(row[0])) if row else None


def _nothing(work: Work, agent: Agent) -> Answer:
    from orchestrator.app.task import answer_next

    found = answer_next.answer(work, work.step.chain, agent, None)
    why = found.get("why") or found["instruction"]
    return {
        "success": True, "task": None, "claim": None, "why": why, "unchanged": True, "exit_code": EXIT_NEGATIVE,
    }  # fmt: skip


def _claimed(work: Work, task: Task, agent: Agent, lease: int) -> Answer:
    if task.status == tasks.IN_PROGRESS:
        return _taken(work, task, agent, lease)
    _refuse_held(work, task)
    moved = task_status.change(
        work, task, tasks.IN_PROGRESS, by=agent, reason="claimed", cause="claim",
        values={"assignee": agent.id, **_columns(work, agent, lease)},
    ) if task.status != tasks.BLOCKED else _refuse_blocked(work, task)  # fmt: skip
    return _answer(work, moved)


def _refuse_blocked(work: Work, task: Task) -> Task:
    raise Refused(
        "ILLEGAL_MOVE",
        f"Task {task.id} is blocked ({task.blocked_reason}); claiming it does not unblock it.",
        suggest("blocker list", task=task.id, open=True, session_id=work.step.chain),
        allowed=[],
        _recorded=f"Task {task.id} is blocked ({task.blocked_reason}); a claim lifts nothing.",
    )


def _refuse_held(work: Work, task: Task) -> None:
    if task.claim_holder is not None:
        raise status_checks.claim_lost(work, task)


def _taken(work: Work, task: Task, agent: Agent, lease: int) -> Answer:
    """Claim a task in progress: one's own that nobody has claimed, or one whose lease or holder's service has ended."""
    before = task.claim_holder
    if before is None and task.assignee != agent.id:
        before = task.assignee
    gone = before is not None and not status_checks.standing(work, before).active
    if before is not None and not tasks.overdue(task, work.at, gone=gone):
        raise status_checks.claim_lost(work, task)
    # A task that is the agent's own already counts as one that it has in progress.
    if before is not None and before != agent.id:
        status_checks.has_room(work, task, agent.id)
    reason = f"{before} is out of service" if gone else f"the lease of {before} ended at {task.claim_until}"
    if before is not None:
        state_changes.record_change(work, "task_claim", task.id, before, agent.id, by=agent.id, reason=reason)
    values: dict[str, Value] = {"assignee": agent.id, **_columns(work, agent, lease)}
    answer = _answer(work, task_blocks.update(work, task, values))
    return {**answer, "taken_over_from": before} if before is not None else answer


def ended(work: Work, task: Task) -> bool:
    """Whether the lease of a task has ended: the clock is past its end, or far behind that of whoever took it."""
    return clock_jumps.has_ended(task.claim_until, task.claim_beat_at, work.at)


def _columns(work: Work, agent: Agent, lease: int) -> dict[str, Value]:
    base = _base(work)
    return {
        "claim_holder": agent.id,
        # Easily guessed, which does no harm: it fences off late writers and is no secret (TSK-21).
        "claim_token": f"{work.step.chain}:C{work.seq}",
        "claim_beat_at": base,
        "claim_until": _later(base, lease),
    }


def _base(work: Work) -> str:
    """The time that a lease is counted from: the clock's, or a larger one among the newest on record.

    What is a day or more ahead was said by a wrong clock; a lease that it counts would end at that clock's time.
    """
    until = clock_jumps.day_after(work.at)
    found = work.reader.one(_LARGEST, session=work.step.chain, most=_LOOK_BACK, until=until)
    return max(work.at, str(found[0]) if found and found[0] else work.at)


def _later(time: str, seconds: int) -> str:
    moment = datetime.fromisoformat(time) + timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _seconds(task: Task) -> int:
    """The lease that a claim was taken with."""
    if task.claim_until is None or task.claim_beat_at is None:
        return LEASE_S
    waited = datetime.fromisoformat(task.claim_until) - datetime.fromisoformat(task.claim_beat_at)
    return max(1, round(waited.total_seconds()))


def heartbeat(work: Work, request: HeartbeatTask) -> Answer:
    """Give a sign of life: the lease begins anew, and never ends earlier than before.

    Raises:
        Refused: UNKNOWN_TASK, UNKNOWN_AGENT, CLAIM_LOST {holder}.
    """
    task, agent = _claim_of(work, request)
    if task.claim_holder != agent.id:
        raise status_checks.claim_lost(work, task)
    base, lease = _base(work), request.lease or _seconds(task)
    # The last sign of life came from a wrong clock, whose lease would last far too long: only here may one get
    # shorter.
    if clock_jumps.is_far_ahead(task.claim_beat_at or "", work.at):
        until = _later(base, lease)
    else:
        base = max(base, task.claim_beat_at or "")
        until = max(_later(base, lease), task.claim_until or "")
    values: dict[str, Value] = {"claim_beat_at": base, "claim_until": until}
    work.step.update("tasks", (task.id,), values)
    return _answer(work, task._replace(claim_beat_at=base, claim_until=until))


def _claim_of(work: Work, request: HeartbeatTask | ReleaseTask) -> tuple[Task, Agent]:
    """The task whose claim the call's token is of, and who acts: by default who holds it."""
    work.open_session()
    task = status_checks.require_task(work, work.step.chain, request.id)
    agent = _agent(work, request.by) if request.by else None
    if task.claim_token is None or task.claim_token != request.claim_token:
        raise status_checks.claim_lost(work, task, request.claim_token, by_token=True)
    agent = agent or _agent(work, task.claim_holder)
    work.actor = agent.id
    return task, agent


def release(work: Work, request: ReleaseTask) -> Answer:
    """Give a task back, or free it of who is gone: in_progress becomes todo, nobody has it, whoever asks next may.

    Raises:
        Refused: UNKNOWN_TASK, VERSION_CONFLICT, ILLEGAL_MOVE, ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED,
            HUMAN_REQUIRED, CLAIM_LOST {holder}, REASON_REQUIRED.
    """
    if request.claim_token is not None:
        task, agent = _claim_of(work, request)
        why = f"released by {agent.id}"
        if task.claim_holder != agent.id:
            _refuse_unrelated(work, task, agent)
    else:
        task, agent, why = _without_token(work, request)
    status_checks.expected_version(work, task, request.expect_version)
    reason = names.said(request.reason) or why
    moved = task_status.change(
        work, task, tasks.TODO, by=agent, reason=reason, cause="claim_release",
        values={**task_blocks.NO_CLAIM, "assignee": None},
    )
    return {"success": True, "task": _task(work, moved), "claim": None, "seq": work.seq}


def _without_token(work: Work, request: ReleaseTask) -> tuple[Task, Agent, str]:
    """The task that is released without the token of a claim, who does it, and why where no reason is given."""
    work.open_session()
    task = status_checks.require_task(work, work.step.chain, request.id)
    task_status.check(work, task, tasks.TODO, cause="claim_release", expect_version=request.expect_version)
    if not request.by:
        raise Refused(
            "ACTOR_REQUIRED",
            f"Releasing task {task.id} needs its holder's name or the token of a claim.",
            sentence("Repeat with {}, or with {}", options(by="AGENT"), options(claim_token="TOKEN")),  # noqa: S106
            _recorded=f"Who releases task {task.id} is not named, nor is a claim by its token.",
        )
    agent = _agent(work, request.by)
    status_checks.by_hand(work, agent)
    agent_checks.refuse_outside(work, agent, task.group_id)
    return task, agent, _why_freed(work, request, task, agent)


def _why_freed(work: Work, request: ReleaseTask, task: Task, agent: Agent) -> str:
    holder = task.holder
    if agent.id != holder:
        _refuse_unrelated(work, task, agent)
    elif task.claim_holder is None:
        return f"released by {agent.id}"
    if ended(work, task):
        return f"the lease of {holder} ended at {task.claim_until}"
    if agent.id == holder:
        raise status_checks.claim_lost(work, task, by_token=True)
    if not names.said(request.reason):
        raise Refused(
            "REASON_REQUIRED", f"Taking task {task.id} from {holder} needs a reason.", again(reason="TEXT")
        )
    return ""


def _refuse_unrelated(work: Work, task: Task, agent: Agent) -> None:
    connection, has = work.context.connection, str(task.holder)
    holder = task_reader.standing(connection, has)
    asker = task_reader.standing(connection, agent.id)
    if agent.kind == "human":
        human.require(work, agent, f"Taking task {task.id} from {has}")
    elif holder is None or asker is None or not permissions.is_above(asker, holder):
        raise Refused(
            "NOT_PERMITTED", f"{has} has task {task.id}; {agent.id} does not stand above.",
            status_checks.show(work, task.id), holder=has,
        )


def _task(work: Work, task: Task) -> Answer:
    from orchestrator.core import next_words

    return {**next_words.of_task(task), "version": task.version}


def _answer(work: Work, task: Task) -> Answer:
    return {
        "success": True,
        "task": _task(work, task),
        "claim": {
            "token": task.claim_token, "holder": task.claim_holder, "until": task.claim_until,
            "lease": _seconds(task),
        },
        "seq": work.seq,
    }  # fmt: skip
