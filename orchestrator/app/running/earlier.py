"""What other sessions have run in a desk's project, for a desk that has not run anything itself.

Source: seed 001, Properties 27 and 30.
"""

from __future__ import annotations

from orchestrator.app.context import Answer
from orchestrator.app.running import views
from orchestrator.app.running.run_session import RunSession
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run


def database(desk: RunSession) -> str | None:
    """The path of the desk's database; None while there is none. Looking makes none."""
    return desk.context.path if "context" in vars(desk) else desk.find()


def runs(desk: RunSession) -> list[Answer]:
    """The runs of the session that ran in the project last, the desk's own left out."""
    session = _session(desk)
    return views.runs(desk.context, session) if session is not None else []


def tree(desk: RunSession) -> list[Answer]:
    """The same runs by the task that they were about."""
    session = _session(desk)
    return views.tree(desk.context, session) if session is not None else []


def run_of(desk: RunSession, id: str) -> Run | None:
    """The run of an id outside, of any session; of one in the log, of the desk's session, else of the last before."""
    connection, own = desk.context.connection, desk.session_id
    found = run_reader.by_id(connection, id) or (run_reader.run(connection, own, id) if own is not None else None)
    if found is not None:
        return found
    session = _session(desk)
    return run_reader.run(connection, session, id) if session is not None else None


def _session(desk: RunSession) -> str | None:
    if database(desk) is None:
        return None
    return run_reader.last_session(desk.context.connection, desk.project.root, desk.session_id)
