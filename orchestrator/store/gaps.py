"""Where the record of a session is not whole: reports without decisions, spawns without an end, steps, moves.

Every statement walks an index once, and what is held in memory grows with the groups and spawns, so the time grows
with the record.
"""

from __future__ import annotations

import itertools
import operator
import sqlite3
from collections.abc import Iterator
from typing import Any

from orchestrator.core.tuples import NamedTuple

UNDECIDED = "report_without_decision"
UNREPORTED = "decision_without_report"
MISSING_STEP = "missing_step"
UNENDED = "spawn_without_report"
UNCAUSED = "move_without_cause"
KINDS = (MISSING_STEP, UNDECIDED, UNREPORTED, UNENDED, UNCAUSED)
"""The kinds of gaps, in the order in which those of one step are told."""

_UNDECIDED = """SELECT r.seq, r.id, r.group_id, r.role, r.agent_id, r.response_status FROM agent_reports r
    WHERE r.session_id = :session AND NOT EXISTS (
    SELECT 1 FROM router_decisions d INDEXED BY sqlite_autoindex_router_decisions_1
    WHERE d.session_id = r.session_id AND d.seq = r.seq AND d.part = 1 AND d.report_id = r.id) ORDER BY r.seq"""
_UNREPORTED = """SELECT d.seq, d.id, d.group_id, d.current_agent, NULL, d.response_status FROM router_decisions d
    WHERE d.session_id = :session AND d.report_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1
    WHERE r.session_id = d.session_id AND r.seq = d.seq AND r.part = 1) ORDER BY d.seq, d.part"""
_STEPS = "SELECT count(*), max(seq) FROM audit_events WHERE session_id = :session"
_MISSING_STEP = """SELECT e.seq + 1 FROM audit_events e WHERE e.session_id = :session AND NOT EXISTS (
    SELECT 1 FROM audit_events n WHERE n.session_id = e.session_id AND n.seq = e.seq + 1) ORDER BY e.seq LIMIT 1"""
_FIRST_STEP = "SELECT 1 FROM audit_events WHERE session_id = :session AND seq = 1"
_SPAWNS = """SELECT h.turn, h.group_id, h.agent_id, a.role FROM handoffs h LEFT JOIN agents a ON a.id = h.agent_id
    WHERE h.session_id = :session ORDER BY h.turn, h.rowid"""
_ANSWERS = """SELECT DISTINCT coalesce(group_id, ''), turn FROM agent_reports
    WHERE session_id = :session AND turn IS NOT NULL"""
_LAST_OF_MANAGER = "SELECT max(seq) FROM agent_reports WHERE session_id = :session AND role = 'project_manager'"
_LAST_DECISIONS = """SELECT coalesce(group_id, ''), max(seq)
    FROM router_decisions INDEXED BY idx_router_decisions_session WHERE session_id = :session GROUP BY group_id"""
_SCOPES = """SELECT id, status, turn, status_seq FROM task_groups WHERE session_id = :session
    UNION ALL SELECT '', status, turn, status_seq FROM sessions WHERE id = :session"""
_MOVES = """SELECT c.entity_id, c.seq, c.from_status, c.to_status, c.changed_by, a.role,
    EXISTS (SELECT 1 FROM audit_events e WHERE e.session_id = c.session_id AND e.seq = c.seq)
    FROM status_changes c INDEXED BY ix_status_changes_entity LEFT JOIN agents a ON a.id = c.changed_by
    WHERE c.session_id = :session AND c.entity = :entity ORDER BY c.entity_id, c.seq, c.part"""
_GROUPS = """SELECT g.id, g.status, g.status_seq, g.status_changed_by, a.role, g.created_seq, 'pending', e.kind, g.id
    FROM task_groups g LEFT JOIN agents a ON a.id = g.status_changed_by
    LEFT JOIN audit_events e ON e.session_id = g.session_id AND e.seq = g.created_seq
    WHERE g.session_id = :session ORDER BY g.id"""
_SESSION = """SELECT s.id, s.status, s.status_seq, s.status_changed_by, a.role, 1, 'active', e.kind, NULL
    FROM sessions s LEFT JOIN agents a ON a.id = s.status_changed_by
    LEFT JOIN audit_events e ON e.session_id = s.id AND e.seq = 1 WHERE s.id = :session"""
# A task begins with a recorded change from nothing.
_TASKS = """SELECT t.id, t.status, t.status_seq, t.status_changed_by_agent_id, a.role, t.created_seq, NULL, e.kind,
    t.group_id
    FROM tasks t LEFT JOIN agents a ON a.id = t.status_changed_by_agent_id
    LEFT JOIN audit_events e ON e.session_id = t.session_id AND e.seq = t.created_seq
    WHERE t.session_id = :session ORDER BY t.id"""
_IMPORT = "import "
"""How the kinds of steps begin that bring groups and sessions in with the status that they had elsewhere."""

STATEMENTS = {
    name: sql for name, sql in list(globals().items()) if isinstance(sql, str) and sql.lstrip().startswith("SELECT")
}
"""All statements by name; each takes the session, and `_MOVES` the entity too."""


class Gap(NamedTuple):
    """Something that is missing: what it is about, and what is missing."""

    subject: str
    text: str


class Break(NamedTuple):
    """A gap with what it can be asked for by.

    kind: one of `KINDS`; seq: the step at which something is missing; role, agent_id: who reported, was started or
    moved something; status: what was reported, or which status was reached.
    """

    kind: str
    seq: int
    subject: str
    group_id: str | None
    role: str | None
    agent_id: str | None
    status: str | None
    text: str


