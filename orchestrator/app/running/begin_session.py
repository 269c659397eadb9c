"""Beginning a session of runs, or going on with one that others began."""

from __future__ import annotations

import contextlib

from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.context import Answer
from orchestrator.app.running import current_task_file, end_session, retention, run_repository
from orchestrator.app.running.run_session import RunSession
from orchestrator.app.session import sessions
from orchestrator.core import names
from orchestrator.errors import Refused
from orchestrator.runner import evidence_files, project
from orchestrator.store import run_reader


def start(session: RunSession) -> Answer:
    """Begin a new session; what the one before left open is ended first.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED, the project cannot be written; no session is begun.
    """
    _ = session.settings
    if session.session_id is not None:
        session.left_behind += end_session.left_unfinished(end_session.close_current(session))
    return begin(session)


def ensure(session: RunSession) -> str:
    """The id of the session, which is begun where none was."""
    if session.session_id is None:
        start(session)
    assert session.session_id is not None  # noqa: S101 - started just now
    return session.session_id


def set_up_project(session: RunSession) -> Answer:
    """Make what the project lacks of its settings."""
    root = session.project.root
    return {"success": True, "created": list(project.init(root)), "project": root}


def begin(session: RunSession, id: str | None = None) -> Answer:
    """Begin a session.

    Args:
        id: its id (default: one made from the time).

    Raises:
        Taken: there is a session of this id. Refused: NOT_PERMITTED, the project has files of another database's
            session of that id; E101, E103. InvalidInput: E104, E105. EnvironmentProblem:
            OUTPUT_FAILED, the project or the shared folder of evidence cannot be written; no session is begun.
    """
    settings = session.settings
    attached_evidence.require_shared(session.context.path, session.context.connection)
    chosen, answer = (id, _begun(session, id)) if id else _begun_anew(session)
    session.session_id = chosen
    current_task_file.heal(session.context, session.project.root)
    session.choose(session.selection)
    retention.expire(session.context, settings, session_id=chosen, root=session.project.root)
    return answer


def _begun(session: RunSession, id: str) -> Answer:
    if _is_anothers(session, id):
        what = f"The project keeps files of another session {names.shown(id)}, which this database does not know."
        raise Refused("NOT_PERMITTED", what, f"Give another id, or move .orchestrator/sessions/{id} away")
    evidence_files.session_folder(session.project.root, id)
    return sessions.begin_chat(session.context, id=id, client=session.context.client)


def _begun_anew(session: RunSession) -> tuple[str, Answer]:
    """Begin a session of the next free id: the time, or one more than what is taken."""
    number = run_repository.milliseconds(session.context.clock())
    while True:
        id = f"chat-{number}"
        # Who makes the folder has the id: a process of another database may want it in the same millisecond.
        if session.context.reader.session(id) is None and evidence_files.make_session_folder(session.project.root, id):
            with contextlib.suppress(sessions.Taken):
                return id, sessions.begin_chat(session.context, id=id)
        number += 1


def _is_anothers(session: RunSession, id: str) -> bool:
    """Whether the project has files of a session of that id which the database does not have, as another one may.

    The folder is looked at first: a session is recorded before its first file is written.
    """
    return evidence_files.has_files(session.project.root, id) and session.context.reader.session(id) is None


def join(session: RunSession, id: str) -> None:
    """Go on with the session of an id, which is begun where there is none.

    Raises:
        Refused: SESSION_CLOSED; NOT_PERMITTED, it is no chat, or its runs are in another project. And as `begin`.
    """
    found = session.context.reader.session(id)
    if found is None:
        try:
            begin(session, id)
        except sessions.Taken:
            # Somebody else began it between the look and the step.
            join(session, id)
        return
    if found.kind != "chat":
        what = f"Session {names.shown(id)} is no chat, so nothing is said in it."
        raise Refused("NOT_PERMITTED", what, "Leave the session out, or name a chat")
    if found.status == "ended":
        raise Refused("SESSION_CLOSED", f"Session {names.shown(id)} has ended.", "Leave the session out")
    if run_reader.root_of(session.context.connection, id) not in (None, session.project.root):
        what = f"Session {names.shown(id)} is about another project."
        raise Refused("NOT_PERMITTED", what, "Leave the session out, or name its project")
    session.session_id = id
