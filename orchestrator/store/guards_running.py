"""Triggers on runs: which moves there are, that nothing ends without its log or with a lock, and what `complete` rests
on.

Source: seed 001, Properties 1, 6, 8, 26 and 31; seed 000, INV-6.
"""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import emitter
from orchestrator.store.emitter import Expression, Guard, Row
from orchestrator.store.guards_groups import recorded
from orchestrator.store.guards_rows import closed_once, fixed
from orchestrator.store.guards_tables import INSERT, UPDATE, changes, moves, new, old, refuse, refuse_first
from orchestrator.store.tables_running import run_events, run_files, run_locks, runs, turn_runs
from orchestrator.store.tables_work import evidence, questions, starts

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

LEGAL_TURN_MOVES = (
    ("queued", "running"),
    ("queued", "failed"),
    ("running", "answered"),
    ("running", "no_answer"),
    ("running", "failed"),
    ("running", "limited"),
)
"""From which state the run of a turn may go to which."""

_RUN, _WAS = new(runs), old(runs)
_LOCK = new(run_locks)
_TURN = new(turn_runs)
_STATE = ("state",)
_CHANGE_COLUMNS = ("state_changed_by", "state_changed_at", "state_seq", "owner")
_RECORDED_LATE = "STATUS_CHANGE_MISSING: a move needs the status_changes row of its step"
_FOLLOWS = "STATUS_CHANGE_MISSING: who changed a state, when, and who runs it is written with the change alone"


def _unrecorded(entity: str, table: sa.Table) -> tuple[Expression, str]:
    """The case of a move that the row of its step does not tell of."""
    rises = new(table).state_seq >= old(table).state_seq
    told = sa.and_(rises, recorded(entity, table, status="state"))
    return emitter.negated(emitter.bracketed(told)), _RECORDED_LATE


def _illegal(table: sa.Table, pairs: tuple[tuple[str, str], ...], what: str) -> tuple[Expression, str]:
    """The case of a move that there is not."""
    legal = emitter.bracketed(moves(table, "state", pairs))
    return emitter.negated(legal), f"ILLEGAL_MOVE: {what} does not go from its state to this one"


def _going_on(table: sa.Table) -> Expression:
    """The condition that what has not ended goes to another state."""
    return sa.and_(emitter.differs(new(table).state, old(table).state), old(table).ended_at.is_(None))


def _logged() -> Expression:
    """The condition that the step that moves a run wrote of its log."""
    e = run_events.alias("e")
    return emitter.exists(
        e,
        e.c.session_id == _RUN.session_id,
        e.c.run_id == _RUN.id,
        e.c.seq == _RUN.state_seq,
        index="ix_run_events_run",
    )


def _has_evidence(row: Row, kind: str, subject: Expression) -> Expression:
    """The condition that the step that moves a run left evidence of a kind about a subject."""
    e = evidence.alias("e")
    return emitter.exists(
        e, e.c.session_id == row.session_id, e.c.seq == row.state_seq, e.c.kind == kind, e.c.subject == subject
    )


def _proven() -> Expression:
    """The condition that what completes a run was seen: a file, or the answer of a run that only tells something."""
    f = run_files.alias("f")
    wrote = emitter.exists(
        f,
        f.c.session_id == _RUN.session_id,
        f.c.run_id == _RUN.id,
        f.c.seq == _RUN.state_seq,
        sa.or_(f.c.present == 1, f.c.change == "deleted"),
        index="ix_run_files_run",
    )
    told = sa.and_(_RUN.task_type.in_(("READ_INFO", "REPORT")), _RUN.output.is_not(None), _RUN.output != "")
    return sa.and_(
        _has_evidence(_RUN, "run", _RUN.id), emitter.bracketed(sa.or_(wrote, emitter.bracketed(told)))
    )


