"""The evidence of a session on the disk: raw files, and an index of records that is checked when it is read.

Below the project lies ``.orchestrator/sessions/<session>/evidence/`` with ``raw/<operation>.log``,
`evidence_index.json` and `evidence_index.sha256`, which holds the SHA-256 of the index file and of nothing else. Files
have mode 0600 and folders 0700. All that is written is synced, with its folder, before a function returns.

Source: seed 001, Properties 7, 18 and 21.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.core import names
from orchestrator.core.running import codes, evidence, evidence_index
from orchestrator.core.running.evidence import Index, Inspection, Item, Problem, Record
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.runner import atomic_files, snapshot

OWN_FOLDER = names.OWN_FOLDER
INDEX = "evidence_index.json"
CHECKSUM = "evidence_index.sha256"

_NEXT = f"{CHECKSUM}.next"
_NONE = "-"
_CHUNK = 1024 * 1024
_COMPRESSION = 6


def session_folder(project: str | os.PathLike[str], session_id: str) -> Path:
    """The session's own folder in the project; it is made where it is missing.

    Raises:
        UsageError: INVALID_ID. EnvironmentProblem: OUTPUT_FAILED, also where a link stands in its place.
    """
    names.check_id("session", session_id)
    return atomic_files.own_folder(project, OWN_FOLDER, "sessions", session_id)


def make_session_folder(root: str | os.PathLike[str], session_id: str) -> bool:
    """Make the folder of a session; False where there is one already, whoever made it.

    Raises:
        UsageError: INVALID_ID. EnvironmentProblem: OUTPUT_FAILED, also where a link stands in its place.
    """
    names.check_id("session", session_id)
    above = atomic_files.own_folder(root, OWN_FOLDER, "sessions")
    with atomic_files.failing(str(above / session_id)):
        try:
            os.mkdir(above / session_id, atomic_files.FOLDER_MODE)
        except FileExistsError:
            return False
        atomic_files.sync_folder(above)
    return True


def has_files(project: str | os.PathLike[str], session_id: str) -> bool:
    """Whether a session of that id has left anything in the project. Nothing is made.

    Raises:
        UsageError: INVALID_ID.
    """
    names.check_id("session", session_id)
    folder = Path(project, OWN_FOLDER, "sessions", session_id)
    try:
        return any(folder.iterdir())
    except OSError:
        return False


def raw_file(project: str | os.PathLike[str], session_id: str, operation_id: str) -> Path:
    """Where an operation's output is to be written while it runs; the folder is there, the file is not.

    Raises:
        UsageError: INVALID_ID. Refused: E301, the operation has such a file already.
        EnvironmentProblem: OUTPUT_FAILED.
    """
    names.check_id("operation", operation_id)
    folder = atomic_files.own_folder(session_folder(project, session_id), "evidence", "raw")
    path = folder / f"{operation_id}.log"
    if os.path.lexists(path) or os.path.lexists(f"{path}.gz"):
        raise codes.refused("E301", f"Operation {operation_id} already has a raw file.", operation_id=operation_id)
    return path


def record(
    project: str | os.PathLike[str],
    session_id: str,
    operation_id: str,
    kind: str,
    *,
    at: str,
    facts: Mapping[str, Any],
    artifacts: Sequence[Item] = (),
    compress: bool = True,
) -> tuple[Record, str]:
    """Record one operation, with the raw file where one was written for it.

    Args:
        kind: what it was, such as ``executor`` or ``model_change``.
        at: the time.
        facts: what there is to know of it, as JSON.
        artifacts: files of the project with their hashes, as `snapshot.artifacts` lists them.
        compress: whether the raw file is compressed before it is hashed.

    Returns:
        The record, and the checksum of the index that holds it: kept elsewhere, it tells a replaced index.

    Raises:
        Refused: E301, the operation is recorded already; E302, E304, E305, the index that is there is not sound, or
            the record could not be read again.
        EnvironmentProblem: OUTPUT_FAILED. Nothing was recorded.

    Source: seed 001, Property 18.
    """
    names.check_id("operation", operation_id)
    folder = atomic_files.own_folder(session_folder(project, session_id), "evidence")
    with atomic_files.locked(folder):
        index = _sound(folder, session_id)
        if any(operation_id == known.operation_id for known in index.records):
            raise codes.refused("E301", f"Operation {operation_id} is already recorded.", operation_id=operation_id)
        with atomic_files.failing(str(folder)):
            # Durable before the index names it: a kill in between leaves an unrecorded file, never an index without
            # its file.
            raw = _kept(folder, operation_id, compress=compress)
        made = evidence.sealed(Record(operation_id, kind, at, facts, raw, tuple(artifacts)))
        _, problems = evidence_index.read(evidence_index.render(Index(session_id, (made,))))
        if problems:
            # It would spoil the index for all others.
            raise _refusal(problems)
        return made, _write(folder, index._replace(records=(*index.records, made)))


@contextlib.contextmanager
def recording(project: str | os.PathLike[str], session_id: str) -> Iterator[None]:
    """Be the only one who records something of a session meanwhile, among all that ask so: threads and processes.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    with atomic_files.locked(session_folder(project, session_id)):
        yield


