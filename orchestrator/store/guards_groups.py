"""Triggers on `task_groups`: which moves are legal, what each needs, and what never changes.

The body of every guard is one SELECT. A trigger that writes can be shadowed: a client's temporary trigger fires on what
it writes, may skip that row (`RAISE(IGNORE)`), or update the group again while the guard is already running, and so
does not fire a second time (`recursive_triggers` is off unless a client turns it on). A SELECT starts no trigger.

Source: seed 004, Proposed Solution 4 (completion guard)
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from orchestrator.store import completion_views, emitter, guards_imported
from orchestrator.store.emitter import Expression, Guard, Refusal
from orchestrator.store.guards_tables import INSERT, UPDATE, changes, moves, new, old, refuse, refuse_first
from orchestrator.store.tables_record import status_changes
from orchestrator.store.tables_work import blockers, deferrals, task_groups

REQUIRED = "tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group"
"""What a completion path is, in the words of every refusal."""

LEGAL_MOVES = (
    ("pending", "in_progress"),
    ("pending", "cancelled"),
    ("in_progress", "completed"),
    ("in_progress", "deferred_external"),
    ("in_progress", "cancelled"),
    ("deferred_external", "in_progress"),
    ("deferred_external", "cancelled"),
    ("completed", "in_progress"),
)
"""From which status a group may go to which."""

_NOT_RECORDED = "STATUS_CHANGE_MISSING: a move needs the status_changes row of its step"
_NOT_DEFERRED = "DEFERRAL_NOT_CONFIRMED: deferred_external needs the deferral of its step, on an open external blocker"
_NOTHING = "nothing"
_ENTITY = "ix_status_changes_entity"


def recorded(
    entity: str,
    table: sa.Table,
    *,
    session: str = "session_id",
    status: str = "status",
    by: str = "",
    told: Callable[[sa.FromClause], Expression] | None = None,
) -> Expression:
    """The condition that this step's row of `status_changes` tells of a move.

    Args:
        entity: what such rows call the table's rows.
        session: the column that holds the row's session.
        status: the column that moves; its step is in the column of this name with `_seq` behind it.
        by: the column with whoever moved it; by default that of the status with `_changed_by` behind it.
        told: what else such a row has to tell.
    """
    c, now, before = status_changes.alias("c"), new(table), old(table)
    return emitter.exists(
        c,
        c.c.session_id == now[session],
        c.c.entity == entity,
        c.c.entity_id == now.id,
        c.c.seq == now[f"{status}_seq"],
        c.c.from_status == before[status],
        c.c.to_status == now[status],
        c.c.changed_by == now[by or f"{status}_changed_by"],
        *([] if told is None else [told(c)]),
        index=_ENTITY,
    )


def last_recorded(entity: str, table: sa.Table, column: str, session: str = "session_id") -> Expression:
    """The condition that the newest recorded change of a fixed column is exactly this one.

    Such a row serves once: afterwards the column no longer has the row's old value, and the way back needs a row of
    its own, which is then the newest.

    Args:
        entity: what the rows of `status_changes` call such a change.
        column: the column that changes.
        session: the column that holds the row's session.
    """
    c, before = status_changes.alias("c"), old(table)
    newest = (
        emitter.indexed(sa.select(c.c.from_status, c.c.to_status), c, _ENTITY)
        .where(c.c.session_id == before[session], c.c.entity == entity, c.c.entity_id == before.id)
        .order_by(c.c.seq.desc(), c.c.part.desc())
        .limit(1)
        .subquery("n")
    )
    was, now = emitter.as_text(before[column]), emitter.as_text(new(table)[column])
    return emitter.exists(newest, newest.c.from_status == was, newest.c.to_status == now)


_NEW, _OLD = new(task_groups), old(task_groups)
_MOVES = emitter.differs(_NEW.status, _OLD.status)
_LEGAL = moves(task_groups, "status", LEGAL_MOVES)
_RECORDED = recorded("group", task_groups)


def _deferred() -> Expression:
    d, b = deferrals.alias("d"), blockers.alias("b")
    return emitter.exists(
        emitter.ordered(d, b),
        d.c.session_id == _NEW.session_id,
        d.c.seq == _NEW.status_seq,
        d.c.group_id == _NEW.id,
        b.c.id == d.c.blocker_id,
        b.c.session_id == _NEW.session_id,
        b.c.group_id == _NEW.id,
        b.c.resolved_seq.is_(None),
        b.c.external == 1,
    )


_NO_PATH = f"COMPLETION_PATH_MISSING: the group has no completion path: {REQUIRED}"


def _completable() -> Expression:
    """Refuses a group without a path, with the first part that is missing; the path is looked up once."""
    p = completion_views.completion_paths.alias("p")
    answer = emitter.case((p.c.valid == 1, _NOTHING), otherwise=p.c.missing)
    missing = emitter.read(p, p.c.session_id == _OLD.session_id, p.c.group_id == _OLD.id, value=answer)
    # A refusal has a literal message, so each part has its own.
    parts = (
        (part, Refusal(f"COMPLETION_PATH_MISSING: {part} is not met: {REQUIRED}")) for part in completion_views.PARTS
    )
    not_begun = Refusal("ILLEGAL_MOVE: a group is completed from in_progress only")
    found = emitter.case(
        (emitter.differs(_OLD.status, "in_progress"), not_begun), (emitter.negated(_RECORDED), Refusal(_NOT_RECORDED))
    )
    return emitter.case(*parts, (_NOTHING, found), value=missing.scalar_subquery(), otherwise=Refusal(_NO_PATH))


_FIXED = ("session_id", "id", "description", "created_by", "created_at", "created_seq")
_CHANGE_COLUMNS = ("status_changed_by", "status_changed_at", "status_seq")

GUARDS: tuple[Guard, ...] = (
    refuse(
        "task_groups_begin_pending",
        INSERT,
        task_groups,
        "ILLEGAL_MOVE: a group begins as pending, or a chat group as in_progress",
        when=sa.and_(
            emitter.differs(_NEW.status, "pending"),
            emitter.negated(emitter.bracketed(sa.and_(_NEW.status == "in_progress", _NEW.kind == "chat"))),
            emitter.negated(emitter.bracketed(guards_imported.IMPORTED_GROUP)),
        ),
    ),
    Guard(
        "task_groups_completed_needs_path",
        UPDATE,
        task_groups.name,
        _completable(),
        sa.and_(_MOVES, _NEW.status == "completed"),
        ("status",),
    ),
    refuse_first(
        "task_groups_move_by_the_rules",
        UPDATE,
        task_groups,
        (emitter.negated(emitter.bracketed(_LEGAL)), "ILLEGAL_MOVE: a group does not go from its status to this one"),
        (sa.and_(_NEW.status == "deferred_external", emitter.negated(_deferred())), _NOT_DEFERRED),
        (emitter.negated(_RECORDED), _NOT_RECORDED),
        when=sa.and_(_MOVES, emitter.differs(_NEW.status, "completed")),
        columns=("status",),
    ),
    refuse(
        "task_groups_status_seq_never_falls",
        UPDATE,
        task_groups,
        "STATUS_CHANGE_MISSING: a later move has no earlier step",
        when=_NEW.status_seq < _OLD.status_seq,
        columns=("status_seq",),
    ),
    refuse(
        "task_groups_change_columns_follow_the_status",
        UPDATE,
        task_groups,
        "STATUS_CHANGE_MISSING: who changed a status, and when, is written with the change alone",
        when=sa.and_(_NEW.status.is_not_distinct_from(_OLD.status), changes(task_groups, *_CHANGE_COLUMNS)),
        columns=_CHANGE_COLUMNS,
    ),
    refuse(
        "task_groups_keys_are_fixed",
        UPDATE,
        task_groups,
        "NEVER_CHANGED: a group keeps its key and its origin",
        when=changes(task_groups, *_FIXED),
        columns=_FIXED,
    ),
    refuse(
        "task_groups_kind_is_fixed",
        UPDATE,
        task_groups,
        "STATUS_CHANGE_MISSING: another kind needs its status_changes row (group_kind)",
        when=sa.and_(changes(task_groups, "kind"), emitter.negated(last_recorded("group_kind", task_groups, "kind"))),
        columns=("kind",),
    ),
    refuse(
        "task_groups_security_is_fixed",
        UPDATE,
        task_groups,
        "STATUS_CHANGE_MISSING: another security flag needs its status_changes row (group_security)",
        when=sa.and_(
            changes(task_groups, "security_sensitive"),
            emitter.negated(last_recorded("group_security", task_groups, "security_sensitive")),
        ),
        columns=("security_sensitive",),
    ),
)
"""The guards of `task_groups`."""
