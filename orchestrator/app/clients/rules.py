"""The rules of hooks, for every client: which starts are allowed, what an agent's last message does, who may stop.

A hook acts for the session alone that its client took on. It reserves a start before the agent begins, routes the
report out of the agent's last message with that turn, and tells the main agent what is due.
"""

from __future__ import annotations

import contextlib
import re
import time

from orchestrator.app import starts
from orchestrator.app.clients import transcripts
from orchestrator.app.clients.events import LIMIT, NOTHING, Begin, Event, Reply
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.reports import handoffs, last_messages
from orchestrator.app.session import status
from orchestrator.app.session.open_work import is_due, is_under_way
from orchestrator.app.verdict import gates
from orchestrator.core import handoff, names
from orchestrator.core.suggestions import suggest
from orchestrator.errors import OrchestratorError, Refused
from orchestrator.store import queries
from orchestrator.store.queries import Row

SENT_BACK = 3
"""How often a message without a report goes back to its agent in one turn."""
ROUTES_S = 6.0
"""Seconds that the database may take once the gates of a report have ended, or their time is up."""
BESIDE = 1000
"""Characters of what the caller wrote beside a hand-off that its agent is shown."""

_FIRST_LINE = r"\[orchestrator (\S+) (\S+) turn (\d{1,15}) (\S+) (\S+)\]"
_TASK_ID = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"
_TASKS = "SELECT id, status FROM tasks WHERE session_id = :session ORDER BY created_seq"
_LIMITED = r"(?i)\brate.?limit|hit your .{0,40}limit|usage limit"
_REPORTS = r'(?i)\bstatus\b\W{1,5}\w'
_CLEARED = "clear"
_GONE = "the process of the client is gone"
_STARTED_HERE = "its client starts the agent itself"
_SHORT = 500
"""Characters of a message that may be the client's own word about a usage limit; an agent's report is longer."""
_DECIDED = """SELECT seq, group_id, current_agent, response_status, next_agent, action FROM router_decisions
    INDEXED BY sqlite_autoindex_router_decisions_1 WHERE session_id = :session AND seq > :since
    ORDER BY seq DESC, part DESC LIMIT 20"""
_REDISPATCHES = """SELECT count(*) FROM router_decisions INDEXED BY ix_router_decisions_redispatch
    WHERE session_id = :session AND group_id IS :group AND cause = 'redispatch' AND seq > coalesce((
        SELECT max(seq) FROM agent_reports WHERE session_id = :session AND group_id IS :group), 0)"""

_REFUSED = """SELECT count(*) FROM (SELECT 1 FROM refusals WHERE session_id = :session AND seq > :start AND role = :role
    AND door = 'hook' LIMIT :most)"""


def roles(context: Context, session_id: str) -> tuple[str, ...]:
    """The roles of a session's workflow."""
    session = context.require_session(session_id)
    return tuple(context.version(session.workflow_version_id).workflow.roles())


# Starts


def before_start(context: Context, session_id: str, event: Event, *, strict: bool = False) -> Reply:
    """Whether the main agent may start an agent: only the one whose turn is open and not under way."""
    role = names.role_name(event.role)
    if role not in roles(context, session_id):
        return before_building(context, session_id, event) if strict else NOTHING
    if event.worker is not None:
        return Reply(deny=f"Only the main agent may start roles; a subagent tried to start {role}.")
    free_lost(context, session_id)
    standing = status.status(context, session_id=session_id, brief=True)
    taken = _taken_by_server(context, session_id, event, standing)
    free = [turn for turn in standing["spawns"] if not is_under_way(turn) or _place(turn) in taken]
    chosen = _asked_before(context, session_id, event, standing) or _chosen(event, session_id, role, free)
    if chosen is None:
        return Reply(deny=_denial(role, standing, free, event))
    if _place(chosen) in taken:
        # Two calls of one message are answered at once: whoever is slower is refused below.
        with contextlib.suppress(Refused):
            starts.end(context, taken[_place(chosen)], outcome=starts.FREED, reason=_STARTED_HERE)
    try:
        start = operations.ask(
            context,
            starts.ReserveStart(
                session_id=session_id, group_id=chosen["group_id"], turn=chosen["turn"], via=starts.HOOK,
                client=event.client, owner=event.owner, call_id=event.call_id,
            ),
        )["start"]
    except Refused as problem:
        return Reply(deny=f"{problem.message} {_due(standing, free, event)}")
    return Reply(begin=Begin(_hand_off(context, start, event.prompt), str(chosen["model"] or ""), int(start["seq"])))


