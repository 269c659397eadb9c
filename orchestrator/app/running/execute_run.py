"""Executing a run: what happens between its start and its end, outside of any transaction.

The tree is read, the executor called, the tree read again, the project's checks are run, and evidence of each operation
is recorded. Nothing is judged here: what was seen becomes the facts that the run is ended with. A task that is larger
than its limits is done in parts, as long as each of them is complete.

Source: seed 001, Properties 4, 7, 8, 11, 14, 17, 20, 31, 33 and 35.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from orchestrator.app.kernel import attached_evidence, operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.running import (
    clarification,
    concurrent_runs,
    current_task_file,
    evidence_and_log,
    execution_types,
    lock_acquisition,
    preflight,
    requested_files,
    run_queue,
    run_repository,
    session_status,
    split_task,
    start_run,
    work_leases,
)
from orchestrator.app.running.execution_types import EXECUTE, MAX_OUTPUT, Done, Job, Seen
from orchestrator.app.running.retention import DAY_S
from orchestrator.app.running.run_session import RunSession
from orchestrator.app.running.split_task import Part
from orchestrator.core import masking, task_types
from orchestrator.core.running import (
    ambiguity,
    blocked_output,
    codes,
    hedging_words,
    judgement,
    limits,
    mention_outcomes,
    mentions,
    phases,
    states,
    tests_exist,
)
from orchestrator.core.running import facts as words
from orchestrator.core.running.config import Settings
from orchestrator.core.running.facts import Facts
from orchestrator.core.running.file_names import Tree
from orchestrator.core.running.mention_outcomes import Mention
from orchestrator.errors import EnvironmentProblem, OrchestratorError
from orchestrator.hints import Any
from orchestrator.runner import (
    atomic_files,
    checks,
    evidence_files,
    folder_lock,
    orphan_recovery,
    output_capture,
    port,
    process,
    process_identity,
    protected_paths,
    snapshot,
    verified_files,
)
from orchestrator.runner.snapshot import Change, Snapshot
from orchestrator.store import run_reader, sqlite
from orchestrator.store.run_reader import Run

_LOOKS = snapshot.Looks()

LISTED = 200
"""Files beyond what a task mentions that its verdict lists."""


OF_THE_PROJECT = "OUTPUT_FAILED"
"""The problem of the surroundings that is the run's own: its project cannot be written."""


def execute(
    session: RunSession, id: str, watch: port.Watch | None = None, cancelled: Callable[[], bool] | None = None
) -> Answer:
    """Execute a queued run of the session to its end, or until it awaits a response; the run as it is then.

    Raises:
        Refused: UNKNOWN_ID.
    """
    run = session_status.require_run(session, id)
    if run.state == states.QUEUED:
        try:
            with work_leases.at_work(session.context):
                _execute_job(session.context, _job(session, run, watch, cancelled))
        except OrchestratorError as problem:
            give_up(session, run.id, problem)
    return session_status.shown(session, run.id)


def _job(
    session: RunSession, run: Run, watch: port.Watch | None, cancelled: Callable[[], bool] | None
) -> Job:
    return Job(
        run=run,
        executor=session.executor_of(run),
        settings=session.settings,
        limits=limits_of(session.context, run, session.settings, process.Limits(
            executor_timeout_ms=session.flags.executor_timeout_ms, progress_timeout_ms=session.flags.progress_timeout_ms
        )),
        prompt=clarification.prompt(session.context, run),
        remembered=clarification.remembered(session.context, run),
        interactive=session.flags.interactive,
        secrets=session.secrets,
        watch=watch,
        cancelled=stop_requested(session.context, run, cancelled),
        tell=session.tell,
        begun=functools.partial(current_task_file.pointed, session.context, session.project.root, run),
    )  # fmt: skip


def _execute_job(context: Context, job: Job) -> Answer:
    """Start a queued run as soon as it may, execute it, and end it.

    Returns:
        What `finish_run.finish` answers; what `run_queue.cancel` does where it was cancelled before it began.

    Raises:
        Refused: the run could not be started: E206, it is too large and cannot be divided; E403 after the deadlock
            timeout; or what `start_run.start` refuses otherwise. It is still queued then.
        EnvironmentProblem: NO_DATABASE, the database was deleted meanwhile; nothing is written anywhere then.
    """
    divided = split_task.split(context, job.run, job.settings)
    place = folder_lock.Place(job.run.verification_root, context.path, job.run.id)
    try:
        if lock_acquisition.start_when_free(context, _waiter(context, job), place):
            with job.begun():
                return _executed(context, job._replace(place=place), divided)
    finally:
        place.leave()
    run = job.run
    unrun = run_queue.CancelRun(session_id=run.session_id, id=run.id, reason="cancelled before it began")
    return operations.ask(context, unrun)


