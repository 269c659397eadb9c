"""What blocks tasks: opening and closing their blockers, the cascade to what stands below, and the way back.

Each function writes its rows into the step it is given; none refuses. A task's own blockers are those of any cause but
`cascade`; what stands below a task with own blockers has one blocker of that cause, whatever number stands above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orchestrator.app.engine import state_changes
from orchestrator.app.kernel.context import Work
from orchestrator.core import blockers, questions, tasks
from orchestrator.core.permissions import Block
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.tasks import Task
from orchestrator.hints import Any
from orchestrator.store import task_reader
from orchestrator.store.step import Value

CASCADE = "cascade"
NO_CLAIM: dict[str, Value] = dict.fromkeys(("claim_holder", "claim_token", "claim_until", "claim_beat_at"))
"""The columns of a task that nobody has claimed."""

_COUNTED = """SELECT count(*), coalesce(sum(type = :type), 0) FROM blockers INDEXED BY ix_blockers_task
    WHERE session_id = :session AND task_id = :task AND "class" = 'soft' AND cause NOT IN ('cascade', 'dependency')
    AND opened_seq > coalesce((SELECT max(closed_seq) FROM questions WHERE session_id = :session AND task_id = :task
        AND answer IS NOT 'moot'), 0)"""
_QUESTIONS = """SELECT id FROM questions INDEXED BY ix_questions_open WHERE session_id = :session
    AND group_id IS :group AND closed_seq IS NULL AND task_id = :task AND kind IN ('review', 'budget')
    ORDER BY opened_seq, id"""


def budget(work: Work, task: Task, type_: str) -> str | None:
    """The limit that makes a soft blocker of this type hard when it is opened now, or None.

    Counted are the soft blockers of the task since the last answered question about it.

    Source: seed 003, Risks (under-flagging).
    """
    parameters = {"session": work.step.chain, "task": task.id, "type": type_}
    every, same = work.context.connection.execute(_COUNTED, parameters).fetchone()
    return blockers.exhausted(same, 0, every)


def open_own(work: Work, task: Task, *, type: str, reason: str, by: str, cause: str) -> Block:
    """Open a task's own blocker, and tell those above who has the task."""
    severity, limit = blockers.TYPES[type], None
    if severity == blockers.SOFT and cause != "dependency":
        limit = budget(work, task, type)
        severity = blockers.HARD if limit else severity
    if limit:
        reason = f"{reason} (hard: {limit})"
    block = open_blocker(work, task, type, severity, reason, by, cause)
    notify(work, task, block)
    if severity == blockers.HARD:
        _ask(work, task, block, questions.BUDGET if limit else questions.REVIEW)
    return block


def _ask(work: Work, task: Task, block: Block, kind: str) -> None:
    """Ask a person about a hard blocker, which nobody else may lift; one question about a task is enough."""
    if not _asked(work, task):
        state_changes.open_question(
            work, task.group_id, kind=kind, text=block.reason, by=str(block.opened_by), task_id=task.id
        )


def _asked(work: Work, task: Task) -> list[str]:
    rows = work.context.connection.execute(_QUESTIONS, {
        "session": work.step.chain, "group": task.group_id, "task": task.id,
    })
    return [row[0] for row in rows]


def withdraw(work: Work, task: Task, *, by: str) -> None:
    """Close the questions about a task without an answer, once no hard blocker of its own is left to ask about."""
    left = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
    if any(block.severity == blockers.HARD and block.cause != CASCADE for block in left):
        return
    for question in _asked(work, task):
        work.step.update("questions", (question,), {
            "closed_at": work.at, "closed_by": by, "closed_seq": work.seq, "answer": "moot",
        })


def open_blocker(work: Work, task: Task, type_: str, severity: str, reason: str, by: str, cause: str) -> Block:
    """Open a blocker of a task, whatever it is for."""
    agent = work.reader.agent(by)
    blocker = state_changes.open_blocker(
        work, task.group_id, task_id=task.id, type=type_, severity=severity, reason=reason, by=by,
        role=agent.role if agent else None, cause=cause,
    )
    return Block(blocker, type_, severity, reason, by, work.at, cause)


