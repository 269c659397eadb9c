"""Tasks: creating them and changing their status."""

from __future__ import annotations

from orchestrator.app.engine import group_changes, task_blocks
from orchestrator.app.kernel import actors, agent_checks
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.task import status_checks, task_actors, task_dependencies, task_status, task_views
from orchestrator.app.task.requests import CreateTask, SetTaskStatus
from orchestrator.core import blockers, names, task_types, tasks
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.permissions import Block
from orchestrator.core.routing.facts import ROUTER, Session
from orchestrator.core.suggestions import again, options, sentence, suggest
from orchestrator.core.tasks import Task
from orchestrator.errors import Refused, UsageError
from orchestrator.store import task_reader
from orchestrator.store.reader import Agent

CREATED = "created"
"""The cause of the status that a task begins with."""


def checked_new(request: CreateTask) -> CreateTask:
    """What is created, once its words are fit.

    Raises:
        UsageError: USAGE, a blank title, or a reason without `blocked`.
    """
    if not names.said(request.title):
        raise UsageError("USAGE", "A task needs a title.", again(title="TEXT"))
    if request.reason and request.status != tasks.BLOCKED:
        raise UsageError(
            "USAGE", f"--reason is only for tasks created as blocked; this one is {request.status}.",
            sentence("Repeat with {}, or without {}", options(status=tasks.BLOCKED), options(reason=True)),
        )
    return request


def checked_status(request: SetTaskStatus) -> SetTaskStatus:
    """What is set, once its parts fit each other.

    Raises:
        UsageError: USAGE, a blocker's type without `blocked`.
    """
    if request.blocker_type is not None and request.status.strip().lower() != tasks.BLOCKED:
        raise UsageError(
            "USAGE", f"--blocker-type is only for status blocked, not for {names.shown(request.status)}.",
            sentence("Repeat with {}, or without {}", tasks.BLOCKED, options(blocker_type=True)),
        )
    return request


class _Place(NamedTuple):
    """Where a new task stands."""

    parent: Task | None
    group: str | None


def create(work: Work, request: CreateTask) -> Answer:
    """Create a task.

    Returns:
        `task`, and `warnings` where it depends on a cancelled one.

    Raises:
        Refused: SESSION_CLOSED, ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED, ALREADY_EXISTS,
            UNKNOWN_GROUP, GROUP_CLOSED, UNKNOWN_TASK, REASON_REQUIRED, DEPENDENCY_INVALID {why},
            DEPENDENCY_CYCLE {cycle}.

    Source: seed 002, 背景 (subtasks with dependencies).
    """
    session = work.open_session()
    agent = task_actors.actor(
        work, task_actors.planner(work, request.by, _group_asked(work, request, session)), None
    )
    if task_reader.task(work.context.connection, session.id, request.id) is not None:
        raise Refused(
            "ALREADY_EXISTS",
            f"Session {session.id} already has a task {request.id}; nothing changed.",
            suggest("task show", id=request.id, session_id=session.id),
            _recorded=f"Session {session.id} has a task {request.id} already; nothing changed.",
        )
    where = _place(work, request, session)
    agent_checks.refuse_outside(work, agent, where.group)
    _check_assignee(work, request, where.group)
    blocked = (request.status or tasks.TODO) == tasks.BLOCKED
    reason = names.said(request.reason)
    if blocked and not reason:
        what = f"Creating task {request.id} blocked needs a reason."
        raise Refused("REASON_REQUIRED", what, again(reason="TEXT"))
    on = list(dict.fromkeys(request.depends_on or []))
    parent = where.parent.id if where.parent else None
    for other in on:
        task_dependencies.check(work, request.id, other, new=(request.id, parent, where.group))
    _insert(work, request, where, on, agent, reason if blocked else None)
    return task_views.changed(work, request.id) | task_dependencies.hopeless(work, request.id, on)


def _group_asked(work: Work, request: CreateTask, session: Session) -> str | None:
    """The group that a new task is said to belong to, whether that can be or not."""
    parent = task_reader.task(work.context.connection, session.id, request.parent) if request.parent else None
    return request.group_id or (parent.group_id if parent else session.id if session.kind == "chat" else None)


