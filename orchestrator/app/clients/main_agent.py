"""A main agent over MCP: it takes open turns, starts their agents itself, and reports for those turns alone.

Its client is the process of its server: whatever that process has started is lost when it is gone. A client that runs
the server and has hooks too is one main agent with two ways to act: its hooks let it start the agent of a turn that it
took here, and take the turn over from then on.
"""

from __future__ import annotations

import contextlib

from orchestrator.app import starts
from orchestrator.app.kernel import malformed_calls, operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.kernel.requests import GROUP, REPORT_PART, REQUEST, STEP, Request, flag, option
from orchestrator.app.reports import handoffs, last_messages
from orchestrator.app.session import open_work
from orchestrator.app.verdict import gates
from orchestrator.core import handoff, masking, sha256
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import suggest
from orchestrator.errors import OrchestratorError, Refused, UsageError
from orchestrator.store.queries import Row

_SAID = """SELECT 1 FROM agent_reports WHERE session_id = :session AND seq > :start AND turn = :turn AND role = :role
    AND raw_hash = :hash LIMIT 1"""
_IN_MESSAGE = ("status", "summary", "details", "metadata", "acknowledge")
"""What a message says itself."""


class Director(NamedTuple):
    """Who directs.

    client: the id of its server, new with each process. owner: that process, as `runner.owners` names it.
    """

    client: str
    owner: str


class Place(NamedTuple):
    """Which of a director's starts a call is about, as far as it says: session, group, turn and role."""

    session_id: str
    group_id: str | None = None
    turn: int | None = None
    role: str | None = None


def take(
    context: Context, director: Director, session_id: str, group_id: str | None, turn: int | None,
    call_id: str | None = None,
) -> Answer:
    """Take an open turn for an agent that the caller starts now.

    Args:
        group_id: None for a turn of the session as a whole.
        turn: the turn (default: the open one).
        call_id: the same again from the same director is answered as before.

    Returns:
        The hand-off as `handoffs.handoff` gives it, for an agent that ends with its report, and `start`.

    Raises:
        Refused: as `starts.reserve`; the refusal is on record.
    """
    number = _open_turn(context, session_id, group_id) if turn is None else turn
    there = starts.of_turn(context, session_id, group_id, number)
    # A driver's executor may still live, so a lost turn of a driver takes a redispatch (MCP-4).
    if there is not None and there["state"] == starts.LOST and there["via"] != starts.DRIVE:
        # Whoever is faster has ended it already.
        with contextlib.suppress(Refused):
            starts.end(context, there, outcome=starts.LOST, reason="the process that had taken its turn is gone")
    asked = starts.ReserveStart(
        session_id=session_id, group_id=group_id, turn=number, via=starts.MCP, client=director.client,
        owner=director.owner, call_id=call_id,
    )
    start = operations.ask(context, asked)["start"]
    told = handoffs.handoff(context, session_id=session_id, group_id=group_id, turn=number)
    return {**told, "markdown": handoff.render({**told["handoff"], "by_message": True}), "start": open_work.told(start)}


def _open_turn(context: Context, session_id: str, group_id: str | None) -> int:
    """The turn that a group or the session awaits; 0 where there is none, which no turn has."""
    row = context.require_session(session_id) if group_id is None else context.reader.group(session_id, group_id)
    return (row and row.turn) or 0


def started(
    context: Context, director: Director, words: str, place: Place, *, also_over: bool = False,
    message: str | None = None,
) -> Row:
    """The start that a call is about: one of this director, or of the hooks of the client that runs its server.

    Args:
        words: the operation that is called, with which a refusal is recorded.
        place: what the call says.
        also_over: take one whose turn is over where none is open; the operation itself then knows a report that was
            sent before.
        message: an agent's last message. If a hook has taken it as the report of a turn, it is about that turn.

    Raises:
        Refused: UNKNOWN_SESSION, NOT_PERMITTED (it has no such turn under way; on record). UsageError: USAGE, there
            are several.
    """
    context.require_session(place.session_id)
    found = starts.of_client(context, place.session_id, client=director.client, owner=director.owner, via=starts.MCP)
    own = [each for each in found if _fits(each, place)]
    open_ = [each for each in own if last_messages.is_open(context, each)]
    if message is not None and not any(each["via"] == starts.MCP for each in open_):
        taken = [each for each in own if each not in open_ and _has_said(context, each, message)]
        if taken:
            return taken[-1]
    if len(open_) > 1:
        which = ", ".join(f"turn {each['turn']} of {each['role']} on {each['group_id']}" for each in open_)
        raise UsageError("USAGE", f"Several turns are under way here: {which}.", "Name group_id and turn")
    found = open_ or (own if also_over else [])
    if found:
        return found[-1]
    problem = Refused(
        "NOT_PERMITTED",
        f"{_named(place)} was not started here. A report is taken for a started turn only; start it first.",
        suggest("next", session_id=place.session_id),
    )
    given = {"session_id": place.session_id, "group_id": place.group_id, "current_agent": place.role}
    malformed_calls.record(context, words, {name: value for name, value in given.items() if value is not None}, problem)
    raise problem


