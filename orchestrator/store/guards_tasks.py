"""Triggers on tasks and their dependencies: which moves are legal, what each needs, and what never changes.

Source: seed 002, ステータス遷移ロジック変更 and 完了時チェック (Completion Gate).
"""

from __future__ import annotations

from orchestrator.store import task_rules
from orchestrator.store.guards_groups import last_recorded
from orchestrator.store.guards_rows import closed_once, fixed
from orchestrator.store.guards_tables import Statement, differs, refuse

LEGAL_MOVES = (
    ("backlog", "todo"),
    ("todo", "backlog"),
    ("backlog", "in_progress"),
    ("todo", "in_progress"),
    ("in_progress", "blocked"),
    ("blocked", "in_progress"),
    ("in_progress", "done"),
    ("backlog", "cancelled"),
    ("todo", "cancelled"),
    ("in_progress", "cancelled"),
    ("blocked", "cancelled"),
)
"""From which status a task may go to which, by hand."""

SYSTEM_MOVES = (
    ("backlog", "blocked", ("cascade", "dependency")),
    ("todo", "blocked", ("cascade", "dependency")),
    ("blocked", "backlog", ("release",)),
    ("blocked", "todo", ("release",)),
    ("in_progress", "todo", ("claim_release",)),
)
"""Moves that only the system makes, with the causes that its record names."""

_ON_STATUS = "BEFORE UPDATE OF status ON tasks"
_MOVES = "NEW.status IS NOT OLD.status"


def _pair(old: str, new: str) -> str:
    return f"(OLD.status = '{old}' AND NEW.status = '{new}')"


_BY_HAND = " OR ".join(_pair(old, new) for old, new in LEGAL_MOVES)
_BY_SYSTEM = " OR ".join(_pair(old, new) for old, new, _ in SYSTEM_MOVES)
_LEGAL = f"({_BY_HAND} OR {_BY_SYSTEM})"


def _recorded(causes: str = "") -> str:
    return (
        "EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity"
        " WHERE c.session_id = NEW.session_id AND c.entity = 'task' AND c.entity_id = NEW.id"
        " AND c.seq = NEW.status_seq AND c.from_status = OLD.status AND c.to_status = NEW.status"
        f" AND c.changed_by = NEW.status_changed_by_agent_id{causes})"
    )


def _caused(causes: tuple[str, ...]) -> str:
    return _recorded(f" AND c.cause IN ({', '.join(map(repr, causes))})")


_RECORDED = " AND ".join(
    (
        f"(NOT ({_BY_HAND}) OR {_recorded()})",
        *(f"(NOT {_pair(old, new)} OR {_caused(causes)})" for old, new, causes in SYSTEM_MOVES),
    )
)
_MOVED = f"{_MOVES} AND {_LEGAL} AND {_RECORDED}"
_OF_NEW = ("NEW.session_id", "NEW.id")
_WAITS = task_rules.waits("NEW.session_id", "NEW.id", "NEW.group_id")
_OPEN_BLOCKER = task_rules.open_blocker(*_OF_NEW)
_UNFINISHED = " OR ".join(
    (
        task_rules.open_subtask(*_OF_NEW),
        task_rules.none_done(*_OF_NEW),
        task_rules.open_question("NEW.session_id", "NEW.group_id", "NEW.id"),
    )
)
_CHANGE_COLUMNS = ("status_changed_by_agent_id", "status_changed_at", "status_seq")
_ORIGINS = (
    "session_id", "id", "group_id", "parent_id", "title", "description", "type", "created_by", "created_at",
    "created_seq",
)  # fmt: skip
_VERSIONED = ("status", "assignee", "auto_unblock", "claim_holder", "claim_token", "blocked_reason", "former_status")
_MISSING = "STATUS_CHANGE_MISSING: a move needs the status_changes row of its step"

