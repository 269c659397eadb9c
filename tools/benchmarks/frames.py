"""How many pages the commit of a route writes: row 19. Nothing is timed, so it holds on any machine.

In WAL mode each page that a commit changed is one frame at the end of the log, so the log's size tells.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterator, Sequence

from tools.benchmarks import mix
from tools.benchmarks.table import Bound, Figure

SESSION = "S1"
STEPS = 160
WARM_STEPS = 80
"""Steps before those that are counted, so that trees have more than one page."""
MUST, GOAL = 12, 8
_HEADER, _FRAME = 32, 24 + mix.PAGE_SIZE
"""Bytes of the log before the first frame, and of a frame."""


def counted(folder: pathlib.Path, steps: int = STEPS, warm: int = WARM_STEPS) -> float:
    """The mean number of frames that a route's commit writes, from an empty log on."""
    groups = mix.groups_for(steps + warm)
    path = mix.write(folder / "frames.db", mix.content([SESSION], groups))
    context = mix.open_file(path, "NORMAL")
    try:
        context.connection.execute("PRAGMA wal_autocheckpoint=0")
        calls = mix.calls(SESSION, groups)
        before = _frames(path, context, calls[:warm])
        return (_frames(path, context, calls[warm : warm + steps]) - before) / steps
    finally:
        context.connection.close()


def _frames(path: pathlib.Path, context: mix.Context, calls: Sequence[mix.Call]) -> int:
    """Route the calls; how many frames the log has then."""
    for call in calls:
        mix.route(context, call)
    return (os.path.getsize(f"{path}-wal") - _HEADER) // _FRAME


def commit(_: int) -> Iterator[Figure]:
    """Row 19: frames of the write-ahead log for each route, as a multiple of one page."""
    with tempfile.TemporaryDirectory() as folder:
        yield Figure("pages written by the commit of a `route`", "one page", counted(pathlib.Path(folder)),
                     Bound(MUST, GOAL))  # fmt: skip
