"""What tasks are told by: named statements, each bounded by an index, whatever else the session holds."""

from __future__ import annotations

import sqlite3

from orchestrator.core import tasks
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.next_facts import Question
from orchestrator.core.permissions import Block, Standing
from orchestrator.core.tasks import Task
from orchestrator.store import task_conditions

COLUMNS = ", ".join(f"t.{name}" for name in Task._fields)
_BLOCK = 'id, type, "class", reason, opened_by, opened_at, cause'

TASK = f"SELECT {COLUMNS} FROM tasks t WHERE t.session_id = :session AND t.id = :task"
CHILDREN = f"""SELECT {COLUMNS} FROM tasks t INDEXED BY ix_tasks_parent
    WHERE t.session_id = :session AND t.parent_id = :task"""
_BELOW = """WITH RECURSIVE below(id) AS (
        SELECT id FROM tasks WHERE session_id = :session AND id = :task
        UNION SELECT c.id FROM below b CROSS JOIN tasks c INDEXED BY ix_tasks_parent
        ON c.session_id = :session AND c.parent_id = b.id)"""
DESCENDANTS = f"""{_BELOW} SELECT {COLUMNS} FROM below b CROSS JOIN tasks t
    ON t.session_id = :session AND t.id = b.id WHERE t.id <> :task"""
OPEN_DESCENDANTS = f"{DESCENDANTS} AND t.status NOT IN ('done', 'cancelled')"
# A walk upwards is one row a step, taken from a queue, so it comes out nearest first; UNION ends it in a ring.
_ABOVE = """WITH RECURSIVE above(id) AS (
        SELECT parent_id FROM tasks WHERE session_id = :session AND id = :task
        UNION SELECT p.parent_id FROM above a CROSS JOIN tasks p
        ON p.session_id = :session AND p.id = a.id WHERE a.id IS NOT NULL)"""
ANCESTORS = f"""{_ABOVE} SELECT {COLUMNS} FROM above a CROSS JOIN tasks t
    ON t.session_id = :session AND t.id = a.id"""
_EDGES = """SELECT d.depends_on_id, o.title, o.status, d.seq FROM task_dependencies d CROSS JOIN tasks o
    ON o.session_id = d.session_id AND o.id = d.depends_on_id
    WHERE d.session_id = :session AND d.task_id = :task AND d.removed_seq IS NULL"""
DEPENDENCIES = f"{_EDGES} ORDER BY d.seq, d.depends_on_id"
OPEN_DEPENDENCIES = f"{_EDGES} AND o.status <> 'done' ORDER BY d.seq, d.depends_on_id"
DEPENDENTS = f"""SELECT {COLUMNS} FROM task_dependencies d INDEXED BY ix_task_dependencies_depends_on CROSS JOIN tasks t
    ON t.session_id = d.session_id AND t.id = d.task_id
    WHERE d.session_id = :session AND d.depends_on_id = :task AND d.removed_seq IS NULL ORDER BY d.seq, d.task_id"""
STOPS_GROUP = """SELECT id FROM blockers INDEXED BY ix_blockers_open WHERE session_id = :session
    AND group_id = :group AND task_id IS NULL AND resolved_seq IS NULL AND "class" = 'hard'
    ORDER BY opened_seq, id LIMIT 1"""
WAITS = f"SELECT {task_conditions.WAITS}"
OPEN_BLOCKERS = f"""SELECT {_BLOCK} FROM blockers INDEXED BY ix_blockers_task
    WHERE session_id = :session AND task_id = :task AND resolved_seq IS NULL ORDER BY opened_seq DESC, id DESC"""
BLOCKED_BELOW = f"""{_BELOW} SELECT b.task_id, {_BLOCK.replace("id,", "b.id,", 1)} FROM below w CROSS JOIN blockers b
    INDEXED BY ix_blockers_task
    ON b.session_id = :session AND b.task_id = w.id AND b.resolved_seq IS NULL ORDER BY b.opened_seq, b.id"""
