"""What waits by itself is told of as any other wait: automatic dependencies, blocked groups, agents without room."""

from __future__ import annotations

import pathlib

import pytest

from tests.integration.tasks import obeying
from tests.integration.tasks.board import DEV, LEAD, PM, Board

DROP = "`orchestrator task undepend {} --on {} --session-id S1 --by {} --reason TEXT`"


@pytest.fixture
def board(tmp_path: pathlib.Path) -> Board:
    """A session with two groups, and two workers."""
    return Board(tmp_path)


@pytest.fixture(params=[False, True], ids=["plain", "automatic"])
def automatic(request: pytest.FixtureRequest) -> bool:
    """Whether the task is blocked while its dependencies are open, or is left pending."""
    return bool(request.param)


class TestADependency:
    """The same answers, whether it blocks the task meanwhile or not."""

    def test_that_is_cancelled_needs_a_decision(self, board: Board, automatic: bool) -> None:
        board.task("D", assignee="dev-2")
        board.mine("T")
        board.subs("T1", depends_on=["D"], auto_unblock=automatic)
        board.move("D", "cancelled", LEAD)
        answer = board.next()
        assert (answer["action"], answer["state"]) == ("needs_decision", "dependency_cancelled")
        assert (answer["task"], answer["dependency"]) == ("T1", "D")
        assert DROP.format("T1", "D", "dev-1") in answer["instruction"]
        assert obeying.obey(board, answer)
        assert board.next()["action"] == "start_subtask"

    def test_that_is_another_agents_is_the_root_cause(self, board: Board, automatic: bool) -> None:
        board.task("D", assignee="dev-2")
        board.mine("T")
        board.subs("T1", depends_on=["D"], auto_unblock=automatic)
        answer = board.next()
        assert answer["action"] == "wait_for_dependencies"
        assert [(each["id"], each["assignee"]) for each in answer["root_causes"]] == [("D", "dev-2")]

    def test_of_the_main_task_itself(self, board: Board, automatic: bool) -> None:
        board.task("D", assignee="dev-2")
        board.task("T", assignee="dev-1", depends_on=["D"], auto_unblock=automatic)
        assert board.next(task="T")["action"] == "wait_for_dependencies"
        board.move("D", "cancelled", LEAD)
        assert board.next(task="T")["action"] == "needs_decision"

    def test_of_a_task_that_nobody_has_needs_a_decision(self, board: Board, automatic: bool) -> None:
        board.task("D")
        board.task("T", depends_on=["D"], auto_unblock=automatic)
        board.move("D", "cancelled", LEAD)
        assert board.next(PM)["action"] == "needs_decision"

    def test_of_the_task_above(self, board: Board, automatic: bool) -> None:
        board.task("D", assignee="dev-2")
        board.task("T", assignee="dev-1")
        board.subs("T1")
        board.call("task depend", id="T", on="D", session_id="S1", by=LEAD, auto_unblock=automatic)
        assert board.next(task="T1")["action"] == "wait_for_dependencies"

    def test_is_told_by_the_gate_and_by_why(self, board: Board, automatic: bool) -> None:
        board.task("D", assignee="dev-2")
        board.mine("T")
        board.subs("T1", depends_on=["D"], auto_unblock=automatic)
        board.move("D", "cancelled", LEAD)
        refusal = board.refused("task set-status", id="T", status="done", session_id="S1", by="dev-1")
        assert (refusal.code, refusal.data["next"]["action"]) == ("COMPLETION_GATE", "needs_decision")
        told = board.call("why", id="T1", session_id="S1")
        assert told["next"]["action"] == "needs_decision"

    def test_is_named_when_it_is_cancelled(self, board: Board, automatic: bool) -> None:
        board.task("D")
        board.task("D1", parent="D")
        for name, on in (("T", "D"), ("U", "D1"), ("V", "D")):
            board.task(name, depends_on=[on], auto_unblock=automatic)
        board.move("V", "cancelled", PM)
        told = board.move("D", "cancelled", LEAD)["warnings"]
        assert told == [
            f"Task {task} waits for {on}, which is cancelled and will never be done:"
            f" orchestrator task undepend {task} --on {on} --session-id S1 --by project_manager --reason TEXT"
            for task, on in (("T", "D"), ("U", "D1"))
        ]

    def test_that_nothing_waits_for_is_cancelled_without_a_word(self, board: Board, automatic: bool) -> None:
        board.task("D", auto_unblock=automatic)
        assert "warnings" not in board.move("D", "cancelled", LEAD)


