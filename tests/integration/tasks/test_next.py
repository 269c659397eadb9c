"""The next action on a real database: dependencies, blocks, order, who may what, and that nothing is written."""

from __future__ import annotations

import pathlib
import sqlite3

import pytest

from tests import forging, persons
from tests.integration.tasks.board import DEV, LEAD, PM, Board


@pytest.fixture
def board(tmp_path: pathlib.Path) -> Board:
    return Board(tmp_path)


def raw(board: Board, sql: str, *values: object) -> None:
    """Write old data past the rules, as an import from elsewhere could have left it."""
    connection = board.context.connection
    triggers = forging.disarm(connection)
    connection.execute(sql, values)
    forging.rearm(connection, triggers)


def abandon(board: Board, session: str) -> None:
    """End a session as a person at a terminal does."""
    persons.sit(board.context)
    board.call("session end", id=session, by="user", reason="no more use")
    board.context.credential = None


class TestFiltering:
    """Seed 002, Phase 2: pendingSubTasks."""

    def test_without_dependencies_all_are_pending(self, board: Board) -> None:
        board.mine()
        board.subs("T.1", "T.2")
        assert (board.says(), board.next()["progress"]["pending"]) == (("start_subtask", "T.1"), 2)

    def test_what_depends_on_an_open_task_is_left_out(self, board: Board) -> None:
        board.mine()
        board.subs("A2")
        board.subs("A1", depends_on=("A2",))
        assert board.says() == ("start_subtask", "A2")

    def test_what_depends_on_a_done_task_is_in(self, board: Board) -> None:
        board.mine()
        board.subs("A2")
        board.subs("A1", depends_on=("A2",))
        board.move("A2", "in_progress", "done", "dev-1")
        assert board.says() == ("start_subtask", "A1")

    def test_of_several_dependencies_some_done_is_not_enough(self, board: Board) -> None:
        board.mine()
        board.subs("B1", "B2")
        board.subs("A1", depends_on=("B1", "B2"))
        board.move("B1", "in_progress", "done", "dev-1")
        assert board.says() == ("start_subtask", "B2")

    def test_of_several_dependencies_all_done_is_enough(self, board: Board) -> None:
        board.mine()
        board.subs("B1", "B2")
        board.subs("A1", depends_on=("B1", "B2"))
        for name in ("B1", "B2"):
            board.move(name, "in_progress", "done", "dev-1")
        assert board.says() == ("start_subtask", "A1")

    def test_first_a_then_b(self, board: Board) -> None:
        board.mine()
        board.subs("A0")
        board.subs("B0", depends_on=("A0",))
        assert board.says() == ("start_subtask", "A0")
        board.move("A0", "in_progress", "done", "dev-1")
        assert board.says() == ("start_subtask", "B0")

    def test_the_dependency_counts_wherever_it_is_in_the_session(self, board: Board) -> None:
        board.task("X", assignee="dev-2")
        board.mine()
        board.subs("T.1", depends_on=("X",))
        assert board.says() == ("wait_for_dependencies", ["X"])
        board.move("X", "in_progress", "done", "dev-2")
        assert board.says() == ("start_subtask", "T.1")


