"""Each difference between agent files and workflow is a warning of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import agents
from orchestrator.core.workflow import model
from orchestrator.core.workflow.problems import Problem

Files = list[agents.AgentFile]
Maker = Callable[..., agents.AgentFile]


def told(problems: list[Problem]) -> list[tuple[str, str, str]]:
    return [(problem.id, problem.path, problem.message) for problem in problems]


def change(files: Files, role: str, **changed: Any) -> Files:
    return [file._replace(**changed) if file.role == role else file for file in files]


def test_files_that_agree_give_no_warning(agreeing: Files, workflow: model.Workflow) -> None:
    assert agents.check(agreeing, workflow) == []


def test_a_role_of_the_workflow_without_file_is_named(agreeing: Files, workflow: model.Workflow) -> None:
    without = [file for file in agreeing if file.role != "developer"]
    expected = ("A101", "agents/developer.md", "the role developer of the workflow has no agent file")
    assert told(agents.check(without, workflow)) == [expected]


def test_the_validator_needs_no_file(agreeing: Files) -> None:
    block = {"validator": {"ACCEPT": {"next_agent": None, "action": "end_session"}}}
    statuses = {file.role: {s: {"action": "spawn"} for s in file.statuses} for file in agreeing}
    assert agents.check(agreeing, model.parse({**statuses, **block})) == []


def test_each_status_that_a_file_lacks_is_named(agreeing: Files, workflow: model.Workflow) -> None:
    files = change(agreeing, "tech_lead", statuses=())
    assert told(agents.check(files, workflow)) == [
        ("A102", "agents/tech_lead.md", "tech_lead may report APPROVED, which agents/tech_lead.md does not list"),
        (
            "A102",
            "agents/tech_lead.md",
            "tech_lead may report UNBLOCKING_GUIDANCE, which agents/tech_lead.md does not list",
        ),
    ]


def test_each_status_that_the_workflow_lacks_is_named(agreeing: Files, workflow: model.Workflow) -> None:
    files = change(agreeing, "tech_lead", statuses=("APPROVED", "UNBLOCKING_GUIDANCE", "LOOKS_GOOD", "BLOCKED"))
    assert told(agents.check(files, workflow)) == [
        (
            "A103",
            "agents/tech_lead.md",
            f"agents/tech_lead.md lists {status}, which the workflow does not accept from tech_lead",
        )
        for status in ("LOOKS_GOOD", "BLOCKED")
    ]


def test_an_alias_that_the_role_may_use_is_no_difference(agreeing: Files, workflow: model.Workflow) -> None:
    statuses = (*workflow.statuses_of("project_manager"), "REASSIGNING_FOR_FIXES")
    assert agents.check(change(agreeing, "project_manager", statuses=statuses), workflow) == []


def test_an_alias_of_another_role_is_a_difference(agreeing: Files, workflow: model.Workflow) -> None:
    statuses = (*workflow.statuses_of("developer"), "REASSIGNING_FOR_FIXES")
    found = agents.check(change(agreeing, "developer", statuses=statuses), workflow)
    assert [problem.id for problem in found] == ["A103"]


def test_statuses_of_a_role_that_reports_nothing_are_a_difference(
    agreeing: Files, agent_file: Maker, workflow: model.Workflow
) -> None:
    found = agents.check([*agreeing, agent_file("orchestrator", statuses=("DONE",))], workflow)
    assert [problem.id for problem in found] == ["A103"]


@pytest.mark.parametrize("nobody", ["boss", "validator"])
def test_a_manager_without_file_is_named(nobody: str, agreeing: Files, workflow: model.Workflow) -> None:
    expected = ("A104", "agents/developer.md", f"developer reports to {nobody}, which has no agent file")
    assert told(agents.check(change(agreeing, "developer", reports_to=nobody), workflow)) == [expected]


@pytest.mark.parametrize("top", [agents.PERSON, None])
def test_the_top_reports_to_a_person_or_nobody(top: str | None, agreeing: Files, workflow: model.Workflow) -> None:
    assert agents.check(change(agreeing, "project_manager", reports_to=top), workflow) == []


@pytest.mark.parametrize(
    ("role", "manager", "circle"),
    [
        pytest.param("developer", "developer", ["developer"], id="itself"),
        pytest.param("project_manager", "tech_lead", ["project_manager", "tech_lead"], id="two roles"),
        pytest.param("project_manager", "developer", ["developer", "project_manager", "tech_lead"], id="three roles"),
    ],
)
def test_every_role_of_a_circle_is_named(
    role: str, manager: str, circle: list[str], agreeing: Files, workflow: model.Workflow
) -> None:
    found = agents.check(change(agreeing, role, reports_to=manager), workflow)
    assert [(problem.id, problem.path) for problem in found] == [("A105", f"agents/{name}.md") for name in circle]


def test_two_files_for_one_role_are_named(agreeing: Files, agent_file: Maker, workflow: model.Workflow) -> None:
    second = agreeing[2]._replace(name="developer-2", source="agents/developer_2.md")
    expected = (
        "A106",
        "agents/developer_2.md",
        "agents/developer_2.md and agents/developer.md are both for the role developer",
    )
    assert told(agents.check([second, *agreeing], workflow)) == [expected]


def test_the_orchestrator_may_have_variants(agreeing: Files, agent_file: Maker, workflow: model.Workflow) -> None:
    variants = [agent_file("orchestrator"), agent_file("orchestrator", name="orchestrator-speckit")]
    assert agents.check([*agreeing, *variants], workflow) == []


def test_all_differences_are_warnings_with_a_hint(agent_file: Maker, workflow: model.Workflow) -> None:
    files = [
        agent_file("developer", statuses=("X",), reports_to="boss"),
        agent_file("tech_lead", reports_to="tech_lead"),
    ]
    found = agents.check([*files, *files], workflow)
    assert {problem.id for problem in found} == {"A101", "A102", "A103", "A104", "A105", "A106"}
    assert {problem.severity for problem in found} == {"warning"}
    assert all(problem.hint for problem in found)


@given(
    order=st.permutations(range(3)), lists=st.lists(st.sets(st.sampled_from(["A", "B", "C"])), min_size=6, max_size=6)
)
def test_the_warnings_are_exactly_the_differences_whatever_the_order(order: list[int], lists: list[set[str]]) -> None:
    roles = ("project_manager", "tech_lead", "developer")
    offered, known = dict(zip(roles, lists[:3], strict=True)), dict(zip(roles, lists[3:], strict=True))
    workflow = model.parse({role: {s: {"action": "spawn"} for s in sorted(known[role])} for role in roles})
    files = [agents.AgentFile(role, role, "d", "m", (), None, tuple(sorted(offered[role])), "", "") for role in roles]
    found = agents.check([files[number] for number in order], workflow)
    expected = sum(len(offered[role] ^ known[role]) for role in roles)
    assert len(found) == expected
    assert found == agents.check(files, workflow)