def notify(work: Work, task: Task, block: Block) -> None:
    """Tell those above who has the task that it was blocked; of a cascade and of waiting they are not told."""
    if block.cause in (CASCADE, "dependency"):
        return
    for name in task_reader.managers(work.context.connection, task.assignee or str(block.opened_by)):
        if name != block.opened_by:
            work.step.insert("notices", agent_id=name, task_id=task.id, blocker_id=block.id)


def put_blocked(
    work: Work, task: Task, block: Block, *, by: str, cause: str, values: Mapping[str, Value] | None = None
) -> Task:
    """Set a task blocked by a blocker that was opened just now; one that is blocked already gets the newer reason."""
    changed: dict[str, Value] = {"blocked_reason": block.reason, **(values or {})}
    if task.status == tasks.BLOCKED:
        return update(work, task, changed)
    changed["former_status"] = task.status
    return move(work, task, tasks.BLOCKED, by=by, reason=block.reason, cause=cause, values=changed)


def cascade(work: Work, task: Task, block: Block, *, by: str) -> None:
    """Block what is open below a task that got a blocker of its own, each task once."""
    connection, session = work.context.connection, work.step.chain
    below = task_reader.blockers_below(connection, session, task.id)
    for each in task_reader.open_descendants(connection, session, task.id):
        if not any(held.cause == CASCADE for held in below.get(each.id, ())):
            cascade_to(work, each, task.id, block, by=by)


def cascade_to(work: Work, task: Task, above: str, block: Block, *, by: str) -> Task:
    """Block a task because one above it is blocked."""
    found = open_blocker(work, task, block.type, block.severity, cascaded(above, block), by, CASCADE)
    return put_blocked(work, task, found, by=by, cause=CASCADE)


def source(work: Work, task: Task) -> tuple[str, Block]:
    """Which task's blocker keeps a blocked task: its own newest one, else that of the nearest one above."""
    connection, session = work.context.connection, work.step.chain
    found = task_reader.blockers_of_task(connection, session, task.id)
    own = next((block for block in found if block.cause != CASCADE), None)
    return (task.id, own) if own else task_reader.blocked_above(connection, session, task.id) or (task.id, found[0])


def cascaded(above: str, block: Block) -> str:
    """The reason of a task that is blocked because one above it is."""
    return block.reason if block.cause == CASCADE else f"{above} is blocked: {block.reason}"


def close(work: Work, found: Iterable[Block], *, by: str, resolution: str, note: str) -> None:
    """Close blockers for good."""
    for block in found:
        state_changes.resolve_blocker(work, block.id, by=by, resolution=resolution, note=note)


def release(work: Work, task: Task, *, by: str, reason: str) -> Task:
    """Let a task whose blocker was closed go back to its former status, if it was the last one."""
    left = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
    if left:
        return update(work, task, {"blocked_reason": left[0].reason})
    to, values = str(task.former_status), dict[str, Value]()
    if to == tasks.IN_PROGRESS and _may_not_run(work, task):
        to, values = tasks.TODO, dict(NO_CLAIM)
    return move(work, task, to, by=by, reason=reason, cause="release", values=values)


def _may_not_run(work: Work, task: Task) -> bool:
    connection = work.context.connection
    session = work.step.chain
    if task_reader.waits(connection, session, task) or task_reader.stops_group(connection, session, task.group_id):
        return True
    return task.parent_id is None and task.assignee is not None and bool(busy(work, task, task.assignee))


