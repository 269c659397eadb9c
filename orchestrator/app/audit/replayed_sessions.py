"""`audit replay` of one session, or of every one, side by side: a session rests on nothing of another."""

from __future__ import annotations

import sys

from orchestrator import progress
from orchestrator.app.audit import replayed
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import strictjson
from orchestrator.core.routing import facts
from orchestrator.core.suggestions import suggest
from orchestrator.errors import UsageError
from orchestrator.runner import workers
from orchestrator.store.constants import STORE_CHAIN

SIDE_BY_SIDE = 2_000
"""Events from which on several processes are started: one takes as long to start as to tell some 500."""
_SESSIONS = "SELECT session_id, count(*) FROM audit_events GROUP BY session_id"
_WITHOUT_EVENTS = "SELECT id, 0 FROM sessions WHERE id NOT IN (SELECT session_id FROM audit_events)"
_OF_ONE = ("session_id", "equal", "told", "differences", "count", "engine_changed", "head", "told_head")


def replay(context: Context, *, session_id: str | None = None, every: bool = False, strict: bool = False) -> Answer:
    """Replay one session as `replayed.replay`, or all of them.

    Args:
        every: whether to replay every session that is on record, in the order of their ids, whichever is named: one may
            be named by the environment.

    Returns:
        For one session what `replayed.replay` answers. For all of them `sessions`, the same of each; `equal`; `told`,
        `count` and `engine_changed` of all together; `rules_version`; `exit_code`, the highest.

    Raises:
        UsageError: USAGE, no session is named. Refused: UNKNOWN_SESSION.

    Source: spec 50, section 3; spec 70, row 11a.
    """
    if every:
        return _together(_every(context, strict=strict))
    if session_id is None:
        raise UsageError("USAGE", "Name a session, or replay all of them.", suggest("audit replay", session_id="ID"))
    return replayed.replay(context, session_id=session_id, strict=strict)


def _together(answers: list[Answer]) -> Answer:
    sums = {name: sum(each[name] for each in answers) for name in ("told", "count", "engine_changed")}
    return {
        "success": True,
        "equal": all(each["equal"] for each in answers),
        "rules_version": facts.RULES_VERSION,
        **sums,
        "sessions": [{name: each[name] for name in _OF_ONE} for each in answers],
        "exit_code": max((each["exit_code"] for each in answers), default=0),
    }


def _every(context: Context, *, strict: bool) -> list[Answer]:
    connection = context.connection
    events = {chain: count for sql in (_SESSIONS, _WITHOUT_EVENTS) for chain, count in connection.execute(sql)}
    shared = events.pop(STORE_CHAIN, 0)
    # The longest first, so that none of them begins when all others are done.
    order = sorted(events, key=lambda session: (-events[session], session))
    count = min(workers.cores(), len(order))
    has_file = getattr(connection, "identity", None) is not None
    equal = {}
    if count > 1 and has_file and sum(events.values()) + shared * len(order) >= SIDE_BY_SIDE:
        equal = _side_by_side(context.path, order, count)
    return [
        equal.get(session) or replayed.replay(context, session_id=session, strict=strict) for session in sorted(order)
    ]


def _side_by_side(path: str, sessions: list[str], count: int) -> dict[str, Answer]:
    """The answers of those sessions that processes of this program found equal.

    All others are told again by the caller: what differs and what goes wrong is said in one place.
    """
    command = (sys.executable, "-P", "-m", "orchestrator", "--db", path, "batch")
    lines = [strictjson.canonical({"op": "audit replay", "args": {"session_id": each}}).encode() for each in sessions]
    found = workers.answers(
        command, lines, count, lambda done: progress.tell("sessions", done, len(sessions))
    )
    read = {session: _equal(line) for session, line in zip(sessions, found, strict=True) if line is not None}
    return {session: answer for session, answer in read.items() if answer and answer["session_id"] == session}


def _equal(line: bytes) -> Answer | None:
    try:
        answer = strictjson.stored(line.decode())
    except ValueError:
        return None
    if not isinstance(answer, dict) or answer.get("equal") is not True or not answer.keys() >= {*_OF_ONE}:
        return None
    return answer if answer.get("exit_code") == 0 and answer.get("rules_version") == facts.RULES_VERSION else None
