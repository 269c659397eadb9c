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
from collections.abc import Iterable, Mapping

from orchestrator.core import sha256
from orchestrator.core.tuples import NamedTuple
from orchestrator.store import sqlite
from orchestrator.store.constants import STORE_CHAIN

FOLDER = "orchestrator"
_SIZE = 256
_FIRST = "SELECT hash, at FROM audit_events WHERE session_id = ? ORDER BY seq LIMIT 1"
_EVENT = "SELECT hash FROM audit_events WHERE session_id = ? AND seq = ?"
_NEWEST = "SELECT session_id, seq, hash, at FROM audit_events ORDER BY rowid DESC LIMIT 1"


class Seen(NamedTuple):
    """A step that was seen: its chain, its number, its hash, and its time."""

    chain: str
    seq: int
    hash: bytes
    at: str


def worded(seen: Seen) -> str:
    """A step that was seen, for people."""
    chain = "the store" if seen.chain.startswith("@") else f"session {seen.chain}"
    return f"step {seen.seq} of {chain} ({seen.at})"


class Mark:
    """The open mark of a database; `note` moves it on."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def note(self, chain: str, seq: int, digest: bytes, at: str) -> None:
        """Note a step that was committed. What cannot be written is left out: the mark lags behind then."""
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, f"{digest.hex()} {seq} {at} {chain}\n".ljust(_SIZE).encode(), 0)

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
    if place is None or missing(connection, folder) is not None:
        return None
    return _open(place)


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
    mark = None if place is None else _open(place)
    row = connection.execute(_NEWEST).fetchone()
    if mark is not None and row is not None:
        mark.note(*row)


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


def _open(place: str) -> Mark | None:
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    try:
        return Mark(os.open(place, flags, 0o600))
    except FileNotFoundError:
        pass
    except OSError:
        return None
    try:
        os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
        return Mark(os.open(place, flags, 0o600))
    except OSError:
        return None


def _read(place: str) -> Seen | None:
    try:
        with open(place, "rb", buffering=0) as file:
            text = file.read(_SIZE)
    except OSError:
        return None
    try:
        digest, seq, at, chain = text.decode().split()
        return Seen(chain, int(seq), bytes.fromhex(digest), at)
    except ValueError:
        return None
