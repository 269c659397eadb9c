"""Taking up a run that another process queued or left: a desk goes on with the session that the run is of."""

from __future__ import annotations

from orchestrator.app.running import closing, earlier, writing
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.running import advice
from orchestrator.errors import Refused
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run


def adopt(desk: RunSession, run: Run) -> None:
    """Serve the session that a run is of from now on; what the desk's own leaves open is ended before."""
    if run.session_id == desk.session_id:
        return
    if desk.session_id is not None:
        closing.close(desk)
    desk.session_id = run.session_id


def find(desk: RunSession, id: str) -> Run:
    """The run of an id, of the desk's session or of another one in the same project; it may have ended.

    Raises:
        Refused: UNKNOWN_ID, there is none; E207, it is one of another project, which goes on there alone.
    """
    found = earlier.run_of(desk, id)
    if found is None:
        own = run_reader.of_session(desk.context.connection, desk.session_id) if desk.session_id is not None else []
        raise writing.unknown(id, [run.id for run in (*own, *run_reader.in_state(desk.context.connection, "queued"))])
    if found.verification_root != desk.project.root:
        what = f"Run {found.id} is one of the project {found.verification_root}, and goes on there alone."
        raise Refused("E207", what, advice.by_hand(found.verification_root, found.id), run=found.id)
    return found