def _place(work: Work, request: CreateTask, session: Session) -> _Place:
    parent = status_checks.require_task(work, session.id, request.parent) if request.parent else None
    group = _group_asked(work, request, session)
    if parent is not None and parent.group_id != group:
        raise Refused(
            "DEPENDENCY_INVALID", f"Task {parent.id} belongs to group {parent.group_id or '(none)'}, and its subtasks"
            " with it.", suggest("task show", id=parent.id, session_id=session.id), why="group",
        )
    if parent is not None and parent.closed:
        raise Refused(
            "DEPENDENCY_INVALID",
            f"Task {parent.id} is {parent.status}; it accepts no more subtasks.",
            suggest("task show", id=parent.id, session_id=session.id),
            why="closed",
            _recorded=f"Task {parent.id} is {parent.status}; it takes no further subtask.",
        )
    if group is not None:
        _require_open_group(work, session, group)
    return _Place(parent, group)


def _require_open_group(work: Work, session: Session, group: str) -> None:
    found = work.group(group)
    if found is None:
        raise work.context.unknown_group(session.id, group)
    if found.status in ("completed", "cancelled"):
        raise Refused(
            "GROUP_CLOSED",
            f"Group {group} is {found.status}; it accepts no more tasks.",
            suggest("group show", id=group, session_id=session.id),
            _recorded=f"Group {group} is {found.status}; it takes no further task.",
        )


def _check_assignee(work: Work, request: CreateTask, group: str | None) -> None:
    assignee = request.assignee
    if assignee is None:
        return
    agent = agent_checks.require_agent(work, assignee)
    agent_checks.refuse_outside(work, agent, group)
    if agent.kind == "system":
        raise Refused(
            "NOT_PERMITTED",
            f"{assignee} is the system and cannot be assigned tasks.",
            suggest("agent list"),
            _recorded=f"{assignee} is the system; it takes no task.",
        )
    status_checks.takes_part(work, agent.id)


def _insert(work: Work, request: CreateTask, where: _Place, on: list[str], agent: Agent, reason: str | None) -> None:
    status = request.status or tasks.TODO
    # A task that is created blocked was nowhere before; once released it comes back as todo (TSK-4).
    former = tasks.TODO if status == tasks.BLOCKED else status
    task = _new(
        work, request.id, group=where.group, parent=where.parent.id if where.parent else None, title=request.title,
        type=request.type or task_types.IMPLEMENTATION, by=agent, status=former, assignee=request.assignee,
        priority=group_changes.PRIORITIES[request.priority or "medium"], auto_unblock=bool(request.auto_unblock),
    )
    found = _blocks(work, task, where.parent, on, agent, reason)
    if found:
        task = task._replace(status=tasks.BLOCKED, former_status=former, blocked_reason=found[-1].reason)
    _write(work, task, request.description or "", agent)
    for other in on:
        work.step.insert("task_dependencies", task_id=task.id, depends_on_id=other, added_by=agent.id)
    for block in found:
        task_blocks.notify(work, task, block)


def _new(
    work: Work, id: str, *, group: str | None, title: str, type: str, by: Agent, parent: str | None = None,
    status: str = tasks.TODO, assignee: str | None = None, priority: int = group_changes.PRIORITIES["medium"],
    auto_unblock: bool = False,
) -> Task:
    return Task(
        id=id, group_id=group, parent_id=parent, title=title, type=type, priority=priority, assignee=assignee,
        auto_unblock=int(auto_unblock), status=status, status_changed_by_agent_id=by.id, former_status=None,
        blocked_reason=None, version=1, created_seq=work.seq, created_at=work.at, claim_holder=None, claim_token=None,
        claim_until=None, claim_beat_at=None,
    )  # fmt: skip


