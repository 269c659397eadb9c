"""What somebody with the file and time can do to a record: drop what is in the way, change it, put it back, and forge.

Guards are put back exactly, so that only what they guarded can tell.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from orchestrator.store import row_hashes, step, verify_chain
from orchestrator.store.row_hashes import Span

_TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid"
_GUARDED = "SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"
_CONSTRAINTS = """SELECT conrelid::regclass::text, conname::text FROM pg_constraint
    WHERE contype = $1 AND connamespace = 'public'::regnamespace ORDER BY 1, 2"""
REFERENCES, CHECKS = "f", "c"
"""Kinds of constraints, as a server names them."""
_EVENTS = "SELECT * FROM audit_events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT 1000"
_RESEAL = "UPDATE audit_events SET rows = ?, prev_hash = ?, hash = ? WHERE session_id = ? AND seq = ?"


def disarm(connection: Any) -> list[str]:
    """Take the triggers of a database away, of a file or on a server, as its owner can; what puts them back."""
    if isinstance(connection, sqlite3.Connection):
        triggers = connection.execute(_TRIGGERS).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        return [sql for _, sql in triggers]
    tables = [name for (name,) in connection.run(_GUARDED).fetchall()]
    for name in tables:
        connection.run(f"ALTER TABLE {name} DISABLE TRIGGER USER")
    return [f"ALTER TABLE {name} ENABLE TRIGGER USER" for name in tables]


def rearm(connection: Any, statements: list[str]) -> None:
    """Put the triggers back, word by word."""
    for sql in statements:
        connection.execute(sql) if isinstance(connection, sqlite3.Connection) else connection.run(sql)


def loosen(connection: Any) -> None:
    """Take references and checks away."""
    if isinstance(connection, sqlite3.Connection):
        connection.executescript("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON")
        return
    for kind in (REFERENCES, CHECKS):
        drop(connection, kind)


def drop(connection: Any, kind: str) -> None:
    """Take the constraints of a kind away on a server."""
    for table, name in connection.run(_CONSTRAINTS, (kind,)).fetchall():
        connection.run(f"ALTER TABLE {table} DROP CONSTRAINT {name}")


@contextmanager
def refusing(connection: Any, table: str, why: str) -> Iterator[None]:
    """Let a database refuse every row of a table meanwhile."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute(f"CREATE TRIGGER refuses BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, '{why}'); END")
        yield
        connection.execute("DROP TRIGGER refuses")
        return
    connection.run(
        "CREATE FUNCTION refuses() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE integrity_constraint_violation USING MESSAGE = '{why}'; END $$"
    )
    connection.run(f"CREATE TRIGGER refuses BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION refuses()")
    yield
    connection.run("DROP FUNCTION refuses CASCADE")


@contextmanager
def unguarded(path: pathlib.Path) -> Iterator[sqlite3.Connection]:
    """A raw connection without triggers, references and checks; the triggers stand again afterwards, word by word."""
    connection = sqlite3.connect(path, isolation_level=None)
    loosen(connection)
    triggers = disarm(connection)
    yield connection
    rearm(connection, triggers)
    connection.close()


def tamper(path: pathlib.Path, *statements: str) -> None:
    """Run statements with the guards away."""
    with unguarded(path) as connection:
        for statement in statements:
            connection.execute(statement)


def recompute(connection: sqlite3.Connection, chain: str) -> None:
    """Make every event of a chain cover the rows as they are now, and every hash fit: a perfect forgery.

    Args:
        connection: without guards.
    """
    span = Span(chain)
    written = {
        table: verify_chain._Rows(connection, row_hashes.written(table, span, row_hashes.plain), span)
        for table in row_hashes.written_in(span)
    }
    last = connection.execute(step.LAST_EVENT, (chain,)).fetchone()[0]
    mentioned: set[tuple[str, str]] = set()
    before, hash_ = 0, step.FIRST_HASH
    connection.execute("BEGIN IMMEDIATE")
    while events := connection.execute(_EVENTS, (chain, before)).fetchall():
        for event in events:
            before = event[1]
            covered = _covered(connection, written, event, mentioned)
            if before == last:
                _cover_the_rest(connection, span, covered, mentioned)
            rows = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            own = step.event_hash(hash_, (*event[:7], rows))
            connection.execute(_RESEAL, (rows, hash_, own, chain, before))
            hash_ = own
    connection.execute("COMMIT")


def _covered(
    connection: sqlite3.Connection, written: dict[str, Any], event: tuple[Any, ...], mentioned: set[tuple[str, str]]
) -> dict[str, Any]:
    chain, seq, old = event[0], event[1], json.loads(event[7])
    covered: dict[str, Any] = {table: old[table] for table in row_hashes.BY_HASH if table in old}
    for table, found in written.items():
        if digest := found.until(chain.encode(), seq).get(seq):
            covered[table] = digest
    for table, states in old.get(step.STATE, {}).items():
        for key in states:
            given = row_hashes.key_of(table, chain, key)
            row = connection.execute(row_hashes.one(table, row_hashes.plain), given).fetchone()
            if row is not None:
                covered.setdefault(step.STATE, {}).setdefault(table, {})[key] = _digest(row[2])
                mentioned.add((table, key))
    return covered


def _cover_the_rest(
    connection: sqlite3.Connection, span: Span, covered: dict[str, Any], mentioned: set[tuple[str, str]]
) -> None:
    for table in row_hashes.CHANGING:
        for row in connection.execute(row_hashes.changing(table, span, row_hashes.plain), span.parameters):
            key = step.state_key(row[3:])
            if (table, key) not in mentioned:
                covered.setdefault(step.STATE, {}).setdefault(table, {})[key] = _digest(row[2])


def _digest(line: bytes) -> str:
    return hashlib.sha256(row_hashes.trimmed(line)).hexdigest()
