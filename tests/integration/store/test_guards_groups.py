"""Groups move by rule alone: the triggers, met by a client that may write."""

from __future__ import annotations

import itertools
import sqlite3

import pytest

from orchestrator.store import columns, completion_views, guards, guards_groups
from tests.integration.store import ledger
from tests.integration.store.ledger import CHAIN, change, refused

STATUSES = columns.GROUP_STATUSES


# --- moves of groups


def in_status(book: ledger.Ledger, status: str) -> None:
    """Bring group G into a status by legal moves; its chain is whole."""
    book.group("G", started=status != "pending")
    if status == "deferred_external":
        book.defer("G", book.block("G", external=True))
    book.reports(*CHAIN)
    if status == "completed":
        book.complete("G")
    if status == "cancelled":
        book.move("G", "in_progress", "cancelled")


def go(book: ledger.Ledger, old: str, new: str) -> None:
    if new == "deferred_external" and old == "in_progress":
        book.defer("G", book.block("G", external=True))
    else:
        book.move("G", old, new)


PAIRS = [pair for pair in itertools.product(STATUSES, STATUSES) if pair[0] != pair[1]]
LEGAL = {
    ("pending", "in_progress"),
    ("in_progress", "completed"),
    ("in_progress", "deferred_external"),
    ("deferred_external", "in_progress"),
    ("pending", "cancelled"),
    ("in_progress", "cancelled"),
    ("deferred_external", "cancelled"),
    ("completed", "in_progress"),
}


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=lambda status: status)
def test_groups_move_by_the_table_alone(book: ledger.Ledger, old: str, new: str) -> None:
    in_status(book, old)
    if (old, new) in LEGAL:
        go(book, old, new)
    else:
        # A deferred group has an open blocker: the path speaks first.
        with refused("COMPLETION_PATH_MISSING" if (old, new) == ("deferred_external", "completed") else "ILLEGAL_MOVE"):
            go(book, old, new)
    assert book.path()["status"] == (new if (old, new) in LEGAL else old)


@pytest.mark.parametrize("status", ["Completed", "blocked", "", "in progress"])
def test_an_unknown_status_is_no_move(book: ledger.Ledger, status: str) -> None:
    in_status(book, "in_progress")
    book.connection.execute("PRAGMA ignore_check_constraints = ON")
    with refused("ILLEGAL_MOVE"):
        book.move("G", "in_progress", status)


@pytest.mark.parametrize("kind", ["code", "research"])
@pytest.mark.parametrize("status", [status for status in STATUSES if status != "pending"])
def test_a_group_begins_as_pending(book: ledger.Ledger, kind: str, status: str) -> None:
    book.group("P")
    with refused("ILLEGAL_MOVE"):
        change(
            book,
            "INSERT INTO task_groups (session_id, id, name, kind, created_by, created_at, created_seq, status,"
            " status_changed_by, status_changed_at, status_seq)"
            " SELECT session_id, 'G', name, ?, created_by, created_at, created_seq, ?, 'x', created_at, 1"
            " FROM task_groups WHERE id = 'P'",
            kind,
            status,
        )


WRONG_ROWS = {
    "entity": "task",
    "entity_id": "H",
    "from_status": "pending",
    "to_status": "cancelled",
    "changed_by": "developer",
    "session_id": "S2",
    "seq": 999,
}


@pytest.mark.parametrize("new", ["completed", "cancelled"])
@pytest.mark.parametrize("wrong", [None, *WRONG_ROWS])
def test_a_move_needs_its_own_row(book: ledger.Ledger, new: str, wrong: str | None) -> None:
    in_status(book, "in_progress")
    seq = book.step()
    row = dict(session_id="S1", seq=seq, entity="group", entity_id="G", from_status="in_progress", to_status=new)  # noqa: C408
    row |= dict(changed_by="project_manager", changed_at="t", reason="r", cause="c")  # noqa: C408
    if wrong is not None:
        other = "deferred_external" if (wrong, new) == ("to_status", "cancelled") else WRONG_ROWS[wrong]
        book.insert("status_changes", **row | {wrong: other})
    with refused("STATUS_CHANGE_MISSING"):
        book.set_status("G", new, seq)
    if wrong not in ("seq", None):
        seq = row["seq"] = book.step()
    book.insert("status_changes", **row | {"part": 2})
    book.set_status("G", new, seq)
    assert book.path()["status"] == new


def test_the_row_of_an_earlier_move_serves_no_later_one(book: ledger.Ledger) -> None:
    in_status(book, "in_progress")
    first = book.complete("G")
    book.reopen("G")
    book.reports(*CHAIN)
    with refused("STATUS_CHANGE_MISSING"):
        book.set_status("G", "completed", first)


def test_a_group_may_begin_and_move_in_one_step(book: ledger.Ledger) -> None:
    book.group("I", kind="research", started=False)
    seq = book.seq
    row = ("S1", seq, "group", "I", "pending", "in_progress", "system:router", "t", "r", "c")
    change(book, f"INSERT INTO status_changes VALUES (?, ?, 1, {', '.join('?' * 8)})", *row)
    book.set_status("I", "in_progress", seq, by="system:router")
    assert book.path("I")["status"] == "in_progress"


