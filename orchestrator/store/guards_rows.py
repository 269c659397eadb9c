"""Triggers on the rows that may change: sessions, agents, blockers, questions and dependencies, each only as far as
the rules let it.
"""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import emitter
from orchestrator.store.emitter import Expression, Guard
from orchestrator.store.guards_groups import last_recorded, recorded
from orchestrator.store.guards_tables import INSERT, UPDATE, changes, moves, new, old, refuse, refuse_first
from orchestrator.store.tables_record import agent_reports, status_changes
from orchestrator.store.tables_work import agents, blockers, criteria, group_dependencies, questions, sessions

_MISSING = "STATUS_CHANGE_MISSING: a move needs the status_changes row of its step"
_SESSION_MOVES = (("active", "paused"), ("paused", "active"), ("active", "ended"), ("paused", "ended"))
_CHANGE_COLUMNS = ("status_changed_by", "status_changed_at", "status_seq")
_OUTCOME = ("outcome", "outcome_reason")


def fixed(table: sa.Table, what: str, *columns: str) -> Guard:
    """Columns that keep the value with which the row was written."""
    return refuse(
        f"{table.name}_origins_are_fixed",
        UPDATE,
        table,
        f"NEVER_CHANGED: {what}",
        when=changes(table, *columns),
        columns=columns,
    )


def closed_once(
    table: sa.Table, what: str, closed: str, *closing: str, required: tuple[str, ...] = ()
) -> tuple[Guard, Guard]:
    """A row that is closed once, by writing its closing columns together, and never changes afterwards.

    Args:
        table: the table.
        what: the rule, for the message.
        closed: the column that holds the step in which the row was closed.
        closing: all columns that are written with it.
        required: those of them without which the row does not count as closed. (A CHECK may say the same, but a
            client can switch those off.)
    """
    row, before = new(table), old(table)
    early = sa.or_(*(row[column].is_not(None) for column in closing))
    half: Expression = sa.and_(row[closed].is_(None), emitter.bracketed(early))
    written = closing
    if required:
        absent = sa.or_(*(row[column].is_(None) for column in required))
        half = emitter.bracketed(sa.or_(half, sa.and_(row[closed].is_not(None), emitter.bracketed(absent))))
        written = (closed, *closing)
    return (
        refuse(
            f"{table.name}_are_closed_once",
            UPDATE,
            table,
            f"NEVER_CHANGED: {what}",
            when=before[closed].is_not(None),
        ),
        refuse(
            f"{table.name}_are_closed_whole",
            UPDATE,
            table,
            f"NEVER_CHANGED: {what}, with the step that does it",
            when=sa.and_(before[closed].is_(None), half),
            columns=written,
        ),
    )


_NEW, _OLD = new(sessions), old(sessions)
_LEGAL = moves(sessions, "status", _SESSION_MOVES)
_RECORDED = sa.and_(_NEW.status_seq >= _OLD.status_seq, recorded("session", sessions, session="id"))


def _accepted() -> Expression:
    """The condition that the validator accepted the session in the step that ends it."""
    r = agent_reports.alias("r")
    return emitter.exists(
        r,
        r.c.session_id == _NEW.id,
        r.c.seq == _NEW.status_seq,
        r.c.part == 1,
        r.c.role == "validator",
        r.c.response_status == "ACCEPT",
        index="sqlite_autoindex_agent_reports_1",
    )


_SESSIONS = (
    refuse(
        "sessions_begin_active",
        INSERT,
        sessions,
        "ILLEGAL_MOVE: a session begins as active",
        when=emitter.differs(_NEW.status, "active"),
    ),
    refuse_first(
        "sessions_move_by_the_rules",
        UPDATE,
        sessions,
        (emitter.negated(emitter.bracketed(_LEGAL)), "ILLEGAL_MOVE: a session does not go from its status to this one"),
        (emitter.negated(emitter.bracketed(_RECORDED)), _MISSING),
        (
            sa.and_(_NEW.outcome == "accepted", emitter.negated(_accepted())),
            "VERDICT_MISSING: a session is accepted by the step of its ACCEPT alone",
        ),
        when=emitter.differs(_NEW.status, _OLD.status),
        columns=("status", "outcome"),
    ),
    refuse(
        "sessions_change_columns_follow_the_status",
        UPDATE,
        sessions,
        "STATUS_CHANGE_MISSING: who changed a status, when, and the outcome are written with the change alone",
        when=sa.and_(
            _NEW.status.is_not_distinct_from(_OLD.status), changes(sessions, *_CHANGE_COLUMNS, *_OUTCOME)
        ),
        columns=(*_CHANGE_COLUMNS, *_OUTCOME),
    ),
    refuse(
        "sessions_testing_mode_is_fixed",
        UPDATE,
        sessions,
        "STATUS_CHANGE_MISSING: another testing mode needs its status_changes row (session_testing_mode)",
        when=sa.and_(
            changes(sessions, "testing_mode"),
            emitter.negated(last_recorded("session_testing_mode", sessions, "testing_mode", session="id")),
        ),
        columns=("testing_mode",),
    ),
    fixed(sessions, "a session keeps its id, kind and goal", "id", "kind", "goal", "created_by", "created_at"),
)

