"""Triggers on tasks and their dependencies: which moves are legal, what each needs, and what never changes.

Source: seed 002, ステータス遷移ロジック変更 and 完了時チェック (Completion Gate).
"""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import emitter, task_rules
from orchestrator.store.emitter import Expression, Guard
from orchestrator.store.guards_groups import last_recorded, recorded
from orchestrator.store.guards_rows import closed_once, fixed
from orchestrator.store.guards_tables import INSERT, UPDATE, changes, moves, new, old, refuse, refuse_first
from orchestrator.store.tables_work import task_dependencies, tasks

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

_NEW, _OLD = new(tasks), old(tasks)
_MOVES = emitter.differs(_NEW.status, _OLD.status)
_LEGAL = moves(tasks, "status", (*LEGAL_MOVES, *(each[:2] for each in SYSTEM_MOVES)))
_BY_HAND = moves(tasks, "status", LEGAL_MOVES)


def _told(c: sa.FromClause) -> Expression:
    """The condition that a row of `status_changes` names a cause that the move may have; by hand it may be any."""
    caused: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for before, after, causes in SYSTEM_MOVES:
        caused.setdefault(causes, []).append((before, after))
    of_system = (
        emitter.bracketed(sa.and_(emitter.bracketed(moves(tasks, "status", pairs)), c.c.cause.in_(causes)))
        for causes, pairs in caused.items()
    )
    return emitter.bracketed(sa.or_(_BY_HAND, *of_system))


_RECORDED = recorded("task", tasks, by="status_changed_by_agent_id", told=_told)
_WAITS = task_rules.waits(_NEW.session_id, _NEW.id, _NEW.group_id)
_OPEN_BLOCKER = task_rules.open_blocker(_NEW.session_id, _NEW.id)
_UNFINISHED = sa.or_(
    task_rules.open_subtask(_NEW.session_id, _NEW.id),
    task_rules.none_done(_NEW.session_id, _NEW.id),
    task_rules.open_question(_NEW.session_id, _NEW.group_id, _NEW.id),
)
_CHANGE_COLUMNS = ("status_changed_by_agent_id", "status_changed_at", "status_seq")
_ORIGINS = (
    "session_id", "id", "group_id", "parent_id", "title", "description", "type", "created_by", "created_at",
    "created_seq",
)  # fmt: skip
_VERSIONED = ("status", "assignee", "auto_unblock", "claim_holder", "claim_token", "blocked_reason", "former_status")

