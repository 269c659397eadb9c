"""Cancellations: whoever asks for one waits a little for its end, and holds up nobody meanwhile."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.concurrency import run_in_threadpool

from orchestrator.app.running.web_run_service import Service

WAIT_S = 5.0
"""Seconds that an answer waits for the end of a run; what takes longer is answered as RUNNING, and ends later."""
_LOOK_S, _LOOK_ELSEWHERE_S = 0.05, 0.25
"""Seconds between two looks, here and in the database, where another process executes the run."""


async def settled(serving: Service, found: dict[str, Any]) -> dict[str, Any]:
    """What a cancellation answers, after the wait for the run's end, which takes no thread of those that answer others.

    Args:
        found: what `Service.cancel` has answered.

    Raises:
        OrchestratorError: as `Service.cancelled`.
    """
    if found["new_status"] != "RUNNING":
        return found
    await until_ended(serving, found["task_id"])
    return await run_in_threadpool(serving.cancelled, found["task_id"], found["old_status"])


async def until_ended(serving: Service, id: str) -> None:
    """Wait until a run that is being stopped has ended, for a while."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        if serving.loop.executes(id):
            await asyncio.sleep(_LOOK_S)
        elif await run_in_threadpool(serving.runs, id):
            await asyncio.sleep(_LOOK_ELSEWHERE_S)
        else:
            return
