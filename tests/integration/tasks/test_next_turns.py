"""An agent that has no task and an open turn is told of the turn."""

from __future__ import annotations

import pytest

from tests.integration.app.table import SESSION, Table

AGAIN = "orchestrator next --session-id S1 --agent-id"


def told(table: Table, agent: str) -> tuple[str, str, str]:
    answer = table.do("next", session_id=SESSION, agent_id=agent)
    return answer["action"], answer["why"], answer["instruction"]


def of_turn(turn: int, group: str | None = None) -> str:
    on, at = (f" on group {group}", f" {group}") if group else ("", "")
    read = f"orchestrator handoff{at} --turn {turn} --session-id S1"
    return f"Turn {turn}{on} is open for you: read `{read}`, do what it says, and report it."


@pytest.mark.parametrize("agent", ["developer@S1:A", "developer"], ids=["its instance", "who stands for the role"])
def test_a_developer_is_told_of_the_group(agent: str) -> None:
    table = Table("A", plan=True)
    turn = of_turn(3, "A")
    assert told(table, agent) == (
        "take_turn", f"No task is pending. {turn}", f"{turn} Then ask again by `{AGAIN} {agent}`.",
    )  # fmt: skip


def test_the_manager_is_told_of_the_session() -> None:
    assert told(Table("A"), "project_manager@S1")[1] == f"No task is pending. {of_turn(1)}"


def test_the_command_shows_the_turn_s_hand_off() -> None:
    table = Table("A", plan=True)
    assert table.do("handoff", session_id=SESSION, group_id="A", turn=3)["open"]


@pytest.mark.parametrize("agent", ["qa_expert@S1:A", "tech_lead", "project_manager@S1"])
def test_whoever_is_not_awaited_is_told_of_none(agent: str) -> None:
    table = Table("A", "B", plan=True)
    table.says("developer", "READY_FOR_QA", "A")
    table.says("qa_expert", "FAIL", "A")
    action, why, instruction = told(table, agent)
    assert (action, why) == ("no_work", "No task is pending.")
    assert instruction == f"No task is pending. Ask again later by `{AGAIN} {agent}`."


def test_a_group_that_only_names_the_manager_is_no_turn_of_theirs() -> None:
    table = Table("A", "B", plan=True)
    table.confirmable("A")
    assert (table.awaited("A"), told(table, "project_manager@S1")[1]) == ("project_manager", "No task is pending.")


def test_who_stands_for_a_role_is_told_of_each_turn() -> None:
    table = Table("A", "B", plan=True)
    assert told(table, "developer")[1] == f"No task is pending. {of_turn(4, 'A')} {of_turn(4, 'B')}"


def test_a_task_comes_before_the_turn() -> None:
    table = Table("A", plan=True)
    table.do("task create", id="T", title="a task", session_id=SESSION, group_id="A", by="project_manager")
    assert table.do("next", session_id=SESSION, agent_id="developer@S1:A")["action"] == "get_task"


def test_a_session_that_has_ended_has_none() -> None:
    table = Table("A", plan=True)
    with table.person():
        table.do("session end", id=SESSION, reason="no longer wanted", by="user")
    assert told(table, "developer@S1:A")[1] == "Session S1 has ended."
