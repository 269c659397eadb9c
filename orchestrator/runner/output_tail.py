"""The newest part of what a run has written so far, from the file into which the runner writes it, keys masked.

The folder belongs to a project in which an agent works, so that nothing there is trusted: no link is followed on the
way, and only a plain file of one name is read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from orchestrator import files
from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple

READ = 256 * 1024
"""Bytes of the end of the file that are looked at."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)


class Tail(NamedTuple):
    """The end of an output, from the beginning of a line; is_cut: something before it is left out."""

    text: str
    is_cut: bool


def newest(root: str, session_id: str, operation: str) -> Tail | None:
    """The end of the newest file of an operation, whichever attempt or part of it that is; None where there is none.

    Args:
        root: the project, absolute.
        operation: how the names of its files begin.
    """
    place = Path(root, names.OWN_FOLDER, "sessions", session_id, "evidence", "raw")
    with contextlib.suppress(OSError), _opened(place) as folder:
        found = [each for each in os.listdir(folder) if each.startswith(operation) and each.endswith(".log")]
        # Attempts follow one another: the one that was written last is under way.
        known = {name: os.stat(name, dir_fd=folder, follow_symlinks=False) for name in found}
        name = max(known, key=lambda each: known[each].st_mtime_ns, default=None)
        if name is not None and _is_own(known[name]) and not files.is_of_database(place / name):
            return _end(os.open(name, _FILE, dir_fd=folder))
    return None


def _is_own(status: os.stat_result) -> bool:
    """Whether it is a plain file under no other name."""
    # A hard link may give a file from elsewhere on the disk a name in here (PAG-26).
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


@contextlib.contextmanager
def _opened(place: Path) -> Iterator[int]:
    """A descriptor of a folder; no link is followed below the project.

    Raises:
        OSError: there is no such folder, or a link stands in its place.
    """
    root, below = place.parents[4], place.parts[-5:]
    folder = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for name in below:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _end(descriptor: int) -> Tail | None:
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        # Checked again on the open file: its name may have been given to another one since.
        if not _is_own(status):
            return None
        start = max(0, status.st_size - READ)
        file.seek(start)
        text = file.read(READ).decode("utf-8", "replace")
    # Half a line may begin within a secret, whose other half would have told that it is one.
    return Tail(text.partition("\n")[2] if start else text, start > 0)
