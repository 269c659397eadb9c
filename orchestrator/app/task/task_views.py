"""Reading tasks: one, or a list of them, by column name. The token of a claim is shown to nobody."""

from __future__ import annotations

from orchestrator.app.kernel import pagination, views
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.task import status_checks
from orchestrator.core import tasks
from orchestrator.core.tasks import Task
from orchestrator.store import queries, task_queries, task_reader
from orchestrator.store.queries import Row

SECRET = "claim_token"  # noqa: S105 - the name of a column


def tasks_of(
    context: Context,
    *,
    session_id: str,
    group_id: str | None = None,
    status: str | None = None,
    assignee: str | None = None,
    parent: str | None = None,
    limit: int = 50,
    since: int | None = None,
) -> Answer:
    """The tasks of a session in the order of their creation.

    Args:
        group_id: only tasks of this group.
        status: only tasks of this status.
        assignee: only tasks that this agent has.
        parent: only the subtasks right below this task.
        limit: how many at most; tasks that one step created stay together.
        since: the step after which the page begins.

    Returns:
        `tasks`, each with `overdue`: whether another agent may take it over; `has_more`, `next_since`.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    context.require_session(session_id)

    def fetch(most: int) -> list[Row]:
        return queries.rows(
            context.reader, task_queries.TASKS, session=session_id, group=group_id, status=status, assignee=assignee,
            parent=parent, since=pagination.seq_or(since, 0), limit=most,
        )  # fmt: skip

    def shown(row: Row) -> Row:
        return {**shape(row), "overdue": _overdue(context, Task._make(row[name] for name in Task._fields))}

    return pagination.listed("tasks", *pagination.page(fetch, limit, "created_seq"), "created_seq", since, shape=shown)


def task(context: Context, *, id: str, session_id: str, at_seq: int | None = None) -> Answer:
    """One task: what it waits for, what blocks it, what is open about it, its subtasks, and whether it is overdue.

    Args:
        at_seq: the state right after this step of the session (default: the current one).

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_TASK. UsageError: SEQ_OUT_OF_RANGE {first, last}.
    """
    if at_seq is not None:
        return context.as_of(context, task, session_id=session_id, at_seq=at_seq, id=id)
    context.require_session(session_id)
    found = status_checks.require_task(context, session_id, id)
    connection = context.connection
    below = task_reader.children(connection, session_id, id)
    return {
        "success": True,
        "task": {
            **task_row(context, session_id, id),
            "overdue": _overdue(context, found),
            "depends_on": [_edge(each) for each in task_reader.dependencies(connection, session_id, id)],
            "waits_for_groups": _groups(context, session_id, found),
            "dependents": [each.id for each in task_reader.dependents(connection, session_id, id)],
            "subtasks": [{"id": each.id, "title": each.title, "status": each.status} for each in below],
            "blockers": queries.rows(context.reader, task_queries.BLOCKERS, session=session_id, task=id),
            "questions": queries.rows(
                context.reader, task_queries.QUESTIONS, session=session_id, group=found.group_id, task=id
            ),
        },
    }


def _overdue(context: Context, task: Task) -> bool:
    """Whether another agent may take over a task."""
    holder = context.reader.agent(task.holder) if task.holder and task.status == tasks.IN_PROGRESS else None
    return tasks.overdue(task, context.clock(), gone=holder is not None and not holder.active)


def _edge(edge: task_reader.Dependency) -> Answer:
    return {"id": edge.id, "title": edge.title, "status": edge.status, "satisfied": edge.status == tasks.DONE}


def _groups(context: Context, session: str, found: Task) -> list[str]:
    return list(context.reader.open_dependencies(session, found.group_id)) if found.group_id else []


def task_row(context: Context, session: str, id: str) -> Row:
    """The row of a task that is known to exist, by column name."""
    found = queries.row(context.reader, task_queries.TASK, session=session, task=id)
    assert found is not None  # noqa: S101 - its caller has written or found it
    return shape(found)


def shape(row: Row) -> Row:
    """A task's row with its priority as a word, and without the token of its claim."""
    shown = {name: value for name, value in row.items() if name != SECRET}
    return {**shown, "priority": views.PRIORITIES[row["priority"]]}


def changed(work: Work, task: str) -> Answer:
    """What a change of a task answers."""
    found: Answer = {
        "success": True, "task": task_row(work.context, work.step.chain, task), "seq": work.seq
    }
    if work.decisions:
        found["followed_by"] = work.decisions
    return found
