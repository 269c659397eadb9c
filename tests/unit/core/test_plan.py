"""A plan as data is checked whole: every fault at once, each with its place."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core import plan
from orchestrator.errors import InvalidInput

KNOWN = plan.Known({"OLD": (), "BASE": ("OLD",)}, ("READY_FOR_QA", "MERGE_SUCCESS"))


def group(**more: Any) -> dict[str, Any]:
    return {"plan": {"groups": [{"id": "A", **more}]}}


def criterion(**more: Any) -> dict[str, Any]:
    return {"plan": {"criteria": [{"id": "C1", "text": "it works", **more}]}}


def places(details: dict[str, Any]) -> list[str]:
    """Where the faults of a plan are."""
    with pytest.raises(InvalidInput) as caught:
        plan.read(details, KNOWN)
    assert caught.value.code == "METADATA_INVALID"
    return [each["path"] for each in caught.value.data["problems"]]


ROOT = "$.details.plan"
FIRST = f"{ROOT}.groups[0]"
OWN = f"{ROOT}.criteria[0]"
FAULTS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("no object", {"plan": [1]}, [ROOT]),
    ("a text", {"plan": "A and B"}, [ROOT]),
    ("empty", {"plan": {}}, [ROOT]),
    ("empty lists", {"plan": {"groups": [], "criteria": []}}, [ROOT]),
    ("null", {"plan": None}, [ROOT]),
    ("unknown key", {"plan": {"groups": [{"id": "A"}], "gruops": []}}, [f"{ROOT}.gruops"]),
    ("groups no list", {"plan": {"groups": {"id": "A"}}}, [f"{ROOT}.groups"]),
    ("group no object", {"plan": {"groups": ["A"]}}, [FIRST]),
    ("group without id", {"plan": {"groups": [{"name": "x"}]}}, [f"{FIRST}.id"]),
    ("bad id", {"plan": {"groups": [{"id": "a b"}]}}, [f"{FIRST}.id"]),
    ("id no text", {"plan": {"groups": [{"id": 7}]}}, [f"{FIRST}.id"]),
    ("id twice", {"plan": {"groups": [{"id": "A"}, {"id": "A"}]}}, [f"{ROOT}.groups[1].id"]),
    ("unknown key of a group", group(depends=["B"]), [f"{FIRST}.depends"]),
    ("name no text", group(name=["x"]), [f"{FIRST}.name"]),
    ("description no text", group(description={}), [f"{FIRST}.description"]),
    ("kind", group(kind="docs"), [f"{FIRST}.kind"]),
    ("complexity too high", group(complexity=11), [f"{FIRST}.complexity"]),
    ("complexity too low", group(complexity=0), [f"{FIRST}.complexity"]),
    ("complexity a fraction", group(complexity=2.5), [f"{FIRST}.complexity"]),
    ("complexity true", group(complexity=True), [f"{FIRST}.complexity"]),
    ("priority", group(priority="hihg"), [f"{FIRST}.priority"]),
    ("security a text", group(security_sensitive="yes"), [f"{FIRST}.security_sensitive"]),
    ("dependency no list", group(depends_on="B"), [f"{FIRST}.depends_on"]),
    ("dependency no text", group(depends_on=[3]), [f"{FIRST}.depends_on[0]"]),
    ("unknown dependency", group(depends_on=["NONE"]), [f"{FIRST}.depends_on[0]"]),
    ("depends on itself", group(depends_on=["A"]), [f"{FIRST}.depends_on[0]"]),
    (
        "cycle",
        {"plan": {"groups": [{"id": "A", "depends_on": ["B"]}, {"id": "B", "depends_on": ["A"]}]}},
        [f"{FIRST}.depends_on"],
    ),
    ("criteria no list", group(criteria={}), [f"{FIRST}.criteria"]),
    ("criterion of a group", group(criteria=[{"id": "C1"}]), [f"{FIRST}.criteria[0].text"]),
    (
        "criterion twice",
        {"plan": {"groups": [{"id": "A", "criteria": [{"id": "C", "text": "x"}]}], "criteria": [
            {"id": "C", "text": "y"}]}},
        [f"{OWN}.id"],
    ),
    ("criterion without id", {"plan": {"criteria": [{"text": "x"}]}}, [f"{OWN}.id"]),
    ("blank text", {"plan": {"criteria": [{"id": "C1", "text": " "}]}}, [f"{OWN}.text"]),
    ("unknown key of a criterion", criterion(metrics="x"), [f"{OWN}.metrics"]),
    ("half a measure", criterion(metric="coverage"), [f"{OWN}.operator", f"{OWN}.target"]),
    ("operator", criterion(metric="coverage", operator=">=", target=1), [f"{OWN}.operator"]),
    ("target no number", criterion(metric="coverage", operator="ge", target="much"), [f"{OWN}.target"]),
    ("target true", criterion(metric="coverage", operator="ge", target=True), [f"{OWN}.target"]),
    ("command a text", criterion(command="pytest -q"), [f"{OWN}.command"]),
    ("command empty", criterion(command=[]), [f"{OWN}.command"]),
    ("command blank", criterion(command=[" "]), [f"{OWN}.command"]),
    ("command no texts", criterion(command=["pytest", 1]), [f"{OWN}.command[1]"]),
    ("command too long", criterion(command=["x" * (plan.COMMAND_LIMIT + 1)]), [f"{OWN}.command"]),
    ("due at nothing known", criterion(command=["true"], at=["READY"]), [f"{OWN}.at[0]"]),
    ("due without a command", criterion(at=["READY_FOR_QA"]), [f"{OWN}.at"]),
    ("alias: an unknown key", {"task_groups": [{"id": "A", "titel": "x"}]}, ["$.details.task_groups[0].titel"]),
    ("alias: mixed", {"task_groups": [{"id": "A"}, "B"]}, ["$.details.task_groups[1]"]),
    ("two plans", {"plan": {"groups": [{"id": "A"}]}, "task_groups": [{"id": "B"}]}, ["$.details.task_groups"]),
    ("looks like one", {"plans": {"groups": [{"id": "A"}]}}, ["$.details.plans"]),
    ("in capitals", {"Plan": {"groups": []}}, ["$.details.Plan"]),
    ("groups beside", {"plan": {"groups": [{"id": "A"}]}, "groups": [{"id": "B"}]}, ["$.details.groups"]),
    (
        "everything at once",
        {"plan": {"groups": [{"id": "a b", "kind": "x"}, {"id": "B", "priority": "x"}], "criteria": [{"id": "C"}]}},
        [f"{FIRST}.id", f"{FIRST}.kind", f"{ROOT}.groups[1].priority", f"{OWN}.text"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("details", "found"), [pytest.param(*row[1:], id=row[0]) for row in FAULTS])
def test_every_fault_of_a_plan_is_named_with_its_place(details: dict[str, Any], found: list[str]) -> None:
    assert places(details) == found


CARRIES_NONE: list[dict[str, Any]] = [
    {}, {"task_groups": ["A", "B"]}, {"task_groups": []}, {"task_groups": "two"}, {"note": {"groups": []}},
    {"planning": "in words"}, {"place": {"groups": []}},
]  # fmt: skip


@pytest.mark.parametrize("details", CARRIES_NONE, ids=str)
def test_what_is_no_plan_is_left_alone(details: dict[str, Any]) -> None:
    assert plan.read(details, KNOWN) is None


def test_a_plan_is_read_with_its_defaults() -> None:
    found = plan.read({"plan": {"groups": [{"id": "A"}]}}, KNOWN)
    assert found is not None
    (first,) = found.groups
    assert first == plan.Group("A", "A", None, "code", 3, "medium", False, (), frozenset(("id",)), FIRST)


def test_everything_that_a_plan_can_say_is_read() -> None:
    measured = {"id": "C1", "text": "covered", "metric": "coverage", "operator": "ge", "target": 80.5}
    run = {"id": "C2", "text": "tests pass", "command": ["pytest", "-q"], "at": ["ready-for-qa", "MERGE_SUCCESS"]}
    details = {"plan": {
        "groups": [
            {"id": "A", "name": " Login ", "description": "the form", "kind": "research", "complexity": 8,
             "priority": "high", "security_sensitive": True, "depends_on": ["B", "OLD", "B"], "criteria": [measured]},
            {"id": "B"},
        ],
        "criteria": [run],
    }}  # fmt: skip
    found = plan.read(details, KNOWN)
    assert found is not None
    a, b = found.groups
    assert (a.name, a.description, a.kind, a.complexity, a.priority) == ("Login", "the form", "research", 8, "high")
    assert (a.security_sensitive, a.depends_on, b.depends_on) == (True, ("B", "OLD"), ())
    assert found.criteria == (
        plan.Criterion("C1", "covered", "coverage", "ge", "80.5", None, (), "A"),
        plan.Criterion("C2", "tests pass", None, None, None, ("pytest", "-q"), ("READY_FOR_QA", "MERGE_SUCCESS"), None),
    )


def test_the_peers_key_is_read_as_the_groups_of_a_plan() -> None:
    found = plan.read({"task_groups": [{"id": "A", "name": "Login"}]}, KNOWN)
    assert found is not None
    assert [(each.id, each.name, each.path) for each in found.groups] == [("A", "Login", "$.details.task_groups[0]")]


def test_a_near_miss_says_what_was_probably_meant() -> None:
    with pytest.raises(InvalidInput) as caught:
        plan.read({"plan": {"groups": [{"id": "A", "prioritty": "high"}, {"id": "B", "priority": "urgnet"}]}}, KNOWN)
    first, second = (each["message"] for each in caught.value.data["problems"])
    assert (first, second) == (
        "is unknown; did you mean priority?",
        "must be urgent, high, medium or low, not 'urgnet'; did you mean urgent?",
    )
    assert "(2 problems)" in caught.value.message
