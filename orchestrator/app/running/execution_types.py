"""What executing a run is given and what it leaves, as values: the job, what was seen, what is done.

Source: seed 001, Properties 7, 14, 31 and 33.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from orchestrator.app.running.split_task import Part
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import limits
from orchestrator.core.running.config import Settings
from orchestrator.core.running.facts import Facts
from orchestrator.core.running.mention_outcomes import Mention
from orchestrator.hints import Any
from orchestrator.runner import folder_lock, port, process
from orchestrator.runner.snapshot import Change, Snapshot
from orchestrator.runner.verified_files import Verification
from orchestrator.store.run_reader import Run

DIVIDE, EXECUTE, VERIFY, CHECK = "divide", "execute", "verify", "check"
"""The operations of a run; each has exactly one piece of evidence."""

MAX_OUTPUT = 65_536
"""Characters of an executor's answer that go into the database; the whole is in the evidence file."""


class Job(NamedTuple):
    """A run with everything that executing it needs.

    limits: its clocks. prompt: what the executor is told. remembered: question and answer in that, not asked anew.
    attempt: counted from 1; a run that awaited a response is executed again.
    settled: what the executor asked in this attempt and was told at once, as it was answered before in the session.
    part, parts: the part of the task that this is about, and all of them, where it is done in parts.
    secrets: values that are masked wherever they occur.
    interactive: somebody can answer a question. watch, cancelled: as for an executor.
    tell: takes what a person should know meanwhile. begun: entered while it runs.
    place: what holds runs of other databases off its folder.
    """

    run: Run
    executor: port.Executor
    settings: Settings
    limits: process.Limits
    prompt: str
    interactive: bool
    remembered: tuple[str, str] | None = None
    attempt: int = 1
    settled: tuple[str, ...] = ()
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    secrets: tuple[str, ...] = ()
    watch: port.Watch | None = None
    cancelled: Callable[[], bool] | None = None
    tell: Callable[[str], None] | None = None
    begun: Callable[[], AbstractContextManager[None]] = nullcontext
    place: folder_lock.Place | None = None


class Seen(NamedTuple):
    """What was seen of one execution.

    changes: what became of files by its work. mentioned: what the task mentions. after: the project then.
    folders: what became of folders that are mentioned.
    began, answered, looked, at: when it began, when the executor's answer was there, when the runner looked at the
        files, and when it had seen all, the project's checks among it.
    tampered: what was done to what no executor may touch.
    beside: other runs that worked in the project at the same time. shared: what became of files then, by whomever.
    """

    result: port.ExecutorResult
    found: Verification
    changes: Sequence[Change]
    tests: str | None
    checks: Mapping[str, str | None]
    seconds: int
    mentioned: tuple[Mention, ...]
    after: Snapshot
    folders: Mapping[str, str]
    began: str
    answered: str
    looked: str
    at: str
    broken: Sequence[limits.Violation] = ()
    tampered: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    shared: Sequence[Change] = ()


class Done(NamedTuple):
    """One execution with all that came of it: its job, what was seen, the facts so far, and the evidence of it."""

    job: Job
    seen: Seen
    facts: Facts
    evidence: list[dict[str, Any]]


def operations(job: Job, seen: Seen) -> tuple[str, ...]:
    """The names of the operations that an execution consisted of; the first of several is where they were divided."""
    first = (DIVIDE,) if job.part is not None and job.part.number == 1 and not job.settled else ()
    return (*first, EXECUTE, VERIFY, CHECK) if seen.checks else (*first, EXECUTE, VERIFY)


def operation(job: Job, name: str) -> str:
    """The id of an operation of an attempt at a run, or at a part of it."""
    part = f"-part-{job.part.number}" if job.part is not None and name != DIVIDE else ""
    again = f"-told-{len(job.settled)}" if job.settled else ""
    return f"{job.run.id}-{name}{part}" + (f"-{job.attempt}" if job.attempt > 1 else "") + again


def shape(result: port.ExecutorResult) -> dict[str, Any]:
    """What an evidence record keeps of a result."""
    found: dict[str, Any] = {
        "status": result.status, "exit_code": result.exit_code, "duration_ms": result.duration_ms,
        "output_bytes": result.output_bytes, "claimed_files": list(result.claimed_files), "error": result.error,
        "blocked_reason": result.blocked_reason, "timeout_ms": result.timeout_ms, "limit": result.limit,
        "tool_calls": result.tool_calls, "mode": result.mark, "usage": dict(result.usage) if result.usage else None,
        "proposed_tasks": list(result.proposed_tasks), "unfinished": list(result.unfinished),
        "no_text_bytes": result.no_text_bytes or None,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value not in (None, [], "")}
