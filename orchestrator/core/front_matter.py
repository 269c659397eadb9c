"""Reads front matter: `key: value`, `key: [a, b]` and `key:` with lines of `- item`, and nothing more of YAML.

Pure and cheap to import. Whatever cannot be read becomes a problem with its line; reading never stops there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.core.tuples import NamedTuple
from orchestrator.core.workflow.problems import ERROR, Problem

_KEY_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(.*))?")
_ITEM_LINE = re.compile(r"[ \t]*-[ \t]+(.*)")
_COMMENT = re.compile(r"(?:\A|[ \t])#.*", re.DOTALL)


class Entry(NamedTuple):
    """One key: the text behind its colon, and the indented or `- ` lines below it, each with its number."""

    line: int
    value: str
    more: list[tuple[int, str]]


class Notes:
    """Collects the problems of one file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.found: list[Problem] = []

    def add(self, id: str, line: int | None, message: str, hint: str) -> None:
        """Note a problem: its stable id, its line where it has one, a sentence, and what mends it."""
        self.found.append(Problem(id, ERROR, self.source, line, message, hint))


def split(text: str, notes: Notes) -> tuple[list[str], str]:
    """Return the lines between the two `---` lines, and the body after them."""
    lines = text.split("\n")
    marks = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    if len(marks) < 2 or marks[0] != 0 or marks[1] == 1:
        notes.add("A001", 1, "the file has no front matter", "begin it with lines between two lines of ---")
        return [], text
    return lines[1 : marks[1]], "\n".join(lines[marks[1] + 1 :]).lstrip("\n")


def entries(lines: list[str], notes: Notes) -> dict[str, Entry]:
    """Group the lines by key: a key line, and the indented or `- ` lines that follow it."""
    found: dict[str, Entry] = {}
    current: Entry | None = None
    for number, line in enumerate(lines, start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0] in " \t-" and current is not None:
            current.more.append((number, line))
            continue
        match = _KEY_LINE.fullmatch(line)
        if match is None:
            notes.add("A002", number, f"this line is not `key: value`: {line.strip()}", "write it as `key: value`")
            continue
        current = Entry(number, (match[2] or "").strip(), [])
        if match[1] in found:
            notes.add("A003", number, f"the key {match[1]} is given twice", "keep one of the two lines")
        found.setdefault(match[1], current)
    return found


def text(key: str, entries: dict[str, Entry], notes: Notes) -> str:
    """Return the text of `key`, empty when it is absent."""
    entry = entries.get(key)
    if entry is None:
        return ""
    if entry.more or entry.value.startswith(("[", "{")):
        notes.add("A006", entry.line, f"{key} must be text on one line", f"write `{key}: value`")
    return _scalar(entry.value)


def items_of(key: str, entries: dict[str, Entry], notes: Notes) -> tuple[str, ...]:
    """Return the items of `key`: `[a, b]`, `a, b` or lines of `- item`."""
    entry = entries.get(key)
    if entry is None:
        return ()
    value = _COMMENT.sub("", entry.value).strip()
    if value and entry.more:
        notes.add("A006", entry.line, f"{key} has items on its own line and below it", "keep one of the two forms")
        return ()
    if entry.more:
        return tuple(_items(key, entry, notes))
    if value.startswith("[") != value.endswith("]"):
        notes.add("A006", entry.line, f"the list of {key} is not closed", f"write `{key}: [a, b]`")
    inner = value.removeprefix("[").removesuffix("]")
    return tuple(item for item in (_scalar(part) for part in inner.split(",")) if item)


def _items(key: str, entry: Entry, notes: Notes) -> Iterator[str]:
    """Yield the items of a block list."""
    for number, line in entry.more:
        match = _ITEM_LINE.fullmatch(line)
        item = _scalar(match[1]) if match else ""
        if item:
            yield item
        else:
            notes.add("A002", number, f"this line under {key} is not `- item`: {line.strip()}", "write `- item`")


def _scalar(raw: str) -> str:
    """Take the quotes or the comment off a value."""
    value = raw.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return _COMMENT.sub("", value).strip()
