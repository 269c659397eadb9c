"""Triggers on `task_groups`: which moves are legal, what each needs, and what never changes.

The body of every guard is one SELECT. A trigger that writes can be shadowed: a client's temporary trigger fires on what
it writes, may skip that row (`RAISE(IGNORE)`), or update the group again while the guard is already running, and so
does not fire a second time (`recursive_triggers` is off unless a client turns it on). A SELECT starts no trigger.

Source: seed 004, Proposed Solution 4 (completion guard)
"""

from __future__ import annotations

from orchestrator.store import guards_imported, guards_path
from orchestrator.store.guards_tables import Statement, differs, refuse, refuse_first, trigger

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


def recorded(entity: str, row_id: str, old: str, new: str, by: str, seq: str) -> str:
    """The condition that this step's row of `status_changes` tells of a move."""
    return (
        "EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity"
        f" WHERE c.session_id = NEW.session_id AND c.entity = '{entity}' AND c.entity_id = {row_id}"
        f" AND c.seq = {seq} AND c.from_status = {old} AND c.to_status = {new} AND c.changed_by = {by})"
    )


def last_recorded(entity: str, session: str, row_id: str, column: str) -> str:
    """The condition that the newest recorded change of a fixed column is exactly this one.

    Such a row serves once: afterwards the column no longer has the row's old value, and the way back needs a row of
    its own, which is then the newest.
    """
    return (
        "EXISTS (SELECT 1 FROM (SELECT c.from_status, c.to_status"
        f" FROM status_changes c INDEXED BY ix_status_changes_entity WHERE c.session_id = {session}"
        f" AND c.entity = '{entity}' AND c.entity_id = {row_id} ORDER BY c.seq DESC, c.part DESC LIMIT 1) n"
        f" WHERE n.from_status = OLD.{column} AND n.to_status = NEW.{column})"
    )


_MOVES = "NEW.status IS NOT OLD.status"
_COMPLETES = f"{_MOVES} AND NEW.status = 'completed'"
_MOVES_ELSEWHERE = f"{_MOVES} AND NEW.status IS NOT 'completed'"
_LEGAL = " OR ".join(f"(OLD.status = '{old}' AND NEW.status = '{new}')" for old, new in LEGAL_MOVES)
_RECORDED = recorded("group", "NEW.id", "OLD.status", "NEW.status", "NEW.status_changed_by", "NEW.status_seq")
_DEFERRED = (
    "EXISTS (SELECT 1 FROM deferrals d CROSS JOIN blockers b WHERE d.session_id = NEW.session_id"
    " AND d.seq = NEW.status_seq AND d.group_id = NEW.id AND b.id = d.blocker_id AND b.session_id = NEW.session_id"
    " AND b.group_id = NEW.id AND b.resolved_seq IS NULL AND b.external = 1)"
)
_ON_STATUS = "BEFORE UPDATE OF status ON task_groups"
_NO_PATH = f"COMPLETION_PATH_MISSING: the group has no completion path: {REQUIRED}"
_PART_MISSING = "\n    ".join(
    f"WHEN '{part}' THEN RAISE(ABORT, 'COMPLETION_PATH_MISSING: {part} is not met: {REQUIRED}')"
    for part in guards_path.PARTS
)
# RAISE takes a literal, so each part has its own; a CASE with an operand looks the path up once for all of them.
_COMPLETABLE = f"""SELECT CASE (
      SELECT CASE WHEN p.valid = 1 THEN '{_NOTHING}' ELSE p.missing END FROM completion_paths p
      WHERE p.session_id = OLD.session_id AND p.group_id = OLD.id
    )
    {_PART_MISSING}
    WHEN '{_NOTHING}' THEN CASE
      WHEN OLD.status IS NOT 'in_progress'
        THEN RAISE(ABORT, 'ILLEGAL_MOVE: a group is completed from in_progress only')
      WHEN NOT {_RECORDED} THEN RAISE(ABORT, '{_NOT_RECORDED}') END
    ELSE RAISE(ABORT, '{_NO_PATH}') END"""
_FIXED = ("session_id", "id", "description", "created_by", "created_at", "created_seq")
_CHANGE_COLUMNS = ("status_changed_by", "status_changed_at", "status_seq")

TRIGGERS: tuple[Statement, ...] = (
    refuse(
        "task_groups_begin_pending",
        "BEFORE INSERT ON task_groups",
        "ILLEGAL_MOVE: a group begins as pending, or a chat group as in_progress",
        when="NEW.status IS NOT 'pending' AND NOT (NEW.status = 'in_progress' AND NEW.kind = 'chat')"
        f" AND NOT ({guards_imported.IMPORTED_GROUP})",
    ),
    trigger("task_groups_completed_needs_path", _ON_STATUS, _COMPLETABLE, when=_COMPLETES),
    refuse(
        "task_groups_moves_are_recorded",
        _ON_STATUS,
        _NOT_RECORDED,
        when=f"{_MOVES_ELSEWHERE} AND NEW.status <> 'deferred_external' AND ({_LEGAL}) AND NOT {_RECORDED}",
    ),
    refuse_first(
        "task_groups_deferred_needs_deferral",
        _ON_STATUS,
        (f"NOT {_DEFERRED}", _NOT_DEFERRED),
        (f"NOT {_RECORDED}", _NOT_RECORDED),
        when="NEW.status = 'deferred_external' AND OLD.status = 'in_progress'",
    ),
    refuse(
        "task_groups_moves_are_legal",
        _ON_STATUS,
        "ILLEGAL_MOVE: a group does not go from its status to this one",
        when=f"{_MOVES_ELSEWHERE} AND NOT ({_LEGAL})",
    ),
    refuse(
        "task_groups_status_seq_never_falls",
        "BEFORE UPDATE OF status_seq ON task_groups",
        "STATUS_CHANGE_MISSING: a later move has no earlier step",
        when="NEW.status_seq < OLD.status_seq",
    ),
    refuse(
        "task_groups_change_columns_follow_the_status",
        f"BEFORE UPDATE OF {', '.join(_CHANGE_COLUMNS)} ON task_groups",
        "STATUS_CHANGE_MISSING: who changed a status, and when, is written with the change alone",
        when=f"NEW.status IS OLD.status AND {differs(*_CHANGE_COLUMNS)}",
    ),
    refuse(
        "task_groups_keys_are_fixed",
        f"BEFORE UPDATE OF {', '.join(_FIXED)} ON task_groups",
        "NEVER_CHANGED: a group keeps its key and its origin",
        when=differs(*_FIXED),
    ),
    refuse(
        "task_groups_kind_is_fixed",
        "BEFORE UPDATE OF kind ON task_groups",
        "STATUS_CHANGE_MISSING: another kind needs its status_changes row (group_kind)",
        when=f"{differs('kind')} AND NOT {last_recorded('group_kind', 'OLD.session_id', 'OLD.id', 'kind')}",
    ),
    refuse(
        "task_groups_security_is_fixed",
        "BEFORE UPDATE OF security_sensitive ON task_groups",
        "STATUS_CHANGE_MISSING: another security flag needs its status_changes row (group_security)",
        when=f"{differs('security_sensitive')}"
        f" AND NOT {last_recorded('group_security', 'OLD.session_id', 'OLD.id', 'security_sensitive')}",
    ),
)
"""The triggers on `task_groups`, as (name, statement)."""
