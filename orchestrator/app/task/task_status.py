"""The one service that changes the status of a task; every door, run, claim and answer goes through it.

Order: version, legal move, actor, permission, guards; then the rows: record, blockers, task, cascade, notices. All is
decided before the first write.

Source: seed 002, UpdateTaskStatusUseCase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.app.engine import task_blocks
from orchestrator.app.kernel.context import Work
from orchestrator.app.task import status_checks
from orchestrator.app.task.status_checks import liftable
from orchestrator.core import blockers, names, tasks
from orchestrator.core.permissions import Block, Standing
from orchestrator.core.routing.facts import ROUTER
from orchestrator.core.tasks import Task
from orchestrator.store import task_reader
from orchestrator.store.reader import Agent
from orchestrator.store.step import Value

__all__ = ["change", "check", "liftable", "resolve"]

UNASKED = ("cascade", "dependency", "release", "claim_release", "run")
"""Causes that ask nobody's permission: whoever makes such a change has looked after that."""


def change(
    work: Work,
    task: Task,
    to: str,
    *,
    by: Agent,
    reason: str = "",
    cause: str = "set_status",
    blocker_type: str | None = None,
    expect_version: int | None = None,
    values: Mapping[str, Value] | None = None,
) -> Task:
    """Change the status of a task, with everything that follows from it.

    Args:
        work: the step under way.
        task: the task as it was read in this step.
        to: the new status; `blocked` on a blocked task opens one more blocker.
        by: who does it: registered, active, and not outside its session and group.
        reason: required for `blocked` and `cancelled`.
        cause: `set_status`, `claim`, `run` or `question`; or a move that only the system makes: `cascade`,
            `dependency`, `release`, `claim_release`.
        blocker_type: of the blocker that `blocked` opens (default: `manual`).
        expect_version: the version that the caller saw.
        values: further columns to set in the same statement, such as those of a claim.

    Returns:
        The task as it is now.

    Raises:
        Refused: VERSION_CONFLICT, ILLEGAL_MOVE, HUMAN_REQUIRED, NOT_PERMITTED, UNBLOCK_NOT_PERMITTED, REASON_REQUIRED,
            DEPENDENCIES_OPEN, ASSIGNEE_BUSY, COMPLETION_GATE; before the first write only.

    Source: seed 002, UpdateTaskStatusUseCase.
    """
    reason = names.said(reason)
    check(work, task, to, cause=cause, expect_version=expect_version)
    person, legacy = _permitted(work, task, to, by, cause)
    status_checks.reason_given(task, to, reason)
    changed = dict(values or {})
    if to == tasks.IN_PROGRESS:
        assignee = str(changed.setdefault("assignee", _assignee(work, task, by)))
        status_checks.may_begin(work, task, assignee)
    elif to == tasks.DONE:
        status_checks.may_finish(work, task, by)
    if to == tasks.BLOCKED:
        return _block(work, task, by, reason, cause, blocker_type, changed)
    return _write(work, task, to, by, reason, cause, changed, resolution=_resolution(cause, person, legacy))


def check(work: Work, task: Task, to: str, *, cause: str = "set_status", expect_version: int | None = None) -> None:
    """What is asked of a change before anybody is asked who makes it.

    Raises:
        Refused: UNKNOWN_STATUS, VERSION_CONFLICT, ILLEGAL_MOVE.
    """
    status_checks.known_status(to)
    status_checks.expected_version(work, task, expect_version)
    status_checks.legal(work, task, to, cause)


def _permitted(work: Work, task: Task, to: str, by: Agent, cause: str) -> tuple[bool, bool]:
    """Whether a person does it, and whether a lifted blocker has no opener on record."""
    if cause in UNASKED:
        return False, False
    person = status_checks.is_person(work, by)
    requester = status_checks.standing(work, by.id)
    if to == tasks.CANCELLED:
        status_checks.may_cancel(work, task, requester, person=person)
        return person, False
    if task.status == tasks.BLOCKED and to != tasks.BLOCKED:
        found = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
        return person, status_checks.lift_all(work, task, found, requester, person=person)
    status_checks.may_move(work, task, to, requester, person=person)
    return person, False


def _assignee(work: Work, task: Task, by: Agent) -> str:
    """Who has a task that is started: its assignee; the starter, where nobody in service or its role agent has it."""
    if task.assignee is None or not status_checks.standing(work, task.assignee).active:
        return by.id
    starter: Standing | None = task_reader.standing(work.context.connection, by.id) if by.session_id else None
    return by.id if starter is not None and starter.place == task.assignee else task.assignee


def _resolution(cause: str, person: bool, legacy: bool) -> str:
    if legacy:
        return "legacy"
    return "answered" if cause == "question" else "lifted"


def _block(
    work: Work, task: Task, by: Agent, reason: str, cause: str, blocker_type: str | None, values: dict[str, Value]
) -> Task:
    opened = cause if cause == "dependency" else "manual"
    type_ = blockers.type_name(blocker_type or "manual")
    block = task_blocks.open_own(work, task, type=type_, reason=reason, by=by.id, cause=opened)
    moved = task_blocks.put_blocked(work, task, block, by=by.id, cause=cause, values=values)
    task_blocks.cascade(work, moved, block, by=by.id)
    return moved


