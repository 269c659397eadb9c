"""P13: a subtask exists when the runner approved it, and not before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import decomposition
from orchestrator.core.running.decomposition import Change, Plan
from orchestrator.errors import Refused

AT = "2025-01-01T00:00:00.000Z"
ADD = Change("add", "t2", "agent", "Write tests")
PLAN = Plan({"t1": "Create"})


def approved(plan: Plan, *changes: Change) -> Plan:
    for change in changes:
        plan = decomposition.approve(decomposition.propose(plan, change), change, by="runner", at=AT)
    return plan


def test_p13_a_proposal_makes_no_subtask() -> None:
    proposed = decomposition.propose(PLAN, ADD)
    assert (proposed.tasks, proposed.proposed, proposed.evidence) == ({"t1": "Create"}, (ADD,), ())


def test_p13_an_approved_subtask_exists_and_has_its_evidence() -> None:
    plan = approved(PLAN, ADD)
    record = {
        "kind": "decomposition", "action": "add", "task": "t2", "by": "agent", "text": "Write tests",
        "approved_by": "runner", "at": AT,
    }  # fmt: skip
    assert plan == Plan({"t1": "Create", "t2": "Write tests"}, (), (record,))


def test_p13_subtasks_are_altered_and_removed_by_approval() -> None:
    plan = approved(PLAN, ADD, Change("alter", "t1", "agent", "Create it"), Change("remove", "t2", "agent"))
    assert (plan.tasks, [each["action"] for each in plan.evidence]) == ({"t1": "Create it"}, ["add", "alter", "remove"])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(Change("add", "t1", "agent"), id="add what exists"),
        pytest.param(Change("alter", "t2", "agent"), id="alter what does not"),
        pytest.param(Change("remove", "t2", "agent"), id="remove what does not"),
        pytest.param(Change("split", "t1", "agent"), id="unknown action"),
    ],
)
def test_p13_a_proposal_has_to_fit_the_plan(change: Change) -> None:
    with pytest.raises(Refused) as problem:
        decomposition.propose(PLAN, change)
    assert problem.value.code == "E205"


@pytest.mark.parametrize(("proposed", "by"), [(True, "agent"), (True, ""), (False, "runner")])
def test_p13_the_runner_alone_approves_what_was_proposed(proposed: bool, by: str) -> None:
    plan = decomposition.propose(PLAN, ADD) if proposed else PLAN
    with pytest.raises(Refused) as problem:
        decomposition.approve(plan, ADD, by=by, at=AT)
    assert (problem.value.code, problem.value.data["status"]) == ("E205", "INVALID")


@pytest.mark.parametrize(
    ("found", "tasks"),
    [
        pytest.param({"t1": "Create", "t2": "More"}, ["t2"], id="a subtask of its own"),
        pytest.param({"t1": "Something else"}, ["t1"], id="changed"),
        pytest.param({}, ["t1"], id="left out"),
        pytest.param({"t3": "x", "t1": "y"}, ["t1", "t3"], id="all are named"),
    ],
)
def test_p13_subtasks_that_nobody_approved_are_invalid(found: dict[str, str], tasks: list[str]) -> None:
    with pytest.raises(Refused) as problem:
        decomposition.check(PLAN, found)
    assert (problem.value.code, problem.value.data) == ("E205", {"tasks": tasks, "status": "INVALID"})


def test_p13_the_plan_as_approved_is_worked_on() -> None:
    assert decomposition.check(PLAN, {"t1": "Create"}) is None  # type: ignore[func-returns-value]


actions = st.sampled_from(["add", "alter", "remove", "x"])
changes = st.builds(Change, actions, st.sampled_from("ab"), st.just("agent"), st.text())


def moved(plan: Plan, change: Change, move: str) -> Plan:
    if move == "propose":
        return decomposition.propose(plan, change)
    return decomposition.approve(plan, change, by=move, at=AT)


@given(st.lists(st.tuples(changes, st.sampled_from(["propose", "runner", "agent"]))))
def test_p13_each_change_of_the_tasks_has_one_record(steps: list[tuple[Change, str]]) -> None:
    plan = Plan({})
    for change, move in steps:
        before = plan
        try:
            plan = moved(plan, change, move)
        except Refused:
            continue
        grew = len(plan.evidence) - len(before.evidence)
        assert (plan.tasks == before.tasks or grew == 1, grew) == (True, int(move == "runner"))
