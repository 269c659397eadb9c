"""What git knows about a database file, read from git's own files: git itself is never started.

A database below a repository is in danger as soon as git tracks it: a checkout, a reset or a stash then swaps the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from orchestrator import files, worktrees
from orchestrator.core import names
from orchestrator.core.suggestions import quoted, sentence

_LOGS = ("", "-wal", "-shm")
_NAME_LENGTH = 0xFFF
_EXTENDED = 0x40
_NO_STAGE_ABOVE_ONE = (0x00, 0x10, 0x80)
"""The high bits of an entry's flags, its length left out; no name of a file has these bytes before a match."""


def untrack(path: str) -> str | None:
    """The command that makes git forget a database; None where git does not track it.

    Args:
        path: the database's own absolute path. Its -wal and -shm count as well.
    """
    root = _root(os.path.dirname(path))
    index = None if root is None else _index(root)
    if root is None or index is None:
        return None
    relative = os.path.relpath(path, root)
    indexes = [each for each in (index, _shared(index, root)) if each is not None]
    candidates = [f"{relative}{log}" for log in _LOGS]
    tracked = [name for name in candidates if any(_holds(each, root, os.fsencode(name)) for each in indexes)]
    if not tracked:
        return None
    return sentence("git -C {} rm --cached -- {}", quoted(root), " ".join(map(names.word, tracked)))


def _root(folder: str) -> str | None:
    while not worktrees.is_root(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _index(root: str) -> bytes | None:
    return _content(os.path.join(worktrees.git_folder(root), "index"))


def _content(file: str) -> bytes | None:
    try:
        with files.opened(file) as stream:
            return stream.read()
    except (files.Unreadable, OSError):
        return None


def _shared(index: bytes, root: str) -> bytes | None:
    """The index that a split one rests on; its `link` extension names it by hash. None for any other."""
    size = _hash_size(root)
    place = index.rfind(b"link", 0, len(index) - size)
    if place < 0:
        return None
    name = f"sharedindex.{index[place + 8 : place + 8 + size].hex()}"
    return _content(os.path.join(worktrees.git_folder(root), name))


def _holds(index: bytes, root: str, name: bytes) -> bool:
    """Whether an index has an entry of this name. One search: an index may list a hundred thousand files."""
    if index[4:8] == b"\x00\x00\x00\x04":
        return name in _compressed(index, root)
    place = index.find(name + b"\0")
    while place > 0:
        if _is_entry(index, place, len(name)):
            return True
        place = index.find(name + b"\0", place + 1)
    return False


def _is_entry(index: bytes, place: int, length: int) -> bool:
    """Whether what stands before a name are the flags of its entry, which hold the length of the name."""
    wanted = min(length, _NAME_LENGTH)
    for start, extended in ((place - 2, 0), (place - 4, _EXTENDED)):
        high, low = index[start], index[start + 1]
        flags = high & 0xF0
        if ((high & 0x0F) << 8 | low) == wanted and flags & ~extended in _NO_STAGE_ABOVE_ONE:
            return flags & _EXTENDED == extended
    return False


def _compressed(index: bytes, root: str) -> Iterator[bytes]:
    """The names of an index of version 4, each of which is told by what it adds to the one before."""
    place, name = 12, b""
    fixed = 40 + _hash_size(root)
    for _ in range(int.from_bytes(index[8:12], "big")):
        extended = index[place + fixed] & _EXTENDED
        dropped, place = _number(index, place + fixed + (4 if extended else 2))
        end = index.index(0, place)
        name = name[: len(name) - dropped] + index[place:end]
        place = end + 1
        yield name


def _number(index: bytes, place: int) -> tuple[int, int]:
    """A number of variable length and where it ends, as git writes the offsets of packs."""
    byte = index[place]
    value = byte & 0x7F
    while byte & 0x80:
        place += 1
        byte = index[place]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, place + 1


def _hash_size(root: str) -> int:
    common = worktrees.common_folder(root) or worktrees.git_folder(root)
    return 32 if b"objectformat = sha256" in (_content(os.path.join(common, "config")) or b"").lower() else 20