_TASKS = (
    refuse(
        "tasks_begin_open",
        "BEFORE INSERT ON tasks",
        "ILLEGAL_MOVE: a task begins as backlog, todo or blocked, in its first version, and unclaimed",
        when="NEW.status NOT IN ('backlog', 'todo', 'blocked') OR NEW.version IS NOT 1 OR NEW.claim_holder IS NOT NULL",
    ),
    refuse(
        "tasks_begin_blocked_needs_blocker",
        "BEFORE INSERT ON tasks",
        "BLOCKER_MISSING: a blocked task has an open blocker",
        when=f"NEW.status = 'blocked' AND NOT {_OPEN_BLOCKER}",
    ),
    refuse(
        "tasks_moves_are_legal",
        _ON_STATUS,
        "ILLEGAL_MOVE: a task does not go from its status to this one",
        when=f"{_MOVES} AND NOT {_LEGAL}",
    ),
    refuse("tasks_moves_are_recorded", _ON_STATUS, _MISSING, when=f"{_MOVES} AND {_LEGAL} AND NOT ({_RECORDED})"),
    refuse(
        "tasks_blocked_needs_blocker",
        _ON_STATUS,
        "BLOCKER_MISSING: a blocked task has an open blocker",
        when=f"{_MOVED} AND NEW.status = 'blocked' AND NOT {_OPEN_BLOCKER}",
    ),
    refuse(
        "tasks_released_without_blocker",
        _ON_STATUS,
        "UNBLOCK_NOT_PERMITTED: a task with an open blocker stays blocked",
        when=f"{_MOVED} AND NEW.status <> 'blocked' AND {_OPEN_BLOCKER}",
    ),
    refuse(
        "tasks_released_to_former_status",
        _ON_STATUS,
        "ILLEGAL_MOVE: a task is released to its former status, or to todo where that cannot be",
        when=f"{_MOVED} AND OLD.status = 'blocked' AND NEW.status = 'backlog' AND OLD.former_status <> 'backlog'",
    ),
    refuse(
        "tasks_in_progress_needs_dependencies",
        _ON_STATUS,
        "DEPENDENCIES_OPEN: a task begins when all that it depends on is done",
        when=f"{_MOVED} AND NEW.status = 'in_progress' AND NOT {_OPEN_BLOCKER} AND {_WAITS}",
    ),
    refuse(
        "tasks_in_progress_needs_assignee",
        _ON_STATUS,
        "NOT_PERMITTED: a task in progress has an assignee",
        when=f"{_MOVED} AND NEW.status = 'in_progress' AND NEW.assignee IS NULL AND NOT {_OPEN_BLOCKER}"
        f" AND NOT {_WAITS}",
    ),
    refuse(
        "tasks_done_needs_all_done",
        _ON_STATUS,
        "COMPLETION_GATE: a task is done when its subtasks are, one at least, and nothing about it is open",
        when=f"{_MOVED} AND NEW.status = 'done' AND NOT {_OPEN_BLOCKER} AND ({_UNFINISHED})",
    ),
    refuse(
        "tasks_status_seq_never_falls",
        "BEFORE UPDATE OF status_seq ON tasks",
        "STATUS_CHANGE_MISSING: a later move has no earlier step",
        when="NEW.status_seq < OLD.status_seq",
    ),
    refuse(
        "tasks_change_columns_follow_the_status",
        f"BEFORE UPDATE OF {', '.join(_CHANGE_COLUMNS)} ON tasks",
        "STATUS_CHANGE_MISSING: who changed a status, and when, is written with the change alone",
        when=f"NEW.status IS OLD.status AND NEW.status_seq >= OLD.status_seq AND {differs(*_CHANGE_COLUMNS)}",
    ),
    refuse(
        "tasks_blocked_reason_is_the_newest",
        "BEFORE UPDATE OF blocked_reason ON tasks",
        "BLOCKER_MISSING: the reason of a blocked task is that of its newest open blocker",
        when=f"{differs('blocked_reason')} AND NEW.status IS OLD.status"
        f" AND NEW.blocked_reason IS NOT {task_rules.newest_reason(*_OF_NEW)}",
    ),
    refuse(
        "tasks_former_status_is_fixed",
        "BEFORE UPDATE OF former_status ON tasks",
        "NEVER_CHANGED: a blocked task keeps the status that it comes from",
        when=f"{differs('former_status')} AND (NEW.status IS OLD.status"
        " OR (NEW.status = 'blocked' AND NEW.former_status IS NOT OLD.status))",
    ),
    refuse(
        "tasks_versions_rise",
        f"BEFORE UPDATE OF {', '.join((*_VERSIONED, 'version'))} ON tasks",
        "VERSION_CONFLICT: every change of a task is its next version",
        when=f"(NEW.version IS NOT OLD.version OR {differs(*_VERSIONED)}) AND NEW.version IS NOT OLD.version + 1",
    ),
    refuse(
        "tasks_claims_are_taken_over_on_record",
        "BEFORE UPDATE OF claim_holder ON tasks",
        "CLAIM_LOST: a claim goes to another holder with its status_changes row (task_claim) alone",
        when="OLD.claim_holder IS NOT NULL AND NEW.claim_holder IS NOT NULL AND NEW.claim_holder <> OLD.claim_holder"
        f" AND NOT {last_recorded('task_claim', 'OLD.session_id', 'OLD.id', 'claim_holder')}",
    ),
    fixed("tasks", "a task keeps its key, place and origin", *_ORIGINS),
)

_DEPENDENCIES = (
    refuse(
        "task_dependencies_are_for_what_waits",
        "BEFORE INSERT ON task_dependencies",
        "DEPENDENCY_INVALID: only what has not begun can wait for something that is not done",
        when="NEW.removed_seq IS NULL"
        " AND EXISTS (SELECT 1 FROM tasks t WHERE t.session_id = NEW.session_id AND t.id = NEW.task_id"
        f" AND (t.status IN ('done', 'cancelled') OR {task_rules.begun_below('NEW.session_id', 'NEW.task_id')}))"
        " AND EXISTS (SELECT 1 FROM tasks o WHERE o.session_id = NEW.session_id AND o.id = NEW.depends_on_id"
        " AND o.status <> 'done')",
    ),
    refuse(
        "task_dependencies_close_no_pair",
        "BEFORE INSERT ON task_dependencies",
        "DEPENDENCY_CYCLE: two tasks do not wait for each other",
        when="NEW.removed_seq IS NULL AND EXISTS (SELECT 1 FROM task_dependencies d"
        " WHERE d.session_id = NEW.session_id AND d.task_id = NEW.depends_on_id AND d.depends_on_id = NEW.task_id"
        " AND d.removed_seq IS NULL)",
    ),
    fixed(
        "task_dependencies",
        "a dependency keeps who depends on whom",
        *("session_id", "task_id", "depends_on_id", "seq", "added_by"),
    ),
    *closed_once("task_dependencies", "a dependency is removed once", "removed_seq", "removed_by", "removed_reason"),
)

TRIGGERS: tuple[Statement, ...] = (*_TASKS, *_DEPENDENCIES)
"""The triggers on tasks and their dependencies, as (name, statement)."""
