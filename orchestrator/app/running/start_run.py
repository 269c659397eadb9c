"""Starting runs, of tasks and of turns, and ending those of tasks whose process is gone.

A run that runs has a place among the executors and locks on what it may write, both as rows: they outlive the process
and are taken from nobody who lives.

Source: seed 001, Properties 5, 6 and 12.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import requested_files, run_repository
from orchestrator.app.running.run_queue import end
from orchestrator.core import names, task_types
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running import advice, codes, locks, states
from orchestrator.core.running.locks import Lock, Pool, Table
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.runner import process_identity
from orchestrator.store import run_reader, turn_reader
from orchestrator.store.run_reader import Run
from orchestrator.store.turn_reader import TurnRun

Starting = Run | TurnRun
"""What can be started: the run of a task, or of an agent's turn."""


class StartRun(Request, event="run start", use_case="running.start_run:start", acting=RUNNER):
    """Start a queued run.

    Attributes:
        owner: the process that runs it: host, number and start time.
        capacity: how many runs may run at once on its machine, in all sessions.
        locks: absolute paths with `read` or `write`; all are taken, or none.
    """

    session_id: str
    id: str
    owner: str
    capacity: int
    locks: Sequence[Sequence[str]]

    def recorded(self) -> dict[str, Any]:
        """What the event keeps, the locks in the order of their paths."""
        return super().recorded() | {"locks": [list(lock) for lock in sorted(map(tuple, self.locks))]}


def start(work: Work, request: StartRun) -> Answer:
    """Start a queued run, if a place is free for it and nobody holds what it needs.

    Returns:
        `run`, `seq`.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE, E402 (a path twice, or an unknown mode), E404 {running} (no place is free),
            E401 {paths, holders} (held by others), DEPENDENCIES_OPEN.
    """
    work.open_session()
    run = _queued(work, request.id)
    wanted = [(path, mode) for path, mode in request.locks]
    refuse_full(work, run.id, request.owner, request.capacity, writes=any(mode == locks.WRITE for _, mode in wanted))
    refuse_locked(work, run.id, wanted)
    run_repository.begin_task(work, run)
    for path, mode in wanted:
        work.step.insert("run_locks", run_id=run.id, path=path, mode=mode, acquired_at=work.at)
    values = {"owner": request.owner, "started_at": run.started_at or work.at}
    run_repository.move(work, run, states.RUNNING, by=RUNNER, reason=f"{run.executor} starts", values=values)
    run_repository.log(work, run, [{"kind": "started", "level": run_repository.FULL, "text": f"{run.executor} starts"}])
    return {"success": True, "run": run.id, "seq": work.seq}


def refuse_full(work: Work, id: str, owner: str | None, capacity: int, *, writes: bool) -> None:
    """Refuse a run for which no place is free now; who waits is asked before, where processes live.

    Args:
        owner: the process that would run it: the places are those of its machine.

    Raises:
        Refused: E404 {running}.
    """
    running = [each for each in running_of_all(work.context) if _machine(each.owner) == _machine(owner)]
    here = [each.id for each in running if each.session_id == work.step.chain]
    there = [each.id for each in running if each.session_id != work.step.chain]
    busy = (*here, *(work.elsewhere("running", there) or ()))
    locks.ask(Pool(locks.EXECUTOR, capacity, busy), id, writes=writes, wait=False)


def _machine(owner: str | None) -> str:
    return names.host_of(owner or "")


def refuse_locked(work: Work, id: str, wanted: Sequence[tuple[str, str]]) -> None:
    """Refuse a run that needs what others hold.

    Raises:
        Refused: E401 {paths, holders}; E402, a path twice, or an unknown mode.
    """
    if len({path for path, _ in wanted}) < len(wanted):
        raise codes.refused("E402", "Each path is locked once, to read or to write.", wants=list(map(list, wanted)))
    held = held_by_all(work.context)
    here = [[run, path, mode] for session, run, path, mode in held if session == work.step.chain]
    there = [[run, path, mode] for session, run, path, mode in held if session != work.step.chain]
    every = (Lock(path, mode, owner) for owner, path, mode in (*here, *(work.elsewhere("locks", there) or ())))
    if wanted:
        locks.acquire(Table(tuple(every)), id, dict(wanted))


class AwaitStart(Request, event="run wait", use_case="running.start_run:wait", acting=RUNNER):
    """Note that a process waits for a place or locks for a queued run.

    Attributes:
        reason: what it waits for, in words, for the log.
    """

    session_id: str
    id: str
    owner: str
    reason: str | None = None


def wait(work: Work, request: AwaitStart) -> Answer:
    """Note that a process waits for a queued run, so that who comes later is served later.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE (not queued).

    Source: seed 001, Properties 5 and 12.
    """
    work.open_session()
    run = _queued(work, request.id)
    run_repository.log(work, run, [{"kind": run_reader.WAITING, "level": run_repository.FULL, "text": request.owner}])
    if request.reason:
        run_repository.log(work, run, [{"kind": "waits", "text": request.reason}])
    return {"success": True, "run": run.id, "seq": work.seq}


def _queued(work: Work, id: str) -> Run:
    run = run_repository.require(work, id)
    if run.state != states.QUEUED:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}, not queued.", advice.logs(run.id))
    return run