def _write(work: Work, task: Task, description: str, by: Agent) -> None:
    task_blocks.record(work, task, task.status, by=by.id, reason=task.blocked_reason or "", cause=CREATED, new=True)
    work.step.insert(
        "tasks", **task._asdict(), description=description, created_by=by.id, status_changed_at=work.at,
        status_seq=work.seq,
    )


def insert_new(
    work: Work, id: str, *, title: str, description: str, group: str | None, type: str, by: Agent
) -> Task:
    """Write a task that waits for nothing, within a step that is about something else."""
    task = _new(work, id, group=group, title=title, type=type, by=by)
    _write(work, task, description, by)
    return task


def _blocks(
    work: Work, task: Task, parent: Task | None, on: list[str], agent: Agent, reason: str | None
) -> list[Block]:
    """The blockers that a task begins with, the newest last."""
    found: list[Block] = []
    open_ = [each for each in on if status_checks.require_task(work, work.step.chain, each).status != tasks.DONE]
    if task.auto_unblock and open_:
        why = task_status.waiting_reason(open_)
        found.append(task_blocks.open_blocker(work, task, "waiting", blockers.SOFT, why, ROUTER, "dependency"))
    if parent is not None and parent.status == tasks.BLOCKED:
        above, block = task_blocks.source(work, parent)
        why = task_blocks.cascaded(above, block)
        by = block.opened_by or agent.id
        found.append(task_blocks.open_blocker(work, task, block.type, block.severity, why, by, task_blocks.CASCADE))
    if reason is not None:
        found.append(task_blocks.open_blocker(work, task, "manual", blockers.SOFT, reason, agent.id, "manual"))
    return found


def set_status(work: Work, request: SetTaskStatus) -> Answer:
    """Change the status of a task, as far as the table of moves, permissions and guards allow.

    Returns:
        `task`, what the machinery did (`followed_by`), and `warnings` where others wait for a task that is cancelled.

    Raises:
        Refused: SESSION_CLOSED, UNKNOWN_TASK, UNKNOWN_STATUS, VERSION_CONFLICT, ILLEGAL_MOVE, ACTOR_REQUIRED,
            UNKNOWN_AGENT, NOT_PERMITTED, CLAIM_LOST, HUMAN_REQUIRED, UNBLOCK_NOT_PERMITTED, REASON_REQUIRED,
            DEPENDENCIES_OPEN, ASSIGNEE_BUSY, COMPLETION_GATE, in this order. UsageError: USAGE, a blocker's type
            without `blocked`.

    Source: seed 002, UpdateTaskStatusUseCase.
    """
    session = work.open_session()
    task = status_checks.require_task(work, session.id, request.id)
    to = request.status.strip().lower()
    task_status.check(work, task, to, expect_version=request.expect_version)
    agent = actors.first_of(
        work, lambda: task_actors.actor(work, request.by, task.group_id),
        lambda: status_checks.reason_given(task, to, names.said(request.reason)),
    )  # fmt: skip
    status_checks.respects_claim(work, task, agent, request.claim_token)
    task_status.change(
        work, task, to, by=agent, reason=request.reason or "", blocker_type=request.blocker_type
    )
    return task_views.changed(work, task.id) | (_waited_for(work, task) if to == tasks.CANCELLED else {})


def _waited_for(work: Work, task: Task) -> Answer:
    """What is said where others wait for a task, or a part of it, that was cancelled just now: `warnings`, or nothing.

    What is cancelled is never done, so each of them waits until its dependency is dropped.
    """
    connection, session = work.context.connection, work.step.chain
    told = []
    for each in (task, *task_reader.descendants(connection, session, task.id)):
        for waiting in task_reader.dependents(connection, session, each.id):
            if waiting.closed:
                continue
            drop = status_checks.undepend(work, waiting.id, each.id)
            what = "Task {} waits for {}, which is cancelled and will never be done: {}"
            told.append(sentence(what, waiting.id, each.id, drop))
    most = status_checks.MOST_NAMED
    more = [f"{len(told) - most} more tasks wait for what is cancelled."] if len(told) > most else []
    return {"warnings": [*told[:most], *more]} if told else {}
