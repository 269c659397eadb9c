"""Sessions of runs that no process has open: what is queued there waits for a person, and what is over is ended.

Source: seed 001, Properties 16 and 35.
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Context, Work
from orchestrator.app.running import closing, writing
from orchestrator.app.session import sessions
from orchestrator.core.running import states
from orchestrator.runner import opened
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run


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
    """End the step's session, which is idle, if it is over."""
    work.step.flush()
    if closing.is_over(work.context, work.step.chain):
        sessions.close(work, by=closing.CLOSER, reason="its last question is answered", cause="question")
