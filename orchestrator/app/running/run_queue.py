"""Queueing runs: the first of a task, which is created with it, and another one of a task that was tried before."""

from __future__ import annotations

from orchestrator.app.engine import task_blocks
from orchestrator.app.kernel import actors
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import run_repository
from orchestrator.app.task import status_checks, task_status, tasks
from orchestrator.core import task_types
from orchestrator.core import tasks as task_words
from orchestrator.core.routing.facts import RUNNER, Session
from orchestrator.core.running import advice, states
from orchestrator.core.suggestions import suggest
from orchestrator.core.tasks import Task
from orchestrator.errors import Refused, UsageError
from orchestrator.store import run_reader, task_reader
from orchestrator.store.reader import Agent
from orchestrator.store.run_reader import Run
from orchestrator.store.step import Value

TITLE = 120
"""Characters of a prompt that become the title of its task."""


class QueueRun(Request, event="run queue", use_case="running.run_queue:queue"):
    """Queue a run.

    Attributes:
        prompt: what is to be done, as it was said.
        task_type: one of `task_types.TYPES`; any other is refused.
        guessed: nobody gave the type, and no word of the prompt tells it. told: words of the prompt tell it.
        executor, provider, model: who will do it.
        root: the project's absolute path, where changes are looked for.
        task: an existing task of the session (default: a new one is created).
        by: who asks.
    """

    session_id: str
    prompt: str
    task_type: str
    guessed: bool = False
    told: bool = False
    executor: str
    provider: str
    root: str
    model: str | None = None
    task: str | None = None
    by: str = RUNNER
    request_id: str | None = None


def queue(work: Work, request: QueueRun) -> Answer:
    """Queue a run.

    Returns:
        `run` (its id), `task_id`, `seq`.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED, UNKNOWN_TASK, UNKNOWN_AGENT, NOT_PERMITTED, ILLEGAL_MOVE (the task is
            closed, or another run of it is open). UsageError: an unknown type, a blank prompt.

    Source: seed 001, Property 26.
    """
    session = work.open_session()
    agent = actors.actor(work, request.by)
    if not request.prompt.strip():
        raise UsageError("USAGE", "A run needs something to do.", "Say what is to be done")
    kind = request.task_type
    if kind not in task_types.TYPES:
        raise UsageError("USAGE", f"There is no task type {kind}.", f"One of: {', '.join(task_types.TYPES)}")
    task = _task(work, session, request, agent)
    run = run_repository.insert(
        work, task, by=agent.id, prompt=request.prompt, task_type=kind, executor=request.executor,
        provider=request.provider, model=request.model, verification_root=request.root,
    )
    if request.task:
        # What an earlier run of the task asked is not answered by a second run beside this one.
        run_repository.close_questions(work, run, by=agent.id, answer="moot")
    run_repository.log(work, run, [{"kind": "queued", "text": request.prompt}])
    if request.guessed:
        told = f"{kind}: no word of the task tells its type"
        run_repository.log(work, run, [{"kind": run_repository.GUESSED, "text": told}])
    elif request.told:
        told = f"{kind}: told by the words of the task"
        run_repository.log(work, run, [{"kind": run_repository.TOLD, "level": run_repository.FULL, "text": told}])
    return {"success": True, "run": run.id, "task_id": task.id, "seq": work.seq}


def _task(work: Work, session: Session, request: QueueRun, agent: Agent) -> Task:
    if request.task:
        task = status_checks.require_task(work, session.id, request.task)
        _refuse_busy(work, task)
        return task
    if session.kind != "chat":
        raise UsageError("USAGE", f"Session {session.id} is no chat: name the task that is run.", "Repeat with --task")
    return tasks.insert_new(
        work, f"T{work.seq}", title=" ".join(request.prompt.split())[:TITLE], description=request.prompt,
        group=session.id, type=request.task_type, by=agent,
    )


def _refuse_busy(work: Work, task: Task) -> None:
    open_ = [
        run for run in run_reader.of_task(work.context.connection, work.step.chain, task.id) if run.ended_at is None
    ]
    if task.closed or open_:
        why = f"its run {open_[0].id} is {open_[0].state}" if open_ else f"it is {task.status}"
        what = f"Task {task.id} takes no further run: {why}."
        look = suggest("task show", id=task.id, session_id=work.step.chain)
        raise Refused("ILLEGAL_MOVE", what, look)


class RetryRun(Request, event="run retry", use_case="running.run_queue:retry"):
    """Queue another run of the task of a run that has ended without being complete.

    Attributes:
        note: said to the executor with the prompt.
        executor, provider, model: who will do it (default: whoever did it before).
    """

    session_id: str
    id: str
    by: str = RUNNER
    note: str = ""
    executor: str | None = None
    provider: str | None = None
    model: str | None = None
    request_id: str | None = None


