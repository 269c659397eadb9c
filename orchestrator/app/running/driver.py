"""Executing a run: what happens between its start and its end, outside of any transaction.

The driver looks at the tree, calls the executor, looks again, runs the project's checks, and records evidence of each
operation. It judges nothing: what it saw becomes the facts that the run is ended with.

Source: seed 001, Properties 4, 7, 8, 11, 31 and 33.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.app.context import Answer, Context
from orchestrator.app.running import finishing, mediating, orders, queueing, records, starting
from orchestrator.app.running.retention import DAY_S
from orchestrator.core import masking, task_types
from orchestrator.core.running import codes, limits, named, phases, states, tests_exist
from orchestrator.core.running import facts as words
from orchestrator.core.running.config import Settings
from orchestrator.core.running.facts import Facts
from orchestrator.errors import OrchestratorError
from orchestrator.runner import checks, evidence_files, guarded, lost, owners, port, process, snapshot, verified
from orchestrator.runner.snapshot import Change, Snapshot
from orchestrator.runner.verified import Verification
from orchestrator.store import run_reader, sqlite
from orchestrator.store.run_reader import Run

EXECUTE, VERIFY, CHECK = "execute", "verify", "check"
"""The operations of a run; each has exactly one piece of evidence."""

POLL_S = 0.05
MAX_OUTPUT = 65_536
"""Characters of an executor's answer that go into the database; the whole is in the evidence file."""


class Job(NamedTuple):
    """A run with everything that executing it needs.

    limits: its clocks. prompt: what the executor is told. remembered: question and answer in that, not asked anew.
    attempt: counted from 1; a run that awaited a response is executed again. secrets: values that are masked
    wherever they occur.
    interactive: somebody can answer a question. watch, cancelled: as for an executor.
    """

    run: Run
    executor: port.Executor
    settings: Settings
    limits: process.Limits
    prompt: str
    interactive: bool
    remembered: tuple[str, str] | None = None
    attempt: int = 1
    secrets: tuple[str, ...] = ()
    watch: port.Watch | None = None
    cancelled: Callable[[], bool] | None = None


class Seen(NamedTuple):
    """What was seen of one execution; `tampered` is what was done to what no executor may touch."""

    result: port.ExecutorResult
    found: Verification
    changes: Sequence[Change]
    tests: str | None
    checks: Mapping[str, str | None]
    seconds: int
    present: Collection[str]
    tampered: tuple[str, ...] = ()


def execute(context: Context, job: Job) -> Answer:
    """Start a queued run as soon as it may, execute it, and end it.

    Returns:
        What `finishing.finish` answers; what `queueing.cancel` does where it was cancelled before it began.

    Raises:
        Refused: the run could not be started: E403 after the deadlock timeout, or what `starting.start` refuses
            otherwise. It is still queued then.
        EnvironmentProblem: NO_DATABASE, the database was deleted meanwhile; nothing is written anywhere then.
    """
    if not wait_and_start(context, job):
        run = job.run
        return queueing.cancel(context, session_id=run.session_id, id=run.id, reason="cancelled before it began")
    job = job._replace(attempt=attempts(context, job.run))
    seen = _look(context, job)
    return records.end(context, job, seen, _facts(context, job, seen))


def wait_and_start(context: Context, job: Job) -> bool:
    """Start the run once a place is free and nobody holds its project, waiting for as long as the settings say.

    Returns:
        False where it was cancelled meanwhile.
    """
    run, capacity = job.run, job.settings.parallel_limits.executors
    wanted = [(run.verification_root, finishing.lock_mode(run.task_type))]
    until = time.monotonic() + job.settings.timeouts.deadlock_timeout_seconds
    while not (job.cancelled and job.cancelled()):
        free_abandoned(context)
        late = time.monotonic() >= until
        if late or starting.conflict(context, capacity, wanted) is None:
            try:
                starting.start(
                    context, session_id=run.session_id, id=run.id, owner=owners.mine(), capacity=capacity, locks=wanted
                )
            except OrchestratorError as problem:
                if problem.code not in ("E401", "E404"):
                    raise
                if late:
                    raise codes.refused("E403", f"It waited as long as it may: {problem.message}") from problem
            else:
                return True
        time.sleep(POLL_S)
    return False


