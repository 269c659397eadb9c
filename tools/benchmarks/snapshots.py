"""What it costs to look at a tree of 50,000 files and to compare two looks: row 18.

Beside it stands a bare walk, which asks the system for the names alone: what is above it is mostly the one question
about size and times that each file needs. The contents, which are hashed once before an executor is called, stand
beside a loop that only opens, reads and closes each file.
"""

from __future__ import annotations

import functools
import os
import pathlib
import tempfile
import time
from collections.abc import Iterator

from orchestrator.runner import snapshot
from tools.benchmarks import harness
from tools.benchmarks.table import Bound, Figure

FOLDERS = 500
FILES_A_FOLDER = 100
TAKEN = Bound(10, 7)
COMPARED = Bound(1.5, 0.75)
HASHED = Bound(2, 1.3)


def looks(rounds: int) -> Iterator[Figure]:
    """Row 18: a snapshot, and the comparison of two, beside a walk with `os.scandir`."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        tree(root, FOLDERS, FILES_A_FOLDER)
        # What was just written would be read as well.
        time.sleep(snapshot.RECENT_NS / 1e9 + 0.1)
        before = snapshot.take(root)
        (root / "0/0.py").write_text("changed")
        after = snapshot.take(root)
        after_whole = snapshot.take(root)
        harness.keep_memory()
        seconds = harness.interleaved(
            {
                "take": functools.partial(snapshot.take, root, contents=False),
                "whole": functools.partial(snapshot.take, root),
                "again": functools.partial(snapshot.take, root, known=after_whole),
                "read": functools.partial(read, name),
                "changed": functools.partial(snapshot.changed, before, after),
                "stat": functools.partial(walk, name, stat=True),
                "walk": functools.partial(walk, name),
            },
            rounds,
        )
    files, anchor = f"{FOLDERS * FILES_A_FOLDER:,} files", "walk with `os.scandir`"
    note = f"asking for each file's times alone takes {seconds['stat'] / seconds['walk']:.1f}× the walk"
    yield Figure(f"snapshot of {files}", anchor, seconds["take"] / seconds["walk"], TAKEN, note)
    hashed = (seconds["whole"] - seconds["take"]) / seconds["read"]
    yield Figure(f"contents of {files}, hashed", "open, read and close each", hashed, HASHED)
    again = f"the first look in a process takes {seconds['whole'] / seconds['walk']:.1f}× the walk"
    ratio = seconds["again"] / seconds["walk"]
    yield Figure(f"{files} with their contents, looked at again", anchor, ratio, TAKEN, again)
    yield Figure(f"difference of two snapshots of {files}", anchor, seconds["changed"] / seconds["walk"], COMPARED)


def tree(root: pathlib.Path, folders: int, files: int) -> None:
    """Make so many folders with so many small files each."""
    for folder in range(folders):
        path = root / str(folder)
        path.mkdir()
        for number in range(files):
            (path / f"{number}.py").write_bytes(b"x")


def walk(root: str, *, stat: bool = False) -> int:
    """How many files there are below a folder; each is asked about where that is wanted."""
    count = 0
    folders = [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                    continue
                count += 1
                if stat:
                    entry.stat(follow_symlinks=False)
    return count


def read(root: str) -> int:
    """Open, read and close every file below a folder; how many bytes there are."""
    size = 0
    for folder, _, files in os.walk(root):
        for name in files:
            descriptor = os.open(os.path.join(folder, name), os.O_RDONLY)
            size += len(os.read(descriptor, 65_536))
            os.close(descriptor)
    return size
