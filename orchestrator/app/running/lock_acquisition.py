"""Waiting for a place and for the project: who is in the way, what dead processes left, and when waiting never ends.

Source: seed 001, Properties 5, 6, 9 and 12.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping

from orchestrator.app.kernel.context import Context
from orchestrator.app.running import evidence_and_log, orphaned_runs, start_run, turn_runs
from orchestrator.app.running.start_run import Starting
from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import codes, folder_claims, locks
from orchestrator.core.suggestions import local, sentence
from orchestrator.errors import OrchestratorError
from orchestrator.runner import folder_lock, orphan_recovery, process_identity, session_lock
from orchestrator.store import turn_reader

POLL_S = 0.05


class Waiter(NamedTuple):
    """A queued run and the process that starts it.

    capacity: how many runs may run at once. patience_s: seconds that it may wait.
    start: the step that starts it; it refuses with E401 or E404 what may pass.
    note: keeps once on record why it waits. tell: takes, for a person, each new reason.
    """

    run: Starting
    capacity: int
    patience_s: float
    start: Callable[[], object]
    note: Callable[[str], object] | None = None
    tell: Callable[[str], None] | None = None
    cancelled: Callable[[], bool] | None = None


def start_when_free(context: Context, waiter: Waiter, place: folder_lock.Place) -> bool:
    """Start a run once a place is free and nobody holds what it needs, waiting for as long as it may.

    Args:
        place: what is taken against runs of other databases, before the locks that are rows.

    Returns:
        False where it was cancelled meanwhile.

    Raises:
        Refused: E403, it waited as long as it may, or would wait for itself; E405, what is in the way cannot be ended.
            And what its start refuses otherwise.
    """
    run, until = waiter.run, time.monotonic() + waiter.patience_s
    noted: set[str] = set()
    while not (waiter.cancelled and waiter.cancelled()):
        left = free_abandoned(context)
        late = time.monotonic() >= until
        code = start_run.conflict(context, run, waiter.capacity)
        problem = None
        if late or code is None:
            problem = _started(waiter, place)
            if problem is None:
                return True
            if late:
                refuse_held(context, run, left)
                what = sentence("It waited as long as it may: {}", problem.message)
                raise locks.deadlock(what, (run.id,)) from problem
        refuse_own(context, run)
        _note(waiter, _why(context, run, code, problem), noted)
        time.sleep(POLL_S)
    return False


def _note(waiter: Waiter, why: str, noted: set[str]) -> None:
    """Say once on record that the run waits, and once to whoever looks on what it waits for."""
    if not noted and waiter.note is not None:
        waiter.note(why)
    if why not in noted and waiter.tell is not None:
        waiter.tell(f"{waiter.run.id} waits: {why}")
    noted.add(why)


def _why(context: Context, run: Starting, code: str | None, problem: OrchestratorError | None) -> str:
    if problem is not None:
        return problem.message
    running = start_run.holders(context, run) if code == "E401" else start_run.running_of_all(context)
    what = "its project or session is held" if code == "E401" else "no place is free"
    return f"{what}: {', '.join(each.id for each in running) or 'others came first'}."


def _started(waiter: Waiter, place: folder_lock.Place) -> OrchestratorError | None:
    """Start a run; what is in its way, where that may pass."""
    problem = _taken(waiter.run, place)
    if problem is not None:
        return problem
    try:
        waiter.start()
    except OrchestratorError as found:
        if found.code not in ("E401", "E404"):
            raise
        # While it waits for its own kind, others may work.
        place.leave()
        return found
    return None


def _taken(run: Starting, place: folder_lock.Place) -> OrchestratorError | None:
    """Take the project against runs of other databases; what is in the way.

    Raises:
        Refused: E403, a run there has started this process and waits for it. E405, of a run that is gone something
            lives on, and could not be ended.
    """
    found = place.take()
    if found.taken:
        return None
    if found.own:
        why = f"{run.id} waits for {found.own[0]} of another database, whose executor started this process."
        raise locks.deadlock(why, (run.id, *found.own))
    if found.left:
        processes = [process for _, each in found.left for process in each]
        holders = [id for id, _ in found.left]
        why = f"{', '.join(holders)} is gone, and of it could not be ended: {', '.join(processes)}."
        raise codes.refused("E405", why, holders=holders, processes=processes)
    if not found.against:
        return codes.refused("E401", sentence("Somebody holds {}/.orchestrator/locks.", local(place.root)), holders=[])
    databases = dict.fromkeys(each.path for each in found.against)
    return codes.refused(
        "E401", folder_claims.described(place.root, found.against), holders=[each.run for each in found.against],
        databases=[local(path) for path in databases], paths=[local(place.root)],
    )  # fmt: skip


def free_abandoned(context: Context) -> dict[str, tuple[str, ...]]:
    """End the runs whose process is gone, so that nobody waits for a dead owner.

    First their executors are ended, which live on and write. Where one cannot be, its run keeps its locks; and whoever
    was started by such an executor itself leaves all of it to others.

    Returns:
        The runs whose executors could not be ended, with what is left of these.
    """
    left: dict[str, tuple[str, ...]] = {}
    for run in start_run.running(context):
        if (
            run.owner is None
            or not process_identity.is_gone(run.owner, context.connection)
            or orphan_recovery.is_within(orphan_recovery.tag(run.owner, run.id))
        ):
            continue
        found = orphan_recovery.end(orphan_recovery.tag(run.owner, run.id))
        if found.left:
            left[run.id] = found.left
            continue
        try:
            with session_lock.held(run.verification_root, run.session_id):
                start_run.abandon(
                    context, session_id=run.session_id, id=run.id, owner=run.owner, gone=True,
                    log=_about_lost(found, run.owner), reason=orphaned_runs.reason(run),
                )
                if orphaned_runs.is_here(run.owner):
                    evidence_and_log.save_log(context, run.session_id, run.id)
        except OrchestratorError:
            # Somebody else was faster, its session is closed, or its project is gone.
            continue
    return left | _free_abandoned_turns(context)


def _free_abandoned_turns(context: Context) -> dict[str, tuple[str, ...]]:
    """End the runs of turns whose process is gone, as those of tasks."""
    left: dict[str, tuple[str, ...]] = {}
    for run in turn_reader.open_runs(context.connection):
        tag = orphan_recovery.tag(str(run.owner), run.id)
        if not process_identity.is_gone(str(run.owner), context.connection) or orphan_recovery.is_within(tag):
            continue
        found = orphan_recovery.end(tag)
        if found.left:
            left[run.id] = found.left
            continue
        # Somebody else may have been faster.
        with contextlib.suppress(OrchestratorError):
            owner = str(run.owner)
            log = _about_lost(found, owner)
            turn_runs.abandon(context, run, reason=orphaned_runs.lost(owner), log=log, gone=True)
    return left


def _about_lost(found: orphan_recovery.Lost, owner: str) -> list[dict[str, str]]:
    """What the log of an abandoned run says of its processes."""
    if not orphaned_runs.is_here(owner):
        where = names.host_of(owner)
        return [{"kind": "processes", "text": f"Whether its executor still runs on {where} cannot be told from here."}]
    if not found.is_told:
        return [{"kind": "processes", "text": "This system does not tell whether its executor still runs."}]
    return [{"kind": "processes", "text": f"still ran, and was ended: {each}"} for each in found.ended]


def refuse_own(context: Context, run: Starting) -> None:
    """Refuse to wait for a run whose executor has started this process.

    Raises:
        Refused: E403, that run waits for its executor, and so for this process. E405, its own process is gone, and who
            was started by what it left cannot release its locks.
    """
    for each in start_run.holders(context, run):
        owner = each.owner or ""
        if not orphan_recovery.is_within(orphan_recovery.tag(owner, each.id)):
            continue
        if process_identity.is_gone(owner, context.connection):
            why = f"{each.id} is gone and its executor, which started this process, lives on; so its locks stay."
            raise codes.refused("E405", why, holders=[each.id])
        why = f"{run.id} waits for {each.id}, whose executor started this process and waits for it."
        raise locks.deadlock(why, (run.id, each.id))


def refuse_held(context: Context, run: Starting, left: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse to go on where what is waited for is held by what could not be ended of a run that is gone.

    Args:
        left: runs whose process is gone, with what lives on of each.

    Raises:
        Refused: E405 {holders, processes}.
    """
    held = [each.id for each in start_run.holders(context, run) if each.id in left]
    processes = [process for each in held for process in left[each]]
    if held:
        why = f"{', '.join(held)} is gone, and of it could not be ended: {', '.join(processes)}; so its locks stay."
        raise codes.refused("E405", why, holders=held, processes=processes)
