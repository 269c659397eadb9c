"""Executing a run: what happens between its start and its end, outside of any transaction.

The driver looks at the tree, calls the executor, looks again, runs the project's checks, and records evidence of each
operation. It judges nothing: what it saw becomes the facts that the run is ended with. A task that is larger than its
limits is done in parts, as long as each of them is complete.

Source: seed 001, Properties 4, 7, 8, 11, 14, 31 and 33.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.running import (
    execution,
    measuring,
    mediating,
    neighbours,
    orders,
    parts,
    queueing,
    records,
    starting,
    waiting,
)
from orchestrator.app.running.execution import EXECUTE, MAX_OUTPUT, Done, Job, Seen
from orchestrator.app.running.parts import Part
from orchestrator.app.running.retention import DAY_S
from orchestrator.core import masking, task_types
from orchestrator.core.running import facts as words
from orchestrator.core.running import judging, mediation, mentions, phases, states, tests_exist
from orchestrator.core.running.config import Settings
from orchestrator.core.running.facts import Facts
from orchestrator.core.running.file_names import Tree
from orchestrator.core.running.mentions import Mention
from orchestrator.runner import (
    checks,
    evidence_files,
    guarded,
    lost,
    occupied,
    owners,
    port,
    reading,
    reserve,
    snapshot,
    verified,
)
from orchestrator.runner.snapshot import Change, Snapshot
from orchestrator.store import run_reader, sqlite
from orchestrator.store.run_reader import Run

_LOOKS = snapshot.Looks()

LISTED = 200
"""Files beyond what a task mentions that its verdict lists."""


def execute(context: Context, job: Job) -> Answer:
    """Start a queued run as soon as it may, execute it, and end it.

    Returns:
        What `finishing.finish` answers; what `queueing.cancel` does where it was cancelled before it began.

    Raises:
        Refused: the run could not be started: E206, it is too large and cannot be divided; E403 after the deadlock
            timeout; or what `starting.start` refuses otherwise. It is still queued then.
        EnvironmentProblem: NO_DATABASE, the database was deleted meanwhile; nothing is written anywhere then.
    """
    divided = parts.split(context, job.run, job.settings)
    place = occupied.Place(job.run.verification_root, context.path, job.run.id)
    try:
        if waiting.start(context, job, place):
            with job.begun():
                return _executed(context, job._replace(place=place), divided)
    finally:
        place.leave()
    run = job.run
    return queueing.cancel(context, session_id=run.session_id, id=run.id, reason="cancelled before it began")


def _executed(context: Context, job: Job, divided: tuple[Part, ...]) -> Answer:
    job = job._replace(attempt=attempts(context, job.run))
    done: list[Done] = []
    for part in divided or (None,):
        done.append(_done(context, job if part is None else _about(job, part, divided), done))
        while (again := _asked_again(context, done)) is not None:
            done.append(_done(context, again, done))
        if judging.judge(done[-1].facts).state != states.DONE:
            break
    return records.end(context, done, divided)


def _asked_again(context: Context, done: Sequence[Done]) -> Job | None:
    """The same job with the answer that the session has for what its executor asks, or None.

    Source: seed 001, Property 19.
    """
    job, asked = done[-1].job, judging.judge(done[-1].facts).question
    if asked is None or mediation.normalised(asked) in job.settled:
        return None
    reply = mediating.recalled(context, job.run, asked, job.remembered)
    if reply is None:
        return None
    prompt = f"{job.prompt}\n\n{mediating.pair(asked, reply)}"
    return job._replace(prompt=prompt, remembered=(asked, reply), settled=(*job.settled, mediation.normalised(asked)))


def _about(job: Job, part: Part, divided: tuple[Part, ...]) -> Job:
    """The job of one part: a part is a task in itself, so that its time is its own."""
    seconds = job.settings.task_limits.seconds
    limits = job.limits._replace(task_deadline=time.monotonic() + seconds, task_limit_ms=seconds * 1000)
    return job._replace(prompt=parts.prompt(job.prompt, part), part=part, parts=divided, limits=limits)


def _done(context: Context, job: Job, before: Sequence[Done]) -> Done:
    """Execute a job, which goes on from what was done before, and keep the evidence of it."""
    seen = _look(context, job)
    if job.settled:
        # What was asked has been answered, and is no part of what the executor says now.
        before = [*before[:-1], before[-1]._replace(facts=before[-1].facts._replace(output=""))]
    facts = _facts(context, job, seen, before)
    evidence, facts = records.kept(context, job, seen, facts, before[-1].evidence if before else [])
    return Done(job, seen, facts, evidence)


def _look(context: Context, job: Job) -> Seen:
    run, began = job.run, time.monotonic()
    raw = evidence_files.raw_file(run.verification_root, run.session_id, execution.operation(job, EXECUTE))
    since = neighbours.mark(context, run)
    guard, log = guarded.look(run.verification_root), sqlite.log_identity(context.connection)
    before = _LOOKS.take(run.verification_root)
    known = orders.tree(before)
    mentioned = orders.mentioned(context, run, known)
    with reserve.held(raw.parent):
        result = _call(job, raw, writes=starting.writes(context, run))
    after = snapshot.take(run.verification_root, contents=False)
    every, beside = snapshot.changed(before, after), neighbours.beside(context, run, since)
    # What changed while others worked here too proves nothing for anybody.
    changes, shared = ([], every) if beside else (every, [])
    # What an executor says is masked, what is on the disk is not.
    names = {masking.mask_keys(change.path, job.secrets): change.path for change in every}
    result = result._replace(claimed_files=tuple(names.get(path, path) for path in result.claimed_files))
    found = verified.verify(before, after, changes, result.claimed_files, context.clock(), alone=not beside)
    try:
        outcome, tests = _check(job, before, changes, result)
    except KeyboardInterrupt:
        outcome, tests, result = {}, None, result._replace(cancelled=True)
    sqlite.require_place(context.connection, log)
    seconds, tampered = round(time.monotonic() - began), _tampered(context, job, guard, since)
    # The time of a part is its own; that of a task counts over all its runs.
    taken = seconds + (measuring.earlier_seconds(context, run) if job.part is None else 0)
    broken = measuring.broken(job.settings, every, taken, context.clock())
    folders = {} if beside else _folders(mentioned, known, orders.tree(after))
    return Seen(
        result, found, changes, tests, outcome, seconds, mentioned, after, folders, context.clock(), broken, tampered,
        beside, shared,
    )  # fmt: skip


def _folders(mentioned: Sequence[Mention], before: Tree, after: Tree) -> dict[str, str]:
    """What became of the folders that a task mentions."""
    made = dict.fromkeys(set(after.folders) - set(before.folders), snapshot.NEW)
    gone = dict.fromkeys(set(before.folders) - set(after.folders), snapshot.DELETED)
    return {path: change for path, change in (made | gone).items() if mentions.means(mentioned, path)}


def _tampered(context: Context, job: Job, before: guarded.Look, since: neighbours.Mark) -> tuple[str, ...]:
    run, days = job.run, job.settings.evidence_settings.retention_days
    after = guarded.look(run.verification_root)
    expired = datetime.fromisoformat(context.clock()).timestamp() - days * DAY_S
    # Asked after the look, so that whoever has written by then is on record.
    others, working = neighbours.writers(context, run, since), neighbours.working(context, run, since)
    held = job.place.tampered() if job.place is not None else ()
    return (*guarded.differences(before, after, run.session_id, expired, others, working), *held)


def _call(job: Job, raw: Path, *, writes: bool) -> port.ExecutorResult:
    """What the executor tells; an exception is a fault of its adapter, and an error of the run."""
    run = job.run
    task = port.ExecutorTask(
        run_id=run.id, session_id=run.session_id, prompt=job.prompt, task_type=run.task_type,
        project=run.verification_root, model=run.model, limits=job.limits, raw=raw, secrets=job.secrets,
        attempt=job.attempt, told=len(job.settled), tag=lost.tag(owners.mine(), run.id), writes=writes,
    )  # fmt: skip
    try:
        result = job.executor.execute(task, watch=job.watch, cancelled=job.cancelled)
    except KeyboardInterrupt:
        return port.ExecutorResult(states.INCOMPLETE, None, "", error=INTERRUPTED)
    except reading.EvidenceLost as lost_:
        said = masking.mask_keys(f"{lost_.kind}: {lost_}", job.secrets)
        return port.ExecutorResult(states.ERROR, run.session_id, "", error=said)
    except Exception as fault:
        # Whatever an adapter raises, the run ends and says so.
        said = f"{words.ADAPTER}{job.executor.name} failed: {type(fault).__name__}: {fault}"
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


def attempts(context: Context, run: Run) -> int:
    """How often a run was started so far."""
    return sum(event["kind"] == "started" for event in run_reader.events(context.connection, run.session_id, run.id))


def _facts(context: Context, job: Job, seen: Seen, before: Sequence[Done]) -> Facts:
    """What is known by now; of what was done before all was complete, and its files count with these."""
    run, result = job.run, seen.result
    came = _outcome(context, job, seen, before)
    deleted = [snapshot.told(change.path) for change in seen.changes if change.kind == snapshot.DELETED]
    facts = Facts(
        task_type=run.task_type,
        status=result.status,
        output=result.output[-MAX_OUTPUT:],
        exit_code=result.exit_code,
        session=result.session_id,
        issued_session=run.session_id,
        claimed_files=tuple(verified.relative(run.verification_root, path) for path in result.claimed_files),
        verified=tuple(words.File(file.path, file.exists, file.detection_method) for file in seen.found.files
                       if file.path not in deleted),
        unapproved=run_reader.made_below(context.connection, run),
        unverifiable=tuple(problem.path for problem in seen.found.problems),
        claim_problems=tuple(problem.why for problem in seen.found.problems),
        tampered=seen.tampered,
        beside=seen.beside,
        unattributed=tuple(snapshot.told(change.path) for change in seen.shared),
        tests=seen.tests,
        checks_failed=tuple(name for name, outcome in seen.checks.items() if outcome not in (None, phases.PASSED)),
        violations=tuple(each.sentence() for each in seen.broken),
        error=result.error,
        cause=result.cause,
        denied_tools=tuple(result.denied_tools),
        background=result.background, unfinished=tuple(result.unfinished),
        executor_blocked=result.executor_blocked,
        blocked_reason=result.blocked_reason,
        timeout_ms=result.timeout_ms,
        limit=result.limit,
        signal=result.signal,
        cancelled=_is_cancelled(job, result),
        interactive=job.interactive,
        leftovers=tuple(result.leftovers),
        **came,
    )  # fmt: skip
    return words.joined(before[-1].facts, facts, deleted) if before else facts


def _outcome(context: Context, job: Job, seen: Seen, before: Sequence[Done]) -> dict[str, Any]:
    """What became of what the task mentions, as facts."""
    run = job.run
    every = [*(done.seen for done in before), seen]
    touched = {path: change for each in every for path, change in orders.kinds(each.changes).items()}
    made = {path for each in every for path, change in each.folders.items() if change == snapshot.NEW}
    about, later = (job.part.files, job.part.later) if job.part is not None else (None, ())
    # What an earlier part has made was not there before the task.
    came = orders.outcome(context, run, every[0].mentioned, seen.after, touched, made, about, later)
    return {
        "ordered_deletions": came.deleted, "targets_unmet": came.unmet, "stray": came.stray, "unnamed": came.unnamed,
        "untouched": came.untouched, "unmentioned": came.unmentioned[:LISTED] if seen.mentioned else (),
        "folders": came.folders, "guessed": orders.is_guessed(context, run),
    }  # fmt: skip


def require_tests(context: Context, run: Run, settings: Settings) -> None:
    """Refuse a run that is to change source in a project without tests, before any executor is called.

    Raises:
        Refused: E211.
    """
    look = snapshot.take(run.verification_root, contents=False)
    text = orders.relative(mediating.prompt(context, run), run.verification_root)
    found = mentions.find(text, orders.tree(look))
    tests_exist.require(
        run.task_type, mentions.to_change(text, found), look.files, settings.detection,
        checks.other_tests(run.verification_root, settings.detection),
    )
