"""A breadth-first search through the states of one setting, and what its graph says about ends and loops."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from orchestrator.app.proof import proving_moves, proving_state
from orchestrator.app.proof.proving_moves import SMALL, AtWork, Setting
from orchestrator.app.proof.proving_state import Fault, Key, State
from orchestrator.app.proof.proving_world import Move, World
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import OrchestratorError


class Edge(NamedTuple):
    """A move from one state to another, by their numbers."""

    move: Move
    target: int


class Node(NamedTuple):
    """A state as it was first reached; `parent` is None for the first one."""

    key: Key
    parent: int | None
    move: Move | None
    depth: int
    good: bool


class Finding(NamedTuple):
    """An invariant that does not hold after these moves, which a world under the same setting accepts."""

    fault: Fault
    moves: tuple[Move, ...]
    cause: str


class Search:
    """What was searched: nodes in the order in which they were reached, and where those that were expanded lead.

    Args:
        reduced: whether under the small reach a group that agents pass on to each other is gone on with alone (see
            `proving_moves.working`).
    """

    def __init__(self, world: World, setting: Setting, *, reduced: bool = True) -> None:
        self.world = world
        self.setting = setting
        self.reduced = reduced and setting.reach == SMALL
        self.alike = setting.alike()
        self.nodes: list[Node] = []
        self.numbers: dict[Key, int] = {}
        self.edges: dict[int, list[Edge]] = {}
        self.findings: dict[tuple[str, str], Finding] = {}
        self.broken: set[int] = set()
        self.complete = False
        self.cut: str | None = None
        self._seen: State | None = None

    def run(self, states: int, seconds: float) -> None:
        """Search as far as so many states or seconds allow."""
        until = time.monotonic() + seconds
        state = self._begin()
        queue = deque([self._reach(state, None, None)])
        while queue and len(self.nodes) < states and time.monotonic() < until:
            number = queue.popleft()
            queue.extend(self._expand(number))
        self.complete = not queue
        if queue:
            self.cut = "states" if len(self.nodes) >= states else "seconds"

    def open(self) -> int:
        """How many states were reached and not gone on from."""
        return len(self.nodes) - len(self.edges)

    def depth(self) -> int:
        """Up to how many moves from the beginning everything was tried."""
        depths = [node.depth for number, node in enumerate(self.nodes) if number not in self.edges]
        return min(depths) if depths else max(node.depth for node in self.nodes)

    def _begin(self) -> State:
        self.world.go([])
        for op in self.setting.beginning():
            code = self.world.advance(Move(op))
            if code is not None:
                raise AssertionError(f"{op.line()} is refused with {code}")
        self.start = list(self.world.path)
        return proving_state.read(self.world)

    def _reach(self, state: State, parent: int | None, move: Move | None) -> int:
        key = proving_state.key(state, self.alike)
        self.numbers[key] = len(self.nodes)
        depth = 0 if parent is None else self.nodes[parent].depth + 1
        self.nodes.append(Node(key, parent, move, depth, state.good))
        return self.numbers[key]

    def _expand(self, number: int) -> Iterator[int]:
        self.world.go(self.moves_to(number))
        state = proving_state.read(self.world)
        edges = self.edges[number] = list[Edge]()
        if state.final:
            return
        at_work = proving_moves.working(self.world, state, self.setting) if self.reduced else None
        tried: tuple[Move, ...] = ()
        if at_work is not None:
            tried = at_work.moves
            new, alone = self._go_on(number, at_work, edges)
            yield from new
            # Where all of it leads back to what was gone on from already, the rest would never be tried.
            if alone and any(edge.target not in self.edges for edge in edges):
                return
        for move in list(proving_moves.moves(self.world, state, self.setting)):
            reached = None if move in tried else self._try(number, move, edges)
            if reached is not None:
                yield reached

    def _go_on(self, number: int, at_work: AtWork, edges: list[Edge]) -> tuple[list[int], bool]:
        """Go on in one group.

        Returns:
            The new states, and whether nothing else moved as long as an agent has the group.
        """
        new: list[int] = []
        alone = True
        for move in at_work.moves:
            self._seen = None
            reached = self._try(number, move, edges)
            if reached is not None:
                new.append(reached)
            if self._seen is not None and at_work.has(self._seen):
                alone &= proving_state.others(self._seen, at_work.group) == at_work.others
        return new, alone

    def _try(self, number: int, move: Move, edges: list[Edge]) -> int | None:
        """Make one move; the number of the state that it leads to, if that is new and worth going on from."""
        try:
            if self.world.attempt(move) is not None:
                return None
        except OrchestratorError:
            raise
        except Exception as error:
            self.broken.add(number)
            self._note(number, move, [Fault("crash", f"{type(error).__name__}: {error}")])
            return None
        state = self._seen = proving_state.read(self.world)
        known = self.numbers.get(proving_state.key(state, self.alike))
        # A known state too: what an invariant says may rest on more than what goes on from here.
        wrong = proving_state.faults(self.world, state)
        self.world.undo()
        if wrong:
            self._note(number, move, wrong)
            self.broken.add(number)
            return None
        reached = self._reach(state, number, move) if known is None else known
        edges.append(Edge(move, reached))
        return reached if known is None else None

    def _note(self, number: int, move: Move, wrong: Iterable[Fault]) -> None:
        cause = cause_of(move)
        for fault in wrong:
            place = (fault.invariant, cause)
            self.findings.setdefault(place, Finding(fault, (*self.moves_to(number), move), cause))

    def moves_to(self, number: int) -> list[Move]:
        """The moves of a shortest way to a state, the session's beginning included."""
        found: list[Move] = []
        node = self.nodes[number]
        while node.parent is not None and node.move is not None:
            found.append(node.move)
            node = self.nodes[node.parent]
        return [*self.start, *reversed(found)]



