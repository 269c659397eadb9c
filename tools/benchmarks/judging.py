"""What a verdict costs: row 12, on a session whose every step is real, so that all of it has to be verified."""

from __future__ import annotations

import functools
import os
import pathlib
import sqlite3
import tempfile
from collections.abc import Iterator
from typing import Any

from orchestrator.app.kernel import operations
from orchestrator.store import sqlite
from tools.benchmarks import harness, mix
from tools.benchmarks.table import Bound, Figure

SESSION = "S1"
GROUPS = int(os.environ.get("ORCHESTRATOR_BENCHMARK_GROUPS", "10000"))
"""How many groups the judged session has; fewer for a quick look."""

Read = tuple[str, Any]


class Listening(sqlite.Connection):
    """A connection that remembers every query made through it."""

    heard: list[Read]

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        """As usual, and remembered."""
        if sql.lstrip().startswith("SELECT"):
            self.heard.append((sql, parameters))
        return super().execute(sql, parameters)


def validate(rounds: int) -> Iterator[Figure]:
    """Row 12: a dry `validate` beside the bare SQL, which is every query that it makes, with all rows fetched."""
    with tempfile.TemporaryDirectory() as folder:
        path = finished(pathlib.Path(folder) / "finished.db")
        context = mix.open_file(path, write=False)
        verdict = functools.partial(operations.call, context, "validate", session_id=SESSION, dry_run=True)
        reads = _reads(path)
        cases: dict[str, harness.Case] = {"ours": verdict, "bare": functools.partial(_run, context.connection, reads)}
        judged = verdict()["verdict"]
        if judged != "ACCEPT":
            raise harness.CommandFailed(f"the measured session should be accepted, not {judged}")
        seconds = harness.interleaved(cases, rounds)
        ratio, note = seconds["ours"] / seconds["bare"], f"{seconds['ours']:.1f} s"
        yield Figure(f"`validate` of {GROUPS:,} groups", "bare SQL", ratio, Bound(2, 1.2), note)


def finished(path: pathlib.Path) -> pathlib.Path:
    """A database whose session has brought all its groups to the project manager's confirmation."""
    context = mix.in_memory(mix.content([SESSION], GROUPS - mix.RUNNING))
    for call in mix.calls(SESSION, GROUPS):
        mix.route(context, call)
    report = {"session_id": SESSION, "current_agent": "project_manager", "status": "BAZINGA", "summary": "done"}
    operations.call(context, "route", **report)
    return mix.write(path, context.connection.serialize())


def _reads(path: pathlib.Path) -> list[Read]:
    context = mix.open_file(path, write=False)
    listening: Listening = sqlite3.connect(path, isolation_level=None, factory=Listening)
    listening.heard = []
    context.connection = context.reader.connection = listening
    operations.call(context, "validate", session_id=SESSION, dry_run=True)
    return listening.heard


def _run(connection: Any, reads: list[Read]) -> None:
    for sql, parameters in reads:
        connection.execute(sql, parameters).fetchall()
