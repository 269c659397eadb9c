"""The loop of a server that executes what is queued: the oldest first, each in a thread of its own.

A run is started when a place is free and nobody holds its project; until then it stays queued, whoever holds it. Only
sessions that were begun through the server are served: a REPL executes its own.

Source: seed 000, INV-5 (what was queued before a restart is executed after it)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from orchestrator.app.context import Context
from orchestrator.app.pooling import Pool
from orchestrator.app.running import driver, starting
from orchestrator.app.running.desk import Desk
from orchestrator.errors import OrchestratorError
from orchestrator.store import run_board
from orchestrator.store.run_reader import Run

LOOK_S = 0.2
"""Seconds between two looks for what other processes queued; what the server itself queues wakes the loop."""
CHANNEL = "http"
"""Through which the sessions that are served were begun."""
STOPPING_S = 30.0
"""Seconds that a run has to end when it was told to."""

Open = Callable[[Context, Run], Desk]
"""A desk that serves the session of a run, in its project."""
Tell = Callable[[Exception], None]
"""Takes a fault that concerns no run in particular."""


class Loop:
    """Executes queued runs until it is stopped."""

    def __init__(self, pool: Pool, open_desk: Open, tell: Tell) -> None:
        self._pool = pool
        self._open_desk = open_desk
        self._tell = tell
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._workers: dict[str, tuple[threading.Thread, threading.Event]] = {}
        self._leaving = False
        self._thread = threading.Thread(target=self._work, name="runs", daemon=True)

    def start(self) -> None:
        """Begin to look for work."""
        self._thread.start()

    def wake(self) -> None:
        """Look at once: something was queued."""
        self._woken.set()

    def cancel(self, id: str, wait_s: float = STOPPING_S) -> bool:
        """Stop a run that this loop executes, and wait for its end.

        Returns:
            False where it executes no such run.
        """
        with self._lock:
            thread, cancelled = self._workers.get(id, (None, None))
        if thread is None or cancelled is None:
            return False
        cancelled.set()
        thread.join(wait_s)
        return True

    def stop(self, grace_s: float) -> None:
        """Take no further run; let those under way end by themselves for a while, then stop them.

        Args:
            grace_s: seconds before they are stopped.
        """
        self._leaving = True
        self._woken.set()
        self._thread.join(STOPPING_S)
        with self._lock:
            workers = list(self._workers.values())
        until = time.monotonic() + grace_s
        for thread, _ in workers:
            thread.join(max(0.0, until - time.monotonic()))
        for _, cancelled in workers:
            cancelled.set()
        for thread, _ in workers:
            thread.join(STOPPING_S)

    # --- in threads

    def _work(self) -> None:
        while not self._leaving:
            try:
                self._look()
            except Exception as fault:
                # The database may be gone for a while; the loop outlives that.
                self._tell(fault)
            self._woken.wait(LOOK_S)
            self._woken.clear()

    def _look(self) -> None:
        """Start what may start. In each project the first in the queue goes first, so that nobody is overtaken."""
        with self._pool.lent(write=True) as context:
            driver.free_abandoned(context)
            taken: set[str] = set()
            for run in run_board.queued(context.connection, CHANNEL):
                if self._leaving:
                    return
                if run.verification_root not in taken and run.id not in self._workers and self._may_start(context, run):
                    self._begin(run)
                taken.add(run.verification_root)

    def _may_start(self, context: Context, run: Run) -> bool:
        """Whether a place is free and nobody holds the project; what cannot be executed is told so by its desk."""
        try:
            capacity = self._open_desk(context, run).settings.parallel_limits.executors
        except OrchestratorError:
            return True
        return len(self._workers) < capacity and starting.conflict(context, run, capacity) is None

    def _begin(self, run: Run) -> None:
        cancelled = threading.Event()
        thread = threading.Thread(target=self._execute, args=(run, cancelled), name=f"run {run.id}", daemon=True)
        with self._lock:
            self._workers[run.id] = (thread, cancelled)
        thread.start()

    def _execute(self, run: Run, cancelled: threading.Event) -> None:
        try:
            with self._pool.lent(write=True) as context:
                self._open_desk(context, run).work(run.id, cancelled=cancelled.is_set)
        except Exception as fault:
            # A run that was cancelled before it began is nobody's fault.
            if getattr(fault, "code", None) != "ILLEGAL_MOVE":
                self._tell(fault)
        finally:
            with self._lock:
                self._workers.pop(run.id, None)
            self._woken.set()
