"""A step is whole or absent: its rows, its event and its number in the chain."""

from __future__ import annotations

import contextlib
import hashlib
import json
import pathlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import errors
from orchestrator.core import canonical_json, strict_json
from orchestrator.store import constants, schema, sqlite, step, tables_record
from orchestrator.store import table_metadata as rows
from tests.integration.store.conftest import AT

EVENTS = "SELECT * FROM audit_events WHERE session_id = ? ORDER BY seq"
VIA = ("test", "tester", "cli")


@pytest.fixture
def connection(database: pathlib.Path) -> Iterator[sqlite.Connection]:
    opened = sqlite.connect(database, write=True)
    yield opened
    opened.close()


def refusal(one: step.Step, **columns: step.Value) -> int:
    return one.insert("refusals", door="cli", code="UNKNOWN_GROUP", detail="{}", refused_at=one.at, **columns)


def test_the_facts_about_tables_are_those_of_the_declared_schema() -> None:
    declared: dict[str, str] = {}
    for table in schema.metadata.tables.values():
        words = []
        for column in table.columns:
            default = column.server_default
            if column.computed is None:
                takes_default = default is not None and column.name != "part"
                words.append(f"{column.name}={default.arg.text}" if takes_default else column.name)  # type: ignore[union-attr]
        declared[table.name] = " ".join(word for word in words if word not in rows.STORED_WITH.get(table.name, ()))
    del declared["audit_events"]
    for logical, stored in rows.STORED_AS.items():
        declared[logical] = declared.pop(stored)
    assert declared == rows.COLUMNS


def test_the_columns_of_an_event_are_those_of_the_declared_schema() -> None:
    assert tuple(tables_record.audit_events.columns.keys()) == step._Event._fields


def test_numbered_tables_are_those_with_a_part() -> None:
    assert {table.name for table in schema.metadata.tables.values() if "part" in table.columns} == rows.NUMBERED


def test_only_tables_whose_session_may_be_absent_keep_it_absent() -> None:
    tables = schema.metadata.tables.values()
    found = {table.name for table in tables if "session_id" in table.columns and table.columns.session_id.nullable}
    assert found == rows.NO_SESSION


def test_the_first_step_of_a_chain_is_number_one_after_nothing(connection: sqlite.Connection) -> None:
    with step.open_step(connection, "S1", AT) as one:
        assert (one.chain, one.at, one.seq, one.prev_hash) == ("S1", AT, 1, bytes(32))


def test_each_step_follows_the_one_before_it_in_its_own_chain(connection: sqlite.Connection) -> None:
    heads: dict[str, list[bytes]] = {"S1": [], "S2": []}
    for chain in ("S1", "S2", "S1", "S1", "S2"):
        with step.open_step(connection, chain, AT) as one:
            heads[chain].append(one.seal(*VIA, {}))
    for chain, expected in heads.items():
        rows = connection.execute(EVENTS, (chain,)).fetchall()
        assert [row[1] for row in rows] == list(range(1, len(expected) + 1))
        assert [row[9] for row in rows] == expected
        assert [row[8] for row in rows] == [bytes(32), *expected[:-1]]


def test_an_event_is_hashed_as_documented(connection: sqlite.Connection) -> None:
    with step.open_step(connection, "S1", AT) as one:
        refusal(one)
        head = one.seal("route", "developer", "mcp", {"b": [1, None, True], "a": "é\n"})
    (row,) = connection.execute(EVENTS, ("S1",)).fetchall()
    assert row[6] == '{"a":"é\\n","b":[1,null,true]}'
    payload = strict_json.canonical(["S1", 1, "route", "developer", "mcp", AT, row[6], row[7]])
    assert head == hashlib.sha256(bytes(32) + payload.encode()).digest() == row[9]
    assert len(head) == 32


