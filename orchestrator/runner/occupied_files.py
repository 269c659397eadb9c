"""The files by which runs tell others where they work: in which folders they lie, their gates, and who has them locked.

Source: seed 001, Property 6.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from orchestrator.core.running import occupants
from orchestrator.core.running.occupants import Occupant
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import OrchestratorError
from orchestrator.runner import durable, snapshot
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
LOOKED = b"looked below\n"
"""What a gate holds once somebody has looked for runs further down that began before there was this folder."""


class Entry(NamedTuple):
    """A file of a folder: what it says, whether its process lives, and where it is."""

    occupant: Occupant
    lives: bool
    path: Path


def own(root: str) -> Path:
    """The folder of a project in which the files lie."""
    return Path(root, OWN_FOLDER, FOLDER)


def has_looked(root: str) -> bool:
    """Whether somebody who worked in a folder has looked for runs further down."""
    try:
        return os.path.getsize(own(root) / GATE) > 0
    except OSError:
        return False


def of(root: str, *, make: bool = True) -> list[Path]:
    """Where a run in a folder has to be known: there, and in each folder above that is the product's own as well."""
    above = [parent for parent in Path(root).parents if _is_folder(parent / OWN_FOLDER)]
    found = []
    for place in (Path(root), *above):
        if not make:
            found += [folder] if _is_folder(folder := own(str(place))) else []
            continue
        with contextlib.suppress(OrchestratorError, OSError):
            found.append(durable.own_folder(place, OWN_FOLDER, FOLDER))
    return sorted(found)


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def below(root: str) -> Iterator[Path]:
    """The folders of the product's own further down, as deep as files are looked for."""
    top = len(Path(root).parts)
    for place, folders, _ in os.walk(root):
        if place != root and OWN_FOLDER in folders and _is_folder(own(place)):
            yield own(place)
        deep = len(Path(place).parts) - top >= snapshot.DEPTH
        folders[:] = [] if deep else [each for each in folders if each not in snapshot.SKIPPED]


@contextlib.contextmanager
def gates(folders: list[Path]) -> Iterator[dict[Path, int] | None]:
    """Hold the gates of folders; None where somebody else holds one of them just now."""
    held: dict[Path, int] = {}
    with contextlib.ExitStack() as stack:
        for folder in folders:
            try:
                descriptor = os.open(folder / GATE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, durable.FILE_MODE)
            except OSError:
                continue
            stack.callback(os.close, descriptor)
            if (locked := _locked(descriptor)) is None:
                continue
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


def made(folder: Path) -> tuple[Path, int]:
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


def is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is the one at a path still."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


def entries(folder: Path, own: Collection[Path] = ()) -> Iterator[Entry]:
    """What files of a folder say; those of one's own are left out, and so is what says nothing and has nobody."""
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        if path in own:
            continue
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with open(descriptor, "rb") as file:
            lives = _locked(descriptor, shared=True) is False
            occupant = occupants.read(file.read(_LONGEST))
        if occupant is not None or lives:
            yield Entry(occupant or Occupant("", str(path), "", "a run"), lives, path)
