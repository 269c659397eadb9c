"""Reads front matter, which is YAML, as far as agent files have any: texts and lists of texts.

Only YAML's own parser looks at the text, and nothing is constructed of it: a plain value is taken as it is written,
so that `model: 3.5` and `name: no` are texts here, and null (`null`, `~`, nothing) is a key that is not given.
Whatever cannot be read becomes a problem with its line.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow.problems import ERROR, Problem
from orchestrator.hints import Any

_FIRST_LINE = 2
"""The number of the line behind the first `---`."""
_NULL = "tag:yaml.org,2002:null"


class Entry(NamedTuple):
    """One key: its line, and the node of its value."""

    line: int
    node: Any


class Notes:
    """Collects the problems of one file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.found: list[Problem] = []

    def add(self, id: str, line: int | None, message: str, hint: str) -> None:
        """Note a problem: its stable id, its line where it has one, a sentence, and how to fix it."""
        self.found.append(Problem(id, ERROR, self.source, line, message, hint))


def split(text: str, notes: Notes) -> tuple[list[str], str]:
    """Return the lines between the two `---` lines, and the body after them."""
    lines = text.split("\n")
    marks = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    if len(marks) < 2 or marks[0] != 0 or marks[1] == 1:
        notes.add("A001", 1, "the file has no front matter", "start the file with keys between two lines of ---")
        return [], text
    return lines[1 : marks[1]], "\n".join(lines[marks[1] + 1 :]).lstrip("\n")


def entries(lines: list[str], notes: Notes) -> dict[str, Entry]:
    """The keys of the front matter with their values; null ones are left out."""
    text = "\n".join(lines)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        line, reason = _place(error, text)
        hint = "quote values that contain a colon or another special character of YAML"
        notes.add("A002", line, f"the front matter is not YAML: {reason}", hint)
        return {}
    if not isinstance(root, yaml.MappingNode):
        if root is not None or lines:
            notes.add("A002", _FIRST_LINE, "the front matter has no keys", "write lines such as `key: value`")
        return {}
    found: dict[str, Entry] = {}
    for key, value in root.value:
        entry = Entry(_line(key), value)
        if not isinstance(key, yaml.ScalarNode):
            notes.add("A002", entry.line, "a key is not text", "write it as `key: value`")
        elif key.value in found:
            notes.add("A003", entry.line, f"the key {key.value} is given twice", "keep only one of the two lines")
        else:
            found[key.value] = entry
    return {key: entry for key, entry in found.items() if entry.node.tag != _NULL}


def _place(error: Exception, text: str) -> tuple[int | None, str]:
    """The line of an error and what it says."""
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + _FIRST_LINE
        return line, f"the character U+{error.character:04X} is not allowed"
    if not isinstance(error, yaml.MarkedYAMLError):
        return None, "it is nested too deeply"
    # A key without its colon is noticed lines later.
    begins = error.context_mark if "simple key" in (error.context or "") else None
    mark = begins or error.problem_mark or error.context_mark
    return (None if mark is None else mark.line + _FIRST_LINE), error.problem or "it cannot be read"


def _line(node: Any) -> int:
    return int(node.start_mark.line) + _FIRST_LINE


def text(key: str, entries: dict[str, Entry], notes: Notes) -> str:
    """Return the text of `key`, without the blanks around it; empty when it is not given."""
    entry = entries.get(key)
    if entry is None:
        return ""
    if not isinstance(entry.node, yaml.ScalarNode):
        notes.add("A006", entry.line, f"{key} must be text", f"write `{key}: value`")
        return ""
    return str(entry.node.value).strip()


def items_of(key: str, entries: dict[str, Entry], notes: Notes) -> tuple[str, ...]:
    """Return the items of `key`: a YAML list, or a text with commas, of which those in parentheses separate nothing."""
    entry = entries.get(key)
    if entry is None:
        return ()
    if isinstance(entry.node, yaml.ScalarNode):
        return tuple(filter(None, (part.strip() for part in _parts(str(entry.node.value)))))
    if not isinstance(entry.node, yaml.SequenceNode):
        notes.add("A006", entry.line, f"{key} must be a list", f"write `{key}: [a, b]`")
        return ()
    return tuple(_items(key, entry.node.value, notes))


def _parts(value: str) -> Iterator[str]:
    """The parts of a text between its commas; what stands in parentheses stays together."""
    part, depth = "", 0
    for letter in value:
        depth = max(0, depth + (letter == "(") - (letter == ")"))
        if letter == "," and not depth:
            yield part
            part = ""
        else:
            part += letter
    yield part


def _items(key: str, nodes: list[Any], notes: Notes) -> Iterator[str]:
    for node in nodes:
        item = node.value.strip() if isinstance(node, yaml.ScalarNode) and node.tag != _NULL else ""
        if item:
            yield item
        else:
            notes.add("A006", _line(node), f"an item of {key} is not text", "write `- item`")