class TestGate:
    """Seed 002, Phase 1: the completion gate."""

    def test_all_subtasks_done(self, board: Board) -> None:
        board.mine()
        board.subs("T.1")
        board.move("T.1", "in_progress", "done", "dev-1")
        assert board.says() == ("report_completion", None)

    def test_subtasks_done_and_one_cancelled(self, board: Board) -> None:
        board.mine()
        board.subs("T.1", "T.2")
        board.move("T.1", "in_progress", "done", "dev-1")
        board.move("T.2", "cancelled", "dev-1")
        assert board.says() == ("report_completion", None)

    def test_all_cancelled(self, board: Board) -> None:
        board.mine()
        board.subs("T.1")
        board.move("T.1", "cancelled", "dev-1")
        assert (board.next()["action"], board.next()["state"]) == ("needs_decision", "all_cancelled")

    def test_a_subtask_that_oneself_blocked(self, board: Board) -> None:
        board.mine()
        board.subs("T.1")
        board.move("T.1", "in_progress", "blocked", "dev-1")
        assert board.next()["blocked_subtask"] == {
            "id": "T.1", "title": "title of T.1", "blocked_reason": "blocked by dev-1",
        }  # fmt: skip

    def test_a_subtask_that_a_manager_blocked(self, board: Board) -> None:
        board.mine()
        board.subs("T.1")
        board.move("T.1", "in_progress", "dev-1")
        board.move("T.1", "blocked", LEAD)
        assert board.next()["blocked_subtasks"] == [{"id": "T.1", "title": "title of T.1", "blocked_by": LEAD}]

    def test_pending_subtasks_come_before_the_gate(self, board: Board) -> None:
        board.mine()
        board.subs("T.1", "T.2")
        board.move("T.1", "in_progress", "blocked", "dev-1")
        assert board.says() == ("start_subtask", "T.2")

    def test_a_refused_completion_carries_what_next_answers(self, board: Board) -> None:
        board.mine()
        board.subs("T.1")
        refusal = board.refused("task set-status", id="T", status="done", session_id="S1", by="dev-1")
        answer = board.next()
        answer.pop("success")
        assert (refusal.code, refusal.data["next"]) == ("COMPLETION_GATE", answer)

    def test_blocked_by_a_worker_the_manager_goes_on(self, board: Board) -> None:
        board.mine("T", LEAD)
        board.subs("T.1")
        board.move("T.1", "in_progress", "blocked", "dev-1")
        assert board.says(LEAD) == ("unblock_and_continue", "T.1")

    def test_hard_is_for_a_person_whoever_blocked_it(self, board: Board) -> None:
        board.mine()
        board.subs("T.1")
        board.move("T.1", "in_progress", "dev-1")
        board.move("T.1", "blocked", "dev-1", blocker_type="mathematically_false")
        answer = board.next()
        assert (answer["action"], answer["reason"]) == ("wait_for_review", "blocked by dev-1")

    def test_a_task_that_was_created_blocked_is_never_work(self, board: Board) -> None:
        board.task("X", status="blocked", reason="not yet")
        assert board.says() == ("no_work", None)
        assert board.claim()["task"] is None
        assert board.refused("task claim", session_id="S1", agent_id="dev-1", id="X").code == "ILLEGAL_MOVE"


class TestMainTask:
    def test_a_task_in_progress_comes_before_a_blocked_one(self, board: Board) -> None:
        board.call("agent register", id="two", role="developer", parent=LEAD, max_parallel_tasks=2)
        board.mine("T1", "two", priority="urgent")
        board.mine("T2", "two")
        board.move("T1", "blocked", "two")
        assert board.next("two")["instruction"].startswith("Work on task T2")

    def test_a_blocked_one_else(self, board: Board) -> None:
        board.mine()
        board.move("T", "blocked", "dev-1")
        assert board.says() == ("unblock_and_continue", "T")

    def test_a_subtask_belongs_to_its_task(self, board: Board) -> None:
        board.mine()
        board.subs("T.1", priority="urgent")
        board.move("T.1", "in_progress", "dev-1")
        assert board.says() == ("execute_subtask", "T.1")

    def test_a_subtask_of_somebody_elses_task_is_a_main_task(self, board: Board) -> None:
        board.mine("T", LEAD)
        board.subs("T.1", agent="dev-1")
        board.move("T.1", "in_progress", "dev-1")
        assert (board.says(), board.says(LEAD)) == (("work", None), ("wait", ["T.1"]))

    def test_a_question_on_the_task_above_stops_the_subtask(self, board: Board) -> None:
        board.mine("T", LEAD, group_id="A")
        board.subs("T.1", group_id="A")
        board.move("T.1", "in_progress", "dev-1")
        ask(board, "S1:Q1", "A", "T")
        answer = board.next()
        assert (answer["action"], answer["question_id"], answer["reason"]) == ("wait_for_review", "S1:Q1", "why?")

    def test_a_question_on_the_group_stops_the_task(self, board: Board) -> None:
        board.mine("T", group_id="A")
        ask(board, "S1:Q1", "A", None)
        assert board.says() == ("wait_for_review", "S1:Q1")

    def test_a_question_on_another_group_does_not(self, board: Board) -> None:
        board.mine("T", group_id="A")
        ask(board, "S1:Q1", "B", None)
        assert board.says() == ("work", None)


def ask(board: Board, id: str, group: str | None, task: str | None) -> None:
    raw(
        board, "INSERT INTO questions (id, session_id, group_id, task_id, kind, text, asked_by, asked_at, opened_seq)"
        " VALUES (?, 'S1', ?, ?, 'review', 'why?', 'system:router', '2025-01-01T00:00:00.000000Z', 3)",
        id, group, task,
    )  # fmt: skip


