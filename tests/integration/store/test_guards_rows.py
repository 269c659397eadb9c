"""Rows change only as far as the rules let them: the triggers, met by a client that may write."""

from __future__ import annotations

import itertools
import re

import pytest

from tests.integration.store import ledger
from tests.integration.store.ledger import change, one, refused

# --- columns that change only with a record

FIXED = {
    "group_kind": ("task_groups", "kind", "G", "code", "research"),
    "group_security": ("task_groups", "security_sensitive", "G", 0, 1),
    "session_testing_mode": ("sessions", "testing_mode", "S1", "full", "minimal"),
}


@pytest.mark.parametrize("entity", FIXED)
def test_a_fixed_column_changes_once_with_each_record(book: ledger.Ledger, entity: str) -> None:
    table, column, row_id, old, new = FIXED[entity]
    book.group("G")
    forth, back = f"UPDATE {table} SET {column} = '{new}'", f"UPDATE {table} SET {column} = '{old}'"
    with refused("STATUS_CHANGE_MISSING"):
        change(book, forth)
    book.record(entity, row_id, str(old), str(new))
    change(book, forth)
    change(book, forth)
    with refused("STATUS_CHANGE_MISSING"):
        change(book, back)
    book.record(entity, row_id, str(new), str(old))
    change(book, back)
    with refused("STATUS_CHANGE_MISSING"):
        change(book, forth)
    assert one(book, f"SELECT {column} FROM {table}") == old


@pytest.mark.parametrize("entity", FIXED)
def test_a_record_of_something_else_changes_no_fixed_column(book: ledger.Ledger, entity: str) -> None:
    table, column, row_id, old, new = FIXED[entity]
    book.group("G")
    book.record("group", row_id, str(old), str(new))
    book.record(entity, "other", str(old), str(new))
    book.record(entity, row_id, str(old), "something")
    with refused("STATUS_CHANGE_MISSING"):
        change(book, f"UPDATE {table} SET {column} = '{new}'")


@pytest.mark.parametrize("column", ["session_id", "id", "created_seq", "created_by", "created_at"])
@pytest.mark.parametrize("verb", ["UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE"])
def test_a_group_keeps_its_key_and_origin(book: ledger.Ledger, verb: str, column: str) -> None:
    book.group("G")
    with refused("NEVER_CHANGED"):
        change(book, f"{verb} task_groups SET {column} = '77'")


# --- sessions


def move_session(book: ledger.Ledger, old: str, new: str, *, recorded: bool = True) -> None:
    seq = book.record("session", "S1" if recorded else "S2", old, new)
    outcome = "abandoned" if new == "ended" else None
    change(
        book,
        "UPDATE sessions SET status = ?, status_changed_by = 'project_manager', status_seq = ?, outcome = ?",
        new,
        seq,
        outcome,
    )


@pytest.mark.parametrize("way", ["active paused active", "active ended", "active paused ended"])
def test_a_session_moves_along_its_ways(book: ledger.Ledger, way: str) -> None:
    for old, new in itertools.pairwise(way.split()):
        with refused("STATUS_CHANGE_MISSING"):
            move_session(book, old, new, recorded=False)
        move_session(book, old, new)
    assert one(book, "SELECT status FROM sessions") == way.split()[-1]


@pytest.mark.parametrize("new", ["active", "paused"])
def test_an_ended_session_stays_ended(book: ledger.Ledger, new: str) -> None:
    move_session(book, "active", "ended")
    with refused("ILLEGAL_MOVE"):
        move_session(book, "ended", new)


@pytest.mark.parametrize("column", ["outcome", "outcome_reason", "status_seq", "status_changed_by"])
def test_an_outcome_is_written_with_the_end_alone(book: ledger.Ledger, column: str) -> None:
    move_session(book, "active", "ended")
    with refused("STATUS_CHANGE_MISSING"):
        change(book, f"UPDATE sessions SET {column} = '3'")


@pytest.mark.parametrize("column", ["id", "kind", "goal", "created_by", "created_at"])
def test_a_session_keeps_its_origin(book: ledger.Ledger, column: str) -> None:
    with refused("NEVER_CHANGED"):
        change(book, f"UPDATE sessions SET {column} = 'chat'")


