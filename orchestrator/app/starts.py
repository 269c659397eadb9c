"""Starts of turns: which client started which agent for which turn, and what became of it.

One mechanism for hooks, the driver and MCP. A start is reserved before its agent begins, bound to the agent once that
is known, and ended where no answer came of it. That its turn was answered or superseded stands in the record of turns
and is read off there, so that routing a report writes nothing here.
"""

from __future__ import annotations

import functools
import os
from datetime import UTC

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.core.routing.facts import PERSON, VALIDATOR, Group, Session
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import queries
from orchestrator.store.queries import Row

RESERVED, RUNNING, LOST = "reserved", "running", "lost"
"""The states of a start whose turn is still open."""
FAILED, FREED, LIMITED = "failed", "freed", "limited"
"""How a start may end, besides being lost."""
ORCHESTRATOR = "orchestrator"
HOOK, MCP, DRIVE = "hook", "mcp", "drive"
"""Through what a start was made."""
_OPEN = """SELECT * FROM starts INDEXED BY ix_starts_open WHERE session_id = :session AND ended_seq IS NULL
    AND via = 'drive'"""


class ReserveStart(Request, event="start", use_case="starts:reserve", acting=ORCHESTRATOR):
    """Take an open turn.

    Attributes:
        group_id: the group of the turn; None for one of the session as a whole.
        via: `hook`, `mcp` or `drive`.
        client: the id of the client's own session, or of the driver.
        owner: the client's process, as `runner.owners` names it.
        call_id: the call that starts the agent; the same call again is answered as before.
        isolation: `worktree` or `none`; None where nobody has seen to it.
    """

    session_id: str
    group_id: str | None
    turn: int
    via: str
    client: str
    owner: str | None = None
    call_id: str | None = None
    isolation: str | None = None


def reserve(work: Work, request: ReserveStart) -> Answer:
    """Take an open turn, so that nobody else starts an agent for it.

    Returns:
        `start`.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP, SESSION_CLOSED, STALE_TURN {turn}, ALREADY_EXISTS {start}: the turn is
            started already.
    """
    session, turn = work.open_session(), request.turn
    group, waiting = _place(work, session, request.group_id)
    open_turn = waiting.turn if not waiting.held and waiting.awaited_role not in (None, PERSON, VALIDATOR) else None
    if open_turn != turn:
        is_open = f"the open turn is {open_turn}" if open_turn else "no turn is open"
        raise Refused(
            "STALE_TURN", f"Turn {turn} is not open; {is_open}.", suggest("status", session_id=session.id),
            turn=open_turn,
        )
    there = of_turn(work.context, session.id, request.group_id, turn)
    if there is not None:
        if there["call_id"] is not None and (there["client"], there["call_id"]) == (request.client, request.call_id):
            return {"success": True, "start": there, "unchanged": True}
        raise Refused(
            "ALREADY_EXISTS",
            f"Turn {turn} has already been started: {said(there)}.",
            suggest("status", session_id=session.id),
            start=there,
            _recorded=f"Turn {turn} is started already: {said(there)}.",
        )
    agent = group.awaited_agent_id if group else None
    role = str(waiting.awaited_role)
    work.step.insert(
        "starts", group_id=request.group_id or "", turn=turn, role=role, agent_id=agent or role,
        started_at=work.at, via=request.via, client=request.client, owner=request.owner, call_id=request.call_id,
        isolation=request.isolation,
    )
    return {"success": True, "start": _require(work, (request.group_id or "", turn, work.seq)), "seq": work.seq}


class BindStart(Request, event="start bind", use_case="starts:note_agent", acting=ORCHESTRATOR):
    """Note which agent of the client a start has begun.

    Attributes:
        start: the number of its step.
        commit: what its worktree had checked out when the agent began, where its driver made one.
    """

    session_id: str
    group_id: str | None
    turn: int
    start: int
    worker: str
    trace: str | None = None
    commit: str | None = None