class TestGettingATask:
    def test_numbers_in_ids_count_as_numbers(self, board: Board) -> None:
        for name in ("T9", "T10", "T2"):
            board.task(name)
        answers = {board.says() for _ in range(100)}
        if isinstance(board.context.connection, sqlite3.Connection):
            board.context.connection.execute("VACUUM")
        assert answers | {board.says()} == {("get_task", "T2")}

    def test_priority_comes_first_and_none_means_medium(self, board: Board) -> None:
        board.task("T1", priority="low")
        board.task("T3")
        board.task("T2", priority="medium")
        assert board.says() == ("get_task", "T2")
        board.task("T4", priority="high")
        assert board.says() == ("get_task", "T4")

    def test_then_creation(self, board: Board) -> None:
        board.task("T2")
        board.clock.minutes = 1
        board.task("T1")
        assert board.says() == ("get_task", "T2")

    def test_others_tasks_are_not_offered(self, board: Board) -> None:
        board.task("T1", assignee="dev-2")
        assert board.says() == ("no_work", None)
        assert board.next()["why"] == "Each pending task (1) waits for other work, or is others'."

    def test_an_instance_is_offered_what_its_role_has(self, board: Board) -> None:
        board.report("project_manager PLANNING_COMPLETE")
        board.task("T1", assignee=DEV, group_id="A")
        assert board.says("developer@S1:A") == ("get_task", "T1")

    def test_an_instance_is_not_offered_what_is_in_another_group(self, board: Board) -> None:
        board.report("project_manager PLANNING_COMPLETE")
        board.task("T1", group_id="B")
        assert board.says("developer@S1:A") == ("take_turn", None)

    def test_a_subtask_that_nobody_has_is_for_those_below_who_has_the_task(self, board: Board) -> None:
        board.mine("T", LEAD)
        board.task("T.1", parent="T", by=LEAD)
        board.mine("U", "dev-2")
        board.task("U.1", parent="U", by="dev-2")
        assert board.says() == ("get_task", "T.1")

    def test_nothing_of_a_group_that_waits_for_another_is_offered(self, board: Board) -> None:
        board.task("T1", group_id="B")
        board.call("group depend", id="B", on="A", session_id="S1", by=PM)
        assert board.says() == ("no_work", None)

    def test_nothing_that_waits_for_an_answer_is_offered(self, board: Board) -> None:
        board.task("T1", group_id="A")
        ask(board, "S1:Q1", "A", "T1")
        board.task("T2", group_id="A", priority="low")
        assert board.says() == ("get_task", "T2")

    def test_nothing_is_offered_while_the_session_is_paused(self, board: Board) -> None:
        board.task("T1")
        board.call("session pause", id="S1", by=PM, reason="lunch")
        assert board.next()["why"] == "Session S1 is paused."

    def test_there_is_nothing_to_do_in_a_session_that_has_ended(self, board: Board) -> None:
        board.mine("T")
        abandon(board, "S1")
        assert board.shown("T")["status"] == "in_progress"
        for task in (None, "T"):
            answer = board.next(task=task)
            assert (answer["action"], answer["why"]) == ("no_work", "Session S1 has ended.")

    def test_what_was_in_progress_when_its_session_ended_keeps_no_worker_busy(self, board: Board) -> None:
        board.session("S2")
        board.call("task create", id="T", session_id="S2", title="t", by=PM)
        board.call("task claim", id="T", session_id="S2", agent_id="dev-1")
        board.mine("P", LEAD)
        board.task("P.1", parent="P")
        assert "dev-1" not in [each["id"] for each in board.next(LEAD)["available_workers"]]
        abandon(board, "S2")
        assert "dev-1" in [each["id"] for each in board.next(LEAD)["available_workers"]]

    def test_nothing_is_offered_to_whom_another_session_keeps_busy(self, board: Board) -> None:
        board.session("S2")
        board.call("task create", id="T0", session_id="S2", title="elsewhere", by=LEAD, assignee="dev-1")
        board.call("task set-status", id="T0", status="in_progress", session_id="S2", by="dev-1")
        board.task("T1")
        assert board.next()["why"] == "dev-1 has its hands full with T0."


