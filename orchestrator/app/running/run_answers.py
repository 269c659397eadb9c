"""Answering what runs ask and letting work go on, as a person.

What may be answered is decided before anybody is asked to prove to be one. A run that another process queued or left is
taken over with its session.

Source: seed 001, Properties 16, 19 and 38.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.people import answer_question
from orchestrator.app.people.requests import AnswerQuestion
from orchestrator.app.running import (
    clarification,
    end_session,
    orphaned_runs,
    run_repository,
    session_status,
    submission,
)
from orchestrator.app.running.run_session import RunSession
from orchestrator.core import questions
from orchestrator.core.running import advice, ambiguity, states
from orchestrator.core.suggestions import local, sentence
from orchestrator.errors import Refused
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

_ELSEWHERE = "Enter a task; /continue ID resumes a run of an earlier session"


def respond(session: RunSession, text: str, id: str | None = None) -> Answer:
    """Answer what a run asked, as a person; it is queued again.

    Raises:
        Refused: UNKNOWN_ID, E207 (of another project), ILLEGAL_MOVE (nothing is asked), HUMAN_REQUIRED. UsageError:
            neither yes nor no.
    """
    return _answer(session, *answerable(session, text, id))


def answerable(session: RunSession, text: str, id: str | None = None) -> tuple[Run, str, str]:
    """What `respond` would answer, with its decision and note; it refuses what that refuses whoever asks."""
    session_status.free_abandoned(session)
    runs = [find_run(session, id)] if id is not None else session_status.runs_of(session)
    return _match_answer(session.context, runs, text, id)


def approve(session: RunSession) -> Answer:
    """Approve that the newest unfinished run is continued, as a person; the run that continues it.

    Raises:
        Refused: E207, nothing may be continued; HUMAN_REQUIRED.
    """
    return _answer(session, approvable(session), questions.CONTINUE, "")


def approvable(session: RunSession) -> Run:
    """The run that `approve` lets go on; it refuses what that refuses whoever asks."""
    session_status.free_abandoned(session)
    return _may_approve(session.context, session_status.runs_of(session))


def proceed(session: RunSession, id: str) -> Answer:
    """Continue a run that ended unfinished, as a person; one that was queued by an answer is only taken up.

    Raises:
        Refused: UNKNOWN_ID, E207, HUMAN_REQUIRED.
    """
    run = continuable(session, id)
    if run.state == states.QUEUED:
        adopt(session, run)
        return submission.take_up(session, run.id)
    return _answer(session, run, questions.CONTINUE, "")


def continuable(session: RunSession, id: str) -> Run:
    """The run that `proceed` goes on with; nothing is changed by the look, and it refuses what that refuses."""
    session_status.free_abandoned(session)
    return _may_continue(session.context, find_run(session, id))


def _answer(session: RunSession, run: Run, decision: str, note: str) -> Answer:
    said = AnswerQuestion(
        id=str(run.question_id), decision=decision, note=session.without_keys(note), session_id=run.session_id
    )
    answer_question.answer(session.context, said)
    adopt(session, run)
    newest = run_reader.of_task(session.context.connection, run.session_id, run.task_id)[-1]
    return submission.take_up(session, newest.id)


def _match_answer(context: Context, runs: Sequence[Run], text: str, id: str | None) -> tuple[Run, str, str]:
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
                return run, clarification.yes_or_no(text), ""
            word = clarification.word(text)
            if word is not None and word in questions.decisions(asked["kind"], asked["text"]):
                return run, word, ""
            return run, questions.CONTINUE, text.strip()
    what = f"Run {id} asks nothing." if id is not None else "No run asks anything."
    raise Refused("ILLEGAL_MOVE", what, "/tasks")


def _may_approve(context: Context, runs: Sequence[Run]) -> Run:
    """The newest run, if it may go on.

    Raises:
        Refused: E207.
    """
    ended = [run for run in runs if run.ended_at is not None or run.state == states.AWAITING]
    # Who typed "continue" before `/approve` means the run before it.
    ended = [run for run in ended if run.error_reason != ambiguity.TASK_AMBIGUOUS] or ended
    if not ended:
        raise Refused("E207", "There is no unfinished work in this session.", _ELSEWHERE)
    return end_session.require_continuable(context, ended[-1])


def _may_continue(context: Context, run: Run) -> Run:
    """A run, if it is queued or may be continued.

    Raises:
        Refused: E207.
    """
    found = run if run.state == states.QUEUED else end_session.require_continuable(context, run)
    began = context.reader.session(run.session_id)
    if began is None or began.status == "ended":
        what = f"Run {run.id} cannot be continued: its session is ended."
        raise Refused("E207", what, orphaned_runs.again(run), run=run.id)
    return found


def adopt(session: RunSession, run: Run) -> None:
    """Serve the session that a run is of from now on; what the session's own leaves open is ended before."""
    if run.session_id == session.session_id:
        return
    if session.session_id is not None:
        end_session.close_current(session)
    session.session_id = run.session_id


def find_run(session: RunSession, id: str) -> Run:
    """The run of an id, of the session's session or of another one in the same project; it may have ended.

    Raises:
        Refused: UNKNOWN_ID, there is none; E207, it is one of another project, which goes on there alone.
    """
    found = session_status.run_of(session, id)
    if found is None:
        queued = run_reader.in_state(session.context.connection, states.QUEUED)
        raise run_repository.unknown(id, [run.id for run in (*session_status.runs_of(session), *queued)])
    if found.verification_root != session.project.root:
        what = sentence(
            "Run {} is one of the project {}, and goes on there alone.", found.id, local(found.verification_root)
        )
        raise Refused("E207", what, advice.by_hand(found.verification_root, found.id), run=found.id)
    return found
