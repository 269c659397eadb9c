"""What the next action is decided on, read through few statements, each bounded by an index.

Tasks come in the order in which they are taken up: by priority and creation as the indexes have it, and among equals
by their ids, which SQL cannot order with numbers as numbers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from orchestrator.core import strict_json, tasks
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.next_facts import Notice, Question, Turn, Worker
from orchestrator.core.permissions import Standing
from orchestrator.core.tasks import Task
from orchestrator.store import task_conditions, task_reader

_COLUMNS = task_reader.COLUMNS
_ORDER = "priority, created_at"
_WAITS = task_conditions.ROW_WAITS_ON_TASKS

MAIN = f"""SELECT {_COLUMNS} FROM tasks t INDEXED BY ix_tasks_assignee
    WHERE t.assignee = :agent AND t.status = :status AND t.session_id = :session
    AND NOT EXISTS (SELECT 1 FROM tasks p WHERE p.session_id = t.session_id AND p.id = t.parent_id
        AND p.assignee = :agent AND p.status IN ('in_progress', 'blocked'))"""
# A group that only names the project manager has given out no turn of its own.
TURNS = """SELECT turn, NULL FROM sessions WHERE id = :session AND awaited_role = :role AND turn IS NOT NULL
        AND :agent IN (awaited_agent_id, awaited_role)
    UNION ALL SELECT * FROM (SELECT turn, id FROM task_groups INDEXED BY ix_task_groups_open
        WHERE session_id = :session AND status = 'in_progress' AND awaited_role = :role AND turn IS NOT NULL
        AND awaited_action <> 'wait' AND :agent IN (awaited_agent_id, awaited_role) ORDER BY created_seq)"""
COUNTS = """SELECT status, count(*) FROM tasks INDEXED BY ix_tasks_parent
    WHERE session_id = :session AND parent_id = :task GROUP BY status"""
OF_STATUS = f"""SELECT {_COLUMNS} FROM tasks t INDEXED BY ix_tasks_parent
    WHERE t.session_id = :session AND t.parent_id = :task AND t.status = :status ORDER BY {_ORDER}"""
# Two walks of one index, merged as they go: the rows behind the first that fits are not read.
_TIE = "AND t.priority = :priority AND t.created_at = :created"
_READY = f"""SELECT {_COLUMNS} FROM tasks t INDEXED BY ix_tasks_parent
    WHERE t.session_id = :session AND t.parent_id = :task AND t.status = '{{}}'
    AND (:all OR t.assignee IS NULL OR t.assignee IN (:agent, :place)) AND NOT {_WAITS} {{}}"""
READY, TIED_READY = (
    f"{_READY.format('backlog', more)} UNION ALL {_READY.format('todo', more)} ORDER BY {_ORDER}"
    for more in ("", _TIE)
)
_CANDIDATES = f"""SELECT {_COLUMNS} FROM tasks t INDEXED BY ix_tasks_pending
    LEFT JOIN tasks p ON p.session_id = t.session_id AND p.id = t.parent_id
    WHERE t.session_id = :session AND t.status IN ('backlog', 'todo') AND ({{}})
    AND (:group IS NULL OR t.group_id IS NULL OR t.group_id = :group) AND NOT {_WAITS} {{}}
    ORDER BY t.priority, t.created_at"""
_NEAR = """t.assignee IN (:agent, :place) OR (t.assignee IS NULL
        AND (t.parent_id IS NULL OR p.assignee IN (SELECT value FROM json_each(:above))))"""
# What `permissions.move` lets anybody start.
_FREE = """t.assignee IS NULL
        OR EXISTS (SELECT 1 FROM agents a WHERE a.id = t.assignee AND a.active = 0)"""
CANDIDATES, TIED_CANDIDATES, FREE, TIED_FREE = (
    _CANDIDATES.format(whose, more) for whose in (_NEAR, _FREE) for more in ("", _TIE)
)
DEAD_END = f"""SELECT d.task_id, o.id FROM tasks t INDEXED BY ix_tasks_pending
    CROSS JOIN task_dependencies d ON d.session_id = :session AND d.removed_seq IS NULL
        AND d.task_id IN ({task_conditions.ROW_AND_ABOVE})
    CROSS JOIN tasks o ON o.session_id = :session AND o.id = d.depends_on_id AND o.status = 'cancelled'
    WHERE t.session_id = :session AND t.status IN ('backlog', 'todo')
    AND (:all OR t.assignee IN (:agent, :place) OR (t.assignee IS NULL AND t.parent_id IS NULL))
    ORDER BY t.priority, t.created_at LIMIT 1"""
# What is blocked for its dependencies is found by its blocker; no index leads to it among the tasks.
AWAITING_DEAD_END = f"""SELECT d.task_id, o.id FROM blockers b INDEXED BY ix_blockers_open
    CROSS JOIN tasks t ON t.session_id = :session AND t.id = b.task_id AND t.status = 'blocked'
    CROSS JOIN task_dependencies d ON d.session_id = :session AND d.removed_seq IS NULL
        AND d.task_id IN ({task_conditions.ROW_AND_ABOVE})
    CROSS JOIN tasks o ON o.session_id = :session AND o.id = d.depends_on_id AND o.status = 'cancelled'
    WHERE b.session_id = :session AND b.resolved_seq IS NULL AND b.cause = 'dependency'
    AND (:all OR t.assignee IN (:agent, :place) OR (t.assignee IS NULL AND t.parent_id IS NULL))
    ORDER BY t.priority, t.created_at LIMIT 1"""
# Of each group, and of none, what is in progress and may be overdue: `core.tasks` decides.
HELD = f"""SELECT {_COLUMNS}, a.active, a.role FROM (SELECT NULL AS id
        UNION ALL SELECT id FROM task_groups WHERE session_id = :session AND (:group IS NULL OR id = :group)) g
    CROSS JOIN tasks t INDEXED BY ix_tasks_group
        ON t.session_id = :session AND t.group_id IS g.id AND t.status = 'in_progress'
    CROSS JOIN agents a ON a.id = coalesce(t.claim_holder, t.assignee)
    WHERE a.active = 0 OR t.claim_until IS NOT NULL"""
OWN = f"""SELECT {_COLUMNS} FROM tasks t INDEXED BY ix_tasks_assignee
    WHERE t.assignee IN (:agent, :place) AND t.status IN ('backlog', 'todo') AND t.session_id = :session
    AND t.parent_id IS NOT :main AND (:group IS NULL OR t.group_id IS NULL OR t.group_id = :group) AND NOT {_WAITS}"""
PENDING = """SELECT count(*) FROM tasks INDEXED BY ix_tasks_pending
    WHERE session_id = :session AND status IN ('backlog', 'todo')"""
_OPEN_QUESTION = """SELECT id, text FROM questions INDEXED BY ix_questions_open
    WHERE session_id = :session AND group_id IS :group AND closed_seq IS NULL AND task_id IS :task
    ORDER BY opened_seq, id LIMIT 1"""
LIMIT = "SELECT max_parallel_tasks FROM agents WHERE id = :agent"
PEOPLE = "SELECT id FROM agents WHERE kind = 'human' AND active = 1 LIMIT 2"
LEADS = "SELECT EXISTS (SELECT 1 FROM agents INDEXED BY ix_agents_standing" + (
    " WHERE parent_id = :place AND session_id IS NULL AND active = 1)"
)
WORKERS = """WITH RECURSIVE below(id) AS (
        SELECT id FROM agents INDEXED BY ix_agents_standing WHERE parent_id = :place AND session_id IS NULL
        UNION SELECT a.id FROM below b CROSS JOIN agents a INDEXED BY ix_agents_standing
        ON a.parent_id = b.id AND a.session_id IS NULL)
    SELECT a.id, a.role FROM below b CROSS JOIN agents a ON a.id = b.id
    WHERE a.active = 1 AND a.kind = 'ai' AND a.id <> :agent AND a.max_parallel_tasks >
        (SELECT count(*) FROM tasks t INDEXED BY ix_tasks_assignee CROSS JOIN sessions s
            ON s.id = t.session_id AND s.status <> 'ended'
            WHERE t.assignee = a.id AND t.status = 'in_progress')"""
NOTICES = """SELECT n.seq, n.blocker_id, n.task_id, t.title, b.type, b."class", b.reason, b.opened_by, b.opened_at
    FROM notices n INDEXED BY ix_notices_agent
    CROSS JOIN blockers b ON b.id = n.blocker_id AND b.resolved_seq IS NULL
    CROSS JOIN tasks t ON t.session_id = n.session_id AND t.id = n.task_id
    WHERE n.agent_id = :agent AND n.session_id = :session ORDER BY n.seq, n.part"""
LAST_STEP = """SELECT max(seq) FROM audit_events
    WHERE session_id = :session AND seq > :since AND actor IN (:agent, :asker)"""
OPEN = """SELECT id, title, status, assignee, group_id, parent_id FROM tasks
    WHERE session_id = :session AND status <> 'done'"""
EDGES = """SELECT task_id, depends_on_id FROM task_dependencies
    WHERE session_id = :session AND removed_seq IS NULL ORDER BY task_id, depends_on_id, seq"""


ADDED_BY = """SELECT added_by FROM task_dependencies
    WHERE session_id = :session AND task_id = :task AND depends_on_id = :dependency AND removed_seq IS NULL"""


class Reach(NamedTuple):
    """The tasks of a session that are not done, by id, and what each depends on that is not done either."""

    tasks: dict[str, tuple[str, str, str | None, str | None, str | None]]
    edges: dict[str, list[str]]
    below: dict[str, list[str]]
    of_group: dict[str, list[str]]


def _first(
    connection: sqlite3.Connection, statements: tuple[str, str], parameters: dict[str, object],
    fits: Callable[[Task], bool],
) -> Task | None:
    """The first task that fits; no more rows are read than that needs.

    Args:
        statements: for all in order of priority and creation, and for those that are equal in both.
    """
    every, tied = statements
    found = _earliest(connection, every, parameters, fits)
    if found is None:
        return None
    # Asked for what is equal alone: to see that the next one is not, SQL may have to look at all that wait.
    same = {**parameters, "priority": found.priority, "created": found.created_at}
    return min((task for task in _tasks(connection, tied, same) if fits(task)), key=tasks.order)


def _earliest(
    connection: sqlite3.Connection, sql: str, parameters: dict[str, object], fits: Callable[[Task], bool]
) -> Task | None:
    # A cursor looks for a row more than it is asked for, which may take it through all that wait; a limit does not.
    looked, limit = 0, 1
    while True:
        found = list(_tasks(connection, f"{sql} LIMIT {limit}", parameters))
        fitting = next((task for task in found[looked:] if fits(task)), None)
        if fitting is not None or len(found) < limit:
            return fitting
        looked, limit = len(found), limit * 16


def _tasks(connection: sqlite3.Connection, sql: str, parameters: dict[str, object]) -> Iterator[Task]:
    return (Task(*row) for row in connection.execute(sql, parameters))


def main_tasks(connection: sqlite3.Connection, session: str, agent: str, status: str) -> list[Task]:
    """The tasks that an agent has, in order; the subtasks among them belong to their task, where that is its own."""
    rows = connection.execute(MAIN, {"session": session, "agent": agent, "status": status})
    return sorted((Task(*row) for row in rows), key=tasks.order)


def counts(connection: sqlite3.Connection, session: str, task: str) -> dict[str, int]:
    """How many subtasks of a task have which status."""
    return dict(connection.execute(COUNTS, {"session": session, "task": task}).fetchall())


def of_status(connection: sqlite3.Connection, session: str, task: str, status: str) -> list[Task]:
    """The subtasks of a task that have a status, in order."""
    rows = connection.execute(OF_STATUS, {"session": session, "task": task, "status": status})
    return sorted((Task(*row) for row in rows), key=tasks.order)


def ready(
    connection: sqlite3.Connection, session: str, task: str, asker: Standing, fits: Callable[[Task], bool], *, all: bool
) -> Task | None:
    """The first pending subtask whose own dependencies are done.

    Args:
        asker: whose it is, or nobody's.
        fits: what else it must satisfy.
        all: whosever it is.
    """
    parameters: dict[str, object] = {
        "session": session, "task": task, "agent": asker.id, "place": asker.place, "all": int(all),
    }  # fmt: skip
    return _first(connection, (READY, TIED_READY), parameters, fits)


def candidate(
    connection: sqlite3.Connection, session: str, asker: Standing, fits: Callable[[Task], bool]
) -> Task | None:
    """The first pending task that an agent may take, its dependencies done.

    Its own, those that nobody has and the subtasks of who is above it come first; then what is left that anybody may
    start: subtasks of others' tasks that nobody has, and tasks of who is out of service.
    """
    parameters: dict[str, object] = {
        "session": session, "agent": asker.id, "place": asker.place, "group": asker.group_id,
        "above": strict_json.canonical(list(asker.above)),
    }  # fmt: skip
    near = _first(connection, (CANDIDATES, TIED_CANDIDATES), parameters, fits)
    return near or _first(connection, (FREE, TIED_FREE), parameters, fits)


def own_elsewhere(connection: sqlite3.Connection, session: str, asker: Standing, main: str | None) -> list[Task]:
    """The pending tasks of an agent whose own dependencies are done, without the subtasks of a main task, in order."""
    parameters: dict[str, object] = {
        "session": session, "agent": asker.id, "place": asker.place, "group": asker.group_id, "main": main or "",
    }  # fmt: skip
    return sorted(_tasks(connection, OWN, parameters), key=tasks.order)


def dead_end(
    connection: sqlite3.Connection, session: str, asker: Standing, *, all: bool
) -> tuple[str, str] | None:
    """The first task of an agent, or of nobody, that depends on a cancelled one, and that one: pending or so blocked.

    Where a task above it depends on that, it is that task that is named.

    Args:
        all: whosever it is.
    """
    parameters = {"session": session, "agent": asker.id, "place": asker.place, "all": int(all)}
    found: tuple[str, str] | None = connection.execute(DEAD_END, parameters).fetchone()
    return found or connection.execute(AWAITING_DEAD_END, parameters).fetchone()


def overdue(connection: sqlite3.Connection, session: str, asker: Standing, now: str) -> Task | None:
    """The first task in progress that the asker may take over, those of its own role before others.

    `core.tasks.overdue` decides, as it does for a claim, which asks for no role either.
    """
    parameters = {"session": session, "group": asker.group_id}
    held = ((Task(*row), active, role) for *row, active, role in connection.execute(HELD, parameters))
    offered = ((role != asker.role, tasks.order(task), task) for task, active, role in held
               if tasks.overdue(task, now, gone=not active))  # fmt: skip
    return min(offered, default=(False, (), None))[2]


def pending(connection: sqlite3.Connection, session: str) -> int:
    """How many tasks of a session are pending."""
    return int(connection.execute(PENDING, {"session": session}).fetchone()[0])


def question(connection: sqlite3.Connection, session: str, task: str | None, group: str | None) -> Question | None:
    """The oldest open question about a task itself, or about a group itself where no task is named."""
    row = connection.execute(_OPEN_QUESTION, {"session": session, "task": task, "group": group}).fetchone()
    return Question(*row) if row else None


def limit(connection: sqlite3.Connection, agent: str) -> int:
    """How many tasks an agent may have in progress at a time."""
    return int(connection.execute(LIMIT, {"agent": agent}).fetchone()[0])


def only_person(connection: sqlite3.Connection) -> str | None:
    """The only registered person in service; None where there is none, or several."""
    rows = connection.execute(PEOPLE).fetchall()
    return str(rows[0][0]) if len(rows) == 1 else None


def leads(connection: sqlite3.Connection, asker: Standing) -> bool:
    """Whether others report to an agent, or to the one at whose place it stands; instances of it are none."""
    return bool(connection.execute(LEADS, {"place": asker.place}).fetchone()[0])


def workers(connection: sqlite3.Connection, asker: Standing) -> tuple[Worker, ...]:
    """The active standing agents below an agent that have room for one more task."""
    rows = connection.execute(WORKERS, {"place": asker.place, "agent": asker.id})
    return tuple(sorted((Worker(*row) for row in rows), key=lambda each: tasks.natural(each.id)))


def notices(connection: sqlite3.Connection, session: str, asker: Standing) -> tuple[Notice, ...]:
    """The open blockers that a manager was told of and has not seen: written after its own last step here."""
    parameters = {"session": session, "agent": asker.place}
    rows = connection.execute(NOTICES, parameters).fetchall()
    if not rows:
        return ()
    last = connection.execute(LAST_STEP, {**parameters, "asker": asker.id, "since": rows[0][0]}).fetchone()[0] or 0
    return tuple(Notice(*row[1:]) for row in rows if row[0] > last)


def reach(connection: sqlite3.Connection, session: str) -> Reach:
    """All that is not done in a session, and what of it waits for what."""
    found = Reach({}, {}, {}, {})
    for id, *columns in connection.execute(OPEN, {"session": session}):
        _, status, _, group, parent = columns
        found.tasks[id] = tuple(columns)
        if status != tasks.CANCELLED:
            if parent is not None:
                found.below.setdefault(parent, []).append(id)
            if group is not None:
                found.of_group.setdefault(group, []).append(id)
    for task, dependency in connection.execute(EDGES, {"session": session}):
        if dependency in found.tasks:
            found.edges.setdefault(task, []).append(dependency)
    return found


def added_by(connection: sqlite3.Connection, session: str, task: str, dependency: str) -> str | None:
    """Who let a task wait for another one; None where nobody is on record."""
    row = connection.execute(ADDED_BY, {"session": session, "task": task, "dependency": dependency}).fetchone()
    return row[0] if row else None


def turns(connection: sqlite3.Connection, session: str, agent: Standing) -> list[Turn]:
    """The open turns that an agent was started for; all of its role's for the agent that stands for that."""
    key = {"session": session, "role": agent.role, "agent": agent.id}
    return [Turn(*row) for row in connection.execute(TURNS, key)]
