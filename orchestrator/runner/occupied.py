"""A folder that runs of one database work in, guarded against those of others: a file for each, locked by the system.

Below a project's ``.orchestrator/locks`` each run that works there, or waits to, has a file that says so; its process
holds the system's lock on it, so that the death of the process releases it, however it dies. The same stands in each
folder above that is the product's own too, so that who works further up sees who works below. Who comes looks and
writes while holding ``gate`` of all these folders, in order of their paths, and waits for no gate.

Nothing of it is inherited by what a run starts, and nothing of it stays but an empty folder with its gate.

Source: seed 001, Property 6.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from orchestrator.core.running import occupants
from orchestrator.core.running.occupants import Occupant
from orchestrator.core.tuples import NamedTuple
from orchestrator.runner import lost, occupied_files, owners
from orchestrator.runner.occupied_files import Entry


class Answer(NamedTuple):
    """What came of trying to work in a folder.

    taken: the run may work. against: who is in the way. own: those of them that have started this process.
    left: what lives on of runs whose process is gone, and could not be ended, by run; they are in the way as well.
    ended: what was ended of such runs, in words.
    """

    taken: bool
    against: tuple[Occupant, ...] = ()
    own: tuple[str, ...] = ()
    left: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ended: tuple[str, ...] = ()


class Place:
    """Where one run works or waits; `leave` has to be called in the end.

    Args:
        root: the project's folder.
        path: of the run's database; it says which one it is.
        run: its id.
    """

    def __init__(self, root: str, path: str, run: str, owner: str | None = None) -> None:
        self.root = os.path.realpath(root)
        self._mine = Occupant(identity(path), path, owner or owners.mine(), run, since=time.time_ns())
        self._kept: dict[Path, tuple[int, bytes]] = {}

    def take(self) -> Answer:
        """Begin to work in the folder, or wait among those who want to.

        Where a folder cannot be written there is nothing to hold others by, and the run works unguarded.
        """
        folders = occupied_files.of(self.root)
        with occupied_files.gates(folders) as gates:
            if gates is None:
                return Answer(False)
            seen = [self._seen(folder, gate) for folder, gate in gates.items()]
            found = Answer(
                not any(each.against or each.left for each in seen),
                tuple(dict.fromkeys(other for each in seen for other in each.against)),
                tuple(dict.fromkeys(run for each in seen for run in each.own)),
                tuple(dict.fromkeys(pair for each in seen for pair in each.left)),
                tuple(dict.fromkeys(text for each in seen for text in each.ended)),
            )
            for folder in gates:
                self._write(folder, waits=not found.taken)
            # A folder further up that became the product's own just now has looked below before this was written.
            return found if occupied_files.of(self.root) == folders else found._replace(taken=False)

    def leave(self) -> None:
        """Let others work in the folder."""
        kept, self._kept = self._kept, {}
        for path, (descriptor, _) in kept.items():
            if occupied_files.is_at(path, descriptor):
                with contextlib.suppress(OSError):
                    path.unlink()
            os.close(descriptor)

    def tampered(self) -> tuple[str, ...]:
        """What was done meanwhile to what holds others off, in words."""
        found = []
        for path, (descriptor, data) in self._kept.items():
            if not occupied_files.is_at(path, descriptor):
                found.append(f"{self._told(path)} (deleted)")
            elif os.pread(descriptor, len(data) + 1, 0) != data:
                found.append(f"{self._told(path)} (changed)")
        return tuple(found)

    def _told(self, path: Path) -> str:
        return os.path.relpath(path.parent, self.root)

    def _seen(self, folder: Path, gate: int) -> Answer:
        others = list(occupied_files.entries(folder, self._kept))
        if folder == occupied_files.own(self.root) and not occupied_files.has_looked(self.root):
            below = _below(self.root)
            if not any(each.lives for each in below):
                os.pwrite(gate, occupied_files.LOOKED, 0)
            others += below
        return _judged(self._in(folder), others)

    def _in(self, folder: Path) -> Occupant:
        return self._mine._replace(below=_relative(self.root, folder))

    def _write(self, folder: Path, *, waits: bool) -> None:
        """Say in a folder that the run works there or waits; a folder that cannot be written says nothing."""
        data = occupants.render(self._in(folder)._replace(waits=waits))
        kept = next((path for path in self._kept if path.parent == folder), None)
        with contextlib.suppress(OSError):
            if kept is None:
                kept, descriptor = occupied_files.made(folder)
            else:
                descriptor = self._kept[kept][0]
            self._kept[kept] = (descriptor, data)
            os.pwrite(descriptor, data, 0)
            os.ftruncate(descriptor, len(data))


def occupied(root: str, path: str) -> bool:
    """Whether runs of another database work in a folder now; nothing is written, and nobody is asked to end.

    Args:
        path: of one's own database.
    """
    real = os.path.realpath(root)
    mine = Occupant(identity(path), path, "", "")
    for folder in occupied_files.of(real, make=False):
        others = [each.occupant for each in occupied_files.entries(folder) if each.lives and not each.occupant.waits]
        if occupants.against(mine._replace(below=_relative(real, folder)), others):
            return True
    below = [] if occupied_files.has_looked(real) else [each.occupant for each in _below(real) if each.lives]
    return bool(occupants.against(mine, below))


def identity(path: str) -> str:
    """What tells a database from others on this machine, by whatever path it is reached."""
    try:
        found = os.stat(path)
    except OSError:
        return f"{owners.mine()}:{path}"
    return f"{found.st_dev}:{found.st_ino}"


def _relative(root: str, folder: Path) -> str:
    below = os.path.relpath(root, folder.parent.parent)
    return "" if below == os.curdir else below


def _below(root: str) -> list[Entry]:
    """What stands in folders further down, as it would stand in the one of the root."""
    found = []
    for folder in occupied_files.below(root):
        inner = os.path.relpath(folder.parent.parent, root)
        for each in occupied_files.entries(folder):
            below = os.path.normpath(os.path.join(inner, each.occupant.below))
            found.append(each._replace(occupant=each.occupant._replace(below=below)))
    return found


def _judged(mine: Occupant, every: Sequence[Entry]) -> Answer:
    """Who is in the way in one folder; what those have left whose process is gone is ended, as far as it can be."""
    against = occupants.against(mine, [each.occupant for each in every if each.lives])
    own = tuple(each.run for each in against if lost.is_within(lost.tag(each.owner, each.run)))
    left, ended = [], list[str]()
    for each in every:
        if each.lives or not occupants.meet(mine, each.occupant):
            continue
        found = _ended(each.occupant)
        ended += found.ended
        if found.left:
            left.append((each.occupant.run, found.left))
        else:
            with contextlib.suppress(OSError):
                each.path.unlink()
    return Answer(not (against or left), against, own, tuple(left), tuple(ended))


def _ended(gone: Occupant) -> lost.Lost:
    """What became of the processes of one that has lost its lock; nothing is done where its process lives."""
    tag = lost.tag(gone.owner, gone.run)
    if not owners.is_gone(gone.owner):
        return lost.Lost()
    if lost.is_within(tag):
        return lost.Lost(left=("what has started this process",))
    return lost.end(tag)
