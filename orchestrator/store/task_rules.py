"""When a task may begin and when it may be done, in SQL and each once: triggers, use cases and `next` ask the same.

The texts take the names of what they are asked about: columns of a trigger's row, or parameters of a statement.
"""

from __future__ import annotations


def line(session: str, task: str) -> str:
    """The table `line(id)` of a task and those above it, for a statement that begins with it; a ring ends the walk."""
    return (
        f"WITH RECURSIVE line(id) AS (SELECT {task} UNION SELECT p.parent_id FROM line l CROSS JOIN tasks p"
        f" ON p.session_id = {session} AND p.id = l.id WHERE p.parent_id IS NOT NULL)"
    )


def waits_on_tasks(session: str, task: str) -> str:
    """The condition that a task depends on one that is not done; a cancelled one is not done."""
    return (
        "EXISTS (SELECT 1 FROM task_dependencies d CROSS JOIN tasks o"
        f" WHERE d.session_id = {session} AND d.task_id = {task} AND d.removed_seq IS NULL"
        " AND o.session_id = d.session_id AND o.id = d.depends_on_id AND o.status <> 'done')"
    )


def waits_on_groups(session: str, group: str) -> str:
    """The condition that a group depends on one that is neither completed nor waiting for its confirmation alone."""
    # The session stands in every arm: SQLite hands no outer column into the view, and would scan all sessions.
    return (
        f"EXISTS (SELECT 1 FROM group_dependencies d WHERE d.session_id = {session} AND d.group_id = {group}"
        " AND d.removed_seq IS NULL"
        f" AND NOT EXISTS (SELECT 1 FROM task_groups g WHERE g.session_id = {session} AND g.id = d.depends_on"
        " AND g.status = 'completed')"
        f" AND NOT EXISTS (SELECT 1 FROM completion_paths p WHERE p.session_id = {session}"
        " AND p.group_id = d.depends_on AND p.awaiting_confirmation = 1))"
    )


def line_waits(session: str, task: str) -> str:
    """The condition that a task, or one above it, depends on one that is not done: a part waits for what it is of."""
    return f"EXISTS ({line(session, task)} SELECT 1 FROM line x WHERE {waits_on_tasks(session, 'x.id')})"


def waits(session: str, task: str, group: str) -> str:
    """The condition that a task may not begin: its own dependencies are open, or of those above, or of its group."""
    return f"({line_waits(session, task)} OR {waits_on_groups(session, group)})"


def begun_below(session: str, task: str) -> str:
    """The condition that a task, or one below it, has begun, and is not closed."""
    return (
        f"EXISTS (WITH RECURSIVE below(id) AS (SELECT {task} UNION SELECT c.id FROM below b CROSS JOIN tasks c"
        f" INDEXED BY ix_tasks_parent ON c.session_id = {session} AND c.parent_id = b.id)"
        f" SELECT 1 FROM below b CROSS JOIN tasks t ON t.session_id = {session} AND t.id = b.id"
        " WHERE t.status = 'in_progress' OR t.former_status IS 'in_progress')"
    )


def open_blocker(session: str, task: str) -> str:
    """The condition that a task has an open blocker."""
    return (
        "EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_task"
        f" WHERE b.session_id = {session} AND b.task_id = {task} AND b.resolved_seq IS NULL)"
    )


def questions_before(session: str, group: str, task: str) -> str:
    """The source and condition of the open questions `q` about a task, those above it, and its group."""
    return (
        "questions q INDEXED BY ix_questions_open"
        f" WHERE q.session_id = {session} AND q.group_id IS {group} AND q.closed_seq IS NULL"
        f" AND (q.task_id IN ({line(session, task)} SELECT id FROM line)"
        " OR (q.task_id IS NULL AND q.group_id IS NOT NULL))"
    )


def open_question(session: str, group: str, task: str) -> str:
    """The condition that such a question is open: a task is not done while a person is asked about it."""
    return f"EXISTS (SELECT 1 FROM {questions_before(session, group, task)})"


def open_subtask(session: str, task: str) -> str:
    """The condition that a subtask is neither done nor cancelled."""
    return (
        "EXISTS (SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent"
        f" WHERE c.session_id = {session} AND c.parent_id = {task} AND c.status NOT IN ('done', 'cancelled'))"
    )


def none_done(session: str, task: str) -> str:
    """The condition that there are subtasks, and none is done."""
    every = f"FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = {session} AND c.parent_id = {task}"
    return f"(EXISTS (SELECT 1 {every}) AND NOT EXISTS (SELECT 1 {every} AND c.status = 'done'))"


def newest_reason(session: str, task: str) -> str:
    """The reason of the newest open blocker of a task, as a scalar."""
    return (
        "(SELECT b.reason FROM blockers b INDEXED BY ix_blockers_task"
        f" WHERE b.session_id = {session} AND b.task_id = {task} AND b.resolved_seq IS NULL"
        " ORDER BY b.opened_seq DESC, b.id DESC LIMIT 1)"
    )
