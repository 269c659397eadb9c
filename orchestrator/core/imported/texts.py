"""Values of any kind from another database as texts, numbers and ids of this program. Nothing is dropped unseen."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from orchestrator.core import names
from orchestrator.hints import Any

EXCERPT = 160
"""Characters of a peer's text that a finding quotes."""
_ID_STEM = 100
_SURROGATE = "[\ud800-\udfff]"
_NUMBER = r"[+-]?[0-9]{1,18}"


class Cleaner:
    """Makes texts that can be stored, and counts those that had to be changed for it."""

    def __init__(self) -> None:
        self.changed = 0

    def text(self, value: Any) -> str | None:
        """A value as text; NUL characters and bytes that are no text stand as escapes. None stays None."""
        if value is None or (isinstance(value, str) and names.text_problem(value) is None):
            return value
        if isinstance(value, bytes):
            value = value.decode("utf-8", "surrogateescape")
            self.changed += 1
        elif not isinstance(value, str):
            return repr(value)
        elif names.text_problem(value):
            self.changed += 1
        return re.sub(_SURROGATE, _escaped, value.replace("\0", "\\x00"))

    def row(self, row: dict[str, Any]) -> dict[str, str | int | None]:
        """A row with whole numbers kept, and everything else as text."""
        return {
            self.text(name) or "": value if type(value) is int else self.text(value) for name, value in row.items()
        }


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def number(value: Any, least: int, most: int) -> int | None:
    """A whole number within bounds, also one written as text; None where the value is none."""
    if isinstance(value, str) and re.fullmatch(_NUMBER, value.strip()):
        value = int(value)
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and least <= value <= most else None


def excerpt(text: str | None) -> str:
    """The beginning of a text on one line, in quotes."""
    line = " ".join((text or "")[: EXCERPT * 4].split())
    return f"'{line}'" if len(line) <= EXCERPT else f"'{line[: EXCERPT - 3]}...'"


def ids(kind: str, given: Iterable[str]) -> list[str]:
    """An id for each of a peer's ids, in their order: itself where it may be one, else one made from it.

    Args:
        kind: what the ids name; an id without a usable character begins with it.
        given: the peer's ids; one that occurs again gets another id.

    The same ids in the same order give the same answer.
    """
    wanted = list(given)
    sound = {each for each in wanted if names.ID_PATTERN.fullmatch(each)}
    taken: set[str] = set()
    found = []
    for each in wanted:
        id_ = each if each in sound and each not in taken else _made(kind, each, sound | taken)
        taken.add(id_)
        found.append(id_)
    return found


def _made(kind: str, id_: str, taken: set[str]) -> str:
    stem = re.sub("[^A-Za-z0-9]+", "-", id_[: _ID_STEM * 2]).strip("-")[:_ID_STEM] or kind
    digest = hashlib.sha256(id_.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    made, count = f"{stem}-{digest}", 1
    while made in taken:
        count += 1
        made = f"{stem}-{digest}-{count}"
    return made