class TestWaiting:
    def test_root_causes_are_at_the_end_of_the_chain(self, board: Board) -> None:
        board.task("X", assignee="dev-2")
        board.task("Y", assignee="dev-2", depends_on=("X",))
        board.mine()
        board.subs("T.1", depends_on=("Y",))
        assert board.next()["root_causes"] == [
            {"kind": "task", "id": "X", "title": "title of X", "status": "todo", "assignee": "dev-2",
             "group_id": None, "parent_id": None},
        ]  # fmt: skip

    def test_a_blocked_and_b_needs_a_is_about_a(self, board: Board) -> None:
        board.mine()
        board.subs("A0")
        board.subs("B0", depends_on=("A0",))
        board.move("A0", "in_progress", "blocked", "dev-1")
        assert board.says() == ("unblock_and_continue", "A0")

    def test_a_blocked_by_the_manager_and_b_needs_a_is_about_a(self, board: Board) -> None:
        board.mine()
        board.subs("A0")
        board.subs("B0", depends_on=("A0",))
        board.move("A0", "in_progress", "dev-1")
        board.move("A0", "blocked", LEAD)
        assert board.says() == ("wait_for_unblock", ["A0"])

    def test_a_task_waits_for_the_dependencies_of_its_group(self, board: Board) -> None:
        board.mine("T", group_id="B")
        board.subs("T.1", group_id="B")
        board.call("group depend", id="B", on="A", session_id="S1", by=PM)
        answer = board.next()
        assert [(each["kind"], each["id"]) for each in answer["root_causes"]] == [("group", "A")]

    def test_the_open_tasks_of_that_group_are_the_cause(self, board: Board) -> None:
        board.task("X", group_id="A", assignee="dev-2")
        board.mine("T", group_id="B")
        board.subs("T.1", group_id="B")
        board.call("group depend", id="B", on="A", session_id="S1", by=PM)
        assert board.says() == ("wait_for_dependencies", ["X"])

    def test_a_cancelled_dependency_needs_a_decision_and_can_be_dropped(self, board: Board) -> None:
        board.mine()
        board.subs("T.1", "T.2")
        board.call("task depend", id="T.2", on="T.1", session_id="S1", by="dev-1")
        board.move("T.1", "cancelled", "dev-1")
        answer = board.next()
        assert (answer["action"], answer["task"], answer["dependency"]) == ("needs_decision", "T.2", "T.1")
        board.call("task undepend", id="T.2", on="T.1", session_id="S1", by="dev-1", reason="not needed")
        assert board.says() == ("start_subtask", "T.2")

    def test_a_cancelled_dependency_of_a_task_that_nobody_has_needs_a_decision(self, board: Board) -> None:
        board.task("B0")
        board.task("C0", depends_on=("B0",))
        board.move("B0", "cancelled", LEAD)
        told = [board.next(agent) for agent in ("dev-1", LEAD, PM)]
        assert [(each["action"], each["task"], each["dependency"]) for each in told] == [
            ("needs_decision", "C0", "B0")
        ] * 3
        by = [each["instruction"].partition("--by ")[2].partition(" ")[0] for each in told]
        assert by == [PM, LEAD, PM]

    def test_a_cancelled_group_needs_a_decision(self, board: Board) -> None:
        board.mine("T", group_id="B")
        board.subs("T.1", group_id="B")
        board.call("group depend", id="B", on="A", session_id="S1", by=PM)
        board.call("group set-status", id="A", status="cancelled", session_id="S1", by=PM, reason="out of scope")
        answer = board.next()
        assert (answer["action"], answer["task"], answer["dependency"]) == ("needs_decision", "T.1", "group A")
        assert "orchestrator group undepend B --on A" in answer["instruction"]

    def test_a_ring_in_old_data_is_told_whole(self, board: Board) -> None:
        board.mine()
        board.subs("T.1", "T.2")
        board.call("task depend", id="T.1", on="T.2", session_id="S1", by="dev-1")
        raw(board, "INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq) VALUES ('S1', ?, ?, 1)",
            "T.2", "T.1")  # fmt: skip
        assert board.says() == ("dependency_deadlock", ["T.1", "T.2", "T.1"])

    def test_a_ring_does_not_hide_what_can_be_done(self, board: Board) -> None:
        board.mine()
        board.subs("T.1", "T.2", "T.3")
        board.call("task depend", id="T.1", on="T.2", session_id="S1", by="dev-1")
        raw(board, "INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq) VALUES ('S1', ?, ?, 1)",
            "T.2", "T.1")  # fmt: skip
        assert board.says() == ("start_subtask", "T.3")


