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
from orchestrator.store import postgresql, row_hashes, sqlite, step
from orchestrator.store.constants import STORE_CHAIN
from tests.cases import every

AT = "2026-01-01T00:00:00.000000Z"


@contextlib.contextmanager
def opened(url: str, *, write: bool = True, **environment: str) -> Iterator[Any]:
    context = bootstrap.open_context(url, write=write, door="cli", environment=environment)
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


VERSIONS = [("9999", "SCHEMA_TOO_NEW"), ("0001", "SCHEMA_TOO_OLD")]
STEPS = [("group create", {"id": "A", "session_id": "S1", "name": "a"}), ("session create", {"id": "S2"}),
         ("agent register", {"id": "dev-9", "role": "developer", "parent": "developer"})]  # fmt: skip


def test_a_program_that_runs_takes_no_step_in_a_schema_of_another_version(pg_url: str) -> None:
    with opened(pg_url) as context, opened(pg_url) as other:
        create(context)
        for version, code in VERSIONS:
            other.connection.execute("BEGIN IMMEDIATE")
            other.connection.run("UPDATE alembic_version SET version_num = $1", (version,))
            other.connection.run("COMMIT")
            for words, given in STEPS:
                with pytest.raises(EnvironmentProblem) as caught:
                    operations.call(context, words, **given)
                assert (caught.value.code, caught.value.exit_code) == (code, 5)
        assert count(context) == 1


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
        self._connection, self._after, self._run = connection, after, connection.run
        connection.run = self  # type: ignore[method-assign]

    def __call__(self, sql: str, values: Any = None, **more: Any) -> Any:
        if not sql.endswith("COMMIT"):
            return self._run(sql, values, **more)
        self._connection.run = self._run  # type: ignore[method-assign]
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