def test_rows_are_hashed_per_table_in_order_of_insertion(connection: sqlite.Connection) -> None:
    with step.open_step(connection, "S1", AT) as one:
        refusal(one, actor="é")
        one.insert("texts", hash="h", content="c")
        refusal(one, turn=3)
        one.seal(*VIA, {})
    (rows,) = connection.execute("SELECT rows FROM audit_events WHERE session_id = 'S1'").fetchone()
    first = ["S1", 1, 1, "cli", "é", None, None, None, None, None, "UNKNOWN_GROUP", "{}", AT]
    second = ["S1", 1, 2, "cli", None, None, None, None, None, 3, "UNKNOWN_GROUP", "{}", AT]
    lines = "".join(f"{strict_json.canonical(row)}\n" for row in (first, second))
    expected = {
        "refusals": hashlib.sha256(lines.encode()).hexdigest(),
        "texts": hashlib.sha256(b'["h","c"]\n').hexdigest(),
    }
    assert rows == strict_json.canonical(expected)


def test_the_digest_of_a_row_is_that_of_the_row_read_back(connection: sqlite.Connection) -> None:
    with step.open_step(connection, constants.STORE_CHAIN, AT) as one:
        one.insert(
            "agents", id="pm-1", role="project_manager", kind="ai", active=True, created_at=AT, created_seq=one.seq
        )
        one.seal(*VIA, {})
    row = connection.execute("SELECT * FROM agents").fetchone()
    assert list(row) == ["pm-1", "project_manager", None, "ai", 1, 1, None, None, AT, one.seq]
    assert covered(connection, constants.STORE_CHAIN) == {"state": {"agents": {"pm-1": digest(row)}}}


def covered(connection: sqlite.Connection, chain: str) -> dict[str, Any]:
    sql = "SELECT rows FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
    found: dict[str, Any] = json.loads(connection.execute(sql, (chain,)).fetchone()[0])
    return found


def digest(row: Sequence[step.Value]) -> str:
    return hashlib.sha256(step.row_line(row)).hexdigest()


def test_a_column_added_at_the_end_changes_no_older_digest() -> None:
    assert step.row_line(["a", None, 1]) == step.row_line(["a", None, 1, None, None])


def test_parts_are_numbered_for_each_table(connection: sqlite.Connection) -> None:
    with step.open_step(connection, "S1", AT) as one:
        numbers = [refusal(one), one.insert("texts", hash="h", content="c"), refusal(one), refusal(one)]
        one.seal(*VIA, {})
    assert numbers == [1, 1, 2, 3]
    ids = [row[0] for row in connection.execute("SELECT id FROM refusals ORDER BY seq, part")]
    assert ids == ["S1:X1", "S1:X1.2", "S1:X1.3"]


def test_a_session_and_number_that_are_given_stand(connection: sqlite.Connection) -> None:
    with step.open_step(connection, constants.STORE_CHAIN, AT) as one:
        refusal(one, session_id="S9")
        one.seal(*VIA, {})
    assert connection.execute("SELECT session_id, seq FROM refusals").fetchall() == [("S9", one.seq)]


@pytest.mark.parametrize(
    "value",
    [1.0, float("nan"), b"x", {1: "a"}, {"a": [{"b": 0.5}]}, pytest.param(object(), id="an object")],
    ids=repr,
)
def test_what_has_no_exact_text_is_never_hashed(connection: sqlite.Connection, value: object) -> None:
    with pytest.raises(TypeError), step.open_step(connection, "S1", AT) as one:
        one.seal(*VIA, {"value": value})
    assert connection.execute(EVENTS, ("S1",)).fetchall() == []


@pytest.mark.parametrize("value", [1.0, ["x"], {"a": 1}], ids=repr)
def test_a_row_holds_plain_values_only(connection: sqlite.Connection, value: step.Value) -> None:
    with step.open_step(connection, "S1", AT) as one, pytest.raises(TypeError, match="content cannot hold"):
        one.insert("texts", hash="h", content=value)


def test_an_unknown_column_is_named(connection: sqlite.Connection) -> None:
    with step.open_step(connection, "S1", AT) as one, pytest.raises(TypeError, match="texts has no column body"):
        one.insert("texts", hash="h", content="c", body="c")


def test_reads_and_updates_take_named_parameters(connection: sqlite.Connection) -> None:
    with step.open_step(connection, "S1", AT) as one:
        assert one.execute("SELECT :a + 1", {"a": 1}).fetchone() == (2,)


