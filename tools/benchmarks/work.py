"""The next action among ten thousand tasks beside the bare SQL that reads the same facts: row 12.

The tasks are written in bulk with the guards away and put back. The bare SQL are the statements of one question, which
were recorded, run again with nothing made of their rows.
"""

from __future__ import annotations

import functools
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from orchestrator import bootstrap, testing
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.core import task_graph
from orchestrator.store import guards
from orchestrator.store.task_edges import Edges
from tools.benchmarks import harness, mix
from tools.benchmarks.table import Bound, Figure

SESSION, AGENT, MAIN = "S1", "developer", "MAIN"
TASKS = 10_000
LONG = 100_000
"""Tasks of a graph that is walked as a whole."""
EDGES = 2
"""How many tasks each one depends on."""
_AT = "2026-01-01T00:00:00.000000Z"
_TASK = """INSERT INTO tasks (session_id, id, parent_id, title, description, type, priority, assignee, created_by,
    created_at, created_seq, status, status_changed_by_agent_id, status_changed_at, status_seq)
    VALUES (?, ?, ?, 'one change', '', 'IMPLEMENTATION', 2, ?, 'tech_lead', ?, ?, ?, 'tech_lead', ?, 1)"""
_EDGE = "INSERT INTO task_dependencies (session_id, task_id, depends_on_id, seq) VALUES (?, ?, ?, 1)"
CASES = {
    "start_subtask": ("half of its subtasks are done", 20),
    "get_task": ("nobody has them, half are done", 20),
    "wait_for_dependencies": ("all wait for one of another agent's", 1),
}
"""Each action, how the tasks stand, and how often it is asked for in a round."""


def next_action(rounds: int) -> Iterator[Figure]:
    """Row 12: asking in process, whatever the answer takes."""
    with tempfile.TemporaryDirectory() as folder:
        for action, (how, calls) in CASES.items():
            context = mix.open_file(population(pathlib.Path(folder) / f"{action}.db", action), write=False)
            ask = functools.partial(operations.call, context, "next", session_id=SESSION, agent_id=AGENT)
            answer = ask()
            if answer["action"] != action:
                raise harness.CommandFailed(f"next answers {answer['action']}, not {action}")
            statements = recorded(context, ask)
            harness.keep_memory()
            cases = {
                "ours": harness.loop(lambda _, ask=ask: ask(), calls),  # type: ignore[misc]
                "bare": harness.loop(functools.partial(_bare, context, statements), calls),
            }
            seconds = harness.interleaved(cases, rounds)
            measure = f"`next` among {TASKS:,} tasks, {EDGES * TASKS:,} dependencies: {action}"
            note = f"{how}; {seconds['ours'] / calls * 1000:.1f} ms"
            yield Figure(measure, "bare SQL", seconds["ours"] / seconds["bare"], Bound(2, 1.2), note)


def rings(rounds: int) -> Iterator[Figure]:
    """Row 12: whether one more dependency closes a ring, where that takes a walk over all there are; none does."""
    with tempfile.TemporaryDirectory() as folder:
        for shape, edges in SHAPES.items():
            context = mix.open_file(_filled(pathlib.Path(folder) / f"{shape}.db", _waiting(), edges()), write=False)
            check = functools.partial(_closes_no_ring, context)
            statements = recorded(context, check)
            harness.keep_memory()
            cases = {
                "ours": harness.loop(lambda _, check=check: check(), 1),  # type: ignore[misc]
                "bare": harness.loop(functools.partial(_bare, context, statements), 1),
            }
            seconds = harness.interleaved(cases, rounds)
            measure = f"ring check over {LONG:,} tasks in a {shape}"
            note = f"{seconds['ours'] * 1000:.0f} ms"
            yield Figure(measure, "bare SQL", seconds["ours"] / seconds["bare"], Bound(2, 1.2), note)


def _closes_no_ring(context: Context) -> None:
    """Ask for an edge from a new task to the last one of all, from which all but its neighbour are reached."""
    new = ("NEW", None, None)
    found = task_graph.ring_of_task(Edges(context.connection, SESSION, new=new), "NEW", f"T{LONG - 1}")
    if found:
        raise harness.CommandFailed(f"{' '.join(found[:5])} are no ring")


def recorded(context: Context, ask: harness.Case) -> tuple[str, ...]:
    """The statements that one question runs, their parameters written in."""
    found: list[str] = []
    context.connection.set_trace_callback(found.append)
    try:
        ask()
    finally:
        context.connection.set_trace_callback(None)
    return tuple(found)


def _bare(context: Context, statements: tuple[str, ...], _: int) -> list[Any]:
    return [context.connection.execute(sql).fetchall() for sql in statements]


def population(path: pathlib.Path, action: str) -> pathlib.Path:
    """A database in which the agent's next action is the given one."""
    return _filled(path, _tasks(action), _edges(action))


def _filled(
    path: pathlib.Path, tasks: Iterator[tuple[Any, ...]], edges: Iterator[tuple[str, str, str]]
) -> pathlib.Path:
    bare = testing.memory_context(bootstrap.now)
    operations.call(bare, "session create", id=SESSION, goal="measured")
    context = mix.open_file(mix.write(path, bare.connection.serialize()), "NORMAL")
    connection = context.connection
    guards.drop_all(connection)
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(_TASK, tasks)
    connection.executemany(_EDGE, edges)
    connection.execute("COMMIT")
    guards.create_all(connection)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


def _tasks(action: str) -> Iterator[tuple[Any, ...]]:
    parent, half = (None, TASKS // 2) if action == "get_task" else (MAIN, TASKS // 2)
    if parent is not None:
        yield SESSION, MAIN, None, AGENT, _AT, 1, "in_progress", _AT
    if action == "wait_for_dependencies":
        yield SESSION, "OTHER", None, "qa_expert", _AT, 1, "in_progress", _AT
        half = 0
    for number in range(TASKS):
        at = f"2026-01-01T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000000Z"
        status = "done" if number < half else "todo"
        yield SESSION, f"T{number}", parent, AGENT if parent else None, at, number + 2, status, at


def _edges(action: str) -> Iterator[tuple[str, str, str]]:
    for number in range(TASKS):
        for back in range(1, EDGES + 1):
            if number >= back:
                yield SESSION, f"T{number}", f"T{number - back}"
    if action == "wait_for_dependencies":
        yield SESSION, "T0", "OTHER"


def _waiting() -> Iterator[tuple[Any, ...]]:
    for number in range(LONG):
        yield SESSION, f"T{number}", None, None, _AT, number + 2, "todo", _AT


def _chain() -> Iterator[tuple[str, str, str]]:
    """Each task waits for the one before."""
    for number in range(1, LONG):
        yield SESSION, f"T{number}", f"T{number - 1}"


def _diamonds() -> Iterator[tuple[str, str, str]]:
    """Layers of two tasks, each of which waits for both of the layer before: as many ways as there are subsets."""
    for number in range(2, LONG):
        layer = number - number % 2
        for before in (layer - 2, layer - 1):
            yield SESSION, f"T{number}", f"T{before}"


SHAPES = {"chain": _chain, "diamond lattice": _diamonds}
"""What waits for what, by how it looks."""
