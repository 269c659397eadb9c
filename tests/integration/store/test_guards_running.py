# ruff: noqa: C408 - columns read better as keywords, several to a line
"""Runs change only as far as the rules let them: every move, trigger and check, met by plain SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.core import lifecycle_table, task_types
from orchestrator.core.running import states
from orchestrator.store import guards_running, memory, tables_running
from tests.integration.store import ledger
from tests.integration.store.ledger import SESSION, Ledger, T, refused

BY = "orchestrator"
STATES = lifecycle_table.RUN_STATUSES
TERMINAL = lifecycle_table.RUN_TERMINAL
MOVES = guards_running.LEGAL_MOVES
ILLEGAL = [(old, new) for old in STATES for new in STATES if old != new and (old, new) not in MOVES]
STATUS_OF = {"complete": "COMPLETE", "incomplete": "INCOMPLETE", "error": "ERROR", "cancelled": "INCOMPLETE"}


class Runs(Ledger):
    """A ledger with a task, and runs of it that are written row by row."""

    def __init__(self) -> None:
        super().__init__(ledger.empty())
        self.task("T")

    def task(self, id: str) -> None:
        self.insert(
            "tasks",
            **dict(session_id=SESSION, id=id, title="t", description="", type="REPORT", created_at=T, created_seq=1),
            **dict(status="todo", status_changed_at=T, status_seq=1),
        )

    def queue(self, id: str, **more: Any) -> int:
        seq = self.step()
        row = dict(
            **dict(session_id=SESSION, id=id, log_id=f"log of {id}", task_id="T", prompt="p", executor="e"),
            **dict(task_type="IMPLEMENTATION", provider="claude-code", verification_root="/p", queued_by=BY),
            **dict(queued_at=T, created_seq=seq, state="queued", state_changed_by=BY, state_changed_at=T),
            state_seq=seq,
        )
        self.insert("runs", **(row | more))
        return seq

    def event(self, id: str, seq: int, part: int = 1) -> None:
        row = dict(session_id=SESSION, seq=seq, part=part, run_id=id, at=T, kind="note", level="summary", text="t")
        self.insert("run_events", **row)

    def prove(self, id: str, seq: int, *, kind: str = "run", part: int = 1) -> None:
        self.insert(
            "evidence",
            **dict(session_id=SESSION, seq=seq, part=part, kind=kind, subject=id, outcome="COMPLETE", hash="h", size=1),
            content="c",
        )

    def file(self, id: str, seq: int, *, change: str | None = "new", present: int = 1) -> None:
        self.insert(
            "run_files",
            **dict(session_id=SESSION, seq=seq, part=1, run_id=id, path="a.py", change=change, present=present),
            **dict(detected_at=T, detection_method="diff"),
        )

    def lock(self, id: str, path: str = "/p", mode: str = "write") -> int:
        seq = self.step()
        self.insert("run_locks", session_id=SESSION, run_id=id, path=path, mode=mode, seq=seq, acquired_at=T)
        return seq

    def release(self, id: str) -> None:
        self.connection.execute(
            "UPDATE run_locks SET released_at = ?, released_seq = ? WHERE run_id = ?", [T, self.step(), id]
        )

    def question(self, task: str | None = "T") -> str:
        seq = self.step()
        self.insert(
            "questions",
            **dict(id=f"Q{seq}", session_id=SESSION, task_id=task, kind="reply", text="?", asked_by=BY),
            **dict(asked_at=T, opened_seq=seq),
        )
        return f"Q{seq}"

    def set(self, run: str, /, **columns: Any) -> None:
        sets = ", ".join(f"{name} = ?" for name in columns)
        self.connection.execute(f"UPDATE runs SET {sets} WHERE id = ?", [*columns.values(), run])

    def columns(self, new: str, seq: int, **more: Any) -> dict[str, Any]:
        """What a move to a state writes."""
        found: dict[str, Any] = {"state": new, "state_changed_by": BY, "state_changed_at": T, "state_seq": seq}
        found["owner"] = "host:1:2" if new == "running" else None
        if new in TERMINAL:
            found |= {"ended_at": T, "executor_status": STATUS_OF[new]}
            found["error_reason"] = None if new == "complete" else "why"
        if new == "awaiting_response":
            found["question_id"] = self.question()
        return found | more

    def go(self, id: str, old: str, new: str, **more: Any) -> int:
        """A move with everything that it needs."""
        seq = self.record("run", id, old, new, by=BY)
        self.event(id, seq)
        if new == "complete":
            self.prove(id, seq)
            self.file(id, seq)
        self.set(id, **self.columns(new, seq, **more))
        return seq

    def state(self, id: str) -> str:
        return str(self.connection.execute("SELECT state FROM runs WHERE id = ?", [id]).fetchone()[0])


WAY = {
    "queued": (),
    "running": ("running",),
    "awaiting_response": ("running", "awaiting_response"),
    "complete": ("running", "complete"),
    "incomplete": ("running", "incomplete"),
    "error": ("running", "error"),
    "cancelled": ("cancelled",),
}
"""How a run gets to a state."""


def at(runs: Runs, state: str, **more: Any) -> str:
    """A run in a state, named by it."""
    runs.queue(state, **more)
    now = "queued"
    for new in WAY[state]:
        runs.go(state, now, new)
        now = new
    return state


@pytest.fixture
def runs() -> Iterator[Runs]:
    written = Runs()
    yield written
    written.connection.close()


def failed(name: str) -> Any:
    return ledger.failed(name)


# The words


def test_the_triggers_know_the_moves_of_the_machine() -> None:
    assert {(old, new) for _, old, new in lifecycle_table.RUN_MOVES} == set(MOVES)


def test_the_tables_know_the_words_of_the_runner() -> None:
    assert set(tables_running.STATES) == set(STATES)
    assert set(tables_running.EXECUTOR_STATUSES) == set(states.EXECUTOR_STATUSES)
    assert tables_running.TASK_TYPES == task_types.TYPES


# Moves


@pytest.mark.parametrize(("old", "new"), MOVES, ids=[f"{old} to {new}" for old, new in MOVES])
def test_a_legal_move_is_written_with_all_that_it_needs(runs: Runs, old: str, new: str) -> None:
    runs.go(at(runs, old), old, new)
    assert runs.state(old) == new


@pytest.mark.parametrize(("old", "new"), ILLEGAL, ids=[f"{old} to {new}" for old, new in ILLEGAL])
def test_no_illegal_move_is_written_even_on_record(runs: Runs, old: str, new: str) -> None:
    with refused("NEVER_CHANGED" if old in TERMINAL else "ILLEGAL_MOVE"):
        runs.go(at(runs, old), old, new)
    assert runs.state(old) == old


@pytest.mark.parametrize(("old", "new"), MOVES, ids=[f"{old} to {new}" for old, new in MOVES])
@pytest.mark.parametrize("wrong", ["absent", "another step", "another run", "another start", "another end", "by whom"])
def test_no_move_is_written_without_its_record(runs: Runs, old: str, new: str, wrong: str) -> None:
    at(runs, old)
    seq = runs.seq + 1
    if wrong != "absent":
        by = "developer" if wrong == "by whom" else BY
        name = "another" if wrong == "another run" else old
        froms = ("complete" if wrong == "another start" else old, "error" if wrong == "another end" else new)
        if froms == (old, new) and wrong == "another end":
            froms = (old, "complete")
        runs.record("run", name, *froms, by=by)
    runs.event(old, seq)
    with refused("STATUS_CHANGE_MISSING"):
        runs.set(old, **runs.columns(new, seq + (wrong == "another step")))
    assert runs.state(old) == old


def test_the_record_of_an_earlier_move_serves_no_second_time(runs: Runs) -> None:
    runs.queue("r")
    first = runs.go("r", "queued", "running")
    runs.go("r", "running", "awaiting_response")
    runs.go("r", "awaiting_response", "queued")
    with refused("STATUS_CHANGE_MISSING"):
        runs.set("r", **runs.columns("running", first))


@pytest.mark.parametrize("state", [each for each in STATES if each != "queued"])
def test_a_run_begins_as_queued(runs: Runs, state: str) -> None:
    more = runs.columns(state, 1)
    with refused("ILLEGAL_MOVE"):
        runs.queue("r", **more)


@pytest.mark.parametrize("state", TERMINAL)
@pytest.mark.parametrize("column", tables_running.runs.columns.keys())
def test_a_run_that_has_ended_stays_as_it_is(runs: Runs, state: str, column: str) -> None:
    at(runs, state)
    with refused("NEVER_CHANGED"):
        runs.set(state, **{column: 9})
    with refused("NEVER_CHANGED"):
        runs.connection.execute(f"UPDATE OR REPLACE runs SET {column} = {column} WHERE id = ?", [state])


@pytest.mark.parametrize("state", ["queued", "running", "awaiting_response"])
@pytest.mark.parametrize("column", ["state_changed_by", "state_changed_at", "state_seq"])
def test_who_changed_a_state_and_when_is_written_with_the_change_alone(runs: Runs, state: str, column: str) -> None:
    at(runs, state)
    with refused("STATUS_CHANGE_MISSING"):
        runs.set(state, **{column: 99})


def test_a_running_run_is_taken_from_its_owner_by_nobody(runs: Runs) -> None:
    at(runs, "running")
    with refused("STATUS_CHANGE_MISSING"):
        runs.set("running", owner="another:1:2")


ORIGINS = (
    "session_id", "id", "log_id", "task_id", "prompt", "task_type", "executor", "provider", "model", "retry_of",
    "verification_root", "queued_by", "queued_at", "created_seq",
)  # fmt: skip


@pytest.mark.parametrize("column", ORIGINS)
def test_a_run_keeps_what_it_was_queued_with(runs: Runs, column: str) -> None:
    at(runs, "running")
    with refused("NEVER_CHANGED"):
        runs.set("running", **{column: 7})


# How a run ends


@pytest.mark.parametrize("new", ["complete", "incomplete", "error", "cancelled"])
@pytest.mark.parametrize("where", ["nowhere", "an earlier step", "of another run"])
def test_no_run_ends_without_its_log(runs: Runs, new: str, where: str) -> None:
    at(runs, "running")
    at(runs, "queued")
    if where == "an earlier step":
        runs.event("running", runs.seq, part=2)
    seq = runs.record("run", "running", "running", new, by=BY)
    if where == "of another run":
        runs.event("queued", seq)
    runs.prove("running", seq)
    runs.file("running", seq)
    with refused("LOG_MISSING"):
        runs.set("running", **runs.columns(new, seq))
    assert runs.state("running") == "running"


@pytest.mark.parametrize("old", ["queued", "awaiting_response"])
def test_what_never_ran_is_cancelled_with_its_log_too(runs: Runs, old: str) -> None:
    at(runs, old)
    seq = runs.record("run", old, old, "cancelled", by=BY)
    with refused("LOG_MISSING"):
        runs.set(old, **runs.columns("cancelled", seq))


PROOF: list[tuple[str, str, tuple[str, ...], str | None, bool]] = [
    ("a new file and evidence", "IMPLEMENTATION", ("run", "file"), None, True),
    ("an ordered deletion and evidence", "IMPLEMENTATION", ("run", "deletion"), None, True),
    ("an answer to a question", "READ_INFO", ("run",), "an answer", True),
    ("a report", "REPORT", ("run",), "a report", True),
    ("nothing", "IMPLEMENTATION", (), "done", False),
    ("words", "IMPLEMENTATION", ("run",), "done", False),
    ("words about an edit", "LIGHT_EDIT", ("run",), "done", False),
    ("words about a review", "REVIEW_RESPONSE", ("run",), "done", False),
    ("words about a configuration", "CONFIG_CI_CHANGE", ("run",), "done", False),
    ("words about destruction", "DANGEROUS_OP", ("run",), "done", False),
    ("a file without evidence", "IMPLEMENTATION", ("file",), "done", False),
    ("a file with other evidence", "IMPLEMENTATION", ("operation", "file"), "done", False),
    ("a claimed file that is not there", "IMPLEMENTATION", ("run", "absent"), "done", False),
    ("an empty answer", "READ_INFO", ("run",), "", False),
    ("no answer", "REPORT", ("run",), None, False),
    ("an answer without evidence", "READ_INFO", (), "an answer", False),
]


@pytest.mark.parametrize(
    ("type", "written", "output", "enough"), [row[1:] for row in PROOF], ids=[row[0] for row in PROOF]
)
def test_a_run_is_complete_by_what_was_verified(
    runs: Runs, type: str, written: tuple[str, ...], output: str | None, enough: bool
) -> None:
    at(runs, "running", task_type=type)
    seq = runs.record("run", "running", "running", "complete", by=BY)
    runs.event("running", seq)
    for each in written:
        if each in ("run", "operation"):
            runs.prove("running", seq, kind=each)
        elif each == "absent":
            runs.file("running", seq, change=None, present=0)
        elif each == "deletion":
            runs.file("running", seq, change="deleted", present=0)
        else:
            runs.file("running", seq)
    columns = runs.columns("complete", seq, output=output)
    if enough:
        runs.set("running", **columns)
    else:
        with refused("EVIDENCE_MISSING"):
            runs.set("running", **columns)
    assert runs.state("running") == ("complete" if enough else "running")


@pytest.mark.parametrize("what", ["evidence", "file"])
@pytest.mark.parametrize("whose", ["another run", "an earlier step"])
def test_what_proves_another_run_or_step_proves_nothing(runs: Runs, what: str, whose: str) -> None:
    at(runs, "running")
    at(runs, "queued")
    early = runs.step()
    seq = runs.record("run", "running", "running", "complete", by=BY)
    runs.event("running", seq)
    elsewhere = ("queued", seq) if whose == "another run" else ("running", early)
    runs.prove(*(elsewhere if what == "evidence" else ("running", seq)))
    runs.file(*(elsewhere if what == "file" else ("running", seq)))
    with refused("EVIDENCE_MISSING"):
        runs.set("running", **runs.columns("complete", seq))


# Questions


@pytest.mark.parametrize("which", ["of no task", "closed", "unknown"])
def test_a_run_awaits_the_answer_to_an_open_question_about_its_task(runs: Runs, which: str) -> None:
    at(runs, "running")
    question = "Q0" if which == "unknown" else runs.question(None if which == "of no task" else "T")
    if which == "closed":
        runs.answer(question)
    seq = runs.record("run", "running", "running", "awaiting_response", by=BY)
    with refused("QUESTION_MISSING"):
        runs.set("running", **runs.columns("awaiting_response", seq, question_id=question))


# Locks


def test_no_run_stops_with_a_lock(runs: Runs) -> None:
    for new in ("complete", "incomplete", "error", "cancelled", "awaiting_response"):
        runs.queue(new)
        runs.go(new, "queued", "running")
        runs.lock(new)
        with refused("LOCK_HELD"):
            runs.go(new, "running", new)
        runs.release(new)
        if new not in TERMINAL:
            runs.go(new, "running", new)


@pytest.mark.parametrize(
    ("held", "wanted", "free"),
    [("read", "read", True), ("read", "write", False), ("write", "read", False), ("write", "write", False)],
)
def test_a_file_has_many_readers_or_one_writer(runs: Runs, held: str, wanted: str, free: bool) -> None:
    at(runs, "running")
    at(runs, "queued")
    runs.lock("running", mode=held)
    runs.lock("queued", "/other", wanted)
    if free:
        runs.lock("queued", mode=wanted)
    else:
        with refused("LOCK_HELD"):
            runs.lock("queued", mode=wanted)
        runs.release("running")
        runs.lock("queued", mode=wanted)


def test_a_lock_is_released_once(runs: Runs) -> None:
    at(runs, "running")
    runs.lock("running")
    runs.release("running")
    for change in ("released_seq = NULL, released_at = NULL", "released_seq = 99", "released_at = 'later'"):
        with refused("NEVER_CHANGED"):
            runs.connection.execute(f"UPDATE run_locks SET {change}")


def test_a_lock_is_released_with_the_step_that_does_it(runs: Runs) -> None:
    at(runs, "running")
    runs.lock("running")
    with refused("NEVER_CHANGED"):
        runs.connection.execute("UPDATE run_locks SET released_at = 'now'")
    with failed("ck_run_locks_released"):
        runs.connection.execute("UPDATE run_locks SET released_seq = 9")


@pytest.mark.parametrize("column", ["session_id", "run_id", "path", "mode", "seq", "acquired_at"])
def test_a_lock_keeps_what_it_holds(runs: Runs, column: str) -> None:
    at(runs, "running")
    runs.lock("running")
    with refused("NEVER_CHANGED"):
        runs.connection.execute(f"UPDATE run_locks SET {column} = 9")


# Checks

CHECKS: list[tuple[str, str, dict[str, Any], str]] = [
    ("an unknown state", "queued", {"state": "finished"}, "ILLEGAL_MOVE"),
    ("an unknown executor status", "running", {"executor_status": "DONE"}, "ck_runs_executor_status"),
    ("blocked without danger", "running", {"executor_status": "BLOCKED"}, "ck_runs_blocked"),
    ("an end before the end", "running", {"ended_at": T}, "ck_runs_ended"),
    ("a running run of nobody", "running", {"owner": None}, "STATUS_CHANGE_MISSING"),
    ("an owner of what does not run", "queued", {"owner": "host:1:2"}, "STATUS_CHANGE_MISSING"),
    ("a hung executor for no reason", "running", {"executor_blocked": 1}, "ck_runs_blocked_reason"),
    ("a doubtful flag", "running", {"executor_blocked": 2, "blocked_reason": "TIMEOUT"}, "ck_runs_executor_blocked"),
]


@pytest.mark.parametrize(("state", "columns", "name"), [row[1:] for row in CHECKS], ids=[row[0] for row in CHECKS])
def test_no_run_holds_what_cannot_be(runs: Runs, state: str, columns: dict[str, Any], name: str) -> None:
    at(runs, state)
    with failed(name) if name.startswith("ck_") else refused(name):
        runs.set(state, **columns)


MOVED: list[tuple[str, str, str, dict[str, Any], str]] = [
    ("complete by an executor that failed", "running", "complete", {"executor_status": "ERROR"}, "complete"),
    ("complete without a verdict", "running", "complete", {"executor_status": None}, "complete"),
    ("complete and blocked", "running", "complete", {"executor_status": "BLOCKED"}, "blocked"),
    ("ended at no time", "running", "error", {"ended_at": None}, "ended"),
    ("cancelled at no time", "queued", "cancelled", {"ended_at": None}, "ended"),
    ("incomplete for no reason", "running", "incomplete", {"error_reason": None}, "reason"),
    ("incomplete for an empty reason", "running", "incomplete", {"error_reason": ""}, "reason"),
    ("an error for no reason", "running", "error", {"error_reason": None}, "reason"),
    ("cancelled for no reason", "queued", "cancelled", {"error_reason": None}, "reason"),
    ("begun by nobody", "queued", "running", {"owner": None}, "owner"),
    ("incomplete and still somebody's", "running", "incomplete", {"owner": "host:1:2"}, "owner"),
]


@pytest.mark.parametrize(
    ("old", "new", "columns", "check"), [row[1:] for row in MOVED], ids=[row[0] for row in MOVED]
)
def test_no_move_leads_to_what_cannot_be(runs: Runs, old: str, new: str, columns: dict[str, Any], check: str) -> None:
    at(runs, old)
    with failed(f"ck_runs_{check}"):
        runs.go(old, old, new, **columns)
    assert runs.state(old) == old


@pytest.mark.parametrize("type", task_types.TYPES)
def test_a_dangerous_operation_alone_may_be_blocked(runs: Runs, type: str) -> None:
    at(runs, "running", task_type=type)
    if type == "DANGEROUS_OP":
        runs.go("running", "running", "incomplete", executor_status="BLOCKED")
    else:
        with failed("ck_runs_blocked"):
            runs.go("running", "running", "incomplete", executor_status="BLOCKED")


def test_no_run_awaits_a_response_to_nothing(runs: Runs) -> None:
    at(runs, "running")
    with pytest.raises(sqlite3.IntegrityError, match=r"\AQUESTION_MISSING|ck_runs_question"):
        runs.go("running", "running", "awaiting_response", question_id=None)


INSERTED: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown type of task", {"task_type": "PLAY"}, "CHECK"),
    ("the task of nobody", {"task_id": "T9"}, "FOREIGN KEY"),
    ("a retry of nothing", {"retry_of": "r9"}, "FOREIGN KEY"),
    ("a session of nobody", {"session_id": "S9"}, "FOREIGN KEY"),
    ("an asker of nobody", {"queued_by": "nobody"}, "FOREIGN KEY"),
    ("no root", {"verification_root": None}, "NOT NULL"),
]


@pytest.mark.parametrize(("columns", "kind"), [row[1:] for row in INSERTED], ids=[row[0] for row in INSERTED])
def test_no_run_is_queued_that_cannot_be(runs: Runs, columns: dict[str, Any], kind: str) -> None:
    with ledger.violated(kind):
        runs.queue("r", **columns)


@pytest.mark.parametrize("verb", ["INSERT", "REPLACE", "INSERT OR REPLACE", "INSERT OR IGNORE"])
@pytest.mark.parametrize("key", ["id", "log_id"])
def test_an_id_is_given_once(runs: Runs, verb: str, key: str) -> None:
    at(runs, "queued")
    other = "log_id" if key == "id" else "id"
    names = ", ".join("'another'" if name == other else name for name in tables_running.runs.columns.keys())
    with refused("ALREADY_EXISTS"):
        runs.connection.execute(f"{verb} INTO runs SELECT {names} FROM runs")


OF_A_RUN: list[tuple[str, str, dict[str, Any], str]] = [
    ("an event of no run", "run_events", {"run_id": "r9"}, "FOREIGN KEY"),
    ("an event at no level", "run_events", {"level": "secret"}, "CHECK"),
    ("a file of no run", "run_files", {"run_id": "r9"}, "FOREIGN KEY"),
    ("a file that is half there", "run_files", {"present": 2}, "CHECK"),
    ("a file by hearsay", "run_files", {"detection_method": "hearsay"}, "CHECK"),
    ("a violation of no run", "run_violations", {"run_id": "r9"}, "FOREIGN KEY"),
    ("a lock of no run", "run_locks", {"run_id": "r9"}, "FOREIGN KEY"),
    ("a lock in no mode", "run_locks", {"mode": "both"}, "CHECK"),
    ("a lock released by no step", "run_locks", {"released_at": T}, "CHECK"),
]
WHOLE: dict[str, dict[str, Any]] = {
    "run_events": dict(seq=50, part=1, at=T, kind="k", level="full", text="t"),
    "run_files": dict(seq=50, part=1, path="a", present=1, detected_at=T, detection_method="diff"),
    "run_violations": dict(seq=50, part=1, type="files", limit_value=5, actual=6, at=T),
    "run_locks": dict(path="/p", mode="read", seq=50, acquired_at=T),
}


@pytest.mark.parametrize(("table", "columns", "kind"), [row[1:] for row in OF_A_RUN], ids=[row[0] for row in OF_A_RUN])
def test_what_belongs_to_a_run_is_whole(runs: Runs, table: str, columns: dict[str, Any], kind: str) -> None:
    row = dict(session_id=SESSION, run_id=at(runs, "queued")) | WHOLE[table]
    with ledger.violated(kind):
        runs.insert(table, **(row | columns))
    runs.insert(table, **row)


# Detours

DETOURS = [
    "PRAGMA ignore_check_constraints = ON",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA recursive_triggers = ON",
    "CREATE TEMP TABLE status_changes (session_id, seq, entity, entity_id, from_status, to_status, changed_by)",
    "CREATE TEMP VIEW evidence AS SELECT 'S1' AS session_id, 99 AS seq, 'run' AS kind, 'running' AS subject",
    "CREATE TEMP VIEW run_events AS SELECT 'S1' AS session_id, 99 AS seq, 'running' AS run_id",
]


@pytest.mark.parametrize("detour", DETOURS)
@pytest.mark.parametrize("verb", ["UPDATE", "UPDATE OR IGNORE", "UPDATE OR REPLACE"])
def test_no_detour_leads_to_complete(runs: Runs, detour: str, verb: str) -> None:
    at(runs, "running")
    runs.connection.execute(detour)
    with pytest.raises(sqlite3.IntegrityError):
        runs.connection.execute(
            f"{verb} runs SET state = 'complete', state_seq = 99, executor_status = 'COMPLETE', owner = NULL,"
            " ended_at = 't' WHERE id = 'running'"
        )
    assert runs.state("running") == "running"


LOOK_UPS = [
    "SELECT 1 FROM run_locks l WHERE l.session_id = 'S1' AND l.run_id = 'x' AND l.released_seq IS NULL",
    "SELECT 1 FROM evidence e WHERE e.session_id = 'S1' AND e.seq = 1 AND e.kind = 'run' AND e.subject = 'x'",
    "SELECT 1 FROM run_locks l WHERE l.path = 'x' AND l.released_seq IS NULL",
    "SELECT 1 FROM questions q WHERE q.id = 'x' AND q.closed_seq IS NULL",
]


@pytest.mark.parametrize("sql", LOOK_UPS)
@pytest.mark.sqlite("SQLite's plan is read")
def test_what_is_asked_at_every_move_is_found_by_an_index(sql: str) -> None:
    plan = memory.connect().execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    assert all(str(row[3]).startswith("SEARCH") for row in plan), plan
