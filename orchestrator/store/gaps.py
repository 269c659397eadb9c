"""Where the record of a session is not whole: reports without decisions, spawns that nobody ended, missing steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

_UNDECIDED = """SELECT r.id FROM agent_reports r WHERE r.session_id = :session AND NOT EXISTS (
    SELECT 1 FROM router_decisions d INDEXED BY sqlite_autoindex_router_decisions_1
    WHERE d.session_id = r.session_id AND d.seq = r.seq AND d.part = 1 AND d.report_id = r.id) ORDER BY r.seq"""
_UNREPORTED = """SELECT d.id FROM router_decisions d WHERE d.session_id = :session AND d.report_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1
    WHERE r.session_id = d.session_id AND r.seq = d.seq AND r.part = 1) ORDER BY d.seq, d.part"""
_STEPS = "SELECT count(*), max(seq) FROM audit_events WHERE session_id = :session"
_MISSING_STEP = """SELECT e.seq + 1 FROM audit_events e WHERE e.session_id = :session AND NOT EXISTS (
    SELECT 1 FROM audit_events n WHERE n.session_id = e.session_id AND n.seq = e.seq + 1) ORDER BY e.seq LIMIT 1"""
_SPAWNS = """SELECT h.turn, h.group_id, h.agent_id, a.role FROM handoffs h LEFT JOIN agents a ON a.id = h.agent_id
    WHERE h.session_id = :session ORDER BY h.turn, h.rowid"""
_ANSWERS = """SELECT DISTINCT coalesce(group_id, ''), turn FROM agent_reports
    WHERE session_id = :session AND turn IS NOT NULL"""
_LAST_OF_MANAGER = "SELECT max(seq) FROM agent_reports WHERE session_id = :session AND role = 'project_manager'"
_LAST_DECISIONS = """SELECT coalesce(group_id, ''), max(seq)
    FROM router_decisions INDEXED BY idx_router_decisions_session WHERE session_id = :session GROUP BY group_id"""
_SCOPES = """SELECT id, status, turn, status_seq FROM task_groups WHERE session_id = :session
    UNION ALL SELECT '', status, turn, status_seq FROM sessions WHERE id = :session"""


class Gap(NamedTuple):
    """Something that is missing: what it is about, and what is missing."""

    subject: str
    text: str


def found(connection: sqlite3.Connection, session: str) -> Iterator[Gap]:
    """Every gap of a session's record."""
    key = {"session": session}
    for (report,) in connection.execute(_UNDECIDED, key):
        yield Gap(report, "the report has no decision")
    for (decision,) in connection.execute(_UNREPORTED, key):
        yield Gap(decision, "the decision names a report that does not exist")
    count, last = connection.execute(_STEPS, key).fetchone()
    if count != (last or 0):
        row = connection.execute(_MISSING_STEP, key).fetchone()
        yield Gap(session, f"of {last} steps {count} are on record; step {row[0] if row else 1} is missing")
    yield from _unended(connection, key)


def _unended(connection: sqlite3.Connection, key: dict[str, str]) -> Iterator[Gap]:
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
            yield Gap(group or key["session"], f"{agent} was started in turn {turn}, and nothing tells how that ended")


def _stands(scope: Any, turn: int) -> bool:
    """Whether a turn is still open, or was closed with its group or session."""
    if scope is None:
        return False
    status, open_turn, status_seq = scope
    return bool(open_turn == turn or (status not in ("in_progress", "active", "paused") and status_seq >= turn))
