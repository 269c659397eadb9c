"""What deciding is told, read row by row through named statements. Every statement's cost is bounded by an index."""

from __future__ import annotations

import functools
import operator
import sqlite3
from collections.abc import Callable, Sequence

from orchestrator.core import canonical_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import free_slots
from orchestrator.core.routing.facts import NO_PATH, PROGRESS, Blocker, Group, Path, Session
from orchestrator.hints import Any
from orchestrator.store.table_metadata import column_names, packed


def _numbered(sql: str, *names: str) -> str:
    """A statement of each step with its parameters numbered: binding one by its name takes three times as long."""
    for number, name in enumerate(names, start=1):
        sql = sql.replace(f":{name}", f"?{number}")
    return sql


_SESSION_COLUMNS = packed(Session._fields)
_GROUP_COLUMNS = packed(Group._fields, "g.")
# The session is a parameter in every arm: SQLite hands no outer column into the view, and would scan all sessions.
_SATISFIED = """
    EXISTS (SELECT 1 FROM task_groups t WHERE t.session_id = :session AND t.id = d.depends_on
            AND t.status = 'completed')
    OR EXISTS (SELECT 1 FROM completion_paths p WHERE p.session_id = :session AND p.group_id = d.depends_on
               AND p.awaiting_confirmation = 1)"""

SESSION = f"SELECT {_SESSION_COLUMNS} FROM sessions WHERE id = :session"
GROUP = f"SELECT {_GROUP_COLUMNS} FROM task_groups g WHERE g.session_id = :session AND g.id = :group"
OPEN_DEPENDENCIES = f"""SELECT d.depends_on FROM group_dependencies d
    WHERE d.session_id = :session AND d.group_id = :group AND d.removed_seq IS NULL AND NOT ({_SATISFIED})
    ORDER BY d.seq, d.depends_on"""
OPEN_BLOCKERS = """SELECT id, type, class, external, opened_role, opened_by, cause FROM blockers
    INDEXED BY ix_blockers_open
    WHERE session_id = :session AND group_id = :group AND task_id IS NULL AND resolved_seq IS NULL
    ORDER BY opened_seq DESC, id DESC"""
OPEN_QUESTION = """SELECT id FROM questions INDEXED BY ix_questions_open
    WHERE session_id = :session AND group_id IS :group AND task_id IS NULL AND closed_seq IS NULL
    ORDER BY opened_seq LIMIT 1"""
OPENING = _numbered(
    f"""SELECT EXISTS ({OPEN_BLOCKERS}), ({OPEN_QUESTION}),
    EXISTS (SELECT 1 FROM starts s WHERE s.session_id = :session AND s.group_id = :group AND s.turn = g.turn),
    (SELECT a.active FROM agents a WHERE a.id = g.awaited_agent_id),
    (SELECT count(*) FROM (SELECT 1 FROM agent_reports INDEXED BY ix_agent_reports_group
        WHERE session_id = :session AND group_id = :group AND role = :role AND response_status = :status
        AND seq > CASE WHEN :own OR g.progress_seq < g.answered_seq THEN g.answered_seq ELSE g.progress_seq END
        LIMIT :most)),
    {packed(column_names("task_groups"))}
    FROM task_groups g WHERE g.session_id = :session AND g.id = :group""",
    "session", "group", "role", "status", "own", "most",
)  # fmt: skip
INSTANCE = """SELECT r.id IS NOT NULL, a.id, a.role, a.parent_id, a.kind, a.active, a.session_id, a.group_id
    FROM (SELECT 1) LEFT JOIN agents r ON r.id = ?1 LEFT JOIN agents a ON a.id = ?2"""
SESSION_VISITS = """SELECT count(*) FROM (SELECT 1 FROM agent_reports INDEXED BY ix_agent_reports_group
    WHERE session_id = :session AND group_id IS NULL AND role = :role AND response_status = :status
    AND seq > :since LIMIT :most)"""
SESSION_PROGRESS = f"""SELECT seq FROM agent_reports INDEXED BY sqlite_autoindex_agent_reports_1
    WHERE session_id = :session AND seq > :since AND group_id IS NOT NULL
    AND ({" OR ".join(f"effect = '{effect}'" for effect in PROGRESS)}) ORDER BY seq DESC LIMIT 1"""
