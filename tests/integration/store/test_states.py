"""Rows that may change are covered by the event of every step that changes them, as that step left them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app.kernel import operations
from orchestrator.store import step

AT = "2026-01-01T00:00:00.000000Z"
VIA = ("test", "tester", "cli")


@pytest.fixture
def session() -> sqlite3.Connection:
    context = testing.memory_context(lambda: AT)
    operations.call(context, "session create", id="S1")
    connection: sqlite3.Connection = context.connection
    return connection


def state(connection: sqlite3.Connection) -> dict[str, Any]:
    sql = "SELECT rows FROM audit_events WHERE session_id = 'S1' ORDER BY seq DESC LIMIT 1"
    found: dict[str, Any] = json.loads(connection.execute(sql).fetchone()[0])["state"]
    return found


def digest(row: Sequence[step.Value]) -> str:
    return hashlib.sha256(step.row_line(row)).hexdigest()


def group(one: step.Step, name: str, **columns: step.Value) -> None:
    one.insert(
        "task_groups", id=name, name=name, kind="code", created_by="developer", created_at=AT, created_seq=one.seq,
        status="pending", status_changed_by="developer", status_changed_at=AT, status_seq=one.seq, **columns,
    )  # fmt: skip


GROUP_ROW = "SELECT * FROM task_groups WHERE id = ?"


def test_rows_that_may_change_are_hashed_one_by_one_as_the_step_left_them(session: sqlite3.Connection) -> None:
    with step.open_step(session, "S1", AT) as one:
        group(one, "A")
        group(one, "B")
        one.update("task_groups", ("A",), {"iterations": 1})
        one.seal(*VIA, {})
    found = state(session)["task_groups"]
    assert found == {each: digest(session.execute(GROUP_ROW, (each,)).fetchone()) for each in ("A", "B")}


def test_a_row_is_known_by_its_key_within_the_session(session: sqlite3.Connection) -> None:
    with step.open_step(session, "S1", AT) as one:
        group(one, "A")
        group(one, "B")
        one.insert("group_dependencies", group_id="A", depends_on="B", added_by="pm")
        one.seal(*VIA, {})
    assert list(state(session)["group_dependencies"]) == [f'["A","B",{one.seq}]']


@pytest.mark.parametrize("known", ["inserted", "read", "taken in", "not at all"])
def test_a_row_is_kept_as_it_is_however_the_step_came_to_know_it(session: sqlite3.Connection, known: str) -> None:
    with step.open_step(session, "S1", AT) as one:
        group(one, "A")
        one.seal(*VIA, {})
    with step.open_step(session, "S1", AT) as one:
        name = "B" if known == "inserted" else "A"
        if known == "inserted":
            group(one, name)
        elif known == "read":
            one.row("task_groups", (name,))
        elif known == "taken in":
            one.know("task_groups", (name,), list(session.execute(GROUP_ROW, (name,)).fetchone()))
        one.update("task_groups", (name,), {"senior": True, "builder_role": "developer", "turn": None})
        one.update("task_groups", (name,), {"iterations": 1}, hold=True)
        one.update("task_groups", (name,), {"iterations": 2})
        stored = session.execute(GROUP_ROW, (name,)).fetchone()
        assert one.row("task_groups", (name,)) == list(stored)
        one.seal(*VIA, {})
    assert state(session)["task_groups"] == {name: digest(stored)}


def test_a_row_that_is_not_there_is_none(session: sqlite3.Connection) -> None:
    with step.open_step(session, "S1", AT) as one:
        assert one.row("task_groups", ("A",)) is None


@pytest.mark.parametrize("then", ["the same row", "another row", "flush", "seal"])
def test_a_change_that_is_held_back_is_written_with_what_follows(session: sqlite3.Connection, then: str) -> None:
    with step.open_step(session, "S1", AT) as one:
        group(one, "A")
        group(one, "B")
        one.update("task_groups", ("A",), {"iterations": 1, "complexity": 5}, hold=True)
        assert session.execute(GROUP_ROW, ("A",)).fetchone() != (1, 5)
        if then == "the same row":
            one.update("task_groups", ("A",), {"iterations": 2})
        elif then == "another row":
            one.update("task_groups", ("B",), {"iterations": 2})
        elif then == "flush":
            one.flush()
        else:
            one.seal(*VIA, {})
        found = session.execute("SELECT iterations, complexity FROM task_groups WHERE id = 'A'").fetchone()
        assert found == (2 if then == "the same row" else 1, 5)
        assert one.sealed or one.seal(*VIA, {})
    assert state(session)["task_groups"]["A"] == digest(session.execute(GROUP_ROW, ("A",)).fetchone())


def test_nothing_is_held_back_beyond_a_rollback(session: sqlite3.Connection) -> None:
    with step.open_step(session, "S1", AT) as one:
        group(one, "A")
        one.update("task_groups", ("A",), {"iterations": 1}, hold=True)
    assert session.execute("SELECT count(*) FROM task_groups").fetchone() == (0,)
