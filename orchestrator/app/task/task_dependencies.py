"""Dependencies between tasks: adding one closes no ring, dropping one stays on record."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.app.engine import task_blocks
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.task import status_checks, task_actors, task_status, task_views
from orchestrator.app.task.requests import DependTask, UndependTask
from orchestrator.core import permissions, task_graph, tasks
from orchestrator.core.routing.facts import MANAGER, ROUTER
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.core.tasks import Task
from orchestrator.errors import Refused
from orchestrator.store import task_reader
from orchestrator.store.reader import Agent
from orchestrator.store.task_edges import Edges

_ELSEWHERE = """SELECT s.id FROM sessions s
    WHERE EXISTS (SELECT 1 FROM tasks t WHERE t.session_id = s.id AND t.id = :task) ORDER BY s.id LIMIT 1"""
_ADDED_BY = """SELECT added_by FROM task_dependencies
    WHERE session_id = :session AND task_id = :task AND depends_on_id = :on AND removed_seq IS NULL"""


def depend(work: Work, request: DependTask) -> Answer:
    """Make a task wait for another task of its session.

    Returns:
        `task`, and `warnings` where the other one is cancelled.

    Raises:
        Refused: UNKNOWN_TASK, ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED, ALREADY_EXISTS,
            DEPENDENCY_INVALID {why}, DEPENDENCY_CYCLE {cycle}.

    Source: seed 002, pendingSubTasks の依存関係フィルタリング.
    """
    task, agent = _begin(work, request)
    on = request.on
    person = agent.kind == "human"
    requester = status_checks.standing(work, agent.id)
    status_checks.may_move(work, task, task.status, requester, person=person)
    if any(each.id == on for each in task_reader.dependencies(work.context.connection, work.step.chain, task.id)):
        raise Refused(
            "ALREADY_EXISTS",
            f"Task {task.id} already depends on {on}; nothing changed.",
            status_checks.show(work, task.id),
            _recorded=f"Task {task.id} depends on {on} already; nothing changed.",
        )
    check(work, task.id, on, task=task)
    work.step.insert("task_dependencies", task_id=task.id, depends_on_id=on, added_by=agent.id)
    _let_wait(work, request, task)
    return _answer(work, task) | hopeless(work, task.id, [on])


def hopeless(work: Work, id: str, on: Iterable[str]) -> Answer:
    """What is said where a task now waits for cancelled ones, which are never done: `warnings`, or nothing."""
    found = [task_reader.task(work.context.connection, work.step.chain, each) for each in on]
    told = [
        sentence(
            "Task {} is cancelled and will never be done, so that {} waits until that is dropped: {}",
            each.id, id, status_checks.undepend(work, id, each.id),
        )
        for each in found if each is not None and each.status == tasks.CANCELLED
    ]  # fmt: skip
    return {"warnings": told} if told else {}


def _let_wait(work: Work, request: DependTask, task: Task) -> None:
    if request.auto_unblock and not task.auto_unblock and task.pending:

        task = task_blocks.update(work, task, {"auto_unblock": 1})
    router = work.reader.agent(ROUTER)
    assert router is not None  # noqa: S101 - registered with the database
    task_status.wait(work, task, router)


def check(
    work: Work, id: str, on: str, *, task: Task | None = None, new: tuple[str, str | None, str | None] | None = None
) -> None:
    """Whether one task may wait for another.

    Args:
        id: the task that waits.
        on: the task that it is to wait for.
        task: the waiting task, where it exists already.
        new: id, parent and group of the waiting task, where it does not exist yet.

    Raises:
        Refused: UNKNOWN_TASK, DEPENDENCY_INVALID {why}, DEPENDENCY_CYCLE {cycle}.
    """
    if id == on:
        raise _invalid(work, f"Task {id} cannot depend on itself.", "self")
    other = _require_other(work, on)
    if task is not None and task.closed:
        raise _invalid(work, f"Task {task.id} is {task.status} and waits for nothing any more.", "closed")
    if task is not None and other.status != tasks.DONE and _begun(work, task):
        raise _invalid(work, f"Task {task.id}, or a part of it, has begun, and {on} is not done.", "started")
    if _related(work, id, on, new[1] if new else None):
        raise _invalid(work, f"One of {id} and {on} is a part of the other.", "related")
    edges = Edges(work.context.connection, work.step.chain, new=new)
    # A task that nothing waits for closes no ring, so the search is spared.
    ring = task_graph.ring_of_task(edges, id, on) if edges.is_waited_for(id) else []
    if ring:
        raise Refused(
            "DEPENDENCY_CYCLE",
            f"That would create a dependency cycle: {_shown(ring)}.",
            "Drop one of these dependencies",
            cycle=ring,
            _recorded=f"That would close a ring: {_shown(ring)}.",
        )


def _shown(ring: list[str], most: int = 20) -> str:
    return " -> ".join(ring if len(ring) <= most else [*ring[: most - 2], "...", ring[-1]])


def _begun(work: Work, task: Task) -> bool:
    return task_reader.begun_below(work.context.connection, work.step.chain, task.id)


def _invalid(work: Work, message: str, why: str) -> Refused:
    return Refused("DEPENDENCY_INVALID", message, suggest("task list", session_id=work.step.chain), why=why)


def _require_other(work: Work, on: str) -> Task:
    other = task_reader.task(work.context.connection, work.step.chain, on)
    if other is not None:
        return other
    row = work.reader.one(_ELSEWHERE, task=on)
    # Kept in the step's input, since a replay tells this session without the others (TSK-26).
    elsewhere = work.elsewhere(f"task {on}", str(row[0]) if row else None)
    if elsewhere is not None:
        raise _invalid(work, f"Task {on} belongs to session {elsewhere}, not to {work.step.chain}.", "session")
    return status_checks.require_task(work, work.step.chain, on)


def _related(work: Work, id: str, on: str, parent: str | None) -> bool:
    connection, session = work.context.connection, work.step.chain
    above = {each.id for each in task_reader.ancestors(connection, session, parent or id)} | {parent}
    return on in above or any(each.id == id for each in task_reader.ancestors(connection, session, on))


def undepend(work: Work, request: UndependTask) -> Answer:
    """Drop a dependency of a task: whoever added it, one above, the project manager or a person.

    Returns:
        `task`.

    Raises:
        Refused: UNKNOWN_TASK, UNKNOWN_ID, ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED.
    """
    task, agent = _begin(work, request)
    on = request.on
    found = task_reader.dependencies(work.context.connection, work.step.chain, task.id)
    edge = next((each for each in found if each.id == on), None)
    if edge is None:
        what = f"Task {task.id} does not depend on {on}."
        raise Refused("UNKNOWN_ID", what, status_checks.show(work, task.id), kind="dependency")
    _may_drop(work, task, on, agent)
    work.step.update(
        "task_dependencies", (task.id, on, edge.seq),
        {"removed_seq": work.seq, "removed_by": agent.id, "removed_reason": (request.reason or "")},
    )
    task_status.free(work, task, dropped=on)
    return _answer(work, task)


def _may_drop(work: Work, task: Task, on: str, agent: Agent) -> None:
    if agent.kind == "human" or agent.role == MANAGER:
        return
    connection = work.context.connection
    row = connection.execute(_ADDED_BY, {"session": work.step.chain, "task": task.id, "on": on}).fetchone()
    added = task_reader.standing(connection, row[0]) if row[0] else None
    requester = status_checks.standing(work, agent.id)
    if added is None or added.id == requester.id or permissions.is_above(requester, added):
        return
    raise Refused(
        "NOT_PERMITTED", f"{added.id} let task {task.id} wait for {on}; {agent.id} may not drop that.",
        f"Allowed: {'; '.join((*([added.id] if added.active else []), 'those above it', MANAGER, 'a person'))}",
    )


def _begin(work: Work, request: DependTask | UndependTask) -> tuple[Task, Agent]:
    session = work.open_session()
    task = status_checks.require_task(work, session.id, request.id)
    return task, task_actors.actor(
        work, task_actors.planner(work, request.by, task.group_id), task.group_id
    )


def _answer(work: Work, task: Task) -> Answer:
    return task_views.changed(work, task.id)