HOLDS_BELOW = f"""{_BELOW} SELECT b.task_id,
        max(CASE WHEN b.cause <> 'cascade' AND b.resolved_seq IS NULL THEN b.opened_seq ELSE 0 END),
        max(CASE WHEN b.cause = 'cascade' AND b.resolution NOT IN ('released', 'cancelled')
            THEN b.resolved_seq ELSE 0 END)
    FROM below w CROSS JOIN blockers b INDEXED BY ix_blockers_task ON b.session_id = :session AND b.task_id = w.id
    GROUP BY b.task_id"""
HELD_ABOVE = f"""{_ABOVE} SELECT max(b.opened_seq) FROM above a CROSS JOIN blockers b INDEXED BY ix_blockers_task
    ON b.session_id = :session AND b.task_id = a.id AND b.resolved_seq IS NULL AND b.cause <> 'cascade'"""
OPEN_QUESTION = f"""SELECT q.id, q.text FROM {task_conditions.QUESTIONS_BEFORE}
    ORDER BY q.opened_seq, q.id LIMIT 1"""
LINE_WAITS = f"SELECT {task_conditions.LINE_WAITS}"
OPEN_ABOVE = f"""{_ABOVE} SELECT a.id, d.depends_on_id, o.status FROM above a CROSS JOIN task_dependencies d
    ON d.session_id = :session AND d.task_id = a.id AND d.removed_seq IS NULL CROSS JOIN tasks o
    ON o.session_id = :session AND o.id = d.depends_on_id AND o.status <> 'done'"""
BEGUN_BELOW = f"SELECT {task_conditions.BEGUN_BELOW}"
OPEN_SUBTASKS = f"{CHILDREN} AND t.status NOT IN ('done', 'cancelled')"
NONE_DONE = f"SELECT {task_conditions.NONE_DONE}"
RUNNING = """SELECT t.session_id, t.id FROM tasks t INDEXED BY ix_tasks_assignee CROSS JOIN sessions s
    ON s.id = t.session_id AND s.status <> 'ended'
    WHERE t.assignee = :agent AND t.status = 'in_progress' AND t.parent_id IS NULL ORDER BY t.session_id, t.id"""
_AGENTS_ABOVE = """WITH RECURSIVE above(id) AS (
        SELECT parent_id FROM agents WHERE id = :agent AND parent_id IS NOT NULL
        UNION SELECT g.parent_id FROM above a CROSS JOIN agents g ON g.id = a.id WHERE g.parent_id IS NOT NULL)"""
ABOVE = f"{_AGENTS_ABOVE} SELECT a.id, g.active FROM above a LEFT JOIN agents g ON g.id = a.id"
MANAGERS = f"""{_AGENTS_ABOVE} SELECT a.id FROM above a CROSS JOIN agents g
    ON g.id = a.id AND g.kind = 'ai' AND g.active = 1"""
BLOCKED_ABOVE = f"""{_ABOVE} SELECT b.task_id, {_BLOCK.replace("id,", "b.id,", 1)} FROM above a CROSS JOIN blockers b
    INDEXED BY ix_blockers_task
    ON b.session_id = :session AND b.task_id = a.id AND b.resolved_seq IS NULL AND b.cause <> 'cascade' LIMIT 1"""
OPEN_OF_GROUP = f"""SELECT {COLUMNS} FROM tasks t INDEXED BY ix_tasks_group
    WHERE t.session_id = :session AND t.group_id = :group AND t.status NOT IN ('done', 'cancelled')
    ORDER BY t.created_seq, t.id"""
_NEAREST = "SELECT id FROM tasks WHERE session_id = :session ORDER BY id LIMIT 200"


class Dependency(NamedTuple):
    """A task that another one depends on; `seq` is the step that added the dependency."""

    id: str
    title: str
    status: str
    seq: int


class Wait(NamedTuple):
    """What a task above another one waits for: `of` depends on `id`, which is not done."""

    of: str
    id: str
    status: str


