"""Reading another program's database: never written, never trusted, and every row of it accounted for.

A file that nobody writes is opened immutable, so that nothing appears beside it; where a log stands beside it, both are
copied and the copy is read. No SQL that stands in the file is run: no view, trigger, function or virtual table.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import shown
from orchestrator.core.suggestions import joined, local, quoted, reason, sentence, suggest
from orchestrator.errors import InvalidInput
from orchestrator.hints import Any
from orchestrator.store import constants, sqlite

FILE_LIMIT = 512 * 1024 * 1024
"""Bytes of the largest file that is read."""
CONTENT_LIMIT = 64 * 1024 * 1024
"""Bytes of values that are taken from it at most."""
CELL_LIMIT = 16 * 1024 * 1024

NEEDED = {
    "sessions": ("session_id", "status"),
    "task_groups": ("id", "session_id", "status"),
    "success_criteria": ("session_id", "criterion"),
    "orchestration_logs": ("session_id", "content"),
}
"""The tables that are read, with the columns that each must have."""
READ = tuple(NEEDED)
REQUIRED = READ[:2]
"""The tables without which a file is no peer's."""

_PEER = sentence("name the SQLite database of the other tool: {}", suggest("import peer", file="FILE"))
_MAGIC = b"SQLite format 3\0"
_FORGIVEN = r"(?:NULL|TEXT|NUMERIC|non-[A-Z]+) value in|CHECK constraint failed"
"""What a check of the pages may say about values; those are looked at one by one."""

Row = dict[str, Any]


class Table(NamedTuple):
    """A table of the file: how many rows it has (None: they cannot be counted), and those that were read."""

    name: str
    size: int | None
    rows: tuple[Row, ...] = ()


class Peer(NamedTuple):
    """What a file holds: its name without its folder, SHA-256, the peer's schema version, and every table."""

    name: str
    hash: str
    version: int | None
    tables: tuple[Table, ...]

    def rows(self, table: str) -> tuple[Row, ...]:
        """The rows of a table that is read; none where the file lacks it."""
        return next((each.rows for each in self.tables if each.name.lower() == table), ())


def invalid(file: str, *found: tuple[str, str], suggestion: str = "") -> InvalidInput:
    """The file cannot be imported; `found` are pairs of a stable id and what is wrong."""
    listed = [{"id": id_, "message": message} for id_, message in found]
    message = sentence(
        "{} cannot be imported: {}.", local(shown(file, 300)), joined([message for _, message in found], "; ")
    )
    way = suggestion or _PEER
    return InvalidInput("PEER_INVALID", message, way, problems=listed)


def read(path: str) -> Peer:
    """Read a peer's database.

    Args:
        path: the file; every character is meant literally.

    Raises:
        InvalidInput: PEER_INVALID {problems}: it is missing, unreadable, no database, damaged, not a peer's, too
            large, or it changed while it was being read.
    """
    try:
        real = os.path.realpath(path)
        before = _state(real, path)
        with _opened(real, path) as connection:
            found = _read(connection, path)
        digest = _hash(real)
        changed = _state(real, path) != before
    except sqlite3.Error as error:
        raise _translated(error, path) from error
    except (OSError, ValueError) as error:
        raise invalid(path, ("unreadable", sentence("it cannot be read: {}", reason(error)))) from error
    if changed:
        raise invalid(path, ("changed", "it changed while it was being read"), suggestion="Repeat when nothing is"
            " writing"
            " to it")
    name = os.path.basename(real).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return Peer(name, digest, *found)


def _state(real: str, path: str) -> tuple[Any, ...]:
    """What tells a file and its logs from what they are after somebody wrote to them."""
    try:
        found = os.stat(real)
    except (FileNotFoundError, NotADirectoryError):
        raise invalid(path, ("missing", "there is no such file")) from None
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file"
        raise invalid(path, ("no_file", f"it is {what}"))
    if not os.access(real, os.R_OK):
        way = sentence("chmod u+r {}, as its owner", quoted(real))
        raise invalid(path, ("unreadable", "this user may not read it"), suggestion=way)
    states = [found, *(os.stat(each) for each in _logs(real))]
    size = sum(each.st_size for each in states)
    if size > FILE_LIMIT:
        raise invalid(path, ("too_large", f"it has {size} bytes; {FILE_LIMIT} are allowed"))
    _check_header(real, path, found.st_size)
    return tuple((each.st_dev, each.st_ino, each.st_size, each.st_mtime_ns) for each in states)


def _check_header(real: str, path: str, size: int) -> None:
    with open(real, "rb") as stream:
        header = stream.read(100)
    if not size:
        raise invalid(path, ("empty", "it is empty"))
    if len(header) < 100 or not header.startswith(_MAGIC):
        raise invalid(path, ("no_database", "it is not an SQLite database"))
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big") if header[24:28] == header[92:96] else 0
    if pages * (65536 if page == 1 else page) > size and not _logs(real):
        raise invalid(path, ("damaged", "it is cut off: pages are missing at the end"))


def _logs(real: str) -> list[str]:
    """The logs with content that stand beside a file."""
    return [each for each in (f"{real}-wal", f"{real}-journal") if os.path.exists(each) and os.path.getsize(each)]


