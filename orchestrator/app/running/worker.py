"""The loop of a server that executes what is queued: the oldest first, each in a thread of its own.

A run is started when a place is free and nobody holds its project; until then it stays queued, whoever holds it. What
is queued through a server is served, and what is queued anyhow in a session that was begun through one; a REPL executes
what is queued in it.

Whoever queued a run, also one whose process died between that and looking at it: the loop looks at each itself whether
an executor may see it.

Source: seed 000, INV-5 (what was queued before a restart is executed after it)
"""

from __future__ import annotations

import collections
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.app.kernel.context import Context
from orchestrator.app.running import (
    evidence_and_log,
    execute_run,
    lock_acquisition,
    run_repository,
    start_run,
    submission,
)
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.running import locks, states
from orchestrator.errors import OrchestratorError
from orchestrator.runner import folder_lock, process_identity, session_lock
from orchestrator.store import run_board, run_reader
from orchestrator.store.run_reader import Run

LOOK_S = 0.2
"""Seconds between two looks for what other processes queued; what the server itself queues wakes the loop."""
REST_S = 0.05
"""Seconds between a look and the next: what is queued in quick succession is found by one, which costs as much as
queueing it."""
CHANNEL, PAGE = run_repository.CHANNEL, run_repository.PAGE
_ENDING_S = 0.05
"""Seconds between two looks whether those under way have ended."""
QUEUED = 16
"""How many queued runs are read at once: of a long queue a look reads no more than it can begin."""
STOPPING_S = 30.0
"""Seconds that a run has to end when it was told to."""

Open = Callable[[Context, Run], RunSession]
"""A session that serves the session of a run, in its project."""
Tell = Callable[[Exception], None]
"""Takes a fault that concerns no run in particular."""


class Over(Exception):
    """What stood in the way of the loop, as it was told, is over."""


