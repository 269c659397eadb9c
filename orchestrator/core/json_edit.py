"""Changes in a JSON text that leave every other character of it alone: formatting, order, line ends, spelling of keys.

The texts are valid JSON; `strict_json` has seen to that. What is added is written like the rest of the text, with its
indentation and line ends, or on one line if the whole text is. What was added can be removed without a trace.
"""

from __future__ import annotations

import json
import re

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

_PARTS = r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+'
_CLOSING = {"{": "}", "[": "]"}
_INDENT = "  "

Path = tuple[str | int, ...]
_Tokens = list[tuple[int, int, str]]


class Node(NamedTuple):
    """A value in a text.

    begins: where its member or item begins, the key included; start, end: where the value does.
    inner: the values in it, by key or number; None for a text, number or constant.
    """

    begins: int
    start: int
    end: int
    value: Any
    inner: dict[str | int, Any] | None = None


def read(text: str) -> Node:
    """The values of a JSON text with their places."""
    tokens = [(found.start(), found.end(), found[0]) for found in re.finditer(_PARTS, text, re.DOTALL)]
    return _value(tokens, 0, tokens[0][0])[0]


def find(text: str, path: Path) -> Node | None:
    """The value at a path; None if there is none."""
    node: Node | None = read(text)
    for step in path:
        node = node.inner.get(step) if node is not None and node.inner is not None else None
    return node


def append(text: str, path: Path, value: object) -> tuple[str, list[Path]]:
    """Add an item to the array at a path; what is missing on the way is created.

    Args:
        path: keys of objects, the last one that of the array.

    Returns:
        The text, and the paths of the objects and arrays that were created, the outermost first.
    """
    there = next(depth for depth in range(len(path), -1, -1) if find(text, path[:depth]) is not None)
    if there == len(path):
        return _add(text, path, "", value), []
    inner: object = [value]
    for key in reversed(path[there + 1 :]):
        inner = {key: inner}
    text = _add(text, path[:there], f"{_dumped(path[there])}: ", inner)
    return text, [path[:depth] for depth in range(there + 1, len(path) + 1)]


def remove(text: str, path: Path) -> str:
    """Remove the member or item at a path, with its comma and the blanks that belong to it."""
    above = find(text, path[:-1])
    assert above is not None and above.inner is not None  # noqa: S101, PT018 - the caller has seen it
    keys = list(above.inner)
    number, nodes = keys.index(path[-1]), list(above.inner.values())
    if number:
        return text[: nodes[number - 1].end] + text[nodes[number].end :]
    if len(nodes) > 1:
        return text[: nodes[0].begins] + text[nodes[1].begins :]
    return text[: above.start + 1] + text[above.end - 1 :]


def _add(text: str, path: Path, key: str, value: object) -> str:
    """The text with one more member or item in the object or array at a path."""
    container = find(text, path)
    assert container is not None and container.inner is not None  # noqa: S101, PT018 - the caller has seen it
    nodes = list(container.inner.values())
    line_end = "\r\n" if "\r\n" in text else "\n"
    root = read(text)
    # A text without any line inside is kept on one line; one that holds nothing yet has no style to keep.
    if "\n" not in text[root.start : root.end] and root.inner:
        item = key + _dumped(value)
        at = nodes[-1].end if nodes else container.start + 1
        return f"{text[:at]}{', ' if nodes else ''}{item}{text[at:]}"
    unit = _unit(text, root)
    indent = _leading(text, nodes[-1].begins) if nodes else None
    if indent is None:
        indent = unit * (len(path) + 1)
    dumped = json.dumps(value, indent=unit, ensure_ascii=False)
    item = line_end + indent + key + dumped.replace("\n", line_end + indent)
    if nodes:
        return f"{text[: nodes[-1].end]},{item}{text[nodes[-1].end :]}"
    return f"{text[: container.start + 1]}{item}{line_end}{unit * len(path)}{text[container.end - 1 :]}"


def _unit(text: str, root: Node) -> str:
    """The indentation of one level."""
    first = next(iter(root.inner.values()), None) if root.inner else None
    return (_leading(text, first.begins) if first is not None else None) or _INDENT


def _leading(text: str, at: int) -> str | None:
    """The blanks before a place on its line; None if something else is there."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if "\n" in text[:at] and not before.strip(" \t") else None


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(tokens: _Tokens, at: int, begins: int) -> tuple[Node, int]:
    """The value that begins with a token, and the number of the token after it."""
    start, end, word = tokens[at]
    if word not in _CLOSING:
        return Node(begins, start, end, json.loads(word)), at + 1
    inner: dict[str | int, Node] = {}
    at += 1
    while tokens[at][2] != _CLOSING[word]:
        first = tokens[at][0]
        key: str | int = len(inner)
        if word == "{":
            key, at = json.loads(tokens[at][2]), at + 2
        inner[key], at = _value(tokens, at, first)
        at += tokens[at][2] == ","
    values = {key: node.value for key, node in inner.items()}
    return Node(begins, start, tokens[at][1], values if word == "{" else list(values.values()), inner), at + 1