def bind(
    context: Context, start: Row, *, worker: str, trace: str | None = None, commit: str | None = None,
    at: str | None = None,
) -> Answer:
    """Note which agent of the client a start has begun.

    Args:
        start: as `reserve` answered it.
        worker: the client's id of the agent.
        trace: the file that grows while the agent works.
        commit: what is checked out in its worktree.

    Returns:
        `start`.

    Raises:
        Refused: UNKNOWN_ID, there is no such start, or it has ended or is bound to another agent.
    """
    return operations.carry_out(context, BindStart(**_key(start), worker=worker, trace=trace, commit=commit), at=at)


def note_agent(work: Work, request: BindStart) -> Answer:
    """The step that binds a start to its agent."""
    key = _key_of(request)
    row = _open(work, key)
    if row["bound_seq"] is not None:
        if row["worker"] != request.worker:
            raise _no_start(work, key, f"it is bound to {row['worker']}")
        return {"success": True, "start": row, "unchanged": True}
    values = {"worker": request.worker, "trace": request.trace, "bound_at": work.at, "bound_seq": work.seq}
    work.step.update("starts", key, values)
    return {"success": True, "start": _require(work, key), "seq": work.seq}


class EndStart(Request, event="start end", use_case="starts:note_end", acting=ORCHESTRATOR):
    """End a start that no answer came of; `start` is the number of its step."""

    session_id: str
    group_id: str | None
    turn: int
    start: int
    outcome: str
    reason: str
    due_at: str | None = None


def end(
    context: Context, start: Row, *, outcome: str, reason: str, due_at: str | None = None, at: str | None = None
) -> Answer:
    """End a start that no answer came of; its turn stays open and may be started again.

    Args:
        start: as `reserve` answered it.
        outcome: `failed`, `lost`, `freed` (never begun) or `limited` (a usage limit, due again at `due_at`).
        reason: why, in words.

    Returns:
        `start`.

    Raises:
        Refused: UNKNOWN_ID, there is no such start, or it has ended.
    """
    request = EndStart(**_key(start), outcome=outcome, reason=reason, due_at=due_at)
    return operations.carry_out(context, request, at=at)


def note_end(work: Work, request: EndStart) -> Answer:
    """The step that ends a start."""
    key = _key_of(request)
    _open(work, key)
    work.step.update("starts", key, {
        "ended_at": work.at, "ended_seq": work.seq, "outcome": request.outcome, "reason": request.reason,
        "due_at": request.due_at,
    })  # fmt: skip
    if work.call.circumstances.used is not None:
        from orchestrator.app.engine import measured

        measured.keep_usage(work, request.group_id, request.start)
    return {"success": True, "start": _require(work, key), "seq": work.seq}


class AdoptSession(Request, event="session adopt", use_case="starts:adopt", acting=ORCHESTRATOR):
    """Note which client directs a session; None for the next one that begins."""

    session_id: str
    client: str | None


def adopt(work: Work, request: AdoptSession) -> Answer:
    """Note which client directs a session.

    Returns:
        `session_id`, `client`.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED.
    """
    work.open_session()
    client = request.client
    found = {"success": True, "session_id": work.step.chain, "client": client}
    row = work.reader.one(queries.ADOPTED_BY, session=work.step.chain)
    if row is not None and row[0] == client:
        return {**found, "unchanged": True}
    work.step.insert("adoptions", client=client, adopted_at=work.at)
    return {**found, "seq": work.seq}


def of_turn(context: Context, session_id: str, group_id: str | None, turn: int) -> Row | None:
    """The start of a turn that has not ended, with its state; None where nobody was started, or no more."""
    row = queries.row(context.reader, queries.START_OF_TURN, session=session_id, group=group_id or "", turn=turn)
    return shape(context, row) if row else None


