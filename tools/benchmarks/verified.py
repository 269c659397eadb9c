"""What it costs to verify the record, and to tell it again: row 11.

The history that is verified is one that was written in bulk, so its events are sealed once more over the rows that are
there. What is told again has to be the work of the use cases, so its history is shorter.
"""

from __future__ import annotations

import functools
import hashlib
import pathlib
import sqlite3
import tempfile
from collections.abc import Iterator

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.runner import workers
from orchestrator.store import table_metadata
from tests import forging
from tools.benchmarks import growth, harness, mix
from tools.benchmarks.table import Bound, Figure

STEPS = min(growth.MANY, 100_000)
"""How many routed steps are verified. A million take some twenty minutes, and two GB of the disk."""
STEPS_TOLD = min(STEPS, 4_000)
"""How many routed steps are told again, a part of them: an event costs the same whatever is behind it."""
VERIFIED = Bound(1.5, 1.0)
TOLD = Bound(12, 5)
SESSIONS = 8
SIDE_BY_SIDE = Bound(1.8, 1.8, at_least=True)


_NO_GROUP = "NOT IN (SELECT id FROM task_groups UNION ALL SELECT '')"
_STARTED = """SELECT h.turn FROM handoffs h WHERE h.session_id = agent_reports.session_id
    AND h.group_id = agent_reports.group_id AND h.turn < agent_reports.seq ORDER BY h.turn DESC LIMIT 1"""
FITTING = (
    "UPDATE router_decisions SET handoff = NULL, handoff_agent = NULL, handoff_group = NULL, handoff_group_hash = NULL"
    f" WHERE handoff_group {_NO_GROUP}",
    f"DELETE FROM agents WHERE group_id {_NO_GROUP}",
    "DELETE FROM status_changes WHERE entity = 'group' AND entity_id NOT IN (SELECT id FROM task_groups)",
    # Written in bulk, groups were made in the steps of reports, which plan nothing.
    "UPDATE task_groups SET created_seq = 1 WHERE id LIKE 'H%'",
    f"UPDATE agent_reports SET turn = ({_STARTED}) WHERE turn IS NOT NULL AND group_id LIKE 'H%'",
    "INSERT INTO status_changes SELECT session_id, seq, 0, entity, entity_id, 'pending', 'in_progress', changed_by,"
    " changed_at, reason, cause FROM status_changes c WHERE entity = 'group' AND to_status = 'completed'"
    " AND NOT EXISTS (SELECT 1 FROM status_changes o WHERE o.session_id = c.session_id AND o.entity = 'group'"
    " AND o.entity_id = c.entity_id AND o.to_status = 'in_progress')",
)
"""What a history written in bulk lacks at its beginning and has too much of at its end: it starts the group four places
on, so the first groups were never started, and the last ones that are started do not exist.
"""


def record(rounds: int) -> Iterator[Figure]:
    """Row 11, which has three parts."""
    yield from verify(rounds)
    yield from replay(rounds)
    yield from side_by_side(rounds)


def verify(rounds: int) -> Iterator[Figure]:
    """Row 11: the whole database, and one session of it, beside a loop that reads every row and hashes it."""
    with tempfile.TemporaryDirectory() as folder:
        context = mix.open_file(history(pathlib.Path(folder) / "verified.db", STEPS), write=False)
        harness.keep_memory()
        seconds = harness.interleaved(
            {
                "everything": functools.partial(_verified, context, None),
                "session": functools.partial(_verified, context, growth.SESSION),
                "bare": functools.partial(hashed, context.connection),
            },
            rounds,
        )
        context.connection.close()
    for name, what in (("everything", "`audit verify`, the file's pages too,"), ("session", "`audit verify SESSION`")):
        taken = f"{seconds[name]:.1f} s"
        ratio = seconds[name] / seconds["bare"]
        yield Figure(f"{what} of {STEPS:,} steps", "hash loop over all rows", ratio, VERIFIED, taken)