@pytest.mark.parametrize("column", ["status_changed_by", "status_changed_at", "status_seq"])
def test_who_changed_a_status_is_written_with_the_change_alone(book: ledger.Ledger, column: str) -> None:
    in_status(book, "in_progress")
    with refused("STATUS_CHANGE_MISSING"):
        change(book, f"UPDATE task_groups SET {column} = 99")


def test_the_same_status_again_changes_nothing(book: ledger.Ledger) -> None:
    in_status(book, "completed")
    change(book, "UPDATE task_groups SET status = 'completed', status_seq = status_seq")
    assert book.path()["status"] == "completed"


@pytest.mark.parametrize("part", completion_views.PARTS)
def test_each_part_is_missed_with_its_own_message(part: str) -> None:
    statement = dict(guards.TRIGGERS)["task_groups_completed_needs_path"]
    assert f"COMPLETION_PATH_MISSING: {part} is not met: {guards_groups.REQUIRED}" in statement


def test_a_refused_completion_names_the_part_and_what_is_required(book: ledger.Ledger) -> None:
    in_status(book, "in_progress")
    book.block()
    with pytest.raises(sqlite3.IntegrityError) as refusal:
        book.complete("G")
    assert str(refusal.value) == (
        "COMPLETION_PATH_MISSING: unblocked is not met: tech_lead APPROVED + MERGE_SUCCESS,"
        " or project_manager BAZINGA acknowledging the group"
    )


def test_the_path_is_missed_before_the_row_of_the_move(book: ledger.Ledger) -> None:
    book.group("G")
    with refused("COMPLETION_PATH_MISSING"):
        change(book, "UPDATE task_groups SET status = 'completed'")


def test_a_chat_group_is_not_completed_by_this_path(book: ledger.Ledger) -> None:
    book.group("G", kind="chat")
    book.reports(*CHAIN)
    with refused("COMPLETION_PATH_MISSING: the group has no completion path"):
        book.complete("G")


def test_a_view_that_finds_no_row_completes_nothing(book: ledger.Ledger) -> None:
    in_status(book, "in_progress")
    book.connection.execute("DROP VIEW completion_paths")
    book.connection.execute("CREATE VIEW completion_paths AS SELECT '' session_id, '' group_id, 1 valid, '' missing")
    with refused("COMPLETION_PATH_MISSING: the group has no completion path"):
        book.complete("G")


def test_an_update_of_several_groups_is_refused_as_a_whole(book: ledger.Ledger) -> None:
    in_status(book, "in_progress")
    book.group("H")
    book.record("group", "G", "in_progress", "completed")
    with refused("COMPLETION_PATH_MISSING"):
        change(
            book,
            "UPDATE task_groups SET status = 'completed', status_changed_by = 'project_manager', status_seq = ?",
            book.seq,
        )
    assert [book.path(name)["status"] for name in "GH"] == ["in_progress", "in_progress"]


# --- deferrals


def deferral(book: ledger.Ledger, blocker: str, *, group: str = "G", late: int = 0) -> None:
    seq = book.record("group", "G", "in_progress", "deferred_external")
    book.insert("deferrals", session_id="S1", seq=seq, group_id=group, blocker_id=blocker, reason="r",
                dependency="d", confirmed_by="t", confirmed_seq=1, deferred_by="p", deferred_at="t")  # fmt: skip
    book.set_status("G", "deferred_external", seq + late)


def test_a_deferral_needs_its_row(book: ledger.Ledger) -> None:
    in_status(book, "in_progress")
    book.block(external=True)
    with refused("DEFERRAL_NOT_CONFIRMED"):
        book.move("G", "in_progress", "deferred_external")


@pytest.mark.parametrize("case", ["not external", "resolved", "of another group", "row of another group", "other step"])
def test_a_deferral_rests_on_an_open_external_blocker_of_the_group(book: ledger.Ledger, case: str) -> None:
    in_status(book, "in_progress")
    book.group("H")
    blocker = book.block("H" if case == "of another group" else "G", external=case != "not external")
    if case == "resolved":
        book.resolve(blocker)
    group = "H" if case == "row of another group" else "G"
    with refused("DEFERRAL_NOT_CONFIRMED"):
        deferral(book, blocker, group=group, late=int(case == "other step"))


def test_a_deferral_needs_the_row_of_its_move_as_well(book: ledger.Ledger) -> None:
    in_status(book, "in_progress")
    blocker = book.block(external=True)
    seq = book.step()
    book.insert("deferrals", session_id="S1", seq=seq, group_id="G", blocker_id=blocker, reason="r",
                dependency="d", confirmed_by="t", confirmed_seq=1, deferred_by="p", deferred_at="t")  # fmt: skip
    with refused("STATUS_CHANGE_MISSING"):
        book.set_status("G", "deferred_external", seq)
