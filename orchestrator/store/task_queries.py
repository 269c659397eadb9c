"""What people and agents ask of tasks and blockers: named statements, rows by column name."""

from __future__ import annotations

TASK = "SELECT * FROM tasks WHERE session_id = :session AND id = :task"
TASKS = """SELECT * FROM tasks INDEXED BY ix_tasks_created WHERE session_id = :session AND created_seq > :since
    AND (:status IS NULL OR status = :status) AND (:group IS NULL OR group_id = :group)
    AND (:assignee IS NULL OR assignee = :assignee) AND (:parent IS NULL OR parent_id = :parent)
    ORDER BY created_seq, id LIMIT :limit"""
NAMED = """SELECT id, title, status, group_id FROM tasks
    WHERE session_id = :session AND id IN (SELECT value FROM json_each(:ids)) ORDER BY created_seq, id"""
BLOCKERS = """SELECT * FROM blockers INDEXED BY ix_blockers_task
    WHERE session_id = :session AND task_id = :task ORDER BY opened_seq, id"""
QUESTIONS = """SELECT * FROM questions INDEXED BY ix_questions_open
    WHERE session_id = :session AND group_id IS :group AND closed_seq IS NULL AND task_id = :task
    ORDER BY opened_seq, id"""
BLOCKER = "SELECT * FROM blockers WHERE id = :id AND session_id = :session"
_BLOCKERS = """SELECT * FROM blockers INDEXED BY {index} WHERE session_id = :session AND {where}
    AND opened_seq > :since ORDER BY opened_seq, id LIMIT :limit"""


def blockers(*, group: bool, task: bool, open: bool) -> str:
    """The statement for a list of blockers: of a session, a group or a task; open ones alone, or all."""
    if task:
        where = "task_id = :task" + (" AND resolved_seq IS NULL" if open else "")
        return _BLOCKERS.format(index="ix_blockers_task", where=where + " AND (:group IS NULL OR group_id = :group)")
    where = "group_id = :group" if group else ":group IS NULL"
    where += " AND :task IS NULL"
    if open:
        return _BLOCKERS.format(index="ix_blockers_open", where=f"{where} AND resolved_seq IS NULL")
    return _BLOCKERS.format(index="ix_blockers_group", where=where)
