"""What drives the sessions that were begun through a server, each by one driver, as long as the server lives.

Which session needs a driver is in the record alone, so whoever kills a server loses nothing: the next one goes on with
the same sessions, and takes over what was left. A driver that has ended is started again once something has happened
in its session, or after a while where the surroundings were at fault.

Source: spec 80, section 5 (`serve --drive`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from orchestrator.app.driving import drive
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.running.worker import CHANNEL, Tell
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any
from orchestrator.store import leases, queries

LOOK_S = 0.5
"""Seconds between two looks for sessions that need a driver."""
PAUSES_S = (5.0, 30.0, 120.0, 600.0)
"""Seconds after which a driver is started again that the surroundings have stopped: the first time, the second, ..."""
ELSEWHERE_S = 5.0
"""The same where another process drives the session."""
DRIVING, RESTING, FAILED, STOPPING, ELSEWHERE = "driving", "resting", "failed", "stopping", "elsewhere"
_NEVER = 2**62
"""A step that no session has."""
_TOLD = ("waiting", "warning", "limited")
"""Events of a driver that say more than the record does."""


class Stopping(Exception):
    """The server ends, and something is waited for."""


class Standing(NamedTuple):
    """How it is with the driver of a session.

    state: DRIVING; RESTING, it has ended and nothing has happened since; FAILED, the surroundings do not let it go on;
    ELSEWHERE, another process drives it; STOPPING, the server ends. since: when that began. reason: why, or what the
    driver said last, in a sentence. fault: what has stopped it.
    """

    state: str
    since: str
    reason: str = ""
    fault: Exception | None = None


class _Rest(NamedTuple):
    """Until when a session has no driver: something happens after a step, or the clock has reached a time."""

    newest: int
    until: float | None
    faults: int
    standing: Standing


class Autopilot:
    """Drives what is begun through a server until it is stopped.

    Args:
        pool: lends contexts.
        open_context: opens one for a driver, which keeps it for itself and closes it.
        request: how every session is driven; its session is left out.
        tell: takes a fault that concerns no call.
        lacking: what keeps any driver from starting as things stand, and what helps; None where nothing does.
    """

    def __init__(
        self, pool: Pool, open_context: Callable[[], Context], request: Drive, tell: Tell, lacking: str | None = None
    ) -> None:
        self._pool, self._open_context, self._request, self._tell = pool, open_context, request, tell
        self.lacking = lacking
        self._lock = threading.Lock()
        self._drivers: dict[str, tuple[threading.Thread, Standing]] = {}
        self._rests: dict[str, _Rest] = {}
        self._wanted = drive.GO_ON
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._work, name="autopilot", daemon=True)

    def start(self) -> None:
        """Begin to look for sessions."""
        self._thread.start()

    def leave(self) -> None:
        """Start no further turn; what runs may end. Safe in a signal handler."""
        self._wanted = max(self._wanted, drive.START_NONE)

    def hurry(self) -> None:
        """Cancel what runs. Safe in a signal handler."""
        self._wanted = drive.CANCEL

    def stop(self) -> None:
        """Start no further turn, and wait until what runs has ended, by itself or because of `hurry`."""
        self.leave()
        self._woken.set()
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            drivers = [thread for thread, _ in self._drivers.values()]
        if drivers:
            sessions = "1 session" if len(drivers) == 1 else f"{len(drivers)} sessions"
            self._tell(Stopping(f"what runs in {sessions} may finish; Ctrl-C again cancels it"))
        for thread in drivers:
            thread.join()

    def standing(self, session_id: str) -> Standing | None:
        """How it is with the driver of a session; None for a session that is not driven here."""
        with self._lock:
            driver, rest = self._drivers.get(session_id), self._rests.get(session_id)
        found = driver[1] if driver else rest.standing if rest else None
        if found is not None and driver is not None and self._wanted != drive.GO_ON:
            return found._replace(state=STOPPING, reason="what runs may finish; no further turn is started")
        return found

    # --- in threads

    def _work(self) -> None:
        told: str | None = None
        listener = self._listener()
        while self._wanted == drive.GO_ON:
            try:
                self._look()
                told = None
            except Exception as fault:
                # The database may be gone or busy for a while; that is said once.
                if told != (told := getattr(fault, "code", None) or repr(fault)):
                    self._tell(fault)
            self._wait(listener)
        if listener is not None:
            listener.close()

    def _listener(self) -> Any | None:
        """What a server tells of steps by; None where it is only looked for them."""
        try:
            return self._pool.listener()
        except Exception:
            # A database that is gone is told by the look that follows.
            return None

    def _wait(self, listener: Any | None) -> None:
        """Wait until it is time for another look: a server tells when somebody has taken a step."""
        if listener is None:
            self._woken.wait(LOOK_S)
            return
        until = time.monotonic() + LOOK_S
        while not self._woken.wait(min(drive.POLL_S, LOOK_S)) and time.monotonic() < until:
            if listener.wait(0.0):
                return

    def _look(self) -> None:
        with self._pool.lent() as context:
            found = context.connection.execute(queries.SERVED_SESSIONS, {"channel": CHANNEL}).fetchall()
            now = context.clock()
        for session, newest in found:
            if self._wanted == drive.GO_ON and session not in self._drivers and self._is_due(session, newest):
                self._begin(str(session), now)
        open_ = {session for session, _ in found}
        with self._lock:
            self._rests = {session: rest for session, rest in self._rests.items() if session in open_}

    def _is_due(self, session: str, newest: int) -> bool:
        """Whether a session without a driver needs one: at first, and after its rest."""
        rest = self._rests.get(session)
        return rest is None or newest > rest.newest or (rest.until is not None and time.monotonic() >= rest.until)

    def _begin(self, session: str, now: str) -> None:
        thread = threading.Thread(target=self._drive, args=(session,), name=f"drive {session}", daemon=True)
        with self._lock:
            self._drivers[session] = (thread, Standing(DRIVING, now))
        thread.start()

    def _drive(self, session: str) -> None:
        """The thread of a driver."""
        ended: Answer | None = None
        fault: Exception | None = None
        try:
            ended = self._driven(session)
        except Exception as problem:
            fault = problem
        rest = self._rest(session, ended, fault)
        with self._lock:
            self._rests[session] = rest
            del self._drivers[session]
        # Only the first time: the same fault would come into the log again with every further try.
        if fault is not None and rest.faults == 1:
            self._tell(fault)

    def _driven(self, session: str) -> Answer:
        context = self._open_context()
        try:
            watcher = drive.Watcher(lambda event: self._hear(session, event), lambda: self._wanted)
            # Before all else: whoever has to wait for another process asks no client for its login meanwhile.
            with drive.held(context, session, leases.ALONE) as hold:
                return drive.drive(context, self._request.replaced(session_id=session), watcher, hold=hold)
        finally:
            context.connection.close()

    def _hear(self, session: str, event: Answer) -> None:
        """Keep what a driver says that the record does not."""
        if event["event"] not in _TOLD:
            return
        with self._lock:
            thread, standing = self._drivers[session]
            self._drivers[session] = (thread, standing._replace(reason=event["reason"]))

    def _rest(self, session: str, ended: Answer | None, fault: Exception | None) -> _Rest:
        """What follows on the end of a driver."""
        # Asked after the driver's end, so that its own last steps do not start it again.
        newest, now = self._newest(session)
        if fault is None:
            reason = ended["reason"] if ended else ""
            return _Rest(newest, None, 0, Standing(RESTING, now, reason))
        if isinstance(fault, drive.DrivenElsewhere):
            # Only the clock ends this rest: the other process's own steps say nothing about whether it still drives.
            return _Rest(_NEVER, time.monotonic() + ELSEWHERE_S, 0, Standing(ELSEWHERE, now))
        with self._lock:
            before = self._rests.get(session)
        faults = (before.faults if before else 0) + 1
        pause = PAUSES_S[min(faults, len(PAUSES_S)) - 1]
        return _Rest(newest, time.monotonic() + pause, faults, Standing(FAILED, now, fault=fault))

    def _newest(self, session: str) -> tuple[int, str]:
        """The newest step of a session, and the time; 0 where the database cannot be read, so that it is looked again.
        """
        try:
            with self._pool.lent() as context:
                row = context.reader.one(queries.NEWEST_STEP, session=session)
                return int(str(row[0])) if row else 0, context.clock()
        except Exception:
            return 0, ""