def busy(work: Work, task: Task, agent: str) -> list[tuple[str, str]]:
    """The tasks that leave an agent no room to have another one in progress, as (session, task); none where it has.

    The runner has as much room as its executors, which it counts itself.
    """
    if agent == RUNNER:
        return []
    connection = work.context.connection
    row = connection.execute("SELECT max_parallel_tasks FROM agents WHERE id = :agent", {"agent": agent}).fetchone()
    running = task_reader.running(connection, agent)
    here = [(session, name) for session, name in running if session == work.step.chain and name != task.id]
    there = [[session, name] for session, name in running if session != work.step.chain]
    others = [*here, *((session, name) for session, name in work.elsewhere(f"running {agent}", there))]
    return others if len(others) >= row[0] else []


def release_below(work: Work, task: Task, *, by: str, reason: str) -> None:
    """Take back the cascade of a task that has no blocker of its own any more.

    What another blocked task above still holds keeps its cascade; one that was freed by hand since that one was
    blocked is held by it no more.
    """
    connection, session = work.context.connection, work.step.chain
    holds = task_reader.holds_below(connection, session, task.id)
    blocked = task_reader.blockers_below(connection, session, task.id)
    below: dict[str | None, list[Task]] = {}
    for each in task_reader.descendants(connection, session, task.id):
        below.setdefault(each.parent_id, []).append(each)
    since = {task.id: max(task_reader.held_above(connection, session, task.id), _hold(holds, task).own)}
    queue = [task.id]
    while queue:
        above = queue.pop()
        for each in below.pop(above, ()):
            hold = _hold(holds, each)
            since[each.id] = max(since[above], hold.own)
            queue.append(each.id)
            cascades = [block for block in blocked.get(each.id, ()) if block.cause == CASCADE]
            if cascades and since[above] <= hold.freed:
                close(work, cascades, by=by, resolution="released", note=reason)
                release(work, each, by=by, reason=reason)


def _hold(holds: Mapping[str, task_reader.Hold], task: Task) -> task_reader.Hold:
    return holds.get(task.id, task_reader.Hold(0, 0))


def move(
    work: Work, task: Task, to: str, *, by: str, reason: str, cause: str, values: Mapping[str, Value] | None = None
) -> Task:
    """Write a task's new status with its record; its blockers are written before."""
    record(work, task, to, by=by, reason=reason, cause=cause)
    found: dict[str, Value] = {
        "status": to, "status_changed_by_agent_id": by, "status_changed_at": work.at, "status_seq": work.seq,
    }  # fmt: skip
    if task.status == tasks.BLOCKED and to != tasks.BLOCKED:
        found |= {"blocked_reason": None, "former_status": None}
    return update(work, task, {**found, **(values or {})})


def record(work: Work, task: Task, to: str, *, by: str, reason: str, cause: str, new: bool = False) -> None:
    """Write the record of a move, or of the status that a task begins with."""
    work.step.insert(
        "status_changes",
        entity="task",
        entity_id=task.id,
        from_status=None if new else task.status,
        to_status=to,
        changed_by=by,
        changed_at=work.at,
        reason=reason,
        cause=cause,
    )


def update(work: Work, task: Task, values: Mapping[str, Value]) -> Task:
    """Set columns of a task and count its version."""
    found: dict[str, Value] = {**values, "version": task.version + 1}
    work.step.update("tasks", (task.id,), found)
    known: dict[str, Any] = {name: value for name, value in found.items() if name in Task._fields}
    return task._replace(**known)


def cancel(work: Work, task: Task, *, by: str, reason: str) -> None:
    """Cancel one task, because the task above it or its group is cancelled."""
    found = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
    close(work, found, by=by, resolution="cancelled", note=reason)
    withdraw(work, task, by=by)
    move(work, task, tasks.CANCELLED, by=by, reason=reason, cause=CASCADE, values=NO_CLAIM)


def cancel_group(work: Work, group: str, *, by: str, reason: str) -> None:
    """Cancel what is open of a group's tasks, because the group is cancelled; permission was asked for the group."""
    for task in task_reader.open_of_group(work.context.connection, work.step.chain, group):
        cancel(work, task, by=by, reason=reason)