class TestManagers:
    def test_dispatch_names_the_workers_that_have_room(self, board: Board) -> None:
        board.mine("T", LEAD)
        board.task("T.1", parent="T")
        board.mine("U", "dev-2")
        answer = board.next(LEAD)
        assert [each["id"] for each in answer["available_workers"]] == [
            "dev-1", "developer", "investigator", "qa_expert", "requirements_engineer", "senior_software_engineer",
        ]  # fmt: skip

    def test_a_subtask_that_somebody_has_is_handed_to_that_one(self, board: Board) -> None:
        board.mine("T", LEAD)
        board.subs("T.1", agent="dev-2")
        assert board.next(LEAD)["available_workers"] == [{"id": "dev-2", "role": "developer"}]

    def test_who_works_is_waited_for(self, board: Board) -> None:
        board.mine("T", LEAD)
        board.subs("T.1", "T.2", agent="dev-2")
        board.move("T.1", "in_progress", "dev-2")
        assert board.says(LEAD) == ("wait", ["T.1"])

    def test_a_manager_may_ask_about_a_workers_task(self, board: Board) -> None:
        board.mine("T", "dev-1")
        assert (board.says(LEAD, "T"), board.says(PM, "T")) == (("wait", ["T"]), ("wait", ["T"]))

    def test_completion_is_checked(self, board: Board) -> None:
        board.mine("T", LEAD)
        board.subs("T.1", agent="dev-2")
        board.move("T.1", "in_progress", "done", "dev-2")
        assert board.says(LEAD) == ("completion_check", None)


class TestNotices:
    def test_a_block_below_is_told_until_the_manager_acts(self, board: Board) -> None:
        board.mine()
        board.move("T", "blocked", "dev-1")
        told = board.next(LEAD)["notices"]
        assert [(each["task_id"], each["reason"], each["opened_by"]) for each in told] == [
            ("T", "blocked by dev-1", "dev-1"),
        ]  # fmt: skip
        assert board.next(LEAD)["notices"] == told
        board.task("X", by=LEAD)
        assert board.next(LEAD)["notices"] == []
        assert [each["task_id"] for each in board.next(PM)["notices"]] == ["T"]

    def test_a_block_that_was_lifted_is_told_no_more(self, board: Board) -> None:
        board.mine()
        board.move("T", "blocked", "in_progress", "dev-1")
        assert board.next(LEAD)["notices"] == []

    def test_others_are_told_nothing(self, board: Board) -> None:
        board.mine()
        board.move("T", "blocked", "dev-1")
        assert board.next("dev-2")["notices"] == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "code"),
        [
            pytest.param({"agent_id": "nobody"}, "UNKNOWN_AGENT", id="unknown agent"),
            pytest.param({"agent_id": "dev-1", "task": "T9"}, "UNKNOWN_TASK", id="unknown task"),
            pytest.param({"agent_id": "dev-2", "task": "T"}, "NOT_PERMITTED", id="somebody else's task"),
            pytest.param({"task": "T"}, "USAGE", id="a task and no agent"),
            pytest.param({"agent_id": "dev-1", "group_id": "A"}, "USAGE", id="an agent and a group"),
            pytest.param({"group_id": "Z"}, "UNKNOWN_GROUP", id="unknown group"),
        ],
    )
    def test_what_cannot_be_asked(self, board: Board, given: dict[str, str], code: str) -> None:
        board.mine()
        before = board.everything()
        assert (board.refused("next", session_id="S1", **given).code, board.everything()) == (code, before)

    def test_an_agent_out_of_service_is_answered_nothing(self, board: Board) -> None:
        board.call("agent deactivate", id="dev-2", by=PM, reason="gone")
        assert board.refused("next", session_id="S1", agent_id="dev-2").code == "UNKNOWN_AGENT"

    def test_an_instance_asks_in_its_own_session_only(self, board: Board) -> None:
        board.report("project_manager PLANNING_COMPLETE")
        board.session("S2")
        refusal = board.refused("next", session_id="S2", agent_id="developer@S1:A")
        assert (refusal.code, "--session-id S1" in refusal.suggestion) == ("NOT_PERMITTED", True)


def test_asking_changes_nothing(board: Board) -> None:
    board.mine()
    board.subs("T.1", "T.2")
    board.move("T.1", "in_progress", "blocked", "dev-1")
    before = board.everything()
    for agent in ("dev-1", "dev-2", LEAD, PM, "user"):
        board.next(agent)
    board.call("next", session_id="S1")
    assert board.everything() == before


@pytest.mark.sqlite("the file is opened for reading alone")
def test_asking_needs_no_writing_connection(board: Board) -> None:
    board.mine()
    connection = sqlite3.connect(f"file:{board.path}?mode=ro", uri=True, isolation_level=None)
    board.context.connection.close()
    board.context.connection = connection
    board.context.reader.connection = connection
    assert board.says() == ("work", None)
