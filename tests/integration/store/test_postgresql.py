"""The schema that is rendered for PostgreSQL: every guard and view is valid there, and a plain client gets no further.

The server is a temporary one of the installed programs.
"""

from __future__ import annotations

import pathlib
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from orchestrator.store import completion_views, emitter, guards_tables, schema, schema_rendering
from tests import postgresql
from tests.cases import every
from tests.integration.store import ledger
from tests.integration.store.ledger import BLOCKED_CHAIN, CHAIN, refused

PROGRAMS = postgresql.programs()
pytestmark = pytest.mark.skipif(PROGRAMS is None, reason="no PostgreSQL server, 14 or later, is installed")
SQL = emitter.PostgreSQL()
TABLES = [table.name for table in schema.metadata.sorted_tables]
VALUES: tuple[tuple[type[Any], Any], ...] = ((sa.Integer, 1), (sa.LargeBinary, b"h"), (sa.Text, "x"))


@pytest.fixture(scope="module")
def folder(pg_folder: pathlib.Path) -> pathlib.Path:
    """The folder of a server's socket; the owner's database has the schema."""
    owner = postgresql.Connection(pg_folder)
    owner.run("BEGIN;")
    for statement in schema_rendering.statements(SQL):
        owner.run(f"{statement};")
    owner.run("COMMIT; CREATE ROLE client LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO client;")
    owner.close()
    return pg_folder


@pytest.fixture
def book(folder: pathlib.Path) -> Iterator[ledger.Ledger]:
    """A session with a group that was started; nothing of it is committed."""
    connection = postgresql.Connection(folder)
    connection.run(f"BEGIN; {postgresql.MAY_WRITE};")
    written = ledger.Ledger(connection)  # type: ignore[arg-type]
    written.group("G")
    yield written
    connection.close()


@every("guard", schema_rendering.GUARDS, ids=[each.name for each in schema_rendering.GUARDS])
def test_what_a_guard_asks_and_answers_can_be_run(book: ledger.Ledger, guard: emitter.Guard) -> None:
    rows = f'FROM {guard.table} "new", {guard.table} "old"'
    for each in filter(lambda part: part is not None, (guard.when, guard.answer)):
        book.connection.execute(f"SELECT {SQL.expression(each)} {rows} LIMIT 0")


@every("name", sorted({each.name for each in schema_rendering.GUARDS}))
def test_every_guard_is_there(book: ledger.Ledger, name: str) -> None:
    found = book.connection.execute("SELECT tgenabled FROM pg_trigger WHERE tgname = ?", [name]).fetchall()
    assert [row["tgenabled"] for row in found] == ["O"]


def test_a_group_is_completed_by_the_chain_alone(book: ledger.Ledger) -> None:
    for done, missing in enumerate(("approved", "approved", "approved", "merged")):
        assert book.viewed()["missing"] == missing
        with refused("COMPLETION_PATH_MISSING"):
            book.connection.execute("UPDATE task_groups SET status = 'completed'")
        book.report(*CHAIN[done])
    assert book.viewed()["valid"] == 1
    with refused("STATUS_CHANGE_MISSING"):
        book.connection.execute("UPDATE task_groups SET status = 'completed'")
    with refused("NEVER_CHANGED"):
        book.connection.execute("UPDATE agent_reports SET effect = 'approve'")
    with refused("STATUS_CHANGE_MISSING"):
        book.connection.execute("UPDATE task_groups SET security_sensitive = 1")
    book.record("group_security", "G", "0", "1")
    book.connection.execute("UPDATE task_groups SET security_sensitive = 1")
    book.complete("G")
    assert book.viewed()["status"] == "completed"
    book.reopen("G")
    assert (book.viewed()["missing"], book.viewed()["approved_why"]) == ("approved", "reopened")


def test_a_block_that_the_approval_accepts_asks_for_a_confirmation(book: ledger.Ledger) -> None:
    book.reports(*BLOCKED_CHAIN)
    assert (book.viewed()["awaiting_confirmation"], book.viewed()["missing"]) == (1, "confirmed")
    with refused("COMPLETION_PATH_MISSING"):
        book.complete("G")
    book.report("project_manager", "confirm", None, acknowledge=("G",))
    book.complete("G")


def test_a_group_waits_for_what_its_dependencies_wait_for_and_a_ring_ends(book: ledger.Ledger) -> None:
    book.reports(*CHAIN)
    for group in ("A", "B"):
        book.group(group)
    book.depend("G", "A")
    book.depend("A", "B")
    book.depend("B", "A")
    assert (book.viewed()["unblocked_why"], book.viewed()["unblocked_ref"]) == ("dependency", "A")
    for group in ("A", "B"):
        book.reports(*CHAIN, group=group)
    assert book.viewed()["valid"] == 1


