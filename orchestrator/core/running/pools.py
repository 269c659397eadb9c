"""How many may work at the same time: places, and a queue where none is free, first come first served.

Source: seed 001, Properties 5 and 12.
"""

from __future__ import annotations

from typing import NamedTuple

from orchestrator.core.running import codes

SUBAGENT, EXECUTOR = "L1", "L2"
CAPACITIES = {SUBAGENT: 9, EXECUTOR: 4}
"""The most places of each level; subagents read only."""


class Waiter(NamedTuple):
    """Who waits, since when, in seconds of one clock."""

    name: str
    since: float


class Pool(NamedTuple):
    """The places of one level, who holds them and who waits, in order."""

    level: str
    capacity: int
    active: tuple[str, ...] = ()
    waiting: tuple[Waiter, ...] = ()


def pool(level: str, capacity: int | None = None) -> Pool:
    """An empty pool of L1 subagents or L2 executors.

    Raises:
        Refused: E104, a capacity that is not allowed.
    """
    most = CAPACITIES[level]
    places = most if capacity is None else capacity
    if not 1 <= places <= most:
        raise codes.refused("E104", f"{level} may have 1 to {most} places, not {places}.", lowest=1, highest=most)
    return Pool(level, places)


def ask(places: Pool, name: str, at: float, *, writes: bool = False, wait: bool = True) -> Pool:
    """Take a place, or a place in the queue. Nobody passes those who wait.

    Args:
        places: the pool.
        name: who asks; asks once.
        at: the time in seconds.
        writes: it wants to write.
        wait: queue where no place is free.

    Raises:
        Refused: E402, a subagent wants to write; E404, no place is free and waiting is not wanted, or it asked before.
    """
    if writes and places.level == SUBAGENT:
        raise codes.refused("E402", f"{name} is a subagent, which may only read.", name=name)
    if name in places.active or any(each.name == name for each in places.waiting):
        raise codes.refused("E404", f"{name} has asked for a place before.", name=name)
    if len(places.active) < places.capacity and not places.waiting:
        return places._replace(active=(*places.active, name))
    if not wait:
        raise codes.refused("E404", f"All {places.capacity} places are taken.", active=list(places.active))
    return places._replace(waiting=(*places.waiting, Waiter(name, at)))


def release(places: Pool, name: str) -> Pool:
    """Give a place back; who waits longest gets it. Who waits leaves the queue.

    Raises:
        Refused: E405, it neither holds a place nor waits for one.
    """
    waiting = tuple(each for each in places.waiting if each.name != name)
    active = tuple(each for each in places.active if each != name)
    if (active, waiting) == (places.active, places.waiting):
        raise codes.refused("E405", f"{name} holds no place.", name=name)
    free = places.capacity - len(active)
    started = tuple(each.name for each in waiting[:free])
    return places._replace(active=active + started, waiting=waiting[free:])


def overdue(places: Pool, at: float, timeout: float) -> tuple[str, ...]:
    """Those who waited longer than `timeout` seconds; the runner stops then.

    Source: seed 001, Property 12.
    """
    return tuple(each.name for each in places.waiting if at - each.since > timeout)