def conflict(context: Context, run: Starting, capacity: int, owner: str | None = None) -> str | None:
    """What would stop a start now, as a code, without trying it: what runs, and what waited before.

    Args:
        owner: the process that would run it (default: this one).

    Raises:
        Refused: E403, to wait would close a circle.
    """
    held = held_by_all(context)
    table = Table(tuple(Lock(path, mode, owner) for _, owner, path, mode in held))
    running, here = running_of_all(context), _machine(owner or process_identity.mine())
    if run.id in (each.id for each in running):
        # Another process was faster; the start itself says so.
        return None
    places = Pool(locks.EXECUTOR, capacity, tuple(each.id for each in running if _machine(each.owner) == here))
    for each, machine in (*_before(context, run), (run, here)):
        table = locks.request(table, each.id, dict(wants(context, each)))
        if machine == here and not locks.waits(table, each.id):
            places = locks.ask(places, each.id)
    if locks.waits(table, run.id):
        return "E401"
    return None if run.id in places.active else "E404"


def holders(context: Context, run: Starting) -> list[Starting]:
    """The runs whose locks keep a run from being started."""
    wanted = wants(context, run)
    against = {
        owner for _, owner, path, mode in held_by_all(context) for asked, how in wanted
        if owner != run.id and locks.WRITE in (mode, how) and locks.overlap(path, asked)
    }  # fmt: skip
    return [each for each in running_of_all(context) if each.id in against]


def wants(context: Context, run: Starting) -> list[tuple[str, str]]:
    """What a run locks: the folder in which it works, and its key.

    The key of a run is its session, of which one run is executed at a time; that of a turn is its group within the
    session. What only asks may run beside others of its kind.
    """
    if isinstance(run, TurnRun):
        return [(run.folder, locks.WRITE), (run.lock_key, locks.WRITE)]
    mode = locks.WRITE if writes(context, run) else locks.READ
    return [(folder(run), mode), (locks.session_key(run.session_id), locks.WRITE)]


def folder(run: Run) -> str:
    """The project of a run by its one real path, so that two ways to it are one folder."""
    return os.path.realpath(run.verification_root)


def writes(context: Context, run: Run) -> bool:
    """Whether a run is expected to write: what only asks is not, unless it names the file that the answer goes to."""
    return run.task_type not in task_types.ANSWERS or requested_files.writes(context, run)


def _before(context: Context, run: Starting) -> list[tuple[Starting, str]]:
    """The runs whose living processes wait and came before, with their machines."""
    waiting: list[tuple[str, str, Starting, str]] = [
        (at, each.id, each, owner) for each, owner, at in run_reader.waiting(context.connection)
    ]
    turns = (each for each in turn_reader.open_runs(context.connection) if each.state == states.QUEUED)
    waiting += [(each.queued_at, each.id, each, str(each.owner)) for each in turns]
    found: dict[str, tuple[Starting, str]] = {}
    for _, _, each, owner in sorted(waiting, key=lambda row: row[:2]):
        if each.id == run.id:
            break
        # Two servers that wait for the same run are one that waits.
        if each.id not in found and not process_identity.is_gone(owner, context.connection):
            found[each.id] = each, _machine(owner)
    return list(found.values())


def running_of_all(context: Context) -> list[Starting]:
    """The runs of all sessions that run, of tasks and of turns."""
    return [*running(context), *turn_reader.running(context.connection)]


def held_by_all(context: Context) -> list[tuple[str, str, str, str]]:
    """The locks that runs hold, of tasks and of turns: session, run, path, mode."""
    return [*run_reader.held(context.connection), *turn_reader.held(context.connection)]


def running(context: Context) -> list[Run]:
    """The runs of tasks of all sessions that run, with their owners."""
    return run_reader.in_state(context.connection, states.RUNNING)


class AbandonRun(Request, event="run abandon", use_case="running.start_run:end_abandoned", acting=RUNNER):
    """End a run whose process is gone; `lives` where it is not known to be."""

    session_id: str
    id: str
    owner: str
    reason: str | None
    log: tuple[Mapping[str, Any], ...] = ()
    lives: bool = False


def abandon(
    context: Context, *, session_id: str, id: str, owner: str, reason: str | None = None,
    log: Sequence[Mapping[str, Any]] = (), gone: bool | None = None, at: str | None = None,
) -> Answer:
    """End a run whose process is gone, or cannot go on with it, and release what it held.

    Args:
        owner: the owner that was found gone; a run that has another one by now is left alone.
        gone: whether that is so, or this process is the owner (default: it is checked).
        reason: why it cannot go on (default: its process is gone).
        log: entries of its log, such as what was still found of it.

    Raises:
        Refused: UNKNOWN_ID, ILLEGAL_MOVE; E405, its process lives, and it alone releases what it holds.

    Source: seed 001, Property 6.
    """
    if gone is None:
        gone = owner == process_identity.mine() or process_identity.is_gone(owner, context.connection)
    request = AbandonRun(
        session_id=session_id, id=id, owner=owner, reason=reason, log=tuple(map(dict, log)), lives=not gone
    )
    return operations.carry_out(context, request, at=at)


def end_abandoned(work: Work, request: AbandonRun) -> Answer:
    """The step that ends a run whose process is gone."""
    run = run_repository.require(work, request.id)
    if run.owner != request.owner:
        raise Refused("ILLEGAL_MOVE", f"Run {run.id} is {run.state}; nothing changed.", advice.logs(run.id))
    if request.lives:
        raise codes.refused("E405", f"Run {run.id} holds its locks: {run.owner} is not known to be gone.", run=run.id)
    run_repository.log(work, run, request.log)
    reason = request.reason or "the process that ran it is gone"
    end(work, run, states.FAILED, by=RUNNER, reason=reason, code="E503")
    return {"success": True, "run": run.id, "state": states.FAILED, "seq": work.seq}