class Interruption(Exception):
    pass


def interrupted(connection: sqlite.Connection, *, sealed: bool) -> None:
    with step.open_step(connection, "S1", AT) as one:
        refusal(one)
        if sealed:
            one.seal(*VIA, {})
        raise Interruption


def test_an_exception_leaves_nothing(connection: sqlite.Connection) -> None:
    with pytest.raises(Interruption):
        interrupted(connection, sealed=False)
    assert connection.execute("SELECT count(*) FROM refusals").fetchone() == (0,)
    assert not connection.in_transaction


def test_a_step_that_is_not_sealed_leaves_nothing(connection: sqlite.Connection) -> None:
    with step.open_step(connection, "S1", AT) as one:
        refusal(one)
    assert connection.execute("SELECT count(*) FROM refusals").fetchone() == (0,)
    assert not connection.in_transaction


def test_a_step_may_be_rolled_back_twice(connection: sqlite.Connection) -> None:
    with step.open_step(connection, "S1", AT) as one:
        refusal(one)
        one.rollback()
        one.rollback()
        assert not connection.in_transaction


def test_an_exception_after_the_seal_keeps_the_step(connection: sqlite.Connection) -> None:
    with pytest.raises(Interruption):
        interrupted(connection, sealed=True)
    assert len(connection.execute(EVENTS, ("S1",)).fetchall()) == 1


def write_texts(connection: sqlite.Connection, *contents: str | None) -> None:
    with step.open_step(connection, "S1", AT) as one:
        for content in contents:
            one.insert("texts", hash=str(content)[:5], content=content)
        one.seal(*VIA, {})


def test_a_constraint_speaks_for_itself_and_leaves_nothing(connection: sqlite.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        write_texts(connection, "first", None)
    assert connection.execute("SELECT count(*) FROM texts").fetchone() == (0,)


def test_the_last_event_is_one_look_into_an_index(connection: sqlite.Connection) -> None:
    plan = connection.execute(f"EXPLAIN QUERY PLAN {step.LAST_EVENT}", ("S1",)).fetchall()
    assert len(plan) == 1
    assert "SEARCH audit_events USING INDEX" in plan[0][3]


def test_a_full_disk_leaves_nothing_and_says_so(connection: sqlite.Connection) -> None:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages + 1}")
    with pytest.raises(errors.EnvironmentProblem) as caught:
        write_texts(connection, "x" * 100_000)
    assert caught.value.code == "DISK_FULL"
    assert not connection.in_transaction
    assert connection.execute("SELECT count(*) FROM texts").fetchone() == (0,)


def test_a_busy_database_is_named_after_the_deadline(database: pathlib.Path, connection: sqlite.Connection) -> None:
    other = sqlite.connect(database, write=True)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(errors.EnvironmentProblem) as caught, step.open_step(connection, "S1", AT, 0.05):
        pass
    assert caught.value.code == "BUSY"
    other.close()


def test_with_a_rollback_journal_the_commit_waits_for_readers(database: pathlib.Path) -> None:
    writer = sqlite.connect(database, write=True)
    writer.execute("PRAGMA journal_mode=DELETE")
    reader = sqlite.connect(database, write=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM texts").fetchone()
    with pytest.raises(errors.EnvironmentProblem) as caught, step.open_step(writer, "S1", AT, 0.05) as one:
        one.seal(*VIA, {})
    assert (caught.value.code, writer.in_transaction) == ("BUSY", False)
    reader.execute("COMMIT")
    with step.open_step(writer, "S1", AT, 0.05) as one:
        assert one.seq == 1
        one.seal(*VIA, {})
    reader.close()
    writer.close()


EVENT = (
    "S1", 7, "route", "developer", "cli", AT, '{"a":1}', "{}", b"p" * 32,
    step.event_hash(b"p" * 32, ("S1", 7, "route", "developer", "cli", AT, '{"a":1}', "{}")),
)  # fmt: skip


def test_an_untouched_event_verifies() -> None:
    assert step.verify_event(EVENT)


@pytest.mark.parametrize("column", range(10), ids=step._Event._fields)
def test_an_event_altered_anywhere_does_not_verify(column: int) -> None:
    old = EVENT[column]
    new = old + 1 if isinstance(old, int) else old[:-1]
    assert not step.verify_event((*EVENT[:column], new, *EVENT[column + 1 :]))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), json_values, max_size=4))
