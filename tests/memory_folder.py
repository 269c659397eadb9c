"""Where the tests' files lie: in memory where there is room, since each commit waits for a disk otherwise.

That halves the processor's time of the tests that write files, and most of their waiting. What tests are about stays:
a process that is killed loses nothing that it wrote, wherever that lies. Whoever wants to look at what a failed test
has left says where: `TMPDIR=/tmp ./task tests FILE`.
"""

from __future__ import annotations

import atexit
import os
import pathlib
import shutil
import tempfile

MEMORY = pathlib.Path("/dev/shm")  # noqa: S108 - a folder of the run's own is made there
ROOM = 8 << 30
"""Bytes that have to be free: a whole run fills 5.5 GB."""
PREFIX = "ot-"
"""Short, since the path of a socket has at most 107 bytes."""


def use() -> None:
    """Let this process and all that it starts have their temporary files there, until this process ends."""
    if "TMPDIR" in os.environ or not _roomy():
        return
    for left in MEMORY.glob(f"{PREFIX}*"):
        if not pathlib.Path("/proc", left.name.removeprefix(PREFIX)).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = MEMORY / f"{PREFIX}{os.getpid()}"
    folder.mkdir()
    # Some tests are another user's.
    folder.chmod(0o1777)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    atexit.register(_removed, folder, os.getpid())


def _roomy() -> bool:
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC and os.access(MEMORY, os.W_OK)


def _removed(folder: pathlib.Path, owner: int) -> None:
    """A fork of the process that made it ends earlier."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
