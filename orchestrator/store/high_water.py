"""The high-water mark of a database: the newest step that this machine has seen of it, kept outside of it.

A checkout, a stash or a copy can bring an old state of the file back, whose hash chain is whole. The mark lies in the
user's state folder, in a folder for each path one small file for each first event, so that a new database at an old
path has none, and an older one in the place of another is told from it. It is written after each step without a sync:
it may lag behind, and never runs ahead.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping

from orchestrator.core import sha256
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.store import sqlite
from orchestrator.store.constants import STORE_CHAIN

FOLDER = "orchestrator"
FILES = "files"
"""The folder of links from files to their marks."""
_SIZE = 256
_CHECKPOINT_S = 2.0
"""Seconds that a checkpoint may take, amply: it writes to the file right after the log was written."""
_WRITTEN_BACK_BYTES = 1000 * (4096 + 24)
"""A log that was never larger has had no checkpoint: SQLite makes one after a thousand pages."""
_FIRST = "SELECT hash, at FROM audit_events WHERE session_id = ? ORDER BY seq LIMIT 1"
_EVENT = "SELECT hash FROM audit_events WHERE session_id = ? AND seq = ?"
_NEWEST = "SELECT session_id, seq, hash, at FROM audit_events ORDER BY rowid DESC LIMIT 1"


class Seen(NamedTuple):
    """A step that was seen: its chain, number, hash and time, and the inode of the file that it was seen in."""

    chain: str
    seq: int
    hash: bytes
    at: str
    inode: int | None = None


def worded(seen: Seen) -> str:
    """A step that was seen, for people."""
    chain = "the store" if seen.chain.startswith("@") else f"session {seen.chain}"
    return f"step {seen.seq} of {chain} ({seen.at})"


class Mark:
    """The open mark of a database; `note` moves it on."""

    def __init__(self, descriptor: int, inode: int) -> None:
        self._descriptor = descriptor
        self._end = f"{inode}\n"

    def note(self, chain: str, seq: int, digest: bytes, at: str) -> None:
        """Note a step that was committed. What cannot be written is left out: the mark lags behind then."""
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, f"{digest.hex()} {seq} {at} {chain} {self._end}".ljust(_SIZE).encode(), 0)

    def __del__(self) -> None:
        os.close(self._descriptor)


def state_folder(environment: Mapping[str, str]) -> str | None:
    """The user's state folder; None where the environment names none."""
    state, home = environment.get("XDG_STATE_HOME"), environment.get("HOME")
    if state and os.path.isabs(state):
        return os.path.join(state, FOLDER)
    return os.path.join(home, ".local", "state", FOLDER) if home and os.path.isabs(home) else None


def follow(connection: sqlite3.Connection, folder: str | None) -> Mark | None:
    """The mark to move on with each step of a writing connection; None where none can be kept.

    A database that went back keeps the mark that says so.
    """
    place = _place(connection, folder)
    if place is None or missing(connection, folder) is not None or moved(connection, folder) is not None:
        return None
    file = _file(connection, str(folder), place)
    is_known = os.path.exists(place) and os.path.lexists(file)
    mark = _open(place, _inode(connection))
    if mark is not None and not is_known:
        _lead(file, place)
    return mark


def missing(connection: sqlite3.Connection, folder: str | None) -> Seen | None:
    """The step that was seen and that the database no longer has; None where nothing is missing or no mark is kept."""
    place = _place(connection, folder)
    seen = None if place is None else _read(place)
    if place is None or seen is None or _has(connection, seen):
        return None
    # The connection may be at an earlier moment, and a mark that is read while it is written may be torn.
    seen = _read(place)
    path: str = getattr(connection, "path", "")
    fresh = sqlite.open_file(path, write=False)
    try:
        return None if seen is None or _has(fresh, seen) else seen
    finally:
        fresh.close()


def replaced(connection: sqlite3.Connection, folder: str | None) -> Seen | None:
    """The newest step that was seen of another database at the same path after this one had begun.

    None where there was none, or no mark is kept. A new database in the place of an older one is no loss to tell.
    """
    place = _place(connection, folder)
    if place is None:
        return None
    begun = connection.execute(_FIRST, (STORE_CHAIN,)).fetchone()[1]
    seen = _newest(_read(mark) for mark in _marks(os.path.dirname(place)) if mark != place)
    return seen if seen is not None and seen.at > begun else None


def moved(connection: sqlite3.Connection, folder: str | None) -> Seen | None:
    """The newest step that was seen of the same file at another path, and that it no longer has.

    Asked of a file of which nothing was seen at its own path yet; a copy has another inode, and may go its own way.
    """
    place = _place(connection, folder)
    if folder is None or place is None or os.path.exists(place):
        return None
    link = _file(connection, folder, place)
    seen = _read(link)
    if seen is None or _has(connection, seen):
        return None
    # A copy may get the inode of a file that was deleted; it was written after the mark, a moved file was not (STO-15).
    with contextlib.suppress(OSError):
        if os.stat(getattr(connection, "path", "")).st_mtime > os.stat(link).st_mtime + _CHECKPOINT_S:
            return None
    return seen


