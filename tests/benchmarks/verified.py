"""What it costs to verify the record: row 11.

The history is one that was written in bulk, so its events are sealed once more over the rows that are there.
"""

from __future__ import annotations

import functools
import hashlib
import pathlib
import sqlite3
import tempfile
from collections.abc import Iterator

from orchestrator.app import operations
from orchestrator.app.context import Context
from orchestrator.store import constants, rows
from tests import forging
from tests.benchmarks import growth, harness, mix
from tests.benchmarks.table import Bound, Figure

STEPS = min(growth.MANY, 100_000)
"""How many routed steps are verified; the time grows evenly with them."""
BOUND = Bound(3, 1.3)


def verify(rounds: int) -> Iterator[Figure]:
    """Row 11: the whole database, and one session of it, beside a loop that reads every row and hashes it."""
    with tempfile.TemporaryDirectory() as folder:
        context = mix.open_file(history(pathlib.Path(folder) / "verified.db", STEPS), write=False)
        harness.keep_memory()
        seconds = harness.interleaved(
            {
                "everything": functools.partial(_verified, context, None),
                "session": functools.partial(_verified, context, growth.SESSION),
                "bare": functools.partial(hashed, context.connection),
            },
            rounds,
        )
        context.connection.close()
    for name, what in (("everything", "`audit verify`, the file's pages too,"), ("session", "`audit verify SESSION`")):
        yield Figure(f"{what} of {STEPS:,} steps", "hash loop over all rows", seconds[name] / seconds["bare"], BOUND)


def _verified(context: Context, session: str | None) -> None:
    answer = operations.call(context, "audit verify", session_id=session)
    if not answer["ok"]:
        raise harness.CommandFailed(f"the history does not verify: {answer['counts']}")


def hashed(connection: sqlite3.Connection) -> int:
    """Read every row of every table and hash it by itself; how many there are."""
    count = 0
    for table in (*rows.COLUMNS, "audit_events"):
        for row in connection.execute(f"SELECT * FROM {table}"):
            hashlib.sha256(repr(row).encode()).digest()
            count += 1
    return count


def history(path: pathlib.Path, steps: int) -> pathlib.Path:
    """A database with so many steps behind it that verifies.

    Args:
        steps: a multiple of four; each four are a finished group.
    """
    growth.history(path, steps, mix.calls(growth.SESSION, 1, prefix="N"))
    with forging.unguarded(path) as raw:
        forging.recompute(raw, growth.SESSION)
        # What is made in memory was never migrated.
        raw.execute("INSERT INTO alembic_version VALUES (?)", (f"{constants.SCHEMA_VERSION:04}",))
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path
