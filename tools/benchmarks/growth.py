"""What a million decisions change: rows 9 and 10.

The history is written in bulk with the guards away and put back, because making it by routes would take half an hour.
It stands in the session that is then measured: finished groups with all their reports, decisions and hand-offs.
"""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from orchestrator import bootstrap, testing
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.store import guards
from tools.benchmarks import floor, harness, mix
from tools.benchmarks.table import Bound, Figure

SESSION = "S1"
FEW = 100
MANY = int(os.environ.get("ORCHESTRATOR_BENCHMARK_DECISIONS", "1000000"))
"""How many decisions the large database has; fewer for a quick look."""
FEW_STEPS, MANY_STEPS, GROUPS = 400, 10_000, 2_600
PAGE_AT = MANY * 9 // 10
BYTES_A_DECISION = 4_000
STEPS_A_ROUND = 100
LIST_LIMIT = 50
LIST_ROUNDS = 50
BY_HAND = """SELECT * FROM router_decisions WHERE session_id = :session AND seq > :since AND seq <= :until
    ORDER BY seq {order}, part {order} LIMIT :limit"""
FIRST, NEXT = "G000000", f"G{mix.RUNNING:06d}"
"""The group that is multiplied, and the one that its merge starts."""
_CHUNK = 2000
_GROUP = """INSERT INTO task_groups (session_id, id, name, kind, created_by, created_at, created_seq, status,
    status_changed_by, status_changed_at, status_seq) VALUES (?, ?, 'one change', 'code', 'project_manager', ?, ?,
    'completed', 'system:router', ?, ?)"""
_NUMBERS = frozenset(("seq", "turn", "created_seq"))


