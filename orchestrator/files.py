"""The one reader of every file that a user names: regular files only, no larger than a limit, text in UTF-8.

A named pipe would make the call wait for a writer, a device may never end, and a folder has no content. Each of them,
a socket and a loop of symbolic links are told by name instead. A symbolic link to a regular file is followed.
"""

from __future__ import annotations

import os
import stat

from orchestrator import errors
from orchestrator.core.suggestions import local, reason, sentence
from orchestrator.hints import BinaryIO

TEXT_LIMIT = 8 * 1024 * 1024
"""Bytes of the largest file that is read, unless the caller has a limit of its own."""

_FOLLOW = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_KINDS = (
    (stat.S_ISLNK, "it is a symbolic link"),
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a named pipe; write its content to a file first"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
)


databases: set[str] = set()
"""The databases that this process has opened, by their real paths.

Whoever opens such a file by itself, or one that SQLite keeps beside it, and closes it again, ends the locks of every
connection in this process. Another process would then take itself for the last one that uses the database, and delete
the steps that are only in its log.
"""
DATABASE_PARTS = ("", "-wal", "-shm", "-journal")
"""What the names of a database's files end with, behind its own name."""


def is_of_database(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to a database that this process has opened, or to a file beside it that belongs to it."""
    real = os.path.realpath(path)
    return any(real.startswith(each) and real[len(each) :] in DATABASE_PARTS for each in databases)


class Unreadable(Exception):
    """A file that cannot be used; `reason` is a phrase that goes behind the file's name.

    is_content: the file was read, and what it holds is wrong.
    """

    def __init__(self, reason: str, *, is_content: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_content = is_content


def opened(name: str | os.PathLike[str], *, follows: bool = True) -> BinaryIO:
    """Open a regular file for reading.

    Args:
        follows: a symbolic link is followed; else it is no regular file.

    Raises:
        Unreadable: there is no such file, it is not a regular file, it may not be read, or it belongs to a database
            that this process has opened.
    """
    try:
        if databases and is_of_database(name):
            raise Unreadable("cannot be read: it belongs to a database that is open")
        # Opening some devices does something, and a socket cannot be opened at all.
        _require_regular((os.stat if follows else os.lstat)(name).st_mode)
        stream = open(os.open(name, _FOLLOW | (0 if follows else _NO_LINK)), "rb")
    except (OSError, ValueError) as error:
        raise Unreadable(sentence("cannot be read: {}", reason(error))) from error
    try:
        _require_regular(os.fstat(stream.fileno()).st_mode)
    except Unreadable:
        stream.close()
        raise
    return stream


def content(name: str | os.PathLike[str], limit: int = TEXT_LIMIT) -> bytes:
    """The bytes of a regular file.

    Raises:
        Unreadable: as for `opened`; the file has more bytes than the limit.
    """
    with opened(name) as stream:
        return bounded(stream, limit)


def bounded(stream: BinaryIO, limit: int = TEXT_LIMIT) -> bytes:
    """All that is left of a stream.

    Raises:
        Unreadable: it cannot be read, or has more bytes than the limit.
    """
    try:
        data = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(sentence("cannot be read: {}", reason(error))) from error
    if len(data) > limit:
        raise Unreadable(f"has more than {limit} bytes", is_content=True)
    return data


def decoded(data: bytes) -> str:
    """The text of UTF-8 bytes, without the byte-order mark that some editors put before it.

    Raises:
        Unreadable: the bytes are not UTF-8; the reason names the first that is not.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # With a byte-order mark the codec counts from behind it.
        at = error.start + (len(data) - len(error.object))
        line = data.count(b"\n", 0, at) + 1
        kind = "UTF-16, not UTF-8" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "not UTF-8"
        reason = f"is {kind}: byte 0x{data[at]:02x} at offset {at}, line {line}"
        raise Unreadable(reason, is_content=True) from error


def text(name: str | os.PathLike[str], limit: int = TEXT_LIMIT) -> str:
    """The text of a regular file.

    Raises:
        Unreadable: as for `content` and `decoded`.
    """
    return decoded(content(name, limit))


def refused(problem: Unreadable, subject: str, suggestion: str) -> errors.OrchestratorError:
    """The error for a file that a call names: FILE_UNREADABLE (exit 5), or FILE_INVALID (4) for what is in it.

    Args:
        problem: what is wrong.
        subject: the parameter and the file's name, as the sentence begins.
        suggestion: what helps where the file cannot be read.
    """
    message = sentence("{} {}.", local(subject), problem.reason)
    if problem.is_content:
        advice = "Save it as UTF-8" if "UTF-8" in problem.reason else "Name a smaller file"
        return errors.InvalidInput("FILE_INVALID", message, advice)
    return errors.EnvironmentProblem("FILE_UNREADABLE", message, suggestion)


def _require_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((words for holds, words in _KINDS if holds(mode)), "it is not a regular file")
        raise Unreadable(f"cannot be read: {kind}")
