"""Every table is covered in one way, and the lines that SQLite makes are those that a step hashes."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.store import memory, row_hashes, schema, step, table_metadata, tables_record
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.row_hashes import Span

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.none() | texts | st.integers(-(2**63), 2**63 - 1)


def test_every_declared_table_is_covered_in_exactly_one_way() -> None:
    ways = [*row_hashes.WRITTEN, *row_hashes.CHANGING, *row_hashes.BY_HASH, row_hashes.EVENTS]
    assert sorted(table_metadata.STORED_AS.get(table, table) for table in ways) == sorted(schema.metadata.tables)


def test_the_tables_whose_rows_may_change_are_those_that_a_step_keeps_the_state_of() -> None:
    assert set(row_hashes.CHANGING) == set(table_metadata.KEYS)


def test_the_columns_of_an_event_are_hashed_in_the_order_of_the_schema() -> None:
    assert row_hashes._HASHED == tuple(tables_record.audit_events.columns.keys())[:8]


def line_of(expression: row_hashes.Expression, connection: sqlite3.Connection, given: list[Any]) -> bytes:
    names = [f"c{number}" for number in range(len(given))]
    columns = ", ".join(f"? AS {name}" for name in names)
    sql = f"SELECT {expression('t', tuple(names))} FROM (SELECT {columns}) t"
    return row_hashes.trimmed(connection.execute(sql, given).fetchone()[0])


@given(st.lists(values, min_size=1, max_size=6))
def test_a_line_made_by_sqlite_is_that_of_the_step(given: list[Any]) -> None:
    connection = sqlite3.connect(":memory:")
    for expression in (row_hashes.plain, row_hashes.careful, row_hashes._registered(connection)):
        # A line of nothing but nulls is none of a table, whose keys are never null.
        assert line_of(expression, connection, ["key", *given]) == step.row_line(["key", *given])
    connection.close()


@given(st.lists(values | st.binary(), min_size=1, max_size=6))
def test_bytes_have_a_line_where_that_is_asked_for(given: list[Any]) -> None:
    connection = sqlite3.connect(":memory:")
    assert line_of(row_hashes.careful, connection, ["key", *given]) == step.row_line(["key", *given])
    connection.close()


def test_a_sqlite_whose_json_is_another_is_helped_out() -> None:
    connection = sqlite3.connect(":memory:")
    assert row_hashes.expression(connection) is row_hashes.plain
    connection.create_function("json_array", -1, lambda *_: "[]")
    other = row_hashes.expression(connection)
    assert other is not row_hashes.plain
    assert line_of(other, connection, ["é", 1, None]) == step.row_line(["é", 1, None])
    connection.close()


@pytest.fixture(scope="module")
def connection() -> sqlite3.Connection:
    return memory.connect()


def plan(connection: sqlite3.Connection, sql: str, span: Span) -> list[str]:
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", span.parameters)]


@pytest.mark.parametrize("span", [Span("S1"), Span("S1", 7), Span(None), Span(STORE_CHAIN)], ids=str)
@pytest.mark.parametrize("table", row_hashes.WRITTEN)
def test_long_rows_are_never_sorted(connection: sqlite3.Connection, table: str, span: Span) -> None:
    if table in row_hashes.written_in(span):
        found = plan(connection, row_hashes.written(table, span, row_hashes.plain), span)
        sorted_ = [line for line in found if "TEMP B-TREE" in line]
        assert not sorted_ or table in SORTED or "CO-ROUTINE k" in found[0] or "MATERIALIZE k" in found[0]


SORTED = frozenset(
    ("agent_files", "context_items", "grandfathered_groups", "human_credentials", "human_tokens",
     "imported_sessions",
     "projects", "workflow_transitions", "workflow_versions")
)  # fmt: skip
"""Tables of few or short rows, which are sorted as they are."""


@pytest.mark.parametrize("table", [table for table in row_hashes.CHANGING if table != "agents"])
def test_the_rows_of_one_session_are_found_by_an_index(connection: sqlite3.Connection, table: str) -> None:
    span = Span("S1")
    (step_,) = plan(connection, row_hashes.changing(table, span, row_hashes.plain), span)
    assert step_.startswith("SEARCH t USING")


@pytest.mark.parametrize("table", row_hashes.CHANGING)
def test_one_row_is_found_by_its_key(connection: sqlite3.Connection, table: str) -> None:
    sql = row_hashes.one(table, row_hashes.plain)
    key = ["x"] * sql.count("?")
    (found,) = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", key)]
    assert found.startswith("SEARCH t USING")
    assert "PRIMARY KEY" in found or "sqlite_autoindex" in found
