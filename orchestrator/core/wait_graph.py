"""What stuck work waits for in the end: followed without recursion, each task and edge once.

Source: seed 002, pendingSubTasks の依存関係フィルタリング.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from orchestrator.core.named_tuple import NamedTuple


class Node(NamedTuple):
    """What one task or group waits for: the open ones among its dependencies.

    dead: it was cancelled or deferred, so that nothing will come of it; its dependencies do not count.
    """

    waits_for: Sequence[str] = ()
    dead: bool = False


Look = Callable[[str], Node]


class Waits(NamedTuple):
    """What was found.

    roots: those that wait for nothing, in the order in which they were met; all else waits for them.
    dead_end: the first that waits for a dead one, and that dead one.
    ring: the first ring, its first member repeated at the end; empty where there is none.
    """

    roots: tuple[str, ...] = ()
    dead_end: tuple[str, str] | None = None
    ring: tuple[str, ...] = ()


class _Found:
    def __init__(self, look: Look) -> None:
        self.look = look
        self.seen: set[str] = set()
        self.on_path: set[str] = set()
        self.roots: list[str] = []
        self.dead_end: tuple[str, str] | None = None
        self.ring: tuple[str, ...] = ()

    def enter(self, path: list[str]) -> Iterator[str]:
        """Look at the last one of a path, and return what is to be followed from there."""
        here = path[-1]
        self.seen.add(here)
        node = self.look(here)
        if node.dead:
            if self.dead_end is None and len(path) > 1:
                self.dead_end = (path[-2], here)
            return iter(())
        if not node.waits_for:
            self.roots.append(here)
        self.on_path.add(here)
        return iter(node.waits_for)

    def meet(self, path: list[str], step: str) -> bool:
        """Whether a step leads to something new; one that leads back closes a ring."""
        if step in self.on_path and not self.ring:
            self.ring = (*path[path.index(step) :], step)
        return step not in self.seen


def follow(starts: Iterable[str], look: Look) -> Waits:
    """Follow what waits for what, from several starts.

    Args:
        starts: what is stuck, in order.
        look: what one of them waits for; asked once for each that is reached.
    """
    found = _Found(look)
    for start in starts:
        if start not in found.seen:
            _descend(start, found)
    return Waits(tuple(found.roots), found.dead_end, found.ring)


def _descend(start: str, found: _Found) -> None:
    path = [start]
    rest = [found.enter(path)]
    while path:
        step = next(rest[-1], None)
        if step is None:
            found.on_path.discard(path.pop())
            rest.pop()
        elif found.meet(path, step):
            path.append(step)
            rest.append(found.enter(path))