def test_a_task_is_done_after_its_parts_and_begins_after_its_dependencies(book: ledger.Ledger) -> None:
    book.task("T", "G", "in_progress")
    book.connection.execute("UPDATE tasks SET title = title")
    with refused("NEVER_CHANGED"):
        book.connection.execute("UPDATE tasks SET title = 'another'")
    book.task("P", "G")
    edge = {"session_id": "S1", "task_id": "P", "depends_on_id": "T", "seq": book.step(), "added_by": "developer"}
    book.insert("task_dependencies", **edge)
    with refused("DEPENDENCIES_OPEN"):
        seq = book.record("task", "P", "todo", "in_progress")
        book.connection.execute(
            "UPDATE tasks SET status = 'in_progress', version = 2, status_changed_by_agent_id = 'project_manager',"
            " status_seq = ? WHERE id = 'P'", [seq],
        )


def sample(name: str) -> dict[str, Any]:
    """A row of a table, of the right types; nothing else about it is right."""
    columns = [each for each in schema.metadata.tables[name].columns if each.computed is None]
    return {each.name: next(value for kind, value in VALUES if isinstance(each.type, kind)) for each in columns}


@every("table", TABLES)
def test_a_stranger_inserts_nothing(folder: pathlib.Path, table: str) -> None:
    stranger = postgresql.Connection(folder, user="client")
    row = sample(table)
    # Which guard speaks first is the server's choice; each of them refuses.
    for tail in ("", "ON CONFLICT DO NOTHING"):
        names, places = ", ".join(row), ", ".join("?" * len(row))
        with pytest.raises(sqlite3.IntegrityError, match=r"\A[A-Z_]{6,}: "):
            stranger.execute(f"INSERT INTO {table} ({names}) VALUES ({places}) {tail}", [*row.values()])
    stranger.close()


@every("table", TABLES)
def test_nobody_empties_a_table(folder: pathlib.Path, table: str) -> None:
    stranger = postgresql.Connection(folder)
    stranger.run(f"{postgresql.MAY_WRITE};")
    with refused("NEVER_DELETED"):
        stranger.execute(f"TRUNCATE {table} CASCADE")
    stranger.close()


ATTACKS = [
    ("a row is deleted", "DELETE FROM agent_reports", "NEVER_DELETED"),
    ("a row of the record is changed", "UPDATE agent_reports SET effect = 'approve'", "WRITE_REFUSED"),
    ("a stranger changes the goal", "UPDATE sessions SET mode = 'x'", "WRITE_REFUSED"),
    ("a completion by a stranger", "UPDATE task_groups SET status = 'completed'", "COMPLETION_PATH_MISSING"),
    ("tables that hide ours", "CREATE TEMP VIEW completion_paths AS SELECT 'S1' session_id, 'G' group_id, 1 valid,"
     " NULL missing; CREATE TEMP TABLE status_changes (LIKE public.status_changes);"
     " UPDATE public.task_groups SET status = 'completed'", "COMPLETION_PATH_MISSING"),
    ("a function that hides ours", "CREATE FUNCTION pg_temp.orchestrator_write() RETURNS integer LANGUAGE sql"
     " AS 'SELECT 1'; UPDATE sessions SET mode = 'x'", "WRITE_REFUSED"),
    ("a row by COPY", "COPY texts (hash, content) FROM PROGRAM 'echo h,c' WITH (FORMAT csv)",
     "WRITE_REFUSED|permission denied"),
]


@every(("attack", "statements", "code"), ATTACKS)
def test_plain_sql_gets_no_further(book: ledger.Ledger, attack: str, statements: str, code: str) -> None:
    book.report("developer", "submit_test")
    book.connection.execute("SAVEPOINT before")
    book.connection.execute("SET LOCAL orchestrator.write = ''")
    *before, last = re.split(r";\s", statements)
    for each in before:
        book.connection.execute(each)
    with pytest.raises(sqlite3.Error, match=code):
        book.connection.execute(last)
    book.connection.execute("ROLLBACK TO before")


def test_a_plain_client_may_not_take_a_guard_away(folder: pathlib.Path) -> None:
    client = postgresql.Connection(folder, user="client")
    for statement in (
        "ALTER TABLE task_groups DISABLE TRIGGER ALL", "DROP TRIGGER task_groups_completed_needs_path ON task_groups",
        "SET session_replication_role = replica", "DROP VIEW completion_paths", "TRUNCATE task_groups CASCADE",
    ):  # fmt: skip
        with pytest.raises(sqlite3.Error, match=r"must be owner|permission denied|NEVER_DELETED"):
            client.execute(statement)
    client.close()


def test_the_key_that_only_sqlite_has_is_never_taken() -> None:
    text = "".join(schema_rendering.statements(SQL))
    assert "rowid =" not in text
    assert guards_tables.HIDDEN in guards_tables.unique_keys(schema.metadata.tables["agent_reports"])
    assert {each.name for each in completion_views.VIEWS} < set(re.findall(r"CREATE VIEW (\w+)", text))
