"""From what a search found to what really happens: the same moves with counters as they are recorded.

Where a search let a counter stand at its limit, the report is given again and again here, with a way back between,
until the counter is really there.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator

from orchestrator.app.prover import search_state, state_search
from orchestrator.app.prover.sandbox import ANSWER, BELOW, Move, World
from orchestrator.app.prover.state_search import Edge, Search
from orchestrator.core.workflow.model import Rules

MOST_ROUNDS = 60
"""So often a report is given again, at most, to bring a counter to its limit."""
MOST_STARTS = 8
"""States from which circles through one kind of move are looked for."""
MOST_CIRCLES = 500
"""Rounds of one loop, by which some counter of it must long have reached its last rung."""


class Path:
    """A way through an exact world along the states of a search."""

    def __init__(self, world: World, search: Search) -> None:
        self.world = world
        self.search = search
        world.go(search.start)

    def step(self, move: Move) -> bool:
        """Make a move; whether it is accepted."""
        return self.world.advance(move) is None

    def here(self) -> int | None:
        """The number of the search's state that the world stands in."""
        return self.search.numbers.get(search_state.key(search_state.read(self.world), self.search.alike))

    def follow(self, edges: list[Edge]) -> bool:
        """Go along edges; whether each leads where the search says."""
        return all(self.step(edge.move) and self.here() == edge.target for edge in edges)

    def until(self, move: Move, source: int | None, done: Callable[[], bool]) -> bool:
        """Make a move until something holds, going back to the state that it was first made in in between."""
        for _ in range(most_rounds(self.world.version.workflow.rules)):
            if not self.step(move):
                return False
            if done():
                return True
            here = self.here()
            if here is None or source is None:
                return False
            back = state_search.way(self.search, here, source, _plain)
            if here != source and (back is None or not self.follow(back)):
                return False
        return False

    def broken(self, invariant: str) -> bool:
        """Whether an invariant is broken here."""
        return any(fault.invariant == invariant for fault in self.faults())

    def faults(self) -> list[search_state.Fault]:
        """What is wrong here."""
        return search_state.faults(self.world, search_state.read(self.world))


def _plain(edge: Edge) -> bool:
    """Whether an edge needs neither a counter at its limit nor a person."""
    return edge.move.limit == BELOW and edge.move.op.words != ANSWER


def most_rounds(given: Rules) -> int:
    """So often a report can come back before every counter of it must have reached its limit."""
    visits = given.loop_max_visits + len(given.loop_on_exhausted)
    return min(MOST_ROUNDS, max(visits, 4 * given.escalation_threshold, given.investigation_max_iterations) + 2)


def confirm(world: World, search: Search, moves: tuple[Move, ...], invariant: str | None) -> list[Move] | None:
    """The moves that really lead where a search's moves lead; None where the counters do not get there.

    Args:
        world: an exact world under the search's workflow.
        moves: from the session's beginning.
        invariant: what must be broken at the end; None where arriving is enough.
    """
    path = Path(world, search)
    rest = moves[len(search.start) :]
    ways, last = (rest, ()) if invariant is None else (rest[:-1], rest[-1:])
    here = 0
    for move in ways:
        target = next((edge.target for edge in search.edges.get(here, ()) if edge.move is move), None)
        if target is None or not path.until(move, here, functools.partial(_stands, path, target)):
            return None
        here = target
    if not last or invariant is None:
        return list(world.path)
    try:
        shown = path.until(last[0], here, functools.partial(path.broken, invariant))
    except Exception:
        return [*world.path, last[0]] if invariant == "crash" else None
    return list(world.path) if shown else None


def _stands(path: Path, target: int) -> bool:
    return path.here() == target


def loops(world: World, search: Search) -> Iterator[tuple[str, list[Move]]]:
    """Loops that go on for ever without a person: in words, and the moves that show it.

    For each kind of move that lies on a circle the shortest such circle is gone round and round with exact counters,
    with a way back to it wherever a rung leads elsewhere, until nothing leads back, a person is asked, or everything
    is as it was once before, all counters included.
    """
    found: list[set[str]] = []
    for there, circle, start in _circles(search):
        names = [state_search.cause_of(edge.move) for edge in circle]
        # A loop with more on the way round says nothing new.
        if any(each <= set(names) for each in found):
            continue
        path = Path(world, search)
        if path.follow(there) and _endless(path, circle, start):
            found.append(set(names))
            what = f"{', '.join(names)}: for ever, with all counters where they were, and no person is asked"
            yield what, list(world.path)


def _endless(path: Path, circle: list[Edge], start: int) -> bool:
    seen = set()
    for _ in range(MOST_CIRCLES):
        state = search_state.read(path.world)
        now = search_state.key(state, path.search.alike)
        if path.search.numbers.get(now) != start:
            return False
        whole = search_state.exact(path.world, now)
        if whole in seen:
            return True
        seen.add(whole)
        if not _round(path, circle, start):
            return False
    return False


def _round(path: Path, circle: list[Edge], start: int) -> bool:
    """Go round once, or as far as it goes and back; whether the start is reached again."""
    for edge in circle:
        accepted = path.step(edge.move)
        here = path.here()
        if here != edge.target or not accepted:
            back = None if here is None else state_search.way(path.search, here, start, _plain)
            return accepted and (here == start or (back is not None and path.follow(back)))
    return True


def _circles(search: Search) -> Iterator[tuple[list[Edge], list[Edge], int]]:
    """A way to, and the shortest circle through, each kind of move from each of the first states that it is made in."""
    tried: Counter[tuple[str, str]] = Counter()
    known: set[frozenset[str]] = set()
    for source, edges in search.edges.items():
        there = [] if source == 0 else state_search.way(search, 0, source, _plain)
        for edge in edges:
            cause = (state_search.cause_of(edge.move), str(search.nodes[source].key[5][0][1]))
            if there is None or tried[cause] == MOST_STARTS or not _plain(edge) or search.nodes[source].good:
                continue
            back = [] if edge.target == source else state_search.way(search, edge.target, source, _plain)
            if back is None:
                continue
            tried[cause] += 1
            names = frozenset(state_search.cause_of(each.move) for each in (edge, *back))
            if names not in known:
                known.add(names)
                yield there, [edge, *back], source
