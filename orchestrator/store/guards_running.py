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
    "(EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path = NEW.path AND l.released_seq IS NULL"
    " AND 'write' IN (l.mode, NEW.mode))"
    " OR EXISTS (SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_open WHERE t.ended_at IS NULL"
    " AND t.state = 'running' AND NEW.path IN (t.folder, t.lock_key)))"
)

LEGAL_TURN_MOVES = (
    ("queued", "running"),
    ("queued", "failed"),
    ("running", "answered"),
    ("running", "no_answer"),
    ("running", "failed"),
    ("running", "limited"),
)
"""From which state the run of a turn may go to which."""

_ON_TURN = "BEFORE UPDATE OF state ON turn_runs"
_LEGAL_TURN = "(" + " OR ".join(f"(OLD.state = '{a}' AND NEW.state = '{b}')" for a, b in LEGAL_TURN_MOVES) + ")"
_TURN_RECORDED = _RECORDED.replace("c.entity = 'run'", "c.entity = 'turn'")
_TURN_MOVED = f"{_MOVES} AND {_LEGAL_TURN} AND {_TURN_RECORDED}"
_TURN_JUDGED = (
    "EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq"
    " AND e.kind = 'turn' AND e.subject = NEW.id)"
)
_TURN_PROVEN = (
    "EXISTS (SELECT 1 FROM evidence e WHERE e.session_id = NEW.session_id AND e.seq = NEW.state_seq"
    " AND e.kind = 'operation' AND e.subject = NEW.id || '-execute')"
)
_TURN_TAKEN = (
    "(EXISTS (SELECT 1 FROM turn_runs t INDEXED BY ix_turn_runs_open WHERE t.ended_at IS NULL"
    " AND t.state = 'running' AND t.id <> NEW.id AND (t.lock_key = NEW.lock_key OR t.folder = NEW.folder))"
    " OR EXISTS (SELECT 1 FROM run_locks l INDEXED BY ix_run_locks_held WHERE l.path IN (NEW.folder, NEW.lock_key)"
    " AND l.released_seq IS NULL))"
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
    refuse(
        "turn_runs_begin_queued",
        "BEFORE INSERT ON turn_runs",
        "ILLEGAL_MOVE: the run of a turn begins as queued",
        when="NEW.state IS NOT 'queued'",
    ),
    refuse(
        "turn_runs_moves_are_legal",
        _ON_TURN,
        "ILLEGAL_MOVE: the run of a turn does not go from its state to this one",
        when=f"{_MOVES} AND NOT {_LEGAL_TURN} AND OLD.ended_at IS NULL",
    ),
    refuse(
        "turn_runs_moves_are_recorded",
        _ON_TURN,
        "STATUS_CHANGE_MISSING: a move needs the status_changes row of its step",
        when=f"{_MOVES} AND {_LEGAL_TURN} AND NOT {_TURN_RECORDED}",
    ),
    refuse(
        "turn_runs_exclude_each_other",
        _ON_TURN,
        "LOCK_HELD: one turn at a time works on a group, and in a folder",
        when=f"{_TURN_MOVED} AND NEW.state = 'running' AND {_TURN_TAKEN}",
    ),
    refuse(
        "turn_runs_end_with_their_log",
        _ON_TURN,
        "LOG_MISSING: the run of a turn ends with what was seen and how it was judged, written in the same step",
        when=f"{_TURN_MOVED} AND NEW.ended_at IS NOT NULL AND NOT {_TURN_JUDGED}",
    ),
    refuse(
        "turn_runs_answered_needs_proof",
        _ON_TURN,
        "EVIDENCE_MISSING: a turn is answered by what an executor said, with the evidence that it was called",
        when=f"{_TURN_MOVED} AND NEW.state = 'answered' AND {_TURN_JUDGED} AND NOT {_TURN_PROVEN}",
    ),
    refuse(
        "turn_runs_never_change_when_ended",
        "BEFORE UPDATE ON turn_runs",
        "NEVER_CHANGED: the run of a turn that has ended stays as it is",
        when="OLD.ended_at IS NOT NULL",
    ),
    refuse(
        "turn_runs_change_columns_follow_the_state",
        f"BEFORE UPDATE OF {', '.join(_CHANGE_COLUMNS)} ON turn_runs",
        "STATUS_CHANGE_MISSING: who changed a state, when, and who runs it is written with the change alone",
        when=f"NEW.state IS OLD.state AND OLD.ended_at IS NULL AND {differs(*_CHANGE_COLUMNS)}",
    ),
    fixed(
        "turn_runs",
        "the run of a turn keeps what it was queued with",
        *("session_id", "id", "group_id", "turn", "role", "prompt", "executor", "model", "folder", "root", "lock_key"),
        *("queued_by", "queued_at", "created_seq"),
    ),
)
"""The triggers on runs, their locks, and the runs of turns, as (name, statement)."""


_RUNS = (
    "EXISTS (SELECT 1 FROM starts s INDEXED BY ix_starts_open WHERE s.session_id = NEW.session_id"
    " AND s.group_id = NEW.group_id AND s.turn = NEW.turn AND s.ended_seq IS NULL AND s.seq <> NEW.seq)"
)

STARTS: tuple[Statement, ...] = (
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
