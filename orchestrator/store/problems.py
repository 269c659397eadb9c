"""What can be wrong with a database file, each as one error with the command that helps."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from orchestrator import errors
from orchestrator.core.suggestions import joined, local, quoted, reason, sentence, suggest
from orchestrator.store import constants

ANOTHER_BACKUP = "name another backup"


def no_database(path: str, why: str = "does not exist", found: str = "") -> errors.EnvironmentProblem:
    """There is no usable file at `path`; `found` is how it came to be this path."""
    if os.path.lexists(_folder(path)) and not os.path.isdir(_folder(path)):
        return no_room(_folder(path))
    named = _database(path, "The", f" ({found})" if found else "")
    return _problem("NO_DATABASE", sentence("{} {}.", named, why), "init", path)


def not_ours(path: str) -> errors.EnvironmentProblem:
    """The file is a database, but another program's; it is left alone."""
    return _problem("NO_DATABASE", sentence("{} is the database of another program.", local(path)), "doctor", path)


def log_alone(path: str) -> errors.EnvironmentProblem:
    """The file is gone (or empty) while the log with its last steps still lies beside its place."""
    return errors.EnvironmentProblem(
        "NO_DATABASE",
        sentence(
            "{} is missing or empty, but its last steps are in {}. Nothing was changed.",
            local(path, "The database"), local(f"{path}-wal"),
        ),
        sentence(
            "move the database file back to {}, beside its -wal; if it is lost: {}, which keeps the -wal",
            quoted(path), suggest("db restore", file="FILE", db=path),
        ),
        db=path,
    )


def log_beside_link(link: str, real: str) -> errors.EnvironmentProblem:
    """The path is a link, and steps lie beside the link, where nothing reads them: SQLite looks beside the file."""
    return errors.EnvironmentProblem(
        "NO_DATABASE",
        sentence(
            "{} is a link to {}, but {}-wal holds the last steps of a database that was moved from there without"
            " it. Nothing was changed.",
            local(link), local(real), local(link),
        ),
        sentence(
            "if {} is that database: mv {} {}; else move {} away",
            quoted(real), quoted(real), quoted(link), quoted(f'{link}-wal'),
        ),
        db=real,
    )


def older_log(path: str) -> tuple[str, str]:
    """What is told of a log with steps that is older than its file, and what to run."""
    return (
        sentence(
            "{} was changed or replaced after the last step in its -wal was written. If a backup was copied"
            " there: the later steps are still in the -wal and come back, so nothing was restored.",
            local(path),
        ),
        sentence("{}, if a backup was to be restored", suggest("db restore", file="FILE", db=path)),
    )


def older_log_warning(path: str) -> str:
    """`older_log` as one warning of an answer."""
    return sentence("{} Run: {}", *older_log(path))


def gone(path: str, last: str, copy: str | None) -> errors.EnvironmentProblem:
    """There is no file at `path` any more, though there was one.

    Args:
        last: the newest step that was seen of it, in words.
        copy: a backup that is left, if any.
    """
    return errors.EnvironmentProblem(
        "NO_DATABASE",
        sentence(
            "{} is gone: this machine has seen its steps up to {}. It was deleted or moved (by git, or by hand).",
            _database(path), last,
        ),
        sentence(
            "bring the file back with its -wal, if there is one; from a backup: {}; to start an empty one: {}",
            suggest("db restore", file=copy or "FILE", db=path), suggest("init", db=path),
        ),
        db=path,
    )  # fmt: skip


def address(scheme: str, where: str) -> errors.EnvironmentProblem:
    """What was given for a file is the address of a database of a kind that is not supported."""
    return errors.EnvironmentProblem(
        "DATABASE_UNSUPPORTED",
        sentence("{} is the address of a database ({}:...); files and PostgreSQL are supported.", local(where), scheme),
        sentence("name a file, or postgresql://...: {}", suggest("init", db=f"{constants.FOLDER}/{constants.FILE}")),
        scheme=scheme,
    )


