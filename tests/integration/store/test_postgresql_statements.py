"""Every statement of the store means something to PostgreSQL: it is rendered, and a real server prepares it."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import orchestrator
from orchestrator.store import postgresql, postgresql_sql, schema, schema_script
from tests.cases import every

WITHOUT = {
    "orchestrator.store.path_statements": "reads no table, so it is asked in memory",
    "orchestrator.store.restore": "backups are files",
    "orchestrator.store.schema_diff": "the catalogue of SQLite",
    "orchestrator.store.sqlite": "the catalogue of SQLite",
    "orchestrator.store.text_damage": "a server holds no text that is not UTF-8",
}
"""Modules with statements that only files take, and why; what uses them is refused on a server."""
_BEGINS = re.compile(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b")


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str) and _BEGINS.match(value):
        yield value
    elif depth < 4 and isinstance(value, dict | tuple | list | frozenset):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each, depth + 1)


def _known() -> dict[str, str]:
    """Every text in a module that SQLite takes for a whole statement on our schema, with the module."""
    lite = sqlite3.connect(":memory:")
    lite.create_function("orchestrator_write", 0, lambda: 1)
    for part in schema_script.parts():
        lite.execute(part.sql)
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(orchestrator.__path__, "orchestrator."):
        if module.name.startswith(("orchestrator.store.", "orchestrator.app.")):
            for text in _texts(list(vars(importlib.import_module(module.name)).values())):
                named = dict.fromkeys(re.findall(r":(\w+)", text))
                try:
                    lite.execute(f"EXPLAIN {text}", named or [None] * text.count("?"))
                except sqlite3.Error:
                    continue  # a part of statements
                found.setdefault(text, module.name)
    lite.close()
    return found


def test_a_server_prepares_every_statement(pg_url: str) -> None:
    failed: dict[str, str] = {}
    connection = psycopg.connect(pg_url)
    known = _known()
    for text, module in known.items():
        try:
            sql = postgresql_sql.rendered(text).sql
        except postgresql_sql.Untranslatable as error:
            failed[text] = f"{module}: {error}"
            continue
        result = connection.pgconn.prepare(b"", sql.encode())
        if result.status != psycopg.pq.ExecStatus.COMMAND_OK:
            failed[text] = f"{module}: {result.error_message.decode()}"
            connection.rollback()
    connection.close()
    assert len(known) > 400
    wrong = [said for said in failed.values() if said.partition(": ")[0] not in WITHOUT]
    assert not wrong, "\n".join(wrong)


RENDERED = [
    ("SELECT a FROM t INDEXED BY ix WHERE b IS :b", "SELECT a FROM t  WHERE b IS NOT DISTINCT FROM $1"),
    ("SELECT a FROM t WHERE b IS NOT 'x' AND c IS NOT NULL",
     "SELECT a FROM t WHERE b IS DISTINCT FROM 'x' AND c IS NOT NULL"),
    ("SELECT a FROM t WHERE (:b IS NULL OR b = :b) LIMIT :n",
     'SELECT a FROM t WHERE (CAST($1 AS text) COLLATE "C" IS NULL OR b = $2) LIMIT nullif(CAST($3 AS bigint), -1)'),
    ("SELECT ifnull(a, max(b, c)), max(d) FROM t", "SELECT coalesce(a, greatest(b, c)), max(d) FROM t"),
    ("SELECT group_concat(a) FROM t WHERE 1", "SELECT string_agg(CAST(a AS text), ',') FROM t WHERE true"),
    ("SELECT a FROM t CROSS JOIN s ON s.a = +t.a", "SELECT a FROM t JOIN s ON s.a = t.a"),
    ("SELECT a FROM t CROSS JOIN s WHERE a LIKE 'x%'", "SELECT a FROM t CROSS JOIN s WHERE a ILIKE 'x%' ESCAPE ''"),
    ("SELECT a FROM t WHERE a LIKE ? ESCAPE '\\'", "SELECT a FROM t WHERE a ILIKE $1 ESCAPE '\\'"),
    ("SELECT count(*) FROM (SELECT 1 FROM t)", "SELECT count(*) FROM (SELECT 1 FROM t) source_1"),
    ("SELECT seq FROM t ORDER BY turn DESC, seq LIMIT 1",
     "SELECT seq FROM t ORDER BY turn DESC NULLS LAST, seq LIMIT 1"),
    ("INSERT INTO t (a, b) VALUES (?, x'00ff')", "INSERT INTO t (a, b) VALUES ($1, '\\x00ff'::bytea)"),
    ("WITH RECURSIVE up(id) AS (SELECT 1 UNION SELECT p FROM up u CROSS JOIN t ON t.i = u.id)"
     " SELECT u.id FROM up u CROSS JOIN t ON t.i = u.id LIMIT 1",
     "WITH RECURSIVE up(id) AS (SELECT 1 UNION SELECT p FROM up u JOIN t ON t.i = u.id)"
     " SELECT u.id FROM (SELECT *, row_number() OVER () AS place FROM up) u JOIN t ON t.i = u.id"
     " ORDER BY u.place LIMIT 1"),
    ("SELECT ' ? :a -- ' || CAST(a AS INTEGER) -- b", "SELECT ' ? :a -- ' || CAST(a AS bigint)"),
]  # fmt: skip


@every(("sql", "wanted"), RENDERED)
def test_an_idiom_is_rendered(sql: str, wanted: str) -> None:
    found = postgresql_sql.rendered(sql).sql
    assert re.sub(r"\s+", " ", found) == re.sub(r"\s+", " ", wanted)


UNKNOWN = [
    "SELECT a FROM t WHERE a GLOB 'x*'", "SELECT strftime('%s', a) FROM t", "PRAGMA user_version",
    "INSERT OR REPLACE INTO t VALUES (1)", "SELECT CAST(a AS REAL) FROM t", "SELECT lower((SELECT 1)",
]  # fmt: skip


@every("sql", UNKNOWN)
def test_what_is_not_known_is_refused(sql: str) -> None:
    with pytest.raises(postgresql_sql.Untranslatable):
        postgresql_sql.rendered(sql)


def test_the_columns_that_may_be_null_are_those_of_the_schema() -> None:
    tables = schema.metadata.sorted_tables
    nullable = {each.name for table in tables for each in table.columns if each.nullable and not each.primary_key}
    # An agent of no session is listed by its id alone.
    assert nullable - {"session_id"} == postgresql_sql.NULLABLE


VALUES = [(0,), (-(2**63),), (2**63 - 1,), (None,), ("",), ("ä\u2028\U0001f600",), ("it's \\ %s $1",), (b"\0\xff",)]


@every("value", VALUES)
def test_a_value_comes_back_as_it_went(pg_url: str, value: Any) -> None:
    connection = postgresql.Connection(pg_url, write=True, deadline_s=10, synchronous="FULL")
    kind = {int: "bigint", bytes: "bytea"}.get(type(value[0]), "text")
    found = connection.run(f"SELECT CAST($1 AS {kind}), true, false, count(*), sum(1) FROM texts", value).fetchone()
    connection.close()
    assert found == (*value, 1, 0, 0, None)
