"""What stuck work waits for in the end: the roots, a dead end, a ring; each task looked at once."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.wait_graph import Look, Node, Waits, follow


def look(text: str, dead: str = "") -> Look:
    """A graph written as `A>B,C B>D`; what is not named waits for nothing."""
    edges = {name: targets.split(",") for name, _, targets in (part.partition(">") for part in text.split())}
    return lambda name: Node(edges.get(name, ()), name in dead.split())


@pytest.mark.parametrize(
    ("starts", "graph", "dead", "found"),
    [
        pytest.param("A", "", "", Waits(("A",)), id="a start that waits for nothing is a root itself"),
        pytest.param("A", "A>B B>C", "", Waits(("C",)), id="the end of a chain"),
        pytest.param("A", "A>B,C B>D C>D", "", Waits(("D",)), id="a diamond has one root"),
        pytest.param("A B", "A>X B>Y", "", Waits(("X", "Y")), id="several starts"),
        pytest.param("A", "A>B", "B", Waits((), ("A", "B")), id="a dead end"),
        pytest.param("A", "A>B,C", "B", Waits(("C",), ("A", "B")), id="a dead end beside a root"),
        pytest.param("A", "A>B,C B>X C>X", "X", Waits((), ("B", "X")), id="the first way to a dead end"),
        pytest.param("A", "A>B B>C", "B", Waits((), ("A", "B")), id="nothing is followed beyond a dead end"),
        pytest.param("A", "", "A", Waits(), id="a dead start"),
        pytest.param("A", "A>A", "", Waits(ring=("A", "A")), id="a task that waits for itself"),
        pytest.param("A", "A>B B>A", "", Waits(ring=("A", "B", "A")), id="a ring of two"),
        pytest.param("A", "A>B B>C C>B", "", Waits(ring=("B", "C", "B")), id="a ring behind a tail"),
        pytest.param("A", "A>B,X B>A", "", Waits(("X",), None, ("A", "B", "A")), id="a ring beside a root"),
        pytest.param("A", "A>B,C B>A C>A", "", Waits(ring=("A", "B", "A")), id="the first of two rings"),
    ],
)
def test_what_is_waited_for(starts: str, graph: str, dead: str, found: Waits) -> None:
    assert follow(starts.split(), look(graph, dead)) == found


def counted(graph: dict[str, list[str]]) -> tuple[Look, Counter[str]]:
    seen: Counter[str] = Counter()

    def node(name: str) -> Node:
        seen[name] += 1
        return Node(graph.get(name, ()))

    return node, seen


def chain(length: int) -> dict[str, list[str]]:
    return {str(number): [str(number + 1)] for number in range(length)}


def diamonds(layers: int) -> dict[str, list[str]]:
    """Layers of two that both depend on both below: a number of paths that doubles with each layer."""
    return {f"{layer}{side}": [f"{layer + 1}a", f"{layer + 1}b"] for layer in range(layers) for side in "ab"}


@pytest.mark.parametrize(
    ("graph", "start", "size"),
    [
        pytest.param(chain(100_000), "0", 100_001, id="a chain of 100,000"),
        pytest.param(diamonds(25_000), "0a", 50_001, id="100,000 edges in diamonds"),
    ],
)
def test_each_task_is_looked_at_once_however_many_paths_there_are(
    graph: dict[str, list[str]], start: str, size: int
) -> None:
    node, seen = counted(graph)
    found = follow([start], node)
    assert found.ring == ()
    assert (len(seen), set(seen.values())) == (size, {1})


def test_a_ring_of_5000_is_found_whole() -> None:
    graph = chain(4_999) | {"4999": ["0"]}
    found = follow(["0"], lambda name: Node(graph[name]))
    assert (len(found.ring), found.ring[0], found.ring[-1], found.roots) == (5_001, "0", "0", ())


NAMES = st.sampled_from("abcdefgh")
GRAPHS = st.dictionaries(NAMES, st.lists(NAMES, unique=True, max_size=4), max_size=8)


@given(GRAPHS, st.lists(NAMES, min_size=1, unique=True), st.sets(NAMES))
def test_something_is_always_found_and_true(graph: dict[str, list[str]], starts: list[str], dead: set[str]) -> None:
    starts = [name for name in starts if name not in dead]
    found = follow(starts, lambda name: Node(graph.get(name, ()), name in dead))
    assert not starts or found.roots or found.dead_end or found.ring
    assert all(not graph.get(name) and name not in dead for name in found.roots)
    if found.dead_end:
        waiting, end = found.dead_end
        assert end in dead
        assert end in graph[waiting]
    assert all(second in graph[first] for first, second in zip(found.ring, found.ring[1:], strict=False))
    assert len(set(found.ring[:-1])) == len(found.ring[:-1])
