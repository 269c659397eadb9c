"""What is on record of one session, in the order in which it was committed: to be told again, or taken elsewhere.

A session rests on the store's chain (agents, workflow loads) and on nothing of other sessions, with two exceptions. A
call may name an agent that was started for another session: such an outsider is handed out, as a row, before the first
event that names it. And a message that an agent of another session had sent word for word is kept once: the event has
its text, and no digest of a row for it.
"""

from __future__ import annotations

import functools
import heapq
import sqlite3
from collections.abc import Iterator

from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.table_metadata import column_names

CARRIED = frozenset(("migrate", "repair", "restore"))
"""Kinds of events about the file itself. They wrote no row, and no use case tells them again."""

AGENT_COLUMNS = column_names("agents")

_NAMING = ("agent_id", "by", "parent", "id", "agent", "assignee")
"""Parameters that may hold the id of an agent."""

_EVENTS = "SELECT rowid, * FROM audit_events WHERE session_id = ? ORDER BY seq"
_RULES = "SELECT seq, rules_version FROM router_decisions WHERE session_id = ? AND part = 1 ORDER BY seq"
_OTHERS = "SELECT 1 FROM agents WHERE session_id IS NOT NULL AND session_id <> ? LIMIT 1"
_OUTSIDER = f"""SELECT coalesce((SELECT e.rowid FROM audit_events e
        WHERE e.session_id = a.session_id AND e.seq = a.created_seq), 0),
    {", ".join(f"a.{name}" for name in AGENT_COLUMNS)}
    FROM agents a WHERE a.id = ? AND a.session_id IS NOT NULL AND a.session_id <> ?"""
_ACTIVE = AGENT_COLUMNS.index("active")


class Recorded(NamedTuple):
    """A row of `audit_events`, and the rules version of the decisions of its step: None where it made none."""

    chain: str
    seq: int
    kind: str
    actor: str
    channel: str
    at: str
    input: str
    rows: str
    prev_hash: bytes
    hash: bytes
    rules_version: int | None = None


class Outsider(NamedTuple):
    """An agent of another session, as it was when it was started: the columns of `agents`."""

    values: tuple[Any, ...]


Entry = Recorded | Outsider


def entries(connection: sqlite3.Connection, session: str) -> Iterator[Entry]:
    """What a session's record consists of: its events and the store's, each after all that was committed before it."""
    outsiders = _outsiders(connection, session)
    for place, event in heapq.merge(
        _events(connection, session), _events(connection, STORE_CHAIN), key=lambda each: each[0]
    ):
        if outsiders is not None:
            yield from outsiders.named(place, event)
        yield event


def heads(connection: sqlite3.Connection, session: str) -> dict[str, tuple[int, bytes]]:
    """Number and hash of the last event of the session's chain and of the store's."""
    sql = "SELECT seq, hash FROM audit_events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
    found = {chain: connection.execute(sql, (chain,)).fetchone() for chain in (STORE_CHAIN, session)}
    return {chain: row for chain, row in found.items() if row is not None}


def count(connection: sqlite3.Connection, session: str) -> int:
    """How many events the session and the store have."""
    sql = "SELECT count(*) FROM audit_events WHERE session_id IN (?, ?)"
    return int(connection.execute(sql, (session, STORE_CHAIN)).fetchone()[0])


def _events(connection: sqlite3.Connection, chain: str) -> Iterator[tuple[int, Recorded]]:
    rules = connection.execute(_RULES, (chain,))
    decided = rules.fetchone()
    for place, *columns in connection.execute(_EVENTS, (chain,)):
        event = Recorded(*columns)
        while decided is not None and decided[0] < event.seq:
            decided = rules.fetchone()
        if decided is not None and decided[0] == event.seq:
            event = event._replace(rules_version=decided[1])
        yield place, event


def _outsiders(connection: sqlite3.Connection, session: str) -> _Outsiders | None:
    """None where no other session has started an agent, so that no event need be looked into."""
    there = connection.execute(_OTHERS, (session,)).fetchone()
    return _Outsiders(connection, session) if there else None


class _Outsiders:
    """Finds agents of other sessions that events name, each once."""

    def __init__(self, connection: sqlite3.Connection, session: str) -> None:
        self._given: set[str] = set()

        @functools.lru_cache(maxsize=4096)
        def find(agent: str) -> tuple[Any, ...] | None:
            row: tuple[Any, ...] | None = connection.execute(_OUTSIDER, (agent, session)).fetchone()
            return row

        self._find = find

    def named(self, place: int, event: Recorded) -> Iterator[Outsider]:
        for agent in sorted(_named(event) - self._given):
            row = self._find(agent)
            if row is not None and row[0] < place:
                self._given.add(agent)
                values = list(row[1:])
                # It was started active; an event of the store tells when it was deactivated.
                values[_ACTIVE] = 1
                yield Outsider(tuple(values))


def _named(event: Recorded) -> set[str]:
    try:
        given = strict_json.stored(event.input)
    except ValueError:
        # It was altered, as whoever tells it will find.
        given = None
    inner = given.get("input") if isinstance(given, dict) else None
    layers = [layer for layer in (given, inner) if isinstance(layer, dict)]
    found = {layer[name] for layer in layers for name in _NAMING if isinstance(layer.get(name), str)}
    return {event.actor, *found}