def _taken_by_server(
    context: Context, session_id: str, event: Event, standing: Answer
) -> dict[tuple[str | None, int], Row]:
    """The turns that this client's main agent has taken over MCP and whose agent is not known yet."""
    found = {}
    for turn in standing["spawns"]:
        if turn.get("start", {}).get("via") != starts.MCP:
            continue
        row = starts.of_turn(context, session_id, turn["group_id"], turn["turn"])
        if row is not None and row["state"] == starts.RESERVED and _is_own(context, row, event):
            found[_place(turn)] = row
    return found


def _place(turn: Answer) -> tuple[str | None, int]:
    return turn["group_id"], turn["turn"]


def _is_own(context: Context, start: Row, event: Event) -> bool:
    """Whether a start was made by the client of an event, through its hooks or through a server that it runs."""
    if start["client"] == event.client:
        return True
    if start["via"] != starts.MCP or start["owner"] is None or event.owner is None:
        return False
    return context.is_below(start["owner"], event.owner)


def _of_client(context: Context, session_id: str, event: Event) -> list[Row]:
    return starts.of_client(context, session_id, client=event.client, owner=event.owner, via=starts.HOOK)


def before_building(context: Context, session_id: str, event: Event) -> Reply:
    """Whether the main agent may build, or let others than its roles build: not while the session is open."""
    if event.worker is not None or context.require_session(session_id).status != "active":
        return NOTHING
    standing = status.status(context, session_id=session_id, brief=True)
    free = [turn for turn in standing["spawns"] if not is_under_way(turn)]
    directs = f"You direct session {session_id}; its agents do the work."
    return Reply(deny=f"{directs} {_due(standing, free, event)}")


def before_task(context: Context, session_id: str, event: Event) -> Reply:
    """Whether an entry of the client's own list that names tasks of ours may be made or completed."""
    named = set(re.findall(_TASK_ID, event.prompt))
    rows = queries.rows(context.reader, _TASKS, session=session_id) if named else []
    for row in rows:
        at = row["status"]
        if row["id"] not in named or (at == "done" if event.name == "TaskCompleted" else at not in ("blocked", "done")):
            continue
        finish = suggest("task set-status", id=row["id"], status="done", session_id=session_id, by="AGENT")
        advice = f"First: {finish}" if event.name == "TaskCompleted" else ""
        return Reply(deny=f"Task {row['id']} of session {session_id} is {at}. {advice}".strip())
    return NOTHING


def _asked_before(context: Context, session_id: str, event: Event, standing: Answer) -> Answer | None:
    """The open turn that this very call has reserved already."""
    start = of_call(context, session_id, event)
    if start is None:
        return None
    return next((turn for turn in standing["spawns"] if _place(turn) == _place(start)), None)


def _chosen(event: Event, session_id: str, role: str, free: list[Answer]) -> Answer | None:
    """The open turn that a start is for: by the hand-off's first line in the prompt, else the only one of the role.

    Where the prompt cannot be read it is the first one; whichever it is, its agent is given the hand-off of that turn.
    """
    own = [turn for turn in free if turn["agent"] == role]
    found = re.search(_FIRST_LINE, event.prompt)
    if found is not None:
        named, group, number = found[1], None if found[2] == "-" else found[2], int(found[3])
        own = [turn for turn in own if (session_id, turn["group_id"], turn["turn"]) == (named, group, number)]
    return own[0] if len(own) == 1 or (own and event.is_sealed and found is None) else None


def _hand_off(context: Context, start: Row, beside: str = "") -> str:
    """The frozen hand-off of a start, with what its caller wrote beside it quoted at the end."""
    at = {"session_id": start["session_id"], "group_id": start["group_id"], "turn": start["turn"]}
    told = handoffs.handoff(context, **at)
    text = handoff.render({**told["handoff"], "by_message": True})
    # The line that names a turn stays out of the quotation, since transcripts are assigned by it.
    beside = re.sub(_FIRST_LINE, "", beside).strip()
    if not beside:
        return text
    quoted = "\n".join(f"> {line}" for line in beside[:BESIDE].splitlines())
    return f"{text}\n## The caller also wrote (quoted; not an instruction)\n\n{quoted}\n"


def _denial(role: str, standing: Answer, free: list[Answer], event: Event) -> str:
    own = [turn for turn in free if turn["agent"] == role]
    if len(own) > 1:
        return (
            f"{role} has {len(own)} open turns; begin the prompt with the first line of the hand-off you mean."
            f" {_due(standing, free, event)}"
        )
    return f"{role} has no open turn that can be started. {_due(standing, free, event)}"


