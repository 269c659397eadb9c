"""Starts of turns: which client started which agent for which turn, and what became of it.

One mechanism for hooks, the driver and MCP. A start is reserved before its agent begins, bound to the agent once that
is known, and ended where no answer came of it. That its turn was answered or superseded stands in the record of turns
and is read off there, so that routing a report writes nothing here.
"""

from __future__ import annotations

import os
from datetime import UTC
from typing import Any

from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.core.routing.facts import PERSON, VALIDATOR, Group, Session
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.store import queries
from orchestrator.store.queries import Row

RESERVED, RUNNING, LOST = "reserved", "running", "lost"
"""The states of a start whose turn is still open."""
FAILED, FREED, LIMITED = "failed", "freed", "limited"
"""How a start may end, besides being lost."""
ORCHESTRATOR = "orchestrator"
DRIVE = "drive"
"""How a driver's starts are told from those of hooks and MCP."""
_OPEN = """SELECT * FROM starts INDEXED BY ix_starts_open WHERE session_id = :session AND ended_seq IS NULL
    AND via = 'drive'"""


def reserve(
    context: Context,
    *,
    session_id: str,
    group_id: str | None,
    turn: int,
    via: str,
    client: str,
    owner: str | None = None,
    call_id: str | None = None,
    isolation: str | None = None,
    at: str | None = None,
) -> Answer:
    """Take an open turn, so that nobody else starts an agent for it.

    Args:
        group_id: the group of the turn; None for one of the session as a whole.
        via: `hook`, `mcp` or `drive`.
        client: the id of the client's own session, or of the driver.
        owner: the client's process, as `runner.owners` names it.
        call_id: the call that starts the agent; the same call again is answered as before.
        isolation: `worktree` or `none`; None where nobody has seen to it.

    Returns:
        `start`.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP, SESSION_CLOSED, STALE_TURN {turn}, ALREADY_EXISTS {start}: the turn is
            started already.
    """
    given = {
        "group_id": group_id, "turn": turn, "via": via, "client": client, "owner": owner, "call_id": call_id,
        "isolation": isolation,
    }  # fmt: skip
    return perform(context, Call("start", session_id, ORCHESTRATOR, given, at=at), reserve_action)


def reserve_action(work: Work) -> Answer:
    """Reserve; a replay calls it with a recorded event's input."""
    given, session = work.call.input, work.open_session()
    group, waiting = _place(work, session)
    open_turn = waiting.turn if not waiting.held and waiting.awaited_role not in (None, PERSON, VALIDATOR) else None
    if open_turn != given["turn"]:
        is_open = f"the open turn is {open_turn}" if open_turn else "no turn is open"
        raise Refused(
            "STALE_TURN", f"Turn {given['turn']} is not open; {is_open}.", suggest("status", session_id=session.id),
            turn=open_turn,
        )
    there = of_turn(work.context, session.id, given.get("group_id"), given["turn"])
    if there is not None:
        if there["call_id"] is not None and (there["client"], there["call_id"]) == (given["client"], given["call_id"]):
            return {"success": True, "start": there, "unchanged": True}
        raise Refused(
            "ALREADY_EXISTS", f"Turn {given['turn']} is started already: {said(there)}.",
            suggest("status", session_id=session.id), start=there,
        )
    agent = group.awaited_agent_id if group else None
    role = str(waiting.awaited_role)
    work.step.insert(
        "starts", group_id=given.get("group_id") or "", turn=given["turn"], role=role, agent_id=agent or role,
        started_at=work.at, **{name: given.get(name) for name in ("via", "client", "owner", "call_id", "isolation")},
    )
    return {"success": True, "start": _require(work), "seq": work.seq}


def bind(
    context: Context, start: Row, *, worker: str, trace: str | None = None, at: str | None = None
) -> Answer:
    """Note which agent of the client a start has begun.

    Args:
        start: as `reserve` answered it.
        worker: the client's id of the agent.
        trace: the file that grows while the agent works.

    Returns:
        `start`.

    Raises:
        Refused: UNKNOWN_ID, there is no such start, or it has ended or is bound to another agent.
    """
    given = {**_key(start), "worker": worker, "trace": trace}
    return perform(context, Call("start bind", start["session_id"], ORCHESTRATOR, given, at=at), bind_action)


