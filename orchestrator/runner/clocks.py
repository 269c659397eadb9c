"""The clocks of a run. The one that runs out first ends it and is named."""

from __future__ import annotations

from orchestrator.core.running import prompts
from orchestrator.core.tuples import NamedTuple


class Limits(NamedTuple):
    """The clocks of a run, in milliseconds.

    executor_timeout_ms: for the whole run.
    progress_timeout_ms: without a byte of output.
    prompt_ms: for which an unfinished prompt has to stay the last line.
    finished_prompt_ms: for which a finished one has to.
    grace_ms: for ending when asked to, before being killed.
    task_deadline: a moment of `time.monotonic()`, in seconds, at which the task's own time is up.
    task_limit_ms: the task's own time, to be told.
    """

    executor_timeout_ms: int = 60_000
    progress_timeout_ms: int = 30_000
    prompt_ms: int = 2_000
    finished_prompt_ms: int = 10_000
    grace_ms: int = 3_000
    task_deadline: float | None = None
    task_limit_ms: int | None = None


class Cause(NamedTuple):
    """What ends a run.

    moment: the second from which on it does.
    limit, timeout_ms: the name of the clock that ran out, and what it was set to.
    prompt: the line at which the program waits; not masked.
    """

    moment: float
    limit: str | None = None
    timeout_ms: int | None = None
    prompt: str | None = None


BY_ITSELF = Cause(0.0)
CANCELLED = Cause(0.0)


def task_time(limits: Limits, begun: float) -> list[Cause]:
    """The task's own clock, if there is one, for a run that began at that second."""
    if limits.task_deadline is None:
        return []
    left_ms = round((limits.task_deadline - begun) * 1000)
    return [Cause(limits.task_deadline, "task_limits.seconds", limits.task_limit_ms or max(left_ms, 0))]


def first(limits: Limits, begun: float, heard: float, prompt: prompts.Prompt | None) -> Cause:
    """What will end a run first, if nothing else happens.

    Args:
        limits: all clocks.
        begun: the second in which the run began.
        heard: the second in which it last wrote something.
        prompt: what it waits at.
    """
    causes = [
        Cause(begun + limits.executor_timeout_ms / 1000, "executor_timeout_ms", limits.executor_timeout_ms),
        Cause(heard + limits.progress_timeout_ms / 1000, "progress_timeout_ms", limits.progress_timeout_ms),
        *task_time(limits, begun),
    ]
    if prompt is not None:
        causes.append(Cause(prompt.due, prompt=prompt.text))
    return min(causes, key=lambda cause: cause.moment)
