"""What a person could let go on or answer now: looked at before anybody is asked to prove to be one, and in the step.

Source: seed 001, Properties 16, 19 and 38.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.app.kernel.context import Context
from orchestrator.app.running import closing, gone, mediating
from orchestrator.core import questions
from orchestrator.core.running import states
from orchestrator.errors import Refused
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

_ELSEWHERE = "Enter a task; /continue ID goes on with a run of an earlier session"


def answer(context: Context, runs: Sequence[Run], text: str, id: str | None) -> tuple[Run, str, str]:
    """The run that an answer goes to, with the decision and the note that it is.

    Args:
        runs: those that may have asked, the newest last.
        id: of the only one of them, where it was named.

    Raises:
        Refused: ILLEGAL_MOVE, nothing is asked. UsageError: no yes and no no, where that is asked.
    """
    for run in reversed(runs):
        asked = run_reader.question(context.connection, run.question_id) if run.question_id else None
        if run.state in (states.AWAITING, states.UNFINISHED) and asked is not None and asked["closed_at"] is None:
            if asked["kind"] == questions.CONFIRMATION:
                return run, mediating.yes_or_no(text), ""
            word = mediating.word(text)
            if word is not None and word in questions.decisions(asked["kind"], asked["text"]):
                return run, word, ""
            return run, questions.CONTINUE, text.strip()
    what = f"Run {id} asks nothing." if id is not None else "No run asks anything."
    raise Refused("ILLEGAL_MOVE", what, "/tasks")


def approval(context: Context, runs: Sequence[Run]) -> Run:
    """The newest run, if it may go on.

    Raises:
        Refused: E207.
    """
    ended = [run for run in runs if run.ended_at is not None or run.state == states.AWAITING]
    if not ended:
        raise Refused("E207", "There is no unfinished work in this session.", _ELSEWHERE)
    return closing.continuable(context, ended[-1])


def continuation(context: Context, run: Run) -> Run:
    """A run, if it is queued or may be continued.

    Raises:
        Refused: E207.
    """
    found = run if run.state == states.QUEUED else closing.continuable(context, run)
    session = context.reader.session(run.session_id)
    if session is None or session.status == "ended":
        raise Refused("E207", f"Run {run.id} cannot be continued: its session is ended.", gone.again(run), run=run.id)
    return found
