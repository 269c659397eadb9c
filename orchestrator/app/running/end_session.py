"""Ending a session of runs: nothing stays open, and what became of all of it is reported.

A session that no process has open waits for a person where something is queued in it, and is ended where nothing is.

Source: seed 001, Properties 10, 16, 29 and 35.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime

from orchestrator.app.kernel import attached_evidence, operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.running import (
    evidence_and_log,
    orphaned_runs,
    run_queue,
    run_repository,
    run_views,
    start_run,
    turn_runs,
)
from orchestrator.app.running.run_session import RunSession
from orchestrator.app.session import sessions
from orchestrator.app.session.requests import EndSession
from orchestrator.core import questions
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import advice, codes, continuation, exits, report, states
from orchestrator.core.running.evidence import Inspection
from orchestrator.errors import OrchestratorError, Refused
from orchestrator.runner import evidence_files, process_identity, reports, session_lock
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

CLOSER = "orchestrator"


def close(session: RunSession) -> Answer:
    """End what is open, as `close_current` does, at the end of whoever serves the session.

    Returns:
        As `close_current`, and `left_behind`, the sessions before it that were not complete, if any.
    """
    closed = close_current(session)
    return {**closed, "left_behind": session.left_behind} if session.left_behind else closed


def close_current(session: RunSession) -> Answer:
    """End what is open, report, and end the session where nothing in it waits for a person.

    What cannot be written in the project keeps nothing open in the database. Where a run of the session is INVALID
    because its executor touched what is kept there, that is what is told, with a warning on what could not be written.

    Returns:
        `report`, `report_path`, `exit_code`, and `warnings`, if any; the report is None where no session was started.

    Raises:
        Refused: E208, the report is not whole. EnvironmentProblem: OUTPUT_FAILED, a log or the report could not be
            written.
    """
    id = session.session_id
    if id is None:
        return {"success": True, "report": None, "report_path": None, "exit_code": exits.exit_code(())}
    context = session.context
    problems: list[OrchestratorError] = []
    for run in run_reader.of_session(context.connection, id):
        if run.state == states.QUEUED:
            unrun = "the session was closed before it ran"
            operations.ask(context, run_queue.CancelRun(session_id=id, id=run.id, reason=unrun))
        elif run.state == states.AWAITING:
            operations.ask(context, run_queue.EndUnanswered(session_id=id, id=run.id))
        elif run.state == states.RUNNING and run.owner == process_identity.mine():
            # Broken off before it could end: this process runs nothing any more.
            start_run.abandon(context, session_id=id, id=run.id, owner=run.owner)
        else:
            continue
        with _noting(problems):
            evidence_and_log.save_log(context, id, run.id)
    found = path = None
    with _noting(problems):
        found = _report(session, id)
        path = reports.save(session.project.root, id, found, report.page(found))
    _end(context, id)
    session.session_id = None
    runs = run_reader.of_session(context.connection, id)
    if problems and (found is None or not _is_touched(context, runs)):
        raise problems[0]
    told: Answer = {"warnings": [problem.message for problem in problems]} if problems else {}
    return {
        **told,
        "success": True, "report": found, "report_path": path,
        "exit_code": exits.exit_code([run.state for run in latest(runs)]),
    }


def _is_touched(context: Context, runs: list[Run]) -> bool:
    """Whether an executor touched what the runner keeps in the project, by what the database has of these runs."""
    every = (row for run in runs for row in run_reader.violations(context.connection, run.session_id, run.id))
    return any(row["type"] == run_views.TOUCHED for row in every)


def left_unfinished(closed: Answer) -> list[Answer]:
    """What `close` has ended unfinished, to be named once more when the sessions after it end; empty if it was not."""
    found = closed["report"]
    if found["overall_status"] == states.COMPLETE:
        return []
    return [{**{name: found[name] for name in ("session_id", "overall_status")}, "report_path": closed["report_path"]}]


@contextlib.contextmanager
def _noting(problems: list[OrchestratorError]) -> Iterator[None]:
    """Go on after an error, which is told when all that is open has been ended."""
    try:
        yield
    except OrchestratorError as problem:
        problems.append(problem)


def latest(runs: list[Run]) -> list[Run]:
    """The last run of each task: what was tried again counts by how it ended then."""
    return list({run.task_id: run for run in runs}.values())


def _report(session: RunSession, id: str) -> Answer:
    context = session.context
    runs = run_reader.of_session(context.connection, id)
    found = _inventory(context, session.project.root, id)
    tasks = [report.Task(run.id, run.state, run.error_reason) for run in latest(runs)]
    violations = [
        {"type": row["type"], "limit": row["limit_value"], "actual": row["actual"], "time": row["at"]}
        for run in runs
        for row in run_reader.violations(context.connection, id, run.id)
    ]
    last = runs[-1] if runs else None
    following = continuation.next_action(_work(latest(runs), not found.problems), None, _seconds(context.clock()))
    built: Answer = report.build(
        session_id=id,
        statuses=[run.executor_status or states.INCOMPLETE for run in latest(runs)],
        tasks=tasks,
        inventory=report.Inventory(
            found.total, found.missing, tuple(problem.message for problem in found.problems), found.raw_files
        ),
        next_action=(following.allowed, following.reason if runs else report.NOTHING_ASKED),
        violations=violations,
        provider=last.provider if last else session.provider(None)["provider"],
        model=last.model if last else session.provider(None)["model"],
    )
    report.require(built)
    return built


def _work(runs: list[Run], sound: bool) -> continuation.Work:
    statuses = [run.executor_status or states.INCOMPLETE for run in runs]
    finished = sum(run.state == states.DONE for run in runs)
    # A file that was made and found is progress, also of a task that is not finished.
    begun = sum(run.state == states.UNFINISHED and run.files_modified_count > 0 for run in runs)
    return continuation.Work(
        states.merge(statuses, merely_started=not runs), len(runs), finished, begun=begun,
        running=any(run.state == states.RUNNING for run in runs), evidence_valid=sound,
    )


def require_continuable(context: Context, run: Run) -> Run:
    """The run, if its work may be continued.

    Raises:
        Refused: E207, it is complete or an error, nothing of it was verified, its evidence is not sound any more, or
            nobody was asked.
    """
    asked = run_reader.question(context.connection, run.question_id) if run.question_id else None
    if run.state != states.UNFINISHED:
        what = f"Run {run.id} is {run.state}; only unfinished work is continued."
        raise Refused("E207", what, _instead(run), run=run.id)
    if asked is None or asked["closed_at"] is not None:
        why = "nothing of it was verified" if asked is None else "that was answered already"
        raise codes.refused("E207", f"Run {run.id} cannot be continued: {why}.", run=run.id)
    if asked["kind"] == questions.CONTINUATION:
        sound = not _inventory(context, run.verification_root, run.session_id).problems
        continuation.check(
            continuation.of_run(run.executor_status, run.files_modified_count, evidence_valid=sound)
        )  # fmt: skip
    return run


def _instead(run: Run) -> str:
    """What to do about a run that cannot be continued, whatever comes of it."""
    if run.ended_at is None:
        return advice.filled("{logs} tells how it goes; it can be continued once it has ended unfinished", run.id)
    return "Start a new task" if run.state == states.DONE else orphaned_runs.again(run)


def _inventory(context: Context, root: str, session: str) -> Inspection:
    root = attached_evidence.run_root(context.path, root)
    return evidence_files.inspect(root, session, (), known=evidence_and_log.checksum(context, session), on_disk=True)


def _end(context: Context, session: str) -> None:
    """End the session, unless a person is asked in it, or another process runs something of it."""
    if is_over(context, session):
        operations.ask(context, EndSession(id=session, by=CLOSER, reason="the session was closed"))


def is_over(context: Context, session: str) -> bool:
    """Whether nothing of a session is asked, queued or under way any more."""
    open_ = context.reader.one(
        "SELECT 1 FROM questions WHERE session_id = :session AND closed_seq IS NULL LIMIT 1", session=session
    )
    return open_ is None and all(run.ended_at is not None for run in run_reader.of_session(context.connection, session))


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def is_idle(context: Context, session_id: str) -> bool:
    """Whether nobody goes on with a session by themselves: it was begun by a REPL or a single run that has ended.

    Of a session that was begun through a server, one goes on with it, now or when it is started again.
    """
    runs = run_reader.of_session(context.connection, session_id)
    if not runs or run_reader.channel(context.connection, session_id) in run_repository.SERVER:
        return False
    return not any(session_lock.is_open(root, session_id) for root in {run.verification_root for run in runs})


def queued(context: Context, session_id: str) -> list[Run]:
    """The runs of a session that wait until a person goes on with them."""
    found = [run for run in run_reader.of_session(context.connection, session_id) if run.state == states.QUEUED]
    return found if found and is_idle(context, session_id) else []


def end_over(work: Work) -> None:
    """End the step's session, which is idle, if it is over."""
    work.step.flush()
    if is_over(work.context, work.step.chain):
        sessions.close(work, by=CLOSER, reason="its last question is answered", cause="question")


def refuse_running(work: Work) -> None:
    """Refuse to end a session in which something runs.

    Raises:
        Refused: ILLEGAL_MOVE {runs}.
    """
    running = [run.id for run in _open(work) if run.state == states.RUNNING]
    running += [run.id for run in turn_runs.of_session(work) if run.state == states.RUNNING]
    if running:
        raise Refused(
            "ILLEGAL_MOVE", f"Session {work.step.chain} cannot end: {', '.join(running)} runs.",
            "Wait for its end, or stop the program that runs it", runs=running,
        )


def end_all(work: Work, *, by: str) -> None:
    """End the runs of a session that is ended: nothing in it will run, or be answered, any more."""
    for run in _open(work):
        if run.state == states.AWAITING:
            run_queue.end(work, run, states.UNFINISHED, by=RUNNER, reason="unanswered")
        else:
            run_queue.end(work, run, states.CANCELLED, by=by, reason="the session was closed before it ran")
    for turn in turn_runs.of_session(work):
        turn_runs.give_up(work, turn, "the session was closed before it ran")


def _open(work: Work) -> list[Run]:
    found = run_reader.of_session(work.context.connection, work.step.chain)
    return [run for run in found if run.ended_at is None]
