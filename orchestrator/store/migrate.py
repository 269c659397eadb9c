"""Bringing a database file to another version of the schema: backed up, in one transaction, by one process at a time.

Alembic owns the versions; the files stand in `migrations/`. A revision is a number of four digits.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator import errors
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.hints import TYPE_CHECKING, Any
from orchestrator.store import backup, constants, declared_schema, problems, sqlite
from orchestrator.store.step import Step

if TYPE_CHECKING:
    import sqlalchemy as sa

EVENT = "migrate"
"""The kind of the event that a move of the schema leaves in the store's chain."""

BASE = "base"


class Versions(NamedTuple):
    """The schema versions of a file and of this program; 0 is a file without schema."""

    database: int
    program: int


class Moved(NamedTuple):
    """What an upgrade or downgrade did; equal versions mean that there was nothing to do."""

    before: int
    after: int
    backup: Path | None
    warnings: tuple[str, ...]


class _Move(NamedTuple):
    """A wanted move to a revision; `scripts` is None for this program's own, of which `newest` is the last."""

    scripts: Path | None
    revision: str
    newest: int
    is_up: bool
    at: str
    actor: str
    channel: str
    deadline: float

    def due(self, version: int) -> bool:
        """Whether there are steps from this version."""
        wanted = _number(self.revision)
        return version < wanted if self.is_up else version > wanted

    def makes(self, version: int) -> bool:
        """Whether the schema is made as it is declared: as all steps make it, and in a fifth of their time."""
        return self.is_up and not version and self.scripts is None


def upgrade(
    path: str | Path,
    at: str,
    *,
    actor: str = "system",
    channel: str = "cli",
    scripts: Path | None = None,
    deadline: float = sqlite.DEADLINE_S,
) -> Moved:
    """Create the database, or bring it to this program's version; safe when several processes start at once.

    Args:
        path: the file; it and its folder are created where they are missing.
        at: the time of the step, UTC, ISO 8601.
        actor: who asked for it, for the event in the store's chain.
        channel: the door it came through.
        scripts: another folder of migrations.
        deadline: seconds to wait for the lock.

    Raises:
        EnvironmentProblem: SCHEMA_TOO_NEW, READ_ONLY, DISK_FULL, CORRUPT, BUSY or NO_DATABASE; nothing was changed.
    """
    newest = _newest(scripts)
    move = _Move(scripts, f"{newest:04}", newest, True, at, actor, channel, deadline)
    real = sqlite.real_path(path)
    is_new, folder = not os.path.exists(real), os.path.dirname(real)
    makes_folder = not os.path.isdir(folder)
    if not makes_folder:
        with contextlib.suppress(OSError):
            # One of ours that an older program has made is not ignored by git yet.
            sqlite.make_folder(folder)
    warnings = sqlite.create(path, deadline) if _needs_journal(path) else ()
    try:
        before, after, copy = _run(path, move)
    except BaseException:
        if is_new:
            sqlite.discard(real, folder=makes_folder)
        raise
    return Moved(before, after, copy, warnings)


def downgrade(
    path: str | Path,
    revision: str,
    at: str,
    *,
    actor: str = "system",
    channel: str = "cli",
    scripts: Path | None = None,
    deadline: float = sqlite.DEADLINE_S,
) -> Moved:
    """Bring the database back to an older revision, or refuse.

    Args:
        path: the file.
        revision: `base`, or the number of a revision.
        at: the time of the step, UTC, ISO 8601.
        actor: who asked for it, for the event in the store's chain.
        channel: the door it came through.
        scripts: another folder of migrations.
        deadline: seconds to wait for the lock.

    Raises:
        UsageError: UNKNOWN_REVISION.
        EnvironmentProblem: DOWNGRADE_REFUSED, naming the rows that would be lost; and as `upgrade`.
    """
    known = _steps().revisions(scripts)
    if revision not in (BASE, *known):
        raise errors.UsageError(
            "UNKNOWN_REVISION", f"There is no revision {revision!r}; there are {', '.join((BASE, *known))}.",
            "name one of them",
        )
    return Moved(*_run(path, _Move(scripts, revision, _newest(scripts), False, at, actor, channel, deadline)), ())


def current(path: str | Path, *, scripts: Path | None = None) -> Versions:
    """The schema versions of a file and of this program.

    Raises:
        EnvironmentProblem: NO_DATABASE, CORRUPT or BUSY.
    """
    connection = sqlite.open_file(path, write=False)
    try:
        return Versions(sqlite.read_version(connection), _newest(scripts))
    finally:
        connection.close()


def refuse_loss(
    connection: sa.Connection,
    tables: Sequence[str] = (),
    columns: Mapping[str, Sequence[str]] | None = None,
    *,
    unread: Mapping[str, str] | None = None,
) -> None:
    """For a downgrade that drops tables or columns, or leaves rows that older programs misread: refuse when there are
    any. Events of migrations alone do not count.

    Args:
        connection: where the downgrade runs.
        tables: those that it drops; every one where none is named.
        columns: those that it drops, by table.
        unread: the condition on rows that older programs misread, by table; then only these count.

    Raises:
        EnvironmentProblem: DOWNGRADE_REFUSED with the number of rows of each table.
    """
    lost = {}
    for (table,) in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        ours = table != "alembic_version" and not table.startswith("sqlite_")
        dropped = table in tables if tables or unread else ours
        if dropped:
            where = f" WHERE kind <> '{EVENT}'" if table == "audit_events" else ""
            # The names come from the schema itself.
            lost[table] = connection.exec_driver_sql(f'SELECT count(*) FROM "{table}"{where}').scalar_one()
    given = {table: " OR ".join(f'"{name}" IS NOT NULL' for name in names) for table, names in (columns or {}).items()}
    for table, holds in (given | dict(unread or {})).items():
        lost[table] = connection.exec_driver_sql(f'SELECT count(*) FROM "{table}" WHERE {holds}').scalar_one()
    lost = {table: count for table, count in sorted(lost.items()) if count}
    if lost:
        rows = ", ".join(f"{count} of {table}" for table, count in lost.items())
        raise errors.EnvironmentProblem(
            "DOWNGRADE_REFUSED",
            f"The downgrade would lose rows: {rows}.",
            sentence("{}, then start with another file", suggest("db backup", file="FILE")),
            rows=lost,
        )


