"""`why TASK` and `task show --at`: what stands in a task's way, who may lift it, what is next, and how it was then."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.app.kernel import operations
from tests.integration.app.board import Board


@pytest.fixture
def board() -> Board:
    return Board()


def why(board: Board, id: str, **given: Any) -> dict[str, Any]:
    found: dict[str, Any] = board.call("why", id=id, **given)
    return found


def test_a_task_that_nobody_has_says_how_it_is_taken(board: Board) -> None:
    task = board.task("T1", assignee=None)
    answer = why(board, "T1")
    assert (answer["about"], answer["task_id"], answer["status"], answer["next"]) == ("task", "T1", "todo", None)
    assert answer["sentences"] == [
        f"Task T1 (title of T1) is todo since {task['status_changed_at']}, by project_manager; unassigned.",
        "Nothing blocks it; an agent starts it with `orchestrator task claim T1 --session-id S1 --agent-id AGENT`.",
    ]


def test_a_task_in_progress_says_what_next_says_to_who_has_it(board: Board) -> None:
    board.task("T1")
    board.move("T1", "in_progress")
    asked = board.call("next", agent_id="dev-1", task="T1")
    expected = {name: asked[name] for name in ("action", "state", "instruction")}
    assert why(board, "T1")["next"] == {"agent_id": "dev-1", **expected}
    assert why(board, "T1")["sentences"][-1] == f"Next for dev-1: {expected['action']}. {expected['instruction']}"


@pytest.mark.parametrize(
    ("type_", "may"),
    [
        pytest.param("manual", "dev-1, developer, tech_lead, project_manager, a person, by a human channel", id="soft"),
        pytest.param("invalid_specification", "a person, by a human channel", id="hard"),
    ],
)
def test_a_blocked_task_says_who_blocked_it_and_who_may_lift_that(board: Board, type_: str, may: str) -> None:
    board.task("T1")
    board.move("T1", "in_progress", "blocked", blocker_type=None)
    board.call("task set-status", id="T1", status="blocked", by="dev-1", reason="no data", blocker_type=type_)
    answer = why(board, "T1")
    assert [each["type"] for each in answer["blockers"]] == ["manual", type_]
    newest = answer["blockers"][-1]
    assert ", ".join(newest["may_lift"]) == may
    assert answer["sentences"][2] == (
        f"Blocker {newest['id']} ({newest['class']} {type_}), opened by dev-1 at {newest['opened_at']},"
        f" blocks it: no data. May lift it: {may}."
    )


def test_a_resolved_blocker_stands_in_no_way(board: Board) -> None:
    board.task("T1")
    board.move("T1", "in_progress", "blocked")
    board.resolve(board.open("T1")[0])
    assert why(board, "T1")["blockers"] == []


def test_a_task_names_the_tasks_groups_and_subtasks_that_are_not_done(board: Board) -> None:
    board.call("group create", id="C", name="third", depends_on=("B",))
    board.task("T0")
    board.task("T1", group_id="C", depends_on=("T0",))
    board.task("T1.1", parent="T1")
    sentences = why(board, "T1")["sentences"]
    assert sentences[1:4] == [
        "It depends on task T0 (title of T0), which is todo.",
        "Its group C depends on group B, which is pending.",
        "Its subtask T1.1 (title of T1.1) is todo.",
    ]


@pytest.mark.parametrize("auto", [False, True], ids=["plain", "auto-unblock"])
def test_a_task_that_waits_for_a_cancelled_one_names_the_command_that_drops_it(board: Board, auto: bool) -> None:
    board.task("T0")
    board.task("T1")
    board.task("T1.1", parent="T1", depends_on=("T0",), auto_unblock=auto)
    board.call("task set-status", id="T0", status="cancelled", by="project_manager", reason="no use")
    sentences = why(board, "T1.1")["sentences"]
    drop = "orchestrator task undepend T1.1 --on T0 --session-id S1 --by project_manager --reason TEXT"
    said = "It depends on task T0 (title of T0), which is cancelled and will never be done"
    assert f"{said}; `{drop}` drops it." in sentences


def test_a_done_task_says_who_did_it_and_nothing_more(board: Board) -> None:
    board.task("T1")
    row = board.move("T1", "in_progress", "done")
    answer = why(board, "T1")
    since = row["status_changed_at"]
    assert answer["sentences"] == [f"Task T1 (title of T1) is done since {since}, by dev-1; assigned to dev-1."]
    assert [(each["from_status"], each["to_status"]) for each in answer["changes"]] == [
        ("in_progress", "done"), ("todo", "in_progress"), (None, "todo"),
    ]  # fmt: skip


def test_a_task_of_a_deferred_group_is_offered_to_nobody(board: Board) -> None:
    board.task("T1", assignee=None)
    board.call("route", current_agent="project_manager", status="PLANNING_COMPLETE")
    for role, status in (("developer", "READY_FOR_QA"), ("qa_expert", "BLOCKED")):
        board.call("route", group_id="A", current_agent=role, status=status, summary="no environment")
    guidance = {"external": True, "external_dependency": "the test environment"}
    board.call("route", group_id="A", current_agent="tech_lead", status="UNBLOCKING_GUIDANCE", details=guidance)
    board.call("route", group_id="A", current_agent="project_manager", status="DEFER_EXTERNAL", summary="waits")
    assert why(board, "T1")["sentences"][1:] == ["Its group A is deferred_external."]


def test_a_task_of_a_paused_session_is_offered_to_nobody(board: Board) -> None:
    board.task("T1", assignee=None)
    operations.call(board.context, "session pause", id="S1", by="project_manager", reason="lunch")
    assert why(board, "T1")["sentences"][1:] == ["Session S1 is paused."]


def test_a_claim_says_until_when_and_whether_that_is_over(board: Board) -> None:
    board.task("T1", assignee=None)
    claim = board.call("task claim", id="T1", agent_id="dev-1", lease=60)["claim"]
    held = {"holder": "dev-1", "until": claim["until"], "overdue": False}
    assert why(board, "T1")["claim"] == held
    board.clock.seconds += 3600
    assert why(board, "T1")["claim"] == {**held, "overdue": True}
    assert "; overdue: other agents may take it over." in why(board, "T1")["sentences"][0]


def test_the_token_of_a_claim_is_shown_to_nobody(board: Board) -> None:
    board.task("T1", assignee=None)
    token = board.call("task claim", id="T1", agent_id="dev-1")["claim"]["token"]
    assert token not in repr(why(board, "T1"))


def test_a_group_that_is_called_like_a_task_is_meant_and_names_the_task(board: Board) -> None:
    board.task("A")
    answer = why(board, "A")
    assert (answer["about"], answer["sentences"][-1]) == (
        "group", "There is also a task A: orchestrator task show A --session-id S1"
    )  # fmt: skip


def test_what_is_neither_a_group_nor_a_task_is_refused_with_the_nearest_of_both(board: Board) -> None:
    board.task("LOGIN-FORM")
    refused = board.refused("why", id="LOGIN-FROM")
    assert (refused.code, refused.data["did_you_mean"]) == ("UNKNOWN_GROUP", "LOGIN-FORM")
    assert refused.message == "Session S1 has no group and no task 'LOGIN-FROM'."


@pytest.mark.parametrize("words", ["task show", "why"])
def test_at_a_step_a_task_is_told_as_it_was_told_then(board: Board, words: str) -> None:
    board.task("T0")
    board.task("T1", depends_on=("T0",))
    then: dict[int, dict[str, Any]] = {}
    for id, status in (("T0", "in_progress"), ("T0", "done"), ("T1", "in_progress"), ("T1", "blocked")):
        board.move(id, status)
        seq = board.rows("SELECT max(seq) FROM audit_events WHERE session_id = 'S1'")[0][0]
        then[seq] = board.call(words, id="T1")
    assert len({repr(answer) for answer in then.values()}) >= 3
    for seq, expected in then.items():
        actual = board.call(words, id="T1", at_seq=seq)
        assert actual.pop("as_of")["seq"] == seq
        assert actual == expected


def test_a_task_is_not_known_before_it_was_created(board: Board) -> None:
    seq = board.task("T1")["created_seq"]
    assert board.refused("task show", id="T1", at_seq=seq - 1).code == "UNKNOWN_TASK"
    assert board.refused("task show", id="T1", at_seq=seq + 1).code == "SEQ_OUT_OF_RANGE"


class TestTimeline:
    """What happened to tasks, in sentences, with the task and its group."""

    def events(self, board: Board, **asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = board.call("audit timeline", **{"limit": 1000, **asked})["events"]
        return found

    def test_a_task_is_created_with_its_title_and_what_it_depends_on(self, board: Board) -> None:
        board.task("T0")
        board.task("T1", depends_on=("T0",))
        assert [event["text"] for event in self.events(board)[-2:]] == [
            "project_manager: task create T0 (title of T0); task T0: (new) -> todo by project_manager",
            "project_manager: task create T1, depends on T0 (title of T1);"
            " task T1: (new) -> todo by project_manager",
        ]

    def test_a_dependency_names_both_tasks(self, board: Board) -> None:
        board.task("T0")
        board.task("T1")
        board.call("task depend", id="T1", on="T0", by="project_manager")
        assert self.events(board)[-1]["called"] == "project_manager: task depend T1 on T0"

    def test_a_blocker_names_the_task_that_it_blocks(self, board: Board) -> None:
        board.task("T1")
        board.move("T1", "in_progress", "blocked")
        blocker = board.open("T1")[0]
        told = [each["text"] for each in self.events(board)[-1]["wrote"]]
        assert f"blocker {blocker} (soft manual) opened on task T1 of A: reason of T1" in told

    def test_the_steps_of_a_group_are_those_of_its_tasks_too(self, board: Board) -> None:
        board.task("T1")
        board.task("T2", group_id="B")
        board.move("T1", "in_progress")
        ours, theirs = (self.events(board, group_id=group) for group in "AB")
        assert ours[-1]["text"].endswith("task T1: todo -> in_progress by dev-1")
        assert not any("T1" in event["text"] for event in theirs)

    def test_a_claim_that_was_taken_over_is_told_in_words(self, board: Board) -> None:
        board.task("T1", assignee=None)
        board.call("task claim", id="T1", agent_id="dev-1", lease=1)
        board.clock.seconds += 3600
        board.call("task claim", id="T1", agent_id="dev-2")
        told = self.events(board)[-1]["text"]
        assert "claim of task T1: dev-1 -> dev-2 by dev-2 (the lease of dev-1 ended at " in told

    def test_the_numbers_of_a_session_count_tasks_and_what_became_of_them(self, board: Board) -> None:
        board.task("T1")
        board.task("T2", group_id="B")
        board.move("T1", "in_progress", "done")
        expected = {"created": 1, "moved": {"done": 1, "in_progress": 1}, "taken_over": 0}
        assert board.call("audit stats", group_id="A")["stats"]["tasks"] == expected
        assert board.call("audit stats")["stats"]["tasks"] == {**expected, "created": 2}
        assert board.call("audit stats", group_id="")["stats"]["tasks"] == {"created": 0, "moved": {}, "taken_over": 0}
