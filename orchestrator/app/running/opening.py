"""Beginning a session of runs, or going on with one that others began."""

from __future__ import annotations

import contextlib

from orchestrator.app.kernel.context import Answer
from orchestrator.app.running import pointing, retention, writing
from orchestrator.app.running.run_session import RunSession
from orchestrator.app.session import sessions
from orchestrator.app.session.requests import CreateSession
from orchestrator.core import names
from orchestrator.errors import Refused
from orchestrator.runner import evidence_files
from orchestrator.store import run_reader


def begin(desk: RunSession, id: str | None = None) -> Answer:
    """Begin a session.

    Args:
        id: its id; one made of the time where left out.

    Raises:
        UsageError: INVALID_ID. Refused: ALREADY_EXISTS; NOT_PERMITTED, the project has files of another database's
            session of that id; E101, E103. InvalidInput: E104, E105. EnvironmentProblem:
            OUTPUT_FAILED, the project cannot be written.
    """
    settings = desk.settings
    chosen, answer = (id, _begun(desk, id)) if id else _begun_anew(desk)
    desk.session_id = chosen
    pointing.heal(desk.context, desk.project.root)
    desk.choose(desk.selection)
    retention.expire(desk.context, settings, session_id=chosen, root=desk.project.root)
    return answer


def _begun(desk: RunSession, id: str) -> Answer:
    if _is_anothers(desk, id):
        what = f"The project keeps files of another session {names.shown(id)}, which this database does not know."
        raise Refused("NOT_PERMITTED", what, f"Give another id, or move .orchestrator/sessions/{id} away")
    evidence_files.session_folder(desk.project.root, id)
    return sessions.create(desk.context, CreateSession(id=id, kind="chat"))


def _begun_anew(desk: RunSession) -> tuple[str, Answer]:
    """Begin a session of the next free id: the time, or one more than what is taken."""
    number = writing.milliseconds(desk.context.clock())
    while True:
        id = f"chat-{number}"
        # Who makes the folder has the id: a process of another database may want it in the same millisecond.
        if desk.context.reader.session(id) is None and evidence_files.make_session_folder(desk.project.root, id):
            with contextlib.suppress(sessions.Taken):
                return id, sessions.begin_chat(desk.context, id=id)
        number += 1


def _is_anothers(desk: RunSession, id: str) -> bool:
    """Whether the project has files of a session of that id which the database does not have, as another one may.

    The folder is looked at first: a session is recorded before its first file is written.
    """
    return evidence_files.has_files(desk.project.root, id) and desk.context.reader.session(id) is None


def join(desk: RunSession, id: str) -> None:
    """Go on with the session of an id, which is begun where there is none.

    Raises:
        Refused: SESSION_CLOSED; NOT_PERMITTED, it is no chat, or its runs are in another project. And as `begin`.
    """
    session = desk.context.reader.session(id)
    if session is None:
        try:
            begin(desk, id)
        except Refused as problem:
            # Somebody else began it between the look and the step.
            if problem.code != "ALREADY_EXISTS":
                raise
            join(desk, id)
        return
    if session.kind != "chat":
        what = f"Session {names.shown(id)} is no chat, so nothing is said in it."
        raise Refused("NOT_PERMITTED", what, "Leave the session out, or name a chat")
    if session.status == "ended":
        raise Refused("SESSION_CLOSED", f"Session {names.shown(id)} has ended.", "Leave the session out")
    runs = run_reader.of_session(desk.context.connection, id)
    if runs and runs[-1].verification_root != desk.project.root:
        what = f"Session {names.shown(id)} is about another project."
        raise Refused("NOT_PERMITTED", what, "Leave the session out, or name its project")
    desk.session_id = id