def registered(project: str | os.PathLike[str], session_id: str) -> tuple[str, ...]:
    """The operations that the disk knows of: those recorded, in order, then those that only have a raw file.

    Of an index that cannot be read nothing is known.
    """
    folder = _evidence(project, session_id)
    index, _ = _read(folder, session_id, None)
    return _operations(index, _raw_paths(folder))


def _operations(index: Index | None, raw_paths: Iterable[str]) -> tuple[str, ...]:
    recorded = [record.operation_id for record in index.records] if index else []
    begun = [path.removeprefix("raw/").removesuffix(".gz").removesuffix(".log") for path in sorted(raw_paths)]
    return tuple(dict.fromkeys((*recorded, *(name for name in begun if names.ID_PATTERN.fullmatch(name)))))


def inspect(
    project: str | os.PathLike[str],
    session_id: str,
    operations: Sequence[str],
    *,
    known: str | None = None,
    artifacts_of: Collection[str] = (),
    on_disk: bool = False,
) -> Inspection:
    """Read all evidence of a session back and check it. Nothing is created or changed.

    Args:
        operations: those that are registered, in order.
        known: the checksum of the index as it is kept elsewhere.
        artifacts_of: operations whose artifacts are compared with the project's files as well: what later work
            changes lawfully is no tampering, so only those of the last work can be.

    Source: seed 001, Properties 7 and 21.
    """
    folder = _evidence(project, session_id)
    if not operations and not os.path.lexists(folder):
        return evidence.inspected((), Index(session_id), ())
    index, problems = _read(folder, session_id, known)
    raw_paths = _raw_paths(folder)
    if on_disk:
        operations = [*dict.fromkeys((*_operations(index, raw_paths), *operations))]
    if index is None:
        return evidence.inspected(operations, None, problems)
    raw = {record.operation_id: record.raw for record in index.records}
    paths = dict.fromkeys(item.path for items in raw.values() for item in items)
    problems += evidence.not_atomic(index.records) + evidence.unregistered(operations, index.records)
    problems += evidence.compare(raw, {path: _hash(folder, path) for path in paths})
    problems += evidence.stray(raw_paths, index, operations)
    problems += _artifact_problems(str(project), index.records, artifacts_of)
    return evidence.inspected(operations, index, problems)


def expire(project: str | os.PathLike[str], before: float, keep: Collection[str]) -> tuple[str, ...]:
    """Delete the evidence of sessions whose last record is older than a moment.

    Args:
        before: seconds since the epoch; what was recorded before it has expired.
        keep: sessions that are not touched: those that are not closed.

    Returns:
        The sessions that have no evidence on the disk any more.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.

    Source: seed 001, Property 3 (evidence_settings.retention_days).
    """
    expired = []
    sessions = Path(project) / OWN_FOLDER / "sessions"
    with atomic_files.failing(str(sessions)), contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for name in sorted(os.listdir(sessions)):
            folder = sessions / name / "evidence"
            index = folder / INDEX
            # A link anywhere on the way, which an executor can put there, leads to what is somebody else's.
            on_the_way = (sessions.parent, sessions, sessions / name, folder, index)
            if name in keep or any(each.is_symlink() for each in on_the_way) or not index.is_file():
                continue
            if index.stat().st_mtime < before:
                shutil.rmtree(folder)
                expired.append(name)
    return tuple(expired)


def _evidence(project: str | os.PathLike[str], session_id: str) -> Path:
    return Path(project) / OWN_FOLDER / "sessions" / session_id / "evidence"


def _sound(folder: Path, session_id: str) -> Index:
    """The index as it is, to be added to; none was written yet in a new session."""
    if not os.path.lexists(folder / INDEX) and not os.path.lexists(folder / CHECKSUM):
        return Index(session_id)
    index, problems = _read(folder, session_id, None)
    if index is None or problems:
        raise _refusal(problems)
    return index