def _waiter(context: Context, job: Job) -> lock_acquisition.Waiter:
    run, capacity = job.run, job.settings.parallel_limits.executors
    mine: dict[str, str] = {"session_id": run.session_id, "id": run.id, "owner": process_identity.mine()}

    def start() -> Answer:
        locks = start_run.wants(context, run)
        return operations.ask(context, start_run.StartRun(**mine, capacity=capacity, locks=locks))

    return lock_acquisition.Waiter(
        run, capacity, job.settings.timeouts.deadlock_timeout_seconds, start=start,
        note=lambda why: operations.ask(context, start_run.AwaitStart(**mine, reason=why)), tell=job.tell,
        cancelled=job.cancelled,
    )  # fmt: skip


def _executed(context: Context, job: Job, divided: tuple[Part, ...]) -> Answer:
    job = job._replace(attempt=attempts(context, job.run))
    done: list[Done] = []
    for part in divided or (None,):
        done.append(_done(context, job if part is None else _about(job, part, divided), done))
        while (again := _asked_again(context, done)) is not None:
            done.append(_done(context, again, done))
        if judgement.judge(done[-1].facts).state != states.DONE:
            break
    return evidence_and_log.end_run(context, done, divided)


def _asked_again(context: Context, done: Sequence[Done]) -> Job | None:
    """The same job with the answer that the session has for what its executor asks, or None.

    Source: seed 001, Property 19.
    """
    job, asked = done[-1].job, judgement.judge(done[-1].facts).question
    if asked is None or ambiguity.normalised(asked) in job.settled:
        return None
    reply = clarification.recalled(context, job.run, asked, job.remembered)
    if reply is None:
        return None
    prompt = f"{job.prompt}\n\n{clarification.pair(asked, reply)}"
    return job._replace(prompt=prompt, remembered=(asked, reply), settled=(*job.settled, ambiguity.normalised(asked)))


def _about(job: Job, part: Part, divided: tuple[Part, ...]) -> Job:
    """The job of one part: a part is a task in itself, so that its time is its own."""
    seconds = job.settings.task_limits.seconds
    limits = job.limits._replace(task_deadline=time.monotonic() + seconds, task_limit_ms=seconds * 1000)
    return job._replace(prompt=split_task.prompt(job.prompt, part), part=part, parts=divided, limits=limits)


def _done(context: Context, job: Job, before: Sequence[Done]) -> Done:
    """Execute a job, which goes on from what was done before, and keep the evidence of it."""
    seen = _look(context, job)
    if job.settled:
        # What was asked has been answered, and is no part of what the executor says now.
        before = [*before[:-1], before[-1]._replace(facts=before[-1].facts._replace(output=""))]
    facts = _facts(context, job, seen, before)
    evidence, facts = evidence_and_log.keep_evidence(context, job, seen, facts, before[-1].evidence if before else [])
    return Done(job, seen, facts, evidence)


def _look(context: Context, job: Job) -> Seen:
    run, began, begun = job.run, time.monotonic(), context.clock()
    kept_below = attached_evidence.run_root(context.path, run.verification_root)
    raw = evidence_files.raw_file(kept_below, run.session_id, execution_types.operation(job, EXECUTE))
    since = concurrent_runs.mark(context, run)
    guard, log = protected_paths.look(run.verification_root), sqlite.log_identity(context.connection)
    before = _LOOKS.take(run.verification_root)
    known = requested_files.tree(before)
    mentioned = requested_files.mentioned(context, run, known)
    with atomic_files.held_room(raw.parent):
        result = _call(job, raw, writes=start_run.writes(context, run))
    answered = context.clock()
    after, looked = snapshot.take(run.verification_root, contents=False), context.clock()
    every, beside = snapshot.changed(before, after), concurrent_runs.beside(context, run, since)
    # What changed while others worked here too proves nothing for anybody (RUN-9).
    changes, shared = ([], every) if beside else (every, [])
    # What an executor says is masked, what is on the disk is not.
    names = {masking.mask_keys(change.path, job.secrets): change.path for change in every}
    result = result._replace(claimed_files=tuple(names.get(path, path) for path in result.claimed_files))
    found = verified_files.verify(before, after, changes, result.claimed_files, looked, alone=not beside)
    try:
        outcome, tests = _check(job, before, changes, result)
    except KeyboardInterrupt:
        outcome, tests, result = {}, None, result._replace(cancelled=True)
    sqlite.require_place(context.connection, log)
    seconds, tampered = round(time.monotonic() - began), _tampered(context, job, guard, since)
    # The time of a part is its own; that of a task counts over all its runs (RUN-24).
    taken = seconds + (earlier_seconds(context, run) if job.part is None else 0)
    broken = broken_limits(job.settings, every, taken, context.clock())
    folders = {} if beside else _folders(mentioned, known, requested_files.tree(after))
    return Seen(
        result, found, changes, tests, outcome, seconds, mentioned, after, folders, begun, answered, looked,
        context.clock(), broken, tampered, beside, shared,
    )  # fmt: skip


