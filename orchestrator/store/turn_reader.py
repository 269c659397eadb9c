"""What the runs of turns are told by: named statements, each bounded by an index."""

from __future__ import annotations

import sqlite3

from orchestrator.core.named_tuple import NamedTuple


class TurnRun(NamedTuple):
    """One execution of an agent's turn, as the database has it."""

    session_id: str
    id: str
    group_id: str | None
    turn: int
    role: str
    prompt: str
    executor: str
    model: str | None
    folder: str
    root: str
    lock_key: str
    queued_by: str
    queued_at: str
    created_seq: int
    state: str
    state_changed_by: str
    state_changed_at: str
    state_seq: int
    owner: str | None
    started_at: str | None
    ended_at: str | None
    reason: str | None
    error_code: str | None
    blocked_reason: str | None
    timeout_ms: int | None
    limit_name: str | None
    output: str | None
    usage: str | None


_COLUMNS = ", ".join(TurnRun._fields)
_BY_ID = f"SELECT {_COLUMNS} FROM turn_runs WHERE id = :id"
_OPEN = f"""SELECT {_COLUMNS} FROM turn_runs INDEXED BY ix_turn_runs_open
    WHERE ended_at IS NULL AND state IN ('queued', 'running') ORDER BY id"""
_OF_TURN = f"""SELECT {_COLUMNS} FROM turn_runs INDEXED BY ix_turn_runs_turn
    WHERE session_id = :session AND group_id IS :group AND turn = :turn ORDER BY created_seq, id"""
_COST = """SELECT sum(CAST(json_extract(usage, '$.cost_microusd') AS INTEGER)) FROM turn_runs
    INDEXED BY ix_turn_runs_turn WHERE session_id = :session"""
_BROKEN_OFF = """SELECT r.executor, (SELECT json_extract(l.value, '$.text') FROM json_each(e.content, '$.log') l
        WHERE json_extract(l.value, '$.kind') = 'conversation' LIMIT 1),
    (SELECT sum(CAST(json_extract(t.usage, '$.cost_microusd') AS INTEGER)) FROM turn_runs t
        INDEXED BY ix_turn_runs_turn
        WHERE t.session_id = r.session_id AND t.group_id IS r.group_id AND t.turn = r.turn)
    FROM turn_runs r INDEXED BY ix_turn_runs_turn CROSS JOIN evidence e INDEXED BY sqlite_autoindex_evidence_1
    WHERE r.session_id = :session AND r.group_id IS :group AND r.turn = :turn AND r.state = 'limited'
    AND e.session_id = r.session_id AND e.seq = r.state_seq AND e.kind = 'turn' AND e.subject = r.id
    ORDER BY r.created_seq DESC LIMIT 1"""
COSTS = """SELECT group_id, ifnull(sum(CAST(json_extract(usage, '$.cost_microusd') AS INTEGER)), 0) FROM turn_runs
    INDEXED BY ix_turn_runs_turn WHERE session_id = :session GROUP BY group_id"""
"""What the turns of each group of a session have cost; null is the session as a whole."""
_NEWEST = "SELECT id, session_id FROM turn_runs ORDER BY id DESC LIMIT 1"


def by_id(connection: sqlite3.Connection, id: str) -> TurnRun | None:
    """The run of an id, of any session, or None."""
    row = connection.execute(_BY_ID, {"id": id}).fetchone()
    return None if row is None else TurnRun(*row)


def open_runs(connection: sqlite3.Connection) -> list[TurnRun]:
    """Those of all sessions that are queued or running, in the order of their ids."""
    return [TurnRun(*row) for row in connection.execute(_OPEN)]


def running(connection: sqlite3.Connection) -> list[TurnRun]:
    """Those of all sessions that are running, in the order of their ids."""
    return [each for each in open_runs(connection) if each.state == "running"]


def held(connection: sqlite3.Connection) -> list[tuple[str, str, str, str]]:
    """What those that run hold, as locks of runs: session, run, path, mode. Each holds its folder and its key."""
    return [
        (each.session_id, each.id, path, "write") for each in running(connection)
        for path in (each.folder, each.lock_key)
    ]  # fmt: skip


def of_turn(connection: sqlite3.Connection, session: str, group: str | None, turn: int) -> list[TurnRun]:
    """Those of one turn of a group, the oldest first."""
    asked = {"session": session, "group": group, "turn": turn}
    return [TurnRun(*row) for row in connection.execute(_OF_TURN, asked)]


def cost(connection: sqlite3.Connection, session: str) -> int:
    """What the turns of a session have cost, in millionths of a dollar, as far as their executors say."""
    found = connection.execute(_COST, {"session": session}).fetchone()
    return int(found[0] or 0)


def broken_off(
    connection: sqlite3.Connection, session: str, group: str | None, turn: int
) -> tuple[str, str, int] | None:
    """What a usage limit broke off in a turn, last: executor, conversation, and what that has cost, in millionths of a
    dollar; None where nothing was, or the executor cannot go on with it.
    """
    row = connection.execute(_BROKEN_OFF, {"session": session, "group": group, "turn": turn}).fetchone()
    return None if row is None or row[1] is None else (str(row[0]), str(row[1]), int(row[2] or 0))


def newest(connection: sqlite3.Connection) -> tuple[str, str] | None:
    """The largest id of any, with its session, or None; ids are numbers of one length behind one word."""
    row = connection.execute(_NEWEST).fetchone()
    return None if row is None else (row[0], row[1])
