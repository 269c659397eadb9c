"""Triggers on what was imported: it comes with the very first step of its session, or never.

A step's event is written last. So as long as a session has no event it is in its first step, and once it has one
this door is shut for good: events are never deleted. The event that shuts it says that it was an import.
"""

from __future__ import annotations

from orchestrator.store import constants
from orchestrator.store.guards_tables import REFUSED, Statement, refuse, trigger

EVENT = "import peer"
"""The kind of the event that an import leaves."""

_CLOSED = "IMPORT_CLOSED: what was imported comes with the first step of its session alone"
_SEALED = (
    "EXISTS (SELECT 1 FROM audit_events e INDEXED BY sqlite_autoindex_audit_events_1"
    " WHERE e.session_id = NEW.session_id)"
)


def _importing(seq: str) -> str:
    """The condition that a row belongs to the step that brings its session, and that step is not over."""
    return (
        "EXISTS (SELECT 1 FROM imported_sessions i WHERE i.session_id = NEW.session_id"
        f" AND i.seq = {seq}) AND NOT {_SEALED}"
    )


IMPORTED_GROUP = (
    f"NEW.status_changed_by IS NULL AND NEW.status_seq = NEW.created_seq AND {_importing('NEW.created_seq')}"
    " AND (NEW.status = 'in_progress' OR (NEW.status = 'completed' AND EXISTS (SELECT 1 FROM grandfathered_groups f"
    " WHERE f.session_id = NEW.session_id AND f.group_id = NEW.id AND f.seq = NEW.created_seq)))"
)
"""The condition that a group may begin as in progress or completed, because it did so elsewhere."""


def _closed(table: str, condition: str, *keys: tuple[str, ...]) -> Statement:
    """Refuse a row whose key is free. A stranger is told the same as by the tripwire, whichever of the two speaks."""
    taken = " OR ".join(f"({' AND '.join(f't.{column} = NEW.{column}' for column in key)})" for key in keys)
    return trigger(
        f"{table}_are_closed",
        f"BEFORE INSERT ON {table}",
        f"SELECT CASE WHEN {constants.WRITE_FUNCTION}() = 1 THEN RAISE(ABORT, '{_CLOSED}')"
        f" ELSE RAISE(ABORT, '{REFUSED}') END",
        when=f"({condition}) AND NOT EXISTS (SELECT 1 FROM {table} t WHERE {taken})",
    )


_LATE = f"NOT ({_importing('NEW.seq')})"
_PART = ("session_id", "seq", "part")

TRIGGERS: tuple[Statement, ...] = (
    _closed("imported_sessions", f"NEW.seq IS NOT 1 OR {_SEALED}", ("session_id",)),
    _closed("grandfathered_groups", _LATE, ("session_id", "group_id")),
    _closed("imported_logs", _LATE, _PART, ("rowid",)),
    _closed("import_findings", _LATE, _PART),
    refuse(
        "audit_events_tell_of_imports",
        "BEFORE INSERT ON audit_events",
        "IMPORT_CLOSED: the first step of an imported session is its import",
        when=f"NEW.seq = 1 AND NEW.kind IS NOT '{EVENT}' AND EXISTS"
        " (SELECT 1 FROM imported_sessions i WHERE i.session_id = NEW.session_id)",
    ),
)
"""The triggers on imported rows, as (name, statement)."""
