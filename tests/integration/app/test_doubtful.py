"""A completed group that no chain of reports proves is shown as such, wherever groups are listed."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.doors.cli.text import lists, standing
from tests.integration.app import peer
from tests.integration.app.table import SESSION, Table


def proven() -> Table:
    """Approved, tested and merged."""
    table = Table("A", plan=True)
    table.complete("A")
    return table


def confirmed() -> Table:
    """Once blocked, then all of it, and confirmed with an acknowledgement."""
    table = Table("A", plan=True)
    table.confirmable("A")
    table.says("project_manager", "BAZINGA", acknowledge={"A": "seen"})
    return table


def on_word() -> Table:
    """The manager took it as it is."""
    table = Table("A", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    table.says("project_manager", "BAZINGA", acknowledge={"A": "good enough"})
    table.move("A", "completed")
    return table


def word_taken_back() -> Table:
    """As before, and a later confirmation names nothing."""
    table = on_word()
    table.says("project_manager", "BAZINGA")
    return table


def forsaken() -> Table:
    """A is done; what it depends on was taken up again and cancelled."""
    table = Table("B")
    table.group("A", depends_on=("B",))
    table.plan()
    table.complete("B")
    table.complete("A")
    table.move("B", "in_progress")
    table.move("B", "cancelled")
    return table


CASES: dict[str, tuple[Callable[[], Table], str | None, str | None, str]] = {
    "a chain": (proven, None, None, ""),
    "a confirmed chain": (confirmed, None, None, ""),
    "the manager's word": (on_word, "pm_path", None, "on the project manager's word alone"),
    "a word that was taken back": (
        word_taken_back, "path_missing", "approved", "no valid path any more: not approved yet",
    ),
    "a dependency that is gone": (
        forsaken, "path_missing", "unblocked", "no valid path any more: still blocked",
    ),
}  # fmt: skip


def shown(table: Table, session: str = SESSION) -> tuple[dict[str, Any], dict[str, Any]]:
    """The groups of a session as `status` and as `group list` answer them, by id."""
    standing_ = table.do("status", session_id=session)["groups"]
    listed = table.do("group list", session_id=session)["groups"]
    return {each["id"]: each for each in standing_}, {each["id"]: each for each in listed}


@pytest.mark.parametrize("name", CASES)
def test_a_completed_group_says_what_it_rests_on(name: str) -> None:
    play, doubt, missing, note = CASES[name]
    table = play()
    status, listed = shown(table)
    assert status["A"]["status"] == listed["A"]["status"] == "completed"
    assert (status["A"]["doubt"], status["A"]["missing"], listed["A"]["doubt"]) == (doubt, missing, doubt)
    assert standing.doubt(status["A"]) == note
    text = "\n".join(standing.status(table.do("status", session_id=SESSION)))
    assert note in text
    assert ("no valid path" in text or "word alone" in text) is bool(note)


def test_an_imported_group_says_that_nothing_proves_it(tmp_path: pathlib.Path) -> None:
    table = Table("A")
    table.do("import peer", file=str(peer.incident(tmp_path / "peer.db")))
    status, listed = shown(table, peer.INCIDENT)
    doubts = {id_: each["doubt"] for id_, each in status.items()}
    assert {id_ for id_, doubt in doubts.items() if doubt} == {"E2E-A", "E2E-B"}
    assert doubts == {id_: each["doubt"] for id_, each in listed.items()}
    lines = [
        *standing.status(table.do("status", session_id=peer.INCIDENT)),
        *lists.groups(table.do("group list", session_id=peer.INCIDENT)),
    ]
    assert len([line for line in lines if "E2E-" in line and "imported as completed, not proven" in line]) == 4


def test_an_imported_group_that_was_done_again_is_proven(tmp_path: pathlib.Path) -> None:
    table = Table()
    table.do("import peer", file=str(peer.incident(tmp_path / "peer.db")))
    given = {"session_id": peer.INCIDENT, "by": "project_manager", "reason": "nobody tested it"}
    table.do("group set-status", id="E2E-A", status="in_progress", **given)
    assert shown(table, peer.INCIDENT)[0]["E2E-A"]["doubt"] is None


@pytest.mark.parametrize("status", ["pending", "in_progress", "cancelled"])
def test_only_completed_groups_are_in_doubt(status: str) -> None:
    table = Table("A", plan=status != "pending")
    if status == "cancelled":
        table.move("A", status)
    assert [each["A"]["doubt"] for each in shown(table)] == [None, None]


@pytest.mark.sqlite("statements of SQLite are counted")
def test_the_view_is_asked_about_what_is_not_plainly_proven_alone() -> None:
    table = Table("A", "B", "C", plan=True)
    for group in ("A", "B"):
        table.complete(group)
    table.confirmable("C")
    table.says("project_manager", "BAZINGA", acknowledge={"C": "seen"})
    asked: list[str] = []
    table.context.connection.set_trace_callback(asked.append)
    table.do("status", session_id=SESSION)
    table.context.connection.set_trace_callback(None)
    viewed = [sql for sql in asked if "completion_paths" in sql and "grandfathered" in sql]
    assert len(viewed) == 1
    assert "p.group_id = 'C'" in viewed[0]
