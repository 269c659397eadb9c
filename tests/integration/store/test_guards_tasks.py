"""Tasks change only as far as the rules let them: the triggers, met by clients that may write and by one that may not.

The database holds tasks at every status, written by the product itself.
"""

from __future__ import annotations

import sqlite3

import pytest

from orchestrator.core import lifecycle_table
from orchestrator.store import guards_tasks, memory
from tests.integration.app.board import Board, board

__all__ = ["board"]

STATUSES = lifecycle_table.TASK_STATUSES
RECORD = (
    "INSERT INTO status_changes SELECT 'S1', {seq}, 1, 'task', id, status, '{status}', 'dev-1', 't', 'r', '{cause}'"
    " FROM tasks WHERE id = '{id}'"
)
MOVE = (
    "UPDATE tasks SET status = '{status}', status_changed_by_agent_id = 'dev-1', status_seq = {seq},"
    " version = version + 1{more} WHERE id = '{id}'"
)
LEAVE = ", former_status = NULL, blocked_reason = NULL"


@pytest.fixture
def filled(board: Board) -> Board:
    """A task of every status, named by it; `waiting` waits for `todo`, `whole` has the part `part`."""
    board.task("todo")
    board.task("backlog", status="backlog")
    board.task("done")
    board.move("done", "in_progress", "done")
    board.task("cancelled")
    board.move("cancelled", "cancelled")
    board.task("blocked", assignee="dev-2")
    board.move("blocked", "in_progress", "blocked", by="dev-2")
    board.task("in_progress")
    board.move("in_progress", "in_progress")
    board.task("waiting", depends_on=("todo",))
    board.task("whole", assignee="busy")
    board.task("part", parent="whole")
    board.move("whole", "in_progress", by="busy")
    return board


def run(board: Board, *statements: str) -> None:
    for statement in statements:
        board.context.connection.execute(statement)


def refused(code: str) -> pytest.RaisesExc[sqlite3.IntegrityError]:
    return pytest.raises(sqlite3.IntegrityError, match=rf"\A{code}: ")


def move(id: str, status: str, *, cause: str = "set_status", more: str = "", seq: int = 900) -> list[str]:
    given = {"id": id, "status": status, "cause": cause, "more": more, "seq": seq}
    return [RECORD.format(**given), MOVE.format(**given)]


LEGAL = {(old, new) for old, new in guards_tasks.LEGAL_MOVES}
SYSTEM = {(old, new): causes for old, new, causes in guards_tasks.SYSTEM_MOVES}
ILLEGAL = [
    (old, new) for old in STATUSES for new in STATUSES if old != new and (old, new) not in LEGAL | set(SYSTEM)
]


def test_the_triggers_know_the_moves_of_the_machine() -> None:
    by_hand = {(old, new) for name, old, new in lifecycle_table.TASK_MOVES if name not in SYSTEM_NAMES}
    named = {
        (old, new, name) for name, old, new in lifecycle_table.TASK_MOVES if name in lifecycle_table.TASK_SYSTEM_MOVES
    }
    assert by_hand == LEGAL
    assert named == {(old, new, cause) for (old, new), causes in SYSTEM.items() for cause in causes}


SYSTEM_NAMES = lifecycle_table.TASK_SYSTEM_MOVES


@pytest.mark.parametrize(("old", "new"), ILLEGAL, ids=[f"{old} to {new}" for old, new in ILLEGAL])
def test_no_illegal_move_is_written_even_on_record(filled: Board, old: str, new: str) -> None:
    with refused("ILLEGAL_MOVE"):
        run(filled, *move(old, new, more=LEAVE if old == "blocked" else ""))


@pytest.mark.parametrize(("old", "new"), sorted(LEGAL | set(SYSTEM)), ids=lambda each: str(each))
def test_no_move_is_written_without_its_record(filled: Board, old: str, new: str) -> None:
    with refused("STATUS_CHANGE_MISSING"):
        run(filled, MOVE.format(id=old, status=new, seq=900, more=LEAVE if old == "blocked" else ""))


@pytest.mark.parametrize(("old", "new"), sorted(SYSTEM), ids=lambda each: str(each))
def test_no_move_of_the_systems_is_written_by_hand(filled: Board, old: str, new: str) -> None:
    with refused("STATUS_CHANGE_MISSING"):
        run(filled, *move(old, new, more=LEAVE if old == "blocked" else ""))