_AGENTS = fixed(
    agents,
    "an agent keeps its id, role, parent and kind",
    *("id", "role", "parent_id", "kind", "session_id", "group_id", "created_at", "created_seq"),
)

_BLOCKERS = (
    fixed(
        blockers,
        "a blocker keeps what it was opened with",
        *("id", "session_id", "group_id", "task_id", "type", "class", "reason"),
        *("opened_by", "opened_role", "opened_at", "opened_seq", "report_id", "cause"),
    ),
    *closed_once(
        blockers,
        "a blocker is resolved once",
        *("resolved_seq", "resolved_at", "resolved_by", "resolution", "resolution_note"),
        required=("resolved_at", "resolved_by", "resolution"),
    ),
)

_QUESTIONS = (
    fixed(
        questions,
        "a question keeps what was asked",
        *("id", "session_id", "group_id", "task_id", "kind", "text", "asked_by", "asked_at", "opened_seq"),
    ),
    *closed_once(
        questions,
        "a question is closed once",
        *("closed_seq", "decision", "closed_at", "closed_by", "answer", "note", "channel"),
        required=("closed_at", "closed_by"),
    ),
)

_DEPENDENCIES = (
    fixed(
        group_dependencies,
        "a dependency keeps who depends on whom",
        *("session_id", "group_id", "depends_on", "seq", "added_by"),
    ),
    *closed_once(group_dependencies, "a dependency is removed once", "removed_seq", "removed_by", "removed_reason"),
)


def _approved() -> Expression:
    """The condition that a command of a criterion is approved, and this step's row of `status_changes` tells of it."""
    c, row = status_changes.alias("c"), new(criteria)
    return sa.and_(
        old(criteria).approval == "pending",
        row.approval == "approved",
        emitter.exists(
            c,
            c.c.session_id == row.session_id,
            c.c.entity == "criterion_command",
            c.c.entity_id == row.id,
            c.c.seq == row.approved_seq,
            c.c.to_status == "approved",
            c.c.changed_by == row.approved_by,
            index="ix_status_changes_entity",
        ),
    )


def _recorded_change(name: str, message: str, entity: str, column: str) -> Guard:
    """A column of a criterion that changes with a row of `status_changes` alone."""
    is_told = last_recorded(entity, criteria, column)
    when = sa.and_(changes(criteria, column), emitter.negated(is_told))
    return refuse(name, UPDATE, criteria, message, when=when, columns=(column,))


_CRITERIA = (
    fixed(
        criteria,
        "a criterion keeps what it measures",
        *("session_id", "id", "metric", "operator", "target", "command", "created_by", "created_at", "created_seq"),
        *("group_id", "due_at"),
    ),
    refuse(
        "criteria_are_approved_by_record",
        UPDATE,
        criteria,
        "STATUS_CHANGE_MISSING: an approved command needs the status_changes row of its step (criterion_command)",
        when=sa.and_(
            changes(criteria, "approval", "approved_by", "approved_seq"),
            emitter.negated(emitter.bracketed(_approved())),
        ),
        columns=("approval", "approved_by", "approved_seq"),
    ),
    _recorded_change(
        "criteria_moves_are_recorded",
        "STATUS_CHANGE_MISSING: another status of a criterion needs its status_changes row (criterion)",
        "criterion",
        "status",
    ),
    _recorded_change(
        "criteria_text_is_recorded",
        "STATUS_CHANGE_MISSING: another wording of a criterion needs its status_changes row (criterion_text)",
        "criterion_text",
        "text",
    ),
    *closed_once(criteria, "a criterion is removed once", "removed_seq", "removed_by", "removed_reason"),
)

GUARDS: tuple[Guard, ...] = (*_SESSIONS, _AGENTS, *_BLOCKERS, *_QUESTIONS, *_DEPENDENCIES, *_CRITERIA)
"""The guards of rows that may change."""