def test_a_session_begins_as_active(book: ledger.Ledger) -> None:
    row = dict(book.connection.execute("SELECT * FROM sessions").fetchone())
    with refused("ILLEGAL_MOVE"):
        book.insert("sessions", **row | {"id": "S2", "status": "ended", "outcome": "accepted"})


# --- rows that are opened and closed

OPENED = [
    *(("blockers", name) for name in "id session_id group_id task_id type class reason opened_by opened_role".split()),
    *(("blockers", name) for name in "opened_at opened_seq report_id cause".split()),
    *(("questions", name) for name in "id session_id group_id task_id kind text asked_by asked_at opened_seq".split()),
    *(("group_dependencies", name) for name in "session_id group_id depends_on seq added_by".split()),
    *(("agents", name) for name in "id role parent_id kind session_id group_id created_at created_seq".split()),
]


def opened(book: ledger.Ledger) -> dict[str, str]:
    """One open row in each table, and the statement that closes it."""
    book.group("G")
    book.group("D")
    book.block()
    book.ask()
    book.depend("G", "D")
    return {
        "blockers": "UPDATE blockers SET resolved_at = 't', resolved_by = 'x', resolved_seq = 90, resolution = 'moot'",
        "questions": "UPDATE questions SET closed_at = 't', closed_by = 'x', closed_seq = 90, answer = 'yes'",
        "group_dependencies": "UPDATE group_dependencies SET removed_seq = 90, removed_by = 'x', removed_reason = 'r'",
    }


@pytest.mark.parametrize(("table", "column"), OPENED, ids=lambda name: name)
def test_what_a_row_was_opened_with_stays(book: ledger.Ledger, table: str, column: str) -> None:
    opened(book)
    with refused("NEVER_CHANGED"):
        change(book, f"UPDATE {table} SET {column} = '77'")


@pytest.mark.parametrize("table", ["blockers", "questions", "group_dependencies"])
def test_a_row_is_closed_once_and_stays_so(book: ledger.Ledger, table: str) -> None:
    close = opened(book)[table]
    change(book, close)
    with refused("NEVER_CHANGED"):
        change(book, close)
    first = close.split("SET ")[1].split(" = ")[0]
    with refused("NEVER_CHANGED"):
        change(book, f"UPDATE {table} SET {first} = NULL")


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("blockers", "resolved_by"),
        ("blockers", "resolution_note"),
        ("questions", "answer"),
        ("questions", "decision"),
        ("questions", "channel"),
        ("group_dependencies", "removed_reason"),
    ],
)
def test_a_row_is_not_closed_by_halves(book: ledger.Ledger, table: str, column: str) -> None:
    opened(book)
    with refused("NEVER_CHANGED"):
        change(book, f"UPDATE {table} SET {column} = 'x'")


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("blockers", "resolved_at"),
        ("blockers", "resolved_by"),
        ("blockers", "resolution"),
        ("questions", "closed_at"),
        ("questions", "closed_by"),
    ],
)
def test_a_row_is_closed_with_who_did_it_and_how_even_without_checks(
    book: ledger.Ledger, table: str, column: str
) -> None:
    close = opened(book)[table]
    book.connection.execute("PRAGMA ignore_check_constraints = ON")
    with refused("NEVER_CHANGED"):
        change(book, re.sub(rf"\b{column} = '\w+'", f"{column} = NULL", close))


def test_the_external_mark_of_a_blocker_changes_while_it_is_open(book: ledger.Ledger) -> None:
    close = opened(book)["blockers"]
    change(book, "UPDATE blockers SET external = 1, external_dependency = 'vendor', external_by = 'tech_lead'")
    change(book, "UPDATE blockers SET external = 0, external_dependency = NULL")
    change(book, close)
    with refused("NEVER_CHANGED"):
        change(book, "UPDATE blockers SET external = 1, external_dependency = 'vendor'")


def test_an_agent_may_be_put_to_rest_and_called_back(book: ledger.Ledger) -> None:
    for active in (0, 1):
        change(book, "UPDATE agents SET active = ? WHERE id = 'developer'", active)
        assert one(book, "SELECT active FROM agents WHERE id = 'developer'") == active