def _write(
    work: Work, task: Task, to: str, by: Agent, reason: str, cause: str, values: dict[str, Value], *, resolution: str
) -> Task:
    if task.status == tasks.BLOCKED:
        found = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
        closing = "cancelled" if to == tasks.CANCELLED else resolution
        task_blocks.close(work, found, by=by.id, resolution=closing, note=reason)
        task_blocks.withdraw(work, task, by=by.id)
    below = task_reader.open_descendants(work.context.connection, work.step.chain, task.id)
    if to in tasks.CLOSED:
        values = {**task_blocks.NO_CLAIM, **values}
    moved = task_blocks.move(work, task, to, by=by.id, reason=reason, cause=cause, values=values)
    if to == tasks.CANCELLED:
        for each in below:
            task_blocks.cancel(work, each, by=by.id, reason=f"{task.id} was cancelled: {reason}")
        _end_runs(work, [moved, *below], by, reason)
    elif task.status == tasks.BLOCKED:
        task_blocks.release_below(work, moved, by=by.id, reason=reason or f"{task.id} goes on")
    if to in tasks.CLOSED:
        _follow(work, [moved, *below])
    return moved


def _end_runs(work: Work, cancelled: Sequence[Task], by: Agent, reason: str) -> None:
    for task in cancelled:
        work.context.runs.end_of_task(work, task, by=by.id, reason=f"task {task.id} was cancelled: {reason}")


def resolve(
    work: Work, task: Task, ids: Sequence[str], *, by: str, reason: str, resolution: str = "resolved"
) -> Task:
    """Close open blockers of a task; with the last one it goes back to its former status.

    The caller has asked whether they may be lifted.

    Args:
        ids: of the task's open blockers.
        by: the id of who does it.
        reason: why; kept with the blocker.
        resolution: what became of it, in one word.
    """
    found = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
    closed = [block for block in found if block.id in ids]
    task_blocks.close(work, closed, by=by, resolution=resolution, note=reason)
    task_blocks.withdraw(work, task, by=by)
    released = task_blocks.release(work, task, by=by, reason=reason)
    if any(_own(block) for block in closed) and not any(_own(block) for block in found if block.id not in ids):
        task_blocks.release_below(work, released, by=by, reason=reason)
    return released


def _own(block: Block) -> bool:
    return block.cause != task_blocks.CASCADE


def _follow(work: Work, closed: list[Task]) -> None:
    """What waits for tasks that are closed now: tasks that are let go by themselves, then their groups."""
    for task in closed:
        for waiting in task_reader.dependents(work.context.connection, work.step.chain, task.id):
            # One that stands below another of them was released with that one, and is not as it was read any more.
            now = task_reader.task(work.context.connection, work.step.chain, waiting.id)
            free(work, now or waiting)
    groups = dict.fromkeys(task.group_id for task in closed if task.group_id)
    if groups:
        from orchestrator.app.engine import scheduler

        for group in groups:
            scheduler.complete_freed(work, group)
        if work.call.kind in ("route", "answer"):
            # The report's own decision comes first; the machinery runs after it.
            work.unsettled = True
        elif work.session().planned:
            scheduler.settle(work, "task")


def free(work: Work, task: Task, dropped: str | None = None) -> Task:
    """Close the blockers that were opened for a task's dependencies, once the last of these is done.

    Args:
        dropped: the dependency that was dropped instead of done.
    """
    connection, session = work.context.connection, work.step.chain
    if task.status != tasks.BLOCKED or task_reader.open_dependencies(connection, session, task.id):
        return task
    found = [each.id for each in task_reader.blockers_of_task(connection, session, task.id) if _waiting(each)]
    if not found:
        return task
    if dropped is None:
        reason, resolution = "all dependencies are done", "dependencies_done"
    else:
        others = task_reader.dependencies(connection, session, task.id)
        rest = "all others are done" if others else "it was the only one"
        reason, resolution = f"the dependency on {dropped} was dropped, {rest}", "dependency_dropped"
    return resolve(work, task, found, by=ROUTER, reason=reason, resolution=resolution)


def _waiting(block: Block) -> bool:
    return block.cause == "dependency"


def wait(work: Work, task: Task, by: Agent) -> Task:
    """Block a task that is to be let go by itself, while it has open dependencies."""
    open_ = task_reader.open_dependencies(work.context.connection, work.step.chain, task.id)
    if not task.auto_unblock or not task.pending or not open_:
        return task
    reason = waiting_reason([each.id for each in open_])
    return change(work, task, tasks.BLOCKED, by=by, reason=reason, cause="dependency", blocker_type="waiting")


def waiting_reason(names: Sequence[str]) -> str:
    """The reason of a blocker that was opened for dependencies."""
    return f"waits for {', '.join(names)}"
