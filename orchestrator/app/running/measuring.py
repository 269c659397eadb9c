"""What a run may take and what it took: its clocks, and the limits that it is over.

Source: seed 001, Properties 14, 17, 20 and 35.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from orchestrator.app.kernel.context import Context
from orchestrator.core.running import limits, tests_exist
from orchestrator.core.running.config import Settings
from orchestrator.runner import process
from orchestrator.runner.snapshot import Change
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run


def broken(settings: Settings, changes: Sequence[Change], seconds: int, at: str) -> list[limits.Violation]:
    """The limits that a task, or a part of one, is over.

    Args:
        changes: what became of files.
        seconds: how long it took, over all its runs.
        at: the time, as it is recorded.
    """
    touched = [change.path for change in changes]
    tests = [path for path in touched if tests_exist.is_of_tests(path, settings.detection)]
    actual = {"files": len(touched), "tests": len(tests), "seconds": seconds}
    return limits.violations(settings.task_limits, actual, at)


def limits_of(context: Context, run: Run, settings: Settings, given: process.Limits) -> process.Limits:
    """The clocks of a run, with what is left of the time that its task may take over all its runs."""
    allowed = settings.task_limits.seconds
    left = max(0.0, allowed - earlier_seconds(context, run))
    return given._replace(task_deadline=time.monotonic() + left, task_limit_ms=allowed * 1000)


def earlier_seconds(context: Context, run: Run) -> int:
    """How long the runs of the same task took that ended before."""
    from datetime import datetime

    total = 0.0
    for each in run_reader.of_task(context.connection, run.session_id, run.task_id):
        if each.id != run.id and each.started_at and each.ended_at:
            begun, ended = datetime.fromisoformat(each.started_at), datetime.fromisoformat(each.ended_at)
            total += max(0.0, (ended - begun).total_seconds())
    return round(total)