@contextmanager
def _opened(real: str, path: str) -> Iterator[sqlite3.Connection]:
    if not _logs(real):
        with _connected(real, "mode=ro&immutable=1", path) as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory(prefix="orchestrator-import-") as folder:
        copy = os.path.join(folder, "peer.db")
        shutil.copyfile(real, copy)
        for log in _logs(real):
            shutil.copyfile(log, copy + log.removeprefix(real))
        # Taking in what the log holds writes to the copy.
        with _connected(copy, "mode=rw", path) as connection:
            yield connection


@contextmanager
def _connected(real: str, mode: str, path: str) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(sqlite.uri(real, mode), uri=True, isolation_level=None, timeout=0)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL_LIMIT)
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        connection.executescript(
            "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA ignore_check_constraints=ON;"
            " PRAGMA query_only=ON;"
        )
        _check_pages(connection, path)
        connection.set_authorizer(_only_reading)
        yield connection
    finally:
        connection.close()


def _check_pages(connection: sqlite3.Connection, path: str) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application == constants.APPLICATION_ID:
        raise invalid(path, ("own_database", "it is a database of this program, not of another tool"))
    said = (str(row[0]) for row in connection.execute("PRAGMA quick_check(100000)"))
    faults = [text for text in said if text != "ok" and not re.match(_FORGIVEN, text)]
    if faults:
        raise invalid(path, ("damaged", f"it is damaged: {shown(faults[0], 200)}"))


def _only_reading(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    plain = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
    counts = action == sqlite3.SQLITE_FUNCTION and second == "count"
    lists = action == sqlite3.SQLITE_PRAGMA and first == "table_xinfo"
    return sqlite3.SQLITE_OK if plain or counts or lists else sqlite3.SQLITE_DENY


def _read(connection: sqlite3.Connection, path: str) -> tuple[int | None, tuple[Table, ...]]:
    listed = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table' ORDER BY name")
    roots = dict(listed.fetchall())
    stored = [name for name, root in roots.items() if root]
    known = {name.lower(): name for name in stored}
    faults = [("missing_table", f"it has no table {name}") for name in REQUIRED if name not in known]
    if faults:
        raise invalid(path, *faults)
    wanted = {known[name] for name in READ if name in known}
    faults = [fault for name in READ if name in known for fault in _column_faults(connection, known[name])]
    if faults:
        raise invalid(path, *faults)
    budget = _Budget(path)
    tables = tuple(
        Table(name, _count(connection, name) if root else None, budget.take(connection, name) if name in wanted else ())
        for name, root in roots.items()
    )
    return _version(connection, known.get("schema_version")), tables


def _column_faults(connection: sqlite3.Connection, name: str) -> list[tuple[str, str]]:
    """Columns that a table lacks, and those that are no values but SQL to be run."""
    columns = connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
    present = {str(column[1]).lower() for column in columns}
    missing = (each for each in NEEDED[name.lower()] if each not in present)
    computed = (shown(column[1]) for column in columns if column[6])
    return [
        *(("missing_column", f"its table {name} has no column {each}") for each in missing),
        *(("runs_sql", f"the column {each} of its table {name} is computed by SQL of the file") for each in computed),
    ]


class _Budget:
    """Takes rows out of tables, as long as there is room for them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._left = CONTENT_LIMIT

    def take(self, connection: sqlite3.Connection, name: str) -> tuple[Row, ...]:
        cursor = connection.execute(f"SELECT * FROM {_quoted(name)}")
        columns = [column[0].lower() for column in cursor.description]
        found = []
        for values in cursor:
            self._left -= sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in values)
            if self._left < 0:
                message = f"its content has more than {CONTENT_LIMIT} bytes"
                raise invalid(self._path, ("too_large", message))
            found.append(dict(zip(columns, values, strict=True)))
        return tuple(found)


def _count(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {_quoted(name)}").fetchone()[0])


def _quoted(name: str) -> str:
    """A table's name as one word of SQL, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def _version(connection: sqlite3.Connection, table: str | None) -> int | None:
    if table is None:
        return None
    rows = connection.execute(f"SELECT * FROM {_quoted(table)} LIMIT 1000").fetchall()
    numbers = [row[0] for row in rows if type(row[0]) is int and 0 <= row[0] < 2**31]
    return max(numbers, default=None)


def _hash(real: str) -> str:
    """SHA-256 of the file and of what stands in its logs."""
    sha = hashlib.sha256()
    for each in (real, *_logs(real)):
        with pathlib.Path(each).open("rb") as stream:
            while block := stream.read(1 << 20):
                sha.update(block)
    return sha.hexdigest()


def _translated(error: sqlite3.Error, path: str) -> InvalidInput:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_TOOBIG:
        return invalid(path, ("too_large", f"one of its values has more than {CELL_LIMIT} bytes"))
    if code == sqlite3.SQLITE_NOTADB:
        return invalid(path, ("no_database", "it is not an SQLite database, or an encrypted one"))
    if code == sqlite3.SQLITE_AUTH:
        return invalid(path, ("runs_sql", "reading it would run SQL of its own"))
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN):
        return invalid(path, ("unreadable", sentence("it cannot be read: {}", local(error))))
    return invalid(path, ("damaged", sentence("it is damaged: {}", local(error))))
