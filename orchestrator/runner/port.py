"""What the runner asks of an executor, and what it gets back; every executor is one adapter behind this.

An executor carries a task out and tells what happened. It decides nothing: the runner verifies and judges.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from orchestrator.runner import process

Watch = Callable[["process.Progress"], None]
Cancelled = Callable[[], bool]


class Availability(NamedTuple):
    """Whether an executor can be called at all.

    code: where it cannot, one of `failures.KINDS`; reason: one sentence; suggestion: the command or act that helps.
    """

    available: bool
    code: str | None = None
    reason: str | None = None
    suggestion: str | None = None


class ExecutorTask(NamedTuple):
    """One attempt at one run.

    session_id: issued by the runner; a result that names another is not this run's.
    project: the absolute folder in which the work is done.
    limits: the clocks, in milliseconds.
    raw: the evidence file that receives the whole output; None where none is kept.
    secrets: values that are masked wherever they occur.
    attempt: counted from 1 over the attempts of one run. told: how many of its questions were answered at once in it.
    tag: begins the mark of the processes that are started for it.
    writes: it is known to write files, whatever its type.
    role, group: whose turn it is, where the task is an agent's turn, whose product is a report.
    conversation: an earlier one that it goes on with, as a result named it; None begins a new one.
    variables: further variables of the program's environment.
    commands: command lines that it may run without being asked, where it has a shell.
    budget: what it may cost, in millionths of a dollar; None for any amount, and of no effect where the program has no
        such limit.
    """

    run_id: str
    session_id: str
    prompt: str
    task_type: str
    project: str
    model: str | None
    limits: process.Limits
    raw: pathlib.Path | None
    secrets: tuple[str, ...] = ()
    attempt: int = 1
    told: int = 0
    tag: str | None = None
    writes: bool = False
    role: str | None = None
    group: str | None = None
    conversation: str | None = None
    variables: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()
    budget: int | None = None


class ExecutorResult(NamedTuple):
    """What an executor tells of an attempt; a claim until the runner has verified it.

    status: COMPLETE, INCOMPLETE, NO_EVIDENCE, ERROR, INVALID or BLOCKED.
    session_id: the session that the result names; None where it names none.
    output: the answer as text, bounded, with keys masked.
    claimed_files: files that the program says it made, as it wrote them.
    error: `KIND: sentence`, with one of `failures.KINDS`, or the program's own sentence.
    cause: the blocker's type that the error stands for, where one is known.
    executor_blocked, blocked_reason, prompt: it asked (`INTERACTIVE_PROMPT`, with what) or hung (`TIMEOUT`).
    timeout_ms, limit: the clock that ended it, in milliseconds and by name.
    leftovers: processes that could not be ended.
    denied_tools: tools that the program was not allowed to use.
    proposed_tasks: subtasks that it would like to have.
    tool_calls, usage: what it counted itself; None where it counts nothing. usage_is_total: whether that is of the
        whole conversation, also where it was gone on with.
    mark: what every record of a test executor carries.
    background: whether it left work unfinished in the background, by its events or processes; None where nothing tells.
    unfinished: that work, each with how it stands.
    no_text_bytes: bytes of its output that are no text, which are counted and not kept.
    signal: the signal that ended it. cancelled: it was ended because somebody cancelled the run.
    conversation: by which a further attempt goes on with this one; None where the executor cannot.
    answers: the texts of all results, where there are several, in their order; `output` is the last one.
    resets_at: when a usage limit ends that was reached, in seconds since 1970, where an event says so.
    cost: what the conversation has cost so far, in millionths of a dollar; None where the program does not say.
    """

    status: str
    session_id: str | None
    output: str
    claimed_files: tuple[str, ...] = ()
    error: str | None = None
    cause: str | None = None
    exit_code: int | None = None
    executor_blocked: bool = False
    blocked_reason: str | None = None
    timeout_ms: int | None = None
    limit: str | None = None
    prompt: str | None = None
    leftovers: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    proposed_tasks: tuple[str, ...] = ()
    tool_calls: int | None = None
    usage: Mapping[str, int] | None = None
    usage_is_total: bool = False
    output_bytes: int = 0
    no_text_bytes: int = 0
    duration_ms: int = 0
    mark: str | None = None
    background: bool | None = None
    unfinished: tuple[str, ...] = ()
    signal: int | None = None
    cancelled: bool = False
    conversation: str | None = None
    answers: tuple[str, ...] = ()
    resets_at: int | None = None
    cost: int | None = None


class Executor(Protocol):
    """Carries tasks out.

    name: as the catalogue and the records call it.
    production: False for those that only tests and demonstrations may use.
    Source: seed 001, Property 37.
    """

    @property
    def name(self) -> str:
        """As the catalogue and the records call it."""

    @property
    def production(self) -> bool:
        """Whether it may be used outside of tests and demonstrations."""

    def is_available(self) -> Availability:
        """Whether it can be called here and now; asks no model and starts no program."""

    def execute(
        self, task: ExecutorTask, *, watch: Watch | None = None, cancelled: Cancelled | None = None
    ) -> ExecutorResult:
        """Carry one task out and wait for its end.

        Args:
            task: what to do, where and within which limits.
            watch: is told of progress meanwhile.
            cancelled: is asked again and again; once true, the work is ended.

        Returns:
            What happened, also where the program failed, hung or could not be started. It raises for nothing that
            the program did; any exception is a fault of the adapter.
        """
