"""Lines, tables and fields of text, with control characters made visible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from orchestrator.core import visible as spelling

LONG = 400
"""Characters of one value that are shown where much else is."""
Row = dict[str, Any]
INDENT = "  "
NOTHING = "-"
FEW = 3
"""How many of a kind are named one by one; --json names all."""


def visible(value: object) -> str:
    """A value on one line: what would move the cursor, ring or hide is spelt out."""
    if value in (None, "", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return spelling.on_one_line(str(value))


def visible_lines(text: str) -> list[str]:
    """A text of several lines: its own line breaks and tabs stay, other controls are spelt out."""
    return spelling.on_lines(text).split("\n")


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], indent: str = "") -> list[str]:
    """Rows under headers, each column as wide as its widest cell; the last one is left free."""
    cells = [list(headers), *([visible(cell) for cell in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    return [(indent + INDENT.join(_padded(row, widths))).rstrip() for row in cells]


def _padded(row: list[str], widths: list[int]) -> list[str]:
    return [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]


def _width(text: str) -> int:
    """The columns that a terminal gives a text."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def fields(pairs: Iterable[tuple[str, object]], indent: str = "") -> list[str]:
    """Names and values below each other, the values aligned; what is None is left out."""
    shown = [(name, value) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in shown), default=0)
    return [f"{indent}{name + ':':<{width + 1}} {visible(value)}" for name, value in shown]


def section(title: str, lines: Sequence[str]) -> list[str]:
    """Lines under a title, after an empty line; nothing where there are none."""
    return ["", title, *(INDENT + line for line in lines)] if lines else []


def awaited(waiting: Mapping[str, Any] | None) -> str | None:
    """Whom somebody awaits, in one line."""
    if waiting is None:
        return None
    if waiting["role"] == "user":
        return f"a person ({waiting['action']}), since {waiting['since']}"
    turn = f", turn {waiting['turn']}" if waiting["turn"] else ""
    held = f", held: {waiting['held']}" if waiting["held"] else ""
    return f"{waiting['role']} ({waiting['agent_id']}), {waiting['action']}{turn}, since {waiting['since']}{held}"


def cut(text: str) -> str:
    """A text that would fill the screen, cut; --json has all of it."""
    return text if len(text) <= LONG else f"{text[: LONG - 3]}..."


def few(names: Sequence[object]) -> str:
    """The first of some names, and how many there are besides."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(visible(name) for name in names[:FEW]) + more


def alike(rows: Iterable[Row], kind: Callable[[Row], object]) -> list[list[Row]]:
    """Rows by what they are, in the order of the first of each kind."""
    found: dict[object, list[Row]] = {}
    for row in rows:
        found.setdefault(kind(row), []).append(row)
    return list(found.values())


def others(names: Sequence[object]) -> list[str]:
    """The line that stands for the others of a kind of which the first was told; nothing where there are none."""
    return [f"{INDENT}and {len(names)} more of this kind: {few(names)}"] if names else []


def counted(count: int, name: str) -> str:
    """`1 group`, `2 groups`."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def times(count: int) -> str:
    """`once`, `2 times`."""
    return "once" if count == 1 else f"{count} times"


def more(answer: Mapping[str, Any]) -> list[str]:
    """The line that says how to read on."""
    if not answer.get("has_more"):
        return []
    if "next_until" in answer:
        return ["", f"There is more: repeat with --until {answer['next_until']}"]
    return ["", f"There is more: repeat with --since {visible(answer['next_since'])}"]
