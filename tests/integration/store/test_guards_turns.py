# ruff: noqa: C408 - columns read better as keywords, several to a line
"""Runs of turns change only as far as the rules let them: every move, trigger and check, met by plain SQL."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator.core.running import turn_verdict
from orchestrator.store import guards_running, memory, tables_running, turn_reader
from tests.cases import every
from tests.integration.store import ledger
from tests.integration.store.ledger import SESSION, Ledger, T

BY = "orchestrator"
STATES = tables_running.TURN_STATES
ENDED = turn_verdict.ENDED
MOVES = guards_running.LEGAL_TURN_MOVES
ILLEGAL = [(old, new) for old in ("queued", "running") for new in STATES if old != new and (old, new) not in MOVES]


class Turns(Ledger):
    """A ledger with runs of turns that are written row by row."""

    def __init__(self) -> None:
        super().__init__(ledger.empty())

    def queue(self, id: str, **more: Any) -> str:
        seq = self.step()
        row = dict(
            **dict(session_id=SESSION, id=id, turn=1, role="developer", prompt="p", executor="e", folder=f"/tree/{id}"),
            **dict(root="/p", lock_key=f"session:S1/group:{id}", queued_by=BY, queued_at=T, created_seq=seq),
            **dict(state="queued", state_changed_by=BY, state_changed_at=T, state_seq=seq, owner="host:1:2"),
        )
        self.insert("turn_runs", **(row | more))
        return id

    def prove(self, id: str, seq: int, *, kind: str = "turn", subject: str | None = None, part: int = 1) -> None:
        self.insert(
            "evidence",
            **dict(session_id=SESSION, seq=seq, part=part, kind=kind, subject=subject or id, outcome="x", hash="h"),
            **dict(size=1, content="c"),
        )

    def set(self, run: str, /, **columns: Any) -> None:
        sets = ", ".join(f"{name} = ?" for name in columns)
        self.connection.execute(f"UPDATE turn_runs SET {sets} WHERE id = ?", [*columns.values(), run])

    def columns(self, new: str, seq: int) -> dict[str, Any]:
        found: dict[str, Any] = {"state": new, "state_changed_by": BY, "state_changed_at": T, "state_seq": seq}
        if new in ENDED:
            found |= {"ended_at": T, "owner": None, "output": "done", "reason": None if new == "answered" else "why"}
        return found

    def go(self, id: str, old: str, new: str, *, judged: bool = True, proven: bool = True) -> None:
        """A move with everything that it needs, as far as that is not left out."""
        seq = self.record("turn", id, old, new, by=BY)
        if new in ENDED and judged:
            self.prove(id, seq)
        if new == "answered" and proven:
            self.prove(id, seq, kind="operation", subject=f"{id}-execute", part=2)
        self.set(id, **self.columns(new, seq))

    def at(self, state: str, id: str = "r1", **more: Any) -> str:
        """A run in a state."""
        self.queue(id, **more)
        if state != "queued":
            self.go(id, "queued", "running")
        if state in ENDED:
            self.go(id, "running", state)
        return id

    def lock(self, path: str) -> None:
        seq = self.step()
        row = dict(session_id=SESSION, id="T", title="t", description="", type="REPORT", created_at=T, created_seq=1)
        self.insert("tasks", **row, status="todo", status_changed_at=T, status_seq=1)
        self.insert(
            "runs",
            **dict(session_id=SESSION, id="task-1", log_id="task-001", task_id="T", prompt="p", executor="e"),
            **dict(task_type="REPORT", provider="claude-code", verification_root="/p", queued_by=BY, queued_at=T),
            **dict(created_seq=seq, state="queued", state_changed_by=BY, state_changed_at=T, state_seq=seq),
        )
        self.insert(
            "run_locks", session_id=SESSION, run_id="task-1", path=path, mode="read", seq=seq, acquired_at=T
        )


def refused(message: str) -> Any:
    """A refusal whose message begins so."""
    return pytest.raises(sqlite3.IntegrityError, match=rf"\A{re.escape(message)}")


@pytest.fixture
def turns() -> Iterator[Turns]:
    written = Turns()
    yield written
    written.connection.close()


def test_the_states_are_those_of_the_verdict() -> None:
    assert set(STATES) == {"queued", "running", *ENDED}


@pytest.mark.parametrize("state", STATES)
def test_a_run_gets_to_every_state_by_its_moves(turns: Turns, state: str) -> None:
    id = turns.at(state)
    assert turns.connection.execute("SELECT state FROM turn_runs WHERE id = ?", [id]).fetchone()[0] == state


@pytest.mark.parametrize(("old", "new"), ILLEGAL)
def test_other_moves_are_refused(turns: Turns, old: str, new: str) -> None:
    id = turns.at(old)
    with refused("ILLEGAL_MOVE: the run of a turn does not go"):
        turns.go(id, old, new)


def test_a_run_begins_as_queued(turns: Turns) -> None:
    with refused("ILLEGAL_MOVE: the run of a turn begins as queued"):
        turns.queue("r1", state="running")


REFUSED: list[tuple[str, str, Callable[[Turns], None]]] = [
    (
        "a move of no step", "STATUS_CHANGE_MISSING: a move needs",
        lambda turns: turns.set(turns.at("queued"), **turns.columns("running", 99)),
    ),
    (
        "an end that nobody judged", "LOG_MISSING: the run of a turn ends",
        lambda turns: turns.go(turns.at("running"), "running", "failed", judged=False),
    ),
    (
        "an answer that no executor gave", "EVIDENCE_MISSING: a turn is answered",
        lambda turns: turns.go(turns.at("running"), "running", "answered", proven=False),
    ),
    (
        "another change after the end", "NEVER_CHANGED: the run of a turn that has ended",
        lambda turns: turns.set(turns.at("answered"), output="other"),
    ),
    (
        "an owner without a move", "STATUS_CHANGE_MISSING: who changed a state",
        lambda turns: turns.set(turns.at("running"), owner="host:3:4"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("message", "act"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_the_rules_do_not_let_is_refused(turns: Turns, message: str, act: Callable[[Turns], None]) -> None:
    with refused(message):
        act(turns)


@every("column", [
    "group_id", "turn", "role", "prompt", "executor", "model", "folder", "root", "lock_key", "queued_by", "queued_at",
    "created_seq", "session_id", "id",
])  # fmt: skip
def test_a_run_keeps_what_it_was_queued_with(turns: Turns, column: str) -> None:
    with refused("NEVER_CHANGED: the run of a turn keeps"):
        turns.set(turns.at("queued", f"of {column}"), **{column: 7})


HELD: list[tuple[str, dict[str, Any], bool]] = [
    ("another group in another folder", {}, True),
    ("the same group", {"lock_key": "session:S1/group:r1"}, False),
    ("the same folder", {"folder": "/tree/r1"}, False),
]


@pytest.mark.parametrize(("more", "runs"), [row[1:] for row in HELD], ids=[row[0] for row in HELD])
def test_one_turn_at_a_time_works_on_a_group_and_in_a_folder(turns: Turns, more: dict[str, Any], runs: bool) -> None:
    """P6."""
    turns.at("running", "r1")
    if runs:
        turns.at("running", "r2", **more)
        return
    with refused("LOCK_HELD: one turn at a time"):
        turns.at("running", "r2", **more)
    turns.go("r1", "running", "failed")
    turns.go("r2", "queued", "running")


@pytest.mark.parametrize("path", ["/tree/r1", "session:S1/group:r1"])
def test_turns_and_runs_of_tasks_keep_away_from_each_other(turns: Turns, path: str) -> None:
    """P6."""
    turns.lock(path)
    with refused("LOCK_HELD: one turn at a time"):
        turns.at("running", "r1")
    turns.at("running", "r2")
    with refused("LOCK_HELD: a file has many readers or one writer"):
        turns.insert(
            "run_locks", session_id=SESSION, run_id="task-1", path=path.replace("r1", "r2"), mode="read", seq=1,
            acquired_at=T,
        )


CHECKS: list[tuple[str, dict[str, Any]]] = [
    ("ck_turn_runs_owner", {"owner": None}),
    ("ck_turn_runs_ended", {"ended_at": T, "owner": None}),
]


@pytest.mark.parametrize(("name", "columns"), CHECKS, ids=[row[0] for row in CHECKS])
def test_a_row_that_contradicts_itself_is_not_written(turns: Turns, name: str, columns: dict[str, Any]) -> None:
    with ledger.failed(name):
        turns.queue("r1", **columns)


@pytest.mark.parametrize(
    ("state", "columns", "name"),
    [
        ("answered", {"output": None}, "answer"), ("answered", {"output": ""}, "answer"),
        ("failed", {"reason": None}, "reason"), ("limited", {"reason": ""}, "reason"),
        ("no_answer", {"reason": ""}, "reason"),
    ],
)  # fmt: skip
def test_an_end_has_its_answer_or_its_reason(turns: Turns, state: str, columns: dict[str, Any], name: str) -> None:
    id = turns.at("running")
    seq = turns.record("turn", id, "running", state, by=BY)
    turns.prove(id, seq)
    turns.prove(id, seq, kind="operation", subject=f"{id}-execute", part=2)
    with ledger.failed(f"ck_turn_runs_{name}"):
        turns.set(id, **(turns.columns(state, seq) | columns))


@every("sql", [
    "SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_open WHERE t.ended_at IS NULL AND t.state = 'running'",
    "SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_turn WHERE t.session_id = 'S1' AND t.group_id IS 'A'",
])  # fmt: skip
@pytest.mark.sqlite("SQLite's plan is read")
def test_what_is_asked_at_every_move_is_found_by_an_index(sql: str) -> None:
    plan = memory.connect().execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    assert all(str(row[3]).startswith("SEARCH") for row in plan), plan


def test_a_run_of_a_turn_has_the_columns_of_its_table() -> None:
    assert turn_reader.TurnRun._fields == tuple(tables_running.turn_runs.columns.keys())


@every("name", [name for name, value in vars(turn_reader).items() if isinstance(value, str) and "SELECT" in value])
@pytest.mark.sqlite("SQLite's plan is read")
def test_what_is_read_of_turns_is_bounded_by_an_index(name: str) -> None:
    sql = getattr(turn_reader, name)
    parameters = dict.fromkeys(re.findall(r":(\w+)", sql), "x")
    found = [str(row[3]) for row in memory.connect().execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    first = "SCAN turn_runs USING" if name == "_NEWEST" else r"SEARCH (turn_runs|r) USING"
    assert re.match(first, found[0]), found
