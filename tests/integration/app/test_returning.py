"""What a turn keeps when it is given anew, to whom rework goes, and what frees, limits and upgrades bring about."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app.kernel import operations
from orchestrator.errors import UsageError
from tests.integration.app.table import SESSION, Table, changed, document, load
from tests.integration.app.test_slots import slots

PM = "project_manager"


def again(table: Table) -> dict[str, Any]:
    return table.do("redispatch", session_id=SESSION, group_id="A", reason="it died")


# Redispatch


def test_a_turn_given_anew_keeps_its_model() -> None:
    table = Table("A", plan=True)
    table.submit("A")
    given = table.says("tech_lead", "ESCALATE_TO_OPUS", "A")
    assert given["model"] == "opus"
    assert [again(table)["model"] for _ in range(2)] == ["opus", "opus"]


def test_a_turn_of_a_batch_given_anew_keeps_its_context() -> None:
    table = Table("A")
    batch = table.says(PM, "PLANNING_COMPLETE")
    answer = again(table)
    assert answer["model"] == batch["spawns"][0]["model"]
    assert answer["include_context"] == batch["include_context"]


# Builders


def built(table: Table) -> None:
    table.do("agent register", id="dev-2", role="developer")
    table.says("developer", "READY_FOR_QA", "A", agent_id="dev-2")


def merged(table: Table) -> None:
    built(table)
    table.says("qa_expert", "PASS", "A")
    table.says("tech_lead", "APPROVED", "A")
    table.says("developer", "MERGE_SUCCESS", "A", agent_id="dev-2")


def rework(table: Table) -> str:
    return str(table.says(PM, "REWORK", "A", interrupt=True)["agent_id"])


def reopen(table: Table) -> str:
    table.do("group set-status", id="A", session_id=SESSION, status="in_progress", by=PM, reason="after all")
    return str(table.row("A", "awaited_agent_id")[0])


@pytest.mark.parametrize(("before", "back"), [(built, rework), (merged, reopen)], ids=["rework", "reopen"])
@pytest.mark.parametrize(("active", "expected"), [(True, "dev-2"), (False, "developer@S1:A")], ids=["active", "gone"])
def test_work_comes_back_to_the_very_agent_that_built(
    before: Any, back: Any, active: bool, expected: str
) -> None:
    table = Table("A", plan=True)
    before(table)
    if not active:
        table.do("agent deactivate", id="dev-2", by=PM, reason="left")
    assert back(table) == expected


# The manager's model


def test_a_batch_that_starts_nothing_calls_the_manager_with_their_own_model() -> None:
    context, made = testing.memory_context(), document()
    made[PM]["CONTINUE"]["model_override"] = "haiku"
    load(context, made)
    table = Table("A", plan=True, context=context)
    table.move("A", "cancelled")
    answer = table.says(PM, "CONTINUE")
    own = context.active_version().models[PM]
    assert (answer["next_agent"], answer["model"], answer["include_context"]) == (PM, own, [])
    assert own != "haiku"


# Slots


def test_an_upgrade_that_brings_slots_starts_what_waits() -> None:
    table = slots(1, "A", "B")
    assert table.running() == ["A"]
    table.new_rules(document())
    answer = table.upgrade()
    assert ([each["cause"] for each in answer["followed_by"] if "cause" in each], table.running()) == ([], ["A", "B"])
    assert table.decisions("cause, action")[-1] == ("session", "spawn_batch")


def test_what_was_held_for_a_slot_is_released_for_a_slot_whatever_freed_it() -> None:
    table = slots(1, "A", "B")
    table.complete("A")
    table.do("group create", id="C", session_id=SESSION)
    table.says("developer", "BLOCKED", "B")
    table.says(PM, "ESCALATING_TO_TECH_LEAD", "C")
    assert table.row("C", "held") == ("slot",)
    table.move("B", "cancelled")
    assert table.row("C", "held, awaited_role") == (None, "tech_lead")
    assert table.decisions("group_id, cause")[-1] == ("C", "slot")


# Counting


@pytest.mark.parametrize("visits", [6, 120])
def test_the_loop_guard_counts_as_far_as_the_workflow_says(visits: int) -> None:
    table = changed("A", loop_guard={"max_visits": visits})
    table.plan()
    for _ in range(visits - 1):
        assert table.says("developer", "PARTIAL", "A")["next_agent"] == "developer"
    assert table.says("developer", "PARTIAL", "A")["next_agent"] == "tech_lead"


def test_others_refusals_do_not_hide_those_of_the_open_turn() -> None:
    table = Table("A", plan=True)
    for _ in range(5):
        table.refused("developer", "DONE", "A")
    for _ in range(120):
        table.refused("qa_expert", "PASS", "A")
    with pytest.raises(Exception, match="DONE"):
        table.says("developer", "DONE", "A")
    assert table.awaited("A") == "tech_lead"


# Disabled roles


@pytest.mark.parametrize(
    ("session", "suggestion"),
    [
        pytest.param({"disabled_roles": ("developer", "sse")}, "Leave one of them out", id="nobody builds"),
        pytest.param({"disabled_roles": ("qa",)}, "Repeat with --testing-mode minimal", id="nobody tests"),
    ],
)
def test_a_session_in_which_nothing_could_be_completed_is_not_created(
    session: dict[str, Any], suggestion: str
) -> None:
    with pytest.raises(UsageError) as caught:
        operations.call(testing.memory_context(), "session create", id=SESSION, **session)
    assert (caught.value.code, caught.value.suggestion) == ("USAGE", suggestion)


def test_without_qa_testing_is_not_tightened_to_full() -> None:
    table = Table("A", plan=True, testing_mode="minimal", disabled_roles=("qa_expert",))
    given = {"id": SESSION, "mode": "full", "by": PM, "reason": "r"}
    assert table.refusal("session testing-mode", **given).code == "NOT_PERMITTED"