def free_abandoned(context: Context) -> None:
    """End the runs whose process is gone, so that nobody waits for a dead owner.

    First their executors are ended, which live on and write. Where one cannot be, its run keeps its locks; and whoever
    was started by such an executor itself leaves all of it to others.
    """
    for run in starting.running(context):
        if run.owner is None or not owners.is_gone(run.owner) or lost.is_within(lost.tag(run.owner, run.id)):
            continue
        found = lost.end(lost.tag(run.owner, run.id))
        if found.left:
            continue
        try:
            starting.abandon(
                context, session_id=run.session_id, id=run.id, owner=run.owner, log=_about_lost(found)
            )
            records.save(context, run.session_id, run.id)
        except OrchestratorError:
            # Somebody else was faster, its session is closed, or its project is gone.
            continue


def _about_lost(found: lost.Lost) -> list[dict[str, str]]:
    """What the log of an abandoned run says of its processes."""
    if not found.is_told:
        return [{"kind": "processes", "text": "This system does not tell whether its executor still runs."}]
    return [{"kind": "processes", "text": f"still ran, and was ended: {each}"} for each in found.ended]


def _look(context: Context, job: Job) -> Seen:
    run, began = job.run, time.monotonic()
    raw = evidence_files.raw_file(run.verification_root, run.session_id, operation(job, EXECUTE))
    guard, log = guarded.look(run.verification_root), sqlite.log_identity(context.connection)
    before = snapshot.take(run.verification_root)
    result = _call(job, raw)
    after = snapshot.take(run.verification_root)
    changes = snapshot.changed(before, after)
    found = verified.verify(before, after, changes, result.claimed_files, context.clock())
    try:
        outcome, tests = _check(job, before, changes, result)
    except KeyboardInterrupt:
        outcome, tests, result = {}, None, result._replace(cancelled=True)
    sqlite.require_place(context.connection, log)
    seconds, tampered = round(time.monotonic() - began), _tampered(context, job, guard)
    return Seen(result, found, changes, tests, outcome, seconds, after.files, tampered)


def _tampered(context: Context, job: Job, before: guarded.Look) -> tuple[str, ...]:
    run, days = job.run, job.settings.evidence_settings.retention_days
    expired = datetime.fromisoformat(context.clock()).timestamp() - days * DAY_S
    return guarded.differences(before, guarded.look(run.verification_root), run.session_id, expired)


def _call(job: Job, raw: Path) -> port.ExecutorResult:
    """What the executor tells; an exception is a fault of its adapter, and an error of the run."""
    run = job.run
    task = port.ExecutorTask(
        run_id=run.id, session_id=run.session_id, prompt=job.prompt, task_type=run.task_type,
        project=run.verification_root, model=run.model, limits=job.limits, raw=raw, secrets=job.secrets,
        attempt=job.attempt, tag=lost.tag(owners.mine(), run.id),
    )  # fmt: skip
    try:
        result = job.executor.execute(task, watch=job.watch, cancelled=job.cancelled)
    except KeyboardInterrupt:
        return port.ExecutorResult(states.INCOMPLETE, None, "", error=INTERRUPTED)
    except Exception as fault:
        # Whatever an adapter raises, the run ends and says so.
        said = f"the adapter of {job.executor.name} failed: {type(fault).__name__}: {fault}"
        return port.ExecutorResult(states.ERROR, run.session_id, "", error=masking.mask_keys(said, job.secrets))
    return result


INTERRUPTED = "interrupted"


def _check(
    job: Job, before: Snapshot, changes: Sequence[Change], result: port.ExecutorResult
) -> tuple[Mapping[str, str | None], str | None]:
    """Run the project's own checks where source was changed; the tests' outcome, by itself, comes last."""
    detection, touched = job.settings.detection, [change.path for change in changes if change.kind != snapshot.DELETED]
    source = [path for path in touched if tests_exist.is_source(path, detection)]
    ended = result.status == states.ERROR or result.executor_blocked or result.exit_code not in (None, 0)
    ended = ended or _is_cancelled(job, result)
    if job.run.task_type != task_types.IMPLEMENTATION or not source or ended:
        return {}, None
    timeout_s = float(job.settings.timeouts.operation_timeout_seconds)
    outcome = checks.run(
        job.run.verification_root, timeout_s=timeout_s, detection=detection, cancelled=job.cancelled,
        tag=lost.tag(owners.mine(), job.run.id),
    )  # fmt: skip
    if not tests_exist.own_tests(before.files, detection) and outcome.get("tests") is None:
        return outcome, words.NONE
    tests = outcome.get("tests")
    return outcome, None if tests is None else words.PASSED if tests == words.PASSED else words.FAILED


def _is_cancelled(job: Job, result: port.ExecutorResult) -> bool:
    return result.cancelled or result.error == INTERRUPTED or bool(job.cancelled and job.cancelled())


def operation(job: Job, name: str) -> str:
    """The id of an operation of an attempt at a run."""
    return f"{job.run.id}-{name}" + (f"-{job.attempt}" if job.attempt > 1 else "")


