"""What waits for what, over tasks and groups together: the ring that one more edge would close.

A task or group has a start and an end. An end waits for its own start and for the ends of what it contains; a start
waits for the ends of what it depends on, and for the start of what contains it. So a task waits for what its group
depends on, a group for its tasks, a task for its subtasks, and a ring over any of these is found.

Source: seed 002, pendingSubTasks の依存関係フィルタリング.
"""

from __future__ import annotations

import graphlib
from collections.abc import Callable, Mapping, Sequence

from orchestrator.hints import Protocol

Node = tuple[str, str]
"""What is waited for, and whose: a task's or a group's start or end."""

START, END, GROUP_START, GROUP_END = "start", "end", "group start", "group end"
_NOWHERE = (None, None)


Ask = Callable[[str], Sequence[str] | None]


class Graph(Protocol):
    """What tasks and groups of one session are connected by; None is as good as nothing."""

    @property
    def depends(self) -> Ask:
        """The tasks that a task depends on."""

    @property
    def children(self) -> Ask:
        """The tasks right below a task."""

    @property
    def group_depends(self) -> Ask:
        """The groups that a group depends on."""

    @property
    def members(self) -> Ask:
        """The tasks of a group that stand below no other one."""

    @property
    def place(self) -> Callable[[str], tuple[str | None, str | None] | None]:
        """The parent and the group of a task, None where neither can lead anywhere."""


def ring_of_task(graph: Graph, task: str, on: str) -> list[str]:
    """The ring that a dependency of one task on another would close, or nothing."""
    return _ring(graph, (START, task), (END, on))


def ring_of_group(graph: Graph, group: str, on: str) -> list[str]:
    """The ring that a dependency of one group on another would close, or nothing."""
    return _ring(graph, (GROUP_START, group), (GROUP_END, on))


def cycle(edges: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """One dependency cycle among names, each of which waits for the next one and the last for the first; else nothing.

    Args:
        edges: what each name waits for.
    """
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        # There each name comes before the one that waits for it, and the first one again at the end.
        return tuple(reversed(error.args[1][1:]))
    return ()


def _ring(graph: Graph, waiting: Node, for_: Node) -> list[str]:
    """The way back from what is to be waited for; linear in the edges, without recursion."""
    came: dict[Node, Node] = {for_: waiting}
    queue = [for_]
    for node in queue:
        for following in _waits(graph, node):
            if following == waiting:
                return _named(came, waiting, node)
            if following not in came:
                came[following] = node
                queue.append(following)
    return []


def _waits(graph: Graph, node: Node) -> list[Node]:
    kind, name = node
    if kind == START:
        found = _ends(graph, graph.depends(name))
        parent, group = graph.place(name) or _NOWHERE
        if parent is not None:
            found.append((START, parent))
        elif group is not None:
            found.append((GROUP_START, group))
        return found
    if kind == END:
        return [(START, name), *_ends(graph, graph.children(name))]
    if kind == GROUP_START:
        return [(GROUP_END, other) for other in graph.group_depends(name) or ()]
    return [(GROUP_START, name), *_ends(graph, graph.members(name))]


def _ends(graph: Graph, names: Sequence[str] | None) -> list[Node]:
    """The ends of tasks. A task without parts ends when it has begun and was worked at, so its start stands for it."""
    return [(END if graph.children(name) else START, name) for name in names or ()]


def _named(came: dict[Node, Node], waiting: Node, last: Node) -> list[str]:
    way = [waiting, last]
    while way[-1] != waiting:
        way.append(came[way[-1]])
    names: list[str] = []
    of_groups = all(kind in (GROUP_START, GROUP_END) for kind, _ in way)
    for kind, name in reversed(way):
        shown = name if of_groups or kind in (START, END) else f"group {name}"
        if not names or names[-1] != shown:
            names.append(shown)
    return names
