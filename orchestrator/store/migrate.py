"""Bringing a database file to another version of the schema: backed up, in one transaction, by one process at a time.

Alembic owns the versions; the files stand in `migrations/`. A revision is a number of four digits.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.pool import StaticPool

from orchestrator import errors, resources
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.hints import Any
from orchestrator.store import backup, constants, declared_schema, problems, sqlite
from orchestrator.store.step import Step

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
    """A wanted move: `revs` gives Alembic's steps from the present revision, `due` whether any are needed."""

    script: ScriptDirectory
    revs: Callable[[Any, Any], Any]
    due: Callable[[int], bool]
    at: str
    actor: str
    channel: str
    deadline: float


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
    script = _scripts(scripts)
    head = script.get_current_head() or BASE
    wanted = _number(head)
    move = _Move(
        script,
        lambda present, _: script._upgrade_revs(head, present),
        lambda version: version < wanted,
        at,
        actor,
        channel,
        deadline,
    )
    real = sqlite.real_path(path)
    is_new, folder = not os.path.exists(real), os.path.dirname(real)
    makes_folder = not os.path.isdir(folder)
    if not makes_folder:
        with contextlib.suppress(OSError):
            # One of ours that an older program has made is not ignored by git yet.
            sqlite.make_folder(folder)
    warnings = sqlite.create(path, deadline) if _is_empty(path) else ()
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
    script = _scripts(scripts)
    wanted = _number(_known(script, revision))
    move = _Move(
        script,
        lambda present, _: script._downgrade_revs(revision, present),
        lambda version: version > wanted,
        at,
        actor,
        channel,
        deadline,
    )
    return Moved(*_run(path, move), ())


def current(path: str | Path, *, scripts: Path | None = None) -> Versions:
    """The schema versions of a file and of this program.

    Raises:
        EnvironmentProblem: NO_DATABASE, CORRUPT or BUSY.
    """
    connection = sqlite.open_file(path, write=False)
    try:
        return Versions(sqlite.read_version(connection), _number(_scripts(scripts).get_current_head()))
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


def _scripts(folder: Path | None) -> ScriptDirectory:
    return ScriptDirectory(str(folder or resources.path("migrations")))


def _number(revision: str | None) -> int:
    return 0 if revision in (None, BASE) else int(str(revision))


def _known(script: ScriptDirectory, revision: str) -> str:
    known = [BASE, *sorted(each.revision for each in script.walk_revisions())]
    if revision not in known:
        raise errors.UsageError(
            "UNKNOWN_REVISION", f"There is no revision {revision!r}; there are {', '.join(known)}.", "name one of them"
        )
    return revision


def _is_empty(path: str | Path) -> bool:
    if not os.path.exists(path):
        return True
    # Whoever died while creating the file may have left a journal, which only a writer can roll back.
    connection = sqlite.open_file(path, write=os.access(path, os.W_OK))
    try:
        return sqlite.read_version(connection) == 0 and not sqlite.has_tables(connection)
    finally:
        connection.close()


def _run(path: str | Path, move: _Move) -> tuple[int, int, Path | None]:
    connection = sqlite.open_file(path, write=True, deadline=move.deadline)
    try:
        if not _due(connection, move):
            version = sqlite.read_version(connection)
            return version, version, None
        with _attached(connection) as alembic_connection:
            return _locked(connection, alembic_connection, move)
    except sqlite3.Error as error:
        raise sqlite.translate(error, connection.path) or error from error
    except sa.exc.DBAPIError as error:
        cause = error.orig
        raise (isinstance(cause, sqlite3.Error) and sqlite.translate(cause, connection.path)) or error from error
    except CommandError as error:
        what = sentence("its migrations do not match this program ({})", local(error))
        raise problems.corrupt(connection.path, what) from error
    finally:
        connection.close()


def _due(connection: sqlite.Connection, move: _Move) -> bool:
    version = sqlite.read_version(connection, move.deadline)
    known = _number(move.script.get_current_head())
    if version > known:
        raise problems.too_new(connection.path, version, known)
    if version:
        sqlite.check_marks(connection, version, move.deadline)
    return move.due(version)


@contextmanager
def _attached(connection: sqlite.Connection) -> Iterator[sa.Connection]:
    """The same connection for Alembic. SQLAlchemy rolls back when it first connects, so this precedes the lock."""
    engine = sa.create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with engine.connect() as attached, attached.begin():
        yield attached


def _locked(connection: sqlite.Connection, attached: sa.Connection, move: _Move) -> tuple[int, int, Path | None]:
    # A rebuilt table is dropped on the way; with foreign keys on, that deletes the rows which refer to it.
    connection.execute("PRAGMA foreign_keys=OFF")
    sqlite.begin_immediate(connection, move.deadline)
    before = sqlite.read_version(connection, move.deadline)
    if not _due(connection, move):
        return before, before, None
    copy = None
    if before:
        copy = backup.copy(connection.path, backup.beside(connection.path, before, move.at), move.deadline)
    _run_steps(connection, attached, move, copy)
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


_RECORDING = "after the last (its audit event)"


def _added_trigger(connection: sqlite.Connection, version: int) -> str | None:
    """A trigger on the audit events that is none of this program's, where the schema is the one it knows."""
    if version != constants.SCHEMA_VERSION:
        return None
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_events'")
    known = {name for _, name in declared_schema.compared()}
    return next((name for (name,) in rows if name not in known), None)


def _run_steps(connection: sqlite.Connection, attached: sa.Connection, move: _Move, copy: Path | None) -> None:
    config = Config()
    config.attributes["connection"] = attached
    try:
        with EnvironmentContext(config, move.script, fn=move.revs):
            move.script.run_env()
    except sa.exc.DBAPIError as error:
        cause = error.orig
        known = sqlite.translate(cause, connection.path) if isinstance(cause, sqlite3.Error) else None
        if known is not None:
            raise known from error
        found = _IN_THE_WAY.search(str(cause))
        step = _step_after(move.script, sqlite.revisions(connection) or [])
        said = str(copy) if copy else None
        raise problems.failed_step(connection.path, step, str(cause), found and found[1], said) from error


_IN_THE_WAY = re.compile(r"(?:named|table|view|index|trigger) \"?(\w+)\"?(?: already exists|$)")
"""What SQLite says where an object of a name is there already: "table x already exists", "... a table named x"."""


def _step_after(script: ScriptDirectory, done: Sequence[str]) -> str:
    """The step that comes after those that are done: which of them failed."""
    for each in reversed(list(script.walk_revisions())):
        if each.revision not in {up.revision for name in done for up in script.iterate_revisions(name, BASE)}:
            return f"{each.revision} ({each.doc.rstrip('.')})" if each.doc else str(each.revision)
    return "after the last"


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
