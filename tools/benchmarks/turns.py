"""What a driver takes between an agent's end and the next agent's start: row 15.

A team works in git worktrees of a thousand files that are there already; its agents answer from a script at once, and
there are no gates, no hooks of the repository and no set-up. So all the time between two calls of the executor is the
driver's: commits and merges, looks at the tree, evidence, the decision, the next hand-off.
"""

from __future__ import annotations

import pathlib
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from orchestrator import bootstrap
from orchestrator.app import setup
from orchestrator.app.driving import crew, drive, trees
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel import operations
from orchestrator.runner import port, repository, snapshot
from orchestrator.runner.executors import scripted
from tools.benchmarks import harness
from tools.benchmarks.table import Bound, Figure

FILES, FOLDERS = 1000, 20
MOST_MS, GOAL_MS = 150, 50
AT = "2026-01-01T00:00:00.000000Z"
Call = tuple[str, str | None, float, float, float, float]


class Timed:
    """An executor that notes when it is called and when it has answered, with the processor's time until then."""

    name, production = "scripted", False

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self._inner = scripted.Scripted(steps)
        self.calls: list[Call] = []

    def is_available(self) -> port.Availability:
        """It always is."""
        return port.Availability(True)

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Answer from the script."""
        called, used = time.perf_counter(), processor()
        result = self._inner.execute(task, watch=watch, cancelled=cancelled)
        self.calls.append((str(task.role), task.group, called, used, time.perf_counter(), processor()))
        return result


def processor() -> float:
    """Seconds that this process and the programs that it has run have computed."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def between(rounds: int) -> Iterator[Figure]:
    """Row 15: each group is built, tested, reviewed and merged in its turn."""
    gaps: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        for before, after in played(pathlib.Path(name), max(3, rounds // 4)):
            gaps.setdefault(f"until {after[0]} begins", []).append((after[2] - before[4], after[3] - before[5]))
    for title, seconds in gaps.items():
        took = min(wall for wall, _ in seconds) * 1000
        middle = statistics.median(wall for wall, _ in seconds) * 1000
        used = min(cpu for _, cpu in seconds) * 1000
        said = f"{took:.0f} ms, median {middle:.0f}, of which the processor computes {used:.0f}"
        yield Figure(title, f"{MOST_MS} ms", took / MOST_MS, Bound(1, GOAL_MS / MOST_MS), said)


def played(folder: pathlib.Path, groups: int) -> Iterator[tuple[Call, Call]]:
    """Each two successive calls."""
    root = folder / "project"
    _repository(root)
    ids = [f"G{number}" for number in range(groups)]
    path = root / ".orchestrator" / "orchestrator.db"
    path.parent.mkdir()
    setup.create_database(path, AT)
    context = bootstrap.open_context(str(path), write=True, door="bench", channel="process")
    setup.initialise(context)
    operations.call(context, "session create", id="S1", goal="x")
    for each in ids:
        operations.call(context, "group create", id=each, session_id="S1", name=each)
    operations.call(context, "route", session_id="S1", current_agent="project_manager", status="PLANNING_COMPLETE")
    # What was just written would be read again at every look.
    for each in (None, *ids):
        trees.prepare(str(root), {"session_id": "S1", "group_id": each, "role": "x", "turn": 0}, None, print)
    time.sleep(snapshot.RECENT_NS / 1e9 + 0.1)
    executor = Timed([step for each in ids for step in _steps(each)] + [_says("project_manager", "BAZINGA", None)])
    asked = Drive(
        session_id="S1", no_wait=False, land=False, clean=False, once=False, check=False, parallel=1,
        isolation="worktree",
    )  # fmt: skip
    team = crew.Crew(crew.Member("scripted", executor), {})
    ended = drive.Driver(context, asked, team, str(root), drive.Watcher()).run()
    context.connection.close()
    if ended["outcome"] != "accepted":
        raise harness.CommandFailed(f"drive ended as {ended['outcome']}: {ended['reason']}")
    yield from zip(executor.calls, executor.calls[1:], strict=False)


def _repository(root: pathlib.Path) -> None:
    for number in range(FILES):
        file = root / f"f{number % FOLDERS}" / f"{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"x = {number}\n" * 40)
    (root / ".gitignore").write_text(".orchestrator/\n")
    repository.must(str(root), "init", "--quiet")
    repository.commit(str(root), "Begin", "bench <bench@example.org>")


def _steps(group: str) -> list[dict[str, Any]]:
    return [
        _says("developer", "READY_FOR_QA", group, writes={f"f0/{group}.py": "built\n"}),
        _says("qa_expert", "PASS", group), _says("tech_lead", "APPROVED", group),
        _says("developer", "MERGE_SUCCESS", group),
    ]  # fmt: skip


def _says(role: str, status: str, group: str | None, **more: Any) -> dict[str, Any]:
    return {"role": role, "group": group, "report": {"status": status, "summary": "x"}, **more}
