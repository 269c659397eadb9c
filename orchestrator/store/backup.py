"""Online copies of a database: consistent while others go on writing."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from pathlib import Path

from orchestrator import errors
from orchestrator.core.suggestions import local, sentence
from orchestrator.store import problems, sqlite

FOLDER = "backups"
_BUSY = (5, 6)
_STAMP = r"\d{4}-\d\d-\d\dT\d{6}(\.\d+)?Z"
"""A moment, as `beside` writes it into a name."""


def copy(path: str | Path, target: str | Path, deadline: float = sqlite.DEADLINE_S) -> Path:
    """Copy a database to a new file that only its owner may read.

    Args:
        path: the database; it may be in use.
        target: the file to create. Its folder is created, 0700, where it is missing.
        deadline: seconds to wait for a writer that keeps readers out.

    Raises:
        Refused: ALREADY_EXISTS.
        EnvironmentProblem: NO_DATABASE, BUSY, READ_ONLY, DISK_FULL or CORRUPT; no file is left at the target.
    """
    real = sqlite.real_path(target)
    source = sqlite.open_file(path, write=False, deadline=deadline)
    try:
        _reserve(real)
        try:
            _fill(source, real, deadline)
        except BaseException:
            os.unlink(real)
            raise
    finally:
        source.close()
    return Path(real)


def beside(path: str, version: int, at: str) -> Path:
    """A free name for the copy that an upgrade makes first."""
    stamp = at.replace(":", "").replace("/", "")
    source = Path(path)
    folder = source.parent / FOLDER
    name = f"{source.stem}-v{version}-{stamp}"
    candidates = (folder / f"{name}{suffix}.db" for suffix in ("", *(f"-{number}" for number in range(2, 1000))))
    return next(each for each in candidates if not each.exists())


def of(path: str) -> list[Path]:
    """The copies that upgrades of a database made, the newest last; those of a neighbour are told apart by name."""
    source = Path(path)
    name = re.compile(rf"{re.escape(source.stem)}-v\d+-{_STAMP}(-\d+)?\.db")
    found = [each for each in (source.parent / FOLDER).glob("*.db") if name.fullmatch(each.name)]
    return sorted(found, key=lambda each: each.stat().st_mtime)


def _reserve(real: str) -> None:
    left = next((name for end in ("-wal", "-journal") if os.path.exists(name := f"{real}{end}")), None)
    if left is not None:
        # SQLite would take it for the copy's own.
        raise errors.Refused(
            "ALREADY_EXISTS", sentence("{} belongs to another database.", local(left)), "name another file", path=left
        )
    try:
        sqlite.make_folder(os.path.dirname(real))
        os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        what = sentence("{} already exists; backups never overwrite files.", local(real))
        raise errors.Refused(
            "ALREADY_EXISTS", what, "name another file", path=real
        ) from None
    except OSError as error:
        raise problems.from_os(error, real) from error


def _fill(source: sqlite.Connection, real: str, deadline: float) -> None:
    """Fill a file beside the reserved one and put it in its place: a kill leaves no half copy under the name."""
    partial = f"{real}.{os.getpid()}.partial"
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
        _copy_pages(source, partial, deadline)
        os.replace(partial, real)
    except sqlite3.Error as error:
        raise sqlite.translate(error, real) or error from error
    except OSError as error:
        raise problems.from_os(error, real) from error
    finally:
        for leftover in (partial, f"{partial}-journal"):
            if os.path.exists(leftover):
                os.unlink(leftover)


def _copy_pages(source: sqlite.Connection, partial: str, deadline: float) -> None:
    until = time.monotonic() + deadline

    def stop_when_late(status: int, remaining: int, total: int) -> None:
        # Without this the copy waits for ever.
        if status in _BUSY and time.monotonic() >= until:
            raise problems.busy(source.path, deadline)

    target = sqlite.open_file(partial, write=True)
    try:
        source.backup(target, progress=stop_when_late, sleep=0.01)
    finally:
        target.close()
