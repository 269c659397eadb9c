"""`status --watch`: the same answer again and again, each from a fresh look at the record."""

from __future__ import annotations

import gc
import sys
import time

from orchestrator.app.kernel import outcomes
from orchestrator.doors.cli import calling, output, text
from orchestrator.doors.cli.options import Given, Result
from orchestrator.errors import UsageError

INTERVAL_S = 2
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
    code = 0
    try:
        while True:
            found = calling.operation("status", given)
            code = found.exit_code
            if not output.write(_shown(found, given)) or _over(found):
                break
            time.sleep(seconds)
    except KeyboardInterrupt:
        pass
    return Result({}, None, code, printed=True)


def _over(found: Result) -> bool:
    answer = found.answer
    return not answer["sessions"] if "sessions" in answer else answer["state"] == "ended"


def _shown(found: Result, given: Given) -> bytes:
    answer = found.answer
    if given.json:
        return output.line(outcomes.success(answer, answer["db"]))
    return output.text(text.render("status", answer), sys.stdout) + b"\n"
