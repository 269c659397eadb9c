"""One event of a client: for which session it counts, which rule answers it, what the main agent was told before."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from orchestrator.app import starts
from orchestrator.app.clients.events import BUILD, HAND_BACK, MESSAGE, NOTHING, START, Event, Reply
from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.core import database_urls, sha256
from orchestrator.hints import Any
from orchestrator.store import constants, queries

Open = Callable[[bool], Context]
"""Opens the database, for writing or for reading."""

COMMANDS = ("/orchestrate", "$orchestrate")
"""What a user types to let a client direct the session that is open, as clients write the name of a skill."""
FOLDER = "clients"
"""Beside the database: what each client was told last. It is no part of the record."""

_CLIENT = r"[A-Za-z0-9_-]{1,100}"
_EVENTS = frozenset((
    "SessionStart", "PreToolUse", "SubagentStart", "SubagentStop", "StopFailure", "PostToolUseFailure", "PostToolUse",
    "UserPromptSubmit", "Stop", "SessionEnd", "TaskCreated", "TaskCompleted",
))  # fmt: skip


def handle(open_: Open, event: Event, *, strict: bool = False, driven: str = "") -> Reply:
    """What an event is answered; nothing is written for a client that directs no session.

    Args:
        strict: the main agent may not build, nor start agents that play no role.
        driven: SESSION:GROUP:TURN of the start by which a driver has begun the agent in which the event happens.

    Raises:
        OrchestratorError: what goes wrong with the database.
    """
    if event.name not in _EVENTS or not re.fullmatch(_CLIENT, event.client):
        return NOTHING
    if event.name == "SubagentStart" and event.start is None:
        return NOTHING
    with _opened(open_, write=False) as context:
        session = _adopted(context, event.client)
        takes = None if session else _to_take_on(context, event)
        if _is_driven(context, session or takes, driven):
            return NOTHING
    if session is None and takes is None:
        return NOTHING
    with _opened(open_, write=True) as context:
        if session is None:
            session = str(takes)
            operations.ask(context, starts.AdoptSession(session_id=session, client=event.client))
        return _answered(context, session, event, strict=strict)


def _is_driven(context: Context, session: str | None, driven: str) -> bool:
    """Whether a driver is at work: by the start that it has named, or on the session that the client directs."""
    named, _, rest = driven.partition(":")
    group, _, turn = rest.rpartition(":")
    if turn.isascii() and turn.isdigit() and len(turn) < 16:
        start = starts.of_turn(context, named, group or None, int(turn))
        if start is not None and start["via"] == starts.DRIVE and start["state"] != starts.LOST:
            return True
    return session is not None and starts.is_driven(context, session)


@contextmanager
def _opened(open_: Open, *, write: bool) -> Iterator[Context]:
    context = open_(write)
    try:
        yield context
    finally:
        context.connection.close()


def _adopted(context: Context, client: str | None) -> str | None:
    """The open session that a client took on; of no client the one that waits for the next."""
    row = context.reader.one(queries.ADOPTED, client=client)
    return str(row[0]) if row else None


def _to_take_on(context: Context, event: Event) -> str | None:
    """The session that a client takes on by this event: one that waits for the next client, the one that is named
    behind `/orchestrate`, or the only open one.
    """
    if event.name == "SessionStart":
        return _adopted(context, None)
    typed = event.prompt.split(maxsplit=1)[:1] if event.name == "UserPromptSubmit" and event.worker is None else []
    if typed and typed[0] in COMMANDS:
        open_ = arguments.open_sessions(context)
        named = [word for word in event.prompt.split(maxsplit=2)[1:2] if word in open_]
        return named[0] if named else open_[0] if len(open_) == 1 else None
    return None


def _answered(context: Context, session: str, event: Event, *, strict: bool) -> Reply:
    # Most events are of clients that direct nothing, which are answered without the rules (RTE-44).
    from orchestrator.app.clients import rules

    name = event.name
    if name == "PreToolUse":
        return _before_tool(context, session, event, strict=strict)
    if name in ("TaskCreated", "TaskCompleted"):
        return rules.before_task(context, session, event)
    if name == "SubagentStart":
        return rules.beginning_of_agent(context, session, event)
    if name == "SubagentStop":
        return rules.after_agent(context, session, event)
    if name in ("StopFailure", "PostToolUseFailure"):
        return rules.failed(context, session, event)
    if name == "SessionEnd":
        return rules.client_ended(context, session, event)
    memory = _Memory(context.path, event.client)
    if name == "SessionStart":
        memory.told(session, _newest(context, session))
        return Reply(context=rules.beginning(context, session, event))
    if name == "Stop":
        return memory.not_twice(rules.may_stop(context, session, event))
    return _told(context, session, event, memory)


def _before_tool(context: Context, session: str, event: Event, *, strict: bool) -> Reply:
    from orchestrator.app.clients import rules

    if event.tool == START:
        return rules.before_start(context, session, event, strict=strict)
    if event.tool == BUILD and strict:
        return rules.before_building(context, session, event)
    if event.tool == HAND_BACK:
        reply = rules.after_agent(context, session, event)
        return reply._replace(deny=reply.block, block=None)
    if event.tool == MESSAGE:
        return rules.before_message(context, session, event)
    return NOTHING


def _told(context: Context, session: str, event: Event, memory: _Memory) -> Reply:
    """What was decided since the main agent was told last; inside an agent nothing is told."""
    from orchestrator.app.clients import rules

    if event.name == "PostToolUse" and event.tool == START:
        rules.after_start(context, session, event)
    for worker, reason in event.failed:
        rules.failed(context, session, event._replace(worker=worker, reason=reason))
    if event.name == "UserPromptSubmit":
        rules.notified(context, session, event)
    if event.worker is not None:
        return NOTHING
    text, newest = rules.told(context, session, event, memory.last(session))
    memory.told(session, newest)
    return Reply(context=text) if text else NOTHING


def _newest(context: Context, session: str) -> int:
    row = context.reader.one("SELECT max(seq) FROM audit_events WHERE session_id = :session", session=session)
    return int(str(row[0])) if row and row[0] is not None else 0


class _Memory:
    """What one client was told, in a file of its own; where that cannot be kept it is told again."""

    def __init__(self, database: str, client: str) -> None:
        # That of a server is kept in the project, where the client runs its hooks.
        folder = constants.FOLDER if database_urls.is_postgresql(database) else os.path.dirname(database)
        self._path = os.path.join(folder, FOLDER, f"{client}.json")
        self._kept = self._read()

    def last(self, session: str) -> int:
        """The newest step of a session that the client was told of."""
        found = self._kept.get("told", {}).get(session)
        return found if isinstance(found, int) else 0

    def told(self, session: str, seq: int) -> None:
        """Note that it was told of everything up to a step."""
        if seq != self.last(session):
            self._kept.setdefault("told", {})[session] = seq
            self._write()

    def not_twice(self, reply: Reply) -> Reply:
        """A reply that holds the client or is none, unless it would hold it with the same words as the last time."""
        said = sha256.new((reply.block or "").encode()).hexdigest() if reply.block else None
        if said == self._kept.get("held"):
            return NOTHING
        self._kept["held"] = said
        self._write()
        return reply

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        whole = isinstance(found, dict) and isinstance(found.get("told", {}), dict)
        return found if whole else {}

    def _write(self) -> None:
        partial = f"{self._path}.{os.getpid()}"
        try:
            with suppress(FileExistsError):
                os.mkdir(os.path.dirname(self._path), 0o700)
            with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                json.dump(self._kept, file)
            os.replace(partial, self._path)
        except OSError:
            return
