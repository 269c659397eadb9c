"""Who may read and write which file: shared readers, one writer, several files all or none, and a fair queue.

Files are locked in order of their paths and released in reverse. A lock ends when its owner releases it or is known to
be gone; no clock takes it away.

Source: seed 001, Properties 6 and 12.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from orchestrator.core.running import codes, named
from orchestrator.errors import Refused

READ, WRITE = "read", "write"


class Lock(NamedTuple):
    """A held lock. `expires_at` is only told: a lock outlives it."""

    path: str
    mode: str
    owner: str
    expires_at: float | None = None


class Request(NamedTuple):
    """Who waits for which files, in order of paths, since when in seconds."""

    owner: str
    wants: tuple[tuple[str, str], ...]
    since: float


class Table(NamedTuple):
    """Every lock in order of its acquisition, and every request that waits, first come first."""

    held: tuple[Lock, ...] = ()
    waiting: tuple[Request, ...] = ()


def ordered(wants: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The files of a request with their modes, in the one order in which everybody locks them.

    Raises:
        Refused: E402, nothing is asked for, a mode is unknown, or a file is named twice.
    """
    paths = [named.normal(path) for path in wants]
    unknown = [mode for mode in wants.values() if mode not in (READ, WRITE)]
    if not paths or unknown or len(set(paths)) < len(paths):
        raise codes.refused("E402", f"These locks cannot be asked for: {dict(wants)}.", wants=dict(wants))
    return tuple(sorted(zip(paths, wants.values(), strict=True)))


def acquire(table: Table, owner: str, wants: Mapping[str, str], *, expires_at: float | None = None) -> Table:
    """Lock all the files at once, or none.

    Raises:
        Refused: E401, another holds one of them or waits for it in a way that excludes this; E402.
    """
    files = ordered(wants)
    against = _against(table, owner, files, table.waiting)
    if against:
        paths = [path for path, _ in files]
        raise codes.refused("E401", f"Locked by {', '.join(against)}.", holders=list(against), paths=paths)
    return _granted(table, owner, files, expires_at)


def request(table: Table, owner: str, wants: Mapping[str, str], at: float) -> Table:
    """Lock all the files, or wait in the queue for all of them.

    Raises:
        Refused: E402; also where the owner waits already. E403, waiting would close a circle; data ``cycle``.
    """
    files = ordered(wants)
    if any(each.owner == owner for each in table.waiting):
        raise codes.refused("E402", f"{owner} waits for other locks already.", owner=owner)
    if not _against(table, owner, files, table.waiting):
        return _granted(table, owner, files, None)
    waits = table._replace(waiting=(*table.waiting, Request(owner, files, at)))
    check_deadlock(waits)
    return waits


def release(table: Table, owner: str, paths: Collection[str] | None = None) -> tuple[Table, tuple[str, ...]]:
    """Release an owner's locks, all or those of some files, and grant what that makes possible, first come first.

    Returns:
        The new table, and the paths in the order of their release, the reverse of their acquisition.

    Raises:
        Refused: E405, the owner does not hold one of them.
    """
    mine = [lock.path for lock in table.held if lock.owner == owner]
    chosen = mine if paths is None else [named.normal(path) for path in paths]
    foreign = [path for path in chosen if path not in mine]
    if foreign or not chosen:
        raise codes.refused("E405", f"{owner} does not hold {', '.join(foreign) or 'any lock'}.", paths=foreign)
    kept = tuple(lock for lock in table.held if lock.owner != owner or lock.path not in chosen)
    freed = tuple(path for path in reversed(mine) if path in chosen)
    return _serve(table._replace(held=kept)), freed


def forget(table: Table, owner: str) -> Table:
    """What a failed, dead or withdrawn owner leaves: its locks are released and its request leaves the queue."""
    held = tuple(lock for lock in table.held if lock.owner != owner)
    waiting = tuple(each for each in table.waiting if each.owner != owner)
    return _serve(Table(held, waiting))


def abandoned(table: Table, living: Collection[str]) -> tuple[str, ...]:
    """The owners that are known to be gone: those that are none of the living. Only their locks may be taken."""
    owners = [*(lock.owner for lock in table.held), *(each.owner for each in table.waiting)]
    return tuple(owner for owner in dict.fromkeys(owners) if owner not in living)


def release_expired(table: Table, at: float) -> None:
    """Refuse to release what is past its time: a lock whose owner lives is never taken from it.

    Raises:
        Refused: E405 where any lock is past its time; data ``paths``.
    """
    past = [lock.path for lock in table.held if lock.expires_at is not None and lock.expires_at < at]
    if past:
        raise codes.refused("E405", f"Only their owners release {', '.join(past)}.", paths=past)


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


def check_deadlock(table: Table) -> None:
    """Stop where owners wait for each other in a circle.

    Raises:
        Refused: E403; data ``cycle``.
    """
    cycle = find_cycle(waits_for(table))
    if cycle:
        raise deadlock(f"{' waits for '.join((*cycle, cycle[0]))}.", cycle)


def check_overdue(table: Table, at: float, timeout: float) -> None:
    """Stop where somebody waits longer than `timeout` seconds.

    Raises:
        Refused: E403; data ``cycle``, those who wait too long.
    """
    late = tuple(each.owner for each in table.waiting if at - each.since > timeout)
    if late:
        raise deadlock(f"{', '.join(late)} waited longer than {timeout:g} seconds.", late)


def deadlock(sentence: str, owners: Sequence[str]) -> Refused:
    """The refusal that stops a deadlock."""
    return codes.refused("E403", sentence, cycle=list(owners))


def _against(table: Table, owner: str, files: Sequence[tuple[str, str]], before: Sequence[Request]) -> tuple[str, ...]:
    """Who keeps these files from an owner: others that hold them, and others that wait for them before it.

    Who holds a lock passes the queue: those who wait there may wait for this very owner.
    """
    taken = [(lock.path, lock.mode, lock.owner) for lock in table.held]
    if owner not in {lock.owner for lock in table.held}:
        taken += [(path, mode, each.owner) for each in before for path, mode in each.wants]
    wanted = dict(files)
    found = (
        other for path, mode, other in taken
        if other != owner and path in wanted and WRITE in (mode, wanted[path])
    )  # fmt: skip
    return tuple(dict.fromkeys(found))


def _granted(table: Table, owner: str, files: Sequence[tuple[str, str]], expires_at: float | None) -> Table:
    """A lock that the owner has already stays; a reader that may write now is a writer."""
    wanted = dict(files)
    kept = tuple(lock for lock in table.held if lock.owner != owner or lock.path not in wanted)
    had = {lock.path: lock.mode for lock in table.held if lock.owner == owner}
    new = (Lock(path, WRITE if WRITE in (mode, had.get(path)) else READ, owner, expires_at) for path, mode in files)
    return table._replace(held=(*kept, *new))


def _serve(table: Table) -> Table:
    """Grant every request that nothing stands against any more, the oldest first."""
    for place, each in enumerate(table.waiting):
        if not _against(table, each.owner, each.wants, table.waiting[:place]):
            rest = table.waiting[:place] + table.waiting[place + 1 :]
            return _serve(_granted(table._replace(waiting=rest), each.owner, each.wants, None))
    return table