def not_on_server(where: str) -> errors.EnvironmentProblem:
    """What works on files alone was asked of a PostgreSQL database."""
    return errors.EnvironmentProblem(
        "DATABASE_UNSUPPORTED",
        sentence("This works on a file only; {} names a database on a PostgreSQL server.", local(where)),
        sentence(
            "see docs/postgresql.md for what works there (pg_dump backs up), or name a file: {}",
            suggest("init", db=f"{constants.FOLDER}/{constants.FILE}"),
        ),
        scheme="postgresql",
    )


def not_empty(path: str) -> errors.Refused:
    """The target of a copy holds something already."""
    return errors.Refused(
        "NOT_EMPTY",
        sentence("{} is not empty; nothing was copied.", local(path, "The target")),
        sentence("name a file that does not exist, or a new database on a server: {}", suggest("db copy", help=True)),
    )


def in_memory(where: str) -> errors.EnvironmentProblem:
    """What was given for a file is SQLite's name of a database that ends with its connection."""
    return errors.EnvironmentProblem(
        "DATABASE_UNSUPPORTED",
        sentence(
            "{} is {}, a database that would vanish after this call; only files are supported.",
            local(where), constants.IN_MEMORY,
        ),
        sentence("name a file: {}", suggest("init", db=f"{constants.FOLDER}/{constants.FILE}")),
    )


def contradicts(path: str, version: int, other: str) -> errors.EnvironmentProblem:
    """The marks of a file's version do not agree."""
    # Only a file of this program's version is repaired.
    restore, repair = suggest("db restore", file="FILE", db=path), suggest("db check", repair=True, db=path)
    return errors.EnvironmentProblem(
        "CORRUPT",
        sentence("{} claims schema version {}, but {}.", _database(path), version, other),
        sentence("{}, or {}", repair, restore) if version == constants.SCHEMA_VERSION else restore,
        db=path,
    )


def failed_step(path: str, step: str, cause: str, obstacle: str | None, copy: str | None) -> errors.EnvironmentProblem:
    """A step of the migrations failed; the database is as it was."""
    way = sentence(
        "rename or drop {} in {}, then ", obstacle, quoted(path)
    ) if obstacle else "fix the reported problem, then "
    return errors.EnvironmentProblem(
        "MIGRATION_FAILED",
        sentence("Step {} of the migrations failed: {}. {} was not changed", step, cause, _database(path))
        + (sentence("; a copy of it is {}.", local(copy)) if copy else "."),
        sentence("{}{}", way, suggest("db upgrade", db=path)),
        db=path,
        step=step,
        object=obstacle,
        backup=copy and local(copy),
    )


def broken_references(path: str, tables: str, count: int) -> errors.EnvironmentProblem:
    """Rows refer to rows that do not exist, so the schema is not changed."""
    rows = "1 row" if count == 1 else f"{count} rows"
    listing = sentence("sqlite3 {} 'PRAGMA foreign_key_check'", quoted(path))
    return errors.EnvironmentProblem(
        "CORRUPT",
        sentence(
            "{} was not changed: {} of {} {} to rows that do not exist.",
            _database(path), rows, tables, "refers" if count == 1 else "refer",
        ),
        sentence("{} lists them; correct or delete them, then {}", listing, suggest("db upgrade", db=path)),
        db=path,
    )


def no_backup(path: str, why: str) -> errors.EnvironmentProblem:
    """What was named as a backup cannot be put in place."""
    return errors.EnvironmentProblem(
        "CORRUPT", sentence("{} cannot be restored: {}.", local(path), why), ANOTHER_BACKUP, db=path
    )


def restore_folder(path: str) -> str:
    """Where a restore of a database prepares what is to take its place; after a kill it is still there."""
    return f"{path}.restoring"


def half_restored(path: str) -> errors.EnvironmentProblem:
    """A restore was killed before the backup was in place."""
    return errors.EnvironmentProblem(
        "NO_DATABASE",
        sentence(
            "{} is missing: a restore was interrupted. What was there before is in {}/backups.",
            local(path), local(_folder(path)),
        ),
        suggest("db restore", file="FILE", db=path),
        db=path,
    )


