"""What runs are told by: each statement finds its rows by an index, and says what it is asked."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

import pytest

from orchestrator.store import memory, run_reader, tables_running
from tests.integration.store.ledger import SESSION, T
from tests.integration.store.test_guards_running import WHOLE, Runs, at

BOUNDED = {
    "_RUN": r"SEARCH r USING .*\((id=\?|session_id=\? AND id=\?)\)",
    "_BY_LOG": r"SEARCH r USING .*\(session_id=\? AND log_id=\?\)",
    "_BY_ID": r"SEARCH r USING .*\(id=\?\)",
    "_OF_SESSION": r"SEARCH r USING .*ix_runs_created \(session_id=\?\)",
    "_OF_TASK": r"SEARCH r USING .*ix_runs_task \(session_id=\? AND task_id=\?\)",
    "_OPEN": r"SEARCH r USING .*ix_runs_open \(state=\?\)",
    "_OWNERS": r"SEARCH runs USING .*ix_runs_open \(state=\?\)",
    "_OWNERS_OF_TURNS": r"SEARCH turn_runs USING .*ix_turn_runs_open \(state=\?\)",
    "_NEWEST": r"SCAN runs USING (COVERING )?INDEX sqlite_autoindex_runs_\d",
    "_LAST": r"SEARCH runs USING .*ix_runs_created \(session_id=\?\)",
    "_HELD": r"SCAN run_locks USING .*ix_run_locks_held",
    "_LOCKS": r"SEARCH run_locks USING PRIMARY KEY \(session_id=\? AND run_id=\?\)",
    "_STARTED": r"SEARCH audit_events USING INTEGER PRIMARY KEY \(rowid>\?\)",
    "_MOVED": r"SEARCH audit_events USING INTEGER PRIMARY KEY \(rowid>\?\)",
    "_CHANNEL": r"SEARCH audit_events USING .*\(session_id=\? AND seq=\?\)",
    "_EVENTS": r"SEARCH run_events USING .*ix_run_events_run \(session_id=\? AND run_id=\?\)",
    "_FILES": r"SEARCH run_files USING .*ix_run_files_run \(session_id=\? AND run_id=\?\)",
    "_VIOLATIONS": r"SEARCH run_violations USING .*ix_run_violations_run \(session_id=\? AND run_id=\?\)",
    "_QUESTION": r"SEARCH questions USING PRIMARY KEY \(id=\?\)",
    "_OPEN_QUESTION_OF_TASK": r"SEARCH questions USING .*ix_questions_open \(session_id=\? AND group_id=\?\)",
    "_CHOSEN": r"SEARCH evidence USING .*\(session_id=\?\)",
    "_OPERATION": r"SEARCH evidence USING .*\(session_id=\?\)",
    "_OPERATION_ON": r"SEARCH evidence USING .*\(session_id=\?\)",
    "_JUDGED": r"SEARCH evidence USING .*\(session_id=\?\)",
    "_ANSWERED": r"SEARCH questions USING .*ix_questions_session \(session_id=\?\)",
    "_ASKED_BEFORE": r"SEARCH questions USING .*ix_questions_session \(session_id=\?\)",
    "_WAITING": r"SEARCH r USING .*ix_runs_open \(state=\?\)",
    "_STOPPING": r"SEARCH r USING PRIMARY KEY",
    "_ROOT": r"SEARCH runs USING .*ix_runs_created \(session_id=\?\)",
    "_LAST_SESSION": r"SCAN runs USING INDEX",
    "_MADE_BELOW": r"SEARCH s USING PRIMARY KEY \(id=\?\)",
}
"""How each statement finds its rows. The two scans go through one row, or through what is held at this moment."""
UNSORTED = ("_RUN", "_BY_LOG", "_BY_ID", "_NEWEST", "_LAST", "_ROOT", "_EVENTS", "_FILES", "_VIOLATIONS", "_QUESTION",
            "_CHOSEN", "_OPERATION", "_OPERATION_ON", "_OF_SESSION")  # fmt: skip
"""Statements of much or of one row, which come out in order as they are."""


def statements() -> dict[str, str]:
    return {
        name: value for name, value in vars(run_reader).items() if isinstance(value, str) and "SELECT" in value
    }  # fmt: skip


def plan(sql: str) -> list[str]:
    connection = memory.connect()
    names = dict.fromkeys(re.findall(r":(\w+)", sql), "x")
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", names)]


def test_every_statement_is_looked_at() -> None:
    assert set(statements()) == set(BOUNDED)


@pytest.mark.parametrize("name", BOUNDED)
def test_a_statement_is_bounded_by_an_index(name: str) -> None:
    found = plan(statements()[name])
    assert re.match(BOUNDED[name], found[0]), found
    assert all(line.startswith(("SEARCH ", "USE TEMP B-TREE")) for line in found[1:])


@pytest.mark.parametrize("name", UNSORTED)
def test_a_statement_of_many_rows_sorts_none(name: str) -> None:
    assert len(plan(statements()[name])) == 1


def test_a_run_has_the_columns_of_its_table() -> None:
    assert run_reader.Run._fields == tuple(tables_running.runs.columns.keys())


# What they say


@pytest.fixture
def runs() -> Iterator[Runs]:
    written = Runs()
    written.connection.row_factory = None
    yield written
    written.connection.close()


@pytest.fixture
def connection(runs: Runs) -> sqlite3.Connection:
    return runs.connection


def ids(found: list[run_reader.Run]) -> list[str]:
    return [run.id for run in found]


def test_a_run_is_found_by_either_of_its_ids(runs: Runs, connection: sqlite3.Connection) -> None:
    at(runs, "running")
    found = run_reader.run(connection, SESSION, "running")
    assert found is not None
    assert (found.id, found.log_id, found.state, found.owner) == ("running", "log of running", "running", "host:1:2")
    assert run_reader.run(connection, SESSION, "log of running") == found == run_reader.by_id(connection, "running")


def test_nothing_is_found_where_nothing_is(runs: Runs, connection: sqlite3.Connection) -> None:
    at(runs, "queued")
    assert run_reader.run(connection, SESSION, "r9") is None
    assert run_reader.run(connection, "S9", "queued") is None
    assert run_reader.run(connection, "S9", "log of queued") is None
    assert run_reader.by_id(connection, "r9") is None
    assert run_reader.by_id(connection, "log of queued") is None
    assert (run_reader.of_session(connection, "S9"), run_reader.of_task(connection, SESSION, "T9")) == ([], [])
    assert (run_reader.question(connection, "Q9"), run_reader.chosen(connection, SESSION, "model")) == (None, None)


def test_an_empty_database_has_no_newest_run(connection: sqlite3.Connection) -> None:
    assert run_reader.newest(connection) is None
    assert run_reader.last_log_id(connection, SESSION) is None
    assert (run_reader.held(connection), run_reader.in_state(connection, "running")) == ([], [])


def test_runs_are_told_in_the_order_in_which_they_were_queued(runs: Runs, connection: sqlite3.Connection) -> None:
    runs.task("other")
    for id_, task in (("task-3", "T"), ("task-1", "other"), ("task-2", "T")):
        runs.queue(id_, task_id=task)
    assert ids(run_reader.of_session(connection, SESSION)) == ["task-3", "task-1", "task-2"]
    assert ids(run_reader.of_task(connection, SESSION, "T")) == ["task-3", "task-2"]
    assert run_reader.newest(connection) == ("task-3", SESSION)
    assert run_reader.last_log_id(connection, SESSION) == "log of task-2"


@pytest.mark.parametrize("state", ["queued", "running", "awaiting_response"])
def test_what_is_open_is_found_by_its_state_in_the_order_of_ids(
    runs: Runs, connection: sqlite3.Connection, state: str
) -> None:
    for each in ("running", "queued", "awaiting_response", "complete", "incomplete", "error", "cancelled"):
        at(runs, each)
    runs.queue("another")
    expected = {"queued": ["another", "queued"]}.get(state, [state])
    assert ids(run_reader.in_state(connection, state)) == expected


def test_locks_are_told_until_they_are_released_and_released_last_path_first(
    runs: Runs, connection: sqlite3.Connection
) -> None:
    at(runs, "running")
    at(runs, "queued")
    a, b, c = (runs.lock("running", path) for path in ("/a", "/b", "/c"))
    runs.lock("queued", "/d", "read")
    assert run_reader.locks(connection, SESSION, "running") == [("/c", c), ("/b", b), ("/a", a)]
    runs.release("running")
    assert run_reader.locks(connection, SESSION, "running") == []
    assert run_reader.held(connection) == [(SESSION, "queued", "/d", "read")]


def test_log_files_and_violations_are_those_of_the_run_in_order(runs: Runs, connection: sqlite3.Connection) -> None:
    at(runs, "queued")
    runs.queue("r")
    for table, name in (("run_events", "text"), ("run_files", "path"), ("run_violations", "type")):
        for seq, part, run in ((52, 1, "r"), (51, 2, "r"), (51, 1, "r"), (51, 3, "queued")):
            row = {"session_id": SESSION, "run_id": run} | WHOLE[table] | {"seq": seq, "part": part}
            runs.insert(table, **(row | {name: f"{seq}.{part}"}))
    texts = ["51.1", "51.2", "52.1"]
    events = run_reader.events(connection, SESSION, "r")
    files, violations = run_reader.files(connection, SESSION, "r"), run_reader.violations(connection, SESSION, "r")
    assert [row["text"] for row in events] == [row["path"] for row in files] == texts
    assert [row["type"] for row in violations] == texts
    assert events[0] == {"at": T, "kind": "k", "level": "full", "text": "51.1"}
    assert files[0] == {
        "path": "51.1", "change": None, "present": 1, "detected_at": T, "detection_method": "diff",
    }  # fmt: skip
    assert violations[0] == {"type": "51.1", "limit_value": 5, "actual": 6, "at": T}


def test_questions_are_told_with_their_answers(runs: Runs, connection: sqlite3.Connection) -> None:
    first, second = runs.question(), runs.question()
    found = run_reader.open_questions(connection, SESSION, None, "T")
    assert [row["id"] for row in found] == [second, first]
    assert found[1] == run_reader.question(connection, first)
    assert run_reader.open_questions(connection, SESSION, None, "T9") == []
    assert run_reader.open_questions(connection, SESSION, "G", "T") == []
    runs.answer(second)
    assert [row["id"] for row in run_reader.open_questions(connection, SESSION, None, "T")] == [first]


def test_what_asks_about_something_else_is_no_question_of_a_run(runs: Runs, connection: sqlite3.Connection) -> None:
    runs.insert(
        "questions", id="Q0", session_id=SESSION, task_id="T", kind="review", text="?", asked_by="orchestrator",
        asked_at=T, opened_seq=1,
    )
    assert run_reader.open_questions(connection, SESSION, None, "T") == []


def test_replies_are_remembered_where_work_went_on_with_them(runs: Runs, connection: sqlite3.Connection) -> None:
    close = "UPDATE questions SET closed_at = ?, closed_by = 'ann', closed_seq = ?, answer = ?, note = ? WHERE id = ?"
    for answer, note in (("continue", "second"), ("abandon", "no"), ("continue", None), ("continue", "first")):
        seq = 1 if note == "first" else runs.step()
        connection.execute(close, [T, seq, answer, note, runs.question()])
    runs.question()
    assert run_reader.answered(connection, SESSION) == [("?", "first"), ("?", "second")]


def test_the_newest_choice_counts(runs: Runs, connection: sqlite3.Connection) -> None:
    for seq, part, kind, subject, content in (
        (7, 1, "choice", "model", "old"), (8, 2, "choice", "model", "new"), (8, 1, "choice", "model", "middle"),
        (9, 1, "choice", "provider", "another"), (9, 2, "run", "model", "no choice"),
    ):  # fmt: skip
        row = {"session_id": SESSION, "seq": seq, "part": part, "kind": kind, "subject": subject, "content": content}
        runs.insert("evidence", **row, outcome="chosen", hash="h", size=1)
    assert run_reader.chosen(connection, SESSION, "model") == "new"
    assert run_reader.chosen(connection, SESSION, "provider") == "another"


def test_the_last_operation_of_a_session_is_told(runs: Runs, connection: sqlite3.Connection) -> None:
    assert run_reader.last_operation(connection, SESSION) is None
    for seq, part, kind in ((7, 1, "operation"), (8, 1, "operation"), (8, 2, "operation"), (9, 1, "run")):
        row = {"session_id": SESSION, "seq": seq, "part": part, "kind": kind, "subject": "s", "outcome": "recorded"}
        runs.insert("evidence", **row, content=f"{seq}.{part}", hash="h", size=1)
    assert run_reader.last_operation(connection, SESSION) == "8.2"
    assert run_reader.last_operation(connection, "S9") is None
