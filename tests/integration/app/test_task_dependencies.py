"""What tasks wait for: which dependencies are refused, how they are dropped, and who is let go by itself."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from orchestrator.app.kernel import operations
from tests.integration.app.board import Board, board

__all__ = ["board"]


def chain(board: Board, *ids: str) -> None:
    """Tasks, each of which waits for the one before."""
    for place, id_ in enumerate(ids):
        board.task(id_, depends_on=ids[place - 1 : place] if place else ())


# --- what is refused


def test_a_dependency_on_nothing_is_refused_with_the_nearest(board: Board) -> None:
    board.task("login")
    board.task("T")
    refusal = board.refused("task depend", id="T", on="logim")
    assert (refusal.code, refusal.data["did_you_mean"]) == ("UNKNOWN_TASK", "login")


def test_a_task_does_not_wait_for_itself(board: Board) -> None:
    board.task("T")
    refusal = board.refused("task depend", id="T", on="T")
    assert (refusal.code, refusal.data["why"]) == ("DEPENDENCY_INVALID", "self")
    refusal = board.refused("task create", id="U", title="u", depends_on=("U",))
    assert (refusal.code, refusal.data["why"]) == ("DEPENDENCY_INVALID", "self")


def test_a_dependency_does_not_cross_sessions(board: Board) -> None:
    operations.call(board.context, "session create", id="S2", goal="another")
    operations.call(board.context, "task create", id="THERE", title="t", session_id="S2")
    board.task("T")
    refusal = board.refused("task depend", id="T", on="THERE")
    assert (refusal.code, refusal.data["why"]) == ("DEPENDENCY_INVALID", "session")


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(("P", "C", "G"), 2)))
def test_a_task_does_not_wait_for_what_it_is_a_part_of_nor_the_reverse(board: Board, one: str, other: str) -> None:
    board.task("P")
    board.task("C", parent="P")
    board.task("G", parent="C")
    refusal = board.refused("task depend", id=one, on=other)
    assert (refusal.code, refusal.data["why"]) == ("DEPENDENCY_INVALID", "related")


def test_a_new_part_does_not_wait_for_its_whole(board: Board) -> None:
    board.task("P")
    refusal = board.refused("task create", id="C", title="c", parent="P", depends_on=("P",))
    assert (refusal.code, refusal.data["why"]) == ("DEPENDENCY_INVALID", "related")


@pytest.mark.parametrize("status", ["in_progress", "blocked"])
def test_what_has_begun_waits_for_nothing_that_is_not_done(board: Board, status: str) -> None:
    board.task("T")
    board.task("O", assignee="dev-2")
    board.move("T", *{"in_progress": ("in_progress",), "blocked": ("in_progress", "blocked")}[status])
    refusal = board.refused("task depend", id="T", on="O")
    assert (refusal.code, refusal.data["why"]) == ("DEPENDENCY_INVALID", "started")
    board.move("O", "in_progress", "done", by="dev-2")
    assert board.call("task depend", id="T", on="O")["success"]


def test_what_is_closed_waits_for_nothing(board: Board) -> None:
    board.task("T")
    board.task("O")
    board.move("T", "cancelled")
    assert board.refused("task depend", id="T", on="O").data["why"] == "closed"


def test_a_dependency_is_added_once(board: Board) -> None:
    chain(board, "A1", "A2")
    assert board.refused("task depend", id="A2", on="A1").code == "ALREADY_EXISTS"


def test_only_who_may_move_a_task_lets_it_wait(board: Board) -> None:
    board.task("T")
    board.task("O")
    assert board.refused("task depend", id="T", on="O", by="qa-1").code == "NOT_PERMITTED"
    assert board.call("task depend", id="T", on="O", by="dev-1")["success"]


# --- rings


@pytest.mark.parametrize("size", [2, 3, 5, 300])
def test_a_ring_of_any_length_is_refused_whole(board: Board, size: int) -> None:
    ids = [f"T{number}" for number in range(size)]
    chain(board, *ids)
    refusal = board.refused("task depend", id=ids[0], on=ids[-1])
    assert refusal.code == "DEPENDENCY_CYCLE"
    assert refusal.data["cycle"] == [ids[0], *reversed(ids)]
    assert len(refusal.message) < 2000


EDGES: dict[str, tuple[str, dict[str, Any]]] = {
    "group": ("group depend", {"id": "B", "on": "A", "by": "project_manager"}),
    "task": ("task depend", {"id": "a", "on": "b"}),
}


@pytest.mark.parametrize("order", list(itertools.permutations(EDGES)), ids=" then ".join)
def test_a_ring_over_tasks_and_groups_is_refused_whatever_comes_first(board: Board, order: tuple[str, ...]) -> None:
    board.task("a", group_id="A")
    board.task("b", group_id="B")
    first, second = order
    words, given = EDGES[first]
    board.call(words, **given)
    words, given = EDGES[second]
    refusal = board.refused(words, **given)
    assert refusal.code == "DEPENDENCY_CYCLE"
    assert set(refusal.data["cycle"]) == {"a", "b", "group A", "group B"}


def test_a_new_task_closes_no_ring_either(board: Board) -> None:
    board.call("group depend", id="B", on="A", by="project_manager")
    board.task("b", group_id="B")
    refusal = board.refused("task create", id="a", title="a", group_id="A", depends_on=("b",))
    assert refusal.code == "DEPENDENCY_CYCLE"
    board.task("P")
    board.task("X", depends_on=("P",))
    refusal = board.refused("task create", id="C", title="c", parent="P", depends_on=("X",))
    assert (refusal.code, refusal.data["cycle"]) == ("DEPENDENCY_CYCLE", ["C", "X", "P", "C"])


def test_a_dropped_dependency_closes_no_ring(board: Board) -> None:
    chain(board, "T1", "T2", "T3")
    board.call("task undepend", id="T2", on="T1")
    assert board.call("task depend", id="T1", on="T3")["success"]


# --- dropping


def test_a_dependency_is_dropped_by_who_may(board: Board) -> None:
    board.task("O")
    board.task("T", depends_on=("O",), by="tech_lead")
    assert board.refused("task undepend", id="T", on="O", by="dev-1").code == "NOT_PERMITTED"
    assert board.refused("task undepend", id="T", on="X", by="tech_lead").code == "UNKNOWN_ID"
    board.call("task undepend", id="T", on="O", by="tech_lead")
    assert board.show("T")["depends_on"] == []
    assert board.move("T", "in_progress")["status"] == "in_progress"


def test_a_dependency_that_was_dropped_can_be_added_again(board: Board) -> None:
    chain(board, "A1", "A2")
    board.call("task undepend", id="A2", on="A1")
    board.call("task depend", id="A2", on="A1")
    assert [each["id"] for each in board.show("A2")["depends_on"]] == ["A1"]


# --- let go by themselves


def test_a_task_that_is_let_go_by_itself_waits_blocked_until_the_last_is_done(board: Board) -> None:
    board.task("A1")
    board.task("A2", status="backlog")
    row = board.task("T", depends_on=("A1", "A2"), auto_unblock=True, status="backlog")
    assert (row["status"], row["former_status"], row["blocked_reason"]) == ("blocked", "backlog", "waits for A1, A2")
    (blocker,) = board.show("T")["blockers"]
    assert (blocker["type"], blocker["class"], blocker["cause"], blocker["opened_by"]) == (
        "waiting", "soft", "dependency", "system:router",
    )  # fmt: skip
    board.move("A1", "in_progress", "done")
    assert board.status("T") == {"T": "blocked"}
    board.move("A2", "in_progress", "done")
    row = board.show("T")
    assert (row["status"], row["blockers"][0]["resolved_by"]) == ("backlog", "system:router")
    assert row["status_changed_by_agent_id"] == "system:router"


def test_without_it_a_task_waits_as_it_is(board: Board) -> None:
    chain(board, "A1", "T")
    assert board.status("T") == {"T": "todo"}


def test_with_nothing_open_it_does_not_wait(board: Board) -> None:
    board.task("A1")
    board.move("A1", "in_progress", "done")
    assert board.task("T", depends_on=("A1",), auto_unblock=True)["status"] == "todo"


def test_no_agent_lifts_what_the_system_opened(board: Board) -> None:
    board.task("A1")
    board.task("T", depends_on=("A1",), auto_unblock=True)
    for by in ("dev-1", "tech_lead", "project_manager"):
        assert board.refused("blocker resolve", id=board.open("T")[0], by=by, reason="x").code == (
            "UNBLOCK_NOT_PERMITTED"
        )


def test_a_task_can_be_let_wait_later(board: Board) -> None:
    board.task("A1")
    board.task("T")
    assert board.call("task depend", id="T", on="A1", auto_unblock=True)["task"]["status"] == "blocked"
    board.call("task undepend", id="T", on="A1")
    assert board.status("T") == {"T": "todo"}


@pytest.mark.parametrize(
    ("others", "rest"), [((), "it was the only one"), (("A2",), "all others are done")], ids=["alone", "with another"]
)
def test_what_let_it_go_is_told_as_it_was(board: Board, others: tuple[str, ...], rest: str) -> None:
    board.task("A1")
    board.task("A2")
    board.task("T", depends_on=("A1", *others), auto_unblock=True)
    board.move("A2", "in_progress", "done")
    board.call("task undepend", id="T", on="A1")
    (blocker,) = board.show("T")["blockers"]
    assert (blocker["resolution"], blocker["resolution_note"]) == (
        "dependency_dropped", f"the dependency on A1 was dropped, {rest}",
    )  # fmt: skip
    (reason,) = board.rows("SELECT reason FROM status_changes WHERE entity_id = 'T' ORDER BY seq DESC LIMIT 1")[0]
    assert reason == blocker["resolution_note"]


def test_a_cancelled_dependency_lets_nothing_go(board: Board) -> None:
    board.task("A1")
    board.task("T", depends_on=("A1",), auto_unblock=True)
    board.move("A1", "cancelled")
    assert board.status("T") == {"T": "blocked"}


def test_other_blockers_keep_a_task_whose_dependencies_are_done(board: Board) -> None:
    board.task("A1", assignee="dev-2")
    board.task("P")
    board.task("T", parent="P", depends_on=("A1",), auto_unblock=True)
    board.move("P", "in_progress", "blocked")
    board.move("A1", "in_progress", "done", by="dev-2")
    assert (board.status("T"), len(board.open("T"))) == ({"T": "blocked"}, 1)
    board.move("P", "in_progress")
    assert board.status("T") == {"T": "todo"}


def test_a_task_and_its_subtask_that_wait_for_the_same_are_let_go_together(board: Board) -> None:
    board.task("D")
    board.task("P", depends_on=("D",), auto_unblock=True)
    board.task("C", parent="P", depends_on=("D",), auto_unblock=True)
    assert board.status("P", "C") == {"P": "blocked", "C": "blocked"}
    board.move("D", "in_progress", "done")
    assert board.status("P", "C") == {"P": "todo", "C": "todo"}


# --- of which nothing will come


def test_who_begins_what_waits_for_a_cancelled_task_is_told_how_to_drop_it(board: Board) -> None:
    board.task("O")
    board.task("T", depends_on=("O",))
    board.move("O", "cancelled", by="project_manager", reason="no need")
    refusal = board.refused("task set-status", id="T", status="in_progress", by="dev-1")
    drop = "orchestrator task undepend T --on O --session-id S1 --by project_manager --reason TEXT"
    assert (refusal.code, refusal.suggestion) == ("DEPENDENCIES_OPEN", drop)
    board.call("task undepend", id="T", on="O", by="project_manager", reason="cancelled")
    assert board.call("task set-status", id="T", status="in_progress", by="dev-1")["success"]


def test_a_part_of_what_waits_for_a_cancelled_task_is_told_of_its_whole(board: Board) -> None:
    board.task("O")
    board.task("T", depends_on=("O",))
    board.task("P", parent="T")
    board.move("O", "cancelled", by="project_manager", reason="no need")
    refusal = board.refused("task set-status", id="P", status="in_progress", by="dev-1")
    assert refusal.suggestion.startswith("orchestrator task undepend T --on O ")


@pytest.mark.parametrize("auto", [False, True], ids=["waiting", "to be let go by itself"])
@pytest.mark.parametrize("words", ["task create", "task depend"])
def test_who_lets_a_task_wait_for_a_cancelled_one_is_warned(board: Board, words: str, auto: bool) -> None:
    board.task("O")
    board.move("O", "cancelled", by="project_manager", reason="no need")
    given: dict[str, Any] = {"title": "t", "depends_on": ("O",), "group_id": "A"}
    if words == "task depend":
        board.task("T")
        given = {"on": "O"}
    found = board.call(words, id="T", by="project_manager", auto_unblock=auto, **given)
    (warning,) = found["warnings"]
    assert warning == (
        "Task O is cancelled and will never be done, so that T waits until that is dropped:"
        " orchestrator task undepend T --on O --session-id S1 --by project_manager --reason TEXT"
    )
    freed = board.call("task undepend", id="T", on="O", by="project_manager", reason="cancelled")
    assert freed["task"]["status"] == "todo"


def test_who_lets_a_task_wait_for_an_open_one_is_not_warned(board: Board) -> None:
    board.task("O")
    board.task("T")
    assert "warnings" not in board.call("task depend", id="T", on="O", by="project_manager")