def _folders(mentioned: Sequence[Mention], before: Tree, after: Tree) -> dict[str, str]:
    """What became of the folders that a task mentions."""
    made = dict.fromkeys(set(after.folders) - set(before.folders), snapshot.NEW)
    gone = dict.fromkeys(set(before.folders) - set(after.folders), snapshot.DELETED)
    return {path: change for path, change in (made | gone).items() if mention_outcomes.means(mentioned, path)}


def _tampered(context: Context, job: Job, before: protected_paths.Look, since: concurrent_runs.Mark) -> tuple[str, ...]:
    run, days = job.run, job.settings.evidence_settings.retention_days
    after = protected_paths.look(run.verification_root)
    expired = datetime.fromisoformat(context.clock()).timestamp() - days * DAY_S
    # Asked after the look, so that whoever has written by then is on record.
    others, working = concurrent_runs.writers(context, run, since), concurrent_runs.working(context, run, since)
    held = job.place.tampered() if job.place is not None else ()
    return (*protected_paths.differences(before, after, run.session_id, expired, others, working), *held)


def _call(job: Job, raw: Path, *, writes: bool) -> port.ExecutorResult:
    """What the executor tells; an exception is a fault of its adapter, and an error of the run."""
    run = job.run
    task = port.ExecutorTask(
        run_id=run.id, session_id=run.session_id, prompt=job.prompt, task_type=run.task_type,
        project=run.verification_root, model=run.model, limits=job.limits, raw=raw, secrets=job.secrets,
        attempt=job.attempt, told=len(job.settled), tag=orphan_recovery.tag(process_identity.mine(), run.id),
        writes=writes,
    )  # fmt: skip
    return called(job.executor, task, job.watch, job.cancelled)


INTERRUPTED = "interrupted"


def called(
    executor: port.Executor, task: port.ExecutorTask, watch: port.Watch | None, cancelled: port.Cancelled | None
) -> port.ExecutorResult:
    """What an executor tells of a task; whatever its adapter raises, the run ends and says so."""
    try:
        return executor.execute(task, watch=watch, cancelled=cancelled)
    except KeyboardInterrupt:
        return port.ExecutorResult(states.INCOMPLETE, None, "", error=INTERRUPTED)
    except output_capture.EvidenceLost as lost_:
        said = masking.mask_keys(f"{lost_.kind}: {lost_}", task.secrets)
        return port.ExecutorResult(states.ERROR, task.session_id, "", error=said)
    except Exception as fault:
        said = f"{words.ADAPTER}{executor.name} failed: {type(fault).__name__}: {fault}"
        return port.ExecutorResult(states.ERROR, task.session_id, "", error=masking.mask_keys(said, task.secrets))


def _check(
    job: Job, before: Snapshot, changes: Sequence[Change], result: port.ExecutorResult
) -> tuple[Mapping[str, str | None], str | None]:
    """Run the project's own checks where source was changed, and its tests where they are ordered to pass.

    Returns:
        The outcome of each check; that of the tests by itself.
    """
    detection, touched = job.settings.detection, [change.path for change in changes if change.kind != snapshot.DELETED]
    source = [path for path in touched if tests_exist.is_source(path, detection)]
    ended = result.status == states.ERROR or result.executor_blocked or result.exit_code not in (None, 0)
    ended = ended or _is_cancelled(job, result)
    every = job.run.task_type == task_types.IMPLEMENTATION and bool(source)
    if ended or not (every or (changes and _orders_passing(job))):
        return {}, None
    timeout_s = float(job.settings.timeouts.operation_timeout_seconds)
    outcome = checks.run(
        job.run.verification_root, timeout_s=timeout_s, detection=detection, cancelled=job.cancelled,
        tag=orphan_recovery.tag(process_identity.mine(), job.run.id), only=None if every else ("tests",),
    )  # fmt: skip
    if not tests_exist.own_tests(before.files, detection) and outcome.get("tests") is None:
        return outcome, words.NONE
    tests = outcome.get("tests")
    return outcome, None if tests is None else words.PASSED if tests == words.PASSED else words.FAILED


