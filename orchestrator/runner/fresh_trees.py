"""What a new worktree gets once: a slot with its ports, and the files that git does not carry into it.

What is noted of a tree lies in the folder that git keeps for it, so that it goes with the tree.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import zlib
from collections.abc import Iterator

from orchestrator import worktrees
from orchestrator.core import strict_json
from orchestrator.core.suggestions import local, reason, sentence
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import Any
from orchestrator.runner import atomic_files

SLOT, PORT = "ORCHESTRATOR_SLOT", "ORCHESTRATOR_PORT"
BLOCK = 10
"""Ports that a tree has, from `ORCHESTRATOR_PORT` on."""
_FIRST, _LAST = 20_000, 32_000
"""Where blocks lie: above what is well known, below what systems give to clients."""
_NOTE, _DONE = "orchestrator-slot", "orchestrator-set-up"
_SIZE = 4096


def variables(root: str, tree: str) -> tuple[tuple[str, str], ...]:
    """The slot and the first port of a tree, as variables; they are chosen when they are asked for first.

    Args:
        root: the project. tree: the folder of a worktree of it.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED; SETUP_FAILED, no block of ports is free.
    """
    note = os.path.join(_own(root, tree), _NOTE)
    known = _noted(note)
    if known is None:
        with atomic_files.locked(atomic_files.own_folder(root, ".orchestrator", "worktrees")):
            # Read again under the lock: another process may have chosen for this tree since the first look.
            known = _noted(note) or _choose(root)
            atomic_files.write(note, strict_json.canonical(known).encode())
    return ((SLOT, str(known["slot"])), (PORT, str(known["port"])))


def of_folder(folder: str) -> tuple[tuple[str, str], ...]:
    """The variables of the tree in which a folder is the root; none where it has none."""
    known = _noted(os.path.join(worktrees.git_folder(folder), _NOTE)) if worktrees.is_root(folder) else None
    return ((SLOT, str(known["slot"])), (PORT, str(known["port"]))) if known else ()


def is_set_up(root: str, tree: str) -> bool:
    """Whether a tree was set up to the end."""
    return os.path.lexists(os.path.join(_own(root, tree), _DONE))


def note_set_up(root: str, tree: str) -> None:
    """Note that a tree was set up.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    atomic_files.write(os.path.join(_own(root, tree), _DONE), b"")


def copy(root: str, tree: str, path: str) -> bool:
    """Copy a file of the main checkout to the same place in a tree; what is there already stays.

    Args:
        path: relative to the project, with `/` between its parts.

    Returns:
        Whether it was copied.

    Raises:
        EnvironmentProblem: SETUP_FAILED, it is missing, is no regular file, or a link stands in its way.
    """
    source, target = os.path.join(root, *path.split("/")), os.path.join(tree, *path.split("/"))
    _refuse_links(root, path)
    _refuse_links(tree, path)
    try:
        with open(atomic_files.open_regular(source), "rb") as file:
            data, mode = file.read(), stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # O_EXCL: a file that came with git is never overwritten (AUT-25).
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(target, flags, mode), "wb") as copied:
            os.fchmod(copied.fileno(), mode)
            copied.write(data)
    except FileExistsError:
        return False
    except OSError as problem:
        raise _failed(path, reason(problem)) from None
    return True


def _own(root: str, tree: str) -> str:
    """The folder that git keeps for a tree. Where it lies says a file in the tree, which an agent may have changed.

    Raises:
        EnvironmentProblem: SETUP_FAILED, the file names another place.
    """
    found = os.path.realpath(worktrees.git_folder(tree))
    if os.path.dirname(found) != os.path.realpath(os.path.join(_common(root), "worktrees")):
        what = sentence("The file .git in {} does not name the folder that git keeps for it.", local(tree))
        raise EnvironmentProblem("SETUP_FAILED", what, "git worktree repair", path=tree)
    return found


def _common(root: str) -> str:
    """The git folder that all worktrees of a project share."""
    return worktrees.common_folder(root) or os.path.join(root, ".git")


def require_source(root: str, path: str) -> None:
    """Require a file of the main checkout that is to be copied.

    Raises:
        EnvironmentProblem: SETUP_FAILED, it is missing, is no regular file, or a link stands in its way.
    """
    _refuse_links(root, path)
    try:
        os.close(atomic_files.open_regular(os.path.join(root, *path.split("/"))))
    except OSError as problem:
        raise _failed(path, reason(problem)) from None


def _refuse_links(top: str, path: str) -> None:
    """Refuse a path on which a symbolic link stands: what it names may lie anywhere."""
    place = top
    for part in path.split("/"):
        place = os.path.join(place, part)
        if os.path.islink(place):
            raise _failed(path, sentence("{} is a symbolic link", local(place)))


def _failed(path: str, why: str) -> EnvironmentProblem:
    what = sentence("worktree_copy in orchestrator.json names {}, which cannot be copied: {}.", path, why)
    return EnvironmentProblem("SETUP_FAILED", what, "Fix the file, or take it out of worktree_copy", path=path)


def _noted(note: str) -> dict[str, int] | None:
    with contextlib.suppress(OSError, strict_json.JsonProblem):
        found: Any = strict_json.loads(atomic_files.read(note), _NOTE, _SIZE)
        if isinstance(found, dict) and all(type(found.get(name)) is int for name in ("slot", "port")):
            return {"slot": found["slot"], "port": found["port"]}
    return None


def _choose(root: str) -> dict[str, int]:
    """The lowest slot that no tree has, and the first block of ports in which nobody listens."""
    taken = list(_others(root))
    slots, ports = {each["slot"] for each in taken}, {each["port"] for each in taken}
    slot = next(number for number in range(len(slots) + 1) if number not in slots)
    blocks = (_LAST - _FIRST) // BLOCK
    # Projects begin at different places, so that two of them seldom ask for the same block at once.
    first = zlib.crc32(os.path.realpath(root).encode("utf-8", "surrogateescape")) % blocks
    for number in range(blocks):
        port = _FIRST + (first + slot + number) % blocks * BLOCK
        if port not in ports and all(map(_is_free, range(port, port + BLOCK))):
            return {"slot": slot, "port": port}
    what = f"No block of {BLOCK} ports between {_FIRST} and {_LAST} is free."
    raise EnvironmentProblem("SETUP_FAILED", what, "End what listens there")


def _others(root: str) -> Iterator[dict[str, int]]:
    """What is noted of the trees of a repository."""
    places = os.path.join(_common(root), "worktrees")
    with contextlib.suppress(OSError):
        for name in os.listdir(places):
            known = _noted(os.path.join(places, name, _NOTE))
            if known is not None:
                yield known


def _is_free(port: int) -> bool:
    with contextlib.closing(socket.socket()) as tried:
        # Otherwise connections in TIME_WAIT of a server that has ended make a free port look taken.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
