"""A session without developers still builds, merges and completes: the senior engineer stands in."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Call, perform
from orchestrator.errors import Refused
from tests.integration.app.table import SESSION, Table, document, load


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


# Groups that could never be completed

SENIOR, DEVELOPER = "senior_software_engineer", "developer"
SECURE = {"id": "A", "session_id": SESSION, "security_sensitive": True}


def peers_approval(made: dict[str, Any]) -> None:
    """As in a peer's file: nobody merges in the developer's place."""
    for status in ("APPROVED", "APPROVED_WITH_NOTES"):
        made["tech_lead"][status].pop("fallback_agent")


def test_a_security_sensitive_group_is_refused_where_nobody_could_build_and_merge_it() -> None:
    table = Table(disabled_roles=(SENIOR,))
    refusal = table.refusal("group create", **SECURE)
    assert (refusal.code, SENIOR in refusal.message) == ("NOT_PERMITTED", True)
    assert "--disable-role" in refusal.suggestion
    assert "leave out --security-sensitive" in refusal.suggestion
    assert table.group("A")["group"]["status"] == "pending"


@pytest.mark.parametrize(
    ("disabled", "change", "group", "missing"),
    [
        pytest.param((SENIOR,), None, {}, None, id="a developer builds"),
        pytest.param((SENIOR,), None, {"complexity": 9}, None, id="what is complex, too"),
        pytest.param((SENIOR,), None, {"kind": "research"}, None, id="nobody merges research"),
        pytest.param((SENIOR,), None, {"kind": "research", "security_sensitive": True}, None, id="secure research"),
        pytest.param(("requirements_engineer",), None, {"kind": "research"}, None, id="research without its role"),
        pytest.param((DEVELOPER,), None, {}, None, id="the senior engineer stands in"),
        pytest.param((DEVELOPER,), None, {"security_sensitive": True}, None, id="and builds what is secure"),
        pytest.param((DEVELOPER,), peers_approval, {}, DEVELOPER, id="nobody stands in"),
        pytest.param((DEVELOPER,), peers_approval, {"security_sensitive": True}, DEVELOPER, id="nor there"),
        pytest.param((SENIOR, "investigator"), None, {"security_sensitive": True}, SENIOR, id="another one, too"),
    ],
)
def test_a_group_is_accepted_exactly_where_it_can_be_completed(
    disabled: tuple[str, ...], change: Any, group: dict[str, Any], missing: str | None
) -> None:
    context, made = testing.memory_context(), document()
    if change:
        change(made)
    load(context, made)
    table = Table(context=context, disabled_roles=disabled)
    if missing is None:
        table.group("A", **group)
        table.plan()
        assert completes(table, "A", research=group.get("kind") == "research")
        assert "warnings" not in table.do("status", session_id=SESSION)
    else:
        assert missing in table.refusal("group create", id="A", session_id=SESSION, **group).message


def completes(table: Table, group: str, *, research: bool) -> bool:
    """Whether agents who do as the router says bring a group to its end."""
    for _ in range(12):
        role, action = table.row(group, "awaited_role, awaited_action")
        if role in (None, "project_manager", "user"):
            break
        submitted = table.rows("SELECT 1 FROM agent_reports WHERE effect = 'submit_review'")
        status = "READY_FOR_REVIEW" if action != "spawn_merge" else "MERGE_SUCCESS"
        if role == "tech_lead":
            status = "APPROVED" if research or submitted else "CHANGES_REQUESTED"
        table.says(role, status, group)
    return table.status(group) == "completed"


def test_a_session_says_at_once_which_groups_it_will_not_accept() -> None:
    context = testing.memory_context()
    answer = operations.call(context, "session create", id=SESSION, disabled_roles=(SENIOR,))
    (warning,) = answer["warnings"]
    assert (SENIOR in warning, "no security-sensitive groups" in warning) == (True, True)


def test_a_group_of_older_rules_is_told_again_and_status_names_it() -> None:
    table = Table(disabled_roles=(SENIOR,))
    given = {"id": "A", "security_sensitive": True, "by": "project_manager"}
    perform(table.context, Call("group create", SESSION, "project_manager", given), operations.action("group create"))
    for answer in (table.do("status", session_id=SESSION), table.do("status")):
        (warning,) = answer["warnings"]
        assert "security-sensitive group A can never be completed" in warning
        assert "orchestrator group set-status A cancelled --session-id S1" in warning
    assert table.do("audit replay", session_id=SESSION)["equal"]
    table.move("A", "cancelled")
    assert "warnings" not in table.do("status", session_id=SESSION)


def test_a_session_does_not_move_to_rules_by_which_a_group_could_never_be_completed() -> None:
    table = Table("A", plan=True, disabled_roles=(DEVELOPER,))
    made = document()
    peers_approval(made)
    table.new_rules(made)
    with table.person():
        refusal = table.refusal("session upgrade-workflow", id=SESSION, by="user", reason="new")
    assert refusal.code == "UPGRADE_REFUSED"
    (open_,) = refusal.data["open"]
    assert (DEVELOPER in open_, "group A" in open_) == (True, True)
