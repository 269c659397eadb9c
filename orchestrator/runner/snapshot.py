"""What changed in a tree of files between two moments, and what of it is really there.

A snapshot holds size, times and inode of every file; reading contents would cost a hundred times as much. Contents are
hashed only where those numbers cannot tell: of files written so shortly before a snapshot that a later write of the
same length could leave the same times; and of files that changed, as their evidence. A time of change is set by the
system and by nobody else, so a file whose numbers are equal is the same.

Source: seed 001, Properties 31 and 33.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence

from orchestrator.core import masking
from orchestrator.core.running import codes, evidence
from orchestrator.core.tuples import NamedTuple
from orchestrator.runner import durable

SKIPPED = frozenset({".git", ".claude", ".orchestrator", "node_modules"})
"""Names that are not looked into, at any depth."""
DEPTH = 20
"""How many names a path may have; what lies deeper is not looked at."""
RECENT_NS = 2_000_000_000
"""File systems keep times in steps of up to two seconds."""

NEW, CHANGED, DELETED = "new", "changed", "deleted"

Signature = tuple[int, int, int, int]

_signature = operator.attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")
_WRITTEN = 2 if os.name == "posix" else 1
_BY_DESCRIPTOR = os.scandir in os.supports_fd
_CHUNK = 1024 * 1024


class Snapshot(NamedTuple):
    """A tree at one moment.

    root: its absolute path.
    taken_ns: when the look began, in nanoseconds of the system's clock.
    files: size, time of modification, time of change and inode of every file and link, by relative path with slashes.
    hashes: of those written shortly before; None where a file cannot be read.
    unreadable: folders that could not be looked into, ending in a slash.
    """

    root: str
    taken_ns: int
    files: Mapping[str, Signature]
    hashes: Mapping[str, str | None]
    unreadable: tuple[str, ...] = ()


class Change(NamedTuple):
    """A file that is new, changed or deleted; with the hash over path and content that it has now."""

    path: str
    kind: str
    hash: str | None = None


def take(root: str | os.PathLike[str]) -> Snapshot:
    """Look at every file below a folder. Links are entries of their own and are never followed.

    Raises:
        Refused: E102, the folder does not exist or cannot be looked into.

    Source: seed 001, Property 31.
    """
    top = os.path.abspath(root)
    taken = time.time_ns()
    files, unreadable = _scan(top)
    limit = taken - RECENT_NS
    # Nobody can set a time of change back. Where the system has none, there is only that of the modification.
    recent = [path for path, known in files.items() if known[_WRITTEN] >= limit]
    hashes = {path: content_hash(top, path) for path in recent}
    return Snapshot(top, taken, files, hashes, unreadable)


def paths(root: str | os.PathLike[str]) -> tuple[str, ...]:
    """The paths that a snapshot would have, in order, without looking into any file.

    Raises:
        Refused: E102.
    """
    return tuple(sorted(_scan(os.path.abspath(root))[0]))


def changed(before: Snapshot, after: Snapshot) -> list[Change]:
    """What is different, in order of paths.

    Nothing is said of what lies below a folder that one of the two could not look into.

    Source: seed 001, Property 31.
    """
    blind = (*before.unreadable, *after.unreadable)
    old, new = before.files, after.files
    # As good as nothing differs among very many, so what compares is C.
    differing = itertools.compress(new, map(operator.ne, new.values(), map(old.get, new)))
    found = [Change(path, CHANGED if path in old else NEW) for path in differing]
    found += [
        Change(path, CHANGED)
        for path, known in before.hashes.items()
        if known is not None and old[path] == new.get(path) and _hash_at(after, path) != known
    ]
    kept = len(new) - sum(change.kind == NEW for change in found)
    gone = [Change(path, DELETED) for path in old.keys() - new.keys()] if kept < len(old) else []
    hashed = [change._replace(hash=_hash_at(after, change.path)) for change in found]
    return sorted(change for change in hashed + gone if not change.path.startswith(blind))


def content_hash(root: str, path: str, listed: str | None = None) -> str | None:
    """The hash over a file's path and content as evidence writes it; of a link, over what it points to by name.

    Args:
        listed: the path as evidence has it, where that is another one.

    None where there is no such file, or it cannot be read.
    """
    full = os.path.join(root, path)
    try:
        if not os.path.islink(full):
            return file_hash(full, listed or path)
        taken = evidence.hasher(listed or path)
        taken.update(os.fsencode(os.readlink(full)))
    except OSError:
        return None
    return evidence.finished(taken)


def file_hash(full: str | os.PathLike[str], path: str) -> str:
    """The hash of a regular file under the path that evidence has for it.

    Raises:
        OSError: there is no such file, or it cannot be read.
    """
    taken = evidence.hasher(path)
    with open(durable.open_regular(full), "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            taken.update(chunk)
    return evidence.finished(taken)


def artifacts(changes: Sequence[Change], root: str, secrets: Sequence[str] = ()) -> tuple[evidence.Item, ...]:
    """Changes as evidence lists them. Names that are no UTF-8 have no form in it and are left out.

    A key in a name is masked, and the hash is over the name as it is listed. Of names that are the same then, the
    first is listed.

    Args:
        secrets: values that are masked wherever they occur.
    """
    items: dict[str, evidence.Item] = {}
    for change in changes:
        if told(change.path) == change.path:
            full, listed = os.path.join(root, change.path), masking.mask_keys(change.path, secrets)
            hash_ = change.hash if listed == change.path else content_hash(root, change.path, listed)
            items.setdefault(listed, evidence.Item(listed, hash_, _size(full)))
    return tuple(items.values())


def unmasked(root: str, path: str) -> str:
    """The name of the file that evidence lists under a masked name; the name itself where none was masked."""
    if masking.MASK not in path:
        return path
    return next((name for name in take(root).files if masking.mask_keys(told(name)) == path), path)


def told(path: str) -> str:
    r"""A path as a text that every document can hold: bytes that are no UTF-8 are written as ``\xNN``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def real_path(root: str, path: str) -> str | None:
    """Where a path below the root leads when links are followed, relative to it; None where that is outside."""
    top = os.path.realpath(root).rstrip(os.sep) + os.sep
    real = os.path.realpath(os.path.join(root, path))
    return real[len(top) :].replace(os.sep, "/") if real.startswith(top) else None