class Hold(NamedTuple):
    """Since when a task holds what stands below it, and until when it was itself freed of that: steps, or 0.

    own: the step that opened the newest of its own open blockers.
    freed: the last step in which somebody took its cascade away by hand.
    """

    own: int
    freed: int


def _tasks(connection: sqlite3.Connection, sql: str, **parameters: object) -> list[Task]:
    return sorted((Task(*row) for row in connection.execute(sql, parameters)), key=tasks.order)


def task(connection: sqlite3.Connection, session: str, id: str) -> Task | None:
    """The task of this session, or None; ids are compared byte for byte."""
    row = connection.execute(TASK, {"session": session, "task": id}).fetchone()
    return Task(*row) if row else None


def known(connection: sqlite3.Connection, session: str) -> list[str]:
    """Ids of tasks of the session, at most 200, for a near miss."""
    return [row[0] for row in connection.execute(_NEAREST, {"session": session})]


def children(connection: sqlite3.Connection, session: str, id: str) -> list[Task]:
    """The subtasks right below a task, in the order in which they are taken up."""
    return _tasks(connection, CHILDREN, session=session, task=id)


def open_subtasks(connection: sqlite3.Connection, session: str, id: str) -> list[Task]:
    """The subtasks right below a task that are neither done nor cancelled."""
    return _tasks(connection, OPEN_SUBTASKS, session=session, task=id)


def none_done(connection: sqlite3.Connection, session: str, id: str) -> bool:
    """Whether a task has subtasks, and none of them is done."""
    return bool(connection.execute(NONE_DONE, {"session": session, "task": id}).fetchone()[0])


def descendants(connection: sqlite3.Connection, session: str, id: str) -> list[Task]:
    """All tasks below a task, in the order in which they are taken up; a ring in old data ends the walk."""
    return _tasks(connection, DESCENDANTS, session=session, task=id)


def open_descendants(connection: sqlite3.Connection, session: str, id: str) -> list[Task]:
    """All tasks below a task that are neither done nor cancelled."""
    return _tasks(connection, OPEN_DESCENDANTS, session=session, task=id)


def ancestors(connection: sqlite3.Connection, session: str, id: str) -> list[Task]:
    """The tasks above a task, the nearest first; a ring in old data ends the walk."""
    found = [Task(*row) for row in connection.execute(ANCESTORS, {"session": session, "task": id})]
    return [each for each in found if each.id != id]


def dependencies(connection: sqlite3.Connection, session: str, id: str) -> list[Dependency]:
    """The tasks that a task depends on, in the order in which that was said."""
    return [Dependency(*row) for row in connection.execute(DEPENDENCIES, {"session": session, "task": id})]


def open_dependencies(connection: sqlite3.Connection, session: str, id: str) -> list[Dependency]:
    """Those of them that are not done; a cancelled one is not done."""
    return [Dependency(*row) for row in connection.execute(OPEN_DEPENDENCIES, {"session": session, "task": id})]


def dependents(connection: sqlite3.Connection, session: str, id: str) -> list[Task]:
    """The tasks that depend on a task."""
    return [Task(*row) for row in connection.execute(DEPENDENTS, {"session": session, "task": id})]


def open_above(connection: sqlite3.Connection, session: str, id: str) -> list[Wait]:
    """What the tasks above a task wait for, those of the nearest first."""
    return [Wait(*row) for row in connection.execute(OPEN_ABOVE, {"session": session, "task": id})]


def line_waits(connection: sqlite3.Connection, session: str, id: str) -> bool:
    """Whether a task, or one above it, depends on one that is not done."""
    return bool(connection.execute(LINE_WAITS, {"session": session, "task": id}).fetchone()[0])


def begun_below(connection: sqlite3.Connection, session: str, id: str) -> bool:
    """Whether a task, or one below it, has begun and is not closed; one that was blocked meanwhile counts."""
    return bool(connection.execute(BEGUN_BELOW, {"session": session, "task": id}).fetchone()[0])


