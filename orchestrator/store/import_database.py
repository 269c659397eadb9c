"""A database that takes an imported session: built aside, and put in its place whole or not at all."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.errors import Refused
from orchestrator.store import guards, high_water, migrate, problems, replay_database, sqlite

_MADE_BY_INIT = """SELECT 1 FROM audit_events WHERE NOT (kind IN ('migrate', 'init')
    OR (kind = 'workflow load' AND actor = 'system:router')) LIMIT 1"""
_WITHOUT_ROWID = 4
"""The column of PRAGMA table_list that says so."""
_KEPT = "audit_events_are_never_deleted"


def refuse_used(path: str, session: str | None = None) -> None:
    """Refuse a database that holds more than `init` puts into one.

    Raises:
        Refused: ALREADY_EXISTS, it has the session; NOT_EMPTY.
        EnvironmentProblem: CORRUPT, SCHEMA_TOO_NEW, SCHEMA_TOO_OLD, BUSY, NO_DATABASE: it cannot be told.
    """
    if not os.path.exists(path):
        return
    connection = sqlite.open_file(path, write=False)
    try:
        if sqlite.read_version(connection) == 0 and not sqlite.has_tables(connection):
            return
        sqlite.check_version(connection)
        _refuse_used(connection, path, session)
    except sqlite3.Error as error:
        raise sqlite.translate(error, path) or error from error
    finally:
        connection.close()


def _refuse_used(connection: sqlite3.Connection, path: str, session: str | None) -> None:
    known = connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone()
    fresh = suggest("audit import", file="FILE", db=os.path.join(os.path.dirname(path), 'new.db'))
    if known is not None:
        message = sentence("The database {} already has a session {}; nothing was imported.", local(path), session)
        raise Refused("ALREADY_EXISTS", message, fresh, path=path)
    if connection.execute(_MADE_BY_INIT).fetchone() is not None:
        message = sentence("The database {} is not empty; import an export into a new database.", local(path))
        raise Refused("NOT_EMPTY", message, fresh, path=path)


@contextmanager
def aside(path: str, at: str) -> Iterator[sqlite.Connection]:
    """A writing connection to a new database beside the path, with schema and guards and no event; gone at the end.

    Raises:
        EnvironmentProblem: READ_ONLY, DISK_FULL.
    """
    real = sqlite.real_path(path)
    folder = os.path.dirname(real)
    partial = os.path.join(folder, f".{os.path.basename(real)}.{uuid.uuid4().hex}.partial")
    made = not os.path.isdir(folder)
    try:
        migrate.upgrade(partial, at)
        connection = sqlite.connect(partial, write=True, kind=replay_database.Connection)
        try:
            # Nobody else knows the file, and what is lost with it is built again.
            connection.executescript("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF;")
            _forget_own_event(connection)
            yield connection
        finally:
            connection.close()
    finally:
        for name in (partial, *(f"{partial}-{end}" for end in ("wal", "shm", "journal"))):
            if os.path.exists(name):
                os.unlink(name)
        if made and os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)


def _forget_own_event(connection: sqlite.Connection) -> None:
    """The new file's own first event gives way to those that are imported."""
    trigger = dict(guards.TRIGGERS)[_KEPT]
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"DROP TRIGGER {_KEPT}")
    connection.execute("DELETE FROM audit_events")
    connection.execute(trigger)
    connection.execute("COMMIT")


def put(
    connection: sqlite.Connection, path: str, at: str, session: str | None, state_folder: str | None = None
) -> None:
    """Put what was built aside into its place.

    Args:
        state_folder: where this machine keeps what it has seen of the database; what `init` wrote is forgotten.

    Raises:
        Refused: ALREADY_EXISTS, NOT_EMPTY: another process was first.
        EnvironmentProblem: READ_ONLY, DISK_FULL, BUSY; nothing was changed.
    """
    real, built = sqlite.real_path(path), connection.path
    connection.settle()
    connection.executescript("PRAGMA synchronous=FULL; PRAGMA journal_mode=WAL;")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    _sync(built)
    if not os.path.exists(real):
        try:
            os.link(built, real)
        except FileExistsError:
            pass
        except OSError as error:
            raise problems.from_os(error, real) from error
        else:
            return
    migrate.upgrade(real, at)
    _copy(built, real, session, state_folder)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy(built: str, real: str, session: str | None, state_folder: str | None) -> None:
    """Put all rows into a database that has none but those of `init`, in one transaction."""
    connection = sqlite.connect(real, write=True)
    try:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("ATTACH ? AS taken", (built,))
        sqlite.begin_immediate(connection)
        _refuse_used(connection, real, session)
        forget = high_water.forget(connection, state_folder)
        guards.drop_all(connection)
        for table in _tables(connection):
            _require(connection, f'DELETE FROM main."{table}"', _count(connection, "main", table), table)
            _require(connection, _take(connection, table), _count(connection, "taken", table), table)
        guards.create_all(connection)
        sqlite.retry(lambda: connection.execute("COMMIT"), real)
        forget()
    except sqlite3.Error as error:
        raise sqlite.translate(error, real) or error from error
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.close()


def _count(connection: sqlite3.Connection, schema: str, table: str) -> int:
    return int(connection.execute(f'SELECT count(*) FROM {schema}."{table}"').fetchone()[0])


def _require(connection: sqlite.Connection, sql: str, rows: int, table: str) -> None:
    """Run a statement that is to write so many rows; a foreign trigger can skip some without an error.

    Raises:
        EnvironmentProblem: CORRUPT.
    """
    if connection.execute(sql).rowcount != rows:
        raise problems.skipped(connection.path, f"a row of {table}")


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        " AND name <> 'alembic_version'"
    )
    return [name for (name,) in rows]


def _take(connection: sqlite3.Connection, table: str) -> str:
    """The statement that takes all rows of a table over, in the order in which they were written."""
    names = ", ".join(f'"{row[1]}"' for row in connection.execute(f'PRAGMA main.table_info("{table}")'))
    # The name comes from the schema itself.
    (found,) = connection.execute(f'PRAGMA main.table_list("{table}")').fetchall()
    order = "" if found[_WITHOUT_ROWID] else " ORDER BY rowid"
    return f'INSERT INTO main."{table}" ({names}) SELECT {names} FROM taken."{table}"{order}'
