"""The inventory of evidence: what was recorded of each operation, and whether it is whole and unchanged.

One record stands for one operation and is never an aggregate. An index lists the records of a session; beside it lie
the raw files that they name. Hashes are SHA-256 over path and content, written ``sha256:`` and 64 hexadecimal digits.

Source: seed 001, Properties 7, 18 and 21.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence

from orchestrator.core import names, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

ALGORITHM = "sha256:"


class Item(NamedTuple):
    """A file that belongs to a record.

    path: of a raw file ``raw/<operation>.log``, beside the index; of an artifact relative to the project.
    hash: over path and content; None for an artifact that was deleted.
    size: in bytes.
    """

    path: str
    hash: str | None
    size: int


class Record(NamedTuple):
    """What is kept of one operation.

    kind: what the operation was, such as ``executor`` or ``model_change``.
    facts: what there is to know of it, as JSON; changes of settings have no files, so this is all of their evidence.
    raw: files with all that was printed.
    artifacts: files of the project that it made, changed or deleted.
    hash: over all of the above, under the operation's id.
    """

    operation_id: str
    kind: str
    at: str
    facts: Mapping[str, Any]
    raw: tuple[Item, ...] = ()
    artifacts: tuple[Item, ...] = ()
    atomic: bool = True
    aggregated: bool = False
    hash: str = ""


class Index(NamedTuple):
    """The records of a session, in the order in which they were made."""

    session_id: str
    records: tuple[Record, ...] = ()


class Problem(NamedTuple):
    """One thing that is wrong with the evidence: the code, whose it is, where, and a sentence."""

    code: str
    operation_id: str | None
    path: str | None
    message: str


class Inspection(NamedTuple):
    """What was found.

    total: how many operations are known.
    missing: operations without a record.
    without_evidence: operations whose evidence is missing or not sound; none of them may be complete.
    problems: all of them, in order.
    raw_files: the raw files that the records name.
    """

    total: int
    missing: tuple[str, ...]
    without_evidence: tuple[str, ...]
    problems: tuple[Problem, ...]
    raw_files: tuple[str, ...]


def hasher(path: str) -> Any:
    """A SHA-256 that has taken in the path; the content follows. No path contains what ends it."""
    return hashlib.sha256(path.encode("utf-8", "surrogateescape") + b"\0")


def digest(path: str, content: bytes) -> str:
    """The hash of a file as evidence writes it."""
    taken = hasher(path)
    taken.update(content)
    return finished(taken)


def finished(taken: Any) -> str:
    """What a hasher has taken in, as evidence writes it."""
    return f"{ALGORITHM}{taken.hexdigest()}"


def checksum(index: bytes) -> str:
    """The content of the checksum file: the SHA-256 of the index file's bytes and of nothing else, in hexadecimal."""
    return hashlib.sha256(index).hexdigest()


def sealed(record: Record) -> Record:
    """A record with its own hash; what no document can hold of its facts is replaced by U+FFFD."""
    fit = record._replace(facts={_fit(key): _fit(value) for key, value in record.facts.items()})
    return fit._replace(hash=_record_hash(fit))


def missing(operations: Iterable[str], records: Iterable[Record]) -> tuple[str, ...]:
    """The registered operations that have no record, in their order.

    Source: seed 001, Property 7.
    """
    recorded = {record.operation_id for record in records}
    return tuple(operation for operation in dict.fromkeys(operations) if operation not in recorded)


def unregistered(operations: Collection[str], records: Iterable[Record]) -> list[Problem]:
    """Records of operations that the runner never began.

    Source: seed 001, Property 1.
    """
    known = set(operations)
    foreign = dict.fromkeys(record.operation_id for record in records if record.operation_id not in known)
    return [_problem("E501", operation, None, "is recorded and was never registered") for operation in foreign]


def not_atomic(records: Iterable[Record]) -> list[Problem]:
    """Records that do not stand for exactly one operation.

    Source: seed 001, Property 18.
    """
    problems, seen = [], set()
    for record in records:
        operation = record.operation_id
        if not record.atomic or record.aggregated:
            problems.append(_problem("E301", operation, None, "has a record that is an aggregate"))
        if operation in seen:
            problems.append(_problem("E301", operation, None, "has more than one record"))
        seen.add(operation)
    return problems


