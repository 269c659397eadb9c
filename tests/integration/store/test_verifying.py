"""A record that somebody changed from outside is caught, wherever it was changed; one that nobody changed is whole."""

from __future__ import annotations

import json
import pathlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app.kernel.context import Context
from orchestrator.doors.python import Orchestrator
from orchestrator.store import content_store, findings, row_hashes, schema, step, verify_chain
from orchestrator.store import table_metadata as rows
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.row_hashes import Span
from tests import forging
from tests.acceptance import walking
from tests.acceptance.test_replay import MIXED
from tests.cases import every
from tests.conftest import LONG
from tests.integration.app import story
from tests.integration.store.conftest import Unprivileged

MANY = 10_000
TABLES = sorted(schema.metadata.tables)
COLUMNS = [
    (table, column.name)
    for table in TABLES
    for column in schema.metadata.tables[table].columns
    if column.computed is None
]
READ_AS = {stored: table for table, stored in rows.STORED_AS.items()}
"""The name under which rows of a table are read and covered, where it is another."""
ALTERED = {
    **{table: {"ROWS_ALTERED", "ROWS_MISSING"} for table in row_hashes.WRITTEN},
    **{table: {"STATE_ALTERED", "STATE_MISSING"} for table in row_hashes.CHANGING},
    "audit_events": {"EVENT_ALTERED", "EVENT_MISSING", "EVENT_UNLINKED"},
    "texts": {"TEXT_ALTERED", "TEXT_MISSING"},
}
"""What tells of a row that was altered, moved or deleted."""


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The story's database without its triggers."""
    path = story.written(tmp_path_factory.mktemp("verifying"))
    connection = sqlite3.connect(path, isolation_level=None)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    serialised: bytes = connection.serialize()
    connection.close()
    # In memory there is no write-ahead log.
    return serialised[:18] + b"\x01\x01" + serialised[20:]


