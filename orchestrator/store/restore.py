"""Putting a backup in the place of a database: checked, alone, whole or not at all, and on record.

The backup is copied beside the database, brought to this program's schema, verified, and given an event that says what
it replaced. Then it takes the database's place in one move. What was there before stays among the backups.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from orchestrator import errors
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, sentence, suggestions
from orchestrator.store import (
    backup,
    constants,
    high_water,
    maintenance,
    migrate,
    problems,
    schema_diff,
    sqlite,
    verify_chain,
)
from orchestrator.store.findings import Found
from orchestrator.store.row_hashes import Span
from orchestrator.store.step import open_step

EVENT = "restore"
"""The kind of the event that a restore leaves in the store's chain."""

_HEADS = "SELECT session_id, max(seq), at FROM audit_events GROUP BY session_id ORDER BY session_id"
_HASH = "SELECT hash FROM audit_events WHERE session_id = ? AND seq = ?"
_MAGIC = b"SQLite format 3\0"
_USELESS = ("CORRUPT", "NO_DATABASE")
"""What opening a database says where nothing of it can be read, so that nobody else can work on it either."""


class Lost(NamedTuple):
    """What a chain loses: the last step that the backup has of it (0 for none), and the newest that there was."""

    session_id: str
    kept_seq: int
    lost_seq: int
    lost_at: str


class Restored(NamedTuple):
    """The schema version of the backup, where the replaced database is (None: there was none), and what is lost.

    Where of the replaced database only a log was left, `replaced` is that.

    lost: None where the replaced database could not be read.
    """

    version: int
    replaced: Path | None
    lost: list[Lost] | None


def restore(
    path: str | Path, file: str | Path, at: str, *, actor: str, channel: str = "cli", state_folder: str | None = None,
    deadline: float = sqlite.DEADLINE_S,
) -> Restored:
    """Put a backup, with the steps in its -wal, in the place of a database.

    Args:
        path: the database; it may be damaged or missing.
        file: the backup; it stays as it is.
        at: the time of the step, UTC, ISO 8601.
        actor: who asked for it, for the event in the store's chain.
        channel: the door it came through.
        state_folder: where this machine keeps what it has seen of the database; that is forgotten.
        deadline: seconds to wait for others who have the database open.

    Raises:
        EnvironmentProblem: NO_DATABASE, SCHEMA_TOO_NEW or CORRUPT of the backup; BUSY, others have the database open;
            READ_ONLY or DISK_FULL. The database is as it was.
        UsageError: USAGE, the backup is the database itself.
    """
    real, source = sqlite.real_path(path), sqlite.real_path(file)
    if real == source or (os.path.exists(real) and os.path.exists(source) and os.path.samefile(real, source)):
        raise errors.UsageError("USAGE", sentence("{} is the database itself.", local(source)), "name a backup of it")
    version = _version(source, deadline)
    with _full_disk_of(real), _staging(real) as folder:
        staged = str(backup.copy(source, os.path.join(folder, "new.db"), deadline))
        migrate.upgrade(staged, at, actor=actor, channel=channel, deadline=deadline)
        _verify(staged, source)
        replaced, lost = _exchange(real, staged, at, (actor, channel, os.path.basename(source)), deadline)
    connection = sqlite.connect(real, write=False, deadline=deadline)
    try:
        high_water.rewrite(connection, state_folder)
    finally:
        connection.close()
    return Restored(version, replaced, lost)


def _version(source: str, deadline: float) -> int:
    try:
        connection = sqlite.open_file(source, write=False, deadline=deadline)
    except errors.EnvironmentProblem as problem:
        advised = any(each.operation == "init" for each in suggestions(problem.suggestion))
        if advised or problem.suggestion.startswith("name a file"):
            # Whoever wants a backup back wants no new database in its place.
            problem.suggestion = problems.ANOTHER_BACKUP
        raise
    try:
        version = sqlite.read_version(connection, deadline)
    finally:
        connection.close()
    if version > constants.SCHEMA_VERSION:
        raise problems.too_new(source, version)
    if version == 0:
        raise problems.no_backup(source, "it has no schema")
    return version


@contextlib.contextmanager
def _full_disk_of(real: str) -> Iterator[None]:
    """Tell of a full disk at the database: what is prepared beside it is gone by the time that somebody reads of it."""
    try:
        yield
    except errors.EnvironmentProblem as problem:
        if problem.code != "DISK_FULL":
            raise
        raise problems.disk_full(real) from problem