REDISPATCHES = """SELECT count(*) FROM (SELECT 1 FROM router_decisions INDEXED BY ix_router_decisions_redispatch
    WHERE session_id = :session AND group_id IS :group AND seq > :since AND cause = 'redispatch' LIMIT :most)"""
STATUS_SETTINGS = """SELECT count(*) FROM (SELECT 1 FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity = 'group' AND entity_id = :group AND seq > :since
    AND cause = 'set_status' LIMIT :most)"""
NEWEST_REFUSAL = """SELECT code FROM refusals INDEXED BY ix_refusals_turn
    WHERE session_id = :session AND group_id IS :group AND turn = :turn ORDER BY seq DESC LIMIT 1"""
TURN_REFUSALS = """SELECT count(*) FROM (SELECT 1 FROM refusals INDEXED BY ix_refusals_turn
    WHERE session_id = :session AND group_id IS :group AND turn = :turn AND role = :role
    AND code <> 'GATE_FAILED' LIMIT :most)"""
CLARIFICATIONS = """SELECT count(*) FROM questions INDEXED BY ix_questions_session
    WHERE session_id = :session AND opened_seq > :since AND kind = 'clarification'"""
SOFT_STOPS = """SELECT type, phases_completed FROM resume_points INDEXED BY ix_resume_points_group
    WHERE session_id = :session AND group_id IS :group AND seq > :since AND class = 'soft'
    ORDER BY seq DESC LIMIT :most"""
IN_PROGRESS = """SELECT id FROM task_groups INDEXED BY ix_task_groups_open
    WHERE session_id = :session AND status = 'in_progress' AND awaited_role IS NOT NULL
    AND kind = :kind ORDER BY created_seq"""
OPEN_GROUP = """SELECT 1 FROM task_groups INDEXED BY ix_task_groups_open
        WHERE session_id = :session AND status = 'in_progress'
    UNION ALL SELECT 1 FROM task_groups INDEXED BY ix_task_groups_open
        WHERE session_id = :session AND status = 'pending' LIMIT 1"""
MANAGER_TURNS = """SELECT turn FROM task_groups INDEXED BY ix_task_groups_open
    WHERE session_id = :session AND status = 'in_progress' AND awaited_role = 'project_manager' AND turn IS NOT NULL"""
AWAITING_MANAGER = f"""SELECT {_GROUP_COLUMNS} FROM task_groups g INDEXED BY ix_task_groups_open
    WHERE g.session_id = :session AND g.status = 'in_progress' AND g.awaited_role = 'project_manager'
    ORDER BY g.created_seq"""
HELD = f"""SELECT {_GROUP_COLUMNS} FROM task_groups g INDEXED BY ix_task_groups_held
    WHERE g.session_id = :session AND g.held IS NOT NULL ORDER BY g.held_seq, g.id"""
IDLE = """SELECT id FROM task_groups INDEXED BY ix_task_groups_open
    WHERE session_id = :session AND status = 'in_progress' AND awaited_role IS NULL ORDER BY created_seq"""
PATH = """SELECT approved_met, merged_met, valid, awaiting_confirmation, missing FROM completion_paths
    WHERE session_id = :session AND group_id = :group"""
_RUNNING = "g.held IS NULL AND g.awaited_role NOT IN ('project_manager', 'user')"
BOARD = f"""SELECT
    count(CASE WHEN {_RUNNING} THEN 1 END),
    count(CASE WHEN {_RUNNING} AND g.kind = 'research' THEN 1 END),
    count(CASE WHEN g.held IS NOT NULL AND g.awaited_role <> 'project_manager' THEN 1 END),
    EXISTS (SELECT 1 FROM task_groups INDEXED BY ix_task_groups_open
        WHERE session_id = :session AND status = 'pending'),
    count(CASE WHEN g.awaited_role <> 'project_manager' THEN 1 END),
    EXISTS (SELECT 1 FROM questions INDEXED BY ix_questions_open
        WHERE session_id = :session AND closed_seq IS NULL),
    count(CASE WHEN g.awaited_role = 'project_manager' AND g.held IS NULL AND g.awaited_action <> 'wait' THEN 1 END)
    FROM task_groups g INDEXED BY ix_task_groups_open
    WHERE g.session_id = :session AND g.status = 'in_progress' AND g.awaited_role IS NOT NULL"""
