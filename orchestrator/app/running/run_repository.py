"""The writes that the use cases of runs share: queueing, moving, logging, and what follows for the task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from orchestrator.app.engine import state_changes, task_blocks
from orchestrator.app.kernel import agent_checks
from orchestrator.app.kernel.context import Context, Work
from orchestrator.app.task import status_checks, task_status
from orchestrator.core import blockers, names, strict_json
from orchestrator.core import tasks as task_words
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import states, task_log
from orchestrator.core.tasks import Task
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import evidence, run_reader, task_reader
from orchestrator.store.reader import Agent
from orchestrator.store.run_reader import Run
from orchestrator.store.step import Value

CHANNEL, PAGE = "http", "page"
"""Through which the sessions that a server executes were begun; the human channel of who opened its one-time link."""
SERVER = frozenset((CHANNEL, PAGE))
"""The channels of a server, which takes up what came through it."""

SUMMARY, FULL = "summary", "full"
"""Levels of the log: what is shown always, and what on request only."""
ADVICE = "advice"
"""The kind of the entry of a log that says what helps, where a run was stopped before any executor was called."""
TOLD = "type_told"
"""The kind of the entry of a log that says that the words of the task told its type."""
GUESSED = "type_guessed"
"""The kind of the entry of a log that says that nobody, and no word of the task, told its type."""


def require(work: Work, id: str) -> Run:
    """The run of the step's session, by its id outside or in the log.

    Raises:
        Refused: UNKNOWN_ID {kind}.
    """
    found = run_reader.run(work.context.connection, work.step.chain, id)
    if found is None:
        raise unknown(id, [run.id for run in run_reader.of_session(work.context.connection, work.step.chain)])
    return found


def unknown(id: str, known: list[str]) -> Refused:
    """The refusal of an id that names no run."""
    return Refused(
        "UNKNOWN_ID", f"There is no run {names.shown(id)}.", "/tasks lists them", kind="run",
        did_you_mean=names.nearest(id, known),
    )


def insert(work: Work, task: Task, *, by: str, **values: Value) -> Run:
    """Queue a run of a task; its ids come from the step's time and from the session's count of runs.

    Args:
        values: prompt, task_type, executor, provider, model, verification_root, retry_of.
    """
    run, log = _ids(work)
    work.step.insert(
        "runs", id=run, log_id=log, task_id=task.id, queued_by=by, queued_at=work.at, created_seq=work.seq,
        state=states.QUEUED, state_changed_by=by, state_changed_at=work.at, state_seq=work.seq, **values,
    )
    _record(work, run, None, states.QUEUED, by, str(values["prompt"])[:200], "queue")
    return require(work, run)


def _ids(work: Work) -> tuple[str, str]:
    """`task-<milliseconds>`, one more than any before where the clock has not moved on, and `task-NNN` in the log."""
    connection, chain = work.context.connection, work.step.chain
    newest = run_reader.newest(connection)
    here = _number(newest[0]) if newest and newest[1] == chain else 0
    there = work.elsewhere("newest run", _number(newest[0]) if newest and newest[1] != chain else 0) or 0
    clock = milliseconds(work.at)
    last = run_reader.last_log_id(connection, chain)
    number = max(clock, here + 1, there + 1)
    return f"task-{number}", task_log.log_id(_number(last) + 1 if last else 1)


def milliseconds(at: str) -> int:
    """A time as milliseconds since the epoch, as ids have it."""
    return int(datetime.fromisoformat(at).timestamp() * 1000)


def _number(id: str) -> int:
    return int(id.removeprefix("task-"))


def _record(work: Work, run: str, from_: str | None, to: str, by: str, reason: str, cause: str) -> None:
    work.step.insert(
        "status_changes", entity="run", entity_id=run, from_status=from_, to_status=to, changed_by=by,
        changed_at=work.at, reason=reason, cause=cause,
    )


def move(
    work: Work, run: Run, to: str, *, by: str, reason: str, cause: str = "run",
    values: Mapping[str, Value] | None = None,
) -> Run:
    """Move a run to another state, with its record; the machine and then the database refuse an illegal move."""
    from orchestrator.core import lifecycle

    lifecycle.check_run_move(run.state, to)
    _record(work, run.id, run.state, to, by, reason, cause)
    found: dict[str, Value] = {
        "state": to, "state_changed_by": by, "state_changed_at": work.at, "state_seq": work.seq, **(values or {}),
    }  # fmt: skip
    if run.state == states.RUNNING:
        found["owner"] = None
        _release(work, run)
    if to in states.TERMINAL:
        found["ended_at"] = work.at
    work.step.update("runs", (run.id,), found)
    known: dict[str, Any] = dict(found)
    return run._replace(**known)


def _release(work: Work, run: Run) -> None:
    """Release what the run holds, last taken first."""
    for path, seq in run_reader.locks(work.context.connection, work.step.chain, run.id):
        work.step.update("run_locks", (run.id, path, seq), {"released_at": work.at, "released_seq": work.seq})


class Move(NamedTuple):
    """A change of a run's state, by its step."""

    seq: int
    from_: str
    to: str


