"""How many may work at the same time: places, and a queue where none is free, first come first served.

Source: seed 001, Properties 5 and 12.
"""

from __future__ import annotations

from orchestrator.core.running import codes
from orchestrator.core.tuples import NamedTuple

SUBAGENT, EXECUTOR = "L1", "L2"
CAPACITIES = {SUBAGENT: 9, EXECUTOR: 4}
"""The most places of each level; subagents read only, and nothing here starts one."""


class Pool(NamedTuple):
    """The places of one level, who holds them and who waits, in order."""

    level: str
    capacity: int
    active: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def ask(places: Pool, name: str, *, writes: bool = False, wait: bool = True) -> Pool:
    """Take a place, or a place in the queue. Nobody passes those who wait.

    Args:
        places: the pool.
        name: who asks; asks once.
        writes: it wants to write.
        wait: queue where no place is free.

    Raises:
        Refused: E402, a subagent wants to write; E404, no place is free and waiting is not wanted, or it asked before.
    """
    if writes and places.level == SUBAGENT:
        raise codes.refused("E402", f"{name} is a subagent, which may only read.", name=name)
    if name in (*places.active, *places.waiting):
        raise codes.refused("E404", f"{name} has asked for a place before.", name=name)
    if len(places.active) < places.capacity and not places.waiting:
        return places._replace(active=(*places.active, name))
    if not wait:
        busy = [*places.active, *places.waiting]
        raise codes.refused("E404", f"No place is free: {', '.join(busy)} run or come first.", running=busy)
    return places._replace(waiting=(*places.waiting, name))
