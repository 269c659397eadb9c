"""Triggers on what was imported: it comes with the very first step of its session, or never.

A step's event is written last. So as long as a session has no event it is in its first step, and once it has one
this door is shut for good: events are never deleted. The event that shuts it says that it was an import.
"""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import emitter
from orchestrator.store.emitter import Expression, Guard, Refusal
from orchestrator.store.guards_tables import HIDDEN, INSERT, REFUSED, WRITES, new, refuse, same_key
from orchestrator.store.tables_record import (
    audit_events,
    grandfathered_groups,
    import_findings,
    imported_logs,
    imported_sessions,
)
from orchestrator.store.tables_work import task_groups

EVENT = "import peer"
"""The kind of the event that an import leaves."""

_CLOSED = "IMPORT_CLOSED: what was imported comes with the first step of its session alone"


def _sealed(table: sa.Table) -> Expression:
    """The condition that the session of a row has an event."""
    e = audit_events.alias("e")
    return emitter.exists(e, e.c.session_id == new(table).session_id, index="sqlite_autoindex_audit_events_1")


def _importing(table: sa.Table, seq: str = "seq") -> Expression:
    """The condition that a row belongs to the step that brings its session, and that step is not over.

    Args:
        seq: the column that holds the row's step.
    """
    i, row = imported_sessions.alias("i"), new(table)
    brought = emitter.exists(i, i.c.session_id == row.session_id, i.c.seq == row[seq])
    return sa.and_(brought, emitter.negated(_sealed(table)))


def _imported_group() -> Expression:
    f, group = grandfathered_groups.alias("f"), new(task_groups)
    completed = emitter.exists(
        f, f.c.session_id == group.session_id, f.c.group_id == group.id, f.c.seq == group.created_seq
    )
    return sa.and_(
        group.status_changed_by.is_(None),
        group.status_seq == group.created_seq,
        _importing(task_groups, "created_seq"),
        emitter.bracketed(
            sa.or_(
                group.status == "in_progress", emitter.bracketed(sa.and_(group.status == "completed", completed))
            )
        ),
    )


IMPORTED_GROUP = _imported_group()
"""The condition that a group may begin as in progress or completed, because it did so elsewhere."""


def _closed(table: sa.Table, condition: Expression, *keys: tuple[str, ...]) -> Guard:
    """Refuse a row whose key is free. A stranger is told the same as by the tripwire, whichever of the two speaks."""
    answer = emitter.case((WRITES == 1, Refusal(_CLOSED)), otherwise=Refusal(REFUSED))
    taken = sa.or_(*(emitter.bracketed(same_key(table, key)) for key in keys))
    when = sa.and_(emitter.bracketed(condition), emitter.negated(emitter.exists(table.alias("t"), taken)))
    return Guard(f"{table.name}_are_closed", INSERT, table.name, answer, when)


def _late(table: sa.Table) -> Expression:
    return emitter.negated(emitter.bracketed(_importing(table)))


_PART = ("session_id", "seq", "part")


def _not_first() -> Expression:
    return sa.or_(emitter.differs(new(imported_sessions).seq, 1), _sealed(imported_sessions))


def _untold() -> Expression:
    i, event = imported_sessions.alias("i"), new(audit_events)
    return sa.and_(
        event.seq == 1,
        emitter.differs(event.kind, EVENT),
        emitter.exists(i, i.c.session_id == event.session_id),
    )


GUARDS: tuple[Guard, ...] = (
    _closed(imported_sessions, _not_first(), ("session_id",)),
    _closed(grandfathered_groups, _late(grandfathered_groups), ("session_id", "group_id")),
    _closed(imported_logs, _late(imported_logs), _PART, HIDDEN),
    _closed(import_findings, _late(import_findings), _PART),
    refuse(
        "audit_events_tell_of_imports",
        INSERT,
        audit_events,
        "IMPORT_CLOSED: the first step of an imported session is its import",
        when=_untold(),
    ),
)
"""The guards of imported rows."""