def replay(rounds: int) -> Iterator[Figure]:
    """Row 11: one session told again and compared, beside the loop that reads every row and hashes it."""
    with tempfile.TemporaryDirectory() as folder:
        made = mix.in_memory(mix.content([growth.SESSION], mix.groups_for(STEPS_TOLD)))
        for call in mix.calls(growth.SESSION, mix.groups_for(STEPS_TOLD)):
            mix.route(made, call)
        path = mix.write(pathlib.Path(folder) / "told.db", made.connection.serialize())
        made.connection.close()
        context = mix.open_file(path, write=False)
        harness.keep_memory()
        seconds = harness.interleaved(
            {"told": functools.partial(_told, context), "bare": functools.partial(hashed, context.connection)}, rounds
        )
        context.connection.close()
    ratio = seconds["told"] / seconds["bare"]
    part = f"measured on this part of {STEPS:,}: {seconds['told'] / STEPS_TOLD * 1000:.2f} ms a step"
    yield Figure(f"`audit replay` of {STEPS_TOLD:,} steps", "hash loop over all rows", ratio, TOLD, part)


def side_by_side(rounds: int) -> Iterator[Figure]:
    """Row 11: several sessions on all cores, beside the same one after another."""
    steps = STEPS_TOLD // 2
    with tempfile.TemporaryDirectory() as folder:
        sessions = [f"S{number}" for number in range(SESSIONS)]
        made = mix.in_memory(mix.content(sessions, mix.groups_for(steps)))
        for call in (call for session in sessions for call in mix.calls(session, mix.groups_for(steps))):
            mix.route(made, call)
        path = mix.write(pathlib.Path(folder) / "sessions.db", made.connection.serialize())
        made.connection.close()
        context = mix.open_file(path, write=False)
        harness.keep_memory()
        cases = {"all": functools.partial(_told_all, context), "each": functools.partial(_told_each, context, sessions)}
        seconds = harness.interleaved(cases, rounds)
        context.connection.close()
    what = f"`audit replay --all` of {SESSIONS} sessions of {steps:,} steps on {workers.cores()} cores"
    yield Figure(what, "one after another, how many times as long", seconds["each"] / seconds["all"], SIDE_BY_SIDE)


def _told_all(context: Context) -> None:
    answer = operations.call(context, "audit replay", every=True)
    if not answer["equal"] or len(answer["sessions"]) != SESSIONS:
        raise harness.CommandFailed(f"the sessions are told otherwise: {answer['count']} differences")


def _told_each(context: Context, sessions: list[str]) -> None:
    for session in sessions:
        operations.call(context, "audit replay", session_id=session)


def _told(context: Context) -> None:
    answer = operations.call(context, "audit replay", session_id=growth.SESSION)
    if not answer["equal"]:
        raise harness.CommandFailed(f"the history is told otherwise: {answer['count']} differences")


def _verified(context: Context, session: str | None) -> None:
    answer = operations.call(context, "audit verify", session_id=session)
    if not answer["ok"]:
        raise harness.CommandFailed(f"the history does not verify: {answer['counts']}")


def hashed(connection: sqlite3.Connection) -> int:
    """Read every row of every table and hash it by itself; how many there are."""
    count = 0
    for table in (*table_metadata.COLUMNS, "audit_events"):
        for row in connection.execute(f"SELECT * FROM {table}"):
            hashlib.sha256(repr(row).encode()).digest()
            count += 1
    return count


def history(path: pathlib.Path, steps: int) -> pathlib.Path:
    """A database with so many steps behind it that verifies.

    Args:
        steps: a multiple of four; each four are a finished group.
    """
    growth.history(path, steps, mix.calls(growth.SESSION, 1, prefix="N"))
    with forging.unguarded(path) as raw:
        for statement in FITTING:
            raw.execute(statement)
        forging.recompute(raw, growth.SESSION)
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path
