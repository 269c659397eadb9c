"""Triggers on the rows that may change: sessions, agents, blockers, questions and dependencies, each only as far as
the rules let it.
"""

from __future__ import annotations

from orchestrator.store.guards_groups import last_recorded
from orchestrator.store.guards_tables import Statement, differs, refuse

_MISSING = "STATUS_CHANGE_MISSING: a move needs the status_changes row of its step"
_SESSION_MOVES = (("active", "paused"), ("paused", "active"), ("active", "ended"), ("paused", "ended"))
_LEGAL = " OR ".join(f"(OLD.status = '{old}' AND NEW.status = '{new}')" for old, new in _SESSION_MOVES)
_MOVES = "NEW.status IS NOT OLD.status"
_CHANGE_COLUMNS = ("status_changed_by", "status_changed_at", "status_seq")
_RECORDED = (
    "NEW.status_seq >= OLD.status_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity"
    " WHERE c.session_id = NEW.id AND c.entity = 'session' AND c.entity_id = NEW.id AND c.seq = NEW.status_seq"
    " AND c.from_status = OLD.status AND c.to_status = NEW.status AND c.changed_by = NEW.status_changed_by)"
)


def fixed(table: str, what: str, *columns: str) -> Statement:
    """Columns that keep the value with which the row was written."""
    return refuse(
        f"{table}_origins_are_fixed",
        f"BEFORE UPDATE OF {', '.join(columns)} ON {table}",
        f"NEVER_CHANGED: {what}",
        when=differs(*columns),
    )


def closed_once(
    table: str, what: str, closed: str, *closing: str, required: tuple[str, ...] = ()
) -> tuple[Statement, Statement]:
    """A row that is closed once, by writing its closing columns together, and never changes afterwards.

    Args:
        table: the table.
        what: the rule, for the message.
        closed: the column that holds the step in which the row was closed.
        closing: all columns that are written with it.
        required: those of them without which the row does not count as closed. (A CHECK may say the same, but a
            client can switch those off.)
    """
    early = " OR ".join(f"NEW.{column} IS NOT NULL" for column in closing)
    half = f"NEW.{closed} IS NULL AND ({early})"
    written = closing
    if required:
        absent = " OR ".join(f"NEW.{column} IS NULL" for column in required)
        half = f"({half} OR NEW.{closed} IS NOT NULL AND ({absent}))"
        written = (closed, *closing)
    return (
        refuse(
            f"{table}_are_closed_once",
            f"BEFORE UPDATE ON {table}",
            f"NEVER_CHANGED: {what}",
            when=f"OLD.{closed} IS NOT NULL",
        ),
        refuse(
            f"{table}_are_closed_whole",
            f"BEFORE UPDATE OF {', '.join(written)} ON {table}",
            f"NEVER_CHANGED: {what}, with the step that does it",
            when=f"OLD.{closed} IS NULL AND {half}",
        ),
    )


_SESSIONS = (
    refuse(
        "sessions_begin_active",
        "BEFORE INSERT ON sessions",
        "ILLEGAL_MOVE: a session begins as active",
        when="NEW.status IS NOT 'active'",
    ),
    refuse(
        "sessions_moves_are_recorded",
        "BEFORE UPDATE OF status ON sessions",
        _MISSING,
        when=f"{_MOVES} AND ({_LEGAL}) AND NOT ({_RECORDED})",
    ),
    refuse(
        "sessions_moves_are_legal",
        "BEFORE UPDATE OF status ON sessions",
        "ILLEGAL_MOVE: a session does not go from its status to this one",
        when=f"{_MOVES} AND NOT ({_LEGAL})",
    ),
    refuse(
        "sessions_change_columns_follow_the_status",
        f"BEFORE UPDATE OF {', '.join(_CHANGE_COLUMNS)}, outcome, outcome_reason ON sessions",
        "STATUS_CHANGE_MISSING: who changed a status, when, and the outcome are written with the change alone",
        when=f"NEW.status IS OLD.status AND {differs(*_CHANGE_COLUMNS, 'outcome', 'outcome_reason')}",
    ),
    refuse(
        "sessions_testing_mode_is_fixed",
        "BEFORE UPDATE OF testing_mode ON sessions",
        "STATUS_CHANGE_MISSING: another testing mode needs its status_changes row (session_testing_mode)",
        when=f"{differs('testing_mode')}"
        f" AND NOT {last_recorded('session_testing_mode', 'OLD.id', 'OLD.id', 'testing_mode')}",
    ),
    refuse(
        "sessions_accepted_needs_verdict",
        "BEFORE UPDATE OF outcome ON sessions",
        "VERDICT_MISSING: a session is accepted by the step of its ACCEPT alone",
        when=f"NEW.outcome = 'accepted' AND {_MOVES} AND ({_LEGAL}) AND ({_RECORDED})"
        " AND NOT EXISTS (SELECT 1 FROM agent_reports r INDEXED BY sqlite_autoindex_agent_reports_1"
        " WHERE r.session_id = NEW.id AND r.seq = NEW.status_seq AND r.part = 1"
        " AND r.role = 'validator' AND r.response_status = 'ACCEPT')",
    ),
    fixed("sessions", "a session keeps its id, kind and goal", "id", "kind", "goal", "created_by", "created_at"),
)

