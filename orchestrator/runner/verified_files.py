"""Which of the files that changed, or that an executor says it changed, the runner finds on the disk itself.

Source: seed 001, Properties 8, 31 and 33.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence

from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running.facts import CLAIM, DIFF
from orchestrator.runner import snapshot
from orchestrator.runner.snapshot import Change, Snapshot

_NEVER = frozenset({".git", ".orchestrator"})
_OWN = frozenset({".claude/repl.json"})
"""What the runner writes itself is no work of an executor."""
_LEADS_OUT = "a link leads out of the project"
_TICK_NS = 10_000_000
"""So far may the clock that times are taken from for files be behind the other."""


class VerifiedFile(NamedTuple):
    """A file as it was found; the path is relative to the root, with slashes.

    A deleted file is one of `diff` that does not exist; one of `executor_claim` that does not exist was claimed and is
    missing.
    """

    path: str
    exists: bool
    detected_at: str
    detection_method: str


class ClaimProblem(NamedTuple):
    """A claim that verifies nothing: the path as it was claimed, and why."""

    path: str
    why: str


class Verification(NamedTuple):
    """What was found, in order of paths, and the claims that count for nothing."""

    files: tuple[VerifiedFile, ...]
    problems: tuple[ClaimProblem, ...] = ()

    @property
    def modified(self) -> int:
        """How many files of these exist: the files_modified_count of a run."""
        return sum(file.exists for file in self.files)


def verify(
    before: Snapshot, after: Snapshot, changes: Sequence[Change], claimed: Sequence[str], at: str, *,
    alone: bool = True,
) -> Verification:
    """Find changed and claimed files on the disk.

    A claimed file that is not among the changes is verified by itself only where no snapshot looks: it has to exist
    and to have been written since the snapshot before. A file that exists and was not changed proves nothing.

    Args:
        before, after: the snapshots between which the executor ran.
        changes: what `snapshot.changed` says of them.
        claimed: paths as the executor gave them; absolute ones count as what they are below the root.
        at: the time of this look.
        alone: nobody else worked in the tree meanwhile; otherwise no claim can be verified, since whose work a file is
            cannot be told.

    Source: seed 001, Properties 31 and 33.
    """
    root = after.root
    found = {change.path: _found(root, change, at) for change in changes}
    problems = []
    for claim in {relative(root, each): each for each in claimed}.values():
        path, why = _below(root, claim)
        if path is None:
            problems.append(ClaimProblem(names.shown(claim, 300), why))
        elif path in found and _leads_out(root, path):
            problems.append(ClaimProblem(snapshot.told(path), _LEADS_OUT))
        elif path not in found:
            verdict = _claim(before, after, path, alone)
            if isinstance(verdict, str):
                problems.append(ClaimProblem(snapshot.told(path), verdict))
            else:
                found[path] = VerifiedFile(snapshot.told(path), verdict, at, CLAIM)
    return Verification(tuple(found[path] for path in sorted(found)), tuple(problems))


def _found(root: str, change: Change, at: str) -> VerifiedFile:
    exists = change.kind != snapshot.DELETED and snapshot.is_file(root, change.path)
    return VerifiedFile(snapshot.told(change.path), exists, at, DIFF)


def relative(root: str, claim: str) -> str:
    """A claimed path as it is below the root, so that every spelling of it is one; as it was given where it is not."""
    path, _ = _below(root, claim)
    return claim if path is None else snapshot.told(path)


def _without_top(root: str, path: str) -> str:
    """A path without the root before it; as it is where it does not begin with the root."""
    for each in (root, os.path.realpath(root)):
        top = each.replace(os.sep, "/").rstrip("/") + "/"
        path = path[len(top) :] if path.startswith(top) else path
    return path


def _below(root: str, claim: str) -> tuple[str | None, str]:
    """A claimed path relative to the root, or why it is none."""
    if not claim.strip() or names.text_problem(claim):
        return None, "it is no path"
    path = _without_top(root, names.normal_path(claim.replace(os.sep, "/")))
    if os.path.isabs(path):
        # The project may be named by a link to it, or to a folder above it.
        folder, name = os.path.split(path)
        path = _without_top(root, f"{os.path.realpath(folder).replace(os.sep, '/').rstrip('/')}/{name}")
    if posixpath.isabs(path) or os.path.isabs(path):
        return None, "it lies outside of the project"
    normal = posixpath.normpath(path)
    if normal.split("/")[0] == "..":
        return None, "it lies outside of the project"
    # Behind a link .. leads elsewhere than the path says.
    if os.path.realpath(os.path.join(root, path)) != os.path.realpath(os.path.join(root, normal)):
        return None, "it leaves a folder again with .., by a link"
    return (None, "it is no file") if normal == "." else (normal, "")


def _claim(before: Snapshot, after: Snapshot, path: str, alone: bool) -> bool | str:
    """Whether a claimed file is there; a sentence where its being there says nothing."""
    full = os.path.join(after.root, path)
    if not alone and os.path.lexists(full):
        return "others worked in the project at the same time"
    if _leads_out(after.root, path):
        return _LEADS_OUT
    if path in after.files:
        return "it was not changed"
    if not os.path.lexists(full):
        return False
    real = snapshot.real_path(after.root, path)
    if real is None:
        return _LEADS_OUT
    if not os.path.isfile(full):
        return "it is no file within the project"
    if not _NEVER.isdisjoint(real.split("/")) or real in _OWN:
        return "such files are no result of a task"
    # By the time of change where there is one: unlike that of modification, no program can set it back (RUN-8).
    return True if _written_ns(full) >= before.taken_ns - _TICK_NS else "it was not changed"


def _leads_out(root: str, path: str) -> bool:
    """Whether something is there by a link to what is not within the project."""
    return os.path.lexists(os.path.join(root, path)) and snapshot.real_path(root, path) is None


def _written_ns(path: str) -> int:
    found = os.stat(path)
    # Elsewhere this is the time of creation.
    return found.st_ctime_ns if os.name == "posix" else found.st_mtime_ns