class Overtaken:
    """A server that gives a step up, so many times, when it has written its rows."""

    def __init__(self, connection: postgresql.Connection, state: str, times: int) -> None:
        self._state, self.left, self._run = state, times, connection.run
        connection.run = self  # type: ignore[method-assign]

    def __call__(self, sql: str, values: Any = None, **more: Any) -> Any:
        if not sql.endswith("COMMIT") or not self.left:
            return self._run(sql, values, **more)
        self.left -= 1
        return self._run(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{self._state}'; END $$")


@every("state", ["40001", "40P01"])
def test_a_step_that_is_given_up_for_another_one_is_taken_again(pg_url: str, state: str) -> None:
    with opened(pg_url) as context:
        create(context, f"S{state}")
        given = Overtaken(context.connection, state, 2)
        assert operations.call(context, "group create", id="A", session_id=f"S{state}")["success"]
        assert given.left == 0
        rows = context.connection.execute("SELECT count(*) FROM audit_events WHERE session_id = ?", (f"S{state}",))
        assert rows.fetchone() == (2,)


def test_a_step_that_is_given_up_for_ever_is_busy_in_the_end(pg_url: str) -> None:
    with opened(pg_url, ORCHESTRATOR_BUSY_TIMEOUT="0.05") as context:
        create(context)
        Overtaken(context.connection, "40P01", 10**6)
        with pytest.raises(EnvironmentProblem) as caught:
            operations.call(context, "group create", id="A", session_id="S1")
        assert (caught.value.code, count(context)) == ("BUSY", 1)


def test_a_refusal_that_is_given_up_for_another_step_is_recorded_all_the_same(pg_url: str) -> None:
    with opened(pg_url) as context:
        create(context)
        given = Overtaken(context.connection, "40P01", 2)
        with pytest.raises(OrchestratorError) as caught:
            create(context)
        rows = context.connection.execute("SELECT code FROM refusals").fetchall()
        assert (caught.value.code, given.left, rows) == ("ALREADY_EXISTS", 0, [("ALREADY_EXISTS",)])


def test_events_are_numbered_in_the_order_of_their_commits(pg_url: str) -> None:
    with opened(pg_url) as one, opened(pg_url, ORCHESTRATOR_BUSY_TIMEOUT="0.05") as other:
        for name in ("S1", "S2"):
            create(one, name)
        run = one.connection.run

        def meanwhile(sql: str, values: Any = None, **more: Any) -> Any:
            if sql.endswith("COMMIT"):
                with pytest.raises(EnvironmentProblem, match=r"locked|busy|another"):
                    operations.call(other, "group create", id="A", session_id="S2")
            return run(sql, values, **more)

        one.connection.run = meanwhile
        operations.call(one, "group create", id="A", session_id="S1")
        operations.call(other, "group create", id="A", session_id="S2")
        rows = one.connection.execute("SELECT session_id FROM audit_events ORDER BY rowid DESC LIMIT 2").fetchall()
        assert rows == [("S2",), ("S1",)]


def test_two_steps_that_wait_for_each_other_are_both_taken(pg_url: str) -> None:
    with opened(pg_url) as one, opened(pg_url) as other:
        for name in ("S1", "S2"):
            create(one, name)
        meet = threading.Barrier(2, timeout=10)

        def cross(context: Any, own: str, others: str) -> None:
            run, is_first = context.connection.run, [True]

            def crossing(sql: str, values: Any = None, **more: Any) -> Any:
                is_due = bool(is_first) and values == (postgresql._KEY, postgresql._NUMBERS)
                if is_due and is_first.pop():
                    meet.wait()
                    run("SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE", (others,))
                return run(sql, values, **more)

            context.connection.run = crossing
            operations.call(context, "group create", id="A", session_id=own)

        threads = [threading.Thread(target=cross, args=each) for each in ((one, "S1", "S2"), (other, "S2", "S1"))]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert one.connection.execute("SELECT count(*) FROM task_groups").fetchone() == (2,)


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
        assert context.connection.run("SHOW synchronous_commit").fetchone() == (wanted,)


def test_who_else_is_connected_is_told(pg_url: str) -> None:
    with opened(pg_url) as context:
        alone = sqlite.is_alone(context.connection)
        with opened(pg_url, write=False):
            assert (alone, sqlite.is_alone(context.connection)) == (True, False)


def test_a_nul_character_is_refused(pg_url: str) -> None:
    with opened(pg_url) as context:
        with pytest.raises(InvalidInput) as caught, step.open_step(context.connection, "S1", AT):
            context.connection.execute("SELECT 1 FROM sessions WHERE id = ?", ("a\0b",))
        assert (caught.value.code, context.connection.in_transaction) == ("INVALID_TEXT", False)


TAMPERED = [
    ("DROP TRIGGER agent_reports_are_never_deleted ON agent_reports",
     "TRIGGER_MISSING", "agent_reports_are_never_deleted"),
    ("ALTER TABLE task_groups DISABLE TRIGGER task_groups_completed_needs_path",
     "TRIGGER_ALTERED", "task_groups_completed_needs_path"),
    ("CREATE OR REPLACE FUNCTION orchestrator_write() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1'",
     "FUNCTION_ALTERED", "orchestrator_write"),
    ("CREATE RULE nothing AS ON INSERT TO refusals DO INSTEAD NOTHING", "SCHEMA_FOREIGN", "refusals: nothing"),
    ("ALTER TABLE questions ADD COLUMN more text", "TABLE_ALTERED", "questions"),
    ("DROP INDEX ix_starts_open", "INDEX_MISSING", "ix_starts_open"),
    ("ALTER TABLE audit_events DISABLE TRIGGER USER; UPDATE audit_events SET actor = 'x'"
     " WHERE seq = 1 AND session_id = 'S1'; ALTER TABLE audit_events ENABLE TRIGGER USER", "EVENT_ALTERED", "step 1"),
]  # fmt: skip
"""What an owner of the tables does, with the finding that tells of it."""


def test_what_an_owner_changes_is_found_and_nothing_else(pg_url: str) -> None:
    with opened(pg_url) as context:
        create(context)
        found = operations.call(context, "audit verify")
        assert (found["findings"], found["chains"]) == ([], 2)
        context.connection.run("; ".join(["BEGIN", *(each[0] for each in TAMPERED), "COMMIT"]))
        found = operations.call(context, "audit verify")
        told = {(each["code"], each["subject"]) for each in found["findings"]}
        assert told == {(code, subject) for _, code, subject in TAMPERED}


PROBE = "".join(map(chr, range(1, 0x100))) + "\u2028\u20ac\U0001f600"


def test_a_server_writes_the_line_that_a_step_hashes(pg_url: str) -> None:
    values = ("text", PROBE, 0, -(2**63), 2**63 - 1, None, "", 1)
    kinds = ("TEXT", "TEXT", "INTEGER", "INTEGER", "INTEGER", "TEXT", "TEXT", "INTEGER")
    given = ", ".join(f"CAST(? AS {kind})" for kind in kinds)
    with opened(pg_url) as context:
        (found,) = context.connection.execute(f"SELECT CAST(json_array({given}) AS BLOB)", values).fetchone()
    assert row_hashes.trimmed(bytes(found)) == step.row_line(values)
