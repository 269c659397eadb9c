"""When a task may be done, and when a part of one may begin: the service, `next` and the triggers say the same."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from orchestrator.app.engine import state_changes
from orchestrator.app.kernel.context import Call, Work, perform
from orchestrator.app.task import status_checks, task_status
from orchestrator.errors import Refused
from orchestrator.store import next_reader, task_reader
from tests.integration.tasks.board import PM, Board, in_memory


@pytest.fixture
def board() -> Board:
    """A board of the test's own."""
    return in_memory()


def ask(board: Board, group: str | None = None, task: str | None = None) -> str:
    """A question of a person, about a group or a task."""

    def asked(work: Work) -> dict[str, Any]:
        return {"id": state_changes.open_question(work, group, kind="reply", text="which colour?", task_id=task)}

    return str(perform(board.context, Call("route", "S1", "developer", {}), asked)["id"])


def close(board: Board, question: str) -> None:
    """Close a question without an answer."""

    def closed(work: Work) -> dict[str, Any]:
        values = {"closed_at": work.at, "closed_by": "developer", "closed_seq": work.seq, "answer": "moot"}
        work.step.update("questions", (question,), values)
        return {}

    perform(board.context, Call("route", "S1", "developer", {}), closed)


def refused(board: Board, id: str, status: str = "done", by: str = "dev-1") -> Refused:
    """The refusal of a move."""
    with pytest.raises(Refused) as caught:
        board.move(id, status, by)
    return caught.value


def told(board: Board, task: str) -> dict[str, Any]:
    """What `next` answers to who has the task."""
    return {name: value for name, value in board.next("dev-1", task).items() if name != "success"}


def forced(board: Board, id: str, status: str) -> None:
    """Write a move as a client would that asks no service."""
    board.context.connection.execute(
        "INSERT INTO status_changes SELECT 'S1', 900, 1, 'task', id, status, ?, 'dev-1', 't', 'r', 'set_status'"
        " FROM tasks WHERE id = ?", (status, id),
    )  # fmt: skip
    board.context.connection.execute(
        "UPDATE tasks SET status = ?, status_changed_by_agent_id = 'dev-1', status_seq = 900, version = version + 1"
        " WHERE id = ?", (status, id),
    )  # fmt: skip


def worked(board: Board) -> None:
    """T, its part T.1 and that one's part T.1.1, all in progress in group A."""
    board.mine("T", group_id="A")
    board.subs("T.1")
    board.move("T.1", "in_progress", "dev-1")
    board.subs("T.1.1", parent="T.1")
    board.move("T.1.1", "in_progress", "dev-1")


ASKED = [
    pytest.param((None, "T.1.1"), "T.1.1", id="the task itself"),
    pytest.param((None, "T.1"), "T.1.1", id="the task above"),
    pytest.param((None, "T"), "T.1.1", id="the task above that"),
    pytest.param(("A", None), "T.1.1", id="the group"),
]


class TestAnOpenQuestion:
    @pytest.mark.parametrize(("about", "task"), ASKED)
    def test_keeps_a_task_from_being_done_as_next_says(
        self, board: Board, about: tuple[str | None, str | None], task: str
    ) -> None:
        worked(board)
        question = ask(board, "A", about[1])
        expected = told(board, task)
        assert (expected["action"], expected["question_id"]) == ("wait_for_review", question)
        refusal = refused(board, task)
        assert (refusal.code, refusal.data["next"]) == ("COMPLETION_GATE", expected)
        assert refusal.message == f"Task {task} is not done: question {question} is open."
        with pytest.raises(sqlite3.IntegrityError, match=r"\ACOMPLETION_GATE: "):
            forced(board, task, "done")
        close(board, question)
        assert board.move(task, "done", "dev-1")["task"]["status"] == "done"

    def test_about_another_task_or_group_does_not(self, board: Board) -> None:
        worked(board)
        board.mine("U", "dev-2", group_id="A")
        ask(board, "A", "U")
        ask(board, "B")
        ask(board)
        assert board.move("T.1.1", "done", "dev-1")["task"]["status"] == "done"

    def test_about_a_part_keeps_the_whole_by_the_part_alone(self, board: Board) -> None:
        board.mine("T", group_id="A")
        board.subs("T.1")
        ask(board, "A", "T.1")
        assert board.says() == ("start_subtask", "T.1")

    def test_about_the_session_stands_before_no_task_without_a_group(self, board: Board) -> None:
        board.mine("T")
        ask(board)
        assert board.says() == ("work", None)
        assert board.move("T", "done", "dev-1")["task"]["status"] == "done"

    def test_keeps_a_run_from_completing_its_task_and_names_what_its_assignee_does(self, board: Board) -> None:
        board.mine("T", group_id="A")
        question = ask(board, "A")
        expected = told(board, "T")

        def completed(work: Work) -> dict[str, Any]:
            runner = work.reader.agent("system:runner")
            assert runner is not None
            task = status_checks.require_task(work, "S1", "T")
            return {"task": task_status.change(work, task, "done", by=runner, cause="run").status}

        with pytest.raises(Refused) as caught:
            perform(board.context, Call("route", "S1", "system:runner", {}), completed)
        assert (caught.value.code, caught.value.data["next"]) == ("COMPLETION_GATE", expected)
        close(board, question)
        assert perform(board.context, Call("route", "S1", "system:runner", {}), completed)["task"] == "done"


