"""What is the matter with the database that a command would use: one report for any state of the file."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestrator import errors
from orchestrator.core import filemodes
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, quoted, sentence, suggest, suggestions
from orchestrator.store import backup, constants, discovery, file_safety, high_water, problems, sqlite
from orchestrator.store.maintenance import (
    Problem,
    clock_problems,
    from_error,
    schema_problems,
    state_problems,
    text_problems,
    version_problems,
)

DEADLINE_S = 0.3
LOCKS = Path("/proc/locks")

ROOM = 256 * 1024
"""Bytes of a step and its log, amply."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WAL_WRITE_LOCK = 120
_RESERVED_BYTE = 0x40000001


class Report(NamedTuple):
    """The file, why it is that one, what is known about it, and what is wrong with it, worst first."""

    path: str | None
    why: str
    facts: dict[str, str | int | None]
    findings: list[Problem]


def doctor(path: str | None, env: Mapping[str, str], cwd: Path, synchronous: str = "FULL") -> Report:
    """Report on the database that `--db`, `ORCHESTRATOR_DB` or the folder lead to.

    Args:
        path: the value of `--db`, if given.
        env: the environment.
        cwd: the folder to search from.
        synchronous: what writing connections of this environment use.

    Never raises for a state of the file, and changes nothing of it. A small file is written beside it and taken away
    again, since only that shows whether there is room.
    """
    facts: dict[str, str | int | None] = {
        "sqlite_version": sqlite3.sqlite_version,
        "program_version": constants.SCHEMA_VERSION,
        "synchronous": synchronous,
    }
    try:
        found = discovery.locate(path, env, cwd)
    except errors.OrchestratorError as problem:
        return Report(None, "no database was found", facts, [from_error(problem)])
    state = high_water.state_folder(env)
    findings = _ours([*_power_cut(synchronous, found.path), *_examine(found.path, facts, state)])
    order = ("error", "warning", "info")
    return Report(found.path, found.why, facts, sorted(findings, key=lambda each: order.index(each.severity)))


_ADVICE = ("PERMISSIONS", "READ_ONLY", "JOURNAL_MODE")


def _ours(findings: list[Problem]) -> list[Problem]:
    """Without advice on a file that is none of ours."""
    foreign = any(each.id == "NO_DATABASE" for each in findings)
    return [each for each in findings if not (foreign and each.id in _ADVICE)]


def writer(real: str) -> int | None:
    """The process that holds the write lock, as the system lists it; None where nobody does or no list is kept."""
    held = ((f"{real}-shm", _WAL_WRITE_LOCK), (real, _RESERVED_BYTE))
    wanted = {(inode, byte) for file, byte in held if (inode := _inode(file))}
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if words[1] == "POSIX" and words[3] == "WRITE" and len(words) == 8:
            inode, first, last = int(words[5].rpartition(":")[2]), int(words[6]), words[7]
            if any(inode == each and first <= byte and _reaches(last, byte) for each, byte in wanted):
                return int(words[4])
    return None


def _examine(real: str, facts: dict[str, str | int | None], state: str | None) -> Iterator[Problem]:
    yield from _permissions(real, facts)
    if high_water.has_older_log(real, state):
        yield Problem("LOG_OLDER", "warning", real, *problems.older_log(real))
    facts["writer"] = writer(real)
    if facts["writer"] is not None:
        message = sentence("Process {} currently holds the write lock of {}.", facts['writer'], local(real))
        yield Problem("WRITER_ACTIVE", "info", real, message, f"ps -p {facts['writer']}")
    try:
        connection = sqlite.open_file(real, write=False, deadline=DEADLINE_S)
    except errors.OrchestratorError as problem:
        yield _with_cure(problem, real, facts)
        return
    try:
        yield from _content(connection, facts)
        begun_anew = file_safety.earlier(connection, state)
        for risk in (*file_safety.risks(connection, state), *([begun_anew] if begun_anew else ())):
            yield Problem(risk.id, risk.severity, real, risk.message, risk.suggestion)
    except sqlite3.Error as error:
        yield _with_cure(sqlite.translate(error, real) or problems.corrupt(real, str(error)), real, facts)
    except errors.OrchestratorError as problem:
        yield _with_cure(problem, real, facts)
    finally:
        connection.close()


