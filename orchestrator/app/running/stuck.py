"""Waiting that can have no end: for who waits for this very process, or for locks that nobody can release.

Source: seed 001, Properties 6 and 12.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.app.kernel.context import Context
from orchestrator.app.running import starting
from orchestrator.core.running import codes, locks
from orchestrator.runner import lost, owners
from orchestrator.store.run_reader import Run


def refuse_own(context: Context, run: Run) -> None:
    """Refuse to wait for a run whose executor has started this process.

    Raises:
        Refused: E403, that run waits for its executor, and so for this process. E405, its own process is gone, and who
            was started by what it left cannot release its locks.
    """
    for each in starting.holders(context, run):
        owner = each.owner or ""
        if not lost.is_within(lost.tag(owner, each.id)):
            continue
        if owners.is_gone(owner):
            why = f"{each.id} is gone and its executor, which started this process, lives on; so its locks stay."
            raise codes.refused("E405", why, holders=[each.id])
        why = f"{run.id} waits for {each.id}, whose executor started this process and waits for it."
        raise locks.deadlock(why, (run.id, each.id))


def refuse_held(context: Context, run: Run, left: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse to go on where what is waited for is held by what could not be ended of a run that is gone.

    Args:
        left: runs whose process is gone, with what lives on of each.

    Raises:
        Refused: E405 {holders, processes}.
    """
    held = [each.id for each in starting.holders(context, run) if each.id in left]
    processes = [process for each in held for process in left[each]]
    if held:
        why = f"{', '.join(held)} is gone, and of it could not be ended: {', '.join(processes)}; so its locks stay."
        raise codes.refused("E405", why, holders=held, processes=processes)