class TestAPartOfWhatWaits:
    @pytest.fixture
    def waiting(self, board: Board) -> Board:
        """P waits for X; P.1 is a part of it, and P.1.1 a part of that."""
        board.task("X", assignee="dev-2")
        board.task("P", assignee="dev-1", depends_on=("X",))
        board.subs("P.1", parent="P")
        board.subs("P.1.1", parent="P.1")
        return board

    @pytest.mark.parametrize("part", ["P.1", "P.1.1"])
    def test_does_not_begin_before(self, waiting: Board, part: str) -> None:
        refusal = refused(waiting, part, "in_progress")
        assert (refusal.code, refusal.data["open"]) == ("DEPENDENCIES_OPEN", ["X"])
        assert refusal.message == f"Task {part} waits for X (todo), as P does."
        with pytest.raises(Refused) as caught:
            waiting.claim(part, "dev-1")
        assert caught.value.code == "DEPENDENCIES_OPEN"
        with pytest.raises(sqlite3.IntegrityError, match=r"\ADEPENDENCIES_OPEN: "):
            forced(waiting, part, "in_progress")

    def test_begins_when_that_is_done(self, waiting: Board) -> None:
        waiting.move("X", "in_progress", "done", "dev-2")
        assert waiting.move("P.1", "in_progress", "dev-1")["task"]["status"] == "in_progress"

    def test_is_offered_to_nobody_and_says_what_it_waits_for(self, waiting: Board) -> None:
        assert waiting.says("dev-1") == ("no_work", None)
        assert waiting.claim(None, "dev-1")["task"] is None
        assert waiting.says("dev-1", "P.1") == ("wait_for_dependencies", ["X"])
        assert waiting.says("dev-1", "P") == ("wait_for_dependencies", ["X"])
        assert waiting.says("dev-2") == ("get_task", "X")

    def test_needs_a_decision_where_nothing_will_come_of_that(self, waiting: Board) -> None:
        waiting.move("X", "cancelled", PM)
        for answer in (waiting.next("dev-1", "P.1.1"), waiting.next("dev-1")):
            assert (answer["action"], answer["task"], answer["dependency"]) == ("needs_decision", "P", "X")
        assert "`orchestrator task undepend P --on X " in answer["instruction"]

    def test_closes_a_ring_by_what_the_whole_waits_for(self, waiting: Board) -> None:
        with pytest.raises(Refused) as caught:
            waiting.call("task depend", id="X", on="P.1.1", session_id="S1", by=PM)
        assert (caught.value.code, caught.value.data["cycle"]) == (
            "DEPENDENCY_CYCLE", ["X", "P.1.1", "P.1", "P", "X"],
        )

    def test_that_ring_in_old_data_is_named_and_broken_where_it_can_be(self, waiting: Board) -> None:
        waiting.context.connection.execute(
            "INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq) VALUES ('S1', 'X', 'P.1.1', 900)"
        )
        answer = waiting.next("dev-1", "P")
        assert (answer["action"], answer["ring"]) == ("dependency_deadlock", ["P", "X", "P.1.1", "P.1", "P"])
        assert "`orchestrator task undepend P --on X " in answer["instruction"]
        answer = waiting.next("dev-1", "P.1.1")
        assert answer["ring"] == ["P.1.1", "P.1", "P", "X", "P.1.1"]
        assert "`orchestrator task undepend P --on X " in answer["instruction"]

    def test_that_has_begun_lets_the_whole_wait_for_nothing_more(self, board: Board) -> None:
        board.task("X", assignee="dev-2")
        board.task("P", assignee="dev-1")
        board.subs("P.1", parent="P")
        board.move("P.1", "in_progress", "dev-1")
        with pytest.raises(Refused) as caught:
            board.call("task depend", id="P", on="X", session_id="S1", by=PM)
        assert (caught.value.code, caught.value.data["why"]) == ("DEPENDENCY_INVALID", "started")
        with pytest.raises(sqlite3.IntegrityError, match=r"\ADEPENDENCY_INVALID: "):
            board.context.connection.execute(
                "INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq) VALUES ('S1', 'P', 'X', 900)"
            )
        board.move("P.1", "done", "dev-1")
        assert board.call("task depend", id="P", on="X", session_id="S1", by=PM)["success"]

    def test_may_begin_before_the_whole_where_that_waits_for_nothing(self, board: Board) -> None:
        board.task("P", assignee="dev-1")
        board.subs("P.1", parent="P")
        assert board.move("P.1", "in_progress", "dev-1")["task"]["status"] == "in_progress"

    def test_why_names_what_the_whole_waits_for(self, waiting: Board) -> None:
        sentences = waiting.call("why", id="P.1.1", session_id="S1")["sentences"]
        assert "Task P, which it belongs to, depends on task X, which is todo." in sentences