def test_a_block_by_somebody_else_is_told_of_before_a_dependency(board: Board) -> None:
    board.task("D", assignee="dev-2")
    board.mine("T")
    board.subs("T1", depends_on=["D"], auto_unblock=True)
    board.subs("T2")
    board.move("T2", "in_progress", "dev-1")
    board.move("T2", "blocked", LEAD)
    answer = board.next()
    assert answer["action"] == "wait_for_unblock"
    assert answer["blocked_subtasks"] == [{"id": "T2", "title": "title of T2", "blocked_by": LEAD}]


class TestABlockedGroup:
    """Group A is blocked by a report; its tasks wait with it."""

    def block(self, board: Board, *, soft: bool = False) -> str:
        board.report(f"{PM} PLANNING_COMPLETE")
        errors = [{"type": "timeout", "message": "no answer", "recoverable": True}]
        more = {"metadata": {"status": "blocked", "errors": errors}} if soft else {}
        (blocker,) = board.report(f"{DEV} BLOCKED", "A", summary="no licence", **more)["blockers_opened"]
        return str(blocker)

    def test_offers_none_of_its_tasks(self, board: Board) -> None:
        board.task("T", group_id="A")
        board.task("U", group_id="B")
        self.block(board)
        assert board.next()["task"]["id"] == "U"
        assert board.claim()["task"]["id"] == "U"

    def test_lets_none_of_them_begin(self, board: Board) -> None:
        board.task("T", group_id="A", assignee="dev-1")
        blocker = self.block(board)
        begin = {"status": "in_progress", "by": "dev-1"}
        for words, more in (("task claim", {"agent_id": "dev-1"}), ("task set-status", begin)):
            refusal = board.refused(words, id="T", session_id="S1", **more)
            assert (refusal.code, refusal.data["open"]) == ("DEPENDENCIES_OPEN", [blocker])
            assert "waits with its group A" in refusal.message
        answer = board.next(task="T")
        assert answer["action"] == "wait_for_dependencies"
        assert [(each["kind"], each["id"], each["title"]) for each in answer["root_causes"]] == [
            ("blocker", blocker, "no licence")
        ]

    def test_lets_what_has_begun_go_on_without_its_parts(self, board: Board) -> None:
        board.mine("T", group_id="A")
        self.block(board)
        assert board.next()["action"] == "work"
        board.subs("T1", group_id="A")
        assert board.next()["action"] == "wait_for_dependencies"

    def test_lets_its_tasks_begin_once_it_is_unblocked(self, board: Board) -> None:
        board.task("T", group_id="A", assignee="dev-1")
        self.block(board)
        board.report("investigator ROOT_CAUSE_FOUND,tech_lead UNBLOCKING_GUIDANCE", "A")
        assert board.move("T", "in_progress", "dev-1")["task"]["status"] == "in_progress"

    def test_stops_nothing_where_the_block_is_soft(self, board: Board) -> None:
        board.task("T", group_id="A", assignee="dev-1")
        self.block(board, soft=True)
        assert board.next()["task"]["id"] == "T"


class TestAnAgentWithoutRoom:
    def test_is_handed_nothing(self, board: Board) -> None:
        board.task("X", assignee="dev-1")
        board.task("Y", assignee="dev-1")
        board.move("X", "in_progress", "dev-1")
        answer = board.next(LEAD, "Y")
        assert (answer["action"], answer["available_workers"]) == ("dispatch", [])
        assert obeying.commands(answer) == []

    def test_is_handed_the_parts_of_what_it_has(self, board: Board) -> None:
        board.mine("T")
        board.subs("T1")
        answer = board.next(LEAD, "T")
        assert [each["id"] for each in answer["available_workers"]] == ["dev-1"]
        assert obeying.obey(board, answer)
