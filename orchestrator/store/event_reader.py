"""Events of all sessions in the order in which they were committed, each with the decisions and moves of its step.

The number of an event is that of its row. Rows are only added, so that a number stays what it is, and a larger one is
later whatever the clock said.
"""

from __future__ import annotations

import sqlite3

from orchestrator.hints import Any

_LAST = "SELECT coalesce(max(rowid), 0) FROM audit_events"
_AFTER = """SELECT rowid, session_id, seq, kind, actor, at FROM audit_events
    WHERE rowid > :after ORDER BY rowid LIMIT :limit"""
_DECISIONS = """SELECT group_id, current_agent, response_status, next_agent, action FROM router_decisions
    WHERE session_id = :session AND seq = :seq ORDER BY part"""
_CHANGES = """SELECT c.entity, c.entity_id, c.from_status, c.to_status, CASE c.entity
        WHEN 'group' THEN c.entity_id
        WHEN 'task' THEN (SELECT t.group_id FROM tasks t WHERE t.session_id = c.session_id AND t.id = c.entity_id)
        WHEN 'run' THEN (SELECT t.group_id FROM runs r JOIN tasks t ON t.session_id = r.session_id AND t.id = r.task_id
            WHERE r.session_id = c.session_id AND r.id = c.entity_id)
        WHEN 'turn' THEN (SELECT r.group_id FROM turn_runs r WHERE r.session_id = c.session_id AND r.id = c.entity_id)
        END
    FROM status_changes c WHERE c.session_id = :session AND c.seq = :seq
    AND c.entity IN ('session', 'group', 'task', 'run', 'turn') ORDER BY c.part"""
_NAMES = ("number", "session_id", "seq", "kind", "actor", "at")
_OF_CHANGE = ("entity", "id", "from", "to")
_OF_DECISION = ("group_id", "current_agent", "response_status", "next_agent", "action")


def last(connection: sqlite3.Connection) -> int:
    """The number of the newest event; 0 where there is none."""
    return int(connection.execute(_LAST).fetchone()[0])


def after(connection: sqlite3.Connection, number: int, limit: int) -> list[dict[str, Any]]:
    """The events behind a number.

    Returns:
        Of each number, session_id, seq, kind, actor, at; `decisions`; `changes`, what of session, groups, tasks,
        runs and turns moved, as entity, id, from, to; `group_ids`, the groups that any of this is about.
    """
    rows = connection.execute(_AFTER, {"after": number, "limit": limit}).fetchall()
    found = [dict(zip(_NAMES, row, strict=True)) for row in rows]
    for event in found:
        asked = {"session": event["session_id"], "seq": event["seq"]}
        decisions = connection.execute(_DECISIONS, asked).fetchall()
        changes = connection.execute(_CHANGES, asked).fetchall()
        event["decisions"] = [dict(zip(_OF_DECISION, row, strict=True)) for row in decisions]
        event["changes"] = [dict(zip(_OF_CHANGE, row[:-1], strict=True)) for row in changes]
        groups = (*(row[0] for row in decisions), *(row[-1] for row in changes))
        event["group_ids"] = list(dict.fromkeys(group for group in groups if group is not None))
    return found
