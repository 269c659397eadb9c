"""A context for each thread that runs a turn: another connection to the same database, by the same caller."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from orchestrator.app.kernel.context import Context
from orchestrator.store import high_water, sqlite

_LEVELS = ("OFF", "NORMAL", "FULL", "EXTRA")
_COPIED = ("rules_version", "secrets", "state_folder", "acts_for", "client")


def level(context: Context) -> str:
    """How safely a context writes, asked in its own thread."""
    return _LEVELS[context.connection.execute("PRAGMA synchronous").fetchone()[0]]


@contextlib.contextmanager
def beside(context: Context, level: str) -> Iterator[Context]:
    """A context of its own beside another one, for one thread; closed at the end.

    Args:
        level: as `level` gives it.

    Raises:
        EnvironmentProblem: as opening a database.
    """
    connection = sqlite.connect(context.path, write=True, deadline=context.deadline_s, synchronous=level)
    try:
        connection.seen = high_water.follow(connection, context.state_folder)
        made = Context(
            connection, path=context.path, clock=context.clock, door=context.door, channel=context.channel,
            deadline_s=context.deadline_s, run=context.run,
        )  # fmt: skip
        for name in _COPIED:
            setattr(made, name, getattr(context, name))
        yield made
    finally:
        connection.close()
