"""Chats that hold runs, page by page: what each began with, and where its newest run stands."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from orchestrator.hints import Any
from orchestrator.store.run_reader import Run

FIRST_PROMPT = 500
"""Characters of a chat's first prompt that a list of chats shows."""

# The newest run of each session is looked up by its index, so that a session costs the same however long it is.
_NEWEST = """(SELECT n.id FROM runs n INDEXED BY ix_runs_created WHERE n.session_id = s.id
    ORDER BY n.created_seq DESC LIMIT 1)"""
_FIRST = """(SELECT f.prompt FROM runs f INDEXED BY ix_runs_created WHERE f.session_id = s.id
    ORDER BY f.created_seq LIMIT 1)"""
_CHATS = f"FROM sessions s JOIN runs r ON r.session_id = s.id AND r.id = {_NEWEST} WHERE s.kind = 'chat'"
_IN_STATE = " AND (:state IS NULL OR r.state = :state)"
_COUNT = f"SELECT count(*) {_CHATS}{_IN_STATE}"
_PAGE = f"""SELECT s.id AS session_id, r.state, s.created_at, r.state_changed_at AS updated_at, {_FIRST} AS first_prompt
    {_CHATS}{_IN_STATE} ORDER BY r.state_changed_at DESC, s.id LIMIT :limit OFFSET :offset"""
_STATES = "SELECT state, count(*) FROM runs INDEXED BY ix_runs_created WHERE session_id = :session GROUP BY state"
_OF_SESSIONS = "FROM json_each(:sessions) s CROSS JOIN"
_OF_TURNS = f"{_OF_SESSIONS} turn_runs t INDEXED BY ix_turn_runs_turn ON t.session_id = s.value"
_EXECUTORS = f"""SELECT r.executor, r.verification_root {_OF_SESSIONS} runs r INDEXED BY ix_runs_created
    ON r.session_id = s.value UNION SELECT t.executor, t.root {_OF_TURNS}
    UNION SELECT t.executor, t.folder {_OF_TURNS}"""
_QUEUED = f"""SELECT {", ".join(f"r.{name}" for name in Run._fields)} FROM runs r INDEXED BY ix_runs_open
    JOIN audit_events b ON b.session_id = r.session_id AND b.seq = 1
    JOIN audit_events e ON e.session_id = r.session_id AND e.seq = r.state_seq
    WHERE r.ended_at IS NULL AND r.state = 'queued' AND r.id > :after
    AND r.verification_root NOT IN (SELECT value FROM json_each(:without))
    AND (b.channel = :channel OR e.channel IN (:channel, :page)) ORDER BY r.id LIMIT :limit"""


def count(connection: sqlite3.Connection, state: str | None) -> int:
    """How many chats hold runs, or have their newest run in a state."""
    return int(connection.execute(_COUNT, {"state": state}).fetchone()[0])


def page(connection: sqlite3.Connection, state: str | None, limit: int, offset: int) -> list[dict[str, Any]]:
    """Chats, the one whose newest run changed last first: session_id, state, created_at, updated_at, first_prompt."""
    cursor = connection.execute(_PAGE, {"state": state, "limit": limit, "offset": offset})
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def states(connection: sqlite3.Connection, session: str) -> dict[str, int]:
    """How many runs of a session are in each state."""
    return {row[0]: row[1] for row in connection.execute(_STATES, {"session": session})}


def executors(connection: sqlite3.Connection, sessions: Iterable[str]) -> list[tuple[str, str]]:
    """Who executed the runs of sessions, in the words of the record, and in which project or worktree."""
    return connection.execute(_EXECUTORS, {"sessions": json.dumps(sorted(sessions))}).fetchall()


def queued(
    connection: sqlite3.Connection, channel: str, page: str, *, after: str = "", without: Iterable[str] = (), limit: int
) -> list[Run]:
    """The queued runs of sessions that were begun through a channel, and those that it or a page queued elsewhere, the
    oldest first.

    Args:
        after: only those behind the run of this id.
        without: the projects whose runs are left out.
        limit: how many at most.
    """
    asked = {
        "channel": channel, "page": page, "after": after, "without": json.dumps(sorted(without)), "limit": limit
    }  # fmt: skip
    return [Run(*row) for row in connection.execute(_QUEUED, asked)]
