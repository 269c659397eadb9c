"""A breadth-first search through the states of one setting, and what its graph says about ends and loops."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from orchestrator.app.prover import move_memory, possible_moves, search_state
from orchestrator.app.prover.move_memory import Memory, Outcome
from orchestrator.app.prover.possible_moves import SMALL, AtWork, Setting
from orchestrator.app.prover.sandbox import Move, World
from orchestrator.app.prover.search_state import Fault, Key, Place
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import free_slots
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
    place: Place


class Finding(NamedTuple):
    """An invariant that does not hold after these moves, which a world under the same setting accepts."""

    fault: Fault
    moves: tuple[Move, ...]
    cause: str


AGAIN = 200
"""Of so many outcomes that are remembered, one is made again."""


class _Contradiction(Exception):
    """What was remembered is not what happens."""


class Search:
    """What was searched: nodes in the order in which they were reached, and where those that were expanded lead.

    Args:
        reduced: whether under the small reach a group that agents pass on to each other is gone on with alone (see
            `possible_moves.working`).
    """

    def __init__(self, world: World, setting: Setting, *, reduced: bool = True, remembers: bool = True) -> None:
        self.world = world
        self.setting = setting
        self.reduced = reduced and setting.reach == SMALL
        # What is whole in the eyes of every move is never met again.
        self.remembers = remembers and len(setting.groups) > 1
        self.alike = setting.alike()
        self._forget()

    def _forget(self) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[Key, int] = {}
        self.edges: dict[int, list[Edge]] = {}
        self.findings: dict[tuple[str, str], Finding] = {}
        self.broken: set[int] = set()
        self.complete = False
        self.cut: str | None = None
        self.made = 0
        self.recalled = 0
        self._memory = Memory()
        self._stands: int | None = None
        self._said: set[str] = set()

    def run(self, states: int, seconds: float) -> None:
        """Search as far as so many states or seconds allow."""
        until = time.monotonic() + seconds
        try:
            self._run(states, until)
        except _Contradiction:
            self.remembers = False
            self._forget()
            self._run(states, until)

    def _run(self, states: int, until: float) -> None:
        queue = deque([self._reach(self._begin(), None, None)])
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

    def _begin(self) -> Place:
        self.world.go([])
        for op in self.setting.beginning():
            code = self.world.advance(Move(op))
            if code is not None:
                raise AssertionError(f"{op.line()} is refused with {code}")
        self.start = list(self.world.path)
        return search_state.place(search_state.read(self.world))

    def _reach(self, place: Place, parent: int | None, move: Move | None) -> int:
        key = place.key(self.alike)
        self.numbers[key] = len(self.nodes)
        depth = 0 if parent is None else self.nodes[parent].depth + 1
        self.nodes.append(Node(key, parent, move, depth, place.state.good, place))
        return self.numbers[key]

    def _expand(self, number: int) -> Iterator[int]:
        state = self.nodes[number].place.state
        edges = self.edges[number] = list[Edge]()
        if state.final:
            return
        at_work = possible_moves.working(self.world, state, self.setting) if self.reduced else None
        tried: tuple[Move, ...] = ()
        if at_work is not None:
            tried = at_work.moves
            new, alone = self._go_on(number, at_work, edges)
            yield from new
            # Where all of it leads back to what was gone on from already, the rest would never be tried.
            if alone and any(edge.target not in self.edges for edge in edges):
                return
        for move in list(possible_moves.moves(self.world, state, self.setting)):
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
        place = self.nodes[number].place
        for move in at_work.moves:
            reached = self._try(number, move, edges)
            if reached is not None:
                new.append(reached)
            outcome = self._outcome(number, move)
            if outcome.session is not None and at_work.has(outcome.lead(place).state):
                alone &= outcome.rest == place.rest and {each.marks.id for each in outcome.changed} <= {at_work.group}
        return new, alone

    def _try(self, number: int, move: Move, edges: list[Edge]) -> int | None:
        """Make one move; the number of the state that it leads to, if that is new and worth going on from."""
        outcome = self._outcome(number, move)
        if outcome.refused:
            return None
        if outcome.faults:
            self._note(number, move, outcome.faults)
            self.broken.add(number)
            return None
        place = outcome.lead(self.nodes[number].place)
        known = self.numbers.get(place.key(self.alike))
        reached = self._reach(place, number, move) if known is None else known
        edges.append(Edge(move, reached))
        return reached if known is None else None

    def _outcome(self, number: int, move: Move) -> Outcome:
        """What a move leads to: what is remembered of it, else what it does."""
        place = self.nodes[number].place
        known = self._memory.recall(place, move) if self.remembers else None
        if known is not None:
            self.recalled += 1
            if self.recalled % AGAIN == 0 and not self._make(number, move).alike(known, place):
                raise _Contradiction
            return known
        self.made += 1
        known = self._make(number, move)
        if self.remembers:
            limit = free_slots.limit(self.world.version.workflow, place.state.session)
            level = move_memory.level(self._said, place, move, known, limit)
            self._memory.keep(place, move, known, level)
        return known

    def _make(self, number: int, move: Move) -> Outcome:
        """Make one move in the database."""
        before = self.nodes[number].place
        if self._stands != number:
            self.world.go(self.moves_to(number))
            self._stands = number
            if search_state.place(search_state.read(self.world))[1:] != before[1:]:
                raise _Contradiction
        said = self.world.connection.said
        said.clear()
        try:
            refused = self.world.attempt(move) is not None
            self._said = set(said)
            if refused:
                return move_memory.REFUSED
        except OrchestratorError:
            raise
        except Exception as error:
            self._said = set(said)
            return move_memory.REFUSED._replace(faults=(Fault("crash", f"{type(error).__name__}: {error}"),))
        state = search_state.read(self.world)
        # Of a known state too: what an invariant says may rest on more than what goes on from here.
        wrong = search_state.faults(self.world, state)
        self.world.undo()
        return move_memory.outcome(before, search_state.place(state), move, wrong)

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