def _content(connection: sqlite.Connection, facts: dict[str, str | int | None]) -> Iterator[Problem]:
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    # A file that is opened as immutable does not show the mode that it has.
    facts["journal_mode"] = None if connection.immutable else mode
    if facts["journal_mode"] not in ("wal", None):
        message = "Write-ahead logging is off (a network mount?): writers and readers block each other."
        yield Problem("JOURNAL_MODE", "warning", connection.path, message, "move the file to a local disk")
    facts["schema_version"] = sqlite.read_version(connection, DEADLINE_S)
    sqlite.check_version(connection, DEADLINE_S)
    for (message,) in connection.execute("PRAGMA quick_check(5)"):
        if message != "ok":
            yield _with_cure(problems.corrupt(connection.path, message), connection.path, facts)
    found = [*schema_problems(connection), *version_problems(connection), *text_problems(connection)]
    yield from found
    if not any(problem.severity == "error" for problem in found):
        yield from state_problems(connection)
        yield from _workflow(connection)
    yield from clock_problems(connection)


def _workflow(connection: sqlite.Connection) -> Iterator[Problem]:
    """Whether a workflow was ever loaded; an `init` that was killed in between leaves a database without one."""
    if connection.execute("SELECT 1 FROM workflow_activations LIMIT 1").fetchone() is None:
        message = "No workflow is loaded, so no session can be created."
        yield Problem("NO_WORKFLOW", "error", connection.path, message, suggest("init", db=connection.path))


def _permissions(real: str, facts: dict[str, str | int | None]) -> Iterator[Problem]:
    found = os.stat(real)
    log = f"{real}-wal"
    facts["size"] = found.st_size
    facts["wal_size"] = os.stat(log).st_size if os.path.exists(log) else 0
    facts["mode"] = f"{stat.S_IMODE(found.st_mode):04o}"
    if filemodes.is_open_to_others(found.st_mode):
        message = sentence("Other users of this machine can read {} (mode {}).", local(real), facts['mode'])
        yield Problem("PERMISSIONS", "warning", real, message, sentence("chmod 600 {}", quoted(real)))
    if locked := sqlite.locked_files(real):
        yield from_error(problems.read_only(real, locked), "warning")
    elif not _has_room(os.path.dirname(real)):
        yield from_error(problems.disk_full(real))


def _has_room(folder: str) -> bool:
    """Whether as much as a step writes can be written into the folder now."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        # What else keeps from writing is told by what the files allow.
        return error.errno not in _FULL
    return True


def _power_cut(synchronous: str, real: str) -> Iterator[Problem]:
    if synchronous == "NORMAL":
        message = "synchronous is NORMAL: a power failure may lose the last steps, but no older ones."
        yield Problem("SYNCHRONOUS", "info", real, message, "unset ORCHESTRATOR_SYNCHRONOUS")


def _with_cure(problem: errors.OrchestratorError, real: str, facts: dict[str, str | int | None]) -> Problem:
    """The finding, with the command that mends what `doctor` itself was suggested for."""
    if problem.code == "BUSY":
        holder = facts.get("writer")
        cure = f"ps -p {holder}" if holder else "run the same command again once the other process has finished"
    elif problem.code == "CORRUPT":
        cure = _restore(real)
    elif any(each.operation == "doctor" for each in suggestions(problem.suggestion)):
        cure = "name another file by --db"
    else:
        cure = problem.suggestion
    return from_error(problem)._replace(suggestion=cure, subject=real)


def _restore(real: str) -> str:
    copies = backup.of(real)
    if not copies:
        return sentence("{}, with a copy of yours", suggest("db restore", file="FILE", db=real))
    return suggest("db restore", file=str(copies[-1]), db=real)


def _inode(file: str) -> int | None:
    return os.stat(file).st_ino if os.path.exists(file) else None


def _reaches(last: str, byte: int) -> bool:
    return last == "EOF" or byte <= int(last)
