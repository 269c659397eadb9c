"""Which sessions of a project a process has open: it holds the system's lock on the session's folder, shared.

The death of the process lets go, however it dies, and nothing is written for it. What is asked is asked of the system,
so that sessions of other databases are told as well.

Source: seed 001, Property 21.
"""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from orchestrator.runner import evidence_files

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_TRIES, _PAUSE_S = 100, 0.01
"""How often it is tried to take a lock, which who only asks holds for a moment."""


class Hold:
    """A session that this process has open, until `release` is called or nobody refers to this any more.

    Where the folder is not there, or its file system has no locks, nothing is held, and everything else goes on.
    """

    def __init__(self, root: str, session_id: str) -> None:
        descriptor = _held(_folder(root, session_id))
        self.release = weakref.finalize(self, os.close, descriptor) if descriptor is not None else _nothing


@contextlib.contextmanager
def held(root: str, session_id: str) -> Iterator[None]:
    """Have a session open while the block runs."""
    hold = Hold(root, session_id)
    try:
        yield
    finally:
        hold.release()


def is_open(root: str, session_id: str) -> bool:
    """Whether some process has a session open. Where that is not told, one has."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has another way, and one process at a time is the rule there
        return True
    try:
        descriptor = os.open(_folder(root, session_id), _FOLDER)
    except OSError:
        return False
    try:
        # Only an exclusive lock conflicts with the shared one of whoever has the session open.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def sessions(root: str) -> frozenset[str]:
    """The sessions with a folder in the project that some process has open."""
    try:
        names = os.listdir(Path(root, evidence_files.OWN_FOLDER, "sessions"))
    except OSError:
        return frozenset()
    return frozenset(name for name in names if is_open(root, name))


def _folder(root: str, session_id: str) -> Path:
    return Path(root, evidence_files.OWN_FOLDER, "sessions", session_id)


def _held(folder: Path) -> int | None:
    try:
        import fcntl

        descriptor = os.open(folder, _FOLDER)
    except (ImportError, OSError):
        return None
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_S)
        except OSError:
            break
        else:
            return descriptor
    os.close(descriptor)
    return None


def _nothing() -> None:
    """There is nothing to let go."""