def attempts(context: Context, run: Run) -> int:
    """How often a run was started so far."""
    return sum(event["kind"] == "started" for event in run_reader.events(context.connection, run.session_id, run.id))


def operations(seen: Seen) -> tuple[str, ...]:
    """The names of the operations that a run consisted of."""
    return (EXECUTE, VERIFY, CHECK) if seen.checks else (EXECUTE, VERIFY)


def _facts(context: Context, job: Job, seen: Seen) -> Facts:
    run, result = job.run, seen.result
    deleted = [change.path for change in seen.changes if change.kind == snapshot.DELETED]
    return Facts(
        task_type=run.task_type,
        status=result.status,
        output=result.output[-MAX_OUTPUT:],
        exit_code=result.exit_code,
        session=result.session_id,
        issued_session=run.session_id,
        claimed_files=tuple(result.claimed_files),
        verified=tuple(words.File(file.path, file.exists, file.detection_method) for file in seen.found.files
                       if file.path not in deleted),
        ordered_deletions=named.ordered_deletions(run.prompt, deleted),
        targets_unmet=orders.unmet(context, run, seen.present, [change.path for change in seen.changes]),
        unverifiable=tuple(problem.path for problem in seen.found.problems),
        tampered=seen.tampered,
        tests=seen.tests,
        checks_failed=tuple(name for name, outcome in seen.checks.items() if outcome not in (None, phases.PASSED)),
        violations=tuple(each.sentence() for each in broken(context, job, seen)),
        error=result.error,
        cause=result.cause,
        denied_tools=tuple(result.denied_tools),
        background=result.background,
        executor_blocked=result.executor_blocked,
        blocked_reason=result.blocked_reason,
        timeout_ms=result.timeout_ms,
        limit=result.limit,
        signal=result.signal,
        cancelled=_is_cancelled(job, result),
        interactive=job.interactive,
        leftovers=tuple(result.leftovers),
    )  # fmt: skip


def broken(context: Context, job: Job, seen: Seen) -> list[limits.Violation]:
    """The limits that the task is over, its earlier runs included in what it took."""
    given = job.settings.task_limits
    allowed = limits.TaskLimits(files=given.files, tests=given.tests, seconds=given.seconds)
    touched = [change.path for change in seen.changes]
    tests = [path for path in touched if tests_exist.is_of_tests(path, job.settings.detection)]
    taken = seen.seconds + earlier_seconds(context, job.run)
    actual = {"files": len(touched), "tests": len(tests), "seconds": taken}
    return limits.violations(allowed, actual, context.clock())


def limits_of(context: Context, run: Run, settings: Settings, given: process.Limits) -> process.Limits:
    """The clocks of a run, with what is left of the time that its task may take over all its runs."""
    allowed = settings.task_limits.seconds
    left = max(0.0, allowed - earlier_seconds(context, run))
    return given._replace(task_deadline=time.monotonic() + left, task_limit_ms=allowed * 1000)


def require_tests(context: Context, run: Run, settings: Settings) -> None:
    """Refuse a run that is to change source in a project without tests, before any executor is called.

    Raises:
        Refused: E211.
    """
    paths = snapshot.take(run.verification_root).files
    tests_exist.require(
        run.task_type, named.files(mediating.prompt(context, run)) or None, paths, settings.detection,
        checks.other_tests(run.verification_root, settings.detection),
    )


def earlier_seconds(context: Context, run: Run) -> int:
    """How long the runs of the same task took that ended before."""
    total = 0.0
    for each in run_reader.of_task(context.connection, run.session_id, run.task_id):
        if each.id != run.id and each.started_at and each.ended_at:
            begun, ended = datetime.fromisoformat(each.started_at), datetime.fromisoformat(each.ended_at)
            total += max(0.0, (ended - begun).total_seconds())
    return round(total)


def shape(result: port.ExecutorResult) -> dict[str, Any]:
    """What an evidence record keeps of a result."""
    found: dict[str, Any] = {
        "status": result.status, "exit_code": result.exit_code, "duration_ms": result.duration_ms,
        "output_bytes": result.output_bytes, "claimed_files": list(result.claimed_files), "error": result.error,
        "blocked_reason": result.blocked_reason, "timeout_ms": result.timeout_ms, "limit": result.limit,
        "tool_calls": result.tool_calls, "mode": result.mark, "usage": dict(result.usage) if result.usage else None,
        "proposed_tasks": list(result.proposed_tasks),
    }  # fmt: skip
    return {name: value for name, value in found.items() if value not in (None, [], "")}
