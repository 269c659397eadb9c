"""What of a step lies in files: there, whole and on the disk, before the step is committed; gone again where it is not.

A kill in between leaves a file that no row names. It has the name of its content, so the next report that holds the
same finds it, and nobody else looks for it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator.app.kernel import attached
from orchestrator.core.large import Moved
from orchestrator.runner import durable
from orchestrator.store import evidence


@contextlib.contextmanager
def written(path: str, files: Sequence[Moved]) -> Iterator[None]:
    """Write the files of a step, then run the block that commits it.

    Args:
        path: of the database; the files' paths begin at the folder that an import would put them below.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED. What was written is taken away again, as it is where the block raises.
    """
    root, made = attached.own_root(path), list[Path]()
    try:
        for each in files:
            _write(root, each, made)
        yield
    except BaseException:
        durable.take_away(made)
        raise


def _write(root: Path, moved: Moved, made: list[Path]) -> None:
    *folders, name = moved.path.split("/")
    recorded = evidence.File(moved.what, moved.path, moved.sha256)
    if evidence.located(recorded, [root])[0] is not None:
        return
    missing = [each for each in _down(root, folders) if not os.path.lexists(each)]
    made += missing
    place = durable.own_folder(root, *folders) / name
    if not os.path.lexists(place):
        made.append(place)
    durable.write(place, moved.content)


def _down(root: Path, folders: Sequence[str]) -> Iterator[Path]:
    for name in folders:
        root = root / name
        yield root