def _asked() -> Expression:
    """The condition that the question which a run awaits is open."""
    q = questions.alias("q")
    return emitter.exists(
        q,
        q.c.id == _RUN.question_id,
        q.c.session_id == _RUN.session_id,
        q.c.task_id == _RUN.task_id,
        q.c.closed_seq.is_(None),
    )


def _holds() -> Expression:
    """The condition that a run holds a lock."""
    lock = run_locks.alias("l")
    return emitter.exists(
        lock, lock.c.session_id == _WAS.session_id, lock.c.run_id == _WAS.id, lock.c.released_seq.is_(None)
    )


def _taken() -> Expression:
    """The condition that a path is locked by a run, or by the run of a turn, so that the new lock cannot be."""
    lock, t = run_locks.alias("l"), turn_runs.alias("t")
    by_run = emitter.exists(
        lock,
        lock.c.path == _LOCK.path,
        lock.c.released_seq.is_(None),
        sa.literal("write").in_([lock.c.mode, _LOCK.mode]),
        index="ix_run_locks_held",
    )
    by_turn = emitter.exists(
        t,
        t.c.ended_at.is_(None),
        t.c.state == "running",
        _LOCK.path.in_([t.c.folder, t.c.lock_key]),
        index="ix_turn_runs_open",
    )
    return emitter.bracketed(sa.or_(by_run, by_turn))


def _turn_taken() -> Expression:
    """The condition that another turn or a run works in the folder, or on the group, of the run of a turn."""
    t, lock = turn_runs.alias("t"), run_locks.alias("l")
    by_turn = emitter.exists(
        t,
        t.c.ended_at.is_(None),
        t.c.state == "running",
        t.c.id != _TURN.id,
        sa.or_(t.c.lock_key == _TURN.lock_key, t.c.folder == _TURN.folder),
        index="ix_turn_runs_open",
    )
    by_run = emitter.exists(
        lock,
        lock.c.path.in_([_TURN.folder, _TURN.lock_key]),
        lock.c.released_seq.is_(None),
        index="ix_run_locks_held",
    )
    return emitter.bracketed(sa.or_(by_turn, by_run))


def _ended(table: sa.Table, what: str) -> Guard:
    return refuse(
        f"{table.name}_never_change_when_ended",
        UPDATE,
        table,
        f"NEVER_CHANGED: {what} that has ended stays as it is",
        when=old(table).ended_at.is_not(None),
    )


def _change_columns(table: sa.Table) -> Guard:
    row, before = new(table), old(table)
    is_kept = sa.and_(row.state.is_not_distinct_from(before.state), before.ended_at.is_(None))
    return refuse(
        f"{table.name}_change_columns_follow_the_state",
        UPDATE,
        table,
        _FOLLOWS,
        when=sa.and_(is_kept, changes(table, *_CHANGE_COLUMNS)),
        columns=_CHANGE_COLUMNS,
    )


_RUNS = (
    refuse(
        "runs_begin_queued",
        INSERT,
        runs,
        "ILLEGAL_MOVE: a run begins as queued",
        when=emitter.differs(_RUN.state, "queued"),
    ),
    refuse_first(
        "runs_move_by_the_rules",
        UPDATE,
        runs,
        _illegal(runs, LEGAL_MOVES, "a run"),
        _unrecorded("run", runs),
        (
            sa.and_(_RUN.ended_at.is_not(None), emitter.negated(_logged())),
            "LOG_MISSING: a run ends with its log, written in the same step",
        ),
        (
            sa.and_(_RUN.state == "complete", emitter.negated(emitter.bracketed(_proven()))),
            "EVIDENCE_MISSING: a run is complete by what the runner verified, with its evidence",
        ),
        (
            sa.and_(_RUN.state == "awaiting_response", emitter.negated(_asked())),
            "QUESTION_MISSING: a run awaits the answer to an open question about its task",
        ),
        (
            sa.and_(_WAS.state == "running", _holds()),
            "LOCK_HELD: a run that stops running has released what it held",
        ),
        when=_going_on(runs),
        columns=_STATE,
    ),
    refuse(
        "run_locks_exclude_writers",
        INSERT,
        run_locks,
        "LOCK_HELD: a file has many readers or one writer",
        when=sa.and_(_LOCK.released_seq.is_(None), _taken()),
    ),
    _ended(runs, "a run"),
    _change_columns(runs),
    fixed(
        runs,
        "a run keeps what it was queued with",
        *("session_id", "id", "log_id", "task_id", "prompt", "task_type", "executor", "provider", "model", "retry_of"),
        *("verification_root", "queued_by", "queued_at", "created_seq"),
    ),
    fixed(run_locks, "a lock keeps what it holds", "session_id", "run_id", "path", "mode", "seq", "acquired_at"),
    *closed_once(run_locks, "a lock is released once", "released_seq", "released_at"),
)

