"""The work that durable routes are measured with: many groups, each brought from its first report to its merge.

Every group sees each report once, so no loop guard fires; every fourth step also completes a group and starts the
next one, as in a session that runs.
"""

from __future__ import annotations

import pathlib
import sqlite3
from collections.abc import Iterable
from typing import Any

from orchestrator import bootstrap, testing
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.core import canonical_json
from orchestrator.store import constants, sqlite

STEPS = (
    ("developer", "READY_FOR_QA", "implemented, unit tests pass"),
    ("qa_expert", "PASS", "all scenarios pass"),
    ("tech_lead", "APPROVED", "no findings"),
    ("developer", "MERGE_SUCCESS", "merged"),
)
PAGE_SIZE = 4096
"""Bytes of a page in a file that `init` makes: SQLite's own choice."""
RUNNING = 4
"""How many groups the shipped workflow runs at a time; so many must stay behind the one that reports."""

Call = dict[str, Any]


def calls(session: str, groups: int, prefix: str = "G") -> list[Call]:
    """The arguments of every `route` in order: four for each group."""
    return [
        {"session_id": session, "group_id": f"{prefix}{number:06d}", "current_agent": role, "status": status,
         "summary": summary}
        for number in range(groups)
        for role, status, summary in STEPS
    ]  # fmt: skip


def groups_for(steps: int) -> int:
    """How many groups so many steps need."""
    return -(-steps // len(STEPS))


def populate(context: Context, session: str, groups: int, prefix: str = "G", *, create: bool = True) -> None:
    """A session with pending groups and a plan that starts the first of them."""
    if create:
        operations.call(context, "session create", id=session, goal="measured")
    for number in range(groups + RUNNING):
        operations.call(context, "group create", id=f"{prefix}{number:06d}", session_id=session, name="one change")
    operations.call(
        context, "route", session_id=session, current_agent="project_manager", status="PLANNING_COMPLETE", summary="go"
    )


def content(sessions: Iterable[str], groups: int) -> bytes:
    """A database with sessions that are ready for their calls."""
    context = testing.memory_context(bootstrap.now)
    for session in sessions:
        populate(context, session, groups)
    serialised: bytes = context.connection.serialize()
    return serialised


def write(path: pathlib.Path, database: bytes) -> pathlib.Path:
    """Put a serialised database into a file as `init` would leave it: recognised, and in WAL mode."""
    path.write_bytes(database)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA user_version={constants.SCHEMA_VERSION}")
    connection.execute(f"PRAGMA application_id={constants.APPLICATION_ID}")
    # What is made in memory was never migrated.
    connection.create_function(constants.WRITE_FUNCTION, 0, lambda: 1)
    connection.execute("INSERT INTO alembic_version VALUES (?)", (f"{constants.SCHEMA_VERSION:04}",))
    # Databases of tests have small pages, to be serialised quickly.
    connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
    connection.execute("VACUUM")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    return path


def open_file(path: pathlib.Path, synchronous: str = "FULL", *, write: bool = True) -> Context:
    """A context on a file, as doors of processes that stay make it."""
    canonical_json.quicken()
    connection = sqlite.connect(path, write=write, synchronous=synchronous)
    return Context(
        connection, path=str(path), clock=bootstrap.now, door="python", channel="process", deadline_s=sqlite.DEADLINE_S
    )


def in_memory(database: bytes) -> Context:
    """A context on a copy of a serialised database."""
    return testing.memory_context(bootstrap.now, content=database)


def route(context: Context, call: Call) -> dict[str, Any]:
    """One report, in process, at the time that it names."""
    given = dict(call)
    at = given.pop("at", None)
    if at is not None:
        context.clock = lambda: str(at)
    return operations.call(context, "route", **given)