def of_client(context: Context, session_id: str, *, client: str, owner: str | None, via: str) -> list[Row]:
    """The starts of one client that have not ended, the oldest first: those made through its hooks and through the
    MCP servers that it runs, since both speak for the same main agent.

    Args:
        client, owner: who asks, as their own starts name them.
        via: `hook` or `mcp`, through which they ask.
    """
    own = queries.rows(context.reader, queries.STARTS_OF_CLIENT, client=client, session=session_id)
    if owner is None:
        return [shape(context, row) for row in own]
    other = MCP if via == HOOK else HOOK
    related = functools.cache(lambda name: context.is_below(*((name, owner) if via == HOOK else (owner, name))))
    rows = queries.rows(context.reader, queries.STARTS_BY, session=session_id, via=other)
    found = [*own, *(row for row in rows if related(row["owner"]))]
    return [shape(context, row) for row in sorted(found, key=lambda row: int(row["seq"]))]


def is_driven(context: Context, session_id: str) -> bool:
    """Whether a driver is at work on a session: an open turn is started by one whose process lives."""
    found = (shape(context, row) for row in queries.rows(context.reader, _OPEN, session=session_id))
    return any(start["state"] != LOST and _is_awaited(context, start) for start in found)


def _is_awaited(context: Context, start: Row) -> bool:
    """Whether the turn of a start is still open."""
    session, group = start["session_id"], start["group_id"]
    row = context.reader.group(session, group) if group is not None else context.require_session(session)
    return row is not None and row.turn == start["turn"]


def shape(context: Context, row: Row) -> Row:
    """A start's row with its group, state, and last sign of life."""
    gone = row["ended_seq"] is None and row["owner"] is not None and context.is_gone(row["owner"], context.connection)
    state = row["outcome"] or (LOST if gone else RUNNING if row["bound_seq"] is not None else RESERVED)
    return {**row, "group_id": row["group_id"] or None, "state": state, "last_sign": _last_sign(row)}


def said(start: Row) -> str:
    """A start in words. They are recorded and told again by a replay, so they say nothing of its process."""
    state = RUNNING if start["bound_seq"] is not None else RESERVED
    return f"{state} since {start['started_at']} through {start['via']}, client {start['client']}"


def _last_sign(row: Row) -> str:
    """The newest sign of life: when the agent's file grew last, else when it was bound or started."""
    known = str(row["bound_at"] or row["started_at"])
    try:
        seconds = os.stat(row["trace"]).st_mtime if row["trace"] else 0.0
    except OSError:
        return known
    from datetime import datetime

    moment = datetime.fromtimestamp(seconds, UTC)
    return max(known, moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


def _place(work: Work, session: Session, group_id: str | None) -> tuple[Group | None, Group | Session]:
    if group_id is None:
        return None, session
    group = work.group(group_id)
    if group is None:
        raise work.context.unknown_group(session.id, group_id)
    return group, group


def _key(start: Row) -> dict[str, Any]:
    return {**{name: start[name] for name in ("session_id", "group_id", "turn")}, "start": start["seq"]}


_Key = tuple[str, int, int]


def _key_of(request: BindStart | EndStart) -> _Key:
    return request.group_id or "", request.turn, request.start


def _require(work: Work, key: _Key) -> Row:
    """The start that the step has written."""
    row = _row(work, key)
    assert row is not None  # noqa: S101 - written just now
    return shape(work.context, row)


def _open(work: Work, key: _Key) -> Row:
    """The start that the call names, which has not ended.

    Raises:
        Refused: UNKNOWN_ID.
    """
    row = _row(work, key)
    if row is None:
        raise _no_start(work, key, "there is none")
    if row["ended_seq"] is not None:
        raise _no_start(work, key, f"it has ended: {row['outcome']}")
    return shape(work.context, row)


def _row(work: Work, key: _Key) -> Row | None:
    group, turn, seq = key
    return queries.row(work.reader, queries.START, session=work.step.chain, group=group, turn=turn, seq=seq)


def _no_start(work: Work, key: _Key, why: str) -> Refused:
    look = suggest("status", session_id=work.step.chain)
    return Refused("UNKNOWN_ID", f"No such start of turn {key[1]} is under way: {why}.", look, kind="start")