def has_older_log(path: str, folder: str | None) -> bool:
    """Whether a log with steps is older than its file, as where a backup was copied or moved over a live database.

    Asked before the file is opened, which may change the log's ctime.

    Args:
        path: the file's own absolute path.
    """
    try:
        log, file = os.stat(f"{path}-wal"), os.stat(path)
    except OSError:
        return False
    if not log.st_size:
        return False
    marks = [] if folder is None else _marks(os.path.join(folder, _name(os.fsencode(path))))
    inodes = {seen.inode for seen in map(_read, marks) if seen is not None and seen.inode}
    # A file of which nothing was seen here may be a copy that was made together with its log, in either order (STO-7).
    least = 0.0 if marks and log.st_size < _WRITTEN_BACK_BYTES else _CHECKPOINT_S
    if file.st_mtime - log.st_mtime > least:
        return True
    # A move leaves the mtime as it was, and permissions that are changed the inode.
    return file.st_ino not in inodes if inodes else file.st_ctime - log.st_mtime > least


def gone(path: str, folder: str | None) -> Seen | None:
    """The newest step that was seen of any database at a path where there is none; None where no mark is kept.

    Args:
        path: the file's own absolute path.
    """
    marks = [] if folder is None else _marks(os.path.join(folder, _name(os.fsencode(path))))
    return _newest(_read(mark) for mark in marks)


def earlier(connection: sqlite3.Connection, folder: str | None) -> Seen | None:
    """The newest step that was seen of another database at the same path, which ended before this one had begun."""
    place = _place(connection, folder)
    if place is None or replaced(connection, folder) is not None:
        return None
    return _newest(_read(mark) for mark in _marks(os.path.dirname(place)) if mark != place)


def _newest(found: Iterable[Seen | None]) -> Seen | None:
    return max((seen for seen in found if seen is not None), key=lambda seen: seen.at, default=None)


def _has(connection: sqlite3.Connection, seen: Seen) -> bool:
    row = connection.execute(_EVENT, (seen.chain, seen.seq)).fetchone()
    return row is not None and row[0] == seen.hash


def rewrite(connection: sqlite3.Connection, folder: str | None) -> None:
    """Take the newest step of the database for the newest that was seen at its path, as after a restore."""
    place = _place(connection, folder)
    for other in () if place is None else _marks(os.path.dirname(place)):
        with contextlib.suppress(OSError):
            os.unlink(other)
    mark = None if place is None else _open(place, _inode(connection))
    row = connection.execute(_NEWEST).fetchone()
    if mark is not None and row is not None:
        mark.note(*row)


def forget(connection: sqlite3.Connection, folder: str | None) -> Callable[[], None]:
    """What forgets the mark of a database as it is now: to be called once other content was put in its place."""
    place = _place(connection, folder)

    def unlink() -> None:
        with contextlib.suppress(OSError):
            os.unlink(place or "")

    return unlink


def _place(connection: sqlite3.Connection, folder: str | None) -> str | None:
    path: str = getattr(connection, "path", "")
    if folder is None or not path.startswith(os.path.sep):
        return None
    first = connection.execute(_FIRST, (STORE_CHAIN,)).fetchone()
    if first is None or type(first[0]) is not bytes:
        return None
    place = os.path.join(folder, _name(os.fsencode(path)), _name(first[0]))
    if not os.path.exists(place):
        _adopt(os.path.join(folder, _name(first[0] + os.fsencode(path))), place)
    return place


def _file(connection: sqlite3.Connection, folder: str, place: str) -> str:
    """Where a link leads from a file, by its inode and first event, to the mark at its path."""
    return os.path.join(folder, FILES, f"{_inode(connection)}-{os.path.basename(place)}")


def _lead(link: str, place: str) -> None:
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(link), 0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(link)
        os.symlink(place, link)


def _marks(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []


def _name(content: bytes) -> str:
    return sha256.new(content).hexdigest()[:40]


def _adopt(former: str, place: str) -> None:
    """Put a mark where it belongs that an earlier version kept as one file for path and first event together."""
    with contextlib.suppress(OSError):
        if os.path.isfile(former):
            os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
            os.rename(former, place)


def _inode(connection: sqlite3.Connection) -> int:
    identity: sqlite.Identity | None = getattr(connection, "identity", None)
    return 0 if identity is None else identity[1]


def _open(place: str, inode: int) -> Mark | None:
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    try:
        return Mark(os.open(place, flags, 0o600), inode)
    except FileNotFoundError:
        pass
    except OSError:
        return None
    try:
        os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
        return Mark(os.open(place, flags, 0o600), inode)
    except OSError:
        return None


def _read(place: str) -> Seen | None:
    try:
        with open(place, "rb", buffering=0) as file:
            text = file.read(_SIZE)
    except OSError:
        return None
    try:
        # An earlier version noted no inode.
        digest, seq, at, chain, *inode = text.decode().split()
        return Seen(chain, int(seq), bytes.fromhex(digest), at, *map(int, inode[:1]))
    except ValueError:
        return None