@contextlib.contextmanager
def _staging(real: str) -> Iterator[str]:
    """A folder beside the database for one restore at a time; what a killed one has left in it is deleted."""
    folder = problems.restore_folder(real)
    try:
        sqlite.make_folder(os.path.dirname(real))
        os.makedirs(folder, 0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise problems.from_os(error, real) from error
    try:
        _lock(descriptor, real)
        for name in os.listdir(folder):
            shutil.rmtree(each) if os.path.isdir(each := os.path.join(folder, name)) else os.unlink(each)
        yield folder
        shutil.rmtree(folder)
    except OSError as error:
        raise problems.from_os(error, real) from error
    except errors.OrchestratorError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        os.close(descriptor)


def _lock(descriptor: int, real: str) -> None:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has another way, and one process at a time is the rule there
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise problems.busy(real) from None


def _verify(staged: str, source: str) -> None:
    """Require that a copy of a backup is whole: pages, schema, references, and its record."""
    wrong = [each.message for each in maintenance.check(staged) if each.severity == "error"]
    if not wrong:
        connection = sqlite.connect(staged, write=False)
        found = Found(source, 1)
        try:
            schema_diff.compare(connection, found)
            for span in (Span(constants.STORE_CHAIN), Span(None)):
                verify_chain.verify(connection, span, found)
        finally:
            connection.close()
        wrong = [each.message for each in found.kept]
    if wrong:
        raise problems.no_backup(source, wrong[0].replace(staged, source).rstrip("."))


def _exchange(
    real: str, staged: str, at: str, about: tuple[str, str, str], deadline: float
) -> tuple[Path | None, list[Lost] | None]:
    """Give the copy its event and move it to the database's place, while nobody else has that open."""
    old = _alone(real, deadline)
    try:
        lost = None if old is None else _lost(old, staged)
        name = _beside(real, at)
        _record(staged, at, about, name if _leftovers(real) else None, lost)
        kept = _keep(real, name, old)
        _sync(staged)
        os.replace(staged, real)
        _sync(os.path.dirname(real))
    except sqlite3.Error as error:
        raise sqlite.translate(error, real) or error from error
    finally:
        if old is not None:
            # The file is no longer at its path, so that SQLite leaves alone what lies there under the name of its log.
            old.close()
    return kept, [] if kept is None else lost


def _alone(real: str, deadline: float) -> sqlite.Connection | None:
    """A connection that nobody else has beside it, all steps in the file itself; None where nothing can be read."""
    if not _is_database(real):
        return None
    try:
        return sqlite.open_alone(real, deadline)
    except errors.EnvironmentProblem as problem:
        if problem.code not in _USELESS:
            raise
        return None


def _is_database(real: str) -> bool:
    """Whether a file begins as a database does. Of any other one SQLite would delete the log."""
    try:
        with open(real, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _lost(old: sqlite.Connection, staged: str) -> list[Lost] | None:
    new = sqlite.connect(staged, write=False)
    try:
        found = []
        for chain, last, at in old.execute(_HEADS).fetchall():
            kept = _common(old, new, chain, last)
            if kept < last:
                found.append(Lost(chain, kept, last, at))
        return found
    except sqlite3.Error:
        # Damaged further in.
        return None
    finally:
        new.close()


def _common(old: sqlite.Connection, new: sqlite.Connection, chain: str, last: int) -> int:
    """The last step that both have: where two chains have the same hash, they have the same steps up to there."""
    low, high = 0, last
    while low < high:
        middle = (low + high + 1) // 2
        row = old.execute(_HASH, (chain, middle)).fetchone()
        if row is not None and row == new.execute(_HASH, (chain, middle)).fetchone():
            low = middle
        else:
            high = middle - 1
    return low


def _record(staged: str, at: str, about: tuple[str, str, str], kept: Path | None, lost: list[Lost] | None) -> None:
    actor, channel, source = about
    said = None if lost is None else [each._asdict() for each in lost]
    connection = sqlite.connect(staged, write=True)
    try:
        with open_step(connection, constants.STORE_CHAIN, at) as step:
            given = {"from": source, "replaced": kept.name if kept else None, "lost": said}
            step.seal(EVENT, actor, channel, given)
    finally:
        connection.close()


def _leftovers(real: str) -> list[str]:
    """What lies at the place of the database: the file, and logs with content."""
    parts = ("", "-wal", "-journal")
    return [part for part in parts if os.path.exists(real + part) and (not part or os.path.getsize(real + part))]


def _beside(real: str, at: str) -> Path:
    place = Path(real)
    folder = place.parent / backup.FOLDER
    name = f"{place.stem}-replaced-{at.replace(':', '').replace('/', '')}"
    candidates = (folder / f"{name}{suffix}.db" for suffix in ("", *(f"-{number}" for number in range(2, 1000))))
    return next(each for each in candidates if not each.exists())


def _keep(real: str, kept: Path, old: sqlite.Connection | None) -> Path | None:
    """Keep what lies at the place of the database: the file under a second name, and logs that it still needs."""
    there = _leftovers(real)
    if not there:
        return None
    sqlite.make_folder(str(kept.parent))
    if "" in there:
        _second_name(real, kept, old)
    for log in there:
        if log:
            os.rename(real + log, f"{kept}{log}")
    _sync(str(kept.parent))
    return kept if "" in there else Path(f"{kept}{there[0]}")


def _second_name(real: str, kept: Path, old: sqlite.Connection | None) -> None:
    try:
        os.link(real, kept)
    except OSError:
        # The disk has no second names. To open the file here would end the lock on it.
        if old is None:
            shutil.copyfile(real, kept)
        else:
            with contextlib.closing(sqlite3.connect(kept)) as target:
                old.backup(target)
        os.chmod(kept, 0o600)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