def statements(file: str | Path) -> Iterator[str]:
    """The statements of a file of SQL; triggers, which have semicolons inside, stay whole."""
    text = ""
    for line in Path(file).read_text("utf-8").splitlines(keepends=True):
        text += line
        if text.strip() and sqlite3.complete_statement(text):
            yield text.strip()
            text = ""


def _steps() -> Any:
    # Alembic takes longer to load than a database to be made, and few databases are ever moved.
    from orchestrator.store import alembic_steps

    return alembic_steps


def _newest(scripts: Path | None) -> int:
    return constants.SCHEMA_VERSION if scripts is None else _number(_steps().revisions(scripts)[-1])


def _number(revision: str) -> int:
    return 0 if revision == BASE else int(revision)


def _needs_journal(path: str | Path) -> bool:
    """Whether a file is still to be made, or has write-ahead logging on a disk that does not offer it."""
    if not os.path.exists(path):
        return True
    try:
        # Whoever died while creating the file may have left a journal, which only a writer can roll back.
        connection = sqlite.open_file(path, write=os.access(path, os.W_OK))
    except errors.EnvironmentProblem as problem:
        if sqlite.without_shared_memory(problem):
            return True
        raise
    try:
        return sqlite.read_version(connection) == 0 and not sqlite.has_tables(connection)
    finally:
        connection.close()


def _run(path: str | Path, move: _Move) -> tuple[int, int, Path | None]:
    connection = sqlite.open_file(path, write=True, deadline=move.deadline)
    try:
        version = _due(connection, move)
        if version is None:
            version = sqlite.read_version(connection)
            return version, version, None
        if move.makes(version):
            return _locked(connection, None, move)
        with _steps().attached(connection, move.scripts) as steps:
            return _locked(connection, steps, move)
    except sqlite3.Error as error:
        raise sqlite.translate(error, connection.path) or error from error
    finally:
        connection.close()


def _due(connection: sqlite.Connection, move: _Move) -> int | None:
    """The version of the file; None where no step is due from it."""
    version = sqlite.read_version(connection, move.deadline)
    if version > move.newest:
        raise problems.too_new(connection.path, version, move.newest)
    if version:
        sqlite.check_marks(connection, version, move.deadline)
    return version if move.due(version) else None


def _locked(connection: sqlite.Connection, steps: Any, move: _Move) -> tuple[int, int, Path | None]:
    # A rebuilt table is dropped on the way; with foreign keys on, that deletes the rows which refer to it.
    connection.execute("PRAGMA foreign_keys=OFF")
    sqlite.begin_immediate(connection, move.deadline)
    before = sqlite.read_version(connection, move.deadline)
    if _due(connection, move) is None:
        return before, before, None
    copy = None
    if before:
        copy = backup.copy(connection.path, backup.beside(connection.path, before, move.at), move.deadline)
    if steps is None:
        _make(connection)
    else:
        steps.take(move.revision, move.is_up, copy)
    after = sqlite.read_version(connection, move.deadline)
    _check_references(connection)
    try:
        _record(connection, before, after, move)
    except sqlite3.Error as error:
        # A trigger that somebody added may refuse the event.
        said = str(copy) if copy else None
        refused = problems.failed_step(connection.path, _RECORDING, str(error), _added_trigger(connection, after), said)
        raise sqlite.translate(error, connection.path) or refused from error
    return before, after, copy


def _make(connection: sqlite.Connection) -> None:
    # Whatever was taken back to no schema keeps the migrations' own table.
    connection.execute("DROP TABLE IF EXISTS alembic_version")
    for statement in declared_schema.creation():
        connection.execute(statement)
    connection.execute("INSERT INTO alembic_version VALUES (?)", (f"{constants.SCHEMA_VERSION:04}",))
    connection.execute(f"PRAGMA application_id={constants.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={constants.SCHEMA_VERSION}")


_RECORDING = "after the last (its audit event)"


def _added_trigger(connection: sqlite.Connection, version: int) -> str | None:
    """A trigger on the audit events that is none of this program's, where the schema is the one it knows."""
    if version != constants.SCHEMA_VERSION:
        return None
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_events'")
    known = {name for _, name in declared_schema.compared()}
    return next((name for (name,) in rows if name not in known), None)


def _check_references(connection: sqlite.Connection) -> None:
    broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    if broken:
        tables = ", ".join(sorted({row[0] for row in broken}))
        raise problems.broken_references(connection.path, tables, len(broken))


def _record(connection: sqlite.Connection, before: int, after: int, move: _Move) -> None:
    """Commit, with an event where the file still has a place for it."""
    if after:
        step = Step(connection, constants.STORE_CHAIN, move.at, move.deadline)
        step.seal(EVENT, move.actor, move.channel, {"from": before, "to": after})
    else:
        sqlite.retry(lambda: connection.execute("COMMIT"), connection.path, move.deadline)
