"""A question about each of several sessions, asked side by side: a session rests on nothing of another."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from orchestrator import progress
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any
from orchestrator.runner import workers
from orchestrator.store.constants import STORE_CHAIN

SIDE_BY_SIDE = 2_000
"""Events from which on several processes are started: one takes as long to start as to tell some 500."""
_SESSIONS = "SELECT session_id, count(*) FROM audit_events GROUP BY session_id"
_WITHOUT_EVENTS = "SELECT id, 0 FROM sessions WHERE id NOT IN (SELECT session_id FROM audit_events)"


class Question(NamedTuple):
    """What is asked about each session.

    words: the operation.
    given: its parameters about one session, by the session's id.
    alone: answers about one session in this process.
    taken: what an answer of another process says of a session; None where it is to be asked again in this one.
    """

    words: str
    given: Callable[[str], dict[str, Any]]
    alone: Callable[[str], Answer]
    taken: Callable[[str, Answer], Answer | None]


def every(context: Context) -> list[str]:
    """The ids of all sessions that are on record, in their order."""
    return sorted(_counted(context)[0])


def answers(context: Context, sessions: Iterable[str], question: Question) -> list[Answer]:
    """The answers about sessions, in their order.

    What goes wrong in another process is asked again in this one, so that it is said in one place.
    """
    sessions = list(sessions)
    events, shared = _counted(context)
    # The longest first, so that none of them begins when all others are done.
    order = sorted(sessions, key=lambda session: (-events.get(session, 0), session))
    count = min(workers.cores(), len(order))
    has_file = getattr(context.connection, "identity", None) is not None
    told = sum(events.get(session, 0) for session in order) + shared * len(order)
    is_worth_it = count > 1 and has_file and told >= SIDE_BY_SIDE
    found = _side_by_side(context.path, order, count, question) if is_worth_it else {}
    told_of: list[Answer] = []
    for session in sessions:
        if len(sessions) > 1:
            progress.tell("sessions", len(told_of), len(sessions))
        told_of.append(found.get(session) or question.alone(session))
    return told_of


def _counted(context: Context) -> tuple[dict[str, int], int]:
    """How many events each session has, and the store."""
    connection = context.connection
    events = {chain: count for sql in (_SESSIONS, _WITHOUT_EVENTS) for chain, count in connection.execute(sql)}
    return events, events.pop(STORE_CHAIN, 0)


def _side_by_side(path: str, sessions: list[str], count: int, question: Question) -> dict[str, Answer]:
    # With -P no module of the working folder is taken for this program.
    command = (sys.executable, "-P", "-m", "orchestrator", "--db", path, "batch")
    asked = ({"op": question.words, "args": question.given(each)} for each in sessions)
    lines = [strict_json.canonical(each).encode() for each in asked]
    found = workers.answers(command, lines, count, lambda done: progress.tell("sessions", done, len(sessions)))
    read = {session: _read(session, line, question) for session, line in zip(sessions, found, strict=True)}
    return {session: answer for session, answer in read.items() if answer}


def _read(session: str, line: bytes | None, question: Question) -> Answer | None:
    try:
        answer = strict_json.stored((line or b"").decode())
    except ValueError:
        return None
    return question.taken(session, answer) if isinstance(answer, dict) and answer.get("exit_code") == 0 else None