_TURNS = (
    refuse(
        "turn_runs_begin_queued",
        INSERT,
        turn_runs,
        "ILLEGAL_MOVE: the run of a turn begins as queued",
        when=emitter.differs(_TURN.state, "queued"),
    ),
    refuse_first(
        "turn_runs_move_by_the_rules",
        UPDATE,
        turn_runs,
        _illegal(turn_runs, LEGAL_TURN_MOVES, "the run of a turn"),
        _unrecorded("turn", turn_runs),
        (
            sa.and_(_TURN.state == "running", _turn_taken()),
            "LOCK_HELD: one turn at a time works on a group, and in a folder",
        ),
        (
            sa.and_(_TURN.ended_at.is_not(None), emitter.negated(_has_evidence(_TURN, "turn", _TURN.id))),
            "LOG_MISSING: the run of a turn ends with what was seen and how it was judged, written in the same step",
        ),
        (
            sa.and_(
                _TURN.state == "answered",
                emitter.negated(_has_evidence(_TURN, "operation", _TURN.id.concat("-execute"))),
            ),
            "EVIDENCE_MISSING: a turn is answered by what an executor said, with the evidence that it was called",
        ),
        when=_going_on(turn_runs),
        columns=_STATE,
    ),
    _ended(turn_runs, "the run of a turn"),
    _change_columns(turn_runs),
    fixed(
        turn_runs,
        "the run of a turn keeps what it was queued with",
        *("session_id", "id", "group_id", "turn", "role", "prompt", "executor", "model", "folder", "root", "lock_key"),
        *("queued_by", "queued_at", "created_seq"),
    ),
)


def _started() -> Expression:
    """The condition that another start of the same turn has not ended."""
    s, row = starts.alias("s"), new(starts)
    return emitter.exists(
        s,
        s.c.session_id == row.session_id,
        s.c.group_id == row.group_id,
        s.c.turn == row.turn,
        s.c.ended_seq.is_(None),
        s.c.seq != row.seq,
        index="ix_starts_open",
    )


_BINDING = ("worker", "trace", "bound_at", "bound_seq")

_STARTS = (
    refuse(
        "starts_come_one_after_another",
        INSERT,
        starts,
        "ALREADY_EXISTS: the turn is started already",
        when=sa.and_(new(starts).ended_seq.is_(None), _started()),
    ),
    fixed(
        starts,
        "a start keeps its turn and who made it",
        *("session_id", "group_id", "turn", "seq", "role", "agent_id", "via", "client", "owner", "call_id"),
        *("isolation", "started_at"),
    ),
    refuse(
        "starts_are_bound_once",
        UPDATE,
        starts,
        "NEVER_CHANGED: a start is bound to one agent",
        when=sa.and_(old(starts).bound_seq.is_not(None), changes(starts, *_BINDING)),
        columns=_BINDING,
    ),
    *closed_once(
        starts,
        "a start ends once",
        *("ended_seq", "ended_at", "outcome", "reason", "due_at"),
        required=("ended_at", "outcome"),
    ),
)

GUARDS: tuple[Guard, ...] = (*_RUNS, *_TURNS, *_STARTS)
"""The guards of runs, their locks, the runs of turns, and starts."""
