"""What `audit blockers` and `audit stats` ask of the record: one statement each, which walks an index once.

An absent filter is null and filters nothing; ids are compared as whole values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from orchestrator.hints import Any
from orchestrator.store import queries

OPEN, RESOLVED = "open", "resolved"
BLOCKER_STATUSES = (OPEN, RESOLVED)



def _number(document: str, name: str) -> str:
    """A number of a JSON document as one; a server would give it as text."""
    return f"CAST(json_extract({document}, '$.{name}') AS INTEGER)"


_SPAN = "session_id = :session AND seq > :since AND seq <= :until"
_GROUP = "(:group IS NULL OR group_id = :group)"

REPORTS = f"""SELECT seq, coalesce(group_id, ''), role, agent_id, response_status, effect, turn, reported_at,
    CASE WHEN details LIKE '%"usage"%' THEN details END,
    EXISTS (SELECT 1 FROM router_decisions d INDEXED BY sqlite_autoindex_router_decisions_1
        WHERE d.session_id = agent_reports.session_id AND d.seq = agent_reports.seq AND d.part = 1
        AND d.cause = 'question')
    FROM agent_reports INDEXED BY sqlite_autoindex_agent_reports_1 WHERE {_SPAN} AND {_GROUP} ORDER BY seq"""
"""Reports in order; their details only where they may speak of usage, and whether a person let them go on."""
TURNS = """SELECT h.turn, h.group_id, coalesce(a.role, ''), e.at
    FROM handoffs h LEFT JOIN agents a ON a.id = h.agent_id
    JOIN audit_events e ON e.session_id = h.session_id AND e.seq = h.turn
    WHERE h.session_id = :session AND h.turn > :since AND h.turn <= :until
    AND (:group IS NULL OR (h.group_id = :group AND h.group_id <> '')) ORDER BY h.turn, h.group_id"""
"""Turns in order: of which group (none: the session), for which role, given out when."""
CLOSINGS = f"""SELECT seq, CASE entity WHEN 'group' THEN entity_id END, changed_at FROM status_changes
    WHERE {_SPAN} AND ((entity = 'group' AND to_status <> 'in_progress' AND (:group IS NULL OR entity_id = :group))
    OR (entity = 'session' AND to_status = 'ended')) ORDER BY seq, part"""
"""When groups stopped being in progress, and when the session (null) ended, in order."""
DECISIONS = f"""SELECT rules FROM router_decisions INDEXED BY sqlite_autoindex_router_decisions_1
    WHERE {_SPAN} AND {_GROUP} AND rules <> '[]'"""
REFUSALS = f"""SELECT code, count(*) FROM refusals INDEXED BY sqlite_autoindex_refusals_1
    WHERE {_SPAN} AND {_GROUP} GROUP BY code ORDER BY code"""
QUESTIONS = f"""SELECT asked_at, CASE WHEN closed_seq <= :until THEN closed_at END
    FROM questions INDEXED BY ix_questions_session
    WHERE session_id = :session AND opened_seq > :since AND opened_seq <= :until AND {_GROUP}"""
TASKS = f"""SELECT c.entity, c.from_status IS NULL, CASE c.entity WHEN 'task' THEN c.to_status END, count(*)
    FROM status_changes c
    WHERE {_SPAN} AND c.entity IN ('task', 'task_claim') AND (:group IS NULL OR EXISTS (SELECT 1 FROM tasks t
        WHERE t.session_id = c.session_id AND t.id = c.entity_id AND t.group_id = :group))
    GROUP BY 1, 2, 3"""
"""How many tasks were created, moved to which status, and taken over from who had claimed them."""
STARTS = """SELECT s.seq, s.role, nullif(s.group_id, ''), s.via, s.outcome, s.started_at, s.ended_at,
    (SELECT min(r.reported_at) FROM agent_reports r INDEXED BY ix_agent_reports_group WHERE r.session_id = s.session_id
        AND r.group_id IS nullif(s.group_id, '') AND r.role = s.role AND r.turn = s.turn AND r.seq > s.seq),
    s.turn = CASE s.group_id WHEN '' THEN (SELECT turn FROM sessions WHERE id = s.session_id) ELSE
        (SELECT turn FROM task_groups g WHERE g.session_id = s.session_id AND g.id = s.group_id) END
    FROM starts s INDEXED BY sqlite_autoindex_starts_1 WHERE s.session_id = :session AND s.seq > :since
    AND s.seq <= :until AND (:group IS NULL OR s.group_id = :group) ORDER BY s.role, s.group_id, s.via"""
"""Starts of agents: role, group (none: the session), by whom, how it ended, from when until when (by itself, by its
report), and whether its turn is the one that is awaited."""
USAGE = f"""SELECT CAST(subject AS INTEGER), {_number("content", "input_tokens")},
    {_number("content", "output_tokens")}, {_number("content", "cost_microusd")}
    FROM evidence INDEXED BY sqlite_autoindex_evidence_1 WHERE session_id = :session AND seq > :since
    AND kind = 'usage' ORDER BY seq"""
"""What the agents of starts have used, as their clients count it, by the step of the start."""
TURN_RUNS = f"""SELECT role, group_id, count(*), ifnull(sum(coalesce({_number("usage", "duration_ms")},
        CAST(round((julianday(ended_at) - julianday(started_at)) * 86400000) AS INTEGER))), 0),
    ifnull(sum({_number("usage", "input_tokens")}), 0), ifnull(sum({_number("usage", "output_tokens")}), 0),
    ifnull(sum({_number("usage", "cost_microusd")}), 0) FROM turn_runs INDEXED BY ix_turn_runs_turn
    WHERE session_id = :session AND created_seq > :since AND created_seq <= :until AND {_GROUP}
    GROUP BY role, group_id ORDER BY role, group_id"""
"""What the driven turns used, by role and group: runs, milliseconds, tokens, millionths of a dollar."""
NEXT_STEP = "SELECT 1 FROM audit_events WHERE session_id = :session AND seq > :until LIMIT 1"
LAST_STEP = "SELECT at FROM audit_events WHERE session_id = :session AND seq <= :until ORDER BY seq DESC LIMIT 1"

_BLOCKER_INDEXES = {OPEN: "ix_blockers_open"}
_NEITHER = "b.resolved_seq IS NULL AND b.resolved_seq IS NOT NULL"
_BLOCKER_FILTERS = {None: "1", OPEN: "b.resolved_seq IS NULL", RESOLVED: "b.resolved_seq IS NOT NULL"}


def blockers(*, by_group: bool, status: str | None, descending: bool) -> str:
    """The statement for a list of blockers, by the step that opened them.

    Args:
        by_group: whether one group's are asked for.
        status: open or resolved; None for both, anything else matches nothing.
    """
    order = "DESC" if descending else "ASC"
    return f"""SELECT b.*, coalesce(b.opened_role, o.role) AS opened_role, r.role AS resolved_role,
        CASE WHEN b.resolved_seq IS NULL THEN '{OPEN}' ELSE '{RESOLVED}' END AS status, b.opened_seq AS seq
        FROM blockers b INDEXED BY {_BLOCKER_INDEXES.get(status or "", "ix_blockers_group")}
        LEFT JOIN agents o ON o.id = b.opened_by LEFT JOIN agents r ON r.id = b.resolved_by
        WHERE b.session_id = :session AND {"b.group_id = :group" if by_group else ":group IS NULL"}
        AND b.opened_seq > :since AND b.opened_seq <= :until AND {_BLOCKER_FILTERS.get(status, _NEITHER)}
        AND (:agent IS NULL OR :agent IN (b.opened_by, b.opened_role, o.role, b.resolved_by, r.role))
        ORDER BY b.opened_seq {order}, length(b.id) {order}, b.id {order} LIMIT :limit"""


def stream(connection: sqlite3.Connection, sql: str, **parameters: object) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement one by one, as they are asked for; a text that is stored nowhere matches nothing."""
    try:
        # Not `yield from`, which would close a cursor whose database may be closed by then.
        for row in connection.execute(sql, parameters):  # noqa: UP028
            yield row
    except UnicodeEncodeError:
        return


def last_moment(connection: sqlite3.Connection, session: str, until: int) -> str | None:
    """When the last step up to `until` was taken; None where no later step is on record."""
    key = {"session": session, "until": min(until, queries.LAST_SEQ)}
    if connection.execute(NEXT_STEP, key).fetchone() is None:
        return None
    row = connection.execute(LAST_STEP, key).fetchone()
    return str(row[0]) if row else None