def is_file(root: str, path: str) -> bool:
    """Whether a path below the root leads to a regular file within it."""
    real = real_path(root, path)
    return real is not None and os.path.isfile(os.path.join(root, real))


def _hash_at(after: Snapshot, path: str) -> str | None:
    return after.hashes[path] if path in after.hashes else content_hash(after.root, path)


def _scan(top: str) -> tuple[dict[str, Signature], tuple[str, ...]]:
    """The signatures of all files, and the folders that cannot be looked into."""
    files: dict[str, Signature] = {}
    unreadable: list[str] = []
    folders = [(top, "", 1)]
    while folders:
        folder, prefix, depth = folders.pop()
        try:
            with _entries(folder, follow=not prefix) as entries:
                below = _look(entries, prefix, files)
        except FileNotFoundError:
            if not prefix:
                raise _no_root(top, "does not exist") from None
        except OSError as error:
            if not prefix:
                raise _no_root(top, f"cannot be looked into: {error.strerror}") from None
            unreadable.append(prefix)
        else:
            if depth < DEPTH:
                folders += [(f"{folder}{os.sep}{name}", f"{prefix}{name}/", depth + 1) for name in below]
    return files, tuple(sorted(unreadable))


def _look(entries: Iterator[os.DirEntry[str]], prefix: str, files: dict[str, Signature]) -> list[str]:
    """Take in the files of one folder; the names of the folders in it."""
    below, skipped, signature = [], SKIPPED, _signature
    for entry in entries:
        name = entry.name
        if name in skipped:
            continue
        if entry.is_file(follow_symlinks=False) or entry.is_symlink():
            try:
                files[prefix + name] = signature(entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                # It has gone in between.
                continue
        elif entry.is_dir(follow_symlinks=False):
            below.append(name)
    return below


@contextlib.contextmanager
def _entries(folder: str, *, follow: bool) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder. Where it can be, it is opened once, so that no file's whole path is walked again."""
    if not _BY_DESCRIPTOR:
        with os.scandir(folder) as entries:
            yield entries
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | (0 if follow else os.O_NOFOLLOW))
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def _size(path: str) -> int:
    try:
        found = os.lstat(path)
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _no_root(path: str, what: str) -> Exception:
    return codes.refused("E102", f"The project {path} {what}.", path=path)
