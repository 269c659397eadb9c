"""What a session's runs have left on the disk, held against the checksum that the database has of it.

Only what was recorded counts: of an index that went on since, as a kill between its writing and the step's leaves it,
the part that had the recorded checksum.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import evidence, evidence_index
from orchestrator.core.running.evidence import Item
from orchestrator.core.suggestions import reason, sentence
from orchestrator.runner import atomic_files, snapshot
from orchestrator.runner.evidence_files import CHECKSUM, INDEX, OWN_FOLDER

_NO_INDEX = "the evidence index on the disk"


class Kept(NamedTuple):
    """Evidence as it was recorded.

    folder: where it lies; listing: the bytes of its index, which have the recorded checksum; raw: the files that it
    lists; problems: the path of each that is not as it was recorded, and what is wrong, in words.
    """

    folder: Path
    listing: bytes
    raw: tuple[Item, ...]
    problems: dict[str, str]


def folder(root: str | os.PathLike[str], session_id: str) -> Path:
    """Where the evidence of a session lies below a project."""
    return Path(root) / OWN_FOLDER / "sessions" / session_id / "evidence"


def find(roots: Sequence[Path], session_id: str, checksum: str) -> tuple[Kept | None, str]:
    """The evidence of a session at the first of these places where it is whole, else at the first where its index is.

    Returns:
        It, or None, and why its index is nowhere as it was recorded.
    """
    first: Kept | None = None
    why = ""
    for root in dict.fromkeys(roots):
        found, problem = _look(folder(root, session_id), session_id, checksum)
        if found is not None and not found.problems:
            return found, ""
        first = first or found
        # An index that is there and is another one says more than that there is none.
        why = problem if not why or why.startswith(f"{_NO_INDEX} cannot") else why
    return first, why


def _look(place: Path, session_id: str, checksum: str) -> tuple[Kept | None, str]:
    try:
        data = atomic_files.read(place / INDEX)
    except OSError as error:
        return None, sentence("{} cannot be read: {}", _NO_INDEX, reason(error))
    read = index_of(data, session_id, checksum)
    if read is None:
        return None, f"{_NO_INDEX} does not have the recorded checksum"
    return Kept(place, *read, dict(_problems(place, read[1]))), ""


def index_of(data: bytes, session_id: str, checksum: str) -> tuple[bytes, tuple[Item, ...]] | None:
    """The bytes of the index that had a checksum, and the raw files that it lists; None where there is none."""
    index, _ = evidence_index.read(data)
    recorded = None if index is None else evidence_index.as_of(index, checksum)
    if recorded is None or recorded.session_id != session_id:
        return None
    return evidence_index.render(recorded), tuple(item for record in recorded.records for item in record.raw)


def _problems(place: Path, raw: Sequence[Item]) -> Iterator[tuple[str, str]]:
    for item in raw:
        try:
            actual = snapshot.file_hash(place / item.path, item.path)
        except OSError as error:
            yield item.path, sentence("{} cannot be read: {}", item.path, reason(error))
            continue
        if actual != item.hash:
            yield item.path, f"{item.path} does not have the recorded hash"


def checksum_file(index: bytes) -> tuple[str, bytes]:
    """The file that lies beside an index: its name and content."""
    return CHECKSUM, f"{evidence.checksum(index)}\n".encode()
