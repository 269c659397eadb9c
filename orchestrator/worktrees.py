"""The linked worktrees of a git repository, told from git's own files: git itself is never started.

What belongs to a project and is not committed (its database, its settings) is shared by all worktrees of a repository
and lies in the main one, which no `git worktree remove` deletes.
"""

from __future__ import annotations

import os

from orchestrator import files

_ENOUGH = 64 * 1024
"""Bytes of one of git's small files, amply."""


def is_root(folder: str) -> bool:
    """Whether a folder is the root of a worktree."""
    return os.path.lexists(os.path.join(folder, ".git"))


def git_folder(root: str) -> str:
    """Where git keeps the index of the worktree at `root`."""
    kind, _, target = first_line(os.path.join(root, ".git")).partition(": ")
    return os.path.join(root, target) if kind == "gitdir" else os.path.join(root, ".git")


def common_folder(root: str) -> str | None:
    """The git folder that the linked worktree at `root` shares with all others; None where it is no linked one."""
    if os.path.isdir(os.path.join(root, ".git")):
        return None
    own = git_folder(root)
    common = first_line(os.path.join(own, "commondir"))
    return os.path.realpath(os.path.join(own, common)) if common else None


def main_worktree(root: str) -> str | None:
    """The main worktree of the linked worktree at `root`.

    None where `root` is no linked one, where the repository is bare, and where git does not record it: a repository
    with a separate git folder knows of its linked worktrees alone. A submodule records it.
    """
    common = common_folder(root)
    if common is None:
        return None
    above, name = os.path.split(common)
    recorded = setting(common, "worktree")
    main = os.path.realpath(os.path.join(common, recorded)) if recorded else above if name == ".git" else None
    return main if main is not None and os.path.isdir(main) else None


def shared_folder(root: str) -> str | None:
    """The folder that stands for all worktrees of the linked worktree at `root`: the main one, or the bare repository.

    None where `root` is no linked worktree, or where git does not record the main one.
    """
    main, common = main_worktree(root), common_folder(root)
    is_bare = main is None and common is not None and setting(common, "bare") == "true"
    return common if is_bare else main


def checked_out(root: str) -> tuple[str, str]:
    """What the worktree at `root` has checked out, and the commit of that branch where git has it in a file of its own.
    """
    head = first_line(os.path.join(git_folder(root), "HEAD"))
    common = common_folder(root) or git_folder(root)
    return head, first_line(os.path.join(common, head.removeprefix("ref: "))) if head.startswith("ref: ") else ""


def setting(common: str, name: str) -> str | None:
    """A value of the section `core` of the configuration in a git folder; None where it is not set."""
    section, found = "", None
    for line in _text(os.path.join(common, "config")).splitlines():
        word = line.strip()
        if word.startswith("["):
            section = word.strip("[]").lower()
        key, equals, value = word.partition("=")
        if section == "core" and key.strip().lower() == name:
            found = value.strip().strip('"') if equals else "true"
    return found


def first_line(file: str) -> str:
    """The first line of a small file of git's; empty where there is no such file."""
    return _text(file).partition("\n")[0].rstrip("\r")


def _text(file: str) -> str:
    try:
        with files.opened(file) as stream:
            return os.fsdecode(stream.read(_ENOUGH)).replace("\0", "")
    except (files.Unreadable, OSError):
        return ""
