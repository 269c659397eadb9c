"""Files that are there whole or not at all, also after a power cut; and folders that are the product's own."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator import files
from orchestrator.core.names import IGNORE_ALL, IGNORE_FILE, OWN_FOLDER
from orchestrator.core.suggestions import local, reason, sentence
from orchestrator.errors import EnvironmentProblem

FILE_MODE = 0o600
FOLDER_MODE = 0o700
ROOM = 1024 * 1024
"""Bytes: amply what the evidence, the log and the database need for the end of a run."""

READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def write(path: str | os.PathLike[str], data: bytes, mode: int = FILE_MODE) -> None:
    """Put data under a name: a file beside it is filled, synced and renamed, then the folder is synced.

    Args:
        path: the name; what is there is replaced.
        mode: of the new file.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED; what was there before is still there.
    """
    folder, name = os.path.split(os.fspath(path))
    with failing(os.fspath(path)):
        descriptor, partial = tempfile.mkstemp(".partial", f".{name}.", folder or ".")
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.chmod(partial, mode)
                os.fsync(file.fileno())
            # Renamed only after the data is synced: otherwise a power cut can leave the new name with an empty file.
            os.replace(partial, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial)
            raise
        # The rename itself is durable only once the folder is synced.
        sync_folder(folder or ".")


@contextlib.contextmanager
def failing(path: str) -> Iterator[None]:
    """What the system says of a write that did not work, as an error of the product.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED; data ``path``.
    """
    try:
        yield
    except (OSError, ValueError) as error:
        message = sentence("{} could not be written: {}.", local(path), reason(error))
        advice = "Check permissions and free space of the folder"
        raise EnvironmentProblem("OUTPUT_FAILED", message, advice, path=path) from error


def sync_folder(path: str | os.PathLike[str]) -> None:
    """Make the names in a folder durable, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def own_folder(root: str | os.PathLike[str], *names: str) -> Path:
    """A folder of the product's own below one that is there already; what is missing of it is made, 0700.

    A link on the way is refused: what is written here would land somewhere else.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    path = Path(root)
    if not path.is_dir():
        message = sentence("The folder {} does not exist, so nothing can be written to it.", local(path))
        raise EnvironmentProblem("OUTPUT_FAILED", message, "Check who removed it", path=str(path))
    for name in names:
        path = path / name
        with failing(str(path)):
            try:
                os.mkdir(path, FOLDER_MODE)
            except FileExistsError:
                if not stat.S_ISDIR(os.lstat(path).st_mode):
                    raise NotADirectoryError(None, "it is not a folder") from None
            else:
                sync_folder(path.parent)
            if name == OWN_FOLDER:
                _ignore(path)
    return path


def _ignore(folder: Path) -> None:
    """Let git ignore all that the product's own folder holds, unless somebody has said there what it is to ignore."""
    with contextlib.suppress(FileExistsError), open(folder / IGNORE_FILE, "xb") as file:
        os.chmod(file.fileno(), FILE_MODE)
        file.write(IGNORE_ALL)


def take_away(made: Sequence[Path]) -> None:
    """Delete what was made and nobody else uses, the last first: files, and folders that nothing else is in."""
    for each in reversed(made):
        with contextlib.suppress(OSError):
            if each.is_dir():
                if each.name == OWN_FOLDER and os.listdir(each) == [IGNORE_FILE]:
                    os.unlink(each / IGNORE_FILE)
                os.rmdir(each)
            else:
                os.unlink(each)


def open_regular(path: str | os.PathLike[str], flags: int = READ) -> int:
    """A descriptor of a regular file for reading; no link is followed and no pipe waited for, unless flags say so.

    Raises:
        OSError: there is no such file, it is not a regular file, it may not be read, or it belongs to a database that
            this process has opened.
    """
    # Closing a descriptor of it would end the locks of every connection in this process (AUT-10).
    if files.is_of_database(path):
        raise OSError(None, "it belongs to a database that is open")
    # The kind is checked on the descriptor: between a check by path and the opening, somebody could swap the file.
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(None, "it is not a regular file")
    return descriptor


def read(path: str | os.PathLike[str]) -> bytes:
    """A regular file's content.

    Raises:
        OSError: as for `open_regular`.
    """
    with open(open_regular(path), "rb") as file:
        return file.read()


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a folder for oneself among all that ask so: threads and processes, until the block or its process ends.

    The lock is the system's, on a descriptor that no child inherits.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    path = os.path.join(folder, ".lock")
    with failing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), FILE_MODE)
    try:
        _wait_for(descriptor)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has another way, and one process at a time is the rule there
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextlib.contextmanager
def held_room(folder: Path) -> Iterator[None]:
    """Hold room on the disk of a folder while the block runs; where there is none, or no way to, nothing is held.

    The file has no name, so that nobody sees it, and a death of this process gives it back.
    """
    file = None
    with contextlib.suppress(OSError, AttributeError):
        file = _reserved_room(folder)
    try:
        yield
    finally:
        if file is not None:
            os.close(file)


def reserve(folder: Path) -> None:
    """See whether a folder takes that much; nothing of it is left.

    Raises:
        OSError: it does not.
    """
    with contextlib.suppress(AttributeError):
        os.close(_reserved_room(folder))


def _reserved_room(folder: Path) -> int:
    descriptor, path = tempfile.mkstemp(".partial", ".reserve", folder)
    try:
        os.unlink(path)
        # Truncating to a size would make a sparse file, which reserves nothing.
        os.posix_fallocate(descriptor, 0, ROOM)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