def _has_said(context: Context, start: Row, message: str) -> bool:
    """Whether a message is on record as the report of a start's turn."""
    said = sha256.new(masking.mask_keys_value(message, context.secrets).encode()).hexdigest()
    given = {"session": start["session_id"], "turn": start["turn"], "start": start["seq"], "role": start["role"]}
    return context.reader.one(_SAID, **given, hash=said) is not None


def _fits(start: Row, place: Place) -> bool:
    return (
        place.group_id in (None, start["group_id"])
        and place.turn in (None, start["turn"])
        and place.role in (None, start["role"])
    )


def _named(place: Place) -> str:
    turn = f"Turn {place.turn}" if place.turn is not None else "A turn"
    role = f" of {place.role}" if place.role else ""
    return f"{turn}{role}{f' on {place.group_id}' if place.group_id else ''}"


def report(context: Context, start: Row, given: Answer, message: str | None = None) -> Answer:
    """Report for a start.

    Args:
        given: the parameters of `route` that its caller names.
        message: the agent's last message, out of which the report is taken; then `given` says nothing of it.

    Returns:
        The decision.

    Raises:
        OrchestratorError: as `route`; with `send_back` where another message of the agent may put it right.
        UsageError: USAGE, a message and a part of the report beside it.
    """
    of = {"group_id": start["group_id"], "current_agent": start["role"], "turn": start["turn"]}
    rest = {name: value for name, value in given.items() if name not in of}
    if message is None:
        context.start = start["seq"]
        try:
            return operations.call(context, "route", **{**rest, **of})
        finally:
            context.start = None
    twice = [name for name in _IN_MESSAGE if name in rest]
    if twice:
        what = f"message holds the whole report, so {', '.join(twice)} cannot be given beside it."
        raise UsageError("USAGE", what, "Give one of them")
    rest.pop("session_id", None)
    runs = rest.pop("run_commands", False)
    prove = last_messages.gated(context, start, gates.where(context, start)) if runs else None
    try:
        return last_messages.report(context, start, message, prove, **rest)
    except OrchestratorError as problem:
        can_fix = problem.code in (*last_messages.FAULTS, *last_messages.SEEN)
        if can_fix and last_messages.is_open(context, start):
            problem.data["send_back"] = last_messages.form(context, start, problem)
        raise


def own_start(context: Context, agent_id: str, session_id: str, group_id: str | None, turn: int | None) -> int | None:
    """The step of the start that is one agent's own, so that it may report itself; None where there is none.

    A driver takes the report out of its agent's answer, with what it has measured, so none of its starts counts.
    """
    number = _open_turn(context, session_id, group_id) if turn is None else turn
    start = starts.of_turn(context, session_id, group_id, number)
    if start is None or start["via"] == starts.DRIVE:
        return None
    agent = context.reader.agent(agent_id)
    # A start for the session as a whole names the role, whoever stands for it there.
    is_own = start["agent_id"] == agent_id or (group_id is None and agent is not None and agent.role == start["role"])
    return int(start["seq"]) if is_own else None


# What the tools of a main agent take besides what their operations do.


class TakeTurn(Request):
    """Take the turn of a hand-off."""

    start: bool = flag("Take the turn for an agent that you start now; its report is then accepted here.")
    request_id: str | None = REQUEST


class ReportMessage(Request):
    """Report for an agent by what it said last."""

    message: str | None = option(
        "The agent's whole last message; its report is taken out of it.", default=None, holds=REPORT_PART
    )


class ForTurn(Request):
    """Act in the name of an agent that was started."""

    group_id: str | None = GROUP._replace(help="The group of the turn for which the agent was started.")
    turn: int | None = option("The turn for which the agent was started.", default=None, span=STEP)