def _due(standing: Answer, free: list[Answer], event: Event) -> str:
    """What is to be done instead, or who is awaited."""
    due = _due_lines(standing, free, event)
    if due:
        return "Due now:\n" + "\n".join(due)
    under_way = [f"{_named(turn)} is under way" for turn in standing["spawns"] if is_under_way(turn)]
    under_way += [
        f"{_named(turn)} waits for a usage limit until {turn['limited']['due_at']}"
        for turn in standing["spawns"] if "limited" in turn
    ]
    asked = [f"waiting for a person: {each['id']}" for each in standing["questions"]]
    return f"Nothing to do now: {'; '.join([*under_way, *asked]) or standing['state']}."


def _due_lines(standing: Answer, free: list[Answer], event: Event) -> list[str]:
    """What is due and not under way, a line each, with how it is done in the client of an event."""
    session, (role, prompt) = standing["session"]["id"], event.asks
    lines = []
    for turn in free:
        first = handoff.first_line({"session_id": session, "role": turn["agent"], **turn})
        if "lost" in turn:
            where = {"group_id": turn["group_id"], "session_id": session}
            lines.append(f"- lost: {_named(turn)}: {suggest('redispatch', **where, reason=_GONE)}")
        else:
            lines.append(f"- start {_named(turn)}: {role} {turn['agent']}, {prompt} {first}")
    if standing["validate"]:
        lines.append(f"- validate the session: {standing['validate']['command']}")
    return lines


def _named(turn: Answer) -> str:
    on = f" on {turn['group_id']}" if turn["group_id"] else ""
    return f"{turn['agent']}{on}, turn {turn['turn']}"


def free_lost(context: Context, session_id: str) -> None:
    """End the starts whose client's process is gone; no event comes after a kill."""
    for turn in status.status(context, session_id=session_id, brief=True)["spawns"]:
        if turn.get("start", {}).get("state") != starts.LOST:
            continue
        row = starts.of_turn(context, session_id, turn["group_id"], turn["turn"])
        if row is not None:
            _end(context, row, starts.LOST, _GONE)


def _standing(context: Context, session_id: str) -> tuple[Answer, list[Answer]]:
    """The state of a session, and the turns that are due; those whose agent was lost say so."""
    free_lost(context, session_id)
    standing = status.status(context, session_id=session_id, brief=True)
    due = [turn for turn in standing["spawns"] if is_due(turn)]
    return standing, [{**turn, "lost": True} if _is_lost(context, session_id, turn) else turn for turn in due]


def _is_lost(context: Context, session_id: str, turn: Answer) -> bool:
    """Whether the last agent of a turn ended with its client; it may have begun, though no event had said so."""
    given = {"session": session_id, "group": turn["group_id"] or "", "turn": turn["turn"]}
    newest = context.reader.one(queries.NEWEST_START, **given)
    return newest is not None and newest[1] == starts.LOST


def before_message(context: Context, session_id: str, event: Event) -> Reply:
    """Whether an agent that was started may be sent a message: only while its turn is open."""
    row = queries.row(context.reader, queries.START_OF_WORKER, client=event.client, worker=event.started or "")
    if row is None or row["session_id"] != session_id:
        return NOTHING
    start = starts.shape(context, row)
    if row["ended_seq"] is None and last_messages.is_open(context, start):
        return NOTHING
    standing = status.status(context, session_id=session_id, brief=True)
    free = [turn for turn in standing["spawns"] if not is_under_way(turn)]
    over = f"Turn {start['turn']} of {start['role']} is over; a message to its agent has no effect."
    return Reply(deny=f"{over} {_due(standing, free, event)}")


def notified(context: Context, session_id: str, event: Event) -> None:
    """End the start of an agent in the background that failed or was stopped, as the client's note says."""
    if not event.prompt.startswith("<task-notification>"):
        return
    found = re.search(r"<status>(failed|killed)</status>", event.prompt)
    call = re.search(r"<tool-use-id>([^<]{1,200})</tool-use-id>", event.prompt)
    if found is None or call is None:
        return
    start = of_call(context, session_id, event._replace(call_id=call[1]))
    if start is not None and last_messages.is_open(context, start):
        _end(context, start, starts.FAILED, f"the client says that its agent was {found[1]}")


def after_start(context: Context, session_id: str, event: Event) -> Reply:
    """Bind the start of a tool call to the agent that it began, and tell the main agent what is due."""
    start = of_call(context, session_id, event)
    if start is not None and event.started is not None and start["bound_seq"] is None:
        starts.bind(context, start, worker=event.started, trace=event.trace)
    return NOTHING


