"""What a replay has to find: every kind of change of a decision, of an event, of a final row, even where all else fits.

The changes are made as by somebody who has dropped the guards; the perfect forger has computed all hashes anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from orchestrator.app.audit import replay_comparison
from orchestrator.app.kernel.context import Context
from orchestrator.store import gaps, row_comparison
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.table_metadata import STORED_AS
from tests import forging
from tests.integration.app import story

SESSIONS = ("S1", story.WORK)
CHAINS = [pytest.param(SESSIONS[0], STORE_CHAIN, id="store"), *(pytest.param(each, each, id=each) for each in SESSIONS)]
EVENT_COLUMNS = ("session_id", "seq", "kind", "actor", "channel", "at", "input", "rows", "prev_hash", "hash")
TOLD_AS_RECORDED = ("router_decisions", "rules_version")
"""Which rules decided is told by the record; that they decide so is what is looked at."""
FORGED = (
    "agent_reports", "agents", "handoffs", "router_decisions", "sessions", "status_changes", "task_groups", "tasks",
)  # fmt: skip


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A record in which nearly every table has rows, without its guards."""
    path = story.written(tmp_path_factory.mktemp("finds"))
    with forging.unguarded(path) as raw:
        raw.execute("PRAGMA journal_mode=DELETE")
        connection = copied(raw)
    connection.executescript(AS_A_TABLE)
    yield connection
    connection.close()


