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
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from orchestrator.core import database_urls
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import folder_claims
from orchestrator.core.running.folder_claims import Occupant
from orchestrator.errors import OrchestratorError
from orchestrator.runner import atomic_files, orphan_recovery, process_identity, snapshot
from orchestrator.runner.evidence_files import OWN_FOLDER

try:
    import fcntl
except ImportError:  # pragma: no cover - elsewhere one database for one project is the rule
    fcntl = None  # type: ignore[assignment]

FOLDER = "locks"
GATE = "gate"
_SUFFIX = ".run"
_TRIES, _MOMENT_S = 200, 0.005
_LONGEST = 65_536
_LOOKED = b"looked below\n"
"""What a gate holds once somebody has looked for runs further down that began before there was this folder."""


class Entry(NamedTuple):
    """A file of a folder: what it says, whether its process lives, and where it is."""

    occupant: Occupant
    lives: bool
    path: Path


def own_folder(root: str) -> Path:
    """The folder of a project in which the files lie."""
    return Path(root, OWN_FOLDER, FOLDER)


def _has_looked(root: str) -> bool:
    """Whether somebody who worked in a folder has looked for runs further down."""
    try:
        return os.path.getsize(own_folder(root) / GATE) > 0
    except OSError:
        return False


def folders_of(root: str, *, make: bool = True) -> list[Path]:
    """Where a run in a folder has to be known: there, and in each folder above that is the product's own as well."""
    above = [parent for parent in Path(root).parents if _is_folder(parent / OWN_FOLDER)]
    found = []
    for place in (Path(root), *above):
        if not make:
            found += [folder] if _is_folder(folder := own_folder(str(place))) else []
            continue
        with contextlib.suppress(OrchestratorError, OSError):
            found.append(atomic_files.own_folder(place, OWN_FOLDER, FOLDER))
    return sorted(found)


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _folders_below(root: str) -> Iterator[Path]:
    """The folders of the product's own further down, as deep as files are looked for."""
    top = len(Path(root).parts)
    for place, folders, _ in os.walk(root):
        if place != root and OWN_FOLDER in folders and _is_folder(own_folder(place)):
            yield own_folder(place)
        deep = len(Path(place).parts) - top >= snapshot.DEPTH
        folders[:] = [] if deep else [each for each in folders if each not in snapshot.SKIPPED]


@contextlib.contextmanager
def _gates(folders: list[Path]) -> Iterator[dict[Path, int] | None]:
    """Hold the gates of folders; None where somebody else holds one of them just now."""
    held: dict[Path, int] = {}
    with contextlib.ExitStack() as stack:
        for folder in folders:
            try:
                descriptor = os.open(folder / GATE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, atomic_files.FILE_MODE)
            except OSError:
                continue
            stack.callback(os.close, descriptor)
            if (locked := _locked(descriptor)) is None:
                continue
            # The caller tries again later: waiting here would keep the gates taken so far from everybody else.
            if not locked:
                yield None
                return
            held[folder] = descriptor
        yield held


def _locked(descriptor: int, *, shared: bool = False) -> bool | None:
    """Lock a file, unless somebody has; None where this file system has no locks."""
    if fcntl is None:  # pragma: no cover - as above
        return None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _make(folder: Path) -> tuple[Path, int]:
    """A new file in a folder, locked.

    Raises:
        OSError: it cannot be made, or not be locked.
    """
    descriptor, name = tempfile.mkstemp(_SUFFIX, "", folder)
    for _ in range(_TRIES):
        # Who only looks holds it for a moment.
        if locked := _locked(descriptor):
            return Path(name), descriptor
        if locked is None:
            break
        time.sleep(_MOMENT_S)
    os.close(descriptor)
    os.unlink(name)
    raise OSError(None, "it cannot be locked")


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is the one at a path still."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