@pytest.fixture
def raw(content: bytes) -> Iterator[sqlite3.Connection]:
    """A connection to a copy that nothing guards."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(content)
    connection.executescript("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON")
    yield connection
    connection.close()


def found(connection: sqlite3.Connection, *spans: Span) -> list[findings.Finding]:
    """Everything that verifying finds, in the whole database where no span is named."""
    noted = findings.Found("file.db", MANY)
    for span in spans or (Span(STORE_CHAIN), Span(None)):
        verify_chain.verify(connection, span, noted)
        content_store.compare(connection, span, noted)
    return noted.kept


def told(connection: sqlite3.Connection, *spans: Span) -> set[tuple[str, int | None, str | None]]:
    """The same as code, step and table."""
    return {(each.code, each.seq, each.table) for each in found(connection, *spans)}


def place(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int:
    """The step that the record says wrote a row last."""
    if table == "texts":
        return _one(connection, "SELECT min(seq) FROM agent_reports WHERE raw_hash = :hash", row)
    if table in row_hashes.CHANGING:
        key = step.state_key(tuple(row[name] for name in rows.KEYS[table]))
        events = connection.execute("SELECT session_id, seq, rows FROM audit_events ORDER BY rowid").fetchall()
        of_chain = [event for event in events if table in ("agents", "sessions") or event[0] == row["session_id"]]
        steps = [seq for _, seq, covered in of_chain if key in json.loads(covered).get("state", {}).get(table, {})]
        return int(steps[-1])
    if "workflow_version_id" in row and table in ("workflow_transitions", "agent_files"):
        return _one(connection, "SELECT seq FROM workflow_versions WHERE id = :workflow_version_id", row)
    return int(row["turn"] if table == "standalone_handoffs" else row["seq"])


def _one(connection: sqlite3.Connection, sql: str, parameters: dict[str, Any]) -> int:
    return int(connection.execute(sql, parameters).fetchone()[0])


def rows_of(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    """The rows of a table by the names of their columns."""
    names = [column.name for column in schema.metadata.tables[table].columns if column.computed is None]
    listed = ", ".join(f'"{name}"' for name in names)
    return [dict(zip(names, row, strict=True)) for row in connection.execute(f"SELECT {listed} FROM {table}")]


def where(row: dict[str, Any]) -> str:
    return " AND ".join(f'"{name}" IS :{name}' for name in row)


def another(value: Any) -> Any:
    """A value of the same kind that is not the same."""
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    if isinstance(value, int):
        return value + 1000
    return "forged" if value is None else f"{value} forged"


def test_the_story_has_rows_in_every_table(raw: sqlite3.Connection) -> None:
    assert [table for table in TABLES if not rows_of(raw, table)] == []


def test_a_record_that_nobody_touched_is_whole(raw: sqlite3.Connection) -> None:
    assert found(raw) == []
    chains = [row[0] for row in raw.execute("SELECT DISTINCT session_id FROM audit_events")]
    assert {chain: found(raw, Span(chain)) for chain in chains} == {chain: [] for chain in chains}


@every(("table", "column"), COLUMNS)
def test_every_column_of_every_table_is_covered(raw: sqlite3.Connection, table: str, column: str) -> None:
    known = rows_of(raw, table)
    chosen = [known[-1]] if table == "audit_events" else [known[len(known) // 2]]
    for row in {id(row): row for row in (known[0], *chosen, known[-1])}.values() if LONG else chosen:
        raw.execute("SAVEPOINT whole")
        seq = place(raw, table, row)
        changed = raw.execute(
            f'UPDATE {table} SET "{column}" = :_value WHERE {where(row)}', {**row, "_value": another(row[column])}
        ).rowcount
        assert changed == 1
        if table == "audit_events" and column == "session_id" and row is known[-1]:
            # The end of its chain is gone: what it wrote tells of a step that no event is known for.
            assert {each.code for each in found(raw)} & CUT
        else:
            covering = "handoffs" if column in rows.STORED_WITH.get(table, ()) else READ_AS.get(table, table)
            assert {(code, seq, covering) for code in ALTERED[covering]} & told(raw)
        raw.execute("ROLLBACK TO whole")
    assert found(raw) == []


@pytest.mark.parametrize("table", TABLES)
def test_no_row_can_be_deleted(raw: sqlite3.Connection, table: str) -> None:
    heads = dict(raw.execute("SELECT session_id, max(seq) FROM audit_events GROUP BY session_id"))
    for row in rows_of(raw, table):
        raw.execute("SAVEPOINT whole")
        seq = place(raw, table, row)
        raw.execute(f"DELETE FROM {table} WHERE {where(row)}", row)
        if table == "audit_events" and heads[row["session_id"]] == seq:
            assert {each.code for each in found(raw)} & CUT
        else:
            covering = READ_AS.get(table, table)
            assert {(code, seq, covering) for code in ALTERED[covering]} & told(raw)
        raw.execute("ROLLBACK TO whole")


KEYS: dict[str, dict[str, Any]] = {
    "acknowledgements": {"seq": 999},
    "adoptions": {"seq": 999},
    "agent_files": {"name": "forged.md"},
    "agent_reports": {"seq": 999},
    "agents": {"id": "forged"},
    "blockers": {"id": "forged"},
    "context_items": {"seq": 999},
    "criteria": {"id": "forged"},
    "deferrals": {"seq": 999},
    "evidence": {"seq": 999},
    "grandfathered_groups": {"group_id": "forged", "seq": 999},
    "group_dependencies": {"seq": 999},
    "human_credentials": {"id": "forged", "seq": 999, "ends": "forged"},
    "human_tokens": {"id": "forged", "seq": 999, "hash": "forged"},
    "import_findings": {"seq": 999},
    "imported_logs": {"seq": 999},
    "imported_sessions": {"session_id": "S2"},
    "notices": {"seq": 999},
    "projects": {"id": "forged", "seq": 999, "path": "/forged", "alias": "forged"},
    "questions": {"id": "forged"},
    "refusals": {"seq": 999},
    "requests": {"request_id": "forged", "seq": 999},
    "resume_points": {"seq": 999},
    "router_decisions": {"seq": 999},
    "run_events": {"seq": 999},
    "run_files": {"seq": 999},
    "run_locks": {"seq": 999},
    "run_violations": {"seq": 999},
    "runs": {"id": "forged", "log_id": "forged"},
    "sessions": {"id": "forged"},
    "standalone_handoffs": {"turn": 999},
    "starts": {"seq": 999},
    "status_changes": {"seq": 999},
    "task_dependencies": {"seq": 999},
    "task_groups": {"id": "forged"},
    "tasks": {"id": "forged"},
    "texts": {"hash": "forged"},
    "turn_runs": {"id": "forged"},
    "workflow_activations": {"seq": 999},
    "workflow_transitions": {"response_status": "FORGED"},
    "workflow_versions": {"id": 999, "hash": "forged", "seq": 999},
}
"""How a row is copied under another key."""
ADDED = {
    **dict.fromkeys(row_hashes.WRITTEN, "ROWS_UNCOVERED"),
    **dict.fromkeys(row_hashes.CHANGING, "STATE_UNCOVERED"),
    **dict.fromkeys(("agent_files", "workflow_transitions"), "ROWS_ALTERED"),
    "texts": "TEXT_UNCOVERED",
    "sessions": "ROWS_ORPHANED",
}


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    listed, places = ", ".join(f'"{name}"' for name in row), ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({listed}) VALUES ({places})", row)


def test_every_table_has_a_way_to_add_a_row_to_it() -> None:
    assert {*KEYS, "audit_events"} == set(TABLES)


@pytest.mark.parametrize("table", KEYS)
def test_no_row_can_be_added(raw: sqlite3.Connection, table: str) -> None:
    row = rows_of(raw, table)[0] | KEYS[table]
    insert(raw, table, row)
    covering = READ_AS.get(table, table)
    assert (ADDED[covering], created(raw, table, row), covering) in told(raw)


def created(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int | None:
    """The step that a new row claims to be of."""
    if table in ("texts", "sessions"):
        return None if table == "texts" else 1
    column = next((name for name in ("created_seq", "opened_seq", "seq", "turn") if name in row), None)
    return place(connection, table, row) if column is None else int(row[column])


@pytest.mark.parametrize("table", [table for table in TABLES if "session_id" in schema.metadata.tables[table].columns])
def test_rows_of_a_session_that_does_not_exist_are_orphans(raw: sqlite3.Connection, table: str) -> None:
    row = rows_of(raw, table)[0] | KEYS.get(table, {}) | {"session_id": "ghost"}
    insert(raw, table, row)
    assert {(each.code, each.chain) for each in found(raw) if each.table == READ_AS.get(table, table)} >= {
        ("EVENT_MISSING" if table == "audit_events" and row["seq"] > 1 else
         "EVENT_ALTERED" if table == "audit_events" else "ROWS_ORPHANED", "ghost")
    }  # fmt: skip


def test_a_whole_chain_without_its_session_is_an_orphan(raw: sqlite3.Connection) -> None:
    fields = ("ghost", 1, "session create", "x", "cli", "t", "{}", "{}")
    hash_ = step.event_hash(step.FIRST_HASH, fields)
    raw.execute("INSERT INTO audit_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*fields, step.FIRST_HASH, hash_))
    assert [(each.code, each.chain, each.table) for each in found(raw)] == [("ROWS_ORPHANED", "ghost", "audit_events")]


CUT = {"ROWS_UNCOVERED", "STATE_UNCOVERED", "STATE_ALTERED", "ROWS_ORPHANED"}
"""What tells that the end of a chain was cut off, and what it wrote was not."""
SWAPS = {
    "two texts of reports": (
        "UPDATE agent_reports SET response_status = CASE seq WHEN 6 THEN 'BLOCKED' ELSE 'PLANNING_COMPLETE' END"
        " WHERE session_id = 'S3' AND seq IN (6, 8)",
        {("ROWS_ALTERED", 6, "agent_reports"), ("ROWS_ALTERED", 8, "agent_reports")},
    ),
    "the numbers of two reports": (
        "UPDATE agent_reports SET seq = 1000 + 16 - seq WHERE session_id = 'S3' AND seq IN (7, 9);"
        "UPDATE agent_reports SET seq = seq - 1000 WHERE seq > 1000",
        {("ROWS_ALTERED", 7, "agent_reports"), ("ROWS_ALTERED", 9, "agent_reports")},
    ),
    "the order of two rows of one step": (
        "UPDATE imported_logs SET part = 1000 + 3 - part WHERE session_id = 'trip_1' AND part IN (1, 2);"
        "UPDATE imported_logs SET part = part - 1000 WHERE part > 1000",
        {("ROWS_ALTERED", 1, "imported_logs")},
    ),
    "two events": (
        "UPDATE audit_events SET seq = 1000 + 11 - seq WHERE session_id = 'S3' AND seq IN (5, 6);"
        "UPDATE audit_events SET seq = seq - 1000 WHERE seq > 1000",
        {("EVENT_ALTERED", 5, "audit_events"), ("EVENT_ALTERED", 6, "audit_events"),
         ("EVENT_UNLINKED", 5, "audit_events"), ("EVENT_UNLINKED", 6, "audit_events"),
         ("EVENT_UNLINKED", 7, "audit_events")},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), SWAPS.values(), ids=SWAPS)
def test_rows_in_another_order_are_found(
    raw: sqlite3.Connection, statements: str, expected: set[tuple[str, int, str]]
) -> None:
    raw.executescript(statements)
    assert expected <= told(raw)


def test_missing_steps_are_told_at_once(raw: sqlite3.Connection) -> None:
    raw.execute("DELETE FROM audit_events WHERE session_id = 'S3' AND seq BETWEEN 5 AND 7")
    missing = [each for each in found(raw) if each.code == "EVENT_MISSING"]
    assert [(each.seq, each.message) for each in missing] == [(5, "Steps 5 to 7 are missing.")]


def test_an_event_with_an_impossible_number_is_found(raw: sqlite3.Connection) -> None:
    row = rows_of(raw, "audit_events")[3] | {"seq": 0}
    insert(raw, "audit_events", row)
    assert ("EVENT_ADDED", 0, "audit_events") in told(raw)


# Forgers


def head_of(connection: sqlite3.Connection, chain: str) -> verify_chain.Head:
    return verify_chain.Head(*connection.execute(step.LAST_EVENT, (chain,)).fetchone())


def knows(connection: sqlite3.Connection, head: verify_chain.Head, span: Span) -> bool:
    return verify_chain.verify(connection, span, findings.Found("", 1), head).head


@pytest.mark.parametrize("noted", [verify_chain.Head(0, b"x"), None], ids=["by its hash alone", "with its number"])
def test_a_chain_that_was_written_anew_is_caught_by_a_noted_head_alone(
    raw: sqlite3.Connection, noted: verify_chain.Head | None
) -> None:
    head = head_of(raw, "S3")
    head = head._replace(seq=0) if noted else head
    assert (knows(raw, head, Span("S3")), knows(raw, head, Span(None))) == (True, True)
    raw.execute("UPDATE agent_reports SET summary = 'all is well' WHERE session_id = 'S3' AND seq = 8")
    raw.execute("UPDATE task_groups SET name = 'another' WHERE session_id = 'S3'")
    assert found(raw) != []
    forging.recompute(raw, "S3")
    assert found(raw) == []
    assert (knows(raw, head, Span("S3")), knows(raw, head, Span(None))) == (False, False)


def test_a_tail_that_was_cut_off_cleanly_is_caught_by_a_noted_head_alone(raw: sqlite3.Connection) -> None:
    head = head_of(raw, "S3")
    for table, column in (("evidence", "seq"), ("audit_events", "seq")):
        raw.execute(f"DELETE FROM {table} WHERE session_id = 'S3' AND {column} = {head.seq}")
    assert found(raw) == []
    assert not knows(raw, head, Span("S3"))
    assert knows(raw, head_of(raw, "S3"), Span("S3"))


def test_an_older_head_stays_part_of_the_record(raw: sqlite3.Connection) -> None:
    sql = "SELECT seq, hash FROM audit_events WHERE session_id = 'S3' AND seq = 4"
    head = verify_chain.Head(*raw.execute(sql).fetchone())
    assert all(knows(raw, head, span) for span in (Span("S3"), Span("S3", 2), Span("S3", 4), Span("S3", 9), Span(None)))
    assert not knows(raw, head._replace(seq=5), Span("S3"))


def test_recomputing_changes_nothing_where_nothing_was_changed(raw: sqlite3.Connection) -> None:
    head = head_of(raw, "trip_1")
    forging.recompute(raw, "trip_1")
    assert head_of(raw, "trip_1") == head


@pytest.mark.parametrize("rows", ["", "[]", "{", '{"state": 1}', '{"state": {"sessions": []}}', "[" * 100_000, "\x00"])
def test_an_event_that_covers_nonsense_stops_nothing(raw: sqlite3.Connection, rows: str) -> None:
    raw.execute("UPDATE audit_events SET rows = ? WHERE session_id = 'S3' AND seq = 5", (rows,))
    assert ("EVENT_ALTERED", 5, "audit_events") in told(raw)


OTHER_TYPES = (b"\xff\xfe", 1.5, 10**15)


@every("table", TABLES)
def test_values_of_other_types_stop_nothing(raw: sqlite3.Connection, table: str) -> None:
    columns = [each for each in schema.metadata.tables[table].columns if each.computed is None and not each.primary_key]
    for number, column in enumerate(columns):
        for value in OTHER_TYPES if LONG else (OTHER_TYPES[number % 3],):
            raw.execute("SAVEPOINT whole")
            raw.execute(f'UPDATE OR IGNORE {table} SET "{column.name}" = ?', (value,))
            assert found(raw) != [] or raw.execute("SELECT changes()").fetchone() == (0,)
            raw.execute("ROLLBACK TO whole")


def test_text_that_is_no_text_stops_nothing(raw: sqlite3.Connection) -> None:
    for table, column in (("agent_reports", "summary"), ("agents", "role"), ("texts", "content")):
        raw.execute(f"UPDATE {table} SET {column} = CAST(x'ff41' AS TEXT)")
    raw.execute("UPDATE audit_events SET rows = CAST(x'ff41' AS TEXT) WHERE session_id = 'S3' AND seq = 5")
    raw.execute("UPDATE blockers SET reason = x'ff'")
    assert {"ROWS_ALTERED", "EVENT_ALTERED", "TEXT_ALTERED", "STATE_ALTERED"} <= {each[0] for each in told(raw)}


# Only what came after a step


def test_what_was_verified_before_is_trusted(raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE agent_reports SET summary = 'forged' WHERE session_id = 'S3' AND seq = 8")
    raw.execute("UPDATE audit_events SET actor = 'forged' WHERE session_id = 'S3' AND seq = 8")
    assert {seq for _, seq, _ in told(raw, Span("S3", 7))} == {8}
    assert found(raw, Span("S3", 8)) == []


def test_rows_that_were_touched_later_are_compared(raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE sessions SET goal = 'forged' WHERE id = 'S3'")
    raw.execute("UPDATE task_groups SET name = 'forged' WHERE session_id = 'S3' AND id = 'A'")
    seq = place(raw, "sessions", {"id": "S3"})
    assert ("STATE_ALTERED", seq, "sessions") in told(raw, Span("S3", seq - 1))
    untouched = place(raw, "task_groups", {"id": "A", "session_id": "S3"})
    assert not [each for each in found(raw, Span("S3", untouched)) if each.table == "task_groups"]


def test_rows_that_were_added_later_are_found(raw: sqlite3.Connection) -> None:
    insert(raw, "agent_reports", rows_of(raw, "agent_reports")[-1] | {"session_id": "S3", "seq": 900})
    group = rows_of(raw, "task_groups")[-1] | {"session_id": "S3", "id": "forged", "created_seq": 17}
    insert(raw, "task_groups", group)
    assert told(raw, Span("S3", 16)) == {
        ("ROWS_UNCOVERED", 900, "agent_reports"), ("STATE_UNCOVERED", 17, "task_groups"),
    }  # fmt: skip


def test_a_row_that_is_gone_is_missed_where_it_was_touched_later(raw: sqlite3.Connection) -> None:
    raw.execute("DELETE FROM task_groups WHERE session_id = 'S3' AND id = 'A'")
    seq = place(raw, "task_groups", {"id": "A", "session_id": "S3"})
    assert ("STATE_MISSING", seq, "task_groups") in told(raw, Span("S3", seq - 1))


def test_the_first_new_step_has_to_follow_the_trusted_one(raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE audit_events SET hash = zeroblob(32) WHERE session_id = 'S3' AND seq = 8")
    assert ("EVENT_UNLINKED", 9, "audit_events") in told(raw, Span("S3", 8))


def test_a_trusted_step_that_is_gone_is_missed(raw: sqlite3.Connection) -> None:
    assert [(each.code, each.seq) for each in found(raw, Span("S3", 500))] == [("EVENT_MISSING", 500)]
    (last,) = raw.execute("SELECT max(seq) FROM audit_events WHERE session_id = 'S3'").fetchone()
    assert found(raw, Span("S3", last)) == []


# What is wrong once is told once; what is long is cut


def test_agents_of_a_session_are_as_the_store_left_them() -> None:
    context = testing.memory_context()
    for op in (*MIXED[:9], walking.report("pm", "PLANNING_COMPLETE")):
        walking.perform(context, op)
    (agent,) = context.connection.execute("SELECT id FROM agents WHERE session_id = 'S1' LIMIT 1").fetchone()
    walking.perform(context, walking.Op("agent deactivate", {"id": agent, "by": "project_manager", "reason": "done"}))
    spans = (Span(STORE_CHAIN), Span("S1"), Span(None))
    assert {span: found(context.connection, span) for span in spans} == {span: [] for span in spans}
    forged = forged_agents(context, agent)
    assert {span: {each.code for each in found(forged, span)} for span in spans} == {
        Span(STORE_CHAIN): {"STATE_ALTERED"}, Span("S1"): {"STATE_ALTERED"}, Span(None): {"STATE_ALTERED"},
    }  # fmt: skip


def forged_agents(context: Context, agent: str) -> sqlite3.Connection:
    """A copy in which an agent is active again."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(context.connection.serialize())
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE agents SET active = 1 WHERE id = ?", (agent,))
    return connection