_AGENTS = fixed(
    "agents",
    "an agent keeps its id, role, parent and kind",
    *("id", "role", "parent_id", "kind", "session_id", "group_id", "created_at", "created_seq"),
)

_BLOCKERS = (
    fixed(
        "blockers",
        "a blocker keeps what it was opened with",
        *("id", "session_id", "group_id", "task_id", "type", "class", "reason"),
        *("opened_by", "opened_role", "opened_at", "opened_seq", "report_id", "cause"),
    ),
    *closed_once(
        "blockers",
        "a blocker is resolved once",
        *("resolved_seq", "resolved_at", "resolved_by", "resolution", "resolution_note"),
        required=("resolved_at", "resolved_by", "resolution"),
    ),
)

_QUESTIONS = (
    fixed(
        "questions",
        "a question keeps what was asked",
        *("id", "session_id", "group_id", "task_id", "kind", "text", "asked_by", "asked_at", "opened_seq"),
    ),
    *closed_once(
        "questions",
        "a question is closed once",
        *("closed_seq", "decision", "closed_at", "closed_by", "answer", "note", "channel"),
        required=("closed_at", "closed_by"),
    ),
)

_DEPENDENCIES = (
    fixed(
        "group_dependencies",
        "a dependency keeps who depends on whom",
        *("session_id", "group_id", "depends_on", "seq", "added_by"),
    ),
    *closed_once("group_dependencies", "a dependency is removed once", "removed_seq", "removed_by", "removed_reason"),
)

_APPROVED = (
    "OLD.approval = 'pending' AND NEW.approval = 'approved' AND EXISTS (SELECT 1 FROM status_changes c"
    " INDEXED BY ix_status_changes_entity WHERE c.session_id = NEW.session_id AND c.entity = 'criterion_command'"
    " AND c.entity_id = NEW.id AND c.seq = NEW.approved_seq AND c.to_status = 'approved'"
    " AND c.changed_by = NEW.approved_by)"
)

_CRITERIA = (
    fixed(
        "criteria",
        "a criterion keeps what it measures",
        *("session_id", "id", "metric", "operator", "target", "command", "created_by", "created_at", "created_seq"),
        *("group_id", "due_at"),
    ),
    refuse(
        "criteria_are_approved_by_record",
        "BEFORE UPDATE OF approval, approved_by, approved_seq ON criteria",
        "STATUS_CHANGE_MISSING: an approved command needs the status_changes row of its step (criterion_command)",
        when=f"{differs('approval', 'approved_by', 'approved_seq')} AND NOT ({_APPROVED})",
    ),
    refuse(
        "criteria_moves_are_recorded",
        "BEFORE UPDATE OF status ON criteria",
        "STATUS_CHANGE_MISSING: another status of a criterion needs its status_changes row (criterion)",
        when=f"{differs('status')} AND NOT {last_recorded('criterion', 'OLD.session_id', 'OLD.id', 'status')}",
    ),
    refuse(
        "criteria_text_is_recorded",
        "BEFORE UPDATE OF text ON criteria",
        "STATUS_CHANGE_MISSING: another wording of a criterion needs its status_changes row (criterion_text)",
        when=f"{differs('text')} AND NOT {last_recorded('criterion_text', 'OLD.session_id', 'OLD.id', 'text')}",
    ),
    *closed_once("criteria", "a criterion is removed once", "removed_seq", "removed_by", "removed_reason"),
)

TRIGGERS: tuple[Statement, ...] = (*_SESSIONS, _AGENTS, *_BLOCKERS, *_QUESTIONS, *_DEPENDENCIES, *_CRITERIA)
"""The triggers on rows that may change, as (name, statement)."""
