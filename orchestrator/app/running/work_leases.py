"""Leases of this process on a server's database, renewed by a thread for as long as the work goes on.

On a file nothing is leased: the system tells which processes live. The thread has a connection of its own; where the
server cannot be reached it tries again, and once the lease has expired the work is lost to whoever takes it over.

Source: spec 90, section 2.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Iterator

from orchestrator.app.kernel.context import Context
from orchestrator.core import database_urls
from orchestrator.core.suggestions import sentence
from orchestrator.errors import EnvironmentProblem, UsageError
from orchestrator.hints import Any
from orchestrator.runner import process_identity
from orchestrator.store import leases

VARIABLE = "ORCHESTRATOR_LEASE"
LEASE_S = 30
"""Seconds after which a process that renews nothing is taken for gone."""
_BEATS = 3
"""How often a lease is renewed before it would end."""


def seconds() -> int:
    """How long a lease lasts.

    Raises:
        UsageError: ORCHESTRATOR_LEASE is not a whole number of seconds from 2 to 3600.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return LEASE_S
    if not re.fullmatch(r"\d{1,4}", given) or not 2 <= int(given) <= 3600:
        message = f"{VARIABLE} must be a whole number of seconds from 2 to 3600."
        raise UsageError("USAGE", message, sentence("export {}", f"{VARIABLE}={LEASE_S}"))
    return int(given)


class Lease:
    """A lease that was taken; it is renewed until `give_back`.

    Args:
        connection: of its own.
        session: that is driven, or `leases.PROCESS`.
        lasts_s: how long it lasts.
        since: when it was taken at the latest, by the monotonic clock.
    """

    def __init__(self, connection: Any, session: str, lasts_s: int, since: float) -> None:
        self._connection, self._session, self._lasts_s = connection, session, lasts_s
        self._owner, self._until = process_identity.mine(), since + lasts_s
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name=f"lease {session}", daemon=True)
        self._thread.start()

    def is_lost(self) -> bool:
        """Whether it has expired, so that others may have taken over."""
        return time.monotonic() >= self._until

    def drop(self) -> None:
        """Renew it no more; it ends by itself."""
        self._is_over.set()
        self._thread.join()
        self._connection.close()

    def give_back(self) -> None:
        """End it, so that others need not wait for its end."""
        self._is_over.set()
        self._thread.join()
        # Where the server cannot be reached it ends by itself.
        with contextlib.suppress(EnvironmentProblem):
            leases.give_back(self._connection, self._session, self._owner)
        self._connection.close()

    def _renew(self) -> None:
        while not self._is_over.wait(self._lasts_s / _BEATS) and not self.is_lost():
            since = time.monotonic()
            try:
                kept = leases.renew(self._connection, self._session, self._owner, self._lasts_s * 1000)
            except EnvironmentProblem:
                self._reconnect()
                continue
            self._until = since + self._lasts_s if kept else since

    def _reconnect(self) -> None:
        self._connection.close()
        with contextlib.suppress(EnvironmentProblem):
            self._connection = self._connection.another(write=True)


def take(context: Context, session: str, mode: str) -> Lease | tuple[tuple[str, str], ...] | None:
    """Take the lease of a session for a driver of this process.

    Args:
        mode: how it is driven, as `store.leases` has it.

    Returns:
        The lease; or who holds one that excludes it, as owner and mode; or None where a session that would be driven
        alone was skipped, since a step of it is under way.
    """
    lasts, since = seconds(), time.monotonic()
    connection = context.connection.another(write=True)
    found: tuple[tuple[str, str], ...] | None = None
    try:
        found = leases.take(
            connection, session, process_identity.mine(), mode, lasts * 1000, waits=mode != leases.ALONE,
            deadline_s=context.deadline_s,
        )  # fmt: skip
        return found if found or found is None else Lease(connection, session, lasts, since)
    finally:
        if found or found is None:
            connection.close()


_lock = threading.Lock()
_own: dict[str, tuple[Lease, int]] = {}
"""The lease of this process on each server's database, with how many pieces of work need it."""


@contextlib.contextmanager
def at_work(context: Context) -> Iterator[None]:
    """Have other machines know that this process lives, while the block runs."""
    if not database_urls.is_postgresql(context.path):
        yield
        return
    with _lock:
        lease, count = _own.get(context.path) or (take_own(context), 0)
        _own[context.path] = lease, count + 1
    try:
        yield
    finally:
        with _lock:
            lease, count = _own.pop(context.path)
            if count > 1:
                _own[context.path] = lease, count - 1
            else:
                lease.give_back()


def take_own(context: Context) -> Lease:
    """Take the lease of this process, whatever it works on.

    Raises:
        UsageError: as `seconds`. EnvironmentProblem: of the store.
    """
    lasts, since = seconds(), time.monotonic()
    connection = context.connection.another(write=True)
    leases.take_own(connection, process_identity.mine(), lasts * 1000)
    return Lease(connection, leases.PROCESS, lasts, since)
