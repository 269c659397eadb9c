"""Where a desk stands: its project, who executes, and what became of the runs of its session.

Source: seed 001, Property 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from orchestrator.app.kernel.context import Answer
from orchestrator.app.running import earlier
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.running import states
from orchestrator.runner import project


def of(desk: RunSession, runs: Sequence[Answer]) -> Answer:
    """What `/status` shows of a desk.

    Args:
        runs: those of its session, as `views.runs` answers them.
    """
    root = desk.project.root
    pointers = project.load_pointers(root) if project.is_set_up(root) else project.Pointers()
    asking = [run for run in runs if run["question"] is not None]
    # One that awaits its answer comes before what an ended one has asked.
    asking.sort(key=lambda run: bool(run["state"] == states.AWAITING))
    return {
        "session_id": desk.session_id,
        "project": root,
        "project_mode": desk.project.mode,
        "executor": desk.executor,
        "provider": desk.selection.provider,
        "model": desk.selection.model,
        "tasks": len(runs),
        "states": dict(Counter(run["state"] for run in runs)),
        "current_task_id": pointers.current_task_id,
        "last_task_id": pointers.last_task_id,
        "question": asking[-1]["question"] if asking else None,
        "db": earlier.database(desk),
    }
