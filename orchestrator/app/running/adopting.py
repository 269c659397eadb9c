"""Taking up a run that another process queued or left: a desk goes on with the session that the run is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.app.running import closing, writing
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

if TYPE_CHECKING:
    from orchestrator.app.running.desk import Desk


def run_of(desk: Desk, id: str) -> Run:
    """The run of an id: of the desk's session, or of another open one in the same project, which the desk then serves.

    Raises:
        Refused: as `find`.
    """
    found = find(desk, id)
    if found.session_id != desk.session_id:
        if desk.session_id is not None:
            closing.close(desk)
        desk.session_id = found.session_id
    return found


def find(desk: Desk, id: str) -> Run:
    """The run of an id, of the desk's session or of another open one in the same project.

    Raises:
        Refused: UNKNOWN_ID; a run of another project or of a session that is ended is none that goes on here.
    """
    connection, own = desk.context.connection, desk.session_id
    found = run_reader.run(connection, own, id) if own is not None else None
    if found is not None:
        return found
    found = run_reader.by_id(connection, id)
    session = desk.context.reader.session(found.session_id) if found is not None else None
    if found is None or session is None or session.status == "ended" or found.verification_root != desk.project.root:
        raise writing.unknown(id, [run.id for run in run_reader.in_state(connection, "queued")])
    return found
