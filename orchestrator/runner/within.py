"""Whether this process was itself started by what a runner executes: then whatever it says, no person says it.

An executor has a terminal as soon as it opens one, so that a terminal alone proves nobody. Its processes carry a mark;
one that has dropped the mark still descends from one that has it, or from the process that runs the run, and has a
brand that it cannot shed, also when that process is gone.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from orchestrator.runner import brands, orphans, processes

MOST = 256
"""Ancestors that are looked at."""


def a_run(owners: Collection[str] = ()) -> bool:
    """Whether this process or one that it descends from was started by an executor.

    Args:
        owners: the processes that run something now, as `owners.mine` tells them; they themselves are no executor's.
    """
    if os.environ.get(orphans.MARK) or brands.of(0) is not None:
        return True
    running = {":".join(owner.split(":")[-2:]) for owner in owners}
    process = processes.find(os.getpid())
    for _ in range(MOST):
        if process is None or process.number <= 1:
            return False
        if processes.variable(process.number, orphans.MARK) or brands.of(process.number) is not None:
            return True
        process = processes.find(process.parent)
        if process is not None and f"{process.number}:{process.started}" in running:
            return True
    return True
