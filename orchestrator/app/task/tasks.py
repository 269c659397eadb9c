"""Tasks: creating them and changing their status."""

from __future__ import annotations

from orchestrator.app.engine import new_groups, task_blocks
from orchestrator.app.kernel import acting
from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.app.task import task_actors, task_guards, task_links, task_status, task_views
from orchestrator.core import blockers, names, task_types, tasks
from orchestrator.core.permissions import Block
from orchestrator.core.routing.facts import ROUTER, Session
from orchestrator.core.suggestions import again, options, sentence, suggest
from orchestrator.core.tasks import Task
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import Refused, UsageError
from orchestrator.store import task_reader
from orchestrator.store.reader import Agent

CREATED = "created"
"""The cause of the status that a task begins with."""


def create(
    context: Context,
    *,
    id: str,
    session_id: str,
    title: str,
    description: str = "",
    group_id: str | None = None,
    parent: str | None = None,
    assignee: str | None = None,
    priority: str = "medium",
    type: str = task_types.IMPLEMENTATION,
    status: str = tasks.TODO,
    reason: str = "",
    depends_on: tuple[str, ...] = (),
    auto_unblock: bool = False,
    by: str | None = None,
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Create a task.

    Args:
        id: unique in its session.
        title: what is to be done, in one line.
        group_id: the group that it belongs to; its parent's where left out, a chat's only one in a chat.
        parent: the task that it is a part of.
        assignee: who has it; nobody where left out, until somebody starts it.
        priority: urgent, high, medium or low.
        type: what kind of work it is.
        status: todo, backlog or blocked, which needs a reason.
        depends_on: tasks of the same session that must be done first.
        auto_unblock: while dependencies are open the task is blocked, and let go when the last one is done.
        by: who creates it; else the awaited agent of its group, else project_manager.

    Returns:
        `task`, and `warnings` where it depends on a cancelled one.

    Raises:
        Refused: SESSION_CLOSED, ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED, ALREADY_EXISTS,
            UNKNOWN_GROUP, GROUP_CLOSED, UNKNOWN_TASK, REASON_REQUIRED, DEPENDENCY_INVALID {why},
            DEPENDENCY_CYCLE {cycle}. UsageError: USAGE, a blank title, or a reason without `blocked`.

    Source: seed 002, 背景 (subtasks with dependencies).
    """
    given = {
        "id": id, "title": title, "description": description, "group_id": group_id, "parent": parent,
        "assignee": assignee, "priority": priority, "type": type, "status": status, "reason": reason,
        "depends_on": list(depends_on), "auto_unblock": auto_unblock, "by": by,
    }
    _check_words(title, status, reason)
    return perform(context, Call("task create", session_id, by or "", given, request_id, at=at), create_action)


def _check_words(title: str, status: str, reason: str) -> None:
    if not names.said(title):
        raise UsageError("USAGE", "A task needs a title that can be read.", again(title="TEXT"))
    if reason and status != tasks.BLOCKED:
        raise UsageError(
            "USAGE", f"A reason is for a task that is created blocked, and this one is {status}.",
            sentence("Repeat with {}, or without {}", options(status=tasks.BLOCKED), options(reason=True)),
        )


class _Place(NamedTuple):
    """Where a new task stands."""

    parent: Task | None
    group: str | None


def create_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    session = work.open_session()
    agent = task_actors.actor(work, task_actors.planner(work, _group_asked(work, session)), None)
    if task_reader.task(work.context.connection, session.id, given["id"]) is not None:
        raise Refused(
            "ALREADY_EXISTS", f"Session {session.id} has a task {given['id']} already; nothing changed.",
            suggest("task show", id=given['id'], session_id=session.id),
        )
    where = _place(work, session)
    acting.refuse_outside(work, agent, where.group)
    _check_assignee(work, where.group)
    blocked = (given.get("status") or tasks.TODO) == tasks.BLOCKED
    reason = names.said(given.get("reason"))
    if blocked and not reason:
        what = f"Creating task {given['id']} blocked needs a reason."
        raise Refused("REASON_REQUIRED", what, again(reason="TEXT"))
    on = list(dict.fromkeys(given.get("depends_on") or []))
    parent = where.parent.id if where.parent else None
    for other in on:
        task_links.check(work, given["id"], other, new=(given["id"], parent, where.group))
    _insert(work, where, on, agent, reason if blocked else None)
    return task_views.changed(work, given["id"]) | task_links.hopeless(work, given["id"], on)


def _group_asked(work: Work, session: Session) -> str | None:
    """The group that a new task is said to belong to, whether that can be or not."""
    given = work.call.input
    parent = task_reader.task(work.context.connection, session.id, given["parent"]) if given.get("parent") else None
    return given.get("group_id") or (parent.group_id if parent else session.id if session.kind == "chat" else None)


def _place(work: Work, session: Session) -> _Place:
    given = work.call.input
    parent = task_guards.require_task(work, session.id, given["parent"]) if given.get("parent") else None
    group = _group_asked(work, session)
    if parent is not None and parent.group_id != group:
        raise Refused(
            "DEPENDENCY_INVALID", f"Task {parent.id} belongs to group {parent.group_id or '(none)'}, and its subtasks"
            " with it.", suggest("task show", id=parent.id, session_id=session.id), why="group",
        )
    if parent is not None and parent.closed:
        raise Refused(
            "DEPENDENCY_INVALID", f"Task {parent.id} is {parent.status}; it takes no further subtask.",
            suggest("task show", id=parent.id, session_id=session.id), why="closed",
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
            "GROUP_CLOSED", f"Group {group} is {found.status}; it takes no further task.",
            suggest("group show", id=group, session_id=session.id),
        )


def _check_assignee(work: Work, group: str | None) -> None:
    assignee = work.call.input.get("assignee")
    if assignee is None:
        return
    agent = acting.require_agent(work, assignee)
    acting.refuse_outside(work, agent, group)
    if agent.kind == "system":
        raise Refused("NOT_PERMITTED", f"{assignee} is the system; it takes no task.", suggest("agent list"))
    task_guards.takes_part(work, agent.id)


def _insert(work: Work, where: _Place, on: list[str], agent: Agent, reason: str | None) -> None:
    given = work.call.input
    status = given.get("status") or tasks.TODO
    former = tasks.TODO if status == tasks.BLOCKED else status
    task = _new(
        work, given["id"], group=where.group, parent=where.parent.id if where.parent else None, title=given["title"],
        type=given.get("type") or task_types.IMPLEMENTATION, by=agent, status=former, assignee=given.get("assignee"),
        priority=new_groups.PRIORITIES[given.get("priority") or "medium"], auto_unblock=bool(given.get("auto_unblock")),
    )
    found = _blocks(work, task, where.parent, on, agent, reason)
    if found:
        task = task._replace(status=tasks.BLOCKED, former_status=former, blocked_reason=found[-1].reason)
    _write(work, task, given.get("description") or "", agent)
    for other in on:
        work.step.insert("task_dependencies", task_id=task.id, depends_on_id=other, added_by=agent.id)
    for block in found:
        task_blocks.notify(work, task, block)


def _new(
    work: Work, id: str, *, group: str | None, title: str, type: str, by: Agent, parent: str | None = None,
    status: str = tasks.TODO, assignee: str | None = None, priority: int = new_groups.PRIORITIES["medium"],
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
    open_ = [each for each in on if task_guards.require_task(work, work.step.chain, each).status != tasks.DONE]
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


def set_status(
    context: Context,
    *,
    id: str,
    status: str,
    session_id: str,
    by: str | None = None,
    reason: str = "",
    blocker_type: str | None = None,
    expect_version: int | None = None,
    claim_token: str | None = None,
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Change the status of a task, as far as the table of moves, permissions and guards allow.

    Args:
        status: backlog, todo, in_progress, blocked, done or cancelled; `blocked` on a blocked task adds a blocker.
        by: the acting agent, required.
        reason: required for blocked and cancelled.
        blocker_type: of the blocker that `blocked` opens; `manual` where left out.
        expect_version: the version that the caller saw.
        claim_token: what the claim on the task was given with.

    Returns:
        `task`, what the machinery did (`followed_by`), and `warnings` where others wait for a task that is cancelled.

    Raises:
        Refused: SESSION_CLOSED, UNKNOWN_TASK, UNKNOWN_STATUS, VERSION_CONFLICT, ILLEGAL_MOVE, ACTOR_REQUIRED,
            UNKNOWN_AGENT, NOT_PERMITTED, CLAIM_LOST, HUMAN_REQUIRED, UNBLOCK_NOT_PERMITTED, REASON_REQUIRED,
            DEPENDENCIES_OPEN, ASSIGNEE_BUSY, COMPLETION_GATE, in this order. UsageError: USAGE, a blocker's type
            without `blocked`.

    Source: seed 002, UpdateTaskStatusUseCase.
    """
    if blocker_type is not None and status.strip().lower() != tasks.BLOCKED:
        raise UsageError(
            "USAGE", f"A blocker's type is for blocking a task, not for setting it {names.shown(status)}.",
            sentence("Repeat with {}, or without {}", tasks.BLOCKED, options(blocker_type=True)),
        )
    given = {
        "id": id, "status": status, "by": by, "reason": reason, "blocker_type": blocker_type,
        "expect_version": expect_version, "claim_token": claim_token,
    }
    return perform(context, Call("task set-status", session_id, by or "", given, request_id, at=at), set_status_action)


def set_status_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    session = work.open_session()
    task = task_guards.require_task(work, session.id, given["id"])
    to = given["status"].strip().lower()
    task_status.check(work, task, to, expect_version=given.get("expect_version"))
    agent = task_actors.actor(work, given.get("by"), task.group_id)
    task_guards.respects_claim(work, task, agent, given.get("claim_token"))
    task_status.change(
        work, task, to, by=agent, reason=given.get("reason") or "", blocker_type=given.get("blocker_type")
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
            drop = task_guards.undepend(work, waiting.id, each.id)
            what = "Task {} waits for {}, which is cancelled and will never be done: {}"
            told.append(sentence(what, waiting.id, each.id, drop))
    most = task_guards.MOST_NAMED
    more = [f"{len(told) - most} more tasks wait for what is cancelled."] if len(told) > most else []
    return {"warnings": [*told[:most], *more]} if told else {}
