"""Connections to a SQLite file: how they are opened, how they wait, and what their errors mean.

The only module that knows SQLite's open modes, pragmas and result codes.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable

from orchestrator import errors, files
from orchestrator.core import names
from orchestrator.core.suggestions import local, sentence
from orchestrator.hints import TYPE_CHECKING, Protocol, TypeVar
from orchestrator.store import constants, problems

if TYPE_CHECKING:
    import pathlib

_T = TypeVar("_T")

DEADLINE_S = 10.0
SYNCHRONOUS = ("FULL", "NORMAL")

_HEADER_BYTES = 100

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")

_BUSY, _LOCKED, _PROTOCOL = 5, 6, 15
_BUSY_SNAPSHOT = 517
"""A connection that reads an older state wants to write: it has to stop reading, and waiting changes nothing."""
_PERM, _READONLY, _READONLY_DBMOVED = 3, 8, 1032
_IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 10, 11, 13, 14, 26
_DAMAGED = ("unsupported file format", "JSON cannot hold BLOB values")
"""What SQLite says of a header that no version of it wrote, and of bytes where a row of the record holds text. Its code
is that of every wrong statement."""
_SHARED_MEMORY = frozenset((4618, 4874, 5130, 5386))
"""IOERR of opening, sizing, locking and mapping the -shm file."""
_MARK_TABLE = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
_OLDER = f"SELECT 1 FROM sqlite_master WHERE name IN ({', '.join('?' * len(constants.OLDER_MARKS))})"
_IOERR_WRITES = frozenset((778, 1034, 1290, 1546, 4618, 4874))
"""IOERR of write, fsync, folder fsync, truncate, opening and sizing the -shm file: there is no room, in practice."""

# For each null and each bytes that a statement is given the library looks for an adapter, and searching in vain takes
# longer than binding ten texts. These give the value itself.
sqlite3.register_adapter(type(None), {None: None}.__getitem__)
sqlite3.register_adapter(bytes, bytes)

Identity = tuple[int, int]
"""Device and inode of a file."""
_NOWHERE: Identity = (-1, -1)


class StepMark(Protocol):
    """What is moved on with each step outside of the database, as `orchestrator.store.high_water` keeps it."""

    def note(self, chain: str, seq: int, digest: bytes, at: str) -> None:
        """Note a step that was committed."""


class Connection(sqlite3.Connection):
    """A connection that remembers which file it opened."""

    path: str = ":memory:"
    identity: Identity | None = None
    immutable: bool = False
    writes: bool = True
    mark: Identity | None = None
    seen: StepMark | None = None
    """The mark outside of the database that is moved on with each step; none is kept where it is None."""
    is_shared: bool = False
    """Whether steps that were sealed wait for `settle`."""

    def settle(self, deadline_s: float = DEADLINE_S) -> None:
        """Commit the steps that share a transaction, as `orchestrator.store.shared_commit` lets them; here none do."""


def connect(
    path: str | pathlib.Path, *, write: bool, deadline: float = DEADLINE_S, synchronous: str = "FULL",
    shared: bool = False, kind: type[Connection] = Connection,
) -> Connection:
    """Open an existing database of this program's schema version.

    Args:
        path: the file; every character is meant literally.
        write: open for steps; else nothing can be written through the connection.
        deadline: seconds to wait while another process holds the file.
        synchronous: FULL survives a power cut, NORMAL may lose the last steps then; for writing.
        shared: threads may hand the connection to each other, each using it alone.
        kind: its class.

    Raises:
        EnvironmentProblem: NO_DATABASE, BUSY, READ_ONLY, CORRUPT, SCHEMA_TOO_NEW or SCHEMA_TOO_OLD.
    """
    connection = open_file(path, write=write, deadline=deadline, synchronous=synchronous, shared=shared, kind=kind)
    try:
        check_version(connection, deadline)
        check_marks(connection, constants.SCHEMA_VERSION, deadline)
    except BaseException:
        connection.close()
        raise
    return connection


def open_file(
    path: str | pathlib.Path, *, write: bool, deadline: float = DEADLINE_S, synchronous: str = "FULL",
    shared: bool = False, kind: type[Connection] = Connection,
) -> Connection:
    """Open an existing database of any schema version, as `connect` does otherwise."""
    real = real_path(path)
    identity = _check_file(real, write)
    mode = _mode(real, write)
    files.databases.add(real)
    try:
        connection = sqlite3.connect(
            uri(real, mode), timeout=0, isolation_level=None, uri=True, factory=kind, cached_statements=256,
            check_same_thread=not shared,
        )
    except sqlite3.Error as error:
        raise translate(error, real) or error from error
    connection.path, connection.identity, connection.immutable = real, identity, "immutable" in mode
    connection.writes = write
    try:
        with_retry(lambda: prepare(connection, write=write, synchronous=synchronous), real, deadline)
        require_place(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def open_alone(path: str | pathlib.Path, deadline: float = DEADLINE_S) -> Connection:
    """Open a database that nobody else has open, and keep it so; all its steps are in the file itself then.

    Raises:
        EnvironmentProblem: BUSY, others have it open; and as `open_file`.
    """
    real = real_path(path)
    _check_file(real, True)
    files.databases.add(real)
    connection = sqlite3.connect(
        uri(real, "mode=rw"), timeout=0, isolation_level=None, uri=True, factory=Connection, check_same_thread=False
    )
    connection.path = real

    def take() -> None:
        # Before anything is read: so the memory that connections share is not used, and others that use it are found.
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    try:
        with_retry(take, real, deadline)
    except BaseException:
        connection.close()
        raise
    return connection


def copied(source: Connection, deadline: float = DEADLINE_S) -> Connection:
    """A writing connection to a copy of a database in memory; nothing of it reaches the file.

    Raises:
        EnvironmentProblem: BUSY, CORRUPT.
    """
    made = sqlite3.connect(
        ":memory:", isolation_level=None, factory=Connection, cached_statements=256, check_same_thread=False
    )
    try:
        with_retry(lambda: source.backup(made), source.path, deadline)
        prepare(made)
    except BaseException:
        made.close()
        raise
    made.path = source.path
    return made


def prepare(connection: sqlite3.Connection, *, write: bool = True, synchronous: str = "FULL") -> None:
    """Give a connection the settings that the store relies on; `:memory:` databases of tests take them too."""
    if not write:
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA schema_version")
        return
    if synchronous not in SYNCHRONOUS:
        raise errors.UsageError(
            "USAGE", f"ORCHESTRATOR_SYNCHRONOUS must be FULL or NORMAL, not {synchronous!r}.",
            "unset ORCHESTRATOR_SYNCHRONOUS",
        )
    connection.create_function(constants.WRITE_FUNCTION, 0, _one)
    connection.executescript(
        "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=ON; PRAGMA recursive_triggers=ON;"
        f" PRAGMA synchronous={synchronous};"
    )


def create(path: str | pathlib.Path, deadline: float = DEADLINE_S) -> tuple[str, ...]:
    """Make an empty database file (0600, in a folder 0700) in WAL mode; an existing file is only given the mode.

    Returns:
        Warnings: that the file works without WAL, where the disk does not offer it.

    Raises:
        EnvironmentProblem: READ_ONLY, DISK_FULL, NO_DATABASE, BUSY or CORRUPT.
    """
    real = real_path(path)
    if os.path.isdir(problems.restore_folder(real)):
        raise problems.half_restored(real)
    if pending_log(real) and not _has_content(real):
        raise problems.log_alone(real)
    made = not os.path.isdir(os.path.dirname(real))
    try:
        make_folder(os.path.dirname(real))
        os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return _use_wal(real, deadline)
    except OSError as error:
        raise problems.from_os(error, real) from error
    try:
        return _use_wal(real, deadline)
    except BaseException:
        discard(real, folder=made)
        raise


def discard(real: str, *, folder: bool) -> None:
    """Take away a database that could not be made, where it has no schema and nobody else is making it.

    Args:
        folder: take its folder away as well, where nothing else is in it.
    """
    try:
        connection = open_alone(real, 0.0)
    except (errors.OrchestratorError, sqlite3.Error):
        return
    try:
        if has_tables(connection):
            return
        for end in ("", "-shm", "-wal", "-journal"):
            with contextlib.suppress(OSError):
                os.unlink(f"{real}{end}")
    finally:
        connection.close()
    if folder:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(os.path.dirname(real), names.IGNORE_FILE))
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(real))


def check_version(connection: Connection, deadline: float = DEADLINE_S) -> None:
    """Refuse a file of another schema version."""
    version = read_version(connection, deadline)
    if version > constants.SCHEMA_VERSION:
        raise problems.too_new(connection.path, version)
    if version < constants.SCHEMA_VERSION:
        if version > 0:
            # What is newer than it says cannot be upgraded.
            check_marks(connection, version, deadline)
        raise problems.outdated(connection.path, version)


def check_marks(connection: Connection, version: int, deadline: float = DEADLINE_S) -> None:
    """Refuse a file whose number contradicts the mark of its migrations, or the guards that it has.

    Raises:
        EnvironmentProblem: CORRUPT; a file that says a newer version than it is would be used without its guards.
    """

    def read() -> tuple[list[str], bool]:
        return revisions(connection) or [], version != constants.SCHEMA_VERSION or not _is_older(connection)

    said, fits = with_retry(read, connection.path, deadline)
    if said != [f"{version:04}"]:
        raise problems.contradicts(connection.path, version, f"its migrations say {', '.join(said) or 'none'}")
    if not fits:
        raise problems.contradicts(connection.path, version, "it has the schema of another version")


def revisions(connection: sqlite3.Connection) -> list[str] | None:
    """What the mark of the migrations says; None where even its table is gone."""
    try:
        return [str(row[0]) for row in connection.execute("SELECT version_num FROM alembic_version ORDER BY 1")]
    except sqlite3.OperationalError as error:
        if is_busy(error) or connection.execute(_MARK_TABLE).fetchone() is not None:
            raise
        return None


def _is_older(connection: sqlite3.Connection) -> bool:
    return connection.execute(_OLDER, constants.OLDER_MARKS).fetchone() is not None


def read_version(connection: Connection, deadline: float = DEADLINE_S) -> int:
    """The schema version of a file, 0 where it has no schema yet; two reads of the file's first page.

    Raises:
        EnvironmentProblem: NO_DATABASE, it is another program's; BUSY or CORRUPT.
    """

    def read() -> tuple[int, bool]:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        ours = application == constants.APPLICATION_ID
        return version, ours or not (version or application or has_tables(connection))

    version, ours = with_retry(read, connection.path, deadline)
    if not ours:
        raise problems.not_ours(connection.path)
    return version


def has_tables(connection: sqlite3.Connection) -> bool:
    """Whether the file holds anything besides Alembic's own table."""
    sql = "SELECT 1 FROM sqlite_master WHERE tbl_name <> 'alembic_version' LIMIT 1"
    return connection.execute(sql).fetchone() is not None


