"""Whether a run that this process executes is to be stopped: by itself, or through any other process."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from orchestrator.app.kernel.context import Context
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

LOOK_S = 0.2
"""Seconds between two looks whether another process has had the run stopped."""


def told(context: Context, run: Run, cancelled: Callable[[], bool] | None) -> Callable[[], bool]:
    """What answers whether a run is to be stopped; it is asked in the thread that executes the run.

    Args:
        context: the database, where `queueing.stop` notes it.
        cancelled: whether this process itself wants that.
    """
    looked, found = time.monotonic(), False

    def is_told() -> bool:
        nonlocal looked, found
        if found or (cancelled is not None and cancelled()):
            return True
        if time.monotonic() - looked >= LOOK_S:
            looked = time.monotonic()
            # A database that is away for a while tells nothing; whoever ends the run says that it is.
            with contextlib.suppress(Exception):
                found = run_reader.is_to_stop(context.connection, run.session_id, run.id)
        return found

    return is_told