def waits(connection: sqlite3.Connection, session: str, task: Task) -> bool:
    """Whether a task may not begin, for its own dependencies, for those of a task above, or for those of its group."""
    parameters = {"session": session, "task": task.id, "group": task.group_id}
    return bool(connection.execute(WAITS, parameters).fetchone()[0])


def stops_group(connection: sqlite3.Connection, session: str, group: str | None) -> str | None:
    """The oldest hard blocker of a group itself, with which the group's tasks wait; None where there is none."""
    row = connection.execute(STOPS_GROUP, {"session": session, "group": group}).fetchone() if group else None
    return row[0] if row else None


def blockers_of_task(connection: sqlite3.Connection, session: str, id: str) -> list[Block]:
    """The open blockers of a task, newest first."""
    return [Block(*row) for row in connection.execute(OPEN_BLOCKERS, {"session": session, "task": id})]


def blockers_below(connection: sqlite3.Connection, session: str, id: str) -> dict[str, list[Block]]:
    """The open blockers of a task and of all tasks below it, by task."""
    found: dict[str, list[Block]] = {}
    for name, *block in connection.execute(BLOCKED_BELOW, {"session": session, "task": id}):
        found.setdefault(name, []).append(Block(*block))
    return found


def blocked_above(connection: sqlite3.Connection, session: str, id: str) -> tuple[str, Block] | None:
    """The nearest task above that has an open blocker of its own, with its newest one."""
    row = connection.execute(BLOCKED_ABOVE, {"session": session, "task": id}).fetchone()
    return (row[0], Block(*row[1:])) if row else None


def holds_below(connection: sqlite3.Connection, session: str, id: str) -> dict[str, Hold]:
    """What a task and those below it hold, of all of them that were ever blocked."""
    rows = connection.execute(HOLDS_BELOW, {"session": session, "task": id})
    return {name: Hold(own, freed) for name, own, freed in rows}


def held_above(connection: sqlite3.Connection, session: str, id: str) -> int:
    """The step that opened the newest own blocker of the tasks above, or 0 where none has any."""
    return connection.execute(HELD_ABOVE, {"session": session, "task": id}).fetchone()[0] or 0


def question(connection: sqlite3.Connection, session: str, id: str, group: str | None) -> Question | None:
    """The oldest open question about a task, those above it, or its group."""
    row = connection.execute(OPEN_QUESTION, {"session": session, "group": group, "task": id}).fetchone()
    return Question(*row) if row else None


def running(connection: sqlite3.Connection, agent: str) -> list[tuple[str, str]]:
    """The tasks that an agent has in progress, subtasks aside, in all sessions that are open: (session, task)."""
    return [(row[0], row[1]) for row in connection.execute(RUNNING, {"agent": agent})]


def open_of_group(connection: sqlite3.Connection, session: str, group: str) -> list[Task]:
    """The tasks of a group that are neither done nor cancelled, in order of creation."""
    parameters = {"session": session, "group": group}
    return [Task(*row) for row in connection.execute(OPEN_OF_GROUP, parameters)]


def managers(connection: sqlite3.Connection, agent: str) -> list[str]:
    """The active agents above an agent, people aside, the nearest first."""
    found = dict.fromkeys(row[0] for row in connection.execute(MANAGERS, {"agent": agent}))
    found.pop(agent, None)
    return list(found)


def standing(connection: sqlite3.Connection, agent: str) -> Standing | None:
    """Where an agent stands: itself, and those above it, the nearest first; a ring in old data ends the walk."""
    row = connection.execute(
        "SELECT id, role, kind, active, session_id, group_id FROM agents WHERE id = :agent", {"agent": agent}
    ).fetchone()
    if row is None:
        return None
    above: dict[str, int] = dict(connection.execute(ABOVE, {"agent": agent}).fetchall())
    above.pop(agent, None)
    id, role, kind, active, session, group = row
    gone = tuple(name for name, in_service in above.items() if not in_service)
    return Standing(id, role, kind, active, session, group, tuple(above), gone)
