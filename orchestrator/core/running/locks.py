"""Who may read and write which file or folder: shared readers, one writer, all or none, and a fair queue.

A folder is locked with what lies below it. Locks are taken in order of their paths; they end when their owner releases
them or is known to be gone, and no clock takes them away.

Source: seed 001, Properties 6 and 12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import codes
from orchestrator.core.suggestions import joined, local
from orchestrator.errors import Refused

READ, WRITE = "read", "write"


def session_key(session_id: str) -> str:
    """What the runs of a session exclude each other by: its evidence is one index, and its log one story."""
    return f"session:{session_id}"


def turn_key(session_id: str, group_id: str | None) -> str:
    """What the turns of a group exclude each other by, or (None) those of no group; those of others run beside them.

    Like a folder within the session's own key, so that a run of the session and its turns exclude each other.
    """
    return f"{session_key(session_id)}/{'turns' if group_id is None else f'group:{group_id}'}"


class Lock(NamedTuple):
    """A held lock."""

    path: str
    mode: str
    owner: str


class Request(NamedTuple):
    """Who waits for which files, in order of paths."""

    owner: str
    wants: tuple[tuple[str, str], ...]


class Table(NamedTuple):
    """Every lock in order of its acquisition, and every request that waits, first come first."""

    held: tuple[Lock, ...] = ()
    waiting: tuple[Request, ...] = ()


def ordered(wants: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The files of a request with their modes, in the one order in which everybody locks them.

    Raises:
        Refused: E402, nothing is asked for, a mode is unknown, or a file is named twice.
    """
    paths = [names.normal_path(path) for path in wants]
    unknown = [mode for mode in wants.values() if mode not in (READ, WRITE)]
    if not paths or unknown or len(set(paths)) < len(paths):
        raise codes.refused("E402", f"These locks cannot be asked for: {dict(wants)}.", wants=dict(wants))
    return tuple(sorted(zip(paths, wants.values(), strict=True)))


def acquire(table: Table, owner: str, wants: Mapping[str, str]) -> Table:
    """Lock all the files at once, or none.

    Raises:
        Refused: E401, another holds one of them or waits for it in a way that excludes this; E402.
    """
    files = ordered(wants)
    against = _against(table, owner, files, table.waiting)
    if against:
        # The lock of a folder is called as the folder is.
        paths = [local(path) if path.startswith("/") else path for path, _ in files]
        what = joined(paths, ", ") + f" is locked by {', '.join(against)}."
        raise codes.refused("E401", what, holders=list(against), paths=paths)
    return _granted(table, owner, files)


def request(table: Table, owner: str, wants: Mapping[str, str]) -> Table:
    """Lock all the files, or wait in the queue for all of them.

    Raises:
        Refused: E402; also where the owner waits already. E403, waiting would close a circle; data ``cycle``.
    """
    files = ordered(wants)
    if waits(table, owner):
        raise codes.refused("E402", f"{owner} waits for other locks already.", owner=owner)
    if not _against(table, owner, files, table.waiting):
        return _granted(table, owner, files)
    queued = table._replace(waiting=(*table.waiting, Request(owner, files)))
    cycle = find_cycle(waits_for(queued))
    if cycle:
        raise deadlock(f"{' waits for '.join((*cycle, cycle[0]))}.", cycle)
    return queued


def waits(table: Table, owner: str) -> bool:
    """Whether an owner stands in the queue."""
    return any(each.owner == owner for each in table.waiting)


def waits_for(table: Table) -> dict[str, tuple[str, ...]]:
    """The wait-for graph: whom each waiting owner waits for, holders and those before it in the queue."""
    graph = {}
    for place, each in enumerate(table.waiting):
        graph[each.owner] = _against(table, each.owner, each.wants, table.waiting[:place])
    return graph


def find_cycle(graph: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """One circle of owners that wait for each other, or nothing."""
    stuck = dict(graph)
    while free := [owner for owner, others in stuck.items() if not any(other in stuck for other in others)]:
        for owner in free:
            del stuck[owner]
    path: list[str] = []
    node = next(iter(stuck), None)
    while node is not None and node not in path:
        path.append(node)
        node = next(other for other in stuck[node] if other in stuck)
    return tuple(path if node is None else path[path.index(node) :])


def deadlock(sentence: str, owners: Sequence[str]) -> Refused:
    """The refusal that stops a circle of waiting, or somebody who waits for too long."""
    return codes.refused("E403", sentence, cycle=list(owners))


def _against(table: Table, owner: str, files: Sequence[tuple[str, str]], before: Sequence[Request]) -> tuple[str, ...]:
    """Who keeps these files from an owner: others that hold them, and others that wait for them before it.

    Who holds a lock passes the queue: those who wait there may wait for this very owner.
    """
    taken = [(lock.path, lock.mode, lock.owner) for lock in table.held]
    if owner not in {lock.owner for lock in table.held}:
        taken += [(path, mode, each.owner) for each in before for path, mode in each.wants]
    found = (
        other for path, mode, other in taken for wanted, asked in files
        if other != owner and WRITE in (mode, asked) and overlap(path, wanted)
    )  # fmt: skip
    return tuple(dict.fromkeys(found))


def overlap(one: str, other: str) -> bool:
    """Whether two paths are the same, or one lies below the other."""
    first, second = f"{one.rstrip('/')}/", f"{other.rstrip('/')}/"
    return first.startswith(second) or second.startswith(first)


def _granted(table: Table, owner: str, files: Sequence[tuple[str, str]]) -> Table:
    """A lock that the owner has already stays; a reader that may write now is a writer."""
    wanted = dict(files)
    kept = tuple(lock for lock in table.held if lock.owner != owner or lock.path not in wanted)
    had = {lock.path: lock.mode for lock in table.held if lock.owner == owner}
    new = (Lock(path, WRITE if WRITE in (mode, had.get(path)) else READ, owner) for path, mode in files)
    return table._replace(held=(*kept, *new))


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