PENDING = f"""SELECT {packed(column_names("task_groups"), "g.")}, EXISTS (SELECT 1 FROM group_dependencies d
        JOIN task_groups t ON t.session_id = d.session_id AND t.id = d.depends_on
        WHERE d.session_id = g.session_id AND d.group_id = g.id AND d.removed_seq IS NULL AND t.status <> 'completed')
    FROM task_groups g INDEXED BY ix_task_groups_open
    WHERE g.session_id = :session AND g.status = 'pending'
    AND NOT EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_open
        WHERE b.session_id = g.session_id AND b.group_id = g.id AND b.task_id IS NULL AND b.resolved_seq IS NULL)
    ORDER BY g.priority, g.created_seq"""


_STANDING = """SELECT group_concat(seq) FROM (SELECT seq FROM agent_reports INDEXED BY ix_agent_reports_group
    WHERE session_id = :session AND group_id = :group AND effect <> 'merge' AND effect <> 'withheld'
    AND (role <> 'project_manager' OR effect IN ('rework', 'defer')) ORDER BY seq DESC LIMIT 10)"""
# All but `cancelled` and `done`, in two looks: a list would be a table of its own, made and dropped at each call.
_OPEN_TASK = " OR ".join(
    f"""EXISTS (SELECT 1 FROM tasks INDEXED BY ix_tasks_group
    WHERE session_id = :session AND group_id = :group AND {condition})"""
    for condition in ("status > 'done'", "status < 'cancelled'")
)
OPEN_TASKS = """SELECT id, status FROM tasks INDEXED BY ix_tasks_group WHERE session_id = :session AND group_id = :group
    AND status IN ('backlog', 'todo', 'in_progress', 'blocked') ORDER BY created_seq, id LIMIT 200"""


@functools.cache
def _handed_on(count: int) -> str:
    """The statement for what is handed on to an agent, with so many context items."""
    newest = """(SELECT seq FROM context_items WHERE session_id = :session AND group_id = {} AND name = ?{}
        ORDER BY seq DESC LIMIT 1)"""
    scopes = (":reported", "''")
    columns = (", ".join(newest.format(scope, number) for scope in scopes) for number in range(4, count + 4))
    items = [f"coalesce({column})" for column in columns]
    found = f"SELECT {', '.join([f'({_STANDING})', _OPEN_TASK, *items])}"
    return _numbered(found, "session", "group", "reported")


def _picked(table: str, names: tuple[str, ...]) -> operator.itemgetter[Any]:
    """What picks columns out of a whole row of a table."""
    columns = column_names(table)
    return operator.itemgetter(*(columns.index(name) for name in names))


_DISABLED = Session._fields.index("disabled_roles")
_OF_SESSION = _picked("sessions", Session._fields)
_OF_GROUP = _picked("task_groups", Group._fields)


class Agent(NamedTuple):
    """One registered actor."""

    id: str
    role: str
    parent_id: str | None
    kind: str
    active: int
    session_id: str | None = None
    group_id: str | None = None


class Opening(NamedTuple):
    """What is asked first about the group of a report: one look for all of it.

    row: all columns of the group, in the order of the declared schema.
    blocked: whether a blocker of its own is open.
    question: the id of its open question.
    started: whether an agent was started for its turn, through a client or by a driver.
    agent_stands: whether the agent that it awaits is registered and active.
    visits: accepted reports like this one since the last progress, or since the last answered question.
    """

    row: list[Any]
    group: Group
    blocked: bool
    question: str | None
    started: bool
    agent_stands: bool
    visits: int


class HandedOn(NamedTuple):
    """What an agent that starts is handed on, by the seqs of reports.

    reports: its group's latest reports of guidance and findings, newest first.
    items: for each context item the newest report that gave it; None where none did.
    tasks: whether its group has open tasks.
    """

    reports: list[int]
    items: list[int | None]
    tasks: bool


