"""Queueing runs: the first of a task, which is created with it, and another one of a task that was tried before."""

from __future__ import annotations

from typing import Any

from orchestrator.app.engine import task_blocks
from orchestrator.app.kernel import actors
from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.app.running import run_repository
from orchestrator.app.task import task_guards, task_status, tasks
from orchestrator.core import task_types
from orchestrator.core import tasks as task_words
from orchestrator.core.routing.facts import RUNNER, Session
from orchestrator.core.running import states
from orchestrator.core.suggestions import suggest
from orchestrator.core.tasks import Task
from orchestrator.errors import Refused, UsageError
from orchestrator.store import run_reader, task_reader
from orchestrator.store.reader import Agent
from orchestrator.store.run_reader import Run
from orchestrator.store.step import Value

TITLE = 120
"""Characters of a prompt that become the title of its task."""


def queue(
    context: Context,
    *,
    session_id: str,
    prompt: str,
    task_type: str,
    guessed: bool = False,
    told: bool = False,
    executor: str,
    provider: str,
    root: str,
    model: str | None = None,
    task: str | None = None,
    by: str = RUNNER,
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Queue a run.

    Args:
        prompt: what is to be done, as it was said.
        task_type: one of `task_types.TYPES`; any other is refused.
        guessed: nobody gave the type, and no word of the prompt tells it. told: words of the prompt tell it.
        executor, provider, model: who will do it.
        root: the project's absolute path, where changes are looked for.
        task: a task of the session that exists; one is created where left out.
        by: who asks.

    Returns:
        `run` (its id), `task_id`, `seq`.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED, UNKNOWN_TASK, UNKNOWN_AGENT, NOT_PERMITTED, ILLEGAL_MOVE (the task is
            closed, or another run of it is open). UsageError: an unknown type, a blank prompt.

    Source: seed 001, Property 26.
    """
    given: dict[str, Any] = {
        "prompt": prompt, "task_type": task_type, "executor": executor, "provider": provider, "model": model,
        "root": root, "task": task, "by": by,
    }  # fmt: skip
    given |= {name: True for name, holds in (("guessed", guessed), ("told", told)) if holds}
    return perform(context, Call("run queue", session_id, by, given, request_id, at=at), queue_action)


def queue_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    session = work.open_session()
    agent = actors.actor(work, given["by"])
    if not given["prompt"].strip():
        raise UsageError("USAGE", "A run needs something to do.", "Say what is to be done")
    if given["task_type"] not in task_types.TYPES:
        raise UsageError(
            "USAGE", f"There is no task type {given['task_type']}.", f"One of: {', '.join(task_types.TYPES)}"
        )
    task = _task(work, session, given, agent)
    run = run_repository.insert(
        work, task, by=agent.id, prompt=given["prompt"], task_type=given["task_type"], executor=given["executor"],
        provider=given["provider"], model=given.get("model"), verification_root=given["root"],
    )
    if given.get("task"):
        # What an earlier run of the task asked is not answered by a second run beside this one.
        run_repository.close_questions(work, run, by=agent.id, answer="moot")
    run_repository.log(work, run, [{"kind": "queued", "text": given["prompt"]}])
    if given.get("guessed"):
        told = f"{given['task_type']}: no word of the task tells its type"
        run_repository.log(work, run, [{"kind": run_repository.GUESSED, "text": told}])
    elif given.get("told"):
        told = f"{given['task_type']}: told by the words of the task"
        run_repository.log(work, run, [{"kind": run_repository.TOLD, "level": run_repository.FULL, "text": told}])
    return {"success": True, "run": run.id, "task_id": task.id, "seq": work.seq}


def _task(work: Work, session: Session, given: dict[str, Any], agent: Agent) -> Task:
    if given.get("task"):
        task = task_guards.require_task(work, session.id, given["task"])
        _refuse_busy(work, task)
        return task
    if session.kind != "chat":
        raise UsageError("USAGE", f"Session {session.id} is no chat: name the task that is run.", "Repeat with --task")
    return tasks.insert_new(
        work, f"T{work.seq}", title=" ".join(given["prompt"].split())[:TITLE], description=given["prompt"],
        group=session.id, type=given["task_type"], by=agent,
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


def again(
    context: Context, *, session_id: str, id: str, by: str = RUNNER, note: str = "", executor: str | None = None,
    provider: str | None = None, model: str | None = None, request_id: str | None = None, at: str | None = None,
) -> Answer:
    """Queue another run of the task of a run that has ended without being complete.

    What blocks the task is lifted, as far as whoever asks may lift it; a hard block is a person's to lift.

    Args:
        note: said to the executor with the prompt.

    Returns:
        `run`, `retry_of`, `task_id`, `seq`.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE (not ended, complete, or its task is closed), UNBLOCK_NOT_PERMITTED.

    Source: seed 001, Property 16.
    """
    given = {
        "id": id, "by": by, "note": note, "executor": executor, "provider": provider, "model": model,
    }  # fmt: skip
    return perform(context, Call("run retry", session_id, by, given, request_id, at=at), again_action)


def again_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    work.open_session()
    run = run_repository.require(work, given["id"])
    agent = actors.actor(work, given["by"])
    task = run_repository.task_of(work, run)
    if run.ended_at is None or run.state == states.DONE:
        raise Refused(
            "ILLEGAL_MOVE", f"Run {run.id} is {run.state}; only one that ended without being complete is tried again.",
            f"/logs {run.id}",
        )
    _refuse_busy(work, task)
    if task.status == task_words.BLOCKED:
        person = task_guards.is_person(work, agent)
        blocks = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
        task_guards.lift_all(work, task, blocks, task_guards.standing(work, agent.id), person=person)
        own = [block.id for block in blocks if block.cause != task_blocks.CASCADE]
        reason = given.get("note") or f"{run.id} is tried again"
        if own:
            task_status.resolve(work, task, own, by=agent.id, reason=reason, resolution="lifted")
    new = requeue(work, run, by=agent.id, note=given.get("note") or "", **_chosen(given))
    return {"success": True, "run": new.id, "retry_of": run.id, "task_id": task.id, "seq": work.seq}


def _chosen(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("executor", "provider", "model") if given.get(name) is not None}


def requeue(work: Work, run: Run, *, by: str, note: str, **values: Any) -> Run:
    """Queue a run of the same task, with new ids; what was asked about the old one is closed."""
    run_repository.close_questions(work, run, by=by, answer="moot")
    found: dict[str, Any] = {"executor": run.executor, "provider": run.provider, "model": run.model, **values}
    prompt = f"{run.prompt}\n\n{note}" if note else run.prompt
    new = run_repository.insert(
        work, run_repository.task_of(work, run), by=by, prompt=prompt, task_type=run.task_type, retry_of=run.id,
        verification_root=run.verification_root, **found,
    )
    run_repository.log(work, new, [{"kind": "queued", "text": prompt}])
    return new


def cancel(
    context: Context, *, session_id: str, id: str, by: str = RUNNER, reason: str, request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Cancel a run that is queued or awaits a response; what is running is stopped by whoever runs it.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE, REASON_REQUIRED.
    """
    given = {"id": id, "by": by, "reason": reason}
    return perform(context, Call("run cancel", session_id, by, given, request_id, at=at), cancel_action)


def cancel_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    work.open_session()
    run, agent, reason = _ending(work)
    if run.state not in (states.QUEUED, states.AWAITING):
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}.", f"/logs {run.id}")
    end(work, run, states.CANCELLED, by=agent.id, reason=reason)
    return {"success": True, "run": run.id, "state": states.CANCELLED, "seq": work.seq}


