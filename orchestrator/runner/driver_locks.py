"""Who drives a session on this machine: a file for each, locked by the system while a driver lives.

Drivers of the command line share the lock, since several may work side by side. A server's driver holds it alone, as
does whoever removes worktrees. The death of the process releases it, however it dies; what stays is an empty file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

FOLDER = "drivers"
"""In the project's own folder, beside the database where that is a file."""


@contextlib.contextmanager
def held(folder: str, session_id: str, *, alone: bool) -> Iterator[bool]:
    """Drive a session while the block runs.

    Args:
        folder: the project's own folder, or the one that the database lies in.
        alone: beside nobody else.

    Returns:
        False where somebody else drives it and the lock cannot be had. Where the file system has no locks, or the
        folder cannot be written, nobody is held off: a turn is started once all the same.
    """
    descriptor = _opened(os.path.join(folder, FOLDER), session_id)
    if descriptor is None:
        yield True
        return
    try:
        yield _locked(descriptor, alone=alone)
    finally:
        os.close(descriptor)


def _opened(folder: str, session_id: str) -> int | None:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        # Not inherited by what a driver starts, which would hold it on.
        return os.open(os.path.join(folder, session_id), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None


def _locked(descriptor: int, *, alone: bool) -> bool:
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
