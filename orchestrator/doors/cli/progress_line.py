"""A line on a person's terminal that shows that a slow command is at work, and how far it is.

It is drawn on stderr, from the second that a command takes longer than one, and nothing of it is left.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator import progress
from orchestrator.doors.cli import output
from orchestrator.hints import Any

CLEAR = "\r\x1b[K"
FIRST_S, EVERY_S = 1.0, 0.5


@contextmanager
def shown(words: str) -> Iterator[None]:
    """Draw the line while the block runs.

    Args:
        words: the command's, which the line begins with.
    """
    over = threading.Event()
    drawing = threading.Thread(target=_draw, args=(words, over), daemon=True)
    drawing.start()
    try:
        yield
    finally:
        over.set()
        drawing.join()


def _draw(words: str, over: Any) -> None:
    started = time.monotonic()
    if over.wait(FIRST_S):
        return
    while True:
        output.draw(CLEAR + line(words, int(time.monotonic() - started), progress.state()))
        if over.wait(EVERY_S):
            output.draw(CLEAR)
            return


def line(words: str, seconds: int, state: progress.State | None) -> str:
    """The words of the line, in 79 columns at most."""
    said = f"{words}: {seconds // 60}:{seconds % 60:02d}"
    if state is not None:
        said += f", {_counted(state)}"
    return said[:79]


def _counted(state: progress.State) -> str:
    if state.done is None:
        return state.what
    if not state.total:
        return f"{state.done:,} {state.what}"
    return f"{state.done:,} of {state.total:,} {state.what} ({min(100, 100 * state.done // state.total)} %)"
