"""What the runs of a session look like, and where it stands; of a session without any, those of the one before it.

Source: seed 001, Properties 2, 27 and 30.
"""

from __future__ import annotations

from collections import Counter

from orchestrator.app.kernel.context import Answer
from orchestrator.app.running import current_task_file, lock_acquisition, run_repository, run_views
from orchestrator.app.running.run_session import RunSession
from orchestrator.core import database_urls
from orchestrator.core.running import states
from orchestrator.runner import project
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run


def status(session: RunSession) -> Answer:
    """Where the session stands: its project, who executes, and what became of its runs."""
    runs = tasks(session)
    root = session.project.root
    pointers = project.load_pointers(root) if project.is_set_up(root) else project.Pointers()
    asking = [run for run in runs if run["question"] is not None]
    # One that awaits its answer comes before what an ended one has asked.
    asking.sort(key=lambda run: bool(run["state"] == states.AWAITING))
    return {
        "session_id": session.session_id,
        "project": root,
        "project_mode": session.project.mode,
        "executor": session.executor,
        "provider": session.selection.provider,
        "model": session.selection.model,
        "tasks": len(runs),
        "states": dict(Counter(run["state"] for run in runs)),
        "current_task_id": pointers.current_task_id,
        "last_task_id": pointers.last_task_id,
        "question": asking[-1]["question"] if asking else None,
        "db": database_path(session),
    }


def database_path(session: RunSession) -> str | None:
    """The path or URL of the session's database; None while there is none. Looking makes none."""
    if "context" in vars(session):
        return session.context.path
    found = session.find()
    return None if found is None else database_urls.masked(found)


def earlier_runs(session: RunSession) -> list[Answer]:
    """The runs of the session that ran in the project last, the session's own left out."""
    before = _earlier_session(session)
    return run_views.runs(session.context, before) if before is not None else []


def _earlier_tree(session: RunSession) -> list[Answer]:
    """The same runs by the task that they were about."""
    before = _earlier_session(session)
    return run_views.tree(session.context, before) if before is not None else []


def run_of(session: RunSession, id: str) -> Run | None:
    """The run of an id outside, of any session; of one in the log, of this session, else of the one before."""
    connection, own = session.context.connection, session.session_id
    found = run_reader.by_id(connection, id) or (run_reader.run(connection, own, id) if own is not None else None)
    if found is not None:
        return found
    before = _earlier_session(session)
    return run_reader.run(connection, before, id) if before is not None else None


def _earlier_session(session: RunSession) -> str | None:
    if database_path(session) is None:
        return None
    return run_reader.last_session(session.context.connection, session.project.root, session.session_id)


def runs_of(session: RunSession) -> list[Run]:
    """The runs of the session that is open."""
    return run_reader.of_session(session.context.connection, session.session_id) if session.session_id else []


def require_run(session: RunSession, id: str) -> Run:
    """A run of the open session.

    Raises:
        Refused: UNKNOWN_ID.
    """
    found = run_reader.run(session.context.connection, session.session_id, id) if session.session_id else None
    if found is None:
        raise run_repository.unknown(id, [run.id for run in runs_of(session)])
    return found


def free_abandoned(session: RunSession) -> None:
    """End the runs whose process is gone, before anything is said or decided about them."""
    lock_acquisition.free_abandoned(session.context)
    current_task_file.heal(session.context, session.project.root)


def shown(session: RunSession, id: str) -> Answer:
    """A run as it is now, with what to do next."""
    return run_views.describe(session.context, require_run(session, id))


def tasks(session: RunSession) -> list[Answer]:
    """The session's runs."""
    if session.session_id is None:
        return []
    free_abandoned(session)
    return run_views.runs(session.context, session.session_id)


def log(session: RunSession, id: str, level: str = run_repository.SUMMARY) -> Answer:
    """One run with its log: of this session or the last before it by either id, of any by its id outside."""
    free_abandoned(session)
    found = run_of(session, id) or require_run(session, id)
    return run_views.run_log(session.context, found.session_id, found.id, level)


def tree(session: RunSession) -> list[Answer]:
    """The session's runs by the task that they were about; where it has none, those of the last one before it."""
    found = run_views.tree(session.context, session.session_id) if session.session_id else []
    return found or _earlier_tree(session)