def _entries(folder: Path, own: Collection[Path] = ()) -> Iterator[Entry]:
    """What files of a folder say; those of one's own are left out, and so is what says nothing and has nobody."""
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        if path in own:
            continue
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with open(descriptor, "rb") as file:
            # A shared lock: two processes that look at the same time do not take each other for the owner.
            lives = _locked(descriptor, shared=True) is False
            occupant = folder_claims.read(file.read(_LONGEST))
        if occupant is not None or lives:
            yield Entry(occupant or Occupant("", str(path), "", "a run"), lives, path)


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
        self._mine = Occupant(identity(path), path, owner or process_identity.mine(), run, since=time.time_ns())
        self._kept: dict[Path, tuple[int, bytes]] = {}

    def take(self) -> Answer:
        """Begin to work in the folder, or wait among those who want to.

        Where a folder cannot be written there is nothing to hold others by, and the run works unguarded.
        """
        folders = folders_of(self.root)
        with _gates(folders) as gates:
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
            # A run that has to wait is listed too, so that those who come later know the order of arrival (RUN-11).
            for folder in gates:
                self._write(folder, waits=not found.taken)
            # A folder further up that became the product's own just now has looked below before this was written.
            return found if folders_of(self.root) == folders else found._replace(taken=False)

    def leave(self) -> None:
        """Let others work in the folder."""
        kept, self._kept = self._kept, {}
        for path, (descriptor, _) in kept.items():
            # Unlinked before the lock is released: an unlocked file looks like that of a killed run.
            if _is_at(path, descriptor):
                with contextlib.suppress(OSError):
                    path.unlink()
            os.close(descriptor)

    def tampered(self) -> tuple[str, ...]:
        """What was done meanwhile to what holds others off, in words."""
        found = []
        for path, (descriptor, data) in self._kept.items():
            if not _is_at(path, descriptor):
                found.append(f"{self._told(path)} (deleted)")
            elif os.pread(descriptor, len(data) + 1, 0) != data:
                found.append(f"{self._told(path)} (changed)")
        return tuple(found)

    def _told(self, path: Path) -> str:
        return os.path.relpath(path.parent, self.root)

    def _seen(self, folder: Path, gate: int) -> Answer:
        others = list(_entries(folder, self._kept))
        if folder == own_folder(self.root) and not _has_looked(self.root):
            below = _below(self.root)
            # Runs still alive below began before this folder was there and are not listed in it, so the next one
            # looks again.
            if not any(each.lives for each in below):
                os.pwrite(gate, _LOOKED, 0)
            others += below
        return _judged(self._in(folder), others)

    def _in(self, folder: Path) -> Occupant:
        return self._mine._replace(below=_relative(self.root, folder))

    def _write(self, folder: Path, *, waits: bool) -> None:
        """Say in a folder that the run works there or waits; a folder that cannot be written says nothing."""
        data = folder_claims.render(self._in(folder)._replace(waits=waits))
        kept = next((path for path in self._kept if path.parent == folder), None)
        with contextlib.suppress(OSError):
            if kept is None:
                kept, descriptor = _make(folder)
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
    for folder in folders_of(real, make=False):
        others = [each.occupant for each in _entries(folder) if each.lives and not each.occupant.waits]
        if folder_claims.against(mine._replace(below=_relative(real, folder)), others):
            return True
    below = [] if _has_looked(real) else [each.occupant for each in _below(real) if each.lives]
    return bool(folder_claims.against(mine, below))


def identity(path: str) -> str:
    """What tells a database from others on this machine, by whatever path it is reached."""
    if database_urls.is_postgresql(path):
        return path
    try:
        found = os.stat(path)
    except OSError:
        return f"{process_identity.mine()}:{path}"
    return f"{found.st_dev}:{found.st_ino}"


def _relative(root: str, folder: Path) -> str:
    below = os.path.relpath(root, folder.parent.parent)
    return "" if below == os.curdir else below


def _below(root: str) -> list[Entry]:
    """What stands in folders further down, as it would stand in the one of the root."""
    found = []
    for folder in _folders_below(root):
        inner = os.path.relpath(folder.parent.parent, root)
        for each in _entries(folder):
            below = os.path.normpath(os.path.join(inner, each.occupant.below))
            found.append(each._replace(occupant=each.occupant._replace(below=below)))
    return found


def _judged(mine: Occupant, every: Sequence[Entry]) -> Answer:
    """Who is in the way in one folder; what those have left whose process is gone is ended, as far as it can be."""
    against = folder_claims.against(mine, [each.occupant for each in every if each.lives])
    own = tuple(each.run for each in against if orphan_recovery.is_within(orphan_recovery.tag(each.owner, each.run)))
    left, ended = [], list[str]()
    for each in every:
        if each.lives or not folder_claims.meet(mine, each.occupant):
            continue
        found = _ended(each.occupant)
        ended += found.ended
        if found.left:
            left.append((each.occupant.run, found.left))
        else:
            with contextlib.suppress(OSError):
                each.path.unlink()
    return Answer(not (against or left), against, own, tuple(left), tuple(ended))


def _ended(gone: Occupant) -> orphan_recovery.Lost:
    """What became of the processes of one that has lost its lock; nothing is done where its process lives."""
    tag = orphan_recovery.tag(gone.owner, gone.run)
    if not process_identity.is_gone(gone.owner):
        return orphan_recovery.Lost()
    if orphan_recovery.is_within(tag):
        return orphan_recovery.Lost(left=("what has started this process",))
    return orphan_recovery.end(tag)