def cause_of(move: Move) -> str:
    """What a move is, in words: who reports what, or which move by hand."""
    given = move.op.arguments
    if move.op.words == "route":
        return f"{given['current_agent']} {given['status']}"
    return f"{move.op.words} {given.get('status') or given.get('decision') or ''}".rstrip()


def stuck(search: Search) -> list[int]:
    """The states from which those who are awaited reach no end, question or verdict, unless the loop guard helps.

    States that were not expanded, and those from which a move breaks an invariant, count as leading to an end.
    """
    sources: dict[int, list[int]] = {}
    for source, edges in search.edges.items():
        for move, target in edges:
            if move.awaited and not move.limit.rung:
                sources.setdefault(target, []).append(source)
    ended = {n for n, node in enumerate(search.nodes) if node.good or n not in search.edges}
    good = _closure(ended | search.broken, sources)
    return [number for number in search.edges if number not in good]


def _closure(start: set[int], leads: dict[int, list[int]]) -> set[int]:
    found, queue = set(start), deque(start)
    while queue:
        for each in leads.get(queue.popleft(), ()):
            if each not in found:
                found.add(each)
                queue.append(each)
    return found


def way(search: Search, source: int, target: int, allowed: Callable[[Edge], bool]) -> list[Edge] | None:
    """A shortest way of one edge or more between two states, along allowed edges; None where there is none."""
    came: dict[int, tuple[int, Edge]] = {}
    queue = deque([source])
    while queue:
        here = queue.popleft()
        for edge in search.edges.get(here, ()):
            if edge.target in came or not allowed(edge):
                continue
            came[edge.target] = (here, edge)
            if edge.target == target:
                return _traced(came, source, target)
            queue.append(edge.target)
    return None


def _traced(came: dict[int, tuple[int, Edge]], source: int, target: int) -> list[Edge]:
    here, edge = came[target]
    found = [edge]
    while here != source:
        here, edge = came[here]
        found.append(edge)
    return found[::-1]
