"""Events of all sessions in the order in which they were committed, each with the decisions of its step.

The number of an event is that of its row. Rows are only added, so that a number stays what it is, and a larger one is
later whatever the clock said.
"""

from __future__ import annotations

import sqlite3
from typing import Any

_LAST = "SELECT coalesce(max(rowid), 0) FROM audit_events"
_AFTER = """SELECT rowid, session_id, seq, kind, actor, at FROM audit_events
    WHERE rowid > :after ORDER BY rowid LIMIT :limit"""
_DECISIONS = """SELECT group_id, current_agent, response_status, next_agent, action FROM router_decisions
    WHERE session_id = :session AND seq = :seq ORDER BY part"""
_NAMES = ("number", "session_id", "seq", "kind", "actor", "at")
_OF_DECISION = ("group_id", "current_agent", "response_status", "next_agent", "action")


def last(connection: sqlite3.Connection) -> int:
    """The number of the newest event; 0 where there is none."""
    return int(connection.execute(_LAST).fetchone()[0])


def after(connection: sqlite3.Connection, number: int, limit: int) -> list[dict[str, Any]]:
    """The events behind a number: number, session_id, seq, kind, actor, at, decisions."""
    rows = connection.execute(_AFTER, {"after": number, "limit": limit}).fetchall()
    found = [dict(zip(_NAMES, row, strict=True)) for row in rows]
    for event in found:
        asked = {"session": event["session_id"], "seq": event["seq"]}
        decisions = connection.execute(_DECISIONS, asked).fetchall()
        event["decisions"] = [dict(zip(_OF_DECISION, row, strict=True)) for row in decisions]
    return found