RESOLVED = (
    "UPDATE blockers SET resolved_at = 't', resolved_by = 'dev-2', resolved_seq = 900, resolution = 'resolved'"
    " WHERE task_id = 'blocked'"
)
REMOVED = "UPDATE task_dependencies SET removed_seq = 900, removed_by = 'dev-1', removed_reason = 'moot'"
ATTACKS: list[tuple[str, list[str], str]] = [
    ("begin with an open dependency", move("waiting", "in_progress"), "DEPENDENCIES_OPEN"),
    ("begin in nobody's hands", [*move("todo", "in_progress", more=", assignee = NULL")], "NOT_PERMITTED"),
    ("be done with an open part", move("whole", "done"), "COMPLETION_GATE"),
    (
        "be done with all parts cancelled",
        [*move("part", "cancelled", seq=901), *move("whole", "done")],
        "COMPLETION_GATE",
    ),
    (
        "be done with an open question",
        [
            "INSERT INTO questions (id, session_id, group_id, task_id, kind, text, asked_by, asked_at, opened_seq)"
            " VALUES ('Q', 'S1', 'A', 'in_progress', 'reply', '?', 'dev-1', 't', 1)",
            *move("in_progress", "done"),
        ],
        "COMPLETION_GATE",
    ),
    ("leave blocked with an open blocker", move("blocked", "in_progress", more=LEAVE), "UNBLOCK_NOT_PERMITTED"),
    ("be cancelled with an open blocker", move("blocked", "cancelled", more=LEAVE), "UNBLOCK_NOT_PERMITTED"),
    (
        "go back to the backlog, where it was not",
        [RESOLVED, *move("blocked", "backlog", cause="release", more=LEAVE)],
        "ILLEGAL_MOVE",
    ),
    (
        "be blocked by nothing",
        move("in_progress", "blocked", more=", former_status = 'in_progress', blocked_reason = 'x'"),
        "BLOCKER_MISSING",
    ),
    ("begin as done", ["INSERT INTO tasks (session_id, id, title, description, type, created_at, created_seq, status,"
     " status_changed_at, status_seq) VALUES ('S1', 'N', 't', '', 'REPORT', 't', 1, 'done', 't', 1)"], "ILLEGAL_MOVE"),
    ("begin blocked by nothing", ["INSERT INTO tasks (session_id, id, title, description, type, created_at,"
     " created_seq, status, status_changed_at, status_seq, former_status, blocked_reason)"
     " VALUES ('S1', 'N', 't', '', 'REPORT', 't', 1, 'blocked', 't', 1, 'todo', 'x')"], "BLOCKER_MISSING"),
    ("take a taken id", ["INSERT OR REPLACE INTO tasks SELECT * FROM tasks WHERE id = 'backlog'"], "ALREADY_EXISTS"),
    ("change another's reason", ["UPDATE tasks SET blocked_reason = 'x', version = version + 1 WHERE id = 'blocked'"],
     "BLOCKER_MISSING"),
    ("come from elsewhere", ["UPDATE tasks SET former_status = 'todo', version = version + 1 WHERE id = 'blocked'"],
     "NEVER_CHANGED"),
    ("claim another changer", ["UPDATE tasks SET status_changed_by_agent_id = 'qa-1' WHERE id = 'blocked'"],
     "STATUS_CHANGE_MISSING"),
    ("claim an earlier step", ["UPDATE tasks SET status_seq = 0 WHERE id = 'blocked'"], "STATUS_CHANGE_MISSING"),
    ("change without a version", ["UPDATE tasks SET assignee = 'qa-1' WHERE id = 'todo'"], "VERSION_CONFLICT"),
    ("skip a version", ["UPDATE tasks SET version = version + 2 WHERE id = 'todo'"], "VERSION_CONFLICT"),
    ("go back a version", ["UPDATE tasks SET version = version - 1 WHERE id = 'blocked'"], "VERSION_CONFLICT"),
    *(
        (f"change its {column}", [f"UPDATE tasks SET {column} = '77' WHERE id = 'todo'"], "NEVER_CHANGED")
        for column in (
            "session_id", "id", "group_id", "parent_id", "title", "description", "type", "created_by", "created_at",
            "created_seq",
        )
    ),
    ("be deleted", ["DELETE FROM tasks WHERE id = 'todo'"], "NEVER_DELETED"),
    ("lose a dependency", ["DELETE FROM task_dependencies"], "NEVER_DELETED"),
    ("depend on another", ["UPDATE task_dependencies SET depends_on_id = 'done'"], "NEVER_CHANGED"),
    ("have half a removal", ["UPDATE task_dependencies SET removed_by = 'dev-1'"], "NEVER_CHANGED"),
    ("take a removal back", [REMOVED,
     "UPDATE task_dependencies SET removed_seq = NULL, removed_by = NULL, removed_reason = NULL"], "NEVER_CHANGED"),
    ("be removed again", [REMOVED,
     "UPDATE task_dependencies SET removed_seq = 901"], "NEVER_CHANGED"),
    ("wait for who waits", ["INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq)"
     " VALUES ('S1', 'todo', 'waiting', 900)"], "DEPENDENCY_CYCLE"),
    ("wait once it has begun", ["INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq)"
     " VALUES ('S1', 'in_progress', 'todo', 900)"], "DEPENDENCY_INVALID"),
    ("wait once it is done", ["INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq)"
     " VALUES ('S1', 'done', 'todo', 900)"], "DEPENDENCY_INVALID"),
    ("take a notice back", ["UPDATE notices SET agent_id = 'user'"], "NEVER_CHANGED"),
    ("delete a notice", ["DELETE FROM notices"], "NEVER_DELETED"),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "code"), [row[1:] for row in ATTACKS], ids=[row[0] for row in ATTACKS])