def is_relative(path: str) -> bool:
    """Whether a path names something below its root by its plain names, with slashes."""
    return bool(path) and "\0" not in path and not {"", ".", ".."} & set(path.split("/"))


def unreadable(reason: str) -> Problem:
    """The problem of an index that is absent, cannot be opened, or is no JSON."""
    return Problem("E302", None, None, f"The evidence index cannot be read: {reason}")


def altered(index: Index, data: bytes, written: str | None, known: str | None = None) -> list[Problem]:
    """Whether an index and its records are as they were written.

    Args:
        index: parsed from ``data``.
        data: the bytes of the file.
        written: the content of the checksum file; None where there is none.
        known: the checksum that is kept elsewhere, where it is.

    Returns:
        E304, for each record that was changed, and for the index where no record tells it.
    """
    problems = [
        _problem("E304", record.operation_id, None, "has a record that was changed")
        for record in index.records
        if record.hash != _record_hash(record)
    ]
    actual = checksum(data)
    if written is None or written.strip() != actual or known not in (None, actual):
        reason = "has no checksum" if written is None else "does not have the checksum that it had when it was written"
        problems.append(Problem("E304", None, None, f"The evidence index {reason}."))
    return problems


def compare(items: Mapping[str, Sequence[Item]], found: Mapping[str, str | None]) -> list[Problem]:
    """Whether files are as they were recorded.

    Args:
        items: the files of each operation.
        found: the hash of each path as it is now; None, or no entry, where there is no such file.

    Returns:
        E303, a file is missing; E304, it has another content, or is there although it was deleted.
    """
    problems = []
    for operation, listed in items.items():
        for item in listed:
            now = found.get(item.path)
            if now != item.hash:
                code, what = ("E303", "is missing") if now is None else ("E304", "was changed after it was recorded")
                problems.append(Problem(code, operation, item.path, f"{item.path} of operation {operation} {what}."))
    return problems


def stray(paths: Iterable[str], index: Index, operations: Collection[str]) -> list[Problem]:
    """Raw files that no record names and no unfinished operation is writing.

    Args:
        paths: what lies beside the index, as records name it.
        operations: those that are registered.
    """
    named = {item.path for record in index.records for item in record.raw}
    expected = {raw_path(operation) for operation in missing(operations, index.records)}
    foreign = sorted(path for path in paths if path not in named and path.removesuffix(".gz") not in expected)
    return [Problem("E501", None, path, f"No operation of this session made {names.shown(path)}.") for path in foreign]


def raw_path(operation_id: str) -> str:
    """Where the raw output of an operation lies while it is written, beside the index."""
    return f"raw/{operation_id}.log"


def inspected(operations: Sequence[str], index: Index | None, problems: Sequence[Problem]) -> Inspection:
    """Put together what was found; without an index no operation has evidence."""
    records = index.records if index else ()
    absent = missing(operations, records)
    known = (*dict.fromkeys((*operations, *(record.operation_id for record in records))),)
    # A problem that is nobody's is everybody's: where the index itself is in doubt, so is all that it says. What
    # lies there and is nobody's makes the session invalid, and takes nothing from the others.
    doubt = any(problem.operation_id is None and problem.code != "E501" for problem in problems)
    bad = {problem.operation_id for problem in problems} | set(absent)
    unsound = known if doubt else tuple(operation for operation in known if operation in bad)
    raw_files = tuple(item.path for record in records for item in record.raw)
    return Inspection(len(known), absent, unsound, tuple(problems), raw_files)


def _fit(value: Any) -> Any:
    """A value without NUL characters and lone surrogates, which programs print and documents refuse."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_fit(key): _fit(member) for key, member in value.items()}
    return [_fit(item) for item in value] if isinstance(value, list | tuple) else value


def _problem(code: str, operation: str, path: str | None, what: str) -> Problem:
    return Problem(code, operation, path, f"Operation {names.shown(operation, 140)} {what}.")


def _record_hash(record: Record) -> str:
    content = document(record)
    del content["hash"]
    return digest(record.operation_id, strict_json.canonical(content).encode())


def document(record: Record) -> dict[str, Any]:
    """A record as JSON."""
    items = {"raw": [item._asdict() for item in record.raw], "artifacts": [item._asdict() for item in record.artifacts]}
    return record._asdict() | {"facts": dict(record.facts)} | items
