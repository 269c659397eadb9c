"""Splitting a run whose task is larger than its limits: parts that each fit, executed one after the other.

Only the files that a task orders by name can be counted before it is executed, so they are what is divided. The runner
alone divides; what an executor proposes is noted and not done.

Source: seed 001, Properties 4, 13 and 14.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.app.kernel.context import Context
from orchestrator.app.running import requested_files
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import limits, mention_outcomes, tests_exist
from orchestrator.core.running.config import Settings
from orchestrator.core.running.limits import Piece
from orchestrator.core.running.mention_outcomes import Mention
from orchestrator.runner import snapshot
from orchestrator.store.run_reader import Run


class Part(NamedTuple):
    """One part of a run: which of how many, the files that it is about, and those that later parts are about."""

    number: int
    of: int
    files: tuple[str, ...]
    later: tuple[str, ...] = ()

    def sentence(self) -> str:
        """The part in words."""
        return f"part {self.number} of {self.of}: {', '.join(self.files)}"


def split(context: Context, run: Run, settings: Settings) -> tuple[Part, ...]:
    """The parts of a run's task that are left to do; nothing where the task fits as a whole.

    Raises:
        Refused: E206, it is over a limit and cannot be divided further.
    """
    allowed, at = settings.task_limits, context.clock()
    if len(limits.split(allowed, _pieces(_ordered(requested_files.mentioned(context, run)), settings), at)) < 2:
        return ()
    now = requested_files.tree(snapshot.take(run.verification_root, contents=False))
    known = _ordered(requested_files.mentioned(context, run, now))
    if len(limits.split(allowed, _pieces(known, settings), at)) < 2:
        return ()
    left = limits.split(allowed, _pieces(requested_files.left(context, run, known, now), settings), at)
    files = [tuple(name for piece in part for name in piece.names) for part in left]
    return tuple(Part(place + 1, len(files), each, sum(files[place + 1 :], ())) for place, each in enumerate(files))


def _ordered(found: Sequence[Mention]) -> list[Mention]:
    """The mentions that decide, without those of which nobody knows how many files they are."""
    decide = mention_outcomes.deciding(found)
    unknown = (mention_outcomes.EITHER, mention_outcomes.EMPTIED)
    return [each for each in decide if not (each.patterns or each.tests or each.kind in unknown)]


def _pieces(ordered: Sequence[Mention], settings: Settings) -> list[Piece]:
    """A file is a piece by itself; one that goes, and the one that comes in its place, are one of two files."""
    groups: list[list[Mention]] = []
    for each in ordered:
        moved = groups and each.kind == mention_outcomes.MADE and groups[-1][-1].kind == mention_outcomes.DELETED
        if moved:
            groups[-1].append(each)
        else:
            groups.append([each])
    return [_piece(group, settings) for group in groups]


def _piece(group: Sequence[Mention], settings: Settings) -> Piece:
    names = tuple(each.name for each in group)
    # What is moved into a folder comes to be there under a name that the task does not say.
    files = max(len(group), 2 * sum(each.moved for each in group))
    return Piece(names, files=files, tests=sum(tests_exist.is_of_tests(name, settings.detection) for name in names))


def prompt(text: str, part: Part) -> str:
    """What the executor is told of a part."""
    before = "" if part.number == 1 else " The parts before it are done."
    files = ", ".join(part.files)
    return f"{text}\n\nThis is part {part.number} of {part.of} of that task.{before} Do now only what is about: {files}"
