"""Anybody's SQL: it reads what it likes, changes nothing, ends in time, and what is wrong with it is said in words."""

from __future__ import annotations

import hashlib
import json
import pathlib
import time
from typing import Any

import pytest

from orchestrator import errors
from orchestrator.store import readonly_sql
from tests.integration.app.desk import Desk

pytestmark = pytest.mark.sqlite("its SQL is SQLite's; test_postgresql_query.py asks a server")

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    desk = Desk(tmp_path)
    desk.planned("S1", "A", "B")
    return desk


def rows(desk: Desk, sql: str, **more: Any) -> list[list[Any]]:
    found: list[list[Any]] = desk.call("audit query", sql=sql, **more)["rows"]
    return found


@pytest.mark.parametrize(
    ("sql", "columns", "found"),
    [
        pytest.param("SELECT id, status FROM task_groups ORDER BY id", ["id", "status"],
                     [["A", "in_progress"], ["B", "in_progress"]], id="a table"),
        pytest.param("WITH g AS (SELECT id FROM task_groups) SELECT count(*) AS n FROM g", ["n"], [[2]], id="with"),
        pytest.param("VALUES (1, 'x')", ["column1", "column2"], [[1, "x"]], id="values"),
        pytest.param("  -- first\n/* then */ select 1 ;  -- last", ["1"], [[1]], id="comments and a semicolon"),
        pytest.param("SELECT 1 AS a, 2 AS a, 3 AS b", ["a", "a", "b"], [[1, 2, 3]], id="two columns of one name"),
        pytest.param("SELECT x'00ff', NULL, ''", ["x'00ff'", "NULL", "''"], [["00ff", None, ""]], id="bytes and null"),
        pytest.param("SELECT 0.1, -2.5e-7", ["0.1", "-2.5e-7"], [[0.1, -2.5e-7]], id="fractions"),
        pytest.param("SELECT 9e999 AS a, -9e999 AS b", ["a", "b"], [["Infinity", "-Infinity"]], id="infinite"),
        pytest.param("SELECT 9e999 - 9e999 AS nan", ["nan"], [[None]], id="not a number"),
        pytest.param("SELECT 9223372036854775807 AS n", ["n"], [[2**63 - 1]], id="the largest whole number"),
        pytest.param("SELECT CAST(x'61ff62' AS TEXT) AS t", ["t"], [["a\\xffb"]], id="no UTF-8"),
        pytest.param("SELECT CAST(x'610062' AS TEXT) AS t", ["t"], [["a\0b"]], id="a NUL character"),
        pytest.param("SELECT 'Grüße 日本' AS t", ["t"], [["Grüße 日本"]], id="other letters"),
        pytest.param("SELECT id FROM sessions WHERE 0", ["id"], [], id="no row"),
        pytest.param("SELECT value FROM json_each('[1,2]')", ["value"], [[1], [2]], id="a table of a function"),
        pytest.param("PRAGMA user_version", ["user_version"], None, id="a pragma that tells"),
        pytest.param("SELECT name FROM pragma_table_info('sessions') LIMIT 1", ["name"], [["id"]],
                     id="a pragma's table"),
    ],
)  # fmt: skip
def test_what_a_statement_answers(desk: Desk, sql: str, columns: list[str], found: list[list[Any]] | None) -> None:
    answer = desk.call("audit query", sql=sql)
    assert answer["columns"] == columns
    assert found is None or answer["rows"] == found
    assert answer["has_more"] is False
    json.dumps(answer, allow_nan=False)


def test_views_and_the_schema_can_be_asked(desk: Desk) -> None:
    assert rows(desk, "SELECT group_id, missing FROM completion_paths WHERE session_id = 'S1' AND group_id = 'A'")
    assert ["router_decisions"] in rows(desk, "SELECT name FROM sqlite_master WHERE type = 'table'")
    assert rows(desk, "PRAGMA table_info(sessions)")[0][1] == "id"
    assert rows(desk, "EXPLAIN QUERY PLAN SELECT * FROM sessions WHERE id = 'S1'")