class Loop:
    """Executes queued runs until it is stopped."""

    def __init__(self, pool: Pool, open_session: Open, tell: Tell) -> None:
        self._pool = pool
        self._open_session = open_session
        self._tell = tell
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._workers: dict[str, tuple[threading.Thread, threading.Event]] = {}
        self._preparing: collections.Counter[str] = collections.Counter()
        self._adopted: set[str] = set()
        self._leaving = False
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._work, name="runs", daemon=True)

    def start(self) -> None:
        """Begin to look for work."""
        self._thread.start()

    def wake(self) -> None:
        """Look at once: something was queued."""
        self._woken.set()

    def adopt(self, id: str) -> None:
        """Execute a run of another program's session, which a call of this server queued."""
        with self._lock:
            self._adopted.add(id)
        self.wake()

    @contextlib.contextmanager
    def preparing(self, session: str) -> Iterator[None]:
        """Start nothing of a session meanwhile: what is queued in it is still being looked at."""
        with self._lock:
            self._preparing[session] += 1
        try:
            yield
        finally:
            with self._lock:
                self._preparing[session] -= 1
                self._preparing += collections.Counter()
            self.wake()

    def cancel(self, id: str) -> bool:
        """Begin to stop a run that this loop executes. Nobody waits for its end here: that can take a while.

        Returns:
            False where it executes no such run.
        """
        with self._lock:
            _, cancelled = self._workers.get(id, (None, None))
        if cancelled is None:
            return False
        cancelled.set()
        return True

    def executes(self, id: str) -> bool:
        """Whether this loop executes a run, until that is recorded as ended."""
        return id in self._workers

    def leave(self) -> None:
        """Take no further run. Safe in a signal handler."""
        self._leaving = True

    def hurry(self) -> None:
        """Give those under way no more time, when they are stopped. Safe in a signal handler."""
        self._leaving = True
        self._hurry.set()

    def stop(self, grace_s: float) -> None:
        """Take no further run; let those under way end by themselves for a while, then stop them.

        Args:
            grace_s: seconds before they are stopped.
        """
        self.leave()
        self._woken.set()
        if self._thread.ident is not None:
            self._thread.join(STOPPING_S)
        with self._lock:
            workers = list(self._workers.values())
        until = time.monotonic() + grace_s
        while not self._hurry.is_set() and time.monotonic() < until and any(each.is_alive() for each, _ in workers):
            self._hurry.wait(_ENDING_S)
        for _, cancelled in workers:
            cancelled.set()
        for thread, _ in workers:
            thread.join(STOPPING_S)

    # --- in threads

    def _work(self) -> None:
        told: str | None = None
        while not self._leaving:
            try:
                self._look()
                if told is not None:
                    told = None
                    self._tell(Over("what is queued is executed again"))
            except Exception as fault:
                # The database may be gone for a while; the loop outlives that, and says it once, in whatever words.
                if told != (told := getattr(fault, "code", None) or repr(fault)):
                    self._tell(fault)
            self._hurry.wait(REST_S)
            self._woken.wait(LOOK_S)
            self._woken.clear()

    def _look(self) -> None:
        """Start what may start. In each project the first in the queue goes first, so that nobody is overtaken."""
        with self._pool.lent(write=True) as context:
            lock_acquisition.free_abandoned(context)
            self._free_own(context)
            ahead: dict[str, set[str]] = collections.defaultdict(set)
            sessions: set[str] = set()
            for run in self._queued(context, ahead):
                if self._leaving:
                    return
                before = ahead[start_run.folder(run)]
                # Of a session one is executed at a time, and one that was begun just now may not hold its locks yet.
                if locks.WRITE in before or run.session_id in sessions:
                    before.add(locks.WRITE)
                    continue
                sessions.add(run.session_id)
                mode = start_run.wants(context, run)[0][1]
                free = not before or mode == locks.READ
                begun = run.id in self._workers or (free and self._may_start(context, run) and self._begin(run))
                # What has to wait lets nobody pass, not even those who only read (HTTP-9).
                before.add(mode if begun else locks.WRITE)

    def _queued(self, context: Context, ahead: Mapping[str, set[str]]) -> Iterator[Run]:
        """What this server is to execute, the oldest first, read page by page as far as it is looked at.

        Args:
            ahead: the locks of what came before, by project; a project that is not free any more is passed over.
        """
        adopted = self._adopted_runs(context)
        last = ""
        while True:
            taken = [root for root, modes in ahead.items() if locks.WRITE in modes]
            page = run_board.queued(context.connection, CHANNEL, PAGE, after=last, without=taken, limit=QUEUED)
            end = page[-1].id if len(page) == QUEUED else None
            found = {run.id: run for run in page}
            found |= {id: run for id, run in adopted.items() if last < id and (end is None or id <= end)}
            yield from (found[id] for id in sorted(found))
            if end is None:
                return
            last = end

    def _adopted_runs(self, context: Context) -> dict[str, Run]:
        """What calls of this server queued in other programs' sessions, as far as it waits still."""
        with self._lock:
            adopted = list(self._adopted)
        found = {}
        for id in adopted:
            run = run_reader.by_id(context.connection, id)
            if run is not None and run.state == states.QUEUED:
                found[id] = run
            else:
                self._adopted.discard(id)
        return found

    def _free_own(self, context: Context) -> None:
        """End what this process is said to execute and does not: its end could not be written when it came."""
        mine = process_identity.mine()
        for run in start_run.running(context):
            if run.owner == mine and run.id not in self._workers:
                with contextlib.suppress(OrchestratorError), session_lock.held(run.verification_root, run.session_id):
                    start_run.abandon(
                        context, session_id=run.session_id, id=run.id, owner=mine, reason="its end could not be written"
                    )
                    evidence_and_log.save_log(context, run.session_id, run.id)

    def _may_start(self, context: Context, run: Run) -> bool:
        """Whether a place is free and nobody holds the project; what cannot be executed is told so by its session."""
        try:
            capacity = self._open_session(context, run).settings.parallel_limits.executors
        except OrchestratorError:
            return True
        if len(self._workers) >= capacity or start_run.conflict(context, run, capacity) is not None:
            return False
        return not folder_lock.occupied(start_run.folder(run), context.path)

    def _begin(self, run: Run) -> bool:
        cancelled = threading.Event()
        thread = threading.Thread(target=self._execute, args=(run, cancelled), name=f"run {run.id}", daemon=True)
        with self._lock:
            if self._preparing[run.session_id]:
                return False
            self._workers[run.id] = (thread, cancelled)
        thread.start()
        return True

    def _execute(self, run: Run, cancelled: threading.Event) -> None:
        try:
            with self._pool.lent(write=True) as context:
                session = self._open_session(context, run)
                if submission.take_up(session, run.id)["state"] == states.QUEUED:
                    execute_run.execute(session, run.id, cancelled=cancelled.is_set)
        except Exception as fault:
            # A run that was cancelled before it began is nobody's fault.
            if getattr(fault, "code", None) != "ILLEGAL_MOVE":
                self._tell(fault)
                self._give_up(run, fault)
        finally:
            with self._lock:
                self._workers.pop(run.id, None)
            self._woken.set()

    def _give_up(self, run: Run, fault: Exception) -> None:
        """End a run that cannot even be looked at, so that it is not begun again and again."""
        with contextlib.suppress(Exception), self._pool.lent(write=True) as context:
            now = run_reader.by_id(context.connection, run.id)
            if now is not None and now.state in (states.QUEUED, states.RUNNING):
                execute_run.give_up(self._open_session(context, run), run.id, fault)