_TASKS = (
    refuse(
        "tasks_begin_open",
        INSERT,
        tasks,
        "ILLEGAL_MOVE: a task begins as backlog, todo or blocked, in its first version, and unclaimed",
        when=sa.or_(
            _NEW.status.not_in(("backlog", "todo", "blocked")),
            emitter.differs(_NEW.version, 1),
            _NEW.claim_holder.is_not(None),
        ),
    ),
    refuse(
        "tasks_begin_blocked_needs_blocker",
        INSERT,
        tasks,
        "BLOCKER_MISSING: a blocked task has an open blocker",
        when=sa.and_(_NEW.status == "blocked", emitter.negated(_OPEN_BLOCKER)),
    ),
    refuse_first(
        "tasks_move_by_the_rules",
        UPDATE,
        tasks,
        (emitter.negated(emitter.bracketed(_LEGAL)), "ILLEGAL_MOVE: a task does not go from its status to this one"),
        (emitter.negated(_RECORDED), "STATUS_CHANGE_MISSING: a move needs the status_changes row of its step"),
        (
            sa.and_(_NEW.status == "blocked", emitter.negated(_OPEN_BLOCKER)),
            "BLOCKER_MISSING: a blocked task has an open blocker",
        ),
        (
            sa.and_(_NEW.status != "blocked", _OPEN_BLOCKER),
            "UNBLOCK_NOT_PERMITTED: a task with an open blocker stays blocked",
        ),
        (
            sa.and_(_OLD.status == "blocked", _NEW.status == "backlog", _OLD.former_status != "backlog"),
            "ILLEGAL_MOVE: a task is released to its former status, or to todo where that cannot be",
        ),
        (
            sa.and_(_NEW.status == "in_progress", _WAITS),
            "DEPENDENCIES_OPEN: a task begins when all that it depends on is done",
        ),
        (
            sa.and_(_NEW.status == "in_progress", _NEW.assignee.is_(None)),
            "NOT_PERMITTED: a task in progress has an assignee",
        ),
        (
            sa.and_(_NEW.status == "done", emitter.bracketed(_UNFINISHED)),
            "COMPLETION_GATE: a task is done when its subtasks are, one at least, and nothing about it is open",
        ),
        when=_MOVES,
        columns=("status",),
    ),
    refuse(
        "tasks_status_seq_never_falls",
        UPDATE,
        tasks,
        "STATUS_CHANGE_MISSING: a later move has no earlier step",
        when=_NEW.status_seq < _OLD.status_seq,
        columns=("status_seq",),
    ),
    refuse(
        "tasks_change_columns_follow_the_status",
        UPDATE,
        tasks,
        "STATUS_CHANGE_MISSING: who changed a status, and when, is written with the change alone",
        when=sa.and_(
            _NEW.status.is_not_distinct_from(_OLD.status),
            _NEW.status_seq >= _OLD.status_seq,
            changes(tasks, *_CHANGE_COLUMNS),
        ),
        columns=_CHANGE_COLUMNS,
    ),
    refuse(
        "tasks_blocked_reason_is_the_newest",
        UPDATE,
        tasks,
        "BLOCKER_MISSING: the reason of a blocked task is that of its newest open blocker",
        when=sa.and_(
            changes(tasks, "blocked_reason"),
            _NEW.status.is_not_distinct_from(_OLD.status),
            emitter.differs(_NEW.blocked_reason, task_rules.newest_reason(_NEW.session_id, _NEW.id)),
        ),
        columns=("blocked_reason",),
    ),
    refuse(
        "tasks_former_status_is_fixed",
        UPDATE,
        tasks,
        "NEVER_CHANGED: a blocked task keeps the status that it comes from",
        when=sa.and_(
            changes(tasks, "former_status"),
            sa.or_(
                _NEW.status.is_not_distinct_from(_OLD.status),
                emitter.bracketed(
                    sa.and_(_NEW.status == "blocked", emitter.differs(_NEW.former_status, _OLD.status))
                ),
            ),
        ),
        columns=("former_status",),
    ),
    refuse(
        "tasks_versions_rise",
        UPDATE,
        tasks,
        "VERSION_CONFLICT: every change of a task is its next version",
        when=sa.and_(
            sa.or_(emitter.differs(_NEW.version, _OLD.version), changes(tasks, *_VERSIONED)),
            emitter.differs(_NEW.version, _OLD.version + 1),
        ),
        columns=(*_VERSIONED, "version"),
    ),
    refuse(
        "tasks_claims_are_taken_over_on_record",
        UPDATE,
        tasks,
        "CLAIM_LOST: a claim goes to another holder with its status_changes row (task_claim) alone",
        when=sa.and_(
            _OLD.claim_holder.is_not(None),
            _NEW.claim_holder.is_not(None),
            _NEW.claim_holder != _OLD.claim_holder,
            emitter.negated(last_recorded("task_claim", tasks, "claim_holder")),
        ),
        columns=("claim_holder",),
    ),
    fixed(tasks, "a task keeps its key, place and origin", *_ORIGINS),
)

_EDGE = new(task_dependencies)


def _has_begun() -> Expression:
    """The condition that the dependent task is closed, or that it or a part of it has begun."""
    t = tasks.alias("t")
    begun = sa.or_(t.c.status.in_(("done", "cancelled")), task_rules.begun_below(_EDGE.session_id, _EDGE.task_id))
    return emitter.exists(t, t.c.session_id == _EDGE.session_id, t.c.id == _EDGE.task_id, begun)


def _is_open() -> Expression:
    """The condition that the task that is depended on is not done."""
    o = tasks.alias("o")
    return emitter.exists(
        o, o.c.session_id == _EDGE.session_id, o.c.id == _EDGE.depends_on_id, o.c.status != "done"
    )


def _opposite() -> Expression:
    """The condition that the dependency is there the other way round."""
    d = task_dependencies.alias("d")
    return emitter.exists(
        d,
        d.c.session_id == _EDGE.session_id,
        d.c.task_id == _EDGE.depends_on_id,
        d.c.depends_on_id == _EDGE.task_id,
        d.c.removed_seq.is_(None),
    )


_DEPENDENCIES = (
    refuse(
        "task_dependencies_are_for_what_waits",
        INSERT,
        task_dependencies,
        "DEPENDENCY_INVALID: only what has not begun can wait for something that is not done",
        when=sa.and_(_EDGE.removed_seq.is_(None), _has_begun(), _is_open()),
    ),
    refuse(
        "task_dependencies_close_no_pair",
        INSERT,
        task_dependencies,
        "DEPENDENCY_CYCLE: two tasks do not wait for each other",
        when=sa.and_(_EDGE.removed_seq.is_(None), _opposite()),
    ),
    fixed(
        task_dependencies,
        "a dependency keeps who depends on whom",
        *("session_id", "task_id", "depends_on_id", "seq", "added_by"),
    ),
    *closed_once(task_dependencies, "a dependency is removed once", "removed_seq", "removed_by", "removed_reason"),
)

GUARDS: tuple[Guard, ...] = (*_TASKS, *_DEPENDENCIES)
"""The guards of tasks and their dependencies."""