CHANGES = (
    "INSERT INTO sessions (id) VALUES ('X')",
    "insert into sessions (id) values ('X')",
    "UPDATE task_groups SET status = 'completed'",
    "DELETE FROM audit_events",
    "REPLACE INTO texts VALUES ('a', 'b')",
    "DROP TABLE audit_events",
    "DROP TRIGGER IF EXISTS x",
    "CREATE TABLE x (y)",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE TEMP TRIGGER x AFTER INSERT ON sessions BEGIN SELECT 1; END",
    "ALTER TABLE sessions RENAME TO x",
    "ATTACH 'other.db' AS other",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "/* SELECT */ VACUUM INTO 'copy.db'",
    "-- SELECT\nVACUUM INTO 'copy.db'",
    "REINDEX",
    "ANALYZE",
    "BEGIN IMMEDIATE",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT x",
    "RELEASE x",
    "END",
    "WITH x AS (SELECT 1) DELETE FROM audit_events",
    "WITH x AS (SELECT 1) INSERT INTO texts SELECT 'a', 'b' FROM x",
    "EXPLAIN DELETE FROM audit_events",
    "EXPLAIN QUERY PLAN UPDATE sessions SET goal = ''",
    "PRAGMA user_version = 7",
    "PRAGMA main.user_version(7)",
    "PRAGMA query_only = OFF",
    "PRAGMA query_only(0)",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA journal_mode",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA incremental_vacuum",
    "PRAGMA optimize",
    "PRAGMA application_id = 1",
    "PRAGMA encoding = 'UTF-16'",
    "PRAGMA foreign_keys",
    "PRAGMA hard_heap_limit = 1",
    "PRAGMA temp_store_directory = '.'",
    "SELECT * FROM pragma_user_version(7)",
    "SELECT load_extension('libc.so.6')",
    "SELECT writefile('x', 'y')",
    "SELECT fts3_tokenizer('simple', x'0000000000000000')",
)