def begin_immediate(
    connection: sqlite3.Connection,
    deadline_s: float = DEADLINE_S,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Take the write lock, trying again at short random distances so that no writer starves.

    Raises:
        EnvironmentProblem: BUSY after `deadline_s` seconds; NO_DATABASE when the file is no longer at its path.
    """
    path = getattr(connection, "path", "")
    retry(lambda: connection.execute("BEGIN IMMEDIATE"), path, deadline_s, sleep, now)
    try:
        require_place(connection)
    except errors.EnvironmentProblem:
        connection.rollback()
        raise


def is_alone(connection: sqlite3.Connection) -> bool:
    """Whether no other connection has the file open; SQLite leaves the mode with a write-ahead log only then.

    Where the file works without such a log, only connections that read or write at this moment are seen.
    """
    others = getattr(connection, "others", None)
    if others is not None:
        return not others()
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    try:
        if mode != "wal":
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
            return True
        (left,) = connection.execute("PRAGMA journal_mode=DELETE").fetchone()
        connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise
        return False
    return bool(left != "wal")


def require_place(connection: sqlite3.Connection, log: Identity | None = None) -> None:
    """Require that the open file is the one at its path still.

    Args:
        log: what `log_identity` said before; where there was a log then, it has to be the same.

    Raises:
        EnvironmentProblem: NO_DATABASE; every later step on the connection raises it as well.
    """
    path: str = getattr(connection, "path", "")
    identity: Identity | None = getattr(connection, "identity", None)
    if identity is None:
        return
    if _identity(path) != identity:
        raise problems.no_database(path, "was moved or deleted while it was open")
    if log is not None and log_identity(connection) != log:
        # What would be written now is found by nobody: from here on this file counts as gone (STO-17).
        connection.identity = _NOWHERE  # type: ignore[attr-defined]
        raise problems.no_database(path, "lost its -wal file, with its last steps, while it was open")


def log_identity(connection: sqlite3.Connection) -> Identity | None:
    """Device and inode of the file that the last steps lie in, which stays while it is open; None without one."""
    path: str = getattr(connection, "path", "")
    return _identity(f"{path}-wal") if path else None


def retry(
    action: Callable[[], _T],
    path: str = "",
    deadline_s: float = DEADLINE_S,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> _T:
    """Run a statement, and run it again while another process holds the file.

    Raises:
        EnvironmentProblem: BUSY after `deadline_s` seconds.
    """
    until = None
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            moment = now()
            until = moment + deadline_s if until is None else until
            if moment >= until:
                raise problems.busy(path, deadline_s) from error
            sleep(_jitter())


def with_retry(action: Callable[[], _T], path: str, deadline_s: float = DEADLINE_S) -> _T:
    """`retry`, with SQLite's own errors translated as well."""
    try:
        return retry(action, path, deadline_s)
    except sqlite3.Error as error:
        raise translate(error, path) or error from error


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the statement may succeed when it is run again."""
    extended: int = getattr(error, "sqlite_errorcode", 0)
    return extended != _BUSY_SNAPSHOT and extended & 0xFF in (_BUSY, _LOCKED, _PROTOCOL)


def translate(error: sqlite3.Error, path: str | pathlib.Path) -> errors.OrchestratorError | None:
    """Say what an error of SQLite means for the file, and which command helps.

    Returns:
        None where the error is none of the environment: a guard's refusal, a constraint, a fault of ours.
    """
    name = os.fspath(path)
    extended: int = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    if extended == _BUSY_SNAPSHOT:
        return problems.stale_read(name)
    if code in (_BUSY, _LOCKED, _PROTOCOL):
        return problems.busy(name)
    if extended == _READONLY_DBMOVED:
        return problems.no_database(name, "was moved or deleted while it was open")
    if code in (_READONLY, _PERM):
        return problems.read_only(name)
    if code == _FULL or extended in _IOERR_WRITES:
        return problems.disk_full(name)
    if extended in _SHARED_MEMORY:
        return problems.no_shared_memory(name)
    if code in (_CORRUPT, _NOTADB, _IOERR) or str(error) in _DAMAGED:
        return problems.corrupt(name, str(error))
    return problems.no_database(name, "cannot be opened") if code == _CANTOPEN else None


def real_path(path: str | pathlib.Path) -> str:
    """The absolute path of the file itself; beside it SQLite keeps its -wal and -shm."""
    try:
        return os.path.realpath(path)
    except ValueError:
        raise problems.no_database(repr(os.fspath(path)), "cannot exist: its path has a NUL character") from None


def pending_log(real: str) -> bool:
    """Whether a -wal file with content stands beside the file."""
    try:
        return os.stat(real + "-wal").st_size > 0
    except OSError:
        return False


def _has_content(real: str) -> bool:
    """Asked after the log was found: a file that has one has content, and others may be making both."""
    try:
        return os.stat(real).st_size > 0
    except OSError:
        return False


def make_folder(folder: str) -> None:
    """Create a folder that only its owner may enter, where it is missing; git is to ignore one of our own."""
    if not os.path.isdir(folder):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise
    if os.path.basename(folder) == constants.FOLDER:
        ignore(folder)


def ignore(folder: str) -> None:
    """Let git ignore all that a folder holds, unless somebody has said there what it is to ignore."""
    place = os.path.join(folder, names.IGNORE_FILE)
    try:
        descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    with open(descriptor, "wb") as file:
        file.write(names.IGNORE_ALL)


def locked_files(real: str) -> list[str]:
    """What of the file, its folder and its logs exists and may not be written by this user."""
    parts = (real, os.path.dirname(real), f"{real}-wal", f"{real}-shm")
    return [part for part in parts if _is_there(part) and not os.access(part, os.W_OK) and _is_there(part)]


def _is_there(part: str) -> bool:
    """Asked before and after the permission: other processes make and remove the logs at any time."""
    return os.path.exists(part)


def _one() -> int:
    return 1


def _check_file(real: str, write: bool) -> tuple[int, int]:
    try:
        found = os.stat(real)
    except (FileNotFoundError, NotADirectoryError):
        raise problems.no_database(real) from None
    except OSError as error:
        raise problems.from_os_reading(error, real) from error
    if not stat.S_ISREG(found.st_mode):
        raise problems.no_file(real, folder=stat.S_ISDIR(found.st_mode))
    if not found.st_size and pending_log(real) and not _has_content(real):
        # SQLite would delete the log. One that belongs to the file is never there before the file has content (STO-7).
        raise problems.log_alone(real)
    if 0 < found.st_size < _HEADER_BYTES:
        # SQLite takes a file of one byte for an empty one, and would write over it.
        raise problems.corrupt(real, "file is not a database")
    if not os.access(real, os.R_OK):
        raise problems.unreadable(real)
    if write and (locked := locked_files(real)):
        raise problems.read_only(real, locked)
    return found.st_dev, found.st_ino


def _identity(path: str) -> Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def uri(real: str, mode: str) -> str:
    """A file as SQLite's URI, in which every character of its path is meant literally."""
    quoted = "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in os.fsencode(real))
    # The empty authority keeps a path that begins with two slashes a path.
    return f"file://{quoted}?{mode}"


def _mode(real: str, write: bool) -> str:
    if write:
        return "mode=rw"
    reachable = os.access(os.path.dirname(real), os.W_OK)
    if reachable and os.stat(real).st_mode & 0o222:
        return "mode=ro"
    if not pending_log(real):
        # Nobody can write it. In a folder that can be written, a -shm file that is as read-only as the database
        # would be left behind otherwise, and stop writers when the database is made writable again (STO-13).
        return "mode=ro&immutable=1"
    if reachable:
        return "mode=ro"
    raise problems.unread_log(real)


def _use_wal(real: str, deadline: float) -> tuple[str, ...]:
    """Write-ahead logging, or a rollback journal where the disk cannot share memory: some decline it, others fail."""
    try:
        connection = open_file(real, write=True, deadline=deadline)
        try:
            mode = with_retry(lambda: _set_journal(connection, "WAL"), real, deadline)
            # The first look shows whether memory can be shared.
            with_retry(lambda: connection.execute("SELECT 1 FROM sqlite_master").fetchone(), real, deadline)
        finally:
            connection.close()
    except errors.EnvironmentProblem as problem:
        if not without_shared_memory(problem):
            raise
        alone = open_alone(real, deadline)
        try:
            mode = with_retry(lambda: _set_journal(alone, "DELETE"), real, deadline)
            with contextlib.suppress(OSError):
                os.unlink(f"{real}-shm")
        finally:
            alone.close()
    if mode == "wal":
        return ()
    return (
        sentence(
            "{} is on a disk without write-ahead logging (a network mount?); it uses a rollback journal, so"
            " writers and readers block each other.",
            local(real),
        ),
    )


def _set_journal(connection: Connection, mode: str) -> str:
    (found,) = connection.execute(f"PRAGMA journal_mode={mode}").fetchone()
    return str(found)


def without_shared_memory(problem: errors.EnvironmentProblem) -> bool:
    """Whether a file could not be opened since the disk does not let processes share memory."""
    return getattr(problem.__cause__, "sqlite_errorcode", 0) in _SHARED_MEMORY


def _jitter() -> float:
    """0.1 to 2 ms. From the system's chance: importing `random` costs more than a step."""
    return 0.0001 + 0.0019 * int.from_bytes(os.urandom(2), "big") / 0xFFFF
