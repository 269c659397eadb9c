"""Eight processes that route in a hot loop on one file: row 8."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from orchestrator.errors import OrchestratorError
from tools.benchmarks import mix
from tools.benchmarks.harness import MINIMUM_ROUNDS
from tools.benchmarks.table import Bound, Figure

ROOT = pathlib.Path(__file__).parents[2]
PROCESSES = 8
SECONDS = 1.0
GROUPS = 500
"""For each process; more than one can bring to its end in a round."""
START_S = 1.5
"""How long after their start all begin at the same moment."""
LEAST = "of all rounds the worst was"


class Member(NamedTuple):
    """What one process did: accepted routes, the longest call in seconds, and what failed, by code."""

    routes: int
    worst_s: float
    failures: dict[str, int]


class Crowd(NamedTuple):
    """One round of all processes, and how many steps the file holds in the end."""

    members: tuple[Member, ...]
    stored: int

    @property
    def routes(self) -> int:
        """What all of them were told is written."""
        return sum(member.routes for member in self.members)

    @property
    def worst_ms(self) -> float:
        """The longest call of any process."""
        return 1000 * max(member.worst_s for member in self.members)

    @property
    def fairness(self) -> float:
        """The slowest process as a part of the fastest."""
        counts = [member.routes for member in self.members]
        return min(counts) / max(counts)

    @property
    def lock_errors(self) -> int:
        """Calls that were turned away."""
        return sum(sum(member.failures.values()) for member in self.members)


def hot_loop(rounds: int) -> Iterator[Figure]:
    """Row 8: total, worst wait, fairness, errors and losses of eight processes beside one alone."""
    sessions = [f"S{number}" for number in range(PROCESSES)]
    database = mix.content(sessions, GROUPS)
    alone: list[Crowd] = []
    together: list[Crowd] = []
    for _ in range(max(rounds, MINIMUM_ROUNDS)):
        alone.append(play(database, sessions[:1]))
        together.append(play(database, sessions))
    own = max(round_.routes for round_ in alone) / SECONDS
    total = max(round_.routes for round_ in together) / SECONDS
    waits = [round_.worst_ms for round_ in together]
    shares = [round_.fairness for round_ in together]
    errors = sum(round_.lock_errors for round_ in together)
    lost = sum(abs(round_.routes - round_.stored) for round_ in (*alone, *together))
    what = f"{PROCESSES} processes in a hot loop"
    least = f"{LEAST} {min(shares):.2f}"
    yield Figure(f"{what}: total", "one process", total / own, Bound(0.5, 0.6, at_least=True), f"{total:.0f} a second")
    yield Figure(f"{what}: worst wait", "200 ms", min(waits) / 200, Bound(1, 0.5), f"{LEAST} {max(waits):.0f} ms")
    yield Figure(f"{what}: slowest", "fastest", max(shares), Bound(0.4, 0.6, at_least=True), least)
    yield Figure(f"{what}: lock errors", "", float(errors), Bound(0, 0), "a count over all rounds")
    yield Figure(f"{what}: lost steps", "", float(lost), Bound(0, 0), "a count over all rounds")


def play(database: bytes, sessions: Sequence[str]) -> Crowd:
    """One round on a fresh file: a process for each session, all at once."""
    with tempfile.TemporaryDirectory() as folder:
        path = mix.write(pathlib.Path(folder) / "orchestrator.db", database)
        before = _steps(path)
        start = time.time() + START_S
        argv = [sys.executable, "-m", "tools.benchmarks.crowd", str(path), str(start)]
        running = [subprocess.Popen([*argv, name], stdout=subprocess.PIPE, text=True, cwd=ROOT) for name in sessions]
        members = tuple(Member(*json.loads(process.communicate()[0])) for process in running)
        return Crowd(members, _steps(path) - before)


def _steps(path: pathlib.Path) -> int:
    context = mix.open_file(path, write=False)
    count = context.reader.count("SELECT count(*) FROM audit_events WHERE kind = 'route'")
    context.connection.close()
    return count


def member(path: pathlib.Path, start: float, session: str) -> Member:
    """Route as fast as it goes for a fixed time."""
    calls = iter(mix.calls(session, GROUPS))
    context = mix.open_file(path)
    time.sleep(max(0.0, start - time.time()))
    routes, worst, failures = 0, 0.0, dict[str, int]()
    until = time.perf_counter() + SECONDS
    while (begun := time.perf_counter()) < until:
        try:
            mix.route(context, next(calls))
            routes += 1
        except OrchestratorError as error:
            failures[error.code] = failures.get(error.code, 0) + 1
        worst = max(worst, time.perf_counter() - begun)
    return Member(routes, worst, failures)


if __name__ == "__main__":
    print(json.dumps(member(pathlib.Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3])))
