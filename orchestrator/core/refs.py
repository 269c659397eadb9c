"""Names of branches and folders for sessions and groups: every id becomes one part of a ref, and no two the same."""

from __future__ import annotations

import re

PREFIX = "orchestrator"
INTEGRATION = "_integration"
"""The part that stands for the session as a whole; no group's id becomes it."""
_PLAIN = re.compile(r"[A-Za-z0-9_-]")


def part(id: str) -> str:
    """An id as one part of a ref: other characters than letters, digits, `_` and `-` as `=` with two hex digits a byte.

    A leading `_` or `-` is escaped as well.
    """
    return "".join(
        each if _PLAIN.fullmatch(each) and not (place == 0 and each in "_-")
        else "".join(f"={byte:02X}" for byte in each.encode("utf-8", "surrogatepass"))
        for place, each in enumerate(id)
    )  # fmt: skip


def branch(session: str, group: str | None = None) -> str:
    """The branch of a group, or of the session as a whole."""
    return f"{PREFIX}/{part(session)}/{INTEGRATION if group is None else part(group)}"


def folder(session: str, group: str | None = None) -> str:
    """The folder of a group's worktree, or of the session's, below the project."""
    return f".orchestrator/worktrees/{part(session)}/{INTEGRATION if group is None else part(group)}"
