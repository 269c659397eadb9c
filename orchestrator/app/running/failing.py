"""Ending a run that could not be executed: nothing is left waiting, and the run says why.

Source: seed 001, Properties 9 and 35.
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Context
from orchestrator.app.running import holding, records, starting, writing
from orchestrator.app.running.run_session import RunSession
from orchestrator.core import questions
from orchestrator.core.running import codes, states
from orchestrator.errors import EnvironmentProblem
from orchestrator.runner import owners
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

OF_THE_PROJECT = "OUTPUT_FAILED"
"""The problem of the surroundings that is the run's own: its project cannot be written."""


def hold(
    context: Context, run: Run, state: str, reason: str, status: str, code: str | None, question: str | None = None,
    kind: str = questions.REPLY, *, helps: str = "",
) -> None:
    """Stop a queued run that no executor is to see, with its log.

    Args:
        state, reason, status, code, question, kind: as `holding.hold` takes them.
        helps: what helps, for the hint.
    """
    holding.hold(
        context, session_id=run.session_id, id=run.id, state=state, reason=reason, executor_status=status, code=code,
        question=question, kind=kind,
        log=[{"kind": writing.ADVICE, "level": writing.FULL, "text": helps}] if helps else (),
    )
    records.save(context, run.session_id, run.id)


def give_up(desk: RunSession, id: str, problem: Exception) -> None:
    """End a run that could not be executed. While the database cannot be written one that is queued stays so.

    Raises:
        Exception: the problem itself, where the run cannot be ended here: the database cannot be written, or another
            process executes it.
    """
    context = desk.context
    run = run_reader.by_id(context.connection, id)
    if run is None:
        raise writing.unknown(id, [])
    of_the_database = isinstance(problem, EnvironmentProblem) and problem.code != OF_THE_PROJECT
    if run.state == states.QUEUED and not of_the_database:
        code = getattr(problem, "code", "")
        holding.hold(
            context, session_id=run.session_id, id=run.id, state=states.FAILED, reason=_why(problem),
            executor_status=states.ERROR, code=code if code in codes.CODES else "E503",
        )
    elif run.owner == owners.mine():
        starting.abandon(
            context, session_id=run.session_id, id=run.id, owner=owners.mine(), reason=_why(problem)
        )
    else:
        raise problem
    records.save(context, run.session_id, run.id)


def _why(problem: Exception) -> str:
    return getattr(problem, "message", None) or f"{type(problem).__name__}: {problem}"
