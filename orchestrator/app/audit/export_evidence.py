"""Files of evidence in an export: out of the project into its lines.

A file goes out only if it is as it was recorded; of every other one the export says why it is not there.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.attached_evidence import Evidence
from orchestrator.app.kernel.context import Answer
from orchestrator.core import masking, masking_stream
from orchestrator.core.export_format import FILE, FILE_LIMIT, FILES_LIMIT, PART, PART_SIZE, Writer
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import evidence as running_evidence
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import IO
from orchestrator.runner import atomic_files, evidence_kept
from orchestrator.runner.evidence_files import INDEX
from orchestrator.store import evidence

_TOO_LARGE = f"it is larger than {FILE_LIMIT} bytes, the limit of an export"
_TELLING = "it seems to hold a secret; export with --unmasked to include it"
_OUTSIDE = "it is outside the project"


class Tally:
    """How many files an export holds, which it does not, and in how many events something was masked."""

    def __init__(self) -> None:
        self.files = 0
        self.masked = 0
        self.absent: list[dict[str, str]] = []

    def answer(self) -> Answer:
        """As an answer has it."""
        return {"files": self.files, "absent": self.absent}


class _Source(NamedTuple):
    """A file that goes out: the evidence that names it, its path there, and its content or why there is none."""

    of: str
    path: str
    content: Path | bytes | None
    why: str = ""


def lines(
    writer: Writer, path: str, session: str, found: Evidence, tally: Tally, secrets: Sequence[str] | None = None
) -> Iterator[bytes]:
    """The lines of the evidence of a session that lies in files.

    Args:
        path: of the database.
        secrets: registered values, where files that hold what looks like a secret stay out; None takes all.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED, a file changed while it was read.
    """
    left = FILES_LIMIT
    for source in (*_files(path, session, found), *_of_runs(path, found)):
        size = 0 if source.content is None else _size(source.content)
        why = _TOO_LARGE if size > min(FILE_LIMIT, left) else source.why
        if source.content is not None and not why and secrets is not None and _tells(source, source.content, secrets):
            why = _TELLING
        if source.content is None or why:
            tally.absent.append({"of": source.of, "path": source.path, "why": why})
            yield writer.line(FILE, {"of": source.of, "path": source.path, "absent": why})
        else:
            left -= size
            tally.files += 1
            yield from _whole(writer, source, source.content)


def _files(path: str, session: str, found: Evidence) -> Iterator[_Source]:
    for each in found.files:
        place, why = evidence.located(each, attached_evidence.roots(path, session, each.place.folder))
        inside = running_evidence.is_relative(each.path)
        yield _Source(each.id, each.path, place if inside else None, why or ("" if inside else _OUTSIDE))


def _of_runs(path: str, found: Evidence) -> Iterator[_Source]:
    for each in found.inventories:
        kept, why = evidence_kept.find(attached_evidence.run_roots(path, each), each.session, each.checksum)
        if kept is None:
            yield _Source(each.id, INDEX, None, "it was deleted after its retention period" if each.expired else why)
            continue
        yield _Source(each.id, INDEX, kept.listing)
        for item in kept.raw:
            problem = kept.problems.get(item.path, "")
            yield _Source(each.id, item.path, None if problem else kept.folder / item.path, problem)


def _tells(source: _Source, content: Path | bytes, secrets: Sequence[str]) -> bool:
    """Whether a file holds what looks like a secret; a compressed one is looked into."""
    if isinstance(content, bytes):
        text = content.decode("utf-8", "replace")
        return masking.mask_written(text, secrets) != text
    try:
        with _opened(content) as raw, gzip.open(raw) if source.path.endswith(".gz") else raw as stream:
            return _changes(io.TextIOWrapper(stream, "utf-8", "replace", newline=""), secrets)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        # Nobody can say what is in it.
        return True


def _changes(text: io.TextIOWrapper, secrets: Sequence[str]) -> bool:
    stream, before, after = masking_stream.Stream(secrets, keys_only=False), hashlib.sha256(), hashlib.sha256()
    while piece := text.read(PART_SIZE):
        before.update(piece.encode())
        after.update(stream.feed(piece).encode())
    after.update(stream.close().encode())
    return before.digest() != after.digest()


def _size(content: Path | bytes) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _whole(writer: Writer, source: _Source, content: Path | bytes) -> Iterator[bytes]:
    """The line of a file, and those of its content, which is read twice: what it is stands before it."""
    with _opened(content) as stream:
        taken, size = hashlib.sha256(), 0
        while part := stream.read(PART_SIZE):
            taken.update(part)
            size += len(part)
        sha256 = taken.hexdigest()
        yield writer.line(FILE, {"of": source.of, "path": source.path, "size": size, "sha256": sha256})
        stream.seek(0)
        again = hashlib.sha256()
        while part := stream.read(PART_SIZE):
            again.update(part)
            yield writer.line(PART, base64.b64encode(part).decode())
    if again.hexdigest() != sha256:
        message = f"{source.path} of {source.of} changed while it was exported."
        raise EnvironmentProblem("OUTPUT_FAILED", message, "Export it again", path=source.path)


def _opened(content: Path | bytes) -> IO[bytes]:
    if isinstance(content, bytes):
        return io.BytesIO(content)
    return open(atomic_files.open_regular(content), "rb")