def no_file(path: str, *, folder: bool) -> errors.EnvironmentProblem:
    """Something else than a file stands at the path."""
    what = "is a folder" if folder else "is not a regular file"
    inside = f"{path.rstrip('/')}/{constants.FILE}"
    way = suggest("init", db=inside) if folder else "name a file by --db"
    return errors.EnvironmentProblem("NO_DATABASE", sentence("{} {}.", local(path), what), way, db=path)


def no_main_worktree(root: str, common: str) -> errors.EnvironmentProblem:
    """A linked worktree has no database, and git does not record the main worktree, which may have one."""
    return errors.EnvironmentProblem(
        "NO_DATABASE",
        sentence(
            "{} is a linked worktree of {}, which does not record where its main worktree is: the database that"
            " all of its worktrees share cannot be found.",
            local(root), local(common),
        ),
        f"name it by --db or ORCHESTRATOR_DB, as in the main worktree:"
        f" --db MAIN_WORKTREE/{constants.FOLDER}/{constants.FILE}",
    )


def no_room(folder: str) -> errors.EnvironmentProblem:
    """What is to be the folder of the database is something else."""
    return errors.EnvironmentProblem(
        "NO_DATABASE",
        sentence("{} is not a folder, so it cannot hold a database.", local(folder)),
        sentence("mv {} {}, then {}", quoted(folder), quoted(folder + ".old"), suggest("init")),
        db=f"{folder}/{constants.FILE}",
    )


def unreadable(path: str) -> errors.EnvironmentProblem:
    """The file is there, but this user may not read it, or not enter a folder above it."""
    closed = path
    while (above := _folder(closed)) != closed and not os.access(above, os.X_OK):
        closed = above
    what, right = ("read it", "u+r") if closed == path else (sentence("enter the folder {}", local(closed)), "u+rx")
    return errors.EnvironmentProblem(
        "NO_DATABASE",
        sentence("{} is not accessible: this user may not {}.", _database(path), what),
        sentence("chmod {} {}, as its owner", right, quoted(closed)),
        db=path,
    )


def no_folder(path: str) -> errors.EnvironmentProblem:
    """The folder that a copy is to lie in does not exist."""
    folder = _folder(path)
    way = sentence("mkdir -p {}", quoted(folder))
    what = sentence("The folder {} does not exist.", local(folder))
    return errors.EnvironmentProblem("NO_FOLDER", what, way, path=path)


def no_working_folder() -> errors.EnvironmentProblem:
    """The folder that the call was made in has been deleted."""
    return errors.EnvironmentProblem(
        "NO_DATABASE",
        "The working folder no longer exists, so no database can be found.",
        "change to an existing folder, or give the full path with --db",
    )


def outdated(path: str, found: int) -> errors.EnvironmentProblem:
    """The file holds an older schema, or none yet."""
    versions = {"database_version": found, "program_version": constants.SCHEMA_VERSION}
    if found == 0:
        return _problem("NO_DATABASE", sentence("{} has no schema yet.", _database(path)), "init", path, **versions)
    message = sentence(
        "{} has schema version {}, older than this program's version {}.",
        _database(path), found, constants.SCHEMA_VERSION,
    )
    return _problem("SCHEMA_TOO_OLD", message, "db upgrade", path, **versions)


def too_new(path: str, found: int, known: int = constants.SCHEMA_VERSION) -> errors.EnvironmentProblem:
    """A newer program wrote the file; nothing of it is touched."""
    return errors.EnvironmentProblem(
        "SCHEMA_TOO_NEW",
        sentence("{} has schema version {}, newer than this program's version {}.", _database(path), found, known),
        "install a newer guarded-orchestrator",
        db=path,
        database_version=found,
        program_version=known,
    )


def busy(path: str, deadline_s: float = 0.0) -> errors.EnvironmentProblem:
    """Another process holds the lock for longer than we wait."""
    waited = f" after {deadline_s:g} s" if deadline_s else ""
    return _problem("BUSY", sentence("{} is still held by another process{}.", _database(path), waited), "doctor", path)