def retry(work: Work, request: RetryRun) -> Answer:
    """Queue another run of a task.

    What blocks the task is lifted, as far as whoever asks may lift it; a hard block is a person's to lift.

    Returns:
        `run`, `retry_of`, `task_id`, `seq`.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE (not ended, complete, or its task is closed), UNBLOCK_NOT_PERMITTED.

    Source: seed 001, Property 16.
    """
    work.open_session()
    run = run_repository.require(work, request.id)
    agent = actors.actor(work, request.by)
    task = run_repository.task_of(work, run)
    if run.ended_at is None or run.state == states.DONE:
        raise Refused(
            "ILLEGAL_MOVE", f"Run {run.id} is {run.state}; only one that ended without being complete is tried again.",
            advice.logs(run.id),
        )
    _refuse_busy(work, task)
    if task.status == task_words.BLOCKED:
        person = status_checks.is_person(work, agent)
        blocks = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
        status_checks.lift_all(work, task, blocks, status_checks.standing(work, agent.id), person=person)
        own = [block.id for block in blocks if block.cause != task_blocks.CASCADE]
        reason = request.note or f"{run.id} is tried again"
        if own:
            task_status.resolve(work, task, own, by=agent.id, reason=reason, resolution="lifted")
    new = requeue(
        work, run, by=agent.id, note=request.note, executor=request.executor, provider=request.provider,
        model=request.model,
    )
    return {"success": True, "run": new.id, "retry_of": run.id, "task_id": task.id, "seq": work.seq}


def requeue(
    work: Work, run: Run, *, by: str, note: str, executor: str | None = None, provider: str | None = None,
    model: str | None = None,
) -> Run:
    """Queue a run of the same task, with new ids; what was asked about the old one is closed."""
    run_repository.close_questions(work, run, by=by, answer="moot")
    prompt = f"{run.prompt}\n\n{note}" if note else run.prompt
    new = run_repository.insert(
        work, run_repository.task_of(work, run), by=by, prompt=prompt, task_type=run.task_type, retry_of=run.id,
        verification_root=run.verification_root, executor=run.executor if executor is None else executor,
        provider=run.provider if provider is None else provider, model=run.model if model is None else model,
    )
    run_repository.log(work, new, [{"kind": "queued", "text": prompt}])
    return new


class CancelRun(Request, event="run cancel", use_case="running.run_queue:cancel"):
    """Cancel a run that is queued or awaits a response."""

    session_id: str
    id: str
    by: str = RUNNER
    reason: str
    request_id: str | None = None


def cancel(work: Work, request: CancelRun) -> Answer:
    """Cancel a run that is queued or awaits a response; what is running is stopped by whoever runs it.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE, REASON_REQUIRED.
    """
    work.open_session()
    run, agent, reason = _ending(work, request)
    if run.state not in (states.QUEUED, states.AWAITING):
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}.", advice.logs(run.id))
    end(work, run, states.CANCELLED, by=agent.id, reason=reason)
    return {"success": True, "run": run.id, "state": states.CANCELLED, "seq": work.seq}


class StopRun(Request, event="run stop", use_case="running.run_queue:stop"):
    """Have a running run stopped."""

    session_id: str
    id: str
    by: str = RUNNER
    reason: str
    request_id: str | None = None


def stop(work: Work, request: StopRun) -> Answer:
    """Note in the log of a running run who has it stopped, and why; whoever executes it then ends it.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE (it does not run), REASON_REQUIRED, UNKNOWN_AGENT, HUMAN_REQUIRED.
    """
    work.open_session()
    run, agent, reason = _ending(work, request)
    if run.state != states.RUNNING:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}.", advice.logs(run.id))
    run_repository.log(work, run, [{"kind": run_reader.STOPPING, "text": f"{agent.id}: {reason}"}])
    return {"success": True, "run": run.id, "by": request.by, "seq": work.seq}


def _ending(work: Work, request: CancelRun | StopRun) -> tuple[Run, Agent, str]:
    """The run that is to end, who wants it, and why.

    Raises:
        Refused: UNKNOWN_ID, UNKNOWN_AGENT, REASON_REQUIRED, HUMAN_REQUIRED.
    """
    run = run_repository.require(work, request.id)
    agent = actors.actor(work, request.by)
    reason = request.reason.strip()
    if not reason:
        raise Refused("REASON_REQUIRED", "Cancelling a run needs a reason.", "Say why")
    status_checks.is_person(work, agent)
    return run, agent, reason


def end(work: Work, run: Run, state: str, *, by: str, reason: str, code: str | None = None) -> None:
    """End a run that no executor works on, with its log and what follows for its task."""
    run_repository.log(work, run, [{"kind": state, "text": reason}])
    run_repository.close_questions(work, run, by=by, answer="moot")
    status = states.ERROR if state == states.FAILED else states.INCOMPLETE
    values: dict[str, Value] = {"error_reason": reason, "error_code": code, "executor_status": status}
    ended = run_repository.move(work, run, state, by=by, reason=reason, values=values)
    run_repository.end_task(work, ended, state, reason, None)


def end_of_task(work: Work, task: Task, *, by: str, reason: str) -> None:
    """End the runs of a task that was cancelled, as far as no executor works on them; what they asked is moot."""
    for run in run_reader.of_task(work.context.connection, work.step.chain, task.id):
        if run.state in (states.QUEUED, states.AWAITING):
            end(work, run, states.CANCELLED, by=by, reason=reason)


class EndUnanswered(Request, event="run unanswered", use_case="running.run_queue:end_unanswered", acting=RUNNER):
    """End a run because whoever was asked is gone."""

    session_id: str
    id: str


def end_unanswered(work: Work, request: EndUnanswered) -> Answer:
    """End a run that awaits a response as incomplete, because nobody will give that any more.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE.
    """
    work.open_session()
    run = run_repository.require(work, request.id)
    if run.state != states.AWAITING:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}.", advice.logs(run.id))
    end(work, run, states.UNFINISHED, by=RUNNER, reason="unanswered", code=None)
    return {"success": True, "run": run.id, "state": states.UNFINISHED, "seq": work.seq}
