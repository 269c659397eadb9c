"""When a task may begin and when it may be done, each once: triggers, use cases and `next` ask the same.

The conditions take what they are asked about: columns of a trigger's row, or parameters of a statement. The readers
have them rendered, in `task_conditions`.
"""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import emitter
from orchestrator.store.completion_views import completion_paths
from orchestrator.store.emitter import Expression
from orchestrator.store.tables_work import (
    blockers,
    group_dependencies,
    questions,
    task_dependencies,
    task_groups,
    tasks,
)

_CLOSED = ("done", "cancelled")
_PARENT = "ix_tasks_parent"


def line(session: Expression, task: Expression) -> sa.CTE:
    """A task and those above it; a ring ends the walk."""
    found = emitter.walk("line", sa.select(emitter.named("id", task)))
    lower, p = found.alias("l"), tasks.alias("p")
    source = emitter.ordered(lower, p, sa.and_(p.c.session_id == session, p.c.id == lower.c.id))
    return found.union(emitter.read(source, p.c.parent_id.is_not(None), value=p.c.parent_id))


def waits_on_tasks(session: Expression, task: Expression) -> Expression:
    """The condition that a task depends on one that is not done; a cancelled one is not done."""
    d, o = task_dependencies.alias("d"), tasks.alias("o")
    return emitter.exists(
        emitter.ordered(d, o),
        d.c.session_id == session,
        d.c.task_id == task,
        d.c.removed_seq.is_(None),
        o.c.session_id == d.c.session_id,
        o.c.id == d.c.depends_on_id,
        o.c.status != "done",
    )


def waits_on_groups(session: Expression, group: Expression) -> Expression:
    """The condition that a group depends on one that is neither completed nor waiting for its confirmation alone."""
    # The session stands in every arm: SQLite hands no outer column into the view, and would scan all sessions.
    d, g, p = group_dependencies.alias("d"), task_groups.alias("g"), completion_paths.alias("p")
    completed = emitter.exists(g, g.c.session_id == session, g.c.id == d.c.depends_on, g.c.status == "completed")
    settled = emitter.exists(
        p, p.c.session_id == session, p.c.group_id == d.c.depends_on, p.c.awaiting_confirmation == 1
    )
    return emitter.exists(
        d,
        d.c.session_id == session,
        d.c.group_id == group,
        d.c.removed_seq.is_(None),
        emitter.negated(completed),
        emitter.negated(settled),
    )


def line_waits(session: Expression, task: Expression) -> Expression:
    """The condition that a task, or one above it, depends on one that is not done: a part waits for what it is of."""
    x = line(session, task).alias("x")
    return emitter.exists(x, waits_on_tasks(session, x.c.id))


def waits(session: Expression, task: Expression, group: Expression) -> Expression:
    """The condition that a task may not begin: its own dependencies are open, or of those above, or of its group."""
    return emitter.bracketed(sa.or_(line_waits(session, task), waits_on_groups(session, group)))


def begun_below(session: Expression, task: Expression) -> Expression:
    """The condition that a task, or one below it, has begun, and is not closed."""
    below = emitter.walk("below", sa.select(emitter.named("id", task)))
    upper, c = below.alias("b"), tasks.alias("c")
    children = emitter.ordered(upper, c, sa.and_(c.c.session_id == session, c.c.parent_id == upper.c.id))
    below = below.union(emitter.indexed(emitter.read(children, value=c.c.id), c, _PARENT))
    b, t = below.alias("b"), tasks.alias("t")
    found = emitter.ordered(b, t, sa.and_(t.c.session_id == session, t.c.id == b.c.id))
    return emitter.exists(
        found, sa.or_(t.c.status == "in_progress", t.c.former_status.is_not_distinct_from("in_progress"))
    )


def open_blocker(session: Expression, task: Expression) -> Expression:
    """The condition that a task has an open blocker."""
    b = blockers.alias("b")
    return emitter.exists(
        b, b.c.session_id == session, b.c.task_id == task, b.c.resolved_seq.is_(None), index="ix_blockers_task"
    )


def questions_before(session: Expression, group: Expression, task: Expression) -> sa.Select[tuple[int]]:
    """The open questions `q` about a task, those above it, and its group."""
    q = questions.alias("q")
    about = q.c.task_id.in_(sa.select(sa.literal_column("id")).select_from(line(session, task)))
    of_group = sa.and_(q.c.task_id.is_(None), q.c.group_id.is_not(None))
    return emitter.read(
        q,
        q.c.session_id == session,
        q.c.group_id.is_not_distinct_from(group),
        q.c.closed_seq.is_(None),
        sa.or_(about, emitter.bracketed(of_group)),
        index="ix_questions_open",
    )


def open_question(session: Expression, group: Expression, task: Expression) -> Expression:
    """The condition that such a question is open: a task is not done while a person is asked about it."""
    return questions_before(session, group, task).exists()


def open_subtask(session: Expression, task: Expression) -> Expression:
    """The condition that a subtask is neither done nor cancelled."""
    c = tasks.alias("c")
    return emitter.exists(
        c, c.c.session_id == session, c.c.parent_id == task, c.c.status.not_in(_CLOSED), index=_PARENT
    )


def none_done(session: Expression, task: Expression) -> Expression:
    """The condition that there are subtasks, and none is done."""
    c = tasks.alias("c")
    of_task = (c.c.session_id == session, c.c.parent_id == task)
    done = emitter.exists(c, *of_task, c.c.status == "done", index=_PARENT)
    return emitter.bracketed(sa.and_(emitter.exists(c, *of_task, index=_PARENT), emitter.negated(done)))


def newest_reason(session: Expression, task: Expression) -> Expression:
    """The reason of the newest open blocker of a task."""
    b = blockers.alias("b")
    return emitter.newest(
        b.c.reason,
        b,
        b.c.session_id == session,
        b.c.task_id == task,
        b.c.resolved_seq.is_(None),
        by=(b.c.opened_seq, b.c.id),
        index="ix_blockers_task",
    )
