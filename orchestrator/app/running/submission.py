"""Taking tasks: what was said is queued, tried again or cancelled, and stopped where no executor is to see it.

Source: seed 001, Properties 1, 16, 19, 24 and 38.
"""

from __future__ import annotations

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.running import (
    begin_session,
    clarification,
    evidence_and_log,
    execute_run,
    preflight,
    requested_files,
    run_queue,
    run_repository,
    session_status,
)
from orchestrator.app.running.run_session import RunSession
from orchestrator.core import questions
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import advice, providers, states, types
from orchestrator.core.running.file_names import Tree
from orchestrator.core.suggestions import sentence
from orchestrator.errors import OrchestratorError, Refused
from orchestrator.store.run_reader import Run


def submit(
    session: RunSession, text: str, task_type: str | None = None, request_id: str | None = None
) -> Answer:
    """Take a task as `taken` does; its run as it is now."""
    return session_status.shown(session, taken(session, text, task_type, request_id))


def taken(session: RunSession, text: str, task_type: str | None = None, request_id: str | None = None) -> str:
    """Take a task: queued, or ended at once where no executor is to be called.

    Args:
        request_id: the same id with the same text is the run that it queued before.

    Returns:
        The run's id.

    Raises:
        UsageError: a blank text, a type that does not exist. Refused: SESSION_CLOSED.
    """
    root = session.project.root
    kind = types.settle(task_type, text, requested_files.named(text, root) if task_type is None else Tree())
    selection = session.selection
    found = operations.ask(
        session.context,
        run_queue.QueueRun(
            session_id=begin_session.ensure(session), prompt=session.without_keys(text), task_type=kind.type,
            guessed=kind.guessed, told=task_type is None and not kind.guessed, executor=session.executor,
            provider=selection.provider, model=selection.model, root=session.project.root, request_id=request_id,
        ),
    )
    return _looked_at(session, found)


def _looked_at(session: RunSession, found: Answer) -> str:
    """The run that was queued. One that was queued before is not looked at again: the server's loop does so."""
    if not found.get("repeated"):
        _hold_back(session, session_status.require_run(session, found["run"]))
    return str(found["run"])


def _hold_back(session: RunSession, run: Run) -> None:
    """Stop a run that no executor is to see: not confirmed, not clear, or without what it needs."""
    doubt = clarification.doubt(session.context, run)
    if doubt is not None:
        _ask(session, run, doubt)
        return
    try:
        _refuse_unready(session, run)
    except OrchestratorError as problem:
        said = advice.said(problem.suggestion)
        why = sentence("{} {}", problem.message, said).rstrip()
        _hold(session.context, run, states.FAILED, why, states.ERROR, problem.code, helps=said)


def _refuse_unready(session: RunSession, run: Run) -> None:
    if run.executor == run.provider:
        providers.check(providers.Selection(run.provider, run.model), session.variables)
    found = session.executor_of(run).is_available()
    if not found.available:
        raise Refused("E503", found.reason or "The executor is not available.", found.suggestion or "")
    execute_run.require_tests(session.context, run, session.settings)


def _ask(session: RunSession, run: Run, doubt: clarification.Doubt) -> None:
    state = states.AWAITING if session.flags.interactive else states.UNFINISHED
    status = states.BLOCKED if doubt.kind == questions.CONFIRMATION else states.INCOMPLETE
    _hold(session.context, run, state, doubt.reason, status, None, doubt.question, doubt.kind)


def take_up(session: RunSession, id: str) -> Answer:
    """Look at a run that an answer queued: what no executor is to see is stopped."""
    run = session_status.require_run(session, id)
    if run.state == states.QUEUED:
        _hold_back(session, run)
    return session_status.shown(session, run.id)


def retry(session: RunSession, id: str, *, by: str = RUNNER, request_id: str | None = None) -> str:
    """Try a run again that ended without being complete; the new run's id."""
    session_status.free_abandoned(session)
    run = session_status.require_run(session, id)
    again = run_queue.RetryRun(session_id=run.session_id, id=run.id, by=by, request_id=request_id)
    return _looked_at(session, operations.ask(session.context, again))


def cancel(
    session: RunSession, id: str, reason: str = "cancelled", *, by: str = RUNNER, request_id: str | None = None
) -> Answer:
    """Cancel a run that is queued or awaits a response.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE.
    """
    run = session_status.require_run(session, id)
    asked = run_queue.CancelRun(session_id=run.session_id, id=run.id, reason=reason, by=by, request_id=request_id)
    operations.ask(session.context, asked)
    evidence_and_log.save_log(session.context, run.session_id, run.id)
    return session_status.shown(session, run.id)


def _hold(
    context: Context, run: Run, state: str, reason: str, status: str, code: str | None, question: str | None = None,
    kind: str = questions.REPLY, *, helps: str = "",
) -> None:
    """Stop a queued run that no executor is to see, with its log.

    Args:
        state, reason, status, code, question, kind: as `preflight.hold` takes them.
        helps: what helps, for the hint.
    """
    log = ({"kind": run_repository.ADVICE, "level": run_repository.FULL, "text": helps},) if helps else ()
    operations.ask(
        context,
        preflight.HoldRun(
            session_id=run.session_id, id=run.id, state=state, reason=reason, executor_status=status, code=code,
            question=question, kind=kind, log=log,
        ),
    )
    evidence_and_log.save_log(context, run.session_id, run.id)
