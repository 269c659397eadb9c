"""Creating, listing and showing tasks; their groups, and what a verdict asks of them."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.engine import overview
from orchestrator.app.kernel import arguments, operations
from orchestrator.core import task_types
from orchestrator.errors import OrchestratorError, UsageError
from tests.integration.app.board import SESSION, Board, board
from tests.integration.app.desk import Desk

__all__ = ["board"]


def test_a_task_is_created_with_all_that_was_said(board: Board) -> None:
    row = board.task("T", description="long", priority="high", type="REPORT", by="tech_lead")
    wanted = {
        "session_id": SESSION, "id": "T", "group_id": "A", "parent_id": None, "title": "title of T",
        "description": "long", "type": "REPORT", "priority": "high", "assignee": "dev-1", "auto_unblock": False,
        "created_by": "tech_lead", "status": "todo", "status_changed_by_agent_id": "tech_lead", "version": 1,
        "blocked_reason": None, "claim_holder": None,
    }  # fmt: skip
    assert {name: row[name] for name in wanted} == wanted
    assert "claim_token" not in row


def test_what_is_left_out_has_a_value(board: Board) -> None:
    row = board.call("task create", id="T", title="t")["task"]
    found = {name: row[name] for name in ("status", "type", "priority", "assignee", "group_id", "created_by")}
    assert found == {
        "status": "todo", "type": "IMPLEMENTATION", "priority": "medium", "assignee": None, "group_id": None,
        "created_by": "project_manager",
    }  # fmt: skip


@pytest.mark.parametrize("agent", ["system:router", "system:runner", "system:validator"])
def test_nobody_creates_or_links_tasks_in_the_name_of_the_system(board: Board, agent: str) -> None:
    refusal = board.refused("task create", id="T", title="t", by=agent)
    assert (refusal.code, agent in refusal.message) == ("NOT_PERMITTED", True)
    board.task("A", assignee=None)
    board.task("B", assignee=None)
    assert board.refused("task depend", id="A", on="B", by=agent).code == "NOT_PERMITTED"


def test_a_subtask_stands_in_the_group_of_its_parent(board: Board) -> None:
    board.task("P", group_id="B")
    assert board.task("C", parent="P")["group_id"] == "B"
    refusal = board.refused("task create", id="D", title="d", parent="P", group_id="A")
    assert (refusal.code, refusal.data["why"]) == ("DEPENDENCY_INVALID", "group")


def test_a_task_of_a_chat_stands_in_its_only_group(board: Board) -> None:
    operations.call(board.context, "session create", id="TALK", goal="g", kind="chat")
    row = operations.call(board.context, "task create", id="T", title="t", session_id="TALK")["task"]
    assert row["group_id"] == "TALK"


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("a taken id", {"id": "P"}, "ALREADY_EXISTS"),
    ("the id of a cancelled task", {"id": "GONE"}, "ALREADY_EXISTS"),
    ("an unknown group", {"group_id": "Z"}, "UNKNOWN_GROUP"),
    ("an unknown parent", {"parent": "Z"}, "UNKNOWN_TASK"),
    ("a parent that is closed", {"parent": "GONE"}, "DEPENDENCY_INVALID"),
    ("an unknown dependency", {"depends_on": ("Z",)}, "UNKNOWN_TASK"),
    ("an unknown assignee", {"assignee": "nobody"}, "UNKNOWN_AGENT"),
    ("the system as assignee", {"assignee": "system:router"}, "NOT_PERMITTED"),
    ("an unknown creator", {"by": "nobody"}, "UNKNOWN_AGENT"),
    ("no creator", {"by": ""}, "ACTOR_REQUIRED"),
    ("a person's name alone", {"by": "user"}, "HUMAN_REQUIRED"),
    ("a cancelled group", {"group_id": "B"}, "GROUP_CLOSED"),
]


@pytest.mark.parametrize(("given", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_task_is_not_created(board: Board, given: dict[str, Any], code: str) -> None:
    board.task("P")
    board.task("GONE")
    board.move("GONE", "cancelled")
    board.call("group set-status", id="B", status="cancelled", by="project_manager", reason="x")
    before = board.rows("SELECT * FROM tasks")
    refusal = board.refused("task create", **{"id": "T", "title": "t", **given})
    assert (refusal.code, board.rows("SELECT * FROM tasks")) == (code, before)


@pytest.mark.parametrize("type_", task_types.TYPES)
def test_each_type_is_known(board: Board, type_: str) -> None:
    assert board.task("T", type=type_)["type"] == type_


WRONG = [
    ("type", "FUN"), ("status", "done"), ("priority", "soon"), ("parent", "a b"), ("assignee", "a b"),
    ("depends_on", ["a:b"]), ("id", "a\nb"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG, ids=[name for name, _ in WRONG])
def test_what_is_wrong_in_itself_is_wrong_usage(name: str, value: object) -> None:
    with pytest.raises(UsageError) as caught:
        arguments.bind("task create", {"id": "T", "title": "t", name: value})
    assert caught.value.code in ("USAGE", "INVALID_ID")


def test_tasks_are_listed_in_order_and_by_filter(board: Board) -> None:
    board.task("P")
    board.task("C", parent="P")
    board.task("Q", group_id="B", assignee="dev-2")
    board.move("Q", "in_progress", by="dev-2")

    def listed(**given: Any) -> list[str]:
        return [row["id"] for row in board.call("task list", **given)["tasks"]]

    assert listed() == ["P", "C", "Q"]
    assert (listed(group_id="B"), listed(parent="P"), listed(assignee="dev-2")) == (["Q"], ["C"], ["Q"])
    assert (listed(status="in_progress"), listed(status="nothing")) == (["Q"], [])
    first = board.call("task list", limit=2)
    assert (first["has_more"], [row["id"] for row in first["tasks"]]) == (True, ["P", "C"])
    assert listed(since=first["next_since"]) == ["Q"]


def test_a_task_is_shown_with_what_belongs_to_it(board: Board) -> None:
    board.task("D")
    board.task("P", depends_on=("D",))
    board.task("C", parent="P")
    board.task("W", depends_on=("P",))
    board.call("group depend", id="A", on="B", by="project_manager")
    row = board.show("P")
    assert row["depends_on"] == [{"id": "D", "title": "title of D", "status": "todo", "satisfied": False}]
    assert (row["dependents"], row["waits_for_groups"]) == (["W"], ["B"])
    assert row["subtasks"] == [{"id": "C", "title": "title of C", "status": "todo"}]
    assert (row["blockers"], row["questions"]) == ([], [])


def test_an_ended_session_takes_no_change_of_a_task(board: Board) -> None:
    board.task("T")
    with board.person():
        operations.call(board.context, "session end", id=SESSION, by="user", reason="over")
    assert board.refused("task create", id="U", title="u").code == "SESSION_CLOSED"
    assert board.no("T", "in_progress").code == "SESSION_CLOSED"


def test_the_same_request_creates_one_task(board: Board) -> None:
    first = board.call("task create", id="T", title="t", request_id="R1")
    again = board.call("task create", id="T", title="t", request_id="R1")
    assert again == {**first, "repeated": True}
    assert board.refused("task create", id="T", title="other", request_id="R1").code == "REQUEST_ID_REUSED"


# --- groups


def path(board: Board) -> tuple[int, str, str | None]:
    row = overview.path_row(board.context.reader, SESSION, "A")
    return row["unblocked_met"], row["unblocked_why"], row["unblocked_ref"]


def test_open_tasks_hold_the_completion_of_their_group(board: Board) -> None:
    assert path(board) == (1, "clear", None)
    board.task("T")
    assert path(board) == (0, "open_task", "T")
    board.move("T", "in_progress", "blocked")
    assert path(board) == (0, "open_blocker", board.open("T")[0])
    board.move("T", "in_progress", "done")
    assert path(board) == (1, "clear", None)
    board.task("U")
    board.move("U", "cancelled")
    assert path(board) == (1, "clear", None)


def test_a_group_of_which_no_task_is_done_is_not_complete(board: Board) -> None:
    board.task("T")
    board.move("T", "cancelled")
    assert path(board) == (0, "no_task_done", None)


def test_a_blocked_task_is_no_blocked_group(board: Board) -> None:
    board.task("T")
    board.move("T", "in_progress", "blocked")
    board.move("T", "in_progress", "done")
    row = overview.path_row(board.context.reader, SESSION, "A")
    assert (row["ever_blocked"], row["confirmed_why"]) == (0, "not_required")


def test_cancelling_a_group_cancels_its_open_tasks(board: Board) -> None:
    board.task("T")
    board.task("D")
    board.move("D", "in_progress", "done")
    board.move("T", "in_progress", "blocked")
    board.call("group set-status", id="A", status="cancelled", by="project_manager", reason="out of scope")
    row = board.show("T")
    assert board.status("T", "D") == {"T": "cancelled", "D": "done"}
    assert [each["resolution"] for each in row["blockers"]] == ["cancelled"]
    assert row["status_changed_by_agent_id"] == "project_manager"


def test_a_task_that_waits_keeps_no_group_from_starting(board: Board) -> None:
    board.task("O")
    board.task("T", depends_on=("O",), auto_unblock=True)
    board.call("route", current_agent="project_manager", status="PLANNING_COMPLETE")
    assert board.rows("SELECT status FROM task_groups WHERE id = 'A'") == [("in_progress",)]


def test_the_last_task_completes_a_group_that_waits_for_nothing_else(board: Board) -> None:
    def report(role: str, status: str, **more: Any) -> dict[str, Any]:
        return board.call("route", group_id="A", current_agent=role, status=status, **more)

    board.task("T", assignee=None)
    board.call("route", current_agent="project_manager", status="PLANNING_COMPLETE")
    for role, status in (
        ("developer", "READY_FOR_QA"), ("qa_expert", "PASS"), ("tech_lead", "APPROVED"), ("developer", "MERGE_SUCCESS"),
    ):  # fmt: skip
        report(role, status)
    assert board.rows("SELECT status FROM task_groups WHERE id = 'A'") == [("in_progress",)]
    board.move("T", "in_progress", "done", by="dev-1")
    assert board.rows("SELECT status FROM task_groups WHERE id = 'A'") == [("completed",)]


# --- the verdict

VERDICTS: list[tuple[str, tuple[str, ...], list[tuple[str, str]]]] = [
    ("done", ("in_progress", "done"), []),
    ("open", (), [("T", "task is todo")]),
    ("blocked", ("in_progress", "blocked"), [("T", "task is blocked: reason of T")]),
    ("all cancelled", ("cancelled",), [(SESSION, "all its tasks are cancelled")]),
]


@pytest.mark.parametrize(("way", "wrong"), [row[1:] for row in VERDICTS], ids=[row[0] for row in VERDICTS])
def test_a_verdict_asks_for_tasks(board: Board, way: tuple[str, ...], wrong: list[tuple[str, str]]) -> None:
    board.task("T")
    board.move("T", *way)
    found = operations.call(board.context, "validate", session_id=SESSION, dry_run=True)
    lines = [check for check in found["checks"] if check["id"] == "V12"]
    assert [(check["subject"], check["message"]) for check in lines if check["level"] == "error"] == wrong


def test_a_task_that_is_cancelled_beside_one_that_is_done_is_accepted(board: Board) -> None:
    board.task("T")
    board.task("U")
    board.move("T", "cancelled")
    board.move("U", "in_progress", "done")
    found = operations.call(board.context, "validate", session_id=SESSION, dry_run=True)
    assert [c["level"] for c in found["checks"] if c["id"] == "V12" and c["level"] == "error"] == []


def test_no_refusal_changes_a_task(board: Board) -> None:
    board.task("T")
    board.task("W", depends_on=("T",))
    before = [board.rows(f"SELECT * FROM {table}") for table in ("tasks", "blockers", "status_changes", "notices")]
    for words, given in (
        ("task set-status", {"id": "W", "status": "in_progress", "by": "dev-1"}),
        ("task set-status", {"id": "T", "status": "done", "by": "dev-1"}),
        ("task depend", {"id": "T", "on": "W"}),
        ("task undepend", {"id": "T", "on": "W"}),
        ("blocker resolve", {"id": "S1:B1", "by": "dev-1", "reason": "x"}),
    ):
        events = board.events()
        with pytest.raises(OrchestratorError):
            board.call(words, **given)
        assert board.events() == events + 1
    after = [board.rows(f"SELECT * FROM {table}") for table in ("tasks", "blockers", "status_changes", "notices")]
    assert before == after


def test_tasks_live_in_a_migrated_file(tmp_path: Any) -> None:
    desk = Desk(tmp_path)
    desk.session("S1", "A")
    desk.call("task create", id="T", title="t", session_id="S1", group_id="A", assignee="developer")
    moved = desk.call("task set-status", id="T", status="in_progress", session_id="S1", by="developer")
    assert moved["task"]["status"] == "in_progress"