class _Standing(NamedTuple):
    """A group, task or session as it is now, and how it began: by which kind of step, in which, with which status."""

    id: str
    status: str
    status_seq: int
    changed_by: str | None
    role: str | None
    created_seq: int
    first: str | None
    born: str | None
    group_id: str | None


class _Move(NamedTuple):
    """One recorded change of a status, and whether its step is on record."""

    entity_id: str
    seq: int
    from_status: str | None
    to_status: str
    changed_by: str
    role: str | None
    known: int


def found(connection: sqlite3.Connection, session: str) -> Iterator[Gap]:
    """Every gap of a session's record between reports, decisions, spawns and steps."""
    for each in _of_turns(connection, session):
        yield Gap(each.subject, each.text)


def breaks(connection: sqlite3.Connection, session: str) -> Iterator[Break]:
    """What `found` finds, and every move of a group, a task or the session that its record does not lead to."""
    yield from _of_turns(connection, session)
    for entity, sql in (("group", _GROUPS), ("task", _TASKS), ("session", _SESSION)):
        yield from _uncaused(connection, session, entity, sql)


def _of_turns(connection: sqlite3.Connection, session: str) -> Iterator[Break]:
    key = {"session": session}
    for row in connection.execute(_UNDECIDED, key):
        yield Break._make((UNDECIDED, *row, "the report has no decision"))
    for row in connection.execute(_UNREPORTED, key):
        yield Break._make((UNREPORTED, *row, "the decision names a report that does not exist"))
    count, last = connection.execute(_STEPS, key).fetchone()
    if count != (last or 0):
        missing = _missing_step(connection, key)
        text = f"of {last} steps {count} are on record; step {missing} is missing"
        yield Break(MISSING_STEP, missing, session, None, None, None, None, text)
    yield from _unended(connection, key)


def _missing_step(connection: sqlite3.Connection, key: dict[str, str]) -> int:
    if connection.execute(_FIRST_STEP, key).fetchone() is None:
        return 1
    return int(connection.execute(_MISSING_STEP, key).fetchone()[0])


def _unended(connection: sqlite3.Connection, key: dict[str, str]) -> Iterator[Break]:
    """Spawns without an end: no answer, no later decision, no longer open, and not closed with their group."""
    answers = set(connection.execute(_ANSWERS, key))
    last_of_manager = connection.execute(_LAST_OF_MANAGER, key).fetchone()[0] or 0
    decisions = dict(connection.execute(_LAST_DECISIONS, key))
    scopes = {row[0]: row[1:] for row in connection.execute(_SCOPES, key)}
    spawns = connection.execute(_SPAWNS, key).fetchall()
    newest = {group: turn for turn, group, *_ in spawns}
    for turn, group, agent, role in spawns:
        answered = (group, turn) in answers or (role == "project_manager" and last_of_manager > turn)
        superseded = max(newest[group], decisions.get(group, 0)) > turn
        if not (answered or superseded or _stands(scopes.get(group), turn)):
            text = f"{agent} was started in turn {turn}, and nothing tells how that ended"
            yield Break(UNENDED, turn, group or key["session"], group or None, role, agent, None, text)


def _stands(scope: Any, turn: int) -> bool:
    """Whether a turn is still open, or was closed with its group or session."""
    if scope is None:
        return False
    status, open_turn, status_seq = scope
    return bool(open_turn == turn or (status not in ("in_progress", "active", "paused") and status_seq >= turn))


def _uncaused(connection: sqlite3.Connection, session: str, entity: str, sql: str) -> Iterator[Break]:
    """Of the groups, the tasks, or the session: what does not follow from one recorded change after the other."""
    standings = {row[0]: _Standing(*row) for row in connection.execute(sql, {"session": session})}
    moves = map(_Move._make, connection.execute(_MOVES, {"session": session, "entity": entity}))
    for id_, chain in itertools.groupby(moves, operator.attrgetter("entity_id")):
        yield from _broken(entity, id_, standings.pop(id_, None), chain)
    for id_, standing in standings.items():
        yield from _broken(entity, id_, standing, iter(()))


def _broken(entity: str, id_: str, standing: _Standing | None, moves: Iterator[_Move]) -> Iterator[Break]:
    group = standing.group_id if standing else id_ if entity == "group" else None
    # What came in from elsewhere began with whatever status it had there.
    known = standing is not None and not (standing.born or "").startswith(_IMPORT)
    status = standing.first if standing and known else None
    seq = standing.created_seq if standing else 0
    for move in moves:
        for text in _move_faults(f"{entity} {id_}", move, status, seq, known=known):
            yield Break(UNCAUSED, move.seq, id_, group, move.role, move.changed_by, move.to_status, text)
        status, seq, known = move.to_status, move.seq, True
    if standing is None:
        text = f"status changes tell of {entity} {id_}, which does not exist"
        yield Break(UNCAUSED, seq, id_, group, None, None, status, text)
    elif standing.status_seq != seq or (known and standing.status != status):
        text = (
            f"{entity} {id_} is {standing.status} since step {standing.status_seq}, and no recorded change leads there:"
            f" the last one is {(status or 'its creation') if known else 'its import'} in step {seq}"
        )
        about = (standing.role, standing.changed_by, standing.status)
        yield Break(UNCAUSED, standing.status_seq, id_, group, *about, text)


def _move_faults(what: str, move: _Move, status: str | None, seq: int, *, known: bool) -> Iterator[str]:
    if known and move.from_status != status:
        said = f"go from {move.from_status} to {move.to_status}" if move.from_status else f"begin as {move.to_status}"
        yield f"{what} is said to {said}, but {f'was {status} since' if status else 'was not before'} step {seq}"
    if not move.known:
        yield f"{what} went to {move.to_status} in step {move.seq}, which is not on record"