@pytest.mark.parametrize("sql", CHANGES)
def test_what_would_change_something_is_refused(
    desk: Desk, sql: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    desk.context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = (sorted(tmp_path.iterdir()), digest(desk.path))
    refusal = desk.refused("audit query", sql=sql)
    assert (refusal.code in ("NOT_PERMITTED", "SQL_INVALID"), refusal.exit_code in (3, 64)) == (True, True)
    assert refusal.message.endswith(".")
    # Functions that this SQLite does not have, and pragmas that take no value, are faults before they are forbidden.
    unknown = any(part in sql for part in ("writefile", "fts3", "pragma_user_version", "load_extension"))
    assert unknown or refusal.code == "NOT_PERMITTED"
    assert (sorted(tmp_path.iterdir()), digest(desk.path)) == before


def digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "sql", ["VACUUM INTO 'copy.db'", "ATTACH 'x.db' AS x", "DELETE FROM texts", "CREATE TABLE x(y)"]
)
def test_the_authorizer_and_the_file_s_mode_hold_where_the_first_word_is_not_looked_at(
    desk: Desk, sql: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(readonly_sql, "check_start", lambda sql: None)
    before = digest(desk.path)
    assert desk.refused("audit query", sql=sql).code in ("NOT_PERMITTED", "READ_ONLY", "SQL_INVALID")
    assert (digest(desk.path), (tmp_path / "copy.db").exists(), (tmp_path / "x.db").exists()) == (before, False, False)


def test_what_is_refused_is_named(desk: Desk) -> None:
    said = [desk.refused("audit query", sql=sql).message for sql in (
        "WITH x AS (SELECT 1) DELETE FROM audit_events", "PRAGMA query_only = OFF", "VACUUM INTO 'x'",
    )]  # fmt: skip
    assert said == [
        "Queries are read-only: this would delete from audit_events.",
        "Queries are read-only: this would set or use the pragma query_only.",
        "Queries are read-only: only SELECT, WITH, VALUES, EXPLAIN, PRAGMA are allowed, not VACUUM.",
    ]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        pytest.param("SELECT 1 FORM x y", 'near "x": syntax error, at character 15', id="near"),
        pytest.param("SELECT a FROM FROM a", 'near "FROM": syntax error, at character 15', id="the second one"),
        pytest.param("SELECT", "incomplete input", id="incomplete"),
        pytest.param("SELECT 'open", "unrecognized token: \"'open\", at character 8", id="open quotes"),
        pytest.param("SELECT * FROM nowhere", "no such table: nowhere, at character 15", id="no table"),
        pytest.param("SELECT missing FROM sessions", "no such column: missing, at character 8", id="no column"),
        pytest.param("SELECT missing(1)", "no such function: missing, at character 8", id="no function"),
        pytest.param("SELECT sum(a) FROM (SELECT 9223372036854775807 AS a UNION ALL SELECT 1)", "integer overflow",
                     id="overflow"),
        pytest.param("SELECT json('{')", "malformed JSON", id="broken JSON"),
        pytest.param("SELECT 1; SELECT 2", "it holds more than one statement", id="two statements"),
        pytest.param("SELECT 1; DROP TABLE sessions", "it holds more than one statement", id="one that hides"),
        pytest.param("SELECT :x", "it has parameters, but no values were given", id="a named parameter"),
        pytest.param("SELECT ?", "it has parameters, but no values were given", id="a parameter"),
        pytest.param("", "there is no statement in it", id="nothing"),
        pytest.param("  -- only words", "there is no statement in it", id="a comment"),
        pytest.param("/* open", "there is no statement in it", id="an open comment"),
        pytest.param("SELEC 1", "it begins with 'SELEC', not with SELECT or WITH or VALUES or EXPLAIN or PRAGMA;"
                                " did you mean SELECT?", id="a near miss"),
        pytest.param("(SELECT 1)", "it begins with '(', not with SELECT or WITH or VALUES or EXPLAIN or PRAGMA",
                     id="brackets"),
        pytest.param("EXPLAIN", "incomplete input", id="explain of nothing"),
        pytest.param("SELECT zeroblob(2000000000)", "string or blob too big", id="a value that fills the memory"),
        pytest.param("SELECT 1 WHERE 1 IN (" + "(" * 2000, "parser stack overflow", id="deep"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence_with_its_place(desk: Desk, sql: str, said: str) -> None:
    problem = desk.refused("audit query", sql=sql)
    assert (problem.code, problem.exit_code) == ("SQL_INVALID", errors.EXIT_USAGE)
    assert problem.message.rstrip(".") == f"The SQL cannot be run: {said}"


def test_long_statements_and_long_names_give_short_errors(desk: Desk) -> None:
    for sql in ("SELECT " + "x" * 100_000, f"SELECT '{'y' * 1_100_000}'", "SELECT 1" + ", 1" * 5000):
        problem = desk.refused("audit query", sql=sql)
        assert problem.code == "SQL_INVALID"
        assert len(problem.message) < 600


class TestBounds:
    """However much there is, and however long it would take."""

    def test_so_many_rows_and_whether_there_are_more(self, desk: Desk) -> None:
        sql = "SELECT id FROM task_groups ORDER BY id"
        found = [desk.call("audit query", sql=sql, limit=limit) for limit in (1, 2, 3)]
        assert [(each["rows"], each["has_more"]) for each in found] == [
            ([["A"]], True), ([["A"], ["B"]], False), ([["A"], ["B"]], False),
        ]  # fmt: skip

    def test_of_endless_rows_the_first_are_answered(self, desk: Desk) -> None:
        answer = desk.call("audit query", sql=f"{ENDLESS} SELECT i FROM n")
        assert (len(answer["rows"]), answer["rows"][-1], answer["has_more"]) == (1000, [1000], True)

    def test_an_answer_ends_with_the_row_that_is_too_much(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(readonly_sql, "ANSWER_LIMIT", 1000)
        answer = desk.call("audit query", sql=f"{ENDLESS} SELECT printf('%.*c', 400, 'x') FROM n")
        assert ([len(row[0]) for row in answer["rows"]], answer["has_more"]) == ([400, 400, 400], True)

    @pytest.mark.parametrize("sql", [
        pytest.param(f"{ENDLESS} SELECT count(*) FROM n", id="an endless count"),
        pytest.param(f"{ENDLESS} SELECT i FROM n ORDER BY i LIMIT 1", id="an endless sort"),
        pytest.param(f"{ENDLESS} SELECT i FROM n WHERE i < 0", id="an endless search"),
    ])  # fmt: skip
    def test_a_query_that_never_ends_is_stopped(self, desk: Desk, sql: str) -> None:
        began = time.monotonic()
        problem = desk.refused("audit query", sql=sql, timeout=1)
        assert (problem.code, problem.exit_code) == ("QUERY_TIMEOUT", 64)
        assert problem.message == "The query was stopped after 1 s."
        assert time.monotonic() - began < 10

    @pytest.mark.parametrize("limit", [0, -1])
    def test_no_row_at_all_cannot_be_asked_for(self, desk: Desk, limit: int) -> None:
        assert desk.refused("audit query", sql="SELECT 1", limit=limit).code == "USAGE"


def test_a_query_sees_what_is_committed_and_nothing_else(desk: Desk) -> None:
    desk.context.connection.execute("BEGIN IMMEDIATE")
    desk.context.connection.execute("UPDATE task_groups SET answered_seq = 99 WHERE id = 'A'")
    assert rows(desk, "SELECT answered_seq FROM task_groups WHERE id = 'A'") == [[0]]
    desk.context.connection.execute("ROLLBACK")


def test_asking_is_recorded_nowhere(desk: Desk) -> None:
    before = desk.events()
    rows(desk, "SELECT 1")
    desk.refused("audit query", sql="DELETE FROM texts")
    assert desk.events() == before


def test_a_broken_file_is_no_fault_of_the_sql(desk: Desk) -> None:
    desk.context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (root,) = desk.context.connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'agent_reports'"
    ).fetchone()
    (size,) = desk.context.connection.execute("PRAGMA page_size").fetchone()
    with open(desk.path, "r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    problem = desk.refused("audit query", sql="SELECT * FROM agent_reports")
    assert (problem.code, problem.exit_code) == ("CORRUPT", 5)
