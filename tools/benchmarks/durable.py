"""Durable routes in process beside the raw loop, on the same file system: rows 5 and 13."""

from __future__ import annotations

import functools
import pathlib
import sqlite3
import tempfile
from collections.abc import Iterator

from orchestrator.app.kernel.context import Context
from tools.benchmarks import floor, harness, mix
from tools.benchmarks.table import Bound, Figure

SESSION = "S1"
STEPS_A_ROUND = 100
SIZED_STEPS = 1000
BOUNDS = {"FULL": Bound(0.5, 0.65, at_least=True), "NORMAL": Bound(0.4, 0.5, at_least=True)}


def rates(rounds: int) -> Iterator[Figure]:
    """Row 5: how many routes are decided and written in the time that the raw loop needs to write their rows."""
    calls = mix.calls(SESSION, mix.groups_for(STEPS_A_ROUND * (rounds + 1)))
    database = mix.content([SESSION], len(calls) // len(mix.STEPS))
    steps = {"": floor.record(database, calls), "lean ": floor.record(database, calls, lean=True)}
    harness.keep_memory()
    for synchronous, bound in BOUNDS.items():
        with tempfile.TemporaryDirectory() as folder:
            yield from _rate(pathlib.Path(folder), database, calls, steps, rounds, synchronous, bound)


def _rate(
    folder: pathlib.Path,
    database: bytes,
    calls: list[mix.Call],
    recorded: dict[str, list[floor.Step]],
    rounds: int,
    synchronous: str,
    bound: Bound,
) -> Iterator[Figure]:
    context = mix.open_file(mix.write(folder / "ours.db", database), synchronous)
    cases = {"ours": harness.loop(lambda number: mix.route(context, calls[number]), STEPS_A_ROUND)}
    for name, steps in recorded.items():
        cases[name] = _floor_case(folder / f"{name.strip() or 'same'}.db", database, steps, synchronous)
    seconds = harness.interleaved(cases, rounds)
    rate = f"{STEPS_A_ROUND / seconds['ours']:.0f} routes a second"
    yield Figure(f"durable `route` in process, {synchronous}", "floor", seconds[""] / seconds["ours"], bound, rate)
    lean = "no text that repeats other columns; not judged"
    yield Figure(f"the same, {synchronous}", "lean floor", seconds["lean "] / seconds["ours"], None, lean)


def _floor_case(
    path: pathlib.Path, database: bytes, steps: list[floor.Step], synchronous: str
) -> harness.Case:
    connection = floor.open_file(path, database, synchronous)
    return harness.loop(lambda number: floor.run(connection, steps[number]), STEPS_A_ROUND)


def sizes(_: int) -> Iterator[Figure]:
    """Row 13: how much a file grows by a route. Nothing is timed, so once is enough."""
    calls = mix.calls(SESSION, mix.groups_for(SIZED_STEPS))
    database = mix.content([SESSION], len(calls) // len(mix.STEPS))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        context = mix.open_file(mix.write(folder / "ours.db", database))
        ours = _growth(context.connection, functools.partial(_route_all, context, calls))
        for anchor, lean, bound in (("lean floor", True, Bound(3, 2)), ("floor", False, None)):
            steps = floor.record(database, calls, lean=lean)
            connection = floor.open_file(folder / f"{anchor}.db", database, "NORMAL")
            theirs = _growth(connection, functools.partial(_run_all, connection, steps))
            note = f"{ours / len(calls):.0f} against {theirs / len(calls):.0f} bytes"
            yield Figure("bytes grown per route", anchor, ours / theirs, bound, note)


def _route_all(context: Context, calls: list[mix.Call]) -> None:
    for call in calls:
        mix.route(context, call)


def _run_all(connection: sqlite3.Connection, steps: list[floor.Step]) -> None:
    for step in steps:
        floor.run(connection, step)


def _growth(connection: sqlite3.Connection, work: harness.Case) -> int:
    before = _size(connection)
    work()
    return _size(connection) - before


def _size(connection: sqlite3.Connection) -> int:
    pages = connection.execute("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count")
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    return int(pages.fetchone()[0]) * int(size)
