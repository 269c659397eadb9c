"""Who may act: active agents, in the session and group that they were started for, and what is theirs to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.app import setup
from tests import persons
from tests.integration.app.table import REVIEW, SESSION, Table, document

PM = "project_manager"


def retire(table: Table, agent: str) -> None:
    table.do("agent deactivate", id=agent, by=PM, reason="it hangs")


def again(table: Table, group: str | None = "A") -> dict[str, Any]:
    return table.do("redispatch", session_id=SESSION, group_id=group, reason="it is gone")


# Deactivated agents


@pytest.mark.parametrize("role", [PM, "tech_lead", "developer", "qa_expert", "orchestrator"])
def test_who_stands_for_a_role_stays_active(role: str) -> None:
    refusal = Table().refusal("agent deactivate", id=role, by=PM, reason="r")
    assert (refusal.code, refusal.suggestion) == (
        "NOT_PERMITTED", f"orchestrator session create ID --disable-role {role}",
    )  # fmt: skip


def test_a_deactivated_instance_reports_no_more() -> None:
    table = Table("A", plan=True)
    retire(table, "developer@S1:A")
    assert table.code("developer", "READY_FOR_QA", "A") == "UNKNOWN_AGENT"
    assert table.code("developer", "READY_FOR_QA", "A", agent_id="developer@S1:A") == "UNKNOWN_AGENT"


def test_another_agent_of_the_role_may_report_instead() -> None:
    table = Table("A", plan=True)
    table.do("agent register", id="dev-2", role="developer")
    retire(table, "developer@S1:A")
    assert table.says("developer", "READY_FOR_QA", "A", agent_id="dev-2")["next_agent"] == "qa_expert"


def test_a_redispatch_starts_a_fresh_instance_every_time() -> None:
    table = Table("A", plan=True)
    for expected in ("developer@S1:A.2", "developer@S1:A.3"):
        retire(table, str(table.row("A", "awaited_agent_id")[0]))
        assert again(table)["agent_id"] == expected
    assert table.says("developer", "READY_FOR_QA", "A")["next_agent"] == "qa_expert"
    assert table.rows("SELECT agent_id FROM agent_reports WHERE role = 'developer'") == [("developer@S1:A.3",)]


def test_a_fresh_instance_never_takes_that_of_a_group_of_such_a_name() -> None:
    table = Table("A", "A.2", plan=True)
    retire(table, "developer@S1:A")
    assert again(table)["agent_id"] == "developer@S1:A.3"


def test_a_manager_who_is_deactivated_is_replaced_too() -> None:
    table = Table()
    retire(table, "project_manager@S1")
    assert again(table, None)["agent_id"] == "project_manager@S1.2"


# Instances act where they were started


@pytest.mark.parametrize(
    ("group", "agent"),
    [
        pytest.param("A", "developer@S1:B", id="of another group"),
        pytest.param("A", "developer@S2:A", id="of another session"),
    ],
)
def test_an_instance_reports_for_its_own_group_only(group: str, agent: str) -> None:
    table = Table("A", "B", plan=True)
    table.do("session create", id="S2")
    table.group("A", session="S2")
    table.says(PM, "PLANNING_COMPLETE", session="S2")
    assert table.code("developer", "READY_FOR_QA", group, agent_id=agent) == "NOT_PERMITTED"


@pytest.mark.parametrize(
    ("words", "given"),
    [
        pytest.param("session pause", {"id": SESSION, "reason": "r"}, id="pause"),
        pytest.param("session create", {"id": "S3"}, id="create"),
        pytest.param("group create", {"id": "C", "session_id": SESSION}, id="group"),
        pytest.param("group set-status", {"id": "A", "session_id": SESSION, "status": "cancelled", "reason": "r"},
                     id="set-status"),
        pytest.param("agent register", {"id": "dev-2", "role": "developer"}, id="register"),
    ],
)  # fmt: skip
def test_a_manager_of_another_session_changes_nothing_here(words: str, given: dict[str, Any]) -> None:
    table = Table("A")
    table.do("session create", id="S2")
    assert table.refusal(words, by="project_manager@S2", **given).code == "NOT_PERMITTED"


def test_a_manager_acts_in_all_groups_of_their_session() -> None:
    table = Table("A", "B", plan=True)
    table.do("group set-status", id="B", session_id=SESSION, status="cancelled", by="project_manager@S1", reason="r")
    assert table.status("B") == "cancelled"


# Nobody, and no reason

CHANGES: dict[str, dict[str, Any]] = {
    "group set-status": {"id": "A", "session_id": SESSION, "status": "cancelled"},
    "session pause": {"id": SESSION},
    "session resume": {"id": SESSION},
    "session testing-mode": {"id": SESSION, "mode": "full"},
    "session upgrade-workflow": {"id": SESSION},
    "group undepend": {"id": "B", "on": "A", "session_id": SESSION},
    "agent deactivate": {"id": "dev-2"},
    "session end": {"id": "C1"},
}


@pytest.mark.parametrize("words", CHANGES)
@pytest.mark.parametrize(("by", "code"), [({}, "ACTOR_REQUIRED"), ({"by": PM}, "REASON_REQUIRED")], ids=["by", "why"])
def test_a_change_without_an_actor_or_a_reason_is_refused_and_recorded(
    words: str, by: dict[str, str], code: str
) -> None:
    table = Table("A")
    table.group("B", depends_on=("A",))
    if words == "group undepend":
        table.move("A", "cancelled")
    table.do("agent register", id="dev-2", role="developer")
    table.do("session create", id="C1", kind="chat")
    assert table.refusal(words, **CHANGES[words], **by).code == code


# A name proves nobody

NAMED: dict[str, dict[str, Any]] = {
    "session create": {"id": "S3"},
    "session pause": {"id": SESSION, "reason": "r"},
    "session end": {"id": SESSION, "reason": "r"},
    "session testing-mode": {"id": SESSION, "mode": "full", "reason": "r"},
    "group create": {"id": "C", "session_id": SESSION},
    "group set-status": {"id": "A", "session_id": SESSION, "status": "cancelled", "reason": "r"},
    "group depend": {"id": "A", "on": "B", "session_id": SESSION, "reason": "r"},
    "redispatch": {"session_id": SESSION, "group_id": "A", "reason": "r"},
    "task create": {"id": "T2", "session_id": SESSION, "group_id": "A", "title": "t"},
    "criterion add": {"id": "C1", "session_id": SESSION, "text": "t", "reason": "r"},
    "agent register": {"id": "dev-2", "role": "developer"},
    "agent deactivate": {"id": "developer@S1:A", "reason": "r"},
    "workflow load": {"content": "{}", "agent_texts": {}},
    "validate": {"session_id": SESSION},
}
"""What names who acts, `by` left out."""


@pytest.mark.parametrize("words", NAMED)
@pytest.mark.parametrize("by", ["user", "system:runner", "system:validator"])
def test_neither_a_persons_name_alone_nor_the_programs_acts(words: str, by: str) -> None:
    table = Table("A", "B", plan=True)
    refused = table.refusal(words, by=by, **NAMED[words])
    assert refused.code == "HUMAN_REQUIRED" if by == "user" else refused.code in ("NOT_PERMITTED", "HUMAN_REQUIRED")


def test_a_person_who_is_proven_asks_for_a_verdict() -> None:
    table = Table("A", plan=True)
    persons.sit(table.context)
    table.do("validate", session_id=SESSION, by="user", record=True)
    assert table.rows("SELECT actor, channel FROM audit_events WHERE kind = 'validate'") == [("user", "terminal")]


# What is whose


@pytest.mark.parametrize(
    ("by", "code"),
    [
        pytest.param("developer", "NOT_PERMITTED", id="developer"),
        pytest.param("orchestrator", "NOT_PERMITTED", id="orchestrator"),
        pytest.param("nobody", "UNKNOWN_AGENT", id="nobody known"),
        pytest.param("", "ACTOR_REQUIRED", id="nobody"),
    ],
)
def test_a_workflow_is_not_loaded_by(by: str, code: str) -> None:
    given = {"content": "{}", "agent_texts": {}, "source": "x.json"}
    assert Table().refusal("workflow load", **given, by=by).code == code


@pytest.mark.parametrize("by", [PM, "user", "system:router"])
def test_a_workflow_is_loaded_by(by: str) -> None:
    table, made = Table(), document()
    made["_version"] = "9"
    if by == "user":
        persons.sit(table.context)
    given = {"content": json.dumps(made), "agent_texts": setup.agent_texts(), "source": "x.json"}
    assert table.do("workflow load", **given, by=by)["activated"]


def test_the_security_flag_is_not_the_orchestrator_s() -> None:
    table = Table()
    table.group("A", by="orchestrator")
    given = {"id": "B", "session_id": SESSION, "by": "orchestrator", "security_sensitive": True}
    assert table.refusal("group create", **given).code == "NOT_PERMITTED"


def test_the_event_of_a_report_names_its_agent_and_that_of_a_refusal_whom_the_caller_named() -> None:
    table = Table("A", plan=True)
    table.says(" DEV ", "READY_FOR_QA", "A")
    table.refused(" QA ", "DONE", "A")
    events = "SELECT kind, actor FROM audit_events WHERE session_id = 'S1' ORDER BY seq DESC LIMIT 2"
    assert table.rows(events) == [("refusal", " QA "), ("route", "developer@S1:A")]


# Calls that name nobody

PLANNING: dict[str, dict[str, Any]] = {
    "task create": {"id": "N", "title": "a task", "group_id": "A"},
    "task depend": {"id": "T", "on": "O"},
    "task undepend": {"id": "O", "on": "W"},
}
"""Acts that plan tasks, each about group A."""


def planned(*, plan: bool, owner: str = PM) -> Table:
    table = Table("A", plan=plan)
    for id in ("W", "O", "T"):
        table.do("task create", id=id, title=id, group_id="A", session_id=SESSION, by=PM, assignee=owner)
    table.do("task depend", id="O", on="W", session_id=SESSION, by=owner)
    return table


def acted(table: Table) -> list[tuple[Any, ...]]:
    return table.rows("SELECT actor FROM audit_events ORDER BY seq DESC LIMIT 1")


@pytest.mark.parametrize("words", PLANNING)
def test_who_plans_tasks_without_a_name_is_the_awaited_agent_of_the_group(words: str) -> None:
    table = planned(plan=True, owner="developer@S1:A")
    table.do(words, session_id=SESSION, **PLANNING[words])
    assert acted(table) == [("developer@S1:A",)]


@pytest.mark.parametrize("words", ["task depend", "task undepend"])
def test_leaving_the_name_out_allows_no_more_than_giving_it(words: str) -> None:
    table = planned(plan=True)
    named, unnamed = (
        table.refusal(words, session_id=SESSION, by=by, **PLANNING[words]).code for by in ("developer@S1:A", None)
    )
    assert (named, unnamed) == ("NOT_PERMITTED", "NOT_PERMITTED")


@pytest.mark.parametrize("words", PLANNING)
def test_where_nobody_is_awaited_the_project_manager_plans(words: str) -> None:
    table = planned(plan=False)
    table.do(words, session_id=SESSION, **PLANNING[words])
    assert acted(table) == [(PM,)]


def test_a_subtask_without_a_name_is_the_awaited_agents_of_its_parents_group() -> None:
    table = planned(plan=True, owner="developer@S1:A")
    table.do("task create", id="N", title="a part", parent="T", session_id=SESSION)
    assert acted(table) == [("developer@S1:A",)]


def test_a_task_of_no_group_is_the_project_managers_where_nobody_is_named() -> None:
    table = planned(plan=True)
    table.do("task create", id="N", title="a task", session_id=SESSION)
    assert acted(table) == [(PM,)]


def test_a_group_that_awaits_a_person_leaves_planning_to_the_project_manager() -> None:
    table = Table("A", plan=True)
    table.says("developer", "PARTIAL", "A", metadata=REVIEW)
    table.do("task create", id="N", title="a task", group_id="A", session_id=SESSION)
    assert acted(table) == [(PM,)]


def test_an_awaited_agent_out_of_service_plans_nothing() -> None:
    table = Table("A", plan=True)
    retire(table, "developer@S1:A")
    refusal = table.refusal("task create", id="N", title="a task", group_id="A", session_id=SESSION)
    assert refusal.code == "UNKNOWN_AGENT"