def copied(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in memory, without references and checks."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.deserialize(connection.serialize())
    copy.executescript("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON")
    return copy


_AWAY = """DELETE FROM standalone_handoffs WHERE session_id = OLD.session_id AND group_id = OLD.group_id
        AND turn = OLD.turn;
    UPDATE router_decisions SET handoff = NULL, handoff_agent = NULL, handoff_group = NULL, handoff_group_hash = NULL
        WHERE session_id = OLD.session_id AND seq = OLD.turn AND ifnull(handoff_group, group_id) = OLD.group_id;"""
_PUT = """INSERT INTO standalone_handoffs VALUES (NEW.session_id, NEW.turn, NEW.group_id, NEW.agent_id, NEW.document,
        NEW.hash);"""
AS_A_TABLE = f"""CREATE TRIGGER gone INSTEAD OF DELETE ON handoffs BEGIN {_AWAY} END;
    CREATE TRIGGER put INSTEAD OF INSERT ON handoffs BEGIN {_PUT} END;
    CREATE TRIGGER altered INSTEAD OF UPDATE ON handoffs BEGIN {_AWAY} {_PUT} END;"""
"""With these a forger changes hand-offs like the rows of any table, wherever they are stored."""


@contextmanager
def taken_back(connection: sqlite3.Connection) -> Iterator[None]:
    """What is changed in the block is as it was after it."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def replay(connection: sqlite3.Connection, session: str) -> dict[str, Any]:
    context = Context(connection, path="a file", clock=str, door="none", channel="none", deadline_s=1.0)
    return replay_comparison.replay(context, session_id=session)


def tables(connection: sqlite3.Connection, chain: str) -> list[row_comparison._Table]:
    """The tables that are compared and have rows of a chain."""
    found = row_comparison._tables(connection, chain)
    return [table for table in found if connection.execute(table.sql, {"chain": chain}).fetchone() is not None]


def test_every_state_of_a_whole_record_has_its_step(record: sqlite3.Connection) -> None:
    sessions = [session for (session,) in record.execute("SELECT id FROM sessions")]
    assert len(sessions) > 1
    assert [each for session in sessions for each in gaps.standing(record, session)] == []


def other(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bytes):
        return bytes(len(value))
    if isinstance(value, int):
        return value + 1
    return "x" if value is None else f"{value}x"


def last_row(connection: sqlite3.Connection, table: row_comparison._Table, chain: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] = connection.execute(table.sql, {"chain": chain}).fetchall()[-1]
    return row


def where(table: row_comparison._Table, row: tuple[Any, ...]) -> tuple[str, list[Any]]:
    return " AND ".join(f'"{table.columns[place]}" IS ?' for place in table.key), [row[place] for place in table.key]


def changed(table: row_comparison._Table) -> int:
    """How many rows a statement says that it changed, when it changed one: SQLite counts none of a view."""
    return 0 if table.name in STORED_AS else 1


def set_column(connection: sqlite3.Connection, table: row_comparison._Table, row: tuple[Any, ...], place: int) -> None:
    condition, key = where(table, row)
    sql = f'UPDATE "{table.name}" SET "{table.columns[place]}" = ? WHERE {condition}'
    assert connection.execute(sql, (other(row[place]), *key)).rowcount == changed(table)


def remove(connection: sqlite3.Connection, table: row_comparison._Table, row: tuple[Any, ...]) -> None:
    condition, key = where(table, row)
    assert connection.execute(f'DELETE FROM "{table.name}" WHERE {condition}', key).rowcount == changed(table)


def add(connection: sqlite3.Connection, table: row_comparison._Table, row: tuple[Any, ...]) -> None:
    """Another row of the same chain."""
    copy = [value if name == "session_id" else other(value) for name, value in zip(table.columns, row, strict=True)]
    named = ", ".join(f'"{column}"' for column in table.columns)
    connection.execute(f'INSERT INTO "{table.name}" ({named}) VALUES ({", ".join("?" * len(copy))})', copy)


def names(answer: dict[str, Any]) -> set[str]:
    return {each["table"] for each in answer["differences"]}


@pytest.mark.parametrize("session", SESSIONS)
def test_untouched_the_record_is_equal(record: sqlite3.Connection, session: str) -> None:
    answer = replay(record, session)
    assert (answer["equal"], answer["differences"]) == (True, [])


def test_the_record_has_what_there_is_to_change(record: sqlite3.Connection) -> None:
    there = {table.name for session in SESSIONS for chain in (session, STORE_CHAIN) for table in tables(record, chain)}
    assert there >= {*FORGED, "blockers", "criteria", "runs", "run_locks", "task_dependencies", "texts", "requests"}
    assert len(there) >= 28


@pytest.mark.parametrize("session", SESSIONS)
def test_a_final_row_that_is_otherwise_is_found_in_every_table(record: sqlite3.Connection, session: str) -> None:
    chains = (session, STORE_CHAIN) if session == SESSIONS[0] else (session,)
    for chain, table in ((each, table) for each in chains for table in tables(record, each)):
        with taken_back(record):
            if table.name == "texts":
                record.execute("UPDATE texts SET content = content || 'x'")
            else:
                set_column(record, table, last_row(record, table, chain), -1)
            answer = replay(record, session)
        assert (answer["exit_code"], table.name in names(answer)) == (1, True), table.name


def test_every_column_of_a_decision_is_compared(record: sqlite3.Connection) -> None:
    session = story.WORK
    (table,) = (each for each in tables(record, session) if each.name == "router_decisions")
    row = last_row(record, table, session)
    for place, column in enumerate(table.columns):
        if column == "session_id":
            continue
        with taken_back(record):
            set_column(record, table, row, place)
            answer = replay(record, session)
        assert answer["exit_code"] == 1, column
        if (table.name, column) != TOLD_AS_RECORDED:
            assert "router_decisions" in names(answer), column


@pytest.mark.parametrize(("session", "chain"), CHAINS)
def test_every_row_and_every_column_of_every_table_is_compared(
    record: sqlite3.Connection, session: str, chain: str
) -> None:
    """Beside an untouched copy, which is what is told: the telling itself is the same for every column."""
    untouched = copied(record)
    for table in tables(record, chain):
        for act in (remove, add) if table.name not in ("texts", "sessions") else ():
            with taken_back(record):
                act(record, table, last_row(record, table, chain))
                found = {each.table for each in row_comparison.differences(record, untouched, chain)}
            assert table.name in found, f"{act.__name__} {table.name}"
        for place, column in enumerate(table.columns):
            if table.name == "texts" or column == "session_id" or (table.name, column) == ("sessions", "id"):
                continue
            with taken_back(record):
                set_column(record, table, last_row(record, table, chain), place)
                found = {each.table for each in row_comparison.differences(record, untouched, chain)}
            assert table.name in found, f"{table.name}.{column}"
    untouched.close()


@pytest.mark.parametrize("column", EVENT_COLUMNS)
@pytest.mark.parametrize(("session", "chain"), CHAINS[:2])
def test_every_column_of_an_event_is_compared(
    record: sqlite3.Connection, session: str, chain: str, column: str
) -> None:
    sql = f"SELECT rowid, {column} FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1 OFFSET 1"
    rowid, value = record.execute(sql, (chain,)).fetchone()
    changed = value + 1000 if column == "seq" else other(value)
    with taken_back(record):
        record.execute(f"UPDATE audit_events SET {column} = ? WHERE rowid = ?", (changed, rowid))
        answer = replay(record, session)
    assert (answer["exit_code"], answer["equal"]) == (1, False)


@pytest.mark.parametrize("name", FORGED)
def test_a_perfect_forgery_of_a_row_is_found(record: sqlite3.Connection, name: str) -> None:
    """All hashes fit, so that a verification finds nothing; but the rules do not lead there."""
    session = story.WORK
    (table,) = (each for each in tables(record, session) if each.name == name)
    free = [place for place, column in enumerate(table.columns) if column != "session_id" and place not in table.key]
    for place in (free[0], free[len(free) // 2], free[-1]):
        column = table.columns[place]
        forged = copied(record)
        set_column(forged, table, last_row(forged, table, session), place)
        forging.recompute(forged, session)
        answer = replay(forged, session)
        forged.close()
        assert (answer["exit_code"], name in names(answer)) == (1, True), column


@pytest.mark.parametrize("word", ["summary", "status", "current_agent"])
def test_a_perfect_forgery_of_what_was_reported_is_found(record: sqlite3.Connection, word: str) -> None:
    forged = copied(record)
    sql = "SELECT max(seq) FROM audit_events WHERE session_id = ? AND kind = 'route' AND json_extract(input, ?) <> ''"
    (seq,) = forged.execute(sql, (story.WORK, f"$.{word}")).fetchone()
    sql = "UPDATE audit_events SET input = json_set(input, ?, 'another') WHERE session_id = ? AND seq = ?"
    forged.execute(sql, (f"$.{word}", story.WORK, seq))
    forging.recompute(forged, story.WORK)
    answer = replay(forged, story.WORK)
    forged.close()
    assert (answer["exit_code"], answer["equal"]) == (1, False)
