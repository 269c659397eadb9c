"""Public fakes and factories for tests of programs that use the orchestrator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from orchestrator import bootstrap as _bootstrap  # noqa: F401 - names what contexts ask of runs
from orchestrator.app import setup
from orchestrator.app.kernel.context import Context
from orchestrator.store import constants, memory


class Clock:
    """A clock that moves one second per reading, from a fixed start; always the same for the same calls."""

    def __init__(self) -> None:
        self.seconds = 0

    def __call__(self) -> str:
        """The next moment: UTC, ISO 8601, microseconds, Z."""
        self.seconds += 1
        days, rest = divmod(self.seconds, 86_400)
        hours, rest = divmod(rest, 3_600)
        return f"2026-01-{days % 28 + 1:02d}T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.000000Z"


@cache
def _initialised() -> bytes:
    context = _context(memory.connect(), Clock())
    setup.initialise(context)
    return bytes(context.connection.serialize())


def _context(connection: object, clock: Callable[[], str]) -> Context:
    return Context(connection, path=constants.IN_MEMORY, clock=clock, door="python", channel="process", deadline_s=1.0)


def memory_context(clock: Callable[[], str] | None = None, *, content: bytes | None = None) -> Context:
    """A context on a database in memory with agents and the shipped workflow; real schema, guards and use cases.

    Args:
        clock: gives the time of each step; a fake one where left out.
        content: what another such database serialised, to go on from there.
    """
    return _context(memory.connect(content or _initialised()), clock or Clock())
