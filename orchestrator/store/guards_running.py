"""Triggers on runs: which moves there are, that nothing ends without its log or with a lock, and what `complete` rests
on.

Source: seed 001, Properties 1, 6, 8, 26 and 31; seed 000, INV-6.
"""

from __future__ import annotations

from orchestrator.store.guards_rows import closed_once, fixed
from orchestrator.store.guards_tables import Statement, differs, refuse

LEGAL_MOVES = (
    ("queued", "running"),
    ("queued", "cancelled"),
    ("running", "complete"),
    ("running", "incomplete"),
    ("running", "error"),
    ("running", "awaiting_response"),
    ("running", "cancelled"),
    ("awaiting_response", "queued"),
    ("awaiting_response", "incomplete"),
    ("awaiting_response", "cancelled"),
)
"""From which state a run may go to which."""

_ON_STATE = "BEFORE UPDATE OF state ON runs"
_MOVES = "NEW.state IS NOT OLD.state"
_LEGAL = "(" + " OR ".join(f"(OLD.state = '{old}' AND NEW.state = '{new}')" for old, new in LEGAL_MOVES) + ")"
_RECORDED = (
    "(NEW.state_seq >= OLD.state_seq AND EXISTS (SELECT 1 FROM status_changes c INDEXED BY ix_status_changes_entity"
    " WHERE c.session_id = NEW.session_id AND c.entity = 'run' AND c.entity_id = NEW.id AND c.seq = NEW.state_seq"
    " AND c.from_status = OLD.state AND c.to_status = NEW.state AND c.changed_by = NEW.state_changed_by))"
)
_LOGGED = (
    "EXISTS (SELECT 1 FROM run_events e INDEXED BY ix_run_events_run"
    " WHERE e.session_id = NEW.session_id AND e.run_id = NEW.id AND e.seq = NEW.state_seq)"
)
_PROVEN = (
    "EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq"
    " AND e.kind = 'run' AND e.subject = NEW.id)"
    " AND (EXISTS (SELECT 1 FROM run_files f INDEXED BY ix_run_files_run"
    " WHERE f.session_id = NEW.session_id AND f.run_id = NEW.id AND f.seq = NEW.state_seq"
    " AND (f.present = 1 OR f.change = 'deleted'))"
    " OR (NEW.task_type IN ('READ_INFO', 'REPORT') AND NEW.output IS NOT NULL AND NEW.output <> ''))"
)
_MOVED = f"{_MOVES} AND {_LEGAL} AND {_RECORDED}"
_CHANGE_COLUMNS = ("state_changed_by", "state_changed_at", "state_seq", "owner")
_ASKED = (
    "EXISTS (SELECT 1 FROM questions q WHERE q.id = NEW.question_id AND q.session_id = NEW.session_id"
    " AND q.task_id = NEW.task_id AND q.closed_seq IS NULL)"
)
_HOLDS = (
    "EXISTS (SELECT 1 FROM run_locks l WHERE l.session_id = OLD.session_id AND l.run_id = OLD.id"
    " AND l.released_seq IS NULL)"
)
_TAKEN = (
    "EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path = NEW.path AND l.released_seq IS NULL"
    " AND 'write' IN (l.mode, NEW.mode))"
)

TRIGGERS: tuple[Statement, ...] = (
    refuse(
        "runs_begin_queued",
        "BEFORE INSERT ON runs",
        "ILLEGAL_MOVE: a run begins as queued",
        when="NEW.state IS NOT 'queued'",
    ),
    refuse(
        "runs_moves_are_legal",
        _ON_STATE,
        "ILLEGAL_MOVE: a run does not go from its state to this one",
        when=f"{_MOVES} AND NOT {_LEGAL} AND OLD.ended_at IS NULL",
    ),
    refuse(
        "runs_moves_are_recorded",
        _ON_STATE,
        "STATUS_CHANGE_MISSING: a move needs the status_changes row of its step",
        when=f"{_MOVES} AND {_LEGAL} AND NOT {_RECORDED}",
    ),
    refuse(
        "runs_end_with_their_log",
        _ON_STATE,
        "LOG_MISSING: a run ends with its log, written in the same step",
        when=f"{_MOVED} AND NEW.ended_at IS NOT NULL AND NOT {_LOGGED}",
    ),
    refuse(
        "runs_complete_needs_proof",
        _ON_STATE,
        "EVIDENCE_MISSING: a run is complete by what the runner verified, with its evidence",
        when=f"{_MOVED} AND NEW.state = 'complete' AND {_LOGGED} AND NOT ({_PROVEN})",
    ),
    refuse(
        "runs_await_an_open_question",
        _ON_STATE,
        "QUESTION_MISSING: a run awaits the answer to an open question about its task",
        when=f"{_MOVED} AND NEW.state = 'awaiting_response' AND NOT {_ASKED}",
    ),
    refuse(
        "runs_stop_without_locks",
        _ON_STATE,
        "LOCK_HELD: a run that stops running has released what it held",
        when=f"{_MOVED} AND OLD.state = 'running' AND {_HOLDS}",
    ),
    refuse(
        "run_locks_exclude_writers",
        "BEFORE INSERT ON run_locks",
        "LOCK_HELD: a file has many readers or one writer",
        when=f"NEW.released_seq IS NULL AND {_TAKEN}",
    ),
    refuse(
        "runs_never_change_when_ended",
        "BEFORE UPDATE ON runs",
        "NEVER_CHANGED: a run that has ended stays as it is",
        when="OLD.ended_at IS NOT NULL",
    ),
    refuse(
        "runs_change_columns_follow_the_state",
        f"BEFORE UPDATE OF {', '.join(_CHANGE_COLUMNS)} ON runs",
        "STATUS_CHANGE_MISSING: who changed a state, when, and who runs it is written with the change alone",
        when=f"NEW.state IS OLD.state AND OLD.ended_at IS NULL AND {differs(*_CHANGE_COLUMNS)}",
    ),
    fixed(
        "runs",
        "a run keeps what it was queued with",
        *("session_id", "id", "log_id", "task_id", "prompt", "task_type", "executor", "provider", "model", "retry_of"),
        *("verification_root", "queued_by", "queued_at", "created_seq"),
    ),
    fixed("run_locks", "a lock keeps what it holds", "session_id", "run_id", "path", "mode", "seq", "acquired_at"),
    *closed_once("run_locks", "a lock is released once", "released_seq", "released_at"),
)
"""The triggers on runs and their locks, as (name, statement)."""
