"""Sessions of runs that no process has open: what is queued there waits for a person, and what is over is ended.

Source: seed 001, Properties 16 and 35.
"""

from __future__ import annotations

from orchestrator.app.context import Context, Work
from orchestrator.app.running import closing, writing
from orchestrator.app.session import sessions
from orchestrator.core.running import states
from orchestrator.runner import opened
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

_ASKED = "SELECT 1 FROM questions WHERE session_id = :session AND closed_seq IS NULL LIMIT 1"


def is_idle(context: Context, session_id: str) -> bool:
    """Whether nobody goes on with a session by themselves: it was begun by a REPL or a single run that has ended.

    Of a session that was begun through a server, one goes on with it, now or when it is started again.
    """
    runs = run_reader.of_session(context.connection, session_id)
    if not runs or run_reader.channel(context.connection, session_id) in writing.SERVER:
        return False
    return not any(opened.is_open(root, session_id) for root in {run.verification_root for run in runs})


def queued(context: Context, session_id: str) -> list[Run]:
    """The runs of a session that wait until a person goes on with them."""
    found = [run for run in run_reader.of_session(context.connection, session_id) if run.state == states.QUEUED]
    return found if found and is_idle(context, session_id) else []


def end_over(work: Work) -> None:
    """End the step's session, which is idle, if nothing of it is asked, queued or under way any more."""
    session, connection = work.step.chain, work.context.connection
    work.step.flush()
    over = all(run.ended_at is not None for run in run_reader.of_session(connection, session))
    if over and work.reader.one(_ASKED, session=session) is None:
        sessions.close(work, by=closing.CLOSER, reason="its last question is answered", cause="question")
