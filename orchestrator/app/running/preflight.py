"""Runs that are stopped before any executor is called: what is asked first, what is refused, and what answers do.

Source: seed 001, Properties 16 and 19; seed 000, INV-1 and INV-2.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import run_repository
from orchestrator.app.running.run_queue import requeue
from orchestrator.app.task import task_status
from orchestrator.core import questions
from orchestrator.core import tasks as task_words
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import advice, continuation, states
from orchestrator.core.running.continuation import Approval
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import run_reader
from orchestrator.store.queries import Row
from orchestrator.store.reader import Agent
from orchestrator.store.run_reader import Run
from orchestrator.store.step import Value

_ENDS = (states.AWAITING, states.UNFINISHED, states.FAILED)


class HoldRun(Request, event="run hold", use_case="running.preflight:hold", acting=RUNNER):
    """Stop a queued run without calling its executor.

    Attributes:
        state: awaiting_response, incomplete or error.
        reason: why, in one line.
        code: the error code, where there is one.
        question: what is asked, required to await a response.
        kind: reply, or confirmation.
        log: further entries of its log.
    """

    session_id: str
    id: str
    state: str
    reason: str
    executor_status: str
    code: str | None = None
    question: str | None = None
    kind: str = questions.REPLY
    log: tuple[Mapping[str, Any], ...] = ()


def hold(work: Work, request: HoldRun) -> Answer:
    """Stop a queued run without calling its executor.

    Returns:
        `run`, `state`, `question_id`, `seq`.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE (not queued, or not to one of these states; a response is awaited and nothing
            asked).

    Source: seed 000, INV-6.
    """
    work.open_session()
    run, state, asked = run_repository.require(work, request.id), request.state, request.question
    if run.state != states.QUEUED:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}, not queued.", advice.logs(run.id))
    if state not in _ENDS:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} cannot be {state} before its executor ran.", advice.logs(run.id))
    if state == states.AWAITING and not (asked or "").strip():
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} cannot await a response to nothing.", "Ask one question")
    _begin(work, run, state)
    opened = run_repository.ask(work, run, kind=request.kind, text=asked) if asked else None
    begun = run_repository.move(
        work, run, states.RUNNING, by=RUNNER, reason="looked at before any executor",
        values={"owner": RUNNER, "started_at": run.started_at or work.at},
    )
    values: dict[str, Value] = {
        "executor_status": request.executor_status, "error_reason": request.reason, "error_code": request.code,
        "question_id": opened, "output": asked,
    }  # fmt: skip
    run_repository.log(work, run, [*request.log, {"kind": state, "text": asked or request.reason}])
    held = run_repository.move(work, begun, state, by=RUNNER, reason=request.reason, values=values)
    run_repository.end_task(work, held, state, asked or request.reason, None)
    return {"success": True, "run": run.id, "state": state, "question_id": opened, "seq": work.seq}


def _begin(work: Work, run: Run, state: str) -> None:
    """Begin the run's task; where that cannot be, a run that ends leaves the task as it is."""
    try:
        run_repository.begin_task(work, run)
    except Refused:
        if state == states.AWAITING:
            raise


def decide(work: Work, question: Row, person: Agent, decision: str, note: str) -> str | None:
    """What the answer to a run's question does, in words; None where no run asked it.

    Raises:
        Refused: E207, a continuation that is no longer allowed; ILLEGAL_MOVE.
    """
    found = run_reader.of_task(work.context.connection, work.step.chain, str(question["task_id"]))
    run = next((run for run in reversed(found) if run.question_id == question["id"]), None)
    if run is None:
        return None
    if decision in questions.ABANDONS:
        return _abandon(work, run, person, note or f"question answered: {decision}")
    if run.state == states.AWAITING:
        return _resume(work, run, person, decision, note)
    return _continue(work, run, question, person, note)


def _abandon(work: Work, run: Run, person: Agent, reason: str) -> str:
    if run.state == states.AWAITING:
        run_repository.log(work, run, [{"kind": states.CANCELLED, "text": reason}])
        values: dict[str, Value] = {"error_reason": reason, "executor_status": states.INCOMPLETE}
        run_repository.move(work, run, states.CANCELLED, by=person.id, reason=reason, cause="question", values=values)
    task = run_repository.task_of(work, run)
    if not task.closed:
        task_status.change(work, task, task_words.CANCELLED, by=person, reason=reason, cause="question")
    return f"run {run.id} and task {run.task_id} are cancelled"


def _resume(work: Work, run: Run, person: Agent, decision: str, note: str) -> str:
    run_repository.free_task(work, run, by=person.id, reason=note or f"question answered: {decision}")
    run_repository.log(work, run, [{"kind": "answered", "text": note or decision}])
    run_repository.move(work, run, states.QUEUED, by=person.id, reason=f"answered: {decision}", cause="question")
    return f"run {run.id} is queued again: {_take_up(work, run)}"


def _continue(work: Work, run: Run, question: Row, person: Agent, note: str) -> str:
    if question["kind"] == questions.CONTINUATION:
        asked, now = (datetime.fromisoformat(at).timestamp() for at in (question["asked_at"], work.at))
        reached = continuation.of_run(run.executor_status, run.files_modified_count)
        continuation.start(reached, Approval(asked, now), now)
    new = requeue(work, run, by=person.id, note=note)
    return f"run {new.id} continues {run.id}: {_take_up(work, new)}"


def _take_up(work: Work, run: Run) -> str:
    """How a run is executed that an answer queued: a server takes up what is its own, anything else a person."""
    through = (work.context.spoken or work.context.channel, run_reader.channel(work.context.connection, run.session_id))
    if run_repository.SERVER.isdisjoint(through):
        return advice.by_hand(run.verification_root, run.id)
    return advice.by_a_server(run.verification_root, run.id)
