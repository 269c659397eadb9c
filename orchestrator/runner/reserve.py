"""Room on the disk that is held while an executor works, so that the end of a run can be recorded on a full disk."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOM = 1024 * 1024
"""Bytes: amply what the evidence, the log and the database need for the end of a run."""


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold room on the disk of a folder while the block runs; where there is none, or no way to, nothing is held.

    The file has no name, so that nobody sees it, and a death of this process gives it back.
    """
    file = _reserved(folder)
    try:
        yield
    finally:
        if file is not None:
            os.close(file)


def _reserved(folder: Path) -> int | None:
    descriptor = None
    try:
        descriptor, path = tempfile.mkstemp(".partial", ".reserve", folder)
        os.unlink(path)
        os.posix_fallocate(descriptor, 0, ROOM)
    except (OSError, AttributeError):
        if descriptor is not None:
            os.close(descriptor)
        return None
    return descriptor
