"""Beginning and ending a process that executes runs: what is said first, that nothing stays open, and the exit code.

Source: seed 001, Properties 28, 29, 32, 35 and 40.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Mapping

from orchestrator import bootstrap
from orchestrator.app.running import end_session
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.running import exits, report
from orchestrator.doors.cli import invoke, output
from orchestrator.doors.cli.options import Given
from orchestrator.doors.cli.repl import flags
from orchestrator.doors.cli.repl.interrupts import Interrupts
from orchestrator.doors.cli.repl.loop import Worker
from orchestrator.doors.cli.repl.messages import Answer, Teller
from orchestrator.doors.cli.text.layout import visible
from orchestrator.errors import OrchestratorError
from orchestrator.hints import Any

TEMP = "temp"
"""The mode of a project that may be deleted after the process."""
_SEVERITY = (exits.OK, exits.UNFINISHED, exits.FAILED)


def greet(session: RunSession, teller: Teller, given: Given) -> None:
    """Say where work is done and what is special about it, before anything else is said.

    Source: seed 001, Properties 32 and 40.
    """
    notices = flags.notices()
    warnings = [*session.project.warnings, *session.warnings, *given.warnings, *bootstrap.end_lost_runs(session)]
    root = session.project.root
    first = [f"PROJECT_PATH={root}"] if given.arguments.get("print_project_path") else []
    document = {"project": root, "notices": notices, "warnings": warnings}
    teller.answer("begin", Answer(document, [*first, *notices]))
    if not teller.json:
        for warning in warnings:
            output.complain(visible(f"warning: {warning}"))


def remind(session: RunSession, teller: Teller) -> None:
    """Say last what was said first of a temporary project.

    Source: seed 001, Property 32.
    """
    if session.project.mode == TEMP and not teller.json:
        for warning in session.project.warnings:
            output.complain(visible(f"warning: {warning}"))


def ended(
    session: RunSession, teller: Teller, worker: Worker, interrupts: Interrupts, body: Callable[[], bool], *,
    debug: bool,
) -> dict[str, Any]:
    """Do the work and end what is open, whatever happens meanwhile.

    Args:
        body: the work; it returns whether it was interrupted.
        debug: whether the traceback of an unexpected error is printed.

    Returns:
        `report` and `report_path` of the last session, and the process's `exit_code`.

    Raises:
        OrchestratorError: what stopped the work, to end with 1.

    Source: seed 001, Properties 29 and 35.
    """
    interrupted = False
    try:
        interrupted = body()
    except KeyboardInterrupt:
        interrupted = True
    except Exception as problem:
        if debug and not isinstance(problem, OrchestratorError):
            output.complain("".join(traceback.format_exception(problem)))
        with interrupts.shielded(), contextlib.suppress(Exception):
            end_session.close(session)
        raise _explained(problem, session) from None
    with interrupts.shielded():
        closed = end_session.close(session)
    own = exits.exit_code(worker.outcomes.values(), command_failed=teller.failed, interrupted=interrupted)
    return {**closed, "exit_code": max(own, closed["exit_code"], key=_SEVERITY.index)}


def _explained(problem: Exception, session: RunSession) -> OrchestratorError:
    """An error of any kind as one that ends the process with 1."""
    if not isinstance(problem, OrchestratorError):
        known = bootstrap.environment_problem(problem, session.context.path)
        advice = "Repeat the call with --debug"
        problem = known or OrchestratorError("INTERNAL", invoke.unexpected(problem), advice)
    return flags.as_negative(problem)


def reported(closed: Mapping[str, Any]) -> list[str]:
    """What is said last: sessions that were left unfinished, that nothing was asked, and where the final report is."""
    lines = [
        f"Left open: session {each['session_id']} is {each['overall_status']}. Report: {each['report_path']}"
        for each in closed.get("left_behind") or ()
    ]
    lines += [f"The report was not written: {each}" for each in closed.get("warnings") or ()]
    if closed.get("report_path"):
        lines += [] if closed["report"]["tasks"] else [report.NOTHING_ASKED]
        lines.append(f"Report: {closed['report_path']}")
    return [visible(line) for line in lines]