_MOVES = """SELECT seq, from_status, to_status FROM status_changes INDEXED BY ix_status_changes_entity
    WHERE session_id = :session AND entity = 'run' AND entity_id = :id AND from_status IS NOT NULL
    ORDER BY seq, part"""


def moves(context: Context, run: Run) -> list[Move]:
    """How a run came to its state, in order."""
    rows = context.connection.execute(_MOVES, {"session": run.session_id, "id": run.id})
    return [Move(*row) for row in rows]


def before(context: Context, run: Run) -> str:
    """The state that a run had before the one that it has now."""
    found = moves(context, run)
    return found[-1].from_ if found else run.state


def log(work: Work, run: Run, events: Iterable[Mapping[str, Any]]) -> None:
    """Write entries of a run's log: kind, level, text, and their time where it is not the step's."""
    for event in events:
        work.step.insert(
            "run_events", run_id=run.id, at=event.get("at") or work.at, kind=event["kind"],
            level=event.get("level") or SUMMARY, text=event["text"],
        )


def runner(work: Work) -> Agent:
    """The agent in whose name runs move their tasks."""
    return agent_checks.require_agent(work, RUNNER)


def task_of(work: Work, run: Run) -> Task:
    """The task that a run executes."""
    return status_checks.require_task(work, work.step.chain, run.task_id)


def begin_task(work: Work, run: Run) -> None:
    """The task of a run is in progress while it runs; one that waits for something else is not begun.

    Raises:
        Refused: DEPENDENCIES_OPEN, UNBLOCK_NOT_PERMITTED (it is blocked by more than its runs), ILLEGAL_MOVE.
    """
    task = task_of(work, run)
    if task.status == task_words.BLOCKED:
        found = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
        status_checks.lift_all(work, task, found, status_checks.standing(work, RUNNER), person=False)
    if task.status != task_words.IN_PROGRESS:
        task_status.change(work, task, task_words.IN_PROGRESS, by=runner(work), cause="run")


def end_task(work: Work, run: Run, state: str, reason: str, cause: str | None) -> str | None:
    """What the end of a run does to its task.

    Args:
        state: the run's new state.
        reason: why, for the record.
        cause: the type of the blocker that an error opens.

    Returns:
        Why the task is not done although its run is complete, or None.
    """
    task = task_of(work, run)
    if task.closed:
        return None
    by = runner(work)
    if state == states.DONE:
        try:
            status_checks.may_finish(work, task, by)
        except Refused as refusal:
            return refusal.message
        task_status.change(work, task, task_words.DONE, by=by, reason=reason, cause="run")
    elif state == states.UNFINISHED:
        free_task(work, run, by=RUNNER, reason=reason)
    elif state == states.CANCELLED:
        task_status.change(work, task, task_words.CANCELLED, by=by, reason=reason, cause="run")
    elif state == states.AWAITING or (state == states.FAILED and task.status == task_words.IN_PROGRESS):
        type_ = "waiting" if state == states.AWAITING else cause or "unclassified"
        task_status.change(work, task, task_words.BLOCKED, by=by, reason=reason, cause="run", blocker_type=type_)
    return None


def free_task(work: Work, run: Run, *, by: str, reason: str) -> None:
    """Close the soft blockers that runs of a task opened, so that the next one can begin; a hard one is a person's."""
    task = task_of(work, run)
    if task.status != task_words.BLOCKED:
        return
    found = task_reader.blockers_of_task(work.context.connection, work.step.chain, task.id)
    own = [
        block.id for block in found
        if block.opened_by == RUNNER and block.severity == blockers.SOFT and block.cause != task_blocks.CASCADE
    ]  # fmt: skip
    if own:
        task_status.resolve(work, task, own, by=by, reason=reason, resolution="answered")


def close_questions(work: Work, run: Run, *, by: str, answer: str) -> None:
    """Close what is still asked about a run's task without an answer."""
    group = task_of(work, run).group_id
    for row in run_reader.open_questions(work.context.connection, work.step.chain, group, run.task_id):
        work.step.update("questions", (row["id"],), {
            "closed_at": work.at, "closed_by": by, "closed_seq": work.seq, "answer": answer,
        })


def ask(work: Work, run: Run, *, kind: str, text: str) -> str:
    """Open a question about a run's task and return its id."""
    return state_changes.open_question(
        work, task_of(work, run).group_id, kind=kind, text=text, by=RUNNER, task_id=run.task_id
    )


def write_evidence(work: Work, *, kind: str, subject: str, outcome: str, content: object) -> str:
    """Write one piece of evidence, kept as canonical JSON with its hash, and return its id."""
    text = strict_json.canonical(content)
    part = work.step.insert(
        "evidence", group_id=None, kind=kind, subject=subject, outcome=outcome, hash=evidence.digest(text),
        size=len(text.encode("utf-8", "surrogatepass")), content=text,
    )
    return f"{work.step.chain}:E{work.seq}" + (f".{part}" if part > 1 else "")