def _orders_passing(job: Job) -> bool:
    """Whether tests have to pass behind this part of the run, which is the last one."""
    return (job.part is None or not job.part.later) and mentions.orders_passing(job.run.prompt)


def _is_cancelled(job: Job, result: port.ExecutorResult) -> bool:
    return result.cancelled or result.error == INTERRUPTED or bool(job.cancelled and job.cancelled())


def attempts(context: Context, run: Run) -> int:
    """How often a run was started so far."""
    return sum(event["kind"] == "started" for event in run_reader.events(context.connection, run.session_id, run.id))


def _facts(context: Context, job: Job, seen: Seen, before: Sequence[Done]) -> Facts:
    """What is known by now; of what was done before all was complete, and its files count with these."""
    run, result = job.run, seen.result
    came = _outcome(context, job, seen, before)
    deleted = [snapshot.told(change.path) for change in seen.changes if change.kind == snapshot.DELETED]
    output = result.output[-MAX_OUTPUT:]
    where = "" if job.part is None else f" in {job.part.sentence()}"
    facts = Facts(
        task_type=run.task_type,
        status=result.status,
        output=output,
        expected=hedging_words.expected_claim(hedging_words.spoken(output)),
        said=_said(output) if result.status == states.COMPLETE else None,
        exit_code=result.exit_code,
        session=result.session_id,
        issued_session=run.session_id,
        claimed_files=tuple(verified_files.relative(run.verification_root, path) for path in result.claimed_files),
        verified=tuple(words.File(file.path, file.exists, file.detection_method) for file in seen.found.files
                       if file.path not in deleted),
        unapproved=run_reader.made_below(context.connection, run),
        unverifiable=tuple(problem.path for problem in seen.found.problems),
        claim_problems=tuple(problem.why for problem in seen.found.problems),
        tampered=seen.tampered,
        beside=seen.beside,
        unattributed=tuple(snapshot.told(change.path) for change in seen.shared),
        tests=seen.tests,
        tests_ordered=_orders_passing(job),
        checks_failed=tuple(name for name, outcome in seen.checks.items() if outcome not in (None, phases.PASSED)),
        violations=tuple(f"{each.sentence()}{where}" for each in seen.broken),
        error=result.error,
        cause=result.cause,
        denied_tools=tuple(result.denied_tools),
        background=result.background, unfinished=tuple(result.unfinished),
        executor_blocked=result.executor_blocked,
        blocked_reason=result.blocked_reason,
        timeout_ms=result.timeout_ms, limit=result.limit, signal=result.signal,
        cancelled=_is_cancelled(job, result),
        interactive=job.interactive,
        leftovers=tuple(result.leftovers),
        **came,
    )  # fmt: skip
    return words.joined(before[-1].facts, facts, deleted) if before else facts


def _said(output: str) -> str | None:
    """The answer without words that are data, where one of them would count otherwise.

    Source: seed 001, Property 15.
    """
    counts = hedging_words.guesses(output) or hedging_words.put_off(output) or blocked_output.last_question(output)
    said = hedging_words.spoken(output) if counts else output
    return None if said == output else said


def _outcome(context: Context, job: Job, seen: Seen, before: Sequence[Done]) -> dict[str, Any]:
    """What became of what the task mentions, as facts."""
    run = job.run
    every = [*(done.seen for done in before), seen]
    touched = {path: change for each in every for path, change in requested_files.kinds(each.changes).items()}
    made = {path for each in every for path, change in each.folders.items() if change == snapshot.NEW}
    about, later = (job.part.files, job.part.later) if job.part is not None else (None, ())
    # What an earlier part has made was not there before the task.
    came = requested_files.outcome(context, run, every[0].mentioned, seen.after, touched, made, about, later)
    return {
        "ordered_deletions": came.deleted, "targets_unmet": came.unmet, "stray": came.stray, "unnamed": came.unnamed,
        "untouched": came.untouched, "unmentioned": came.unmentioned[:LISTED] if seen.mentioned else (),
        "folders": came.folders, "settled": came.settled, "absent": came.absent,
        "guessed": requested_files.is_guessed(context, run),
    }  # fmt: skip