def route(rounds: int) -> Iterator[Figure]:
    """Row 9: the cost of a route at a million decisions and at a hundred."""
    calls = _calls(rounds)
    large, small = _large(rounds), history(pathlib.Path(_folder().name) / "small.db", FEW, calls)
    harness.keep_memory()
    for number, synchronous in enumerate(("FULL", "NORMAL")):
        share = calls[number * len(calls) // 2 :]
        cases = {
            path.name: harness.loop(_routing(mix.open_file(path, synchronous), share), STEPS_A_ROUND)
            for path in (large, small)
        }
        seconds = harness.interleaved(cases, rounds)
        ratio = seconds[large.name] / seconds[small.name]
        yield Figure(f"one `route` at {MANY:,} decisions, {synchronous}", f"at {FEW}", ratio, Bound(1.2, 1.0))


def standing(rounds: int) -> Iterator[Figure]:
    """Row 9: `status` of a session with as many groups after few and after many steps, most of them completed then."""
    folder = pathlib.Path(_folder().name)
    contexts = {
        steps: mix.open_file(
            history(folder / f"steps{steps}.db", steps, mix.calls(SESSION, GROUPS - steps // len(mix.STEPS), "N")),
            write=False,
        )
        for steps in (FEW_STEPS, MANY_STEPS)
    }
    harness.keep_memory()
    cases: dict[str, harness.Case] = {
        str(steps): functools.partial(operations.call, context, "status", session_id=SESSION)
        for steps, context in contexts.items()
    }
    seconds = harness.interleaved(cases, rounds)
    ratio, note = seconds[str(MANY_STEPS)] / seconds[str(FEW_STEPS)], f"{GROUPS:,} groups"
    yield Figure(f"`status` after {MANY_STEPS:,} steps", f"after {FEW_STEPS}", ratio, Bound(1.3, 1.0), note)


def _calls(rounds: int) -> list[mix.Call]:
    """The calls of one measurement after the other, in whole groups."""
    return mix.calls(SESSION, 2 * mix.groups_for(STEPS_A_ROUND * (rounds + 1)), prefix="N")


def _routing(context: Context, calls: list[mix.Call]) -> Callable[[int], object]:
    return lambda number: mix.route(context, calls[number])


def lists(rounds: int) -> Iterator[Figure]:
    """Row 10: the newest decisions, and a page in the middle of the record."""
    context = mix.open_file(_large(rounds), write=False)
    for what, since, order in (("last 50 decisions", 0, "desc"), (f"page at row {PAGE_AT:,}", PAGE_AT, "asc")):
        hand = {"session": SESSION, "since": since, "until": 2**62, "limit": LIST_LIMIT}
        cases: dict[str, harness.Case] = {
            "ours": functools.partial(
                operations.call, context, "audit decisions", session_id=SESSION, since=since or None, order=order,
                limit=LIST_LIMIT,
            ),
            "hand": functools.partial(_by_hand, context, BY_HAND.format(order=order), hand),
        }  # fmt: skip
        seconds = harness.interleaved(cases, max(rounds, LIST_ROUNDS))
        yield Figure(f"{what} of {MANY:,}", "same SQL by hand", seconds["ours"] / seconds["hand"], Bound(3, 2))


def _by_hand(context: Context, sql: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows by column name, which is the least that somebody can use."""
    cursor = context.connection.execute(sql, parameters)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where the databases lie until the process ends."""
    folder = tempfile.TemporaryDirectory()
    free, needed = shutil.disk_usage(folder.name).free, 2 * MANY * BYTES_A_DECISION
    if free < needed:
        raise harness.CommandFailed(f"{needed:,} bytes are needed in {folder.name}, {free:,} are free")
    return folder


@functools.cache
def _large(rounds: int) -> pathlib.Path:
    return history(pathlib.Path(_folder().name) / "large.db", MANY, _calls(rounds))


def history(path: pathlib.Path, decisions: int, calls: Sequence[mix.Call]) -> pathlib.Path:
    """A database whose session has so many decisions behind it and the groups of the calls before it.

    Args:
        decisions: a multiple of four; each four are a finished group.
        calls: what will be routed; their groups are created and planned through the usual commands.
    """
    bare = testing.memory_context(bootstrap.now)
    operations.call(bare, "session create", id=SESSION, goal="measured")
    context = mix.open_file(mix.write(path, bare.connection.serialize()), "NORMAL")
    _multiply(context, decisions // len(mix.STEPS))
    mix.populate(context, SESSION, len(calls) // len(mix.STEPS), prefix="N", create=False)
    context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    context.connection.close()
    return path


def _multiply(context: Context, copies: int) -> None:
    """Write the rows of one group's steps again and again, under other groups and later numbers."""
    connection = context.connection
    first = _last_seq(context)
    planned = mix.content([SESSION], 1)
    shift = first - _last_seq(mix.in_memory(planned))
    steps = floor.record(planned, mix.calls(SESSION, 1))
    inserts = [write for step in steps for write in step.writes if write[0].startswith("INSERT INTO ")]
    connection.execute("PRAGMA foreign_keys=OFF")
    guards.drop_all(connection)
    for start in range(0, copies, _CHUNK):
        numbers = range(start, min(copies, start + _CHUNK))
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_GROUP, [_group(first, number) for number in numbers])
        for sql, values in inserts:
            names = floor.columns(sql)
            connection.executemany(sql, [_copy(names, values, shift, number) for number in numbers])
        connection.execute("COMMIT")
    # A batch starts the group four places on; the first four were started by the plan, which is not multiplied.
    for sql, values in inserts:
        if sql.startswith("INSERT INTO agents ") and NEXT in str(values):
            names = floor.columns(sql)
            numbers = range(-mix.RUNNING, 0)
            connection.executemany(sql, [_copy(names, values, shift, number) for number in numbers])
    guards.create_all(connection)
    connection.execute("PRAGMA foreign_keys=ON")


def _last_seq(context: Context) -> int:
    return context.reader.count("SELECT max(seq) FROM audit_events WHERE session_id = :session", session=SESSION)


def _group(first: int, number: int) -> tuple[object, ...]:
    at, seq = "2026-01-01T00:00:00.000000Z", first + len(mix.STEPS) * number + 1
    return SESSION, f"H{number:06d}", at, seq, at, seq + 3


def _copy(names: Sequence[str], values: Sequence[Any], shift: int, number: int) -> list[Any]:
    """A row of the first group as a row of another one: ids and numbers moved on, other texts as long as they were."""
    step = shift + len(mix.STEPS) * number
    row = dict(zip(names, values, strict=True))
    for name, value in row.items():
        if name in _NUMBERS and value is not None:
            row[name] = value + step
        elif name == "report_id" and value is not None:
            row[name] = f"{SESSION}:R{row['seq']}"
        elif isinstance(value, str):
            row[name] = value.replace(FIRST, f"H{number:06d}").replace(NEXT, f"H{number + mix.RUNNING:06d}")
    return list(row.values())
