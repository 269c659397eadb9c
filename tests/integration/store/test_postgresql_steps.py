"""Steps on a PostgreSQL database: who waits for whom, and what a lost connection leaves.

Source: spec 90, section 2.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError
from orchestrator.store import postgresql, step
from orchestrator.store.constants import STORE_CHAIN
from tests.cases import every

AT = "2026-01-01T00:00:00.000000Z"


@contextlib.contextmanager
def opened(url: str, *, write: bool = True, **environment: str) -> Iterator[Any]:
    context = bootstrap.open_context(url, write=write, door="cli", environment=environment, server=True)
    try:
        yield context
    finally:
        context.connection.close()


def create(context: Any, session: str = "S1") -> None:
    operations.call(context, "session create", id=session)


def count(context: Any) -> int:
    return int(context.connection.execute("SELECT count(*) FROM audit_events WHERE session_id = 'S1'").fetchone()[0])


WAITS = [("S1", "S1", True), ("S1", "S2", False), (STORE_CHAIN, "S1", True), ("S1", STORE_CHAIN, True),
         ("new", "new", True), ("new", "other", False)]  # fmt: skip


@every(("held", "wanted", "waits"), WAITS)
def test_a_step_waits_for_its_own_chain_and_for_the_store(pg_url: str, held: str, wanted: str, waits: bool) -> None:
    with opened(pg_url) as one, opened(pg_url) as other:
        for name in ("S1", "S2"):
            with contextlib.suppress(OrchestratorError):
                create(one, name)
        with step.open_step(one.connection, held, AT):
            try:
                with step.open_step(other.connection, wanted, AT, 0.05):
                    waited = False
            except EnvironmentProblem as problem:
                waited = problem.code == "BUSY"
        assert waited == waits


def test_of_two_that_create_one_session_the_second_is_refused(pg_url: str) -> None:
    refused: list[str] = []

    def attempt() -> None:
        with opened(pg_url) as context:
            try:
                create(context)
            except OrchestratorError as problem:
                refused.append(problem.code)

    threads = [threading.Thread(target=attempt) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert refused == ["ALREADY_EXISTS"] * 2


class Cut:
    """A driver whose connection breaks at COMMIT: before the server has it, or after."""

    def __init__(self, connection: postgresql.Connection, *, after: bool) -> None:
        self._connection, self._after, self._run = connection, after, connection._run
        connection._run = self  # type: ignore[method-assign]

    def __call__(self, sql: str, values: Any = None, **more: Any) -> Any:
        if sql != "COMMIT":
            return self._run(sql, values, **more)
        self._connection._run = self._run  # type: ignore[method-assign]
        if self._after:
            self._run(sql)
        self._connection._driver.close()
        return self._run("SELECT 1")


@pytest.mark.parametrize("after", [True, False])
def test_a_connection_lost_at_commit_is_answered_by_what_the_server_has(pg_url: str, *, after: bool) -> None:
    with opened(pg_url) as context:
        create(context)
        Cut(context.connection, after=after)
        asked = {"id": "A", "session_id": "S1", "request_id": "R1"}
        if after:
            assert operations.call(context, "group create", **asked)["success"]
        else:
            with pytest.raises(EnvironmentProblem) as caught:
                operations.call(context, "group create", **asked)
            assert caught.value.code == "NO_DATABASE"
            with opened(pg_url) as again:
                assert operations.call(again, "group create", **asked)["success"]
    with opened(pg_url, write=False) as reading:
        assert count(reading) == 2


def test_what_is_refused_leaves_nothing_and_the_connection_goes_on(pg_url: str) -> None:
    with opened(pg_url) as context:
        create(context)
        with pytest.raises(sqlite3.IntegrityError, match=r"WRITE_REFUSED|NEVER_DELETED"):
            context.connection.execute("DELETE FROM sessions")
        with pytest.raises(sqlite3.IntegrityError), step.open_step(context.connection, "S1", AT) as one:
            one.insert("agent_reports", role="developer")
        assert (count(context), context.connection.in_transaction) == (1, False)
        operations.call(context, "group create", id="A", session_id="S1")
        assert count(context) == 2


def test_a_reading_connection_writes_nothing(pg_url: str) -> None:
    with opened(pg_url, write=False) as context, pytest.raises(EnvironmentProblem) as caught:
        create(context)
    assert caught.value.code == "READ_ONLY"


def test_rows_hide_their_number_and_steps_of_all_chains_are_in_order(pg_url: str) -> None:
    with opened(pg_url) as context:
        create(context)
        create(context, "S2")
        cursor = context.connection.execute("SELECT * FROM audit_events ORDER BY rowid DESC")
        assert ("rowid",) not in cursor.description
        assert [row[0] for row in cursor][:2] == ["S2", "S1"]


@pytest.mark.parametrize(("level", "wanted"), [("FULL", "on"), ("NORMAL", "off")])
def test_the_level_of_syncs_is_the_servers(pg_url: str, level: str, wanted: str) -> None:
    with opened(pg_url, ORCHESTRATOR_SYNCHRONOUS=level) as context:
        assert context.connection._run("SHOW synchronous_commit").fetchone() == (wanted,)


def test_a_nul_character_is_refused(pg_url: str) -> None:
    with opened(pg_url) as context:
        with pytest.raises(InvalidInput) as caught, step.open_step(context.connection, "S1", AT):
            context.connection.execute("SELECT 1 FROM sessions WHERE id = ?", ("a\0b",))
        assert (caught.value.code, context.connection.in_transaction) == ("INVALID_TEXT", False)
