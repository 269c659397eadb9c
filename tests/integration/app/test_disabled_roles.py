"""A session without developers still builds, merges and completes: the senior engineer stands in."""

from __future__ import annotations

import pytest

from orchestrator.errors import Refused
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


class TestTasksOfARoleThatIsDisabled:
    @pytest.fixture
    def table(self) -> Table:
        """A session that does without QA, with a task that nobody has."""
        table = Table("A", disabled_roles=("qa_expert",), testing_mode="minimal")
        table.do("task create", id="T", session_id="S1", title="look at it", group_id="A", by="tech_lead")
        return table

    @pytest.mark.parametrize(
        ("words", "given"),
        [
            pytest.param("task claim", {"id": "T", "agent_id": "qa_expert"}, id="claim"),
            pytest.param("task set-status", {"id": "T", "status": "in_progress", "by": "qa_expert"}, id="start"),
            pytest.param(
                "task create", {"id": "U", "title": "u", "assignee": "qa_expert", "by": "tech_lead"}, id="assign"
            ),
        ],
    )
    def test_are_given_to_nobody(self, table: Table, words: str, given: dict[str, str]) -> None:
        with pytest.raises(Refused) as caught:
            table.do(words, session_id="S1", **given)
        assert caught.value.code == "NOT_PERMITTED"
        assert caught.value.message == "Session S1 does without qa_expert, which qa_expert is."

    def test_are_not_offered_to_it_either(self, table: Table) -> None:
        found = table.do("next", session_id="S1", agent_id="qa_expert")
        assert (found["action"], found["why"]) == ("no_work", "Session S1 does without qa_expert.")
        nothing = table.do("task claim", session_id="S1", agent_id="qa_expert")
        assert (nothing["task"], nothing["why"]) == (None, "Session S1 does without qa_expert.")

    def test_are_handed_to_others(self, table: Table) -> None:
        more = {"session_id": "S1", "by": "tech_lead"}
        table.do("task create", id="P", title="p", group_id="A", assignee="tech_lead", **more)
        table.do("task set-status", id="P", status="in_progress", **more)
        table.do("task create", id="P.1", title="a part", parent="P", **more)
        found = table.do("next", session_id="S1", agent_id="tech_lead")
        roles = {each["role"] for each in found["available_workers"]}
        assert (found["action"], "developer" in roles, "qa_expert" in roles) == ("dispatch", True, False)
        assert table.do("task claim", session_id="S1", id="T", agent_id="developer")["claim"]["holder"] == "developer"