def stale_read(path: str) -> errors.EnvironmentProblem:
    """This process itself reads an older state of the file, on the connection by which it wants to write."""
    return errors.EnvironmentProblem(
        "BUSY",
        sentence(
            "This process still reads an older state of {} on the connection that is to write. Nothing was written.",
            _database(path, "the"),
        ),
        "Repeat the call; finish reading before writing",
        db=path,
    )


def read_only(path: str, locked: Sequence[str] = ()) -> errors.EnvironmentProblem:
    """Reading may work, writing does not; `locked` are the files and folders that may not be written, if known."""
    if _is_mounted_read_only(path):
        return errors.EnvironmentProblem(
            "READ_ONLY",
            sentence("{} is read-only: it is on a file system that is mounted read-only.", _database(path)),
            sentence("mount the file system of {} read-write, or name a copy elsewhere by --db", quoted(path)),
            db=path,
        )
    names = joined([quoted(each) for each in locked or (path, _folder(path))], " ")
    what = joined([local(each) for each in locked], " and ") if locked else "it or its folder"
    return errors.EnvironmentProblem(
        "READ_ONLY",
        sentence("{} is read-only: this user may not write {}.", _database(path), what),
        sentence("chmod u+w {}", names),
        db=path,
    )


def _is_mounted_read_only(path: str) -> bool:
    """Whether nobody may write on the file system of a path, whatever the permissions; False where it is not told."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):
        return False


def unread_log(path: str) -> errors.EnvironmentProblem:
    """The folder is read-only, but a log beside the file holds steps that only a writer can take in."""
    return errors.EnvironmentProblem(
        "READ_ONLY",
        sentence(
            "The folder of {} is read-only, but {}-wal holds steps that only a user with write access can apply.",
            local(path), local(path),
        ),
        sentence("{}, run as a user with write access to {}", suggest("init", db=path), local(_folder(path))),
        db=path,
    )


def disk_full(path: str) -> errors.EnvironmentProblem:
    """A write found no room (disk, quota or size limit)."""
    return errors.EnvironmentProblem(
        "DISK_FULL",
        sentence("No space left to write {} (disk full, quota or size limit).", _database(path, "the")),
        sentence("free space on the disk of {} and run the same command again", quoted(_folder(path))),
        db=path,
    )


def no_shared_memory(path: str) -> errors.EnvironmentProblem:
    """The file has write-ahead logging, and was brought to a disk that does not offer it."""
    return errors.EnvironmentProblem(
        "DATABASE_UNSUPPORTED",
        sentence(
            "{} uses write-ahead logging, which needs memory that processes share, and its disk offers none (a network"
            " mount?). Its content is untouched.",
            _database(path),
        ),
        sentence("move it to a local disk, or give it a rollback journal: {}", suggest("init", db=path)),
        db=path,
    )


def corrupt(path: str, why: str) -> errors.EnvironmentProblem:
    """The content cannot be trusted; the file stays as it is."""
    return _problem("CORRUPT", sentence("{} cannot be used: {}.", _database(path), why), "doctor", path)


def skipped(path: str, what: str) -> errors.EnvironmentProblem:
    """A statement succeeded and did not write the rows that it should have."""
    return corrupt(path, f"{what} was skipped, as by a trigger that does not belong to this program")


def from_os(error: OSError, path: str) -> errors.EnvironmentProblem:
    """Name the problem behind a failed call to the operating system."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return disk_full(path)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return read_only(path)
    return no_database(path, sentence("cannot be opened ({})", reason(error)))


def from_os_reading(error: OSError, path: str) -> errors.EnvironmentProblem:
    """`from_os` for a call that only reads."""
    return unreadable(path) if error.errno in (errno.EACCES, errno.EPERM) else from_os(error, path)


def _database(path: str, article: str = "The", more: str = "") -> str:
    return local(f"{article} database {path}{more}", f"{article} database")


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _problem(code: str, message: str, command: str, path: str, **data: int) -> errors.EnvironmentProblem:
    return errors.EnvironmentProblem(code, message, suggest(command, db=path), db=path, **data)
