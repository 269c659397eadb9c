"""`audit query` on a server: anybody's SQL reads what it likes, and acts on nothing."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.errors import OrchestratorError
from orchestrator.store import postgresql_query
from tests import postgresql


@pytest.fixture(scope="module")
def context(pg_folder: pathlib.Path, pg_template: str) -> Iterator[Any]:
    with postgresql.database(pg_folder, pg_template) as url:
        found = bootstrap.open_context(url, write=True, door="test")
        with contextlib.closing(found.connection):
            operations.call(found, "session create", id="S1", goal="ship")
            yield found


def asked(context: Any, sql: str, **more: Any) -> Any:
    try:
        return operations.call(context, "audit query", sql=sql, **more)
    except OrchestratorError as problem:
        return problem


ANSWERS: list[tuple[str, list[Any]]] = [
    ("SELECT id, goal FROM sessions", [["S1", "ship"]]),
    ("WITH g AS (SELECT id FROM sessions) SELECT count(*) AS n FROM g", [[1]]),
    ("VALUES (1, 'x')", [[1, "x"]]),
    ("  -- first\n/* then */ select /* x /* within */ */ 1 ;  -- last", [[1]]),
    ("SELECT 1.5, 'NaN'::numeric, 'Infinity'::float8, '\\x00ff'::bytea, true, null, ARRAY[1, 2], '2026-01-02'::date",
     [[1.5, None, "Infinity", "00ff", 1, None, "{1,2}", "2026-01-02"]]),
    ("SELECT 10000000000000000000000::numeric, 2 AS a, 2 AS a", [[10**22, 2, 2]]),
    ("SELECT 'pg_sleep(1)', $$pg_sleep(1)$$, $a$ pg_sleep(1) $a$", [["pg_sleep(1)", "pg_sleep(1)", " pg_sleep(1) "]]),
    ("SELECT upper(substr(id, 1, 1)) FROM sessions WHERE id IN ('S1') AND (goal) = ('ship')", [["S"]]),
    ("SELECT max(seq) OVER (PARTITION BY kind) FROM audit_events WHERE session_id = 'S1'", [[1]]),
]  # fmt: skip
READS = "SELECT, WITH, VALUES, EXPLAIN"
REFUSED = [
    ("DELETE FROM sessions", "NOT_PERMITTED", READS),
    ("SELECT pg_terminate_backend(1)", "NOT_PERMITTED", "pg_terminate_backend"),
    ("SELECT pg_catalog . pg_Terminate_Backend /* x */ -- y\n (1)", "NOT_PERMITTED", "pg_terminate_backend"),
    ('SELECT "pg_sleep"(100)', "NOT_PERMITTED", "pg_sleep"),
    ("SELECT * FROM pg_read_file('/etc/passwd')", "NOT_PERMITTED", "pg_read_file"),
    ("SELECT set_config('default_transaction_read_only', 'off', false)", "NOT_PERMITTED", "set_config"),
    ("SELECT pg_advisory_lock(1)", "NOT_PERMITTED", "pg_advisory_lock"),
    ("SELECT E'a' '\\'' , pg_sleep(1), '", "NOT_PERMITTED", "escapes"),
    ("SELECT U&\"\\0070g_sleep\"(1)", "NOT_PERMITTED", "escapes"),
    ("SELECT '--', pg_sleep(1) --'", "NOT_PERMITTED", "pg_sleep"),
    ("SELECT 1 --\r, pg_sleep(1)", "NOT_PERMITTED", "pg_sleep"),
    ("SELECT $a$x$b$, pg_sleep(1) $a$", None, ""),
    ("SELECT 1; COMMIT; DELETE FROM sessions", "SQL_INVALID", "more than one"),
    ("EXPLAIN SELECT 1; DROP TABLE sessions", "SQL_INVALID", "more than one"),
    ("EXPLAIN ANALYZE DELETE FROM sessions", "NOT_PERMITTED", "would write"),
    ("SELECT * FROM sessions FOR UPDATE", "NOT_PERMITTED", "would write"),
    ("SELECT 1 INTO own", "SQL_INVALID", "INTO"),
    ("WITH d AS (DELETE FROM sessions RETURNING id) SELECT * FROM d", "SQL_INVALID", "data-modifying"),
    ("SELECT $1", "SQL_INVALID", "parameters"),
    ("SELECT nothing FROM sessions", "SQL_INVALID", "nothing"),
    ("SELECT 1 /* open", "SQL_INVALID", "comment"),
    ("PRAGMA user_version", "SQL_INVALID", "PRAGMA"),
    ("", "SQL_INVALID", "no statement"),
    ("SELECT 'a", "SQL_INVALID", "unterminated"),
]  # fmt: skip


def test_what_reads_is_answered(context: Any) -> None:
    for sql, rows in ANSWERS:
        found = asked(context, sql)
        assert not isinstance(found, OrchestratorError), (sql, found)
        assert found["rows"] == rows, sql
    assert asked(context, "/* x */ EXPLAIN SELECT 1")["columns"] == ["QUERY PLAN"]
    assert asked(context, "SELECT n FROM generate_series(1, 250) n", limit=7)["has_more"]


def test_what_acts_is_refused_and_changes_nothing(context: Any) -> None:
    for sql, code, words in REFUSED:
        found = asked(context, sql)
        assert getattr(found, "code", None) == code, (sql, found)
        assert words in getattr(found, "message", ""), (sql, found)
    assert asked(context, "SELECT count(*) FROM sessions")["rows"] == [[1]]


def test_a_query_ends_in_its_time(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    found = asked(context, endless, timeout=1)
    assert found.code == "QUERY_TIMEOUT"


def test_a_role_s_own_function_that_acts_is_refused(context: Any) -> None:
    connection = context.connection
    connection.run("BEGIN")
    connection.run("CREATE FUNCTION own() RETURNS integer LANGUAGE sql VOLATILE AS 'SELECT 1'")
    connection.run("COMMIT")
    try:
        assert asked(context, "SELECT OWN()").code == "NOT_PERMITTED"
        assert asked(context, 'SELECT "OWN"()').code == "SQL_INVALID"
    finally:
        connection.run("DROP FUNCTION own()")


def test_names_with_odd_characters_are_looked_up_as_they_are() -> None:
    assert postgresql_query._called('SELECT "a""b\\{}"(1), f (2), a.B(3), \'(\' FROM x') == {'a"b\\{}', "f", "b"}
