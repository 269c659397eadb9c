"""A trial of a call where the database cannot be written: it is played on a copy of it in memory."""

from __future__ import annotations

import copy

from orchestrator.app.kernel.context import Context
from orchestrator.store import sqlite
from orchestrator.store.reader import Reader


def of(context: Context) -> Context:
    """A context like another one, on a copy of its database; whoever closes it closes the copy alone.

    Raises:
        EnvironmentProblem: BUSY, CORRUPT.
    """
    made = copy.copy(context)
    made.connection = sqlite.copied(context.connection, context.deadline_s)
    made.reader = Reader(made.connection)
    made.is_rehearsal = True
    return made