def bind_action(work: Work) -> Answer:
    """Bind; a replay calls it with a recorded event's input."""
    given = work.call.input
    row = _open(work)
    if row["bound_seq"] is not None:
        if row["worker"] != given["worker"]:
            raise _no_start(work, f"it is bound to {row['worker']}")
        return {"success": True, "start": row, "unchanged": True}
    values = {"worker": given["worker"], "trace": given.get("trace"), "bound_at": work.at, "bound_seq": work.seq}
    work.step.update("starts", _key_of(given), values)
    return {"success": True, "start": _require(work), "seq": work.seq}


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
    given = {**_key(start), "outcome": outcome, "reason": reason, "due_at": due_at}
    return perform(context, Call("start end", start["session_id"], ORCHESTRATOR, given, at=at), end_action)


def end_action(work: Work) -> Answer:
    """End; a replay calls it with a recorded event's input."""
    given = work.call.input
    _open(work)
    work.step.update("starts", _key_of(given), {
        "ended_at": work.at, "ended_seq": work.seq, "outcome": given["outcome"], "reason": given["reason"],
        "due_at": given.get("due_at"),
    })  # fmt: skip
    return {"success": True, "start": _require(work), "seq": work.seq}


def adopt(context: Context, *, session_id: str, client: str | None, at: str | None = None) -> Answer:
    """Note which client directs a session; None for the next one that begins.

    Returns:
        `session_id`, `client`.

    Raises:
        Refused: UNKNOWN_SESSION, SESSION_CLOSED.
    """
    call = Call("session adopt", session_id, ORCHESTRATOR, {"client": client}, at=at)
    return perform(context, call, adopt_action)


def adopt_action(work: Work) -> Answer:
    """Adopt; a replay calls it with a recorded event's input."""
    work.open_session()
    client = work.call.input.get("client")
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
    gone = row["ended_seq"] is None and row["owner"] is not None and context.is_gone(row["owner"])
    state = row["outcome"] or (LOST if gone else RUNNING if row["bound_seq"] is not None else RESERVED)
    return {**row, "group_id": row["group_id"] or None, "state": state, "last_sign": _last_sign(row)}


def said(start: Row) -> str:
    """A start in words: since when, through what, and whether its process is gone."""
    gone = "; its process is gone" if start["state"] == LOST else ""
    return f"{start['state']} since {start['started_at']} through {start['via']}, client {start['client']}{gone}"


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


def _place(work: Work, session: Session) -> tuple[Group | None, Group | Session]:
    id_ = work.call.input.get("group_id")
    if id_ is None:
        return None, session
    group = work.group(id_)
    if group is None:
        raise work.context.unknown_group(session.id, id_)
    return group, group


def _key(start: Row) -> dict[str, Any]:
    return {"group_id": start["group_id"], "turn": start["turn"], "start": start["seq"]}


def _key_of(given: Any) -> tuple[str, int, int]:
    return given.get("group_id") or "", given["turn"], given["start"]


def _require(work: Work) -> Row:
    """The start that the step has written."""
    given = work.call.input
    group, turn, seq = given.get("group_id") or "", given["turn"], given.get("start", work.seq)
    row = queries.row(work.reader, queries.START, session=work.step.chain, group=group, turn=turn, seq=seq)
    assert row is not None  # noqa: S101 - written just now
    return shape(work.context, row)


def _open(work: Work) -> Row:
    """The start that the call names, which has not ended.

    Raises:
        Refused: UNKNOWN_ID.
    """
    group, turn, seq = _key_of(work.call.input)
    row = queries.row(work.reader, queries.START, session=work.step.chain, group=group, turn=turn, seq=seq)
    if row is None:
        raise _no_start(work, "there is none")
    if row["ended_seq"] is not None:
        raise _no_start(work, f"it has ended: {row['outcome']}")
    return shape(work.context, row)


def _no_start(work: Work, why: str) -> Refused:
    turn = work.call.input["turn"]
    look = suggest("status", session_id=work.step.chain)
    return Refused("UNKNOWN_ID", f"No such start of turn {turn} is under way: {why}.", look, kind="start")
