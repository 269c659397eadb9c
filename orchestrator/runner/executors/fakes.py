"""Executors of fixed behaviour for tests: no program, no network, no model. Never in production.

Source: seed 001, Property 37.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from orchestrator import errors
from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import simulated_failures as environment
from orchestrator.hints import Final
from orchestrator.runner import port
from orchestrator.runner.executors import failures, files

_TICK_S = 0.01


class Fake(NamedTuple):
    """Behaves in one way, whatever the task is.

    result: makes the result from the task.
    writes: files that it makes in the project, each with its text.
    delay_ms: how long it works; its limits and a cancellation end it earlier.
    """

    name: str
    result: Callable[[port.ExecutorTask], port.ExecutorResult]
    writes: Mapping[str, str] = {}
    delay_ms: int = 0
    production: bool = False

    def is_available(self) -> port.Availability:
        """Always."""
        return port.Availability(True)

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Give the fixed result, after the delay and with the files written."""
        ended = work(task, self.delay_ms, cancelled)
        if ended is not None:
            return ended
        files.write(task.project, self.writes)
        return failures.cleaned(self.result(task)._replace(duration_ms=self.delay_ms), task.secrets)


def success(
    output: str = "The fake executor has answered.",
    *,
    writes: Mapping[str, str] | None = None,
    claimed: tuple[str, ...] | None = None,
    delay_ms: int = 0,
) -> Fake:
    """Says COMPLETE.

    Args:
        output: its answer.
        writes: files that it makes, each with its text.
        claimed: files that it says it made; those that it made where left out.
        delay_ms: how long it works.
    """
    made = {} if writes is None else dict(writes)
    names = tuple(made) if claimed is None else claimed

    def result(task: port.ExecutorTask) -> port.ExecutorResult:
        return port.ExecutorResult("COMPLETE", task.session_id, output, claimed_files=names, exit_code=0)

    return Fake("fake-success", result, made, delay_ms)


def blocked(prompt: str = "Continue? [y/N]") -> Fake:
    """Asks at its terminal, which nobody can answer."""

    def result(task: port.ExecutorTask) -> port.ExecutorResult:
        sentence = f"the program asked and nobody can answer: {prompt}"
        return failures.failed(
            task,
            "INTERACTIVE_PROMPT",
            sentence,
            status="BLOCKED",
            executor_blocked=True,
            blocked_reason="INTERACTIVE_PROMPT",
            prompt=prompt,
        )

    return Fake("fake-blocked", result)


def error(sentence: str = "the fake executor fails", *, exit_code: int = 1) -> Fake:
    """Fails."""

    def result(task: port.ExecutorTask) -> port.ExecutorResult:
        return failures.failed(task, "EXIT_STATUS", sentence, exit_code=exit_code)

    return Fake("fake-error", result)


def timeout() -> Fake:
    """Hangs until its clock has run out, without letting anybody wait for it."""
    return Fake("fake-timeout", lambda task: timed_out(task, "executor_timeout_ms", task.limits.executor_timeout_ms))


def work(task: port.ExecutorTask, delay_ms: int, cancelled: port.Cancelled | None) -> port.ExecutorResult | None:
    """Let the time of some work pass; a result where a limit or a cancellation ended it."""
    begun = time.monotonic()
    limit, limit_ms = _smallest(task, begun)
    while (left_ms := delay_ms - (time.monotonic() - begun) * 1000) > 0:
        if cancelled is not None and cancelled():
            return failures.cancelled(task)
        if (time.monotonic() - begun) * 1000 >= limit_ms:
            return timed_out(task, limit, limit_ms)._replace(duration_ms=limit_ms)
        time.sleep(min(_TICK_S, left_ms / 1000))
    return None


def _smallest(task: port.ExecutorTask, now: float) -> tuple[str, int]:
    clocks = {
        "executor_timeout_ms": task.limits.executor_timeout_ms,
        "progress_timeout_ms": task.limits.progress_timeout_ms,
    }
    if task.limits.task_deadline is not None:
        clocks["task_limits.seconds"] = max(0, int((task.limits.task_deadline - now) * 1000))
    return min(clocks.items(), key=lambda clock: clock[1])


def timed_out(task: port.ExecutorTask, limit: str, limit_ms: int) -> port.ExecutorResult:
    """The result of work that a clock ended.

    Args:
        task: the attempt.
        limit: the clock's name; limit_ms: what it allows, in milliseconds.
    """
    return failures.failed(
        task,
        "TIMEOUT",
        f"{limit} of {limit_ms} ms is over",
        executor_blocked=True,
        blocked_reason="TIMEOUT",
        timeout_ms=limit_ms,
        limit=limit,
    )


PLAYED: Final[dict[str, Callable[[], Fake]]] = {
    "blocked": blocked,
    "timeout": timeout,
    "error": error,
    "success": success,
}


class Stub(NamedTuple):
    """One of the fakes, whose every result carries the mark."""

    fake: Fake
    name: str = environment.STUB
    production: bool = False

    def is_available(self) -> port.Availability:
        """Always; production is refused before it is made."""
        return self.fake.is_available()

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Play the scenario."""
        return self.fake.execute(task, watch=watch, cancelled=cancelled)._replace(mark=environment.MARK)


def from_environment(variables: Mapping[str, str]) -> Stub | None:
    """The stub that the environment asks for, or None where it asks for none.

    Raises:
        Refused: EXECUTOR_FORBIDDEN, this is production.
        InvalidInput: RECOVERY_SCENARIO_UNKNOWN; EXECUTOR_UNKNOWN, another mode than the stub's.
    """
    start = environment.decide(variables)
    if start.scenario is not None:
        return Stub(PLAYED[start.scenario]())
    if start.exit_code is None:
        return None
    if variables[environment.MODE_VARIABLE].strip().lower() != environment.STUB:
        help_ = f"unset {environment.MODE_VARIABLE}"
        raise errors.InvalidInput("EXECUTOR_UNKNOWN", start.stderr[0], help_, known=[environment.STUB])
    if environment.in_production(variables):
        help_ = f"unset {environment.MODE_VARIABLE}"
        raise errors.Refused("EXECUTOR_FORBIDDEN", environment.FATAL, help_, executor=environment.STUB)
    near = names.nearest(variables.get(environment.SCENARIO_VARIABLE, ""), tuple(PLAYED))
    help_ = f"did you mean {near}?" if near else f"set {environment.SCENARIO_VARIABLE} to one of {', '.join(PLAYED)}"
    raise errors.InvalidInput("RECOVERY_SCENARIO_UNKNOWN", start.stderr[0], help_, known=[*PLAYED])
