"""Parts of a report that are too large for the record: what stays in it, and what lies in a file of evidence.

A document over the limit goes into a file as a whole, named by its hash. In the record each of its large members is
replaced by a reference to that file, which says how the member begins; what the router obeys stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.core import names, sha256, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.errors import UsageError
from orchestrator.hints import Any

LIMIT = 1024 * 1024
"""Bytes of a document, and of a message, that the record keeps itself."""
REPORT_LIMIT = 64 * 1024 * 1024
"""Bytes of the largest document or message that a report may have."""
LINE_LIMIT = REPORT_LIMIT + LIMIT
"""Bytes of a line that may hold one."""

DETAILS, METADATA, MESSAGE = "details", "metadata", "message"
FILE = "evidence_file"
"""The member of a reference that names the file."""
REST = "moved_members"
"""The member that stands for those that have no reference of their own."""

_SUMMARY = 200
_MOST_NAMED, _LONGEST_NAME = 256, 200
_KEPT = LIMIT // 2
# What else these documents hold is told to agents and to people; nothing is decided by it (NAM-10).
_OBEYED = {
    DETAILS: frozenset(("external", "external_dependency", "plan", "task_groups", "tasks_done")),
    METADATA: frozenset(
        ("status", "artifacts", "errors", "partial_progress", "requires_user_review", "review_reason")
    ),
}


class Moved(NamedTuple):
    """What goes into a file: which part of the report it is, where it lies below the project, and its content."""

    what: str
    path: str
    sha256: str
    content: bytes

    def recorded(self) -> dict[str, Any]:
        """What a step's input keeps of it."""
        return {"what": self.what, "path": self.path, "sha256": self.sha256, "bytes": len(self.content)}


def document(
    what: str, value: dict[str, Any] | None, folder: str, mask: Callable[[Any], Any]
) -> tuple[dict[str, Any] | None, Moved | None]:
    """A document as the record keeps it, and the file that the whole of it goes into; None for one that fits.

    Args:
        what: `details` or `metadata`.
        folder: the file's, relative to the project.
        mask: masks keys in a value; nothing of a large document leaves this function unmasked.

    Raises:
        UsageError: USAGE, it is larger than any report may be, or what the router obeys is too large by itself.
    """
    if not value or _fits(strict_json.canonical(value)):
        return value, None
    masked = mask(value)
    content = strict_json.canonical(masked).encode()
    _check_size(what, len(content))
    moved = _moved(what, folder, content, "json")
    return _kept(what, masked, moved), moved


def message(text: str | None, folder: str, mask: Callable[[Any], Any]) -> Moved | None:
    """The file that an agent's whole message goes into; None for one that fits into the record.

    Raises:
        UsageError: USAGE, it is larger than any report may be.
    """
    if not text or _fits(text):
        return None
    content = mask(text).encode()
    _check_size(MESSAGE, len(content))
    return _moved(MESSAGE, folder, content, "txt")


def folder(session: str) -> str:
    """Where the files of a session's reports lie, relative to the project or to the folder of the database."""
    return f"{names.OWN_FOLDER}/sessions/{session}/reports"


def reference(value: Any) -> str | None:
    """The path of the file that a member refers to, where it looks like a reference."""
    path = value.get(FILE) if isinstance(value, dict) else None
    return path if isinstance(path, str) else None


def beginning(value: Any) -> str | None:
    """A text, or how one begins that lies in a file; None for what is no text."""
    if reference(value) is not None:
        value = value.get("summary")
    return value if isinstance(value, str) else None


def _fits(text: str) -> bool:
    # A character has at most four bytes, so the text of most reports need not be encoded.
    return len(text) * 4 <= LIMIT or len(text.encode("utf-8", "surrogatepass")) <= LIMIT


def _check_size(what: str, size: int) -> None:
    if size > REPORT_LIMIT:
        raise UsageError(
            "USAGE", f"{what} has {size} bytes; a report may have {REPORT_LIMIT}.",
            "Put large items into project files and name those files",
        )


def _moved(what: str, folder: str, content: bytes, kind: str) -> Moved:
    hash_ = sha256.new(content).hexdigest()
    return Moved(what, f"{folder}/{hash_}.{kind}", hash_, content)


def _kept(what: str, value: Mapping[str, Any], moved: Moved) -> dict[str, Any]:
    """The members that the record keeps: the obeyed and the small ones as they are, of others a reference."""
    sizes = {name: len(strict_json.canonical({name: item}).encode()) for name, item in value.items()}
    obeyed = {name for name, item in value.items() if _is_obeyed(what, name, item)}
    _check_obeyed(what, obeyed, sizes)
    kept, used, named, rest = dict[str, Any](), sum(sizes[name] for name in obeyed), 0, 0
    for name in sorted(value, key=lambda name: (sizes[name], name)):
        if name in obeyed:
            kept[name] = value[name]
        elif used + sizes[name] <= _KEPT and name != REST:
            kept[name] = value[name]
            used += sizes[name]
        elif named < _MOST_NAMED and len(name) <= _LONGEST_NAME and name != REST:
            kept[name] = _reference(moved, _summary(value[name]))
            named += 1
        else:
            rest += 1
    if rest:
        kept[REST] = _reference(moved, f"{rest} more members stand in the file")
    return kept


def _is_obeyed(what: str, name: str, value: Any) -> bool:
    # Completion data has to be an object, and a reference is one: it must not hide that it was something else.
    odd = what == METADATA and name == "completion_data" and not isinstance(value, dict)
    return name in _OBEYED[what] or odd


def _check_obeyed(what: str, obeyed: set[str], sizes: Mapping[str, int]) -> None:
    if sum(sizes[name] for name in obeyed) > _KEPT:
        largest = max(obeyed, key=lambda name: sizes[name])
        raise UsageError(
            "USAGE",
            f"{what}: what decides the report has more than {_KEPT} bytes and cannot go into a file; the largest is"
            f" {largest}, with {sizes[largest]}.",
            "Shorten it, and put the rest under another name",
        )


def _reference(moved: Moved, summary: str) -> dict[str, Any]:
    return {FILE: moved.path, "sha256": moved.sha256, "bytes": len(moved.content), "summary": summary}


def _summary(value: Any) -> str:
    text = value if isinstance(value, str) else strict_json.canonical(value)
    return text if len(text) <= _SUMMARY else f"{text[:_SUMMARY]}..."
