"""`status --watch`: the same answer again and again, each from a fresh look at the record."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.doors.cli import invoke, output, screen, text
from orchestrator.doors.cli.options import Given, Result
from orchestrator.errors import UsageError

INTERVAL_S = 2
LEAST_S = 0.5
"""Seconds between two looks at least."""
MOST_S = 3600


def watch(given: Given, interval: int | None = None) -> Result:
    """Print where a session stands until it has ended, the reader is gone, or somebody interrupts.

    Args:
        given: a call of `status`.
        interval: seconds between two looks.

    Returns:
        The exit code of the last look.

    Raises:
        UsageError: USAGE, the interval.
    """
    seconds = INTERVAL_S if interval is None else interval
    if not 1 <= seconds <= MOST_S:
        raise UsageError("USAGE", f"--interval must be from 1 to {MOST_S}, not {seconds}.", "Repeat without it")
    # A long life needs what a short one does without.
    gc.enable()
    is_drawn = not given.json and screen.is_terminal(sys.stdout) and screen.has_colours(os.environ | {"NO_COLOR": ""})
    with _live() if is_drawn else nullcontext(_append) as show:
        return Result({}, None, _look(given, seconds, show), printed=True)


Show = Callable[[bytes], bool]
"""Shows a look; False where nobody is there to see it."""


def _look(given: Given, seconds: int, show: Show) -> int:
    """Look until the session has ended or somebody interrupts; the exit code of the last look."""
    code = 0
    wait = bootstrap.step_waiter(given.db)
    try:
        while True:
            screen.use(screen.of(sys.stdout, os.environ, bootstrap.now(), utc=given.utc, color=given.color))
            found = invoke.operation("status", given)
            code = found.exit_code
            if not show(_shown(found, given)) or _over(found):
                break
            # Steps that follow each other closely are shown together.
            time.sleep(LEAST_S)
            wait(seconds - LEAST_S)
    except KeyboardInterrupt:
        pass
    return code


def _append(look: bytes) -> bool:
    """In a pipe each look follows the one before."""
    return output.write(look)


@contextmanager
def _live() -> Iterator[Show]:
    """On a terminal one region is drawn anew; the last look stays in full."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def show(look: bytes) -> bool:
        live.update(Text.from_ansi(look.decode(sys.stdout.encoding)), refresh=True)
        return True

    console = Console(highlight=False)
    with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
        yield show


def _over(found: Result) -> bool:
    answer = found.answer
    return not answer["sessions"] if "sessions" in answer else answer["state"] == "ended"


def _shown(found: Result, given: Given) -> bytes:
    answer = found.answer
    if given.json:
        return output.line(operations.success(answer, answer["db"]))
    return output.text(text.render("status", answer), sys.stdout) + b"\n"
