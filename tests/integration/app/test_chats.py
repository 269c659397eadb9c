"""Chats: one group, that runs from the start, and that ends with its session."""

from __future__ import annotations

import pytest

from tests.integration.app.table import Table

PM = "project_manager"


def chat() -> Table:
    table = Table()
    table.do("session create", id="C1", kind="chat")
    return table


def test_a_chat_has_no_second_group() -> None:
    assert chat().refusal("group create", id="B", session_id="C1").code == "NOT_PERMITTED"


@pytest.mark.parametrize("status", ["PLANNING_COMPLETE", "CONTINUE", "BAZINGA", "NEEDS_CLARIFICATION"])
def test_in_a_chat_no_agent_reports(status: str) -> None:
    """Else it would await an agent for ever: nobody starts one in a chat."""
    table = chat()
    assert table.refused(PM, status, session="C1", interrupt=True).code == "NOT_PERMITTED"
    assert table.rows("SELECT awaited_role FROM sessions WHERE id = 'C1'") == [(None,)]
    assert table.rows("SELECT awaited_role FROM task_groups WHERE session_id = 'C1'") == [(None,)]


@pytest.mark.parametrize("role", [PM, "tech_lead"])
def test_a_report_in_a_chat_is_told_why_and_not_whose_turn_it_is(role: str) -> None:
    found = chat().refused(role, "BLOCKED" if role != PM else "BAZINGA", "C1", session="C1")
    assert "is a chat: its work is done by runs" in found.message
    assert "interrupt" not in str(found.suggestion)


def test_a_chat_gets_no_verdict_that_would_call_a_manager() -> None:
    table = chat()
    found = table.refusal("validate", session_id="C1", record=True)
    assert (found.code, "is a chat" in found.message) == ("NOT_PERMITTED", True)
    assert table.do("validate", session_id="C1")["recorded"] is False
    assert table.rows("SELECT status, awaited_role FROM sessions WHERE id = 'C1'") == [("active", None)]


def test_the_group_of_a_chat_is_closed_by_closing_the_session() -> None:
    table = chat()
    given = {"id": "C1", "session_id": "C1", "status": "cancelled", "by": PM, "reason": "r"}
    refusal = table.refusal("group set-status", **given)
    assert (refusal.code, refusal.suggestion.startswith("orchestrator session end C1")) == ("NOT_PERMITTED", True)


@pytest.mark.parametrize(
    ("by", "code"),
    [
        pytest.param("developer", "NOT_PERMITTED", id="developer"),
        pytest.param("tech_lead", "NOT_PERMITTED", id="tech lead"),
        pytest.param("user", "HUMAN_REQUIRED", id="a person's name"),
    ],
)
def test_a_chat_is_not_closed_by(by: str, code: str) -> None:
    assert chat().refusal("session end", id="C1", by=by, reason="answered").code == code


@pytest.mark.parametrize("by", [PM, "orchestrator"])
def test_a_chat_is_closed_by(by: str) -> None:
    table = chat()
    table.do("session end", id="C1", by=by, reason="answered")
    assert table.rows("SELECT status, outcome FROM sessions WHERE id = 'C1'") == [("ended", "closed")]
    assert table.rows("SELECT status FROM task_groups WHERE session_id = 'C1'") == [("cancelled",)]
