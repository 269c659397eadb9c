"""Starting runs, and ending those whose process is gone.

A run that runs has a place among the executors and locks on what it may write, both as rows: they outlive the process
and are taken from nobody who lives.

Source: seed 001, Properties 5, 6 and 12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.app import groups
from orchestrator.app.context import Answer, Call, Context, Work, perform
from orchestrator.app.running import writing
from orchestrator.app.running.queueing import end
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import codes, states
from orchestrator.errors import Refused
from orchestrator.store import run_reader
from orchestrator.store.run_reader import Run

READ, WRITE = "read", "write"


def start(
    context: Context, *, session_id: str, id: str, owner: str, capacity: int, locks: Sequence[tuple[str, str]],
    at: str | None = None,
) -> Answer:
    """Start a queued run, if a place is free for it and nobody holds what it needs.

    Args:
        owner: the process that runs it: host, number and start time.
        capacity: how many runs may run at once, in all sessions.
        locks: absolute paths with `read` or `write`; all are taken, or none.

    Returns:
        `run`, `seq`.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE, E402 (a path twice, or an unknown mode), E404 {running} (no place is free),
            E401 {path, run} (held by another), DEPENDENCIES_OPEN.
    """
    given = {"id": id, "owner": owner, "capacity": capacity, "locks": [list(lock) for lock in sorted(locks)]}
    return perform(context, Call("run start", session_id, RUNNER, given, at=at), start_action)


def start_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    groups.open_session(work)
    run = writing.require(work, given["id"])
    if run.state != states.QUEUED:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}, not queued.", f"/logs {run.id}")
    wanted = [(path, mode) for path, mode in given["locks"]]
    _refuse_unfit(wanted)
    _refuse_full(work, given["capacity"])
    _refuse_locked(work, wanted)
    writing.begin_task(work, run)
    for path, mode in wanted:
        work.step.insert("run_locks", run_id=run.id, path=path, mode=mode, acquired_at=work.at)
    values = {"owner": given["owner"], "started_at": run.started_at or work.at}
    writing.move(work, run, states.RUNNING, by=RUNNER, reason=f"{run.executor} starts", values=values)
    writing.log(work, run, [{"kind": "started", "level": writing.FULL, "text": f"{run.executor} starts"}])
    return {"success": True, "run": run.id, "seq": work.seq}


def _refuse_unfit(wanted: Sequence[tuple[str, str]]) -> None:
    paths = [path for path, _ in wanted]
    if len(set(paths)) < len(paths) or any(mode not in (READ, WRITE) for _, mode in wanted):
        raise codes.refused("E402", "Each path is locked once, to read or to write.", wants=list(map(list, wanted)))


def _refuse_full(work: Work, capacity: int) -> None:
    running = run_reader.in_state(work.context.connection, states.RUNNING)
    here = [run.id for run in running if run.session_id == work.step.chain]
    there = [run.id for run in running if run.session_id != work.step.chain]
    busy = [*here, *(work.elsewhere("running", there) or [])]
    if len(busy) >= capacity:
        raise codes.refused("E404", f"No executor is free: {', '.join(busy)} run, as many as may.", running=busy)


def _refuse_locked(work: Work, wanted: Sequence[tuple[str, str]]) -> None:
    held = run_reader.held(work.context.connection)
    here = [[run, path, mode] for session, run, path, mode in held if session == work.step.chain]
    there = [[run, path, mode] for session, run, path, mode in held if session != work.step.chain]
    for run, path, mode in [*here, *(work.elsewhere("locks", there) or [])]:
        if any(_overlap(path, name) and WRITE in (mode, asked) for name, asked in wanted):
            raise codes.refused("E401", f"{path} is locked by run {run}.", path=path, run=run)


def _overlap(one: str, other: str) -> bool:
    """Whether two paths are the same, or one lies below the other."""
    first, second = f"{one.rstrip('/')}/", f"{other.rstrip('/')}/"
    return first.startswith(second) or second.startswith(first)


def conflict(context: Context, capacity: int, wanted: Sequence[tuple[str, str]]) -> str | None:
    """What would stop a start now, as a code, without trying it."""
    if len(run_reader.in_state(context.connection, states.RUNNING)) >= capacity:
        return "E404"
    for _, _, path, mode in run_reader.held(context.connection):
        if any(_overlap(path, name) and WRITE in (mode, asked) for name, asked in wanted):
            return "E401"
    return None


def running(context: Context) -> list[Run]:
    """The runs of all sessions that run, with their owners."""
    return run_reader.in_state(context.connection, states.RUNNING)


def abandon(
    context: Context, *, session_id: str, id: str, owner: str, reason: str | None = None,
    log: Sequence[Mapping[str, Any]] = (), at: str | None = None,
) -> Answer:
    """End a run whose process is gone, or cannot go on with it, and release what it held.

    Args:
        owner: the owner that was found gone; a run that has another one by now is left alone.
        reason: why it cannot go on; that its process is gone where left out.
        log: entries of its log, such as what was still found of it.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE.
    """
    given = {"id": id, "owner": owner, "reason": reason, "log": [dict(entry) for entry in log]}
    return perform(context, Call("run abandon", session_id, RUNNER, given, at=at), abandon_action)


def abandon_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    run = writing.require(work, given["id"])
    if run.owner != given["owner"]:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}; nothing changed.", f"/logs {run.id}")
    reason = given.get("reason") or f"the process that ran it is gone ({given['owner']})"
    writing.log(work, run, given.get("log", ()))
    end(work, run, states.FAILED, by=RUNNER, reason=reason, code="E503")
    return {"success": True, "run": run.id, "state": states.FAILED, "seq": work.seq}
