"""What sessions, tasks and questions ask of runs, as `orchestrator.app.kernel.context.RunHooks` describes it."""

from __future__ import annotations

from orchestrator.app.running.end_session import end_all, end_over, is_idle, queued, refuse_running
from orchestrator.app.running.preflight import decide
from orchestrator.app.running.run_queue import end_of_task

__all__ = ["decide", "end_all", "end_of_task", "end_over", "is_idle", "queued", "refuse_running"]
