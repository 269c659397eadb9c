"""Databases as a peer keeps them, made up for tests: the same tables, and the shape of the incident."""

from __future__ import annotations

import pathlib
import sqlite3
from collections.abc import Iterable
from typing import Any

TABLES = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP, description TEXT);
CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY, start_time TIMESTAMP, end_time TIMESTAMP, mode TEXT, original_requirements TEXT,
    status TEXT DEFAULT 'active', initial_branch TEXT DEFAULT 'main', metadata TEXT, created_at TIMESTAMP
);
CREATE TABLE task_groups (
    id TEXT NOT NULL, session_id TEXT NOT NULL, name TEXT, status TEXT DEFAULT 'pending', assigned_to TEXT,
    revision_count INTEGER DEFAULT 0, last_review_status TEXT, merge_status TEXT, complexity INTEGER,
    initial_tier TEXT DEFAULT 'Developer', security_sensitive INTEGER DEFAULT 0, qa_attempts INTEGER DEFAULT 0,
    tl_review_attempts INTEGER DEFAULT 0, updated_at TIMESTAMP, PRIMARY KEY (id, session_id)
);
CREATE TABLE success_criteria (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, criterion TEXT NOT NULL,
    status TEXT DEFAULT 'pending', actual TEXT, evidence TEXT, required_for_completion BOOLEAN DEFAULT 1
);
CREATE TABLE orchestration_logs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, timestamp TIMESTAMP, iteration INTEGER,
    agent_type TEXT NOT NULL, agent_id TEXT, content TEXT NOT NULL, log_type TEXT DEFAULT 'interaction', group_id TEXT,
    event_subtype TEXT, event_payload TEXT
);
CREATE TABLE token_usage (id INTEGER PRIMARY KEY, session_id TEXT, tokens_estimated INTEGER);
INSERT INTO schema_version VALUES (19, '2026-01-01', 'the newest');
"""
INCIDENT = "trip_1"
ENDED = "trip_0"


def create(path: pathlib.Path, script: str = TABLES) -> sqlite3.Connection:
    """A database with these tables, open for more."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(script)
    return connection


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        names, places = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", list(row.values()))


def group(id: Any, status: Any, session: Any = INCIDENT, **more: Any) -> dict[str, Any]:
    return {"id": id, "session_id": session, "name": f"name of {id}", "status": status, **more}


def log(agent: str, content: Any, session: Any = INCIDENT, **more: Any) -> dict[str, Any]:
    return {"session_id": session, "timestamp": "2026-01-01 10:00:00", "agent_type": agent, "content": content, **more}


def incident(path: pathlib.Path) -> pathlib.Path:
    """Two groups that were completed while blocked, two at work, one blocked, one pending; and a session that ended."""
    connection = create(path)
    insert(connection, "sessions", (
        {"session_id": INCIDENT, "mode": "parallel", "original_requirements": "book trips", "status": "active"},
        {"session_id": ENDED, "mode": "simple", "original_requirements": "a link", "status": "completed"},
    ))
    insert(connection, "task_groups", (
        group("MAPS", "in_progress", assigned_to="developer_1", last_review_status="CHANGES_REQUESTED",
              tl_review_attempts=1, complexity=4),
        group("PAY", "in_progress", assigned_to="developer_2", qa_attempts=1, security_sensitive=1),
        group("E2E-A", "completed", updated_at="2026-01-01 10:00:03"),
        group("E2E-B", "completed", updated_at="2026-01-01 10:00:04"),
        group("MAIL", "failed"),
        group("HELP", "pending"),
        group("only", "completed", ENDED),
    ))
    insert(connection, "success_criteria", (
        {"session_id": INCIDENT, "criterion": "the tests pass"},
        {"session_id": INCIDENT, "criterion": "a map is shown", "status": "met", "evidence": "map.png"},
    ))
    insert(connection, "orchestration_logs", (
        log("developer", "Group MAPS: READY_FOR_QA"),
        log("tech_lead", "Group MAPS: CHANGES_REQUESTED, not APPROVED"),
        log("qa_expert", "Group PAY: FAIL, no button"),
        log("qa_expert", "Group E2E-A: BLOCKED, no browser"),
        log("orchestrator", "E2E-A: environment blocker, marking complete"),
        log("qa_expert", "BLOCKED, no browser", group_id="E2E-B"),
        log("orchestrator", "E2E-B: environment blocker, marking complete", group_id="E2E-B"),
        log("system", "Event: pm_bazinga", log_type="event", group_id="global", event_payload="{}"),
        log("developer", "READY_FOR_REVIEW", ENDED),
        log("tech_lead", "APPROVED", ENDED),
        log("developer", "MERGE_SUCCESS", ENDED),
    ))
    insert(connection, "token_usage", ({"session_id": INCIDENT, "tokens_estimated": 5},))
    connection.close()
    return path
