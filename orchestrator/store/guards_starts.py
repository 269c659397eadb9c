"""Triggers on starts: a turn has one start at a time, which is bound once and ends once."""

from __future__ import annotations

from orchestrator.store.guards_rows import closed_once, fixed
from orchestrator.store.guards_tables import Statement, differs, refuse

_RUNS = (
    "EXISTS (SELECT 1 FROM starts s INDEXED BY ix_starts_open WHERE s.session_id = NEW.session_id"
    " AND s.group_id = NEW.group_id AND s.turn = NEW.turn AND s.ended_seq IS NULL AND s.seq <> NEW.seq)"
)

TRIGGERS: tuple[Statement, ...] = (
    refuse(
        "starts_come_one_after_another",
        "BEFORE INSERT ON starts",
        "ALREADY_EXISTS: the turn is started already",
        when=f"NEW.ended_seq IS NULL AND {_RUNS}",
    ),
    fixed(
        "starts", "a start keeps its turn and who made it",
        *("session_id", "group_id", "turn", "seq", "role", "agent_id", "via", "client", "owner", "call_id"),
        *("isolation", "started_at"),
    ),
    refuse(
        "starts_are_bound_once",
        "BEFORE UPDATE OF worker, trace, bound_at, bound_seq ON starts",
        "NEVER_CHANGED: a start is bound to one agent",
        when=f"OLD.bound_seq IS NOT NULL AND {differs('worker', 'trace', 'bound_at', 'bound_seq')}",
    ),
    *closed_once(
        "starts", "a start ends once", "ended_seq", "ended_at", "outcome", "reason", "due_at",
        required=("ended_at", "outcome"),
    ),
)
"""The triggers on starts, as (name, statement)."""