def require_tests(context: Context, run: Run, settings: Settings) -> None:
    """Refuse a run that is to change source in a project without tests, before any executor is called.

    Raises:
        Refused: E211.
    """
    if run.task_type != tests_exist.TASK_TYPE:
        # It needs none, and a look at a large project costs more than all else.
        return
    look = snapshot.take(run.verification_root, contents=False)
    text = requested_files.relative(clarification.prompt(context, run), run.verification_root)
    found = mentions.find(text, requested_files.tree(look))
    tests_exist.require(
        run.task_type, mentions.to_change(text, found), look.files, settings.detection,
        checks.other_tests(run.verification_root, settings.detection),
    )


def broken_limits(settings: Settings, changes: Sequence[Change], seconds: int, at: str) -> list[limits.Violation]:
    """The limits that a task, or a part of one, is over.

    Args:
        changes: what became of files.
        seconds: how long it took, over all its runs.
        at: the time, as it is recorded.
    """
    touched = [change.path for change in changes]
    tests = [path for path in touched if tests_exist.is_of_tests(path, settings.detection)]
    actual = {"files": len(touched), "tests": len(tests), "seconds": seconds}
    return limits.violations(settings.task_limits, actual, at)


def limits_of(context: Context, run: Run, settings: Settings, given: process.Limits) -> process.Limits:
    """The clocks of a run, with what is left of the time that its task may take over all its runs."""
    allowed = settings.task_limits.seconds
    left = max(0.0, allowed - earlier_seconds(context, run))
    return given._replace(task_deadline=time.monotonic() + left, task_limit_ms=allowed * 1000)


def earlier_seconds(context: Context, run: Run) -> int:
    """How long the runs of the same task took that ended before."""
    from datetime import datetime

    total = 0.0
    for each in run_reader.of_task(context.connection, run.session_id, run.task_id):
        if each.id != run.id and each.started_at and each.ended_at:
            begun, ended = datetime.fromisoformat(each.started_at), datetime.fromisoformat(each.ended_at)
            total += max(0.0, (ended - begun).total_seconds())
    return round(total)


STOP_LOOK_S = 0.2
"""Seconds between two looks whether another process has had the run stopped."""


def stop_requested(context: Context, run: Run, cancelled: Callable[[], bool] | None) -> Callable[[], bool]:
    """What answers whether a run is to be stopped; it is asked in the thread that executes the run.

    Args:
        context: the database, where `run_queue.stop` notes it.
        cancelled: whether this process itself wants that.
    """
    looked, found = time.monotonic(), False

    def is_told() -> bool:
        nonlocal looked, found
        if found or (cancelled is not None and cancelled()):
            return True
        if time.monotonic() - looked >= STOP_LOOK_S:
            looked = time.monotonic()
            # A database that is away for a while tells nothing; whoever ends the run says that it is.
            with contextlib.suppress(Exception):
                found = run_reader.is_to_stop(context.connection, run.session_id, run.id)
        return found

    return is_told


def give_up(session: RunSession, id: str, problem: Exception) -> None:
    """End a run that could not be executed. While the database cannot be written one that is queued stays so.

    Raises:
        Exception: the problem itself, where the run cannot be ended here: the database cannot be written, or another
            process executes it.
    """
    context = session.context
    run = run_reader.by_id(context.connection, id)
    if run is None:
        raise run_repository.unknown(id, [])
    of_the_database = isinstance(problem, EnvironmentProblem) and problem.code != OF_THE_PROJECT
    if run.state == states.QUEUED and not of_the_database:
        code = getattr(problem, "code", "")
        operations.ask(
            context,
            preflight.HoldRun(
                session_id=run.session_id, id=run.id, state=states.FAILED, reason=_why(problem),
                executor_status=states.ERROR, code=code if code in codes.CODES else "E503",
            ),
        )
    elif run.owner == process_identity.mine():
        start_run.abandon(
            context, session_id=run.session_id, id=run.id, owner=process_identity.mine(), reason=_why(problem)
        )
    else:
        raise problem
    evidence_and_log.save_log(context, run.session_id, run.id)


def _why(problem: Exception) -> str:
    return getattr(problem, "message", None) or f"{type(problem).__name__}: {problem}"
