"""The statements themselves, and what holds for every table."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from orchestrator.store import constants, guards, guards_imported, guards_tables, schema
from tests.cases import every
from tests.integration.store import ledger
from tests.integration.store.ledger import refused

TABLES = [table.name for table in schema.metadata.sorted_tables]
MUTABLE = {
    "agents", "blockers", "criteria", "group_dependencies", "questions", "run_locks", "runs", "sessions", "starts",
    "task_dependencies", "task_groups", "tasks", "turn_runs",
}  # fmt: skip


# --- the statements themselves


def objects(connection: sqlite3.Connection, kind: str) -> dict[str, str]:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = ?", [kind])
    return {row["name"]: row["sql"] for row in rows}


def test_the_database_keeps_every_statement_as_it_is_declared(book: ledger.Ledger) -> None:
    assert objects(book.connection, "view") == dict(guards.VIEWS)
    assert objects(book.connection, "trigger") == dict(guards.TRIGGERS)


def test_every_name_is_used_once() -> None:
    names = [name for name, _ in (*guards.VIEWS, *guards.TRIGGERS)]
    assert sorted(names) == sorted(set(names))


def test_guards_can_be_taken_away_and_put_back(book: ledger.Ledger) -> None:
    guards.drop_all(book.connection)
    guards.drop_all(book.connection)
    assert objects(book.connection, "view") | objects(book.connection, "trigger") == {}
    guards.create_all(book.connection)
    assert objects(book.connection, "trigger") == dict(guards.TRIGGERS)


def test_guards_are_made_through_sqlalchemy_as_well() -> None:
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        schema.metadata.create_all(connection)
        guards.create_all(connection)
        found = connection.exec_driver_sql("SELECT name FROM sqlite_schema WHERE type = 'trigger'").scalars().all()
        assert sorted(found) == sorted(name for name, _ in guards.TRIGGERS)
        guards.drop_all(connection)
    engine.dispose()


def test_every_table_either_stays_as_written_or_has_rules_of_its_own() -> None:
    assert set(guards_tables.APPEND_ONLY) | MUTABLE == set(TABLES)
    assert set(guards_tables.APPEND_ONLY) & MUTABLE == set()


def functions_of(connection: sqlite3.Connection, sql: str) -> set[str]:
    """The SQL functions that a statement calls, its triggers and views included."""
    found: set[str] = set()

    def note(action: int, _: str | None, name: str | None, *rest: str | None) -> int:
        if action == sqlite3.SQLITE_FUNCTION and name:
            found.add(name)
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    connection.execute(f"EXPLAIN {sql}")
    connection.set_authorizer(None)
    return found


@pytest.mark.parametrize("view", [name for name, _ in guards.VIEWS])
def test_a_view_calls_no_function(book: ledger.Ledger, view: str) -> None:
    assert functions_of(book.connection, f"SELECT * FROM {view}") == set()


@pytest.mark.parametrize("table", TABLES)
def test_the_triggers_of_a_table_call_no_function_but_the_tripwire(book: ledger.Ledger, table: str) -> None:
    column = schema.metadata.tables[table].columns.keys()[0]
    assert functions_of(book.connection, f"INSERT INTO {table} ({column}) VALUES (1)") == {constants.WRITE_FUNCTION}
    assert functions_of(book.connection, f"UPDATE {table} SET {column} = 1") == {constants.WRITE_FUNCTION}
    assert functions_of(book.connection, f"DELETE FROM {table}") == set()


def test_a_status_may_be_tried_without_the_tripwire(book: ledger.Ledger) -> None:
    names = ", ".join(f"{name} = 1" for name in guards_tables.GUARDED_BY_NAME)
    assert functions_of(book.connection, f"UPDATE task_groups SET {names}") == set()


# --- every table

UNCLAIMED = dict.fromkeys(("claim_holder", "claim_token", "claim_until", "claim_beat_at"))
PARTICULAR: dict[str, dict[str, Any]] = {
    "agents": {"kind": "ai"},
    "audit_events": {"kind": guards_imported.EVENT},
    "blockers": {"class": "hard", "cause": "manual", "external": 0, "external_dependency": None},
    "criteria": {"status": "open", "metric": None, "operator": None, "target": None, "actual": None},
    "evidence": {"path": None},
    "group_dependencies": {"depends_on": "y"},
    "questions": {"kind": "review"},
    "human_credentials": {"kind": "passphrase"},
    "resume_points": {"status": "partial", "class": "soft"},
    "router_decisions": {
        "report_id": None,
        "handoff_agent": None,
        "handoff": None,
        "handoff_group": None,
        "handoff_group_hash": None,
    },
    "run_events": {"level": "summary"},
    "run_files": {"detection_method": "diff"},
    "run_locks": {"mode": "read"},
    "runs": {"state": "queued", "task_type": "IMPLEMENTATION", "executor_status": None, "owner": None},
    "starts": {"via": "hook", "isolation": None, "outcome": None, "reason": None, "due_at": None},
    "task_dependencies": {"depends_on_id": "y"},
    "turn_runs": {"state": "queued", "ended_at": None},
    "tasks": {"status": "todo", "version": 1, "parent_id": None, "former_status": None, "blocked_reason": None}
    | UNCLAIMED,
    "sessions": {
        "kind": "orchestration",
        "mode": "simple",
        "testing_mode": "full",
        "status": "active",
        "outcome": None,
    },
    "task_groups": {"kind": "code", "status": "pending", "awaited_role": None, "held": None},
}
VALUES: tuple[tuple[type[sa.types.TypeEngine[Any]], Any], ...] = (
    (sa.Integer, 1),
    (sa.LargeBinary, b"h"),
    (sa.Text, "x"),
)


def sample(name: str) -> dict[str, Any]:
    """A row of a table that its checks allow; what closes a row is left open."""
    table = schema.metadata.tables[name]
    row = {
        column.name: next(value for kind, value in VALUES if isinstance(column.type, kind))
        for column in table.columns
        if column.computed is None and not re.match("resol|closed|removed|released|ended", column.name)
    }
    return row | PARTICULAR.get(name, {})


def put(connection: sqlite3.Connection, verb: str, table: str, row: dict[str, Any], tail: str = "") -> None:
    names, places = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    connection.execute(f"{verb} INTO {table} ({names}) VALUES ({places}) {tail}", list(row.values()))


IN_ORDER = sorted(TABLES, key=lambda name: (name == "audit_events", name != "imported_sessions"))
"""What was imported comes before the event of its step, after which it is refused to everybody."""


@pytest.fixture
def filled() -> Iterator[sqlite3.Connection]:
    """A database with one row in every table."""
    connection = ledger.empty()
    connection.execute("PRAGMA foreign_keys = OFF")
    for table in IN_ORDER:
        put(connection, "INSERT", table, sample(table))
    yield connection
    connection.close()


def content(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in connection.execute(f"SELECT * FROM {table}")]


@every("table", TABLES)
def test_no_row_is_ever_deleted(filled: sqlite3.Connection, table: str) -> None:
    with refused("NEVER_DELETED"):
        filled.execute(f"DELETE FROM {table}")
    assert len(content(filled, table)) == 1


@every("table", guards_tables.APPEND_ONLY)
@every("verb", ["UPDATE", "UPDATE OR REPLACE"])
def test_no_row_of_the_record_ever_changes(filled: sqlite3.Connection, verb: str, table: str) -> None:
    for column in sample(table):
        with refused("NEVER_CHANGED"):
            filled.execute(f'{verb} {table} SET "{column}" = 9')


KEYS = [(table.name, key) for table in schema.metadata.sorted_tables for key in guards_tables.unique_keys(table)]
BY_EVERY_VERB = pytest.mark.parametrize("verb", ["INSERT", "REPLACE", "INSERT OR REPLACE", "INSERT OR IGNORE"])


@BY_EVERY_VERB
@every(("table", "key"), KEYS)
def test_a_key_is_taken_once(filled: sqlite3.Connection, table: str, key: tuple[str, ...], verb: str) -> None:
    before = content(filled, table)
    row = {name: 7 if isinstance(value, int) else "z" for name, value in sample(table).items()}
    row |= PARTICULAR.get(table, {}) | {name: sample(table).get(name, 1) for name in key}
    with refused("ALREADY_EXISTS"):
        put(filled, verb, table, row)
    assert content(filled, table) == before


@every("table", TABLES)
@every("tail", ["ON CONFLICT DO NOTHING", "ON CONFLICT DO UPDATE SET {column} = 'q'"])
def test_nothing_is_written_over_by_an_upsert(filled: sqlite3.Connection, table: str, tail: str) -> None:
    column = next(iter(sample(table)))
    with refused("ALREADY_EXISTS"):
        put(filled, "INSERT", table, sample(table), tail.format(column=column))


WITH_HANDOFF = {"group_id": "x", "handoff_agent": "a", "handoff": "{}", "handoff_hash": "h"}
STARTING = {
    "group_id": "other", "handoff_agent": "a", "handoff": "{}", "handoff_group": "x", "handoff_group_hash": "h",
}  # fmt: skip
"""A decision on one group whose hand-off starts another one."""
HELD = pytest.raises(sqlite3.IntegrityError, match="ALREADY_EXISTS: handoffs has a row with this session_id, group_id")


def started(connection: sqlite3.Connection, *seqs: int, **other: Any) -> None:
    """Record that a group was started in each of these steps."""
    move = {"entity": "group", "entity_id": "x", "to_status": "in_progress", "part": 2}
    for seq in seqs:
        put(connection, "INSERT", "status_changes", sample("status_changes") | move | {"seq": seq} | other)


@pytest.mark.parametrize("with_handoff", [WITH_HANDOFF, STARTING], ids=["own", "another"])
@BY_EVERY_VERB
def test_a_turn_has_one_hand_off_wherever_it_is_stored(
    filled: sqlite3.Connection, verb: str, with_handoff: dict[str, str]
) -> None:
    decision, alone = sample("router_decisions") | with_handoff, sample("standalone_handoffs")
    group = "handoff_group" if "handoff_group" in with_handoff else "group_id"
    started(filled, 1, 2, 4)
    started(filled, 2, session_id="z")
    started(filled, 2, entity_id="z", part=3)
    with HELD:
        put(filled, verb, "router_decisions", decision | {"part": 2})
    put(filled, verb, "router_decisions", decision | {"seq": 2})
    with HELD:
        put(filled, verb, "router_decisions", decision | {"seq": 2, "part": 2})
    with HELD:
        put(filled, verb, "standalone_handoffs", alone | {"turn": 2})
    for other in ({"session_id": "y"}, {"group_id": "y"}, {"turn": 3}):
        put(filled, verb, "standalone_handoffs", alone | {"turn": 2} | other)
    for other in ({"session_id": "z"}, {group: "z"}, {"seq": 4}):
        put(filled, verb, "router_decisions", decision | {"seq": 2, "part": 3} | other)
    put(filled, verb, "router_decisions", sample("router_decisions") | {"seq": 3})
    found = content(filled, "handoffs")
    assert len(found) == 8
    assert ("x", 2, "x", "a", "{}", "h") in found


@pytest.mark.parametrize(
    ("whole", "missing"),
    [
        *((WITH_HANDOFF, {name: None}) for name in WITH_HANDOFF),
        *((STARTING, {name: None}) for name in STARTING if name != "group_id"),
        (STARTING, {"handoff_agent": None, "handoff": None}),
        (STARTING, {"handoff_group": None, "handoff_group_hash": None, "handoff_hash": None}),
    ],
)
def test_a_hand_off_with_its_decision_is_whole(
    filled: sqlite3.Connection, whole: dict[str, str], missing: dict[str, None]
) -> None:
    started(filled, 2)
    with refused("HANDOFF_INCOMPLETE"):
        put(filled, "INSERT", "router_decisions", sample("router_decisions") | whole | {"seq": 2} | missing)


@pytest.mark.parametrize("half", ["handoff", "handoff_agent"])
def test_half_of_a_hand_off_is_seen_which_only_a_forger_writes(filled: sqlite3.Connection, half: str) -> None:
    filled.execute("DROP TRIGGER router_decisions_insert_needs_orchestrator_and_new_key")
    before = len(content(filled, "handoffs"))
    put(filled, "INSERT", "router_decisions", sample("router_decisions") | {"seq": 2, half: "x"})
    assert len(content(filled, "handoffs")) == before + 1


def test_a_hand_off_for_another_group_than_the_decision_s_needs_the_move_that_starts_that(
    filled: sqlite3.Connection,
) -> None:
    decision = sample("router_decisions") | STARTING | {"seq": 2}
    started(filled, 1, part=3)
    started(filled, 2, session_id="y")
    started(filled, 2, entity="task", part=3)
    started(filled, 2, entity_id="y", part=4)
    started(filled, 2, to_status="completed", part=5)
    with refused("STATUS_CHANGE_MISSING"):
        put(filled, "INSERT", "router_decisions", decision)
    started(filled, 2)
    put(filled, "INSERT", "router_decisions", decision)
    assert ("x", 2, "x", "a", "{}", "h") in content(filled, "handoffs")


@pytest.mark.parametrize("missing", WITH_HANDOFF)
def test_half_a_hand_off_that_somebody_forged_is_seen(filled: sqlite3.Connection, missing: str) -> None:
    triggers = filled.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'router_decisions'")
    for (name,) in triggers.fetchall():
        filled.execute(f"DROP TRIGGER {name}")
    before = len(content(filled, "handoffs"))
    put(filled, "INSERT", "router_decisions", sample("router_decisions") | WITH_HANDOFF | {"seq": 2, missing: None})
    assert len(content(filled, "handoffs")) == before + 1


def test_nothing_is_written_through_the_view_of_hand_offs(filled: sqlite3.Connection) -> None:
    for statement in ("UPDATE handoffs SET document = ''", "DELETE FROM handoffs", "INSERT INTO handoffs VALUES (1)"):
        with pytest.raises(sqlite3.OperationalError, match="cannot modify handoffs because it is a view"):
            filled.execute(statement)


def test_a_further_row_with_keys_of_its_own_is_welcome(filled: sqlite3.Connection) -> None:
    put(filled, "INSERT", "texts", {"hash": "other", "content": "c"})
    put(filled, "INSERT", "agent_reports", sample("agent_reports") | {"seq": 2})
    assert [len(content(filled, name)) for name in ("texts", "agent_reports")] == [2, 2]


@every("table", TABLES)
@every("answer", [0, None, "1x"])
def test_a_write_function_that_does_not_answer_one_opens_nothing(
    filled: sqlite3.Connection, table: str, answer: int | str | None
) -> None:
    filled.create_function(constants.WRITE_FUNCTION, 0, lambda: answer)
    column = next(iter(sample(table)))
    with pytest.raises(sqlite3.IntegrityError, match=r"WRITE_REFUSED|NEVER_CHANGED"):
        filled.execute(f'UPDATE {table} SET "{column}" = "{column}"')
    row = {name: 7 if isinstance(value, int) else "z" for name, value in sample(table).items()}
    with refused("WRITE_REFUSED"):
        put(filled, "INSERT", table, row | PARTICULAR.get(table, {}))


# --- a stranger, who finds a door that is open to the orchestrator


@pytest.fixture
def entrance(table: str) -> Iterator[sqlite3.Connection]:
    """A stranger's connection in the middle of a step, when a sample of the table is welcome as the next row."""
    written, strangers = ledger.empty(), sqlite3.connect(":memory:", isolation_level=None)
    written.execute("PRAGMA foreign_keys = OFF")
    for each in IN_ORDER[: IN_ORDER.index(table)]:
        put(written, "INSERT", each, sample(each))
    written.backup(strangers)
    written.close()
    yield strangers
    strangers.close()


@pytest.mark.parametrize("table", TABLES)
def test_what_the_orchestrator_may_insert_a_stranger_may_not(entrance: sqlite3.Connection, table: str) -> None:
    with pytest.raises(sqlite3.OperationalError, match=f"no such function: {constants.WRITE_FUNCTION}"):
        put(entrance, "INSERT", table, sample(table))
    assert content(entrance, table) == []


@pytest.mark.parametrize("table", TABLES)
def test_a_stranger_s_own_write_function_opens_no_entrance(entrance: sqlite3.Connection, table: str) -> None:
    """Only the tripwire speaks here: whatever else guards a table has nothing against the row."""
    entrance.create_function(constants.WRITE_FUNCTION, 0, lambda: 0)
    with refused("WRITE_REFUSED"):
        put(entrance, "INSERT", table, sample(table))
    assert content(entrance, table) == []
    ledger.register(entrance)
    put(entrance, "INSERT", table, sample(table))
    assert len(content(entrance, table)) == 1
