"""Rings over tasks, their parts, groups and their dependencies."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import task_graph


class Plan:
    """A graph as plain tables."""

    def __init__(
        self,
        depends: dict[str, list[str]] | None = None,
        parents: dict[str, str] | None = None,
        groups: dict[str, str] | None = None,
        group_depends: dict[str, list[str]] | None = None,
    ) -> None:
        self._depends, self._parents = depends or {}, parents or {}
        self._groups, self._group_depends = groups or {}, group_depends or {}
        self.asked = 0

    def depends(self, task: str) -> Sequence[str]:
        self.asked += 1
        return self._depends.get(task, [])

    def children(self, task: str) -> Sequence[str]:
        return [child for child, parent in self._parents.items() if parent == task] if self._parents else []

    def place(self, task: str) -> tuple[str | None, str | None]:
        return self._parents.get(task), self._groups.get(task)

    def group_depends(self, group: str) -> Sequence[str]:
        return self._group_depends.get(group, [])

    def members(self, group: str) -> Sequence[str]:
        return [task for task, place in self._groups.items() if place == group and task not in self._parents]


RINGS = [
    ("two tasks", Plan({"B": ["A"]}), "A", "B", ["A", "B", "A"]),
    ("three tasks", Plan({"A": ["B"], "B": ["C"]}), "C", "A", ["C", "A", "B", "C"]),
    ("a part waits for who waits for its whole", Plan({"X": ["P"]}, {"C": "P"}), "C", "X", ["C", "X", "P", "C"]),
    ("a whole waits for who waits for its part", Plan({"X": ["C"]}, {"C": "P"}), "P", "X", ["P", "X", "C", "P"]),
    (
        "a part of a part",
        Plan({"X": ["P"]}, {"C": "P", "D": "C"}),
        "D",
        "X",
        ["D", "X", "P", "C", "D"],
    ),
    (
        "a task and the group that waits for its group",
        Plan({}, {}, {"t1": "G1", "t2": "G2"}, {"G2": ["G1"]}),
        "t1",
        "t2",
        ["t1", "t2", "group G2", "group G1", "t1"],
    ),
    (
        "a part, through its whole's group",
        Plan({}, {"c1": "t1"}, {"t1": "G1", "c1": "G1", "t2": "G2"}, {"G2": ["G1"]}),
        "c1",
        "t2",
        ["c1", "t2", "group G2", "group G1", "t1", "c1"],
    ),
]
NO_RINGS = [
    ("nothing in the way", Plan(), "A", "B"),
    ("the same direction", Plan({"B": ["C"]}), "A", "B"),
    ("siblings", Plan({}, {"C": "P", "D": "P"}), "C", "D"),
    ("two of one group", Plan({}, {}, {"A": "G", "B": "G"}), "A", "B"),
    ("the direction of the groups", Plan({}, {}, {"t1": "G1", "t2": "G2"}, {"G2": ["G1"]}), "t2", "t1"),
    ("a diamond", Plan({"A": ["B", "C"], "B": ["D"], "C": ["D"]}), "A", "D"),
]


@pytest.mark.parametrize(("plan", "task", "on", "ring"), [row[1:] for row in RINGS], ids=[row[0] for row in RINGS])
def test_an_edge_that_closes_a_ring_is_found_with_the_ring(plan: Plan, task: str, on: str, ring: list[str]) -> None:
    assert task_graph.ring_of_task(plan, task, on) == ring


@pytest.mark.parametrize(("plan", "task", "on"), [row[1:] for row in NO_RINGS], ids=[row[0] for row in NO_RINGS])
def test_an_edge_that_closes_none_is_let_in(plan: Plan, task: str, on: str) -> None:
    assert task_graph.ring_of_task(plan, task, on) == []


def test_a_ring_of_groups_names_groups_alone() -> None:
    plan = Plan(group_depends={"B": ["C"], "C": ["A"]})
    assert task_graph.ring_of_group(plan, "A", "B") == ["A", "B", "C", "A"]


def test_a_ring_of_groups_runs_through_their_tasks() -> None:
    plan = Plan({"t1": ["t2"]}, {}, {"t1": "G1", "t2": "G2"})
    assert task_graph.ring_of_group(plan, "G2", "G1") == ["group G2", "group G1", "t1", "t2", "group G2"]
    assert task_graph.ring_of_group(plan, "G1", "G2") == []


@pytest.mark.parametrize("size", [5000, 100_000])
def test_a_long_chain_is_walked_without_recursion_and_each_task_once(size: int) -> None:
    plan = Plan({f"T{number}": [f"T{number + 1}"] for number in range(size)})
    ring = task_graph.ring_of_task(plan, f"T{size}", "T0")
    assert (len(ring), ring[:2], ring[-1]) == (size + 2, [f"T{size}", "T0"], f"T{size}")
    assert plan.asked <= size + 1


@pytest.mark.parametrize("layers", [24, 25_000])
def test_a_lattice_of_diamonds_is_walked_once(layers: int) -> None:
    depends = {}
    for layer in range(layers):
        depends[f"a{layer}"] = [f"b{layer}", f"c{layer}"]
        depends[f"b{layer}"] = depends[f"c{layer}"] = [f"a{layer + 1}"]
    plan = Plan(depends)
    assert task_graph.ring_of_task(plan, "new", "a0") == []
    assert plan.asked == 3 * layers + 1


_pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


@given(_pairs)
def test_edges_that_are_let_in_never_close_a_ring(pairs: list[tuple[int, int]]) -> None:
    depends: dict[str, list[str]] = {}
    for one, other in pairs:
        task, on = f"T{one}", f"T{other}"
        if one != other and not task_graph.ring_of_task(Plan(depends), task, on):
            depends.setdefault(task, []).append(on)
    left = set(depends) | {on for each in depends.values() for on in each}
    while free := {task for task in left if not left.intersection(depends.get(task, []))}:
        left -= free
    assert left == set()
