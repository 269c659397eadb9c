"""A text that nobody can see says nothing: wherever a reason or a title is needed, it is as if there were none."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.kernel import operations
from orchestrator.errors import Refused
from tests.integration.app.board import SESSION, Board, board

__all__ = ["board"]

UNSEEN = " \t\u200b\u2060\ufeff\u3164\u00ad\x07"


def started(board: Board) -> None:
    """A task in progress, and one that is blocked."""
    board.task("T")
    board.move("T", "in_progress")
    board.task("U", assignee="dev-2")
    board.move("U", "in_progress", "blocked", by="dev-2")


ASKING: list[tuple[str, dict[str, Any]]] = [
    ("task set-status", {"id": "T", "status": "blocked", "by": "dev-1"}),
    ("task set-status", {"id": "T", "status": "cancelled", "by": "dev-1"}),
    ("task create", {"id": "N", "title": "new", "status": "blocked"}),
    ("task release", {"id": "T", "by": "tech_lead"}),
    ("blocker resolve", {"id": "BLOCKER", "by": "dev-2"}),
    ("group set-status", {"id": "A", "status": "cancelled", "by": "project_manager"}),
    ("session pause", {"id": "S1", "by": "project_manager"}),
    ("session end", {"id": "S1", "by": "project_manager"}),
    ("agent deactivate", {"id": "dev-2", "by": "project_manager"}),
    ("criterion set", {"id": "C", "status": "deferred", "by": "project_manager"}),
    ("criterion remove", {"id": "C", "by": "project_manager"}),
    ("redispatch", {"group_id": "A", "by": "project_manager"}),
]


@pytest.mark.parametrize(("words", "given"), ASKING, ids=[f"{row[0]} {row[1].get('status', '')}" for row in ASKING])
def test_an_unseen_reason_is_none(board: Board, words: str, given: dict[str, Any]) -> None:
    started(board)
    board.call("criterion add", id="C", text="it works", by="project_manager")
    more = {name: board.open("U")[0] if value == "BLOCKER" else value for name, value in given.items()}
    if words.split()[0] not in ("session", "agent"):
        more["session_id"] = SESSION
    with pytest.raises(Refused) as none:
        operations.call(board.context, words, **more, reason="")
    with pytest.raises(Refused) as unseen:
        operations.call(board.context, words, **more, reason=UNSEEN)
    assert (unseen.value.code, unseen.value.message) == (none.value.code, none.value.message)
    assert (none.value.code, none.value.message[0].isupper()) == ("REASON_REQUIRED", True)


@pytest.mark.parametrize("title", ["", "  ", UNSEEN], ids=["empty", "spaces", "unseen"])
def test_a_task_needs_a_title_that_can_be_read(board: Board, title: str) -> None:
    refusal = board.refused("task create", id="N", title=title)
    assert (refusal.code, refusal.exit_code) == ("USAGE", 64)


def test_a_title_in_any_letters_can_be_read(board: Board) -> None:
    for number, title in enumerate(("日本語", "🧭", "é", "नमस्ते", "\u200bx")):
        assert board.call("task create", id=f"N{number}", title=title)["task"]["title"] == title


@pytest.mark.parametrize("status", ["todo", "backlog"])
def test_a_reason_without_a_block_is_not_dropped_in_silence(board: Board, status: str) -> None:
    refusal = board.refused("task create", id="N", title="n", status=status, reason="not yet")
    assert (refusal.code, refusal.exit_code) == ("USAGE", 64)
    assert refusal.suggestion == "Repeat with --status blocked, or without --reason"
    assert board.rows("SELECT id FROM tasks") == []


def test_nor_is_the_type_of_a_blocker(board: Board) -> None:
    board.task("T")
    refusal = board.no("T", "in_progress", blocker_type="timeout")
    assert (refusal.code, refusal.exit_code) == ("USAGE", 64)
    assert board.status("T") == {"T": "todo"}


def test_a_group_without_a_name_that_can_be_read_has_its_id_as_name(board: Board) -> None:
    assert board.call("group create", id="N", name=UNSEEN)["group"]["name"] == "N"
