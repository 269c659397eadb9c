"""What the drills share: a database with work in it, processes that work on it, and what must be true afterwards."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from orchestrator import bootstrap, resources
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.store import sqlite, step

SESSION = "S1"
AT = "2026-01-01T00:00:00.000000Z"
WITHOUT_END = 10_000
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@contextmanager
def opened(path: pathlib.Path, **environment: str) -> Iterator[Context]:
    """A writing context on a database file, as a door opens it."""
    context = bootstrap.open_context(str(path), write=True, door="python", environment=environment)
    try:
        yield context
    finally:
        context.connection.close()


def endless(folder: pathlib.Path, slots: int) -> pathlib.Path:
    """The shipped workflow with so many slots, in which the same report may be given again and again."""
    document = json.loads((resources.path("workflow") / "transitions.json").read_text("utf-8"))
    for status in ("PLANNING_COMPLETE", "CONTINUE"):
        document["project_manager"][status]["max_parallel"] = slots
    document["_special_rules"]["loop_guard"]["max_visits"] = WITHOUT_END
    file = folder / "endless.json"
    file.write_text(json.dumps(document), "utf-8")
    return file


def create(path: pathlib.Path, *, groups: int) -> pathlib.Path:
    """A database with one planned session, in which every group waits for its developer."""
    from orchestrator.app import setup  # the workers need none of it, and would take most of their time to load it

    setup.create_database(path, AT)
    with opened(path) as context:
        setup.initialise(context, workflow=endless(path.parent, groups))
        call(context, "session create", id=SESSION)
        for number in range(groups):
            call(context, "group create", id=f"G{number}", session_id=SESSION)
        call(context, "route", session_id=SESSION, current_agent="project_manager", status="PLANNING_COMPLETE")
    return path


def call(context: Context, words: str, *, at: str | None = None, **arguments: Any) -> dict[str, Any]:
    """One operation, at another time than now where one is given."""
    now, context.clock = context.clock, context.clock if at is None else lambda: at
    try:
        return operations.call(context, words, **arguments)
    finally:
        context.clock = now


def partial(group: str, **more: Any) -> dict[str, Any]:
    """The arguments of a report that is always accepted."""
    return {"session_id": SESSION, "current_agent": "developer", "status": "PARTIAL", "group_id": group, **more}


@contextmanager
def plain(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    """A connection that knows nothing of the product."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def everything(path: pathlib.Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    with plain(path) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return {name: sorted(connection.execute(f'SELECT * FROM "{name}"'), key=repr) for (name,) in names}


def damages(path: pathlib.Path) -> list[str]:
    """What is broken in a database: pages, references, chains, reports without their one decision."""
    with plain(path) as connection:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        found += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
        undecided = connection.execute(
            "SELECT r.id, (SELECT count(*) FROM router_decisions d WHERE d.report_id = r.id) AS decisions"
            " FROM agent_reports r WHERE decisions <> 1"
        )
        found += [f"report {report} has {decisions} decisions" for report, decisions in undecided]
        found += _of_the_chains(connection)
    return found


def _of_the_chains(connection: sqlite3.Connection) -> Iterator[str]:
    heads: dict[str, tuple[int, bytes]] = {}
    for row in connection.execute("SELECT * FROM audit_events ORDER BY session_id, seq"):
        chain, seq = row[:2]
        before, head = heads.get(chain, (0, step.FIRST_HASH))
        if seq != before + 1 or row[-2] != head or not step.verify_event(row):
            yield f"event {chain} {seq} does not follow {before}, or is not what its hash says"
        heads[chain] = (seq, row[-1])


class Ended(NamedTuple):
    """How a child ended: by a signal, or with what its function returned or raised."""

    signal: int | None
    value: Any
    error: str | None


def in_child(function: Callable[[], Any]) -> Ended:
    """Run a function in a forked process; nothing of it is imported again. No database may be open here meanwhile."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _report_and_exit(function, sink)
    os.close(sink)
    with os.fdopen(source, "rb") as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Ended(os.WTERMSIG(status), None, None)
    return Ended(None, *json.loads(text))


def _report_and_exit(function: Callable[[], Any], sink: int) -> None:
    try:
        answer = [function(), None]
    except BaseException as problem:
        answer = [getattr(problem, "code", None), "".join(traceback.format_exception(problem))]
    os.write(sink, json.dumps(answer).encode())
    os._exit(0)


def die_at(statement: int) -> None:
    """Let this process be killed when it comes to its so-manieth SQL statement, triggers' statements included."""

    def look(seen: int) -> None:
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    _trace(look)


def counting() -> Callable[[], int]:
    """Count this process's SQL statements from now on; what is returned tells how many there were."""
    numbers = [0]
    _trace(numbers.append)
    return lambda: numbers[-1]


def _trace(look: Callable[[int], None]) -> None:
    """Tell the number of each SQL statement of this process, triggers' statements included."""
    prepare, seen = sqlite.prepare, 0

    def count(_: str) -> None:
        nonlocal seen
        seen += 1
        look(seen)

    def traced(connection: sqlite3.Connection, **more: Any) -> None:
        prepare(connection, **more)
        connection.set_trace_callback(count)

    sqlite.prepare = traced


def worker(path: pathlib.Path, name: str, groups: int, count: int) -> subprocess.Popen[str]:
    """Start a process that routes in a loop, and says before and after each step what it does."""
    return _started("worker", path, name, groups, count)


def mixed(path: pathlib.Path, name: str, groups: int, seconds: float) -> subprocess.Popen[str]:
    """Start a process that reports, claims, is refused and validates for some seconds; see `tests.drills.mixed`."""
    return _started("mixed", path, name, groups, seconds)


def _started(module: str, *arguments: object) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", f"tests.drills.{module}", *map(str, arguments)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