def stop(
    context: Context, *, session_id: str, id: str, by: str = RUNNER, reason: str, at: str | None = None
) -> Answer:
    """Note in the log of a running run who has it stopped, and why; whoever executes it then ends it.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE (it does not run), REASON_REQUIRED, UNKNOWN_AGENT, HUMAN_REQUIRED.
    """
    given = {"id": id, "by": by, "reason": reason}
    return perform(context, Call("run stop", session_id, by, given, at=at), stop_action)


def stop_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    work.open_session()
    run, agent, reason = _ending(work)
    if run.state != states.RUNNING:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}.", f"/logs {run.id}")
    run_repository.log(work, run, [{"kind": run_reader.STOPPING, "text": f"{agent.id}: {reason}"}])
    return {"success": True, "run": run.id, "by": given["by"], "seq": work.seq}


def _ending(work: Work) -> tuple[Run, Agent, str]:
    """The run that is to end, who wants it, and why.

    Raises:
        Refused: UNKNOWN_ID, UNKNOWN_AGENT, REASON_REQUIRED, HUMAN_REQUIRED.
    """
    given = work.call.input
    run = run_repository.require(work, given["id"])
    agent = actors.actor(work, given["by"])
    reason = given["reason"].strip()
    if not reason:
        raise Refused("REASON_REQUIRED", "Cancelling a run needs a reason.", "Say why")
    task_guards.is_person(work, agent)
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


def unanswered_action(work: Work) -> Answer:
    """End a run that awaits a response which nobody will give any more; a replay calls it with an event's input."""
    given = work.call.input
    work.open_session()
    run = run_repository.require(work, given["id"])
    if run.state != states.AWAITING:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}.", f"/logs {run.id}")
    end(work, run, states.UNFINISHED, by=RUNNER, reason="unanswered", code=None)
    return {"success": True, "run": run.id, "state": states.UNFINISHED, "seq": work.seq}


def unanswered(context: Context, *, session_id: str, id: str, at: str | None = None) -> Answer:
    """End a run as incomplete because whoever was asked is gone.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE.
    """
    return perform(context, Call("run unanswered", session_id, RUNNER, {"id": id}, at=at), unanswered_action)
