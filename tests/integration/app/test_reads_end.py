"""No call leaves a read open: a step after it on the same connection would be BUSY however long it waits."""

from __future__ import annotations

import gc
import pathlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.app.kernel import operations
from orchestrator.app.verdict import validate_session
from orchestrator.errors import OrchestratorError
from tests.integration.app import desk, story
from tests.integration.app.desk import Clock, Desk

ENDED = "S1"
GIVEN = {"id": "A", "group_id": "A", "task_id": "T1", "status": "blocked", "name": "A", "format": "jsonl"}
"""What is asked about, where an operation asks about anything else than a session."""


@pytest.fixture
def no_collection() -> Iterator[None]:
    """What a cycle of references holds stays held, as it does until the next collection."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def may_write(connection: sqlite3.Connection, path: pathlib.Path) -> bool:
    """Whether a step can begin on a connection after somebody else has committed one."""
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        (version,) = other.execute("PRAGMA user_version").fetchone()
        other.execute(f"PRAGMA user_version = {version}")
        other.execute("COMMIT")
    other.close()
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    connection.execute("ROLLBACK")
    return True


@pytest.mark.sqlite("an open read is told by who may write beside it")
def test_a_read_that_is_left_open_is_found(tmp_path: pathlib.Path, no_collection: None) -> None:
    team = Desk(tmp_path)
    cursor = team.context.connection.execute("SELECT * FROM audit_events")
    assert not may_write(team.context.connection, team.path)
    cursor.close()
    assert may_write(team.context.connection, team.path)


@pytest.mark.sqlite("an open read is told by who may write beside it")
def test_no_operation_that_reads_leaves_a_read_open(tmp_path: pathlib.Path, no_collection: None) -> None:
    path = story.written(tmp_path)
    context = desk._context(path, Clock())
    answered, left = 0, list[tuple[str, str]]()
    for words, request in operations.every().items():
        if request.is_writing or words.startswith("install "):
            continue
        for session in (story.BLOCKED, story.WORK):
            known = {"session_id": session, **GIVEN, **({"id": session} if words.startswith("session ") else {})}
            problem: Any = None
            try:
                operations.call(context, words, **{name: known[name] for name in request.parameters() if name in known})
                answered += 1
            except (OrchestratorError, TypeError, KeyError) as found:
                # Whoever is told of it holds where it came from.
                problem = found
            if not may_write(context.connection, path):
                left.append((words, session))
                gc.collect()
            del problem
    assert left == []
    assert answered >= 30


def test_a_verdict_leaves_no_read_open(
    tmp_path: pathlib.Path, no_collection: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = Desk(tmp_path)
    team.planned(ENDED, "A")
    team.report("developer READY_FOR_QA,qa_expert PASS,tech_lead APPROVED,developer MERGE_SUCCESS", "A")
    for id_ in ("T1", "T2", "T3"):
        # What came after the completion is not read to its end.
        team.call("task create", id=id_, title=id_, session_id=ENDED)
        team.call("task set-status", id=id_, status="cancelled", session_id=ENDED, by="project_manager", reason="x")
    team.report("project_manager BAZINGA")
    seen: list[bool] = []

    def judged(*given: Any) -> Any:
        # The step that records the verdict begins right after what it rests on was read.
        seen.append(may_write(team.context.connection, team.path))
        return perform(*given)

    perform = validate_session.perform
    monkeypatch.setattr(validate_session, "perform", judged)
    assert team.call("validate", session_id=ENDED)["recorded"]
    assert seen == [True]
    assert may_write(team.context.connection, team.path)