def test_no_client_makes_a_task(filled: Board, statements: list[str], code: str) -> None:
    with refused(code):
        run(filled, *statements)


CHECKED = [
    ("itself", "INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq) VALUES ('S1','todo','todo',9)"),
    ("nothing", "INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq) VALUES ('S1','todo','Z',9)"),
    ("half a claim", "UPDATE tasks SET claim_holder = 'dev-1', version = version + 1 WHERE id = 'in_progress'"),
    (
        "a claim on what is not worked at",
        "UPDATE tasks SET claim_holder = 'dev-1', claim_token = 'x', claim_until = 't', claim_beat_at = 't',"
        " version = version + 1 WHERE id = 'todo'",
    ),
    ("an unregistered assignee", "UPDATE tasks SET assignee = 'nobody', version = version + 1 WHERE id = 'todo'"),
]


@pytest.mark.parametrize("statement", [row[1] for row in CHECKED], ids=[row[0] for row in CHECKED])
def test_constraints_refuse_what_cannot_be(filled: Board, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="constraint"):
        run(filled, statement)


def test_a_claim_changes_hands_on_record_alone(filled: Board) -> None:
    claim = (
        "UPDATE tasks SET claim_holder = '{}', claim_token = '{}', claim_until = 't', claim_beat_at = 't',"
        " version = version + 1 WHERE id = 'in_progress'"
    )
    run(filled, claim.format("dev-1", "one"))
    with refused("CLAIM_LOST"):
        run(filled, claim.format("dev-2", "two"))
    run(
        filled,
        "INSERT INTO status_changes VALUES"
        " ('S1', 900, 1, 'task_claim', 'in_progress', 'dev-1', 'dev-2', 'dev-2', 't', 'r', 'claim')",
        claim.format("dev-2", "two"),
    )
    assert filled.show("in_progress")["claim_holder"] == "dev-2"


TABLES = ("tasks", "task_dependencies", "notices")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.sqlite("a stranger opens the file")
def test_a_stranger_writes_nothing(filled: Board, table: str) -> None:
    stranger = sqlite3.connect(":memory:", isolation_level=None)
    stranger.deserialize(filled.context.connection.serialize())
    for statement in (
        f"INSERT INTO {table} SELECT * FROM {table}",
        f"REPLACE INTO {table} SELECT * FROM {table}",
        f"UPDATE {table} SET session_id = session_id",
    ):
        with pytest.raises(sqlite3.OperationalError, match="no such function: orchestrator_write"):
            stranger.execute(statement)
    with pytest.raises(sqlite3.IntegrityError, match="NEVER_DELETED"):
        stranger.execute(f"DELETE FROM {table}")
    stranger.close()


DETOURS = [
    "PRAGMA ignore_check_constraints = ON",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA recursive_triggers = ON",
    "CREATE TEMP TABLE status_changes (session_id, seq, entity, entity_id, from_status, to_status, changed_by, cause)",
    "CREATE TEMP VIEW blockers AS SELECT 1 AS id WHERE 1 = 0",
]


@pytest.mark.parametrize("detour", DETOURS)
@pytest.mark.parametrize("verb", ["UPDATE", "UPDATE OR IGNORE", "UPDATE OR REPLACE"])
def test_no_detour_leads_to_done(filled: Board, detour: str, verb: str) -> None:
    run(filled, detour)
    with pytest.raises(sqlite3.IntegrityError):
        run(filled, f"{verb} tasks SET status = 'done', version = version + 1 WHERE id = 'whole'")
    assert filled.rows("SELECT status FROM main.tasks WHERE id = 'whole'") == [("in_progress",)]


LOOK_UPS = [
    "SELECT 1 FROM tasks WHERE session_id = 'S1' AND parent_id = 'x'",
    "SELECT 1 FROM task_dependencies WHERE session_id = 'S1' AND depends_on_id = 'x'",
    "SELECT 1 FROM blockers WHERE session_id = 'S1' AND task_id = 'x' AND resolved_seq IS NULL",
    "SELECT 1 FROM tasks WHERE assignee = 'x' AND status = 'in_progress'",
]


@pytest.mark.parametrize("sql", LOOK_UPS)
@pytest.mark.sqlite("SQLite's plan is read")
def test_what_is_asked_at_every_change_is_found_by_an_index(sql: str) -> None:
    plan = memory.connect().execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    assert all(str(row[3]).startswith("SEARCH") for row in plan), plan
