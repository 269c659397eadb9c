"""A session without developers still builds, merges and completes: the senior engineer stands in."""

from __future__ import annotations

from tests.integration.app.table import Table


def test_a_session_without_developers_completes_its_groups() -> None:
    table = Table("A", disabled_roles=("developer",))
    (spawn,) = table.says("project_manager", "PLANNING_COMPLETE")["spawns"]
    assert spawn["agent"] == "senior_software_engineer"
    table.says("senior_software_engineer", "READY_FOR_REVIEW", "A")
    approved = table.says("tech_lead", "APPROVED", "A")
    assert (approved["next_agent"], approved["action"]) == ("senior_software_engineer", "spawn_merge")
    assert table.says("senior_software_engineer", "MERGE_SUCCESS", "A")["completed"] == ["A"]


def test_a_failed_merge_is_no_first_report() -> None:
    table = Table("A")
    refusal = table.refused("developer", "MERGE_CONFLICT", "A")
    assert (refusal.code, refusal.data["expected_action"]) == ("OUT_OF_TURN", "spawn_merge")
    assert table.session() == ("active", "project_manager")