def test_findings_are_counted_and_the_first_ones_kept(raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE agent_reports SET summary = 'forged'")
    noted = findings.Found("file.db", 3)
    verify_chain.verify(raw, Span("S3"), noted)
    (reports,) = raw.execute("SELECT count(*) FROM agent_reports WHERE session_id = 'S3'").fetchone()
    assert (noted.counts, len(noted.kept)) == ({"ROWS_ALTERED": reports}, 3)
    assert [each.seq for each in noted.kept] == sorted(each.seq or 0 for each in noted.kept)


def test_a_finding_says_where_to_look_and_what_to_do(raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE agent_reports SET summary = 'forged' WHERE session_id = 'S3' AND seq = 8")
    (finding,) = found(raw)
    assert finding == findings.Finding(
        "ROWS_ALTERED", "S3", 8, "agent_reports", "step 8",
        "The rows of agent_reports are not those that step 8 wrote, or not in its order.",
        "orchestrator audit timeline --session-id S3 --since 7 --until 8; then restore a backup of file.db from before"
        " it was changed",
    )  # fmt: skip


def test_a_verdict_sees_rows_that_may_change_and_what_belongs_to_no_session(raw: sqlite3.Connection) -> None:
    assert list(verify_chain.broken(raw, "S3")) == []
    raw.execute("UPDATE task_groups SET security_sensitive = 1 WHERE session_id = 'S3' AND id = 'C'")
    raw.execute("UPDATE agents SET role = 'tech_lead' WHERE id = 'developer'")
    seq = place(raw, "task_groups", {"id": "C", "session_id": "S3"})
    assert list(verify_chain.broken(raw, "S3")) == [
        verify_chain.Broken(seq, f"Row C of task_groups is not as step {seq}, the last that wrote it, left it."),
        verify_chain.Broken(
            2,
            "Among what belongs to no session: Row developer of agents is not as step 2, the last that wrote it, left"
            " it.",
        ),
        verify_chain.Broken(4, "C: its kind or security is not as it was created or last changed on record."),
    ]


# Untouched stories


@pytest.mark.parametrize("seed", range(8))
def test_a_walked_session_is_whole(seed: int) -> None:
    walk = walking.Walk(seed)
    walk.go(50)
    assert found(walk.context.connection) == []


@pytest.mark.parametrize("seed", range(100, 103))
def test_a_walked_session_is_whole_after_every_step(seed: int) -> None:
    walk = walking.Walk(seed)
    for _ in range(25):
        walk.go(1)
        assert found(walk.context.connection) == []


def test_a_mixed_story_is_whole_after_every_step() -> None:
    context = testing.memory_context()
    for op in MIXED:
        walking.perform(context, op)
        assert found(context.connection) == []


# Who may only read


def test_somebody_who_may_only_read_verifies_too(open_folder: pathlib.Path, unprivileged: Unprivileged) -> None:
    path = story.written(open_folder)
    for each in (open_folder, *open_folder.rglob("*")):
        each.chmod(0o555 if each.is_dir() else 0o444)

    def ask() -> object:
        with Orchestrator.open(path, read_only=True) as o:
            answer = o.audit_verify()
        return [answer["ok"], answer["total"], answer["chains"]]

    assert unprivileged(ask) == [True, 0, 7]
    assert sorted(each.name for each in path.parent.iterdir()) == ["orchestrator.db"]