def _refusal(problems: Sequence[Problem]) -> Refused:
    first = problems[0]
    return codes.refused(first.code, first.message, problems=[problem._asdict() for problem in problems])


def _read(folder: Path, session_id: str, known: str | None) -> tuple[Index | None, list[Problem]]:
    try:
        data = atomic_files.read(folder / INDEX)
    except OSError as error:
        return None, [evidence.unreadable(error.strerror or str(error))]
    index, problems = evidence_index.read(data)
    if index is None:
        return None, problems
    if index.session_id != session_id:
        problems.append(Problem("E502", None, None, "The evidence index belongs to another session."))
    written = _checksum(folder)
    if written != evidence.checksum(data) and _pending(folder) == [written or _NONE, evidence.checksum(data)]:
        # The index was renamed into place, and a kill kept its checksum from following.
        written = evidence.checksum(data)
    return index, problems + evidence.altered(index, data, written, known)


def _checksum(folder: Path) -> str | None:
    with contextlib.suppress(OSError):
        return atomic_files.read(folder / CHECKSUM).decode("ascii", "replace").strip()
    return None


def _pending(folder: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return atomic_files.read(folder / _NEXT).decode("ascii", "replace").split()
    return []


def _write(folder: Path, index: Index) -> str:
    """Write index and checksum. What follows what is written down first: a kill in between is told from tampering."""
    data = evidence_index.render(index)
    checksum = evidence.checksum(data)
    # Both checksums are noted, the old one and the new one, so that only this very step is excused by the note.
    atomic_files.write(folder / _NEXT, f"{_checksum(folder) or _NONE} {checksum}\n".encode())
    atomic_files.write(folder / INDEX, data)
    atomic_files.write(folder / CHECKSUM, f"{checksum}\n".encode())
    with atomic_files.failing(str(folder)):
        os.unlink(folder / _NEXT)
    return checksum


def _kept(folder: Path, operation_id: str, *, compress: bool) -> tuple[Item, ...]:
    path = evidence.raw_path(operation_id)
    plain = os.path.lexists(folder / path)
    if compress and plain:
        _compress(folder / path, folder / f"{path}.gz")
    if compress or not plain:
        # Compressed now, or before a kill that came ahead of the record.
        path = f"{path}.gz"
    if not os.path.lexists(folder / path):
        return ()
    with open(atomic_files.open_regular(folder / path), "rb") as file:
        os.chmod(file.fileno(), atomic_files.FILE_MODE)
        os.fsync(file.fileno())
        size = os.fstat(file.fileno()).st_size
    atomic_files.sync_folder(folder / "raw")
    return (Item(path, snapshot.file_hash(folder / path, path), size),)


def _compress(source: Path, target: Path) -> None:
    partial = target.with_name(f".{target.name}.partial")
    with open(atomic_files.open_regular(source), "rb") as plain, open(_new(partial), "wb") as raw:
        # Without a time in it, equal output gives equal files.
        with gzip.GzipFile("", "wb", _COMPRESSION, raw, 0) as packed:
            shutil.copyfileobj(plain, packed, _CHUNK)
        raw.flush()
        os.fsync(raw.fileno())
    # The plain file goes last, so that at every moment one whole copy of the output exists.
    os.replace(partial, target)
    os.unlink(source)


def _new(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, atomic_files.FILE_MODE)


def _hash(folder: Path, path: str) -> str | None:
    with contextlib.suppress(OSError):
        return snapshot.file_hash(folder / path, path)
    return None


def _raw_paths(folder: Path) -> list[str]:
    try:
        return [f"raw/{name}" for name in os.listdir(folder / "raw") if not name.endswith(".partial")]
    except OSError:
        # What cannot be listed is missed where it is read.
        return []


def _artifact_problems(project: str, records: Iterable[Record], operations: Collection[str]) -> list[Problem]:
    # Of several records of one path, the last says what it has to be.
    last = {item.path: (record.operation_id, item) for record in records for item in record.artifacts}
    items: dict[str, list[Item]] = {}
    for operation, item in last.values():
        if operation in operations:
            items.setdefault(operation, []).append(item)
    paths = [item.path for listed in items.values() for item in listed]
    return evidence.compare(items, {path: _content(project, path) for path in paths})


def _content(project: str, path: str) -> str | None:
    return snapshot.content_hash(project, snapshot.unmasked(project, path), path)
