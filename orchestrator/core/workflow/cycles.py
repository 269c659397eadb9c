"""Cycles among edges: the strongly connected parts, and a short cycle of each to show.

Cold module.
"""

from __future__ import annotations

from collections import deque

from orchestrator.core.workflow import edges
from orchestrator.core.workflow.edges import Edge


def components(given: tuple[Edge, ...]) -> list[tuple[Edge, ...]]:
    """The edges of each strongly connected part that holds a cycle, in the order of the first edge."""
    forth = {role: edges.reach((role,), given) for role in dict.fromkeys(edge.source for edge in given)}
    parts: dict[frozenset[str], list[Edge]] = {}
    for edge in given:
        if edge.source in forth.get(edge.target, ()):
            mutual = frozenset(role for role in forth[edge.source] if edge.source in forth.get(role, ()))
            parts.setdefault(mutual, []).append(edge)
    return [tuple(part) for part in parts.values()]


def shortest(component: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """A shortest cycle through more than one role, else through one."""
    several = tuple(edge for edge in component if edge.source != edge.target)
    found = [cycle for edge in several if (cycle := _back(edge, several))]
    return min(found, key=len) if found else component[:1]


def _back(first: Edge, given: tuple[Edge, ...]) -> tuple[Edge, ...]:
    queue: deque[tuple[Edge, ...]] = deque([(first,)])
    seen = {first.target}
    while queue:
        path = queue.popleft()
        for edge in given:
            if edge.source != path[-1].target:
                continue
            if edge.target == first.source:
                return (*path, edge)
            if edge.target not in seen:
                seen.add(edge.target)
                queue.append((*path, edge))
    return ()
