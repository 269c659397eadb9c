"""A small workflow, and agent files that agree with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.core import agents
from orchestrator.core.workflow import model

SMALL = {
    "_version": "small",
    "project_manager": {
        "PLANNING_COMPLETE": {
            "next_agent": "developer",
            "action": "spawn_batch",
            "include_context": ["task_groups"],
            "description": "The plan stands.",
        },
        "BAZINGA": {"next_agent": None, "action": "validate_then_end"},
        "NEEDS_CLARIFICATION": {"next_agent": None, "action": "pause_for_user"},
        "INVESTIGATION_ONLY": {"next_agent": None, "action": "end_session"},
        "REWORK": {"next_agent": "developer", "action": "respawn", "include_context": ["rework_reason"]},
    },
    "tech_lead": {
        "APPROVED": {"next_agent": "developer", "action": "spawn_merge", "then": "check_phase"},
        "UNBLOCKING_GUIDANCE": {
            "next_agent": "_return_to_blocked",
            "action": "spawn",
            "include_context": ["guidance"],
        },
    },
    "developer": {
        "READY_FOR_REVIEW": {
            "next_agent": "tech_lead",
            "action": "spawn",
            "include_context": ["dev_output", "files_changed"],
            "description": "Built | and ready.",
        },
        "BLOCKED": {
            "next_agent": "project_manager",
            "action": "spawn",
            "fallback_agent": "tech_lead",
            "include_context": ["dev_output", "blocker_details"],
        },
        "PARTIAL": {"next_agent": "developer", "action": "respawn", "include_context": ["partial_work"]},
        "MERGE_SUCCESS": {"next_agent": None, "action": "check_phase", "include_context": ["merge_result"]},
        "STUCK": {"next_agent": "tech_lead", "action": "spawn", "effect": "block"},
    },
    "_status_aliases": {"REASSIGNING_FOR_FIXES": "REWORK"},
}


@pytest.fixture
def workflow() -> model.Workflow:
    return model.parse(SMALL)


@pytest.fixture
def agent_file() -> Callable[..., agents.AgentFile]:
    """Make one agent file with the given fields."""

    def make(role: str, **changed: Any) -> agents.AgentFile:
        fields: dict[str, Any] = {
            "name": role,
            "reports_to": agents.PERSON,
            "statuses": (),
            "source": f"agents/{role}.md",
            **changed,
        }
        blank = agents.AgentFile(role, "", "What it does.", "sonnet", (), None, (), "", "0" * 64)
        return blank._replace(**fields)

    return make


@pytest.fixture
def agreeing(workflow: model.Workflow, agent_file: Callable[..., agents.AgentFile]) -> list[agents.AgentFile]:
    """One file for each role of the small workflow, with exactly its statuses."""
    above = {"project_manager": agents.PERSON, "tech_lead": "project_manager", "developer": "tech_lead"}
    return [
        agent_file(role, reports_to=manager, statuses=workflow.statuses_of(role)) for role, manager in above.items()
    ]