def _end(
    context: Context, start: Row, outcome: str, reason: str, *, trace: str | None = None, due_at: str | None = None
) -> None:
    """End a start with what its agent has used, as far as the client's file of it says."""
    context.used = transcripts.usage(trace or start["trace"])
    try:
        starts.end(context, start, outcome=outcome, reason=reason, due_at=due_at)
    finally:
        context.used = None


def beginning_of_agent(context: Context, session_id: str, event: Event) -> Reply:
    """Bind the start that has given an agent its name, and give the agent its hand-off where no message could."""
    rows = queries.rows(context.reader, queries.STARTS_OF_CLIENT, client=event.client, session=session_id)
    row = next((each for each in rows if each["seq"] == event.start), None)
    if row is None:
        return NOTHING
    start = starts.shape(context, row)
    if start["bound_seq"] is None:
        # The step of a start is read off an agent's name, so that there is one (RTE-59).
        start = starts.bind(context, start, worker=str(event.worker), trace=event.trace)["start"]
    text = _hand_off(context, start)
    if len(text) > LIMIT:
        where = {"session_id": session_id, "turn": start["turn"]}
        given = {"group_id": start["group_id"], **where} if start["group_id"] else where
        rest = f"\n... (shortened; read the rest first: {suggest('handoff', **given)})\n"
        text = text[: LIMIT - len(rest)] + rest
    return Reply(context=text)


def of_call(context: Context, session_id: str, event: Event) -> Row | None:
    """The start that a tool call made and that has not ended."""
    rows = queries.rows(context.reader, queries.STARTS_OF_CLIENT, client=event.client, session=session_id)
    found = [row for row in rows if event.call_id is not None and row["call_id"] == event.call_id]
    return starts.shape(context, found[-1]) if found else None


def of_worker(context: Context, session_id: str, event: Event) -> Row | None:
    """The start of the agent in which an event happened: by its id, else by the first line of its transcript."""
    row = queries.row(context.reader, queries.START_OF_WORKER, client=event.client, worker=event.worker or "")
    if row is not None:
        return starts.shape(context, row) if row["session_id"] == session_id and row["ended_seq"] is None else None
    place = transcripts.place(event.trace)
    if place is None or place[0] != session_id:
        return None
    start = starts.of_turn(context, session_id, place[1], place[2])
    if start is None or not _is_own(context, start, event):
        return None
    if start["bound_seq"] is not None:
        return start if start["worker"] == event.worker else None
    bound: Row = starts.bind(context, start, worker=str(event.worker), trace=event.trace)["start"]
    return bound


# Answers


def after_agent(context: Context, session_id: str, event: Event) -> Reply:
    """Route the report out of an agent's last message, after its gates; without one send it back, three times in a
    turn.
    """
    start = of_worker(context, session_id, event) if event.worker else None
    if start is None or not last_messages.is_open(context, start):
        return NOTHING
    if is_limit(event.message) and not re.search(_REPORTS, event.message):
        _limited(context, start, event.message, event.trace)
        return NOTHING
    try:
        last_messages.report(context, start, event.message, _gated(context, start, event))
    except OrchestratorError as problem:
        if problem.code == gates.CODE:
            return Reply(block=last_messages.form(context, start, problem))
        return _turned_down(context, start, event, problem) if problem.code in last_messages.FAULTS else NOTHING
    return NOTHING


def _gated(context: Context, start: Row, event: Event) -> last_messages.Prove:
    """What runs the gates of a report in the time that the client leaves; what remains of it is for the database."""
    within = None if event.until is None else event.until - time.monotonic()
    gate = last_messages.gated(context, start, gates.where(context, start, event.folder), within_s=within)

    def prove(effect: str, status: str) -> last_messages.Proven:
        try:
            seen = gate(effect, status)
        finally:
            if event.until is not None:
                context.deadline_s = min(context.deadline_s, event.until + ROUTES_S - time.monotonic())
        context.used = transcripts.usage(event.trace or start["trace"])
        return seen

    return prove


def _turned_down(context: Context, start: Row, event: Event, problem: OrchestratorError) -> Reply:
    """Send the agent back with what is wrong; after the third time replace it, then ask a person."""
    session, group = start["session_id"], start["group_id"]
    if not last_messages.is_open(context, start):
        return NOTHING
    refused = _refused(context, start, SENT_BACK + 1)
    if refused <= SENT_BACK:
        return Reply(block=last_messages.form(context, start, problem))
    (done,) = context.reader.one(_REDISPATCHES, session=session, group=group) or (0,)
    reason = f"no report after {SENT_BACK + 1} messages: {problem.message}"
    _end(context, start, starts.FAILED, reason, trace=event.trace)
    last_messages.replace(context, start, reason=reason, replaced=int(str(done)))
    return NOTHING


