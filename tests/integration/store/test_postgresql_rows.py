"""Statements on a connection to a server: what they give, when they are prepared, and how few a step sends.

Source: spec 90, sections 1 and 4.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.errors import EnvironmentProblem
from orchestrator.store import postgresql, postgresql_statements

MOST = 12
"""Round trips of a route of a running process."""


@pytest.fixture
def connection(pg_url: str) -> Iterator[postgresql.Connection]:
    found = postgresql.connect(pg_url, write=True)
    with contextlib.closing(found):
        yield found


def prepared(connection: postgresql.Connection) -> list[str]:
    sql = "SELECT statement FROM pg_prepared_statements ORDER BY prepare_time, name"
    return [row[0] for row in connection.run(sql)]


def test_every_row_is_given_once_in_whatever_parts(connection: postgresql.Connection) -> None:
    rows = connection.run("SELECT n, 'x' || n AS rowid FROM generate_series(1, 9) n WHERE n > $1", (0,), hides=True)
    assert (rows.description, rows.rowcount) == ([("n",)], 9)
    assert [rows.fetchone(), rows.fetchmany(3), next(rows), rows.fetchmany(2), rows.fetchall(), rows.fetchone()] == [
        (1,), [(2,), (3,), (4,)], (5,), [(6,), (7,)], [(8,), (9,)], None
    ]  # fmt: skip
    kept = connection.run("SELECT 1 AS rowid, true AS b, NULL AS x, '\\x00ff'::bytea", hides=True)
    assert (kept.description[0], list(kept)) == (("rowid",), [(1, 1, None, b"\x00\xff")])
    assert (connection.run("BEGIN").description, connection.run("COMMIT").fetchall()) == ([], [])


def test_what_is_repeated_is_prepared_and_what_was_not_used_longest_goes(
    connection: postgresql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_statements, "MOST", 2)
    one, two, three = (f"SELECT $1::text || '{number}'" for number in (1, 2, 3))
    for sql in (one, two, one, three):
        for _ in range(postgresql_statements.REPEATED + 1):
            assert connection.run(sql, ("x",)).fetchall() == [("x" + sql[-2],)]
    assert prepared(connection) == [one, three]
    # A blob has another type than none.
    for value, given in ((b"\x01", b"\x01"), (None, None)) * 8:
        assert connection.run("SELECT $1::bytea", (value,)).fetchall() == [(given,)]


def test_a_route_sends_few_statements(pg_url: str) -> None:
    context = bootstrap.open_context(pg_url, write=True, door="test", stays=True)
    with contextlib.closing(context.connection):
        operations.call(context, "session create", id="S1")
        operations.call(context, "group create", id="A", session_id="S1", name="a")
        operations.call(context, "route", session_id="S1", current_agent="project_manager", status="PLANNING_COMPLETE")
        given = {"session_id": "S1", "group_id": "A", "summary": "x"}
        sent, run = list[str](), context.connection.run
        for role, status in (("developer", "READY_FOR_QA"), ("qa_expert", "FAIL")):
            operations.call(context, "route", current_agent=role, status=status, **given)
        context.connection.run = lambda sql, *values, **more: (sent.append(sql), run(sql, *values, **more))[1]
        operations.call(context, "route", current_agent="developer", status="READY_FOR_QA", **given)
    assert len(sent) <= MOST, sent


def test_an_interrupt_ends_what_waits_for_a_lock(pg_url: str, connection: postgresql.Connection) -> None:
    connection.run("BEGIN; LOCK TABLE sessions")
    other: Any = postgresql.connect(pg_url, write=True, deadline=60.0)
    with contextlib.closing(other):
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            other.lock("S1", 60.0)
        timer.join()
        other.rollback()
        connection.run("ROLLBACK")
        other.execute("BEGIN IMMEDIATE")
        other.lock("S1", 1.0)
        other.rollback()
        assert not other.in_transaction


def test_a_connection_that_is_lost_says_so_also_where_a_transaction_was_just_begun(
    connection: postgresql.Connection,
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    assert connection.in_transaction
    connection._driver.close()
    with pytest.raises(EnvironmentProblem) as caught:
        connection.lock("S1", 1.0)
    assert caught.value.code == "NO_DATABASE"