@pytest.mark.parametrize(
    "sql", [task_reader.OPEN_QUESTION, task_reader.LINE_WAITS, task_reader.OPEN_ABOVE, task_reader.BEGUN_BELOW,
            next_reader.DEAD_END], ids=["question", "waits", "above", "begun", "dead end"],
)  # fmt: skip
@pytest.mark.sqlite("SQLite's plan is read")
def test_what_is_asked_about_those_above_and_below_is_found_by_indexes(board: Board, sql: str) -> None:
    given = dict.fromkeys(("session", "group", "task", "agent", "place", "all"), "x")
    plan = [row[3] for row in board.context.connection.execute(f"EXPLAIN QUERY PLAN {sql}", given)]
    scans = [step for step in plan if step.startswith("SCAN") and step.split()[1] not in
             ("CONSTANT", "line", "l", "x", "a", "above", "b", "below")]  # fmt: skip
    assert scans == [], plan


def test_a_deep_line_is_climbed_without_recursion_and_each_step_once(board: Board) -> None:
    board.task("X", assignee="dev-2")
    board.task("D0", assignee="dev-1", depends_on=("X",))
    for number in range(1, 400):
        board.task(f"D{number}", assignee="dev-1", parent=f"D{number - 1}", by="dev-1")
    assert board.says("dev-1", "D399") == ("wait_for_dependencies", ["X"])


class TestWhatRefusalsAndInstructionsName:
    def test_those_in_service_alone_may(self, board: Board) -> None:
        board.mine("T")
        board.move("T", "blocked", "dev-1")
        board.call("agent deactivate", id="dev-1", by=PM, reason="gone")
        refusal = refused(board, "T", "in_progress", "qa_expert")
        assert refusal.data["may"] == ["tech_lead", "project_manager", "a person, by a human channel"]
        sentences = " ".join(board.call("why", id="T", session_id="S1")["sentences"])
        assert "May lift it: tech_lead, project_manager, a person, by a human channel." in sentences

    @pytest.mark.parametrize(
        ("people", "by"), [(("user",), " --by user"), (("user", "eve"), ""), (("eve",), " --by eve")], ids=str
    )
    def test_the_only_person_is_named_as_who_resolves(self, board: Board, people: tuple[str, ...], by: str) -> None:
        connection = board.context.connection
        for name in set(people) - {"user"}:
            connection.execute(
                "INSERT INTO agents (id, role, kind, created_at, created_seq) VALUES (?, 'user', 'human', 't', 1)",
                (name,),
            )
        if "user" not in people:
            connection.execute("UPDATE agents SET active = 0 WHERE id = 'user'")
        board.mine("T")
        board.subs("T.1", "T.1.1")
        board.call("task depend", id="T.1.1", on="T.1", session_id="S1", by="dev-1")
        board.move("T.1", "in_progress", "dev-1")
        board.call("task set-status", id="T.1", status="blocked", session_id="S1", by="dev-1", reason="x",
                   blocker_type="external")  # fmt: skip
        close(board, board.next()["question_id"])
        answer = board.next()
        assert answer["action"] == "wait_for_review"
        assert f" --session-id S1{by} --reason TEXT`" in answer["instruction"]
