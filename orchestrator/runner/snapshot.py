"""What changed in a tree of files between two moments, and what of it is really there.

A snapshot holds size, times and inode of every file: these say where to look. Whether a file is another one says its
content alone, so that what is only touched, or written with the same bytes, did not change. Since nobody can know
which files will be touched, the contents are hashed before, once, each file up to `LARGEST` and all of them up to
`IN_ALL` bytes; afterwards only those are read whose numbers differ, or which were written so shortly before the first
look that a later write could leave the same times. A larger file of the same size cannot be told apart and is no
change.

Who looks again need not read again what an earlier look in the same process read, where size, times and inode are the
same and the file was last written well before that look, as git trusts its index. Its time of change says so, which
nobody can set back; on a system without one every file is read. It is wrong where the system's clock is set back to
the very nanosecond, and for a while where a program writes through memory it has mapped. Digests are kept in memory
alone: an executor could change a file of them.

Source: seed 001, Properties 31 and 33.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import operator
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence

from orchestrator import files as named_files
from orchestrator.core import masking
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import codes, evidence
from orchestrator.core.suggestions import local, sentence
from orchestrator.runner import atomic_files

SKIPPED = frozenset({".git", ".claude", ".orchestrator", "node_modules"})
"""Names that are not looked into, at any depth."""
DEPTH = 20
"""How many names a path may have; what lies deeper is not looked at."""
RECENT_NS = 2_000_000_000
"""File systems keep times in steps of up to two seconds."""
LARGEST, IN_ALL = 64 * 1024 * 1024, 1024 * 1024 * 1024
"""Bytes of one file, and of all files, whose contents are looked at before they can have changed."""

TREES_KEPT = 4
"""Of so many trees a process keeps what it read; 50,000 files take some 20 MB."""

NEW, CHANGED, DELETED = "new", "changed", "deleted"

Signature = tuple[int, int, int, int]

_signature = operator.attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")
_CHANGED = 2
_WRITTEN = _CHANGED if os.name == "posix" else 1
_BY_DESCRIPTOR = os.scandir in os.supports_fd
_CHUNK = 1024 * 1024
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Snapshot(NamedTuple):
    """A tree at one moment.

    root: its absolute path.
    taken_ns: when the look began, in nanoseconds of the system's clock.
    files: size, time of modification, time of change and inode of every file and link, by relative path with slashes.
    contents: the digest of what each holds; none where it was not looked at, is too large, or cannot be read.
    unreadable: folders that could not be looked into, ending in a slash. folders: the paths of all folders.
    """

    root: str
    taken_ns: int
    files: Mapping[str, Signature]
    contents: Mapping[str, bytes]
    unreadable: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()


class Change(NamedTuple):
    """A file that is new, other in content, or deleted; with the hash over path and content that it has now."""

    path: str
    kind: str
    hash: str | None = None


def take(root: str | os.PathLike[str], *, contents: bool = True, known: Snapshot | None = None) -> Snapshot:
    """Look at every file below a folder. Links are entries of their own and are never followed.

    Args:
        contents: the files are read as well, so that a later snapshot can be told from this one.
        known: an earlier snapshot of this tree, made by this process; what it read and is the same is not read again.

    Raises:
        Refused: E102, the folder does not exist or cannot be looked into.

    Source: seed 001, Property 31.
    """
    top = os.path.abspath(root)
    # Before the scan: a file that is written while the scan runs then counts as recent and is read again.
    taken = time.time_ns()
    files, unreadable, folders = _scan(top)
    read = _contents(top, files, _trusted(known, top, files)) if contents else {}
    return Snapshot(top, taken, files, read, unreadable, folders)


class Looks:
    """The last looks of a process with the contents of their files, by tree; the trees looked at last are kept."""

    def __init__(self) -> None:
        self._kept: dict[str, Snapshot] = {}

    def take(self, root: str | os.PathLike[str]) -> Snapshot:
        """Look at a tree with contents, as `take` does, without reading again what the last look here has read.

        Raises:
            Refused: E102.
        """
        top = os.path.abspath(root)
        taken = take(top, known=self._kept.pop(top, None))
        self._kept[top] = taken
        for oldest in list(self._kept)[:-TREES_KEPT]:
            self._kept.pop(oldest, None)
        return taken


def _trusted(known: Snapshot | None, top: str, files: Mapping[str, Signature]) -> dict[str, bytes]:
    """The digests of an earlier look that are still those of their files."""
    # A time of modification can be set back by anybody; without times of change nothing is trusted (RUN-8).
    if known is None or known.root != top or _WRITTEN != _CHANGED:
        return {}
    before, limit = known.files, known.taken_ns - RECENT_NS
    return {
        path: digest
        for path, digest in known.contents.items()
        if (signature := before[path])[_WRITTEN] < limit and files.get(path) == signature
    }


def paths(root: str | os.PathLike[str]) -> tuple[str, ...]:
    """The paths that a snapshot would have, in order, without looking into any file.

    Raises:
        Refused: E102.
    """
    return tuple(sorted(_scan(os.path.abspath(root))[0]))


def changed(before: Snapshot, after: Snapshot) -> list[Change]:
    """What is different, in order of paths.

    Nothing is said of what lies below a folder that one of the two could not look into.

    Args:
        before: with the contents of its files.

    Source: seed 001, Property 31.
    """
    blind = (*before.unreadable, *after.unreadable)
    old, new = before.files, after.files
    # As good as nothing differs among very many, so what compares is C.
    differing = list(itertools.compress(new, map(operator.ne, new.values(), map(old.get, new))))
    # Nobody can set a time of change back. Where the system has none, there is only that of the modification (RUN-8).
    limit = before.taken_ns - RECENT_NS
    recent = (path for path, known in old.items() if known[_WRITTEN] >= limit and new.get(path) == known)
    found = [Change(path, NEW) for path in differing if path not in old]
    kept = len(new) - len(found)
    touched = (path for path in (*differing, *recent) if path in old)
    found += [Change(path, CHANGED) for path in touched if _is_another(before, after, path)]
    gone = [Change(path, DELETED) for path in old.keys() - new.keys()] if kept < len(old) else []
    hashed = [change._replace(hash=content_hash(after.root, change.path)) for change in found]
    return sorted(change for change in hashed + gone if not change.path.startswith(blind))


def _is_another(before: Snapshot, after: Snapshot, path: str) -> bool:
    """Whether a file that may have been written holds other bytes than before; its permissions are none of it."""
    # Another size is another content, so files too large to have a digest are still told apart by it (RUN-31).
    if before.files[path][0] != after.files[path][0]:
        return True
    known = before.contents.get(path)
    now = _digest(os.path.join(after.root, path), after.files[path][0]) if known is not None else None
    return now is not None and now != known


def _contents(top: str, files: Mapping[str, Signature], trusted: Mapping[str, bytes]) -> dict[str, bytes]:
    """The digests of files, the smallest first where all of them are more than is looked at.

    Args:
        trusted: digests that are known without reading.
    """
    order = files.items()
    every: list[tuple[str, Signature]] = [each for each in order if each[1][0] <= LARGEST]
    if sum(known[0] for _, known in every) > IN_ALL:
        every.sort(key=lambda each: each[1][0])
    found, left = {}, IN_ALL
    begin = top + os.sep
    for path, known in every:
        left -= known[0]
        if left < 0:
            break
        if (digest := trusted.get(path) or _digest(begin + path, known[0])) is not None:
            found[path] = digest
    return found


def _digest(full: str, size: int) -> bytes | None:
    """A digest of what a file holds, or of where a link leads; None where there is none, or it cannot be read.

    Args:
        size: how many bytes it is said to have: most files are read at once, into no more memory than they fill.
    """
    try:
        descriptor = os.open(full, _READ)
    except OSError:
        return _link_digest(full)
    try:
        # One byte more than the size: a short read then proves the end without a second system call.
        asked = min(size + 1, _CHUNK)
        chunk = os.read(descriptor, asked)
        taken = hashlib.sha256(chunk)
        # Less than was asked for is the end.
        while len(chunk) == asked:
            asked = _CHUNK
            chunk = os.read(descriptor, asked)
            taken.update(chunk)
        return taken.digest()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _link_digest(full: str) -> bytes | None:
    try:
        return hashlib.sha256(b"link\0" + os.fsencode(os.readlink(full))).digest()
    except OSError:
        return None


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
    with open(atomic_files.open_regular(full), "rb", buffering=0) as file:
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
    return next((name for name in paths(root) if masking.mask_keys(told(name)) == path), path)


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


def _scan(top: str) -> tuple[dict[str, Signature], tuple[str, ...], frozenset[str]]:
    """The signatures of all files, the folders that cannot be looked into, and all folders."""
    files: dict[str, Signature] = {}
    every: list[str] = []
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
                raise _no_root(top, f"cannot be read: {error.strerror}") from None
            unreadable.append(prefix)
        else:
            every += [prefix + name for name in below]
            if depth < DEPTH:
                folders += [(f"{folder}{os.sep}{name}", f"{prefix}{name}/", depth + 1) for name in below]
    _leave_out_databases(top, files)
    return files, tuple(sorted(unreadable)), frozenset(every)


def _leave_out_databases(top: str, files: dict[str, Signature]) -> None:
    """Take out what is this process's own: it changes by itself, and whoever reads it ends the locks on it."""
    real = os.path.join(os.path.realpath(top), "")
    for database in named_files.databases:
        if database.startswith(real):
            for part in named_files.DATABASE_PARTS:
                files.pop(f"{database[len(real) :]}{part}".replace(os.sep, "/"), None)


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
    return codes.refused("E102", sentence("The project {} {}.", local(path), what), path=path)