def test_equal_inputs_have_one_text_which_is_the_canonical_json(value: dict[str, object]) -> None:
    step.check_exact(value)
    assert canonical_json.exact(value) == strict_json.canonical(value)


@given(st.lists(st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]))))
def test_the_line_of_a_row_is_canonical_json_without_the_nulls_at_its_end(values: list[step.Value]) -> None:
    line = json.loads(step.row_line(values))
    assert line == values[: len(line)]
    assert set(values[len(line) :]) <= {None}
    assert step.row_line(values) == f"{strict_json.canonical(line)}\n".encode()


READ_BACK = st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize("writer", [canonical_json.LIBRARY, canonical_json.compiled()], ids=["library", "compiled"])
@given(st.tuples(READ_BACK, READ_BACK, READ_BACK))
def test_columns_that_are_packed_are_read_as_they_are(
    writer: canonical_json.Writer, values: tuple[step.Value, step.Value, step.Value]
) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a, b, c)")
        connection.execute("INSERT INTO t VALUES (?, ?, ?)", values)
        (found,) = connection.execute(f"SELECT {rows.packed(('a', 'b', 'c'))} FROM t").fetchone()
    assert writer.values(found) == list(values)


def _updated(one: step.Step) -> None:
    one.update("agents", ("pm-1",), {"active": 0})
    one.seal(*VIA, {})


def _updated_later(one: step.Step) -> None:
    one.update("agents", ("pm-1",), {"active": 0}, hold=True)
    one.seal(*VIA, {})


def _inserted(one: step.Step) -> None:
    one.insert("texts", hash="h", content="c")
    one.seal(*VIA, {})


def _tried(one: step.Step) -> None:
    with one.tried(("texts", {"hash": "h", "content": "c"})):
        pytest.fail("what was to be tried is not there, and is read")


def _executed(one: step.Step) -> None:
    one.execute("UPDATE alembic_version SET version_num = version_num", {})
    one.seal(*VIA, {})


@pytest.mark.parametrize(
    ("trigger", "write", "named"),
    [
        pytest.param("INSERT ON audit_events", _inserted, "a row of audit_events", id="event"),
        pytest.param("INSERT ON texts", _inserted, "a row of texts", id="insert"),
        pytest.param("UPDATE ON agents", _updated, "a row of agents", id="update"),
        pytest.param("UPDATE ON agents", _updated_later, "a row of agents", id="held update"),
        pytest.param("INSERT ON texts", _tried, "a row of texts", id="tried"),
        pytest.param("UPDATE ON alembic_version", _executed, "what 'UPDATE alembic_version .*' writes", id="execute"),
    ],
)
def test_a_row_that_a_foreign_trigger_skips_is_no_accepted_step(
    connection: sqlite.Connection, trigger: str, write: Callable[[step.Step], None], named: str
) -> None:
    with step.open_step(connection, constants.STORE_CHAIN, AT) as one:
        one.insert("agents", id="pm-1", role="project_manager", kind="ai", active=True, created_at=AT, created_seq=1)
        one.seal(*VIA, {})
    before = [*connection.iterdump()]
    connection.execute(f"CREATE TRIGGER skips BEFORE {trigger} BEGIN SELECT RAISE(IGNORE); END")
    with pytest.raises(errors.EnvironmentProblem, match=f"{named} was skipped") as refusal:
        _in_a_step(connection, write)
    assert refusal.value.code == "CORRUPT"
    connection.execute("DROP TRIGGER skips")
    assert [*connection.iterdump()] == before


def _in_a_step(connection: sqlite.Connection, write: Callable[[step.Step], None]) -> None:
    with step.open_step(connection, constants.STORE_CHAIN, AT) as one:
        write(one)
