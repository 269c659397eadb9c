"""Which database file is meant: `--db`, `ORCHESTRATOR_DB`, or the nearest one upwards.

Nothing is run and nothing outside the repository or the home folder is looked at: a file that somebody planted
in a shared folder further up is never taken for ours.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping

from orchestrator import errors, worktrees
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, sentence, suggest
from orchestrator.store import constants, high_water, problems, sqlite

VARIABLE = "ORCHESTRATOR_DB"

_OF_SCHEMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._"
_SERVERS = frozenset((
    "cockroachdb", "file", "mariadb", "mongodb", "mssql", "mysql", "oracle", "postgres", "postgresql", "sqlite",
    "sqlserver",
))  # fmt: skip
"""Schemes by which databases are known, so that one slash after them is enough."""

# Texts, not `pathlib`: every command comes through here, and importing that costs a tenth of its start.
Folder = str | os.PathLike[str]


class Found(NamedTuple):
    """A path and why it is that one."""

    path: str
    why: str


def find(explicit: str | None, env: Mapping[str, str], cwd: Folder) -> str:
    """The existing database that a command works on.

    Args:
        explicit: the value of `--db`, if given.
        env: the environment; `ORCHESTRATOR_DB` and `HOME` are read.
        cwd: the folder to search from and to resolve relative paths in.

    Returns:
        The file's own absolute path, symbolic links resolved.

    Raises:
        EnvironmentProblem: NO_DATABASE, naming what to run.
    """
    return locate(explicit, env, cwd).path


def locate(explicit: str | None, env: Mapping[str, str], cwd: Folder) -> Found:
    """`find`, with the reason for people."""
    found = _named(explicit, env, cwd) or _search(env, cwd)
    if found is not None:
        if not os.path.isfile(found.path):
            raise _unusable(found, env)
        return found
    taken = os.path.join(_real(cwd), constants.FOLDER)
    if os.path.lexists(taken) and not os.path.isdir(taken):
        raise problems.no_room(taken)
    root = next((folder for folder in _upwards(_real(cwd)) if worktrees.is_root(folder)), None)
    if root is not None:
        _require_shared(root)
    for candidate in _candidates(env, cwd):
        _require_never_there(candidate.path, env)
    raise errors.EnvironmentProblem(
        "NO_DATABASE",
        sentence(
            "No {}/{} in {} or above it (up to the repository or home folder).",
            constants.FOLDER, constants.FILE, local(_real(cwd)),
        ),
        sentence("{}, or name the file by --db or {}", suggest("init"), VARIABLE),
    )


def _require_never_there(path: str, env: Mapping[str, str]) -> None:
    """Require that this machine has seen no database at a path where there is none.

    Raises:
        EnvironmentProblem: NO_DATABASE, naming the newest step that was seen of it.
    """
    seen = high_water.gone(path, high_water.state_folder(env))
    if seen is None:
        return
    from orchestrator.store import backup

    raise problems.gone(path, high_water.worded(seen), next(map(str, reversed(backup.of(path))), None))


def _unusable(named: Found, env: Mapping[str, str]) -> errors.OrchestratorError:
    try:
        found = os.stat(named.path)
    except OSError as error:
        closed = error.errno in (errno.EACCES, errno.EPERM)
        if sqlite.pending_log(named.path):
            return problems.log_alone(named.path)
        if closed:
            return problems.unreadable(named.path)
        _require_never_there(named.path, env)
        return problems.no_database(named.path, found=named.why)
    return problems.no_file(named.path, folder=stat.S_ISDIR(found.st_mode))


def working_folder(explicit: str | None, env: Mapping[str, str]) -> str:
    """The current folder; where it was deleted, any other will do for a database that is named by its whole path.

    Raises:
        EnvironmentProblem: NO_DATABASE.
    """
    try:
        return os.getcwd()
    except OSError:
        if os.path.isabs(explicit if explicit is not None else env.get(VARIABLE, "")):
            return os.path.sep
        raise problems.no_working_folder() from None


def place(explicit: str | None, env: Mapping[str, str], cwd: Folder) -> str:
    """Where `init` creates or upgrades the database.

    An existing one that `find` would find stays the one. A new one goes to the root of the repository, in a linked
    worktree to that of the main worktree (or into the bare repository), which all worktrees share and no `git worktree
    remove` deletes.

    Raises:
        EnvironmentProblem: NO_DATABASE, git does not record where the main worktree is.
        Otherwise as `require_path`.
    """
    named = _named(explicit, env, cwd)
    if named is not None:
        return named.path
    found = _search(env, cwd)
    if found is not None:
        return found.path
    here = _real(cwd)
    root = next((folder for folder in _upwards(here) if worktrees.is_root(folder)), None)
    if root is None:
        return _database(here)
    _require_shared(root)
    return _database(worktrees.shared_folder(root) or root)


def _require_shared(root: str) -> None:
    """Require that all worktrees of a linked one find the same database, where a new one would be made.

    Raises:
        EnvironmentProblem: NO_DATABASE, git does not record where its main worktree is.
    """
    common = worktrees.common_folder(root)
    if common is not None and worktrees.shared_folder(root) is None:
        raise problems.no_main_worktree(root, common)


def server(explicit: str | None, env: Mapping[str, str]) -> str | None:
    """The URL of a PostgreSQL database that is named instead of a file; None where none is."""
    value = explicit if explicit is not None else env.get(VARIABLE)
    if not value or "://" not in value:
        return None
    from orchestrator.core import database_urls

    return value.strip() if database_urls.is_postgresql(value.strip()) else None


def _named(explicit: str | None, env: Mapping[str, str], cwd: Folder) -> Found | None:
    value, where = (explicit, "--db") if explicit is not None else (env.get(VARIABLE) or None, VARIABLE)
    if value is None:
        return None
    require_path(value, where)
    return Found(_file(os.path.join(cwd, value)), f"named by {where}")


def require_path(text: str, where: str) -> None:
    """Require that a text names a file: it is neither blank nor the address of a server.

    Args:
        where: what it was given by, for people.

    Raises:
        UsageError: INVALID_PATH.
        EnvironmentProblem: DATABASE_UNSUPPORTED. The address may hold a password, so only its scheme is repeated.
    """
    if not text.strip():
        said = "is blank" if text else "is empty"
        raise errors.UsageError("INVALID_PATH", f"{where} {said}.", "give the name of a file")
    if text == constants.IN_MEMORY:
        raise problems.in_memory(where)
    scheme = _scheme(text.lstrip())
    if scheme in ("postgres", "postgresql"):
        raise problems.not_on_server(where)
    if scheme is not None:
        raise problems.address(scheme, where)


def _scheme(text: str) -> str | None:
    """The scheme of what is plainly meant as an address, or None for a path."""
    before, separator, _ = text.partition("://")
    scheme, *inner = before.split(":")
    # A single letter is a drive.
    if separator and len(scheme) > 1 and all(map(_is_scheme, (scheme, *inner))):
        return scheme
    before, separator, rest = text.partition(":")
    name = before.lower().partition("+")[0]
    return before if separator and (name == "jdbc" or (name in _SERVERS and rest.startswith("/"))) else None


def _is_scheme(text: str) -> bool:
    return text[:1].isalpha() and text.isascii() and not text.strip(_OF_SCHEMES)


def _search(env: Mapping[str, str], cwd: Folder) -> Found | None:
    """The nearest database, or the place of one of which only the -wal is left.

    In a linked worktree each folder stands for the same one of the main worktree, whose database comes first: what a
    commit has put into the linked one is a copy. Of a bare repository its own folder stands for all.
    """
    found = next((each for each in _candidates(env, cwd) if _is_there(each.path)), None)
    return None if found is None else found._replace(path=_file(found.path))


def _candidates(env: Mapping[str, str], cwd: Folder) -> Iterator[Found]:
    """Where a database may be, in the order in which it is looked for."""
    folders = _folders(_real(cwd), env)
    main = worktrees.shared_folder(folders[-1])
    if main is not None:
        for folder in folders:
            shared = os.path.normpath(os.path.join(main, os.path.relpath(folder, folders[-1])))
            yield Found(_database(shared), f"of {main}, which all worktrees share")
    for folder in folders:
        yield Found(_database(folder), f"the nearest from {os.fspath(cwd)} upwards")


def _is_there(candidate: str) -> bool:
    return os.path.isfile(candidate) or sqlite.pending_log(candidate)


def _folders(here: str, env: Mapping[str, str]) -> list[str]:
    """From here up to the root of the repository or the home folder; here alone outside of both."""
    home = env.get("HOME") or env.get("USERPROFILE")
    top = _real(home) if home else None
    folders: list[str] = []
    for folder in _upwards(here):
        folders.append(folder)
        if folder == top or worktrees.is_root(folder):
            return folders
    return [here]


def _upwards(folder: str) -> Iterator[str]:
    """The folder and all above it, the root last."""
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        yield folder


def _database(folder: str) -> str:
    return os.path.join(folder, constants.FOLDER, constants.FILE)


def _file(path: str) -> str:
    """The file itself, which a link may lead to.

    Raises:
        EnvironmentProblem: NO_DATABASE, the last steps lie beside the link: the file was moved away from there.
    """
    real = _real(path)
    if os.path.islink(path) and sqlite.pending_log(path):
        raise problems.log_beside_link(path, real)
    return real


def _real(path: Folder) -> str:
    return os.path.realpath(path)
