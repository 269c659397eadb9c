"""Whether a merged commit stands in the target branch, as far as the project's own git repository tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from orchestrator.core.validation.snapshot import Merge

TARGETS = ("main", "master")
"""The branches that work is merged into; where there is none of them, what is checked out."""
TIMEOUT_S = 60.0

Run = Callable[..., Any]


def look_up(
    found: tuple[Merge, ...], run: Run | None, root: Path, targets: Sequence[str] = TARGETS
) -> tuple[Merge, ...]:
    """The merges with what git says of their commits; each commit is looked up once.

    Args:
        found: the merges; those without a commit stay as they are.
        run: runs a command, as `orchestrator.runner.commands.run`; None where none can be run.
        root: the project's folder.
        targets: the branches of which the first that is there is looked at.
    """
    if run is None or all(merge.commit is None for merge in found):
        return found
    git = _Git(run, root, targets)
    why = git.missing()
    if why is not None:
        return tuple(merge._replace(why=why) if merge.commit else merge for merge in found)
    known: dict[str, tuple[bool | None, str]] = {}
    for commit in dict.fromkeys(merge.commit for merge in found if merge.commit):
        known[commit] = git.merged(commit)
    return tuple(_told(merge, known.get(merge.commit or "")) for merge in found)


def _told(merge: Merge, told: tuple[bool | None, str] | None) -> Merge:
    return merge if told is None else merge._replace(ancestor=told[0], why=told[1])


class _Git:
    """A repository, asked through its own program."""

    def __init__(self, run: Run, root: Path, targets: Sequence[str]) -> None:
        self._run = run
        self._root = root
        self._targets = targets
        self._target = ""
        self._name = ""

    def _ask(self, *arguments: str) -> Any:
        return self._run(["git", *arguments], folder=self._root, timeout_s=TIMEOUT_S)

    def missing(self) -> str | None:
        """Why nothing can be looked up, or None."""
        inside = self._ask("rev-parse", "--is-inside-work-tree")
        if inside.status is None:
            return f"git {inside.why}"
        if inside.status != 0 or inside.output.strip() != "true":
            return "the project root is no git repository"
        names = [*((f"refs/heads/{name}", name) for name in self._targets), ("HEAD", "what is checked out")]
        for reference, name in names:
            tip = self._ask("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
            if tip.status == 0:
                self._target, self._name = tip.output.strip(), name
                return None
        return "the repository has no commit"

    def merged(self, commit: str) -> tuple[bool | None, str]:
        """Whether the target contains a commit (None: that cannot be seen), and why."""
        asked = self._ask("merge-base", "--is-ancestor", commit, self._target)
        if asked.status == 0:
            return True, f"it is in {self._name}"
        if asked.status == 1:
            return False, f"it is no ancestor of {self._name}"
        if asked.status is None:
            return None, f"git {asked.why}"
        shallow = self._ask("rev-parse", "--is-shallow-repository")
        if shallow.output.strip() == "true":
            return None, "the repository is shallow and does not hold it"
        return False, "the repository has no such commit"