class Reader:
    """Reads facts on one connection, inside whatever transaction is open."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def one(self, sql: str, **parameters: object) -> tuple[object, ...] | None:
        """The first row of a named statement, or None."""
        row: tuple[object, ...] | None = self.connection.execute(sql, parameters).fetchone()
        return row

    def count(self, sql: str, **parameters: object) -> int:
        """The first column of the first row, as a number."""
        return int(self.connection.execute(sql, parameters).fetchone()[0])

    def session(self, session: str) -> Session | None:
        """The session, or None when it is not known."""
        row = self.connection.execute(SESSION, {"session": session}).fetchone()
        return _session(canonical_json.values(row[0])) if row else None

    def session_of(self, row: Sequence[Any]) -> Session:
        """The session that a whole row of `sessions` is."""
        return _session(_OF_SESSION(row))

    def group(self, session: str, group: str) -> Group | None:
        """The group of this session, or None; ids are compared byte for byte."""
        row = self.connection.execute(GROUP, {"session": session, "group": group}).fetchone()
        return Group(*canonical_json.values(row[0])) if row else None

    def group_of(self, row: Sequence[Any]) -> Group:
        """The group that a whole row of `task_groups` is."""
        return Group(*_OF_GROUP(row))

    def opening(self, session: str, group: str, role: str, status: str, *, own: bool, most: int) -> Opening | None:
        """A group with what is to be known before it takes a report, or None; ids are compared byte for byte.

        Args:
            role, status: what is reported.
            own: whether its visits are counted since the last answered question instead of the last progress.
            most: so many visits are counted at most.
        """
        found = self.connection.execute(OPENING, (session, group, role, status, int(own), most)).fetchone()
        if found is None:
            return None
        blocked, question, started, active, visits, packed_row = found
        row = canonical_json.values(packed_row)
        return Opening(row, self.group_of(row), bool(blocked), question, bool(started), bool(active), visits)

    def groups(self, sql: str, session: str) -> list[Group]:
        """The groups that a statement of this module selects."""
        return [Group(*canonical_json.values(row)) for (row,) in self.connection.execute(sql, {"session": session})]

    def agent(self, agent: str) -> Agent | None:
        """The registered agent, or None."""
        row = self.connection.execute(
            "SELECT id, role, parent_id, kind, active, session_id, group_id FROM agents WHERE id = :agent",
            {"agent": agent},
        ).fetchone()
        return Agent(*row) if row else None

    def instance(self, agent: str, role: str) -> tuple[Agent | None, bool]:
        """The registered agent, or None, and whether an agent stands for its role as a whole."""
        stands, *found = self.connection.execute(INSTANCE, (role, agent)).fetchone()
        return Agent(*found) if found[0] is not None else None, bool(stands)

    def blockers(self, session: str, group: str) -> tuple[Blocker, ...]:
        """The group's own open blockers, newest first."""
        rows = self.connection.execute(OPEN_BLOCKERS, {"session": session, "group": group})
        return tuple(Blocker(*row) for row in rows)

    def open_dependencies(self, session: str, group: str) -> tuple[str, ...]:
        """Groups that this one still waits for."""
        rows = self.connection.execute(OPEN_DEPENDENCIES, {"session": session, "group": group})
        return tuple(row[0] for row in rows)

    def question(self, session: str, group: str | None) -> str | None:
        """The id of the open question of a group, or (for None) of the session as a whole."""
        row = self.connection.execute(OPEN_QUESTION, {"session": session, "group": group}).fetchone()
        return row[0] if row else None

    def visits(self, session: Session, role: str, status: str, *, own: bool, most: int) -> int:
        """Accepted reports like this one on no group, counted as `opening` counts those on a group."""
        since = session.answered_seq if own else self.progress(session)
        return self.count(SESSION_VISITS, session=session.id, role=role, status=status, since=since, most=most)

    def progress(self, session: Session, group: Group | None = None) -> int:
        """The step of the last progress, or of the last answered question: of the group, or of the session as a whole.

        A session goes on with each of its groups; its newest reports are looked at until one brought progress.
        """
        if group is not None:
            return max(group.progress_seq, group.answered_seq)
        since = session.answered_seq
        found = self.connection.execute(SESSION_PROGRESS, {"session": session.id, "since": since}).fetchone()
        return int(found[0]) if found else since

    def newest_refusal(self, session: str, group: str | None, turn: int | None) -> str | None:
        """The code of what was last refused in the open turn."""
        row = self.connection.execute(NEWEST_REFUSAL, {"session": session, "group": group, "turn": turn}).fetchone()
        return row[0] if row else None

    def turn_refusals(self, session: str, group: str | None, turn: int | None, role: str, most: int) -> int:
        """How often a role was refused in the open turn, failing gates aside, which have a limit of their own; not more
        than `most` are counted.
        """
        return self.count(TURN_REFUSALS, session=session, group=group, turn=turn, role=role, most=most)

    def clarifications(self, session: Session) -> int:
        """Clarifications that were asked for since the last answer."""
        return self.count(CLARIFICATIONS, session=session.id, since=session.answered_seq)

    def soft_stops(self, session: Session, group: Group | None, most: int) -> list[tuple[str, int | None]]:
        """Type and finished phases of the soft blockers since progress or an answer, newest first, so many at most."""
        since = self.progress(session, group)
        parameters = {"session": session.id, "group": group and group.id, "since": since, "most": most}
        return [tuple(row) for row in self.connection.execute(SOFT_STOPS, parameters)]

    def manager_turns(self, session: Session) -> tuple[int, ...]:
        """The open turns of the project manager in this session."""
        turns = [row[0] for row in self.connection.execute(MANAGER_TURNS, {"session": session.id})]
        if session.awaited_role == "project_manager" and session.turn:
            turns.append(session.turn)
        return tuple(turns)

    def handed_on(self, session: str, group: str | None, reported: str | None, names: tuple[str, ...]) -> HandedOn:
        """What an agent that starts is handed on.

        Args:
            group: its group; None for the session as a whole.
            reported: the group whose reports gave the context items, or else the session's.
            names: the context items.
        """
        parameters = (session, group, reported or "", *names) if names else (session, group)
        standing, tasks, *items = self.connection.execute(_handed_on(len(names)), parameters).fetchone()
        reports = sorted(map(int, standing.split(",")), reverse=True) if standing else []
        return HandedOn(reports, items, bool(tasks))

    def has_open_groups(self, session: str) -> bool:
        """Whether a group of the session is neither completed, deferred nor cancelled."""
        return self.one(OPEN_GROUP, session=session) is not None

    def in_progress(self, session: str, kind: str) -> tuple[str, ...]:
        """Ids of the groups of a kind that are in progress, in order of creation."""
        rows = self.connection.execute(IN_PROGRESS, {"session": session, "kind": kind})
        return tuple(row[0] for row in rows)

    def path(self, session: str, group: str) -> Path:
        """The group's completion path as the view answers it now."""
        row = self.connection.execute(PATH, {"session": session, "group": group}).fetchone()
        return Path(bool(row[0]), bool(row[1]), bool(row[2]), bool(row[3]), row[4]) if row else NO_PATH

    def board(
        self, session: Session, limit: int, research_limit: int, know: Callable[..., object] | None = None
    ) -> free_slots.Board:
        """The session's groups in numbers, with those that could start in free slots.

        Args:
            know: takes in the whole row of each group that could start, as `Step.know` does.
        """
        row = self.connection.execute(BOARD, {"session": session.id}).fetchone()
        running, research, held, pending, others, person, manager = row
        room = max(0, limit - running - held)
        left = max(0, research_limit - research)
        rows = self._startable(session.id, room, left) if pending and room else ()
        if know is not None:
            for group, whole in rows:
                know("task_groups", (group.id,), whole)
        startable = tuple([group for group, _ in rows])
        return free_slots.Board(
            limit, running, research, held, startable, bool(pending), bool(others), bool(person), bool(manager),
            session.awaited_role,
        )

    def _startable(self, session: str, room: int, research_room: int) -> list[tuple[Group, list[Any]]]:
        """The first pending groups that nothing keeps back, with their rows; the rows behind them are not read."""
        found: list[tuple[Group, list[Any]]] = []
        for packed_row, depends in self.connection.execute(PENDING, {"session": session}):
            columns = canonical_json.values(packed_row)
            group = Group(*_OF_GROUP(columns))
            research = group.kind == "research"
            if (research and not research_room) or (depends and self.open_dependencies(session, group.id)):
                continue
            found.append((group, columns))
            research_room -= research
            if len(found) == room:
                break
        return found


def _session(columns: Sequence[Any]) -> Session:
    found = list(columns)
    found[_DISABLED] = tuple(found[_DISABLED].split(",")) if found[_DISABLED] else ()
    return Session(*found)