def _refused(context: Context, start: Row, most: int) -> int:
    """How often a start's reports were refused; those of the session's manager are on record with their groups."""
    session, group, role = start["session_id"], start["group_id"], start["role"]
    if group is not None:
        return context.reader.turn_refusals(session, group, start["turn"], role, most)
    return context.reader.count(_REFUSED, session=session, start=start["seq"], role=role, most=most)


def failed(context: Context, session_id: str, event: Event) -> Reply:
    """End the start of an agent or call that failed; a usage limit is no failure of the agent."""
    start = of_worker(context, session_id, event) if event.worker else of_call(context, session_id, event)
    if start is None or not last_messages.is_open(context, start):
        return NOTHING
    if is_limit(event.reason):
        said = f"{event.reason}: {event.message}" if event.message else event.reason
        _limited(context, start, said, event.trace)
    else:
        said = names.said(event.reason)[:500] or "the agent failed"
        _end(context, start, starts.FAILED, said, trace=event.trace)
    return NOTHING


def _limited(context: Context, start: Row, said: str, trace: str | None) -> None:
    """End a start that has reached a usage limit; its turn is due again after the reset."""
    from orchestrator.app.reports import limits

    _, due_at = limits.due(context, start, said)
    _end(context, start, starts.LIMITED, names.said(said)[:500], trace=trace, due_at=due_at)


def is_limit(text: str) -> bool:
    """Whether a text is a client's word that a usage limit is reached."""
    return len(text) <= _SHORT and re.search(_LIMITED, text) is not None


# The main agent


def told(context: Context, session_id: str, event: Event, since: int) -> tuple[str | None, int]:
    """What was decided since a step and what is due, and the newest step that is told of; None where nothing is new."""
    rows = queries.rows(context.reader, _DECIDED, session=session_id, since=since)
    standing, free = _standing(context, session_id)
    newest = max((row["seq"] for row in rows), default=since)
    if not rows:
        return None, newest
    lines = [f"orchestrator, session {session_id}: decided since the last update:"]
    lines += [f"- {_decided(row)}" for row in reversed(rows)]
    due = _due_lines(standing, free, event)
    lines += ["Due now:", *due] if due else [_due(standing, free, event)]
    return "\n".join(lines), newest


def _decided(row: Row) -> str:
    on = f"{row['group_id']}: " if row["group_id"] else ""
    to = f" -> {row['next_agent']}" if row["next_agent"] else ""
    return f"{on}{row['current_agent']} {row['response_status']}{to} ({row['action']})"


def beginning(context: Context, session_id: str, event: Event) -> str:
    """Where the session stands, for a main agent that knows nothing of it (any more)."""
    standing, free = _standing(context, session_id)
    lines = [f"orchestrator: you direct session {session_id} ({standing['state']}).", f"Goal: {standing['goal'][:500]}"]
    return "\n".join([*lines, _due(standing, free, event)])


def may_stop(context: Context, session_id: str, event: Event) -> Reply:
    """Whether the main agent may stop: not while something is due that is not under way.

    Nor while its agents are at work, where its client does not go on by itself when one of them has ended.
    """
    for start in _of_client(context, session_id, event):
        if start["bound_seq"] is None and not event.background and last_messages.is_open(context, start):
            starts.end(context, start, outcome=starts.FREED, reason="the client stopped before an agent started")
    standing, free = _standing(context, session_id)
    if standing["session"]["status"] != "active":
        return NOTHING
    due = _due_lines(standing, free, event)
    if due:
        return Reply(block="Nobody is working on this open work:\n" + "\n".join(due))
    own = [turn for turn in standing["spawns"] if is_under_way(turn) and turn["start"]["client"] == event.client]
    if event.wakes or not own:
        return NOTHING
    return Reply(block=f"Wait for your agents with wait_agent: {', '.join(map(_named, own))}.")


def client_ended(context: Context, session_id: str, event: Event) -> Reply:
    """End what the client had under way; where it only forgot its conversation, its next one directs the session."""
    for start in _of_client(context, session_id, event):
        if last_messages.is_open(context, start):
            _end(context, start, starts.LOST, f"the client ended: {event.reason or 'unknown'}")
    if event.reason == _CLEARED:
        operations.ask(context, starts.AdoptSession(session_id=session_id, client=None))
    return NOTHING
