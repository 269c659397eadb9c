"""`orchestrator batch` over a file of calls beside the same calls in process: row 7."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import time
from collections.abc import Iterator

from tools.benchmarks import harness, mix, workplace
from tools.benchmarks.table import Bound, Figure

CALLS = 10_000
SESSION = "S1"
TOGETHER = 20
"""Lines that share a commit."""


def batch(rounds: int) -> Iterator[Figure]:
    """Row 7: the whole process, its start included. A round is long, so the least number of them is enough."""
    calls = mix.calls(SESSION, mix.groups_for(CALLS))
    database = mix.content([SESSION], len(calls) // len(mix.STEPS))
    lines = "".join(json.dumps({"op": "route", "args": call}) + "\n" for call in calls)
    harness.keep_memory()
    best = {"process": float("inf"), "batch": float("inf"), "together": float("inf")}
    for _ in range(min(rounds, harness.MINIMUM_ROUNDS)):
        with tempfile.TemporaryDirectory() as folder:
            best["process"] = min(best["process"], _in_process(pathlib.Path(folder), database, calls))
            best["batch"] = min(best["batch"], _in_batch(pathlib.Path(folder), database, lines))
            words = ("--commit-every", str(TOGETHER))
            best["together"] = min(best["together"], _in_batch(pathlib.Path(folder), database, lines, *words))
    for name, what, bound in (
        ("batch", f"`batch` over {CALLS} calls", Bound(0.8, 0.9, at_least=True)),
        ("together", f"the same with `--commit-every {TOGETHER}`", Bound(1.5, 2.0, at_least=True)),
    ):
        rate = f"{CALLS / best[name]:.0f} calls a second"
        yield Figure(what, "in process", best["process"] / best[name], bound, rate)


def _in_process(folder: pathlib.Path, database: bytes, calls: list[mix.Call]) -> float:
    context = mix.open_file(mix.write(folder / "process.db", database))
    start = time.perf_counter()
    for call in calls:
        mix.route(context, call)
    seconds = time.perf_counter() - start
    context.connection.close()
    return seconds


def _in_batch(folder: pathlib.Path, database: bytes, lines: str, *options: str) -> float:
    path = mix.write(folder / f"batch{len(options)}.db", database)
    (folder / "calls.jsonl").write_text(lines, "utf-8")
    environment = os.environ | {"ORCHESTRATOR_DB": str(path)}
    argv = (workplace.ORCHESTRATOR, "batch", folder / "calls.jsonl", *options)
    start = time.perf_counter()
    answers = harness.call(argv, folder, environment).splitlines()
    seconds = time.perf_counter() - start
    failed = [line for line in answers if json.loads(line).get("exit_code") != 0]
    if failed or len(answers) != CALLS:
        raise harness.CommandFailed(f"{len(answers)} answers of {CALLS}, {len(failed)} failed: {failed[:1]}")
    return seconds
