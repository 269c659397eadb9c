"""Lines, tables and fields of text, with control characters made visible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

INDENT = "  "
NOTHING = "-"

# Controls, and the marks that turn the direction of text or end a line without looking like it.
_HIDDEN = (*range(0x20), *range(0x7F, 0xA0), 0x061C, *range(0x200B, 0x2010), *range(0x2028, 0x202F),
           *range(0x2060, 0x2070), 0xFEFF, *range(0xFFF9, 0xFFFC))  # fmt: skip
_SHORT = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
_VISIBLE = {code: _SHORT.get(code, f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}") for code in _HIDDEN}
_VISIBLE_LINES = {code: text for code, text in _VISIBLE.items() if code not in (0x09, 0x0A)}


def visible(value: object) -> str:
    """A value on one line: what would move the cursor, ring or hide is spelt out."""
    if value in (None, "", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _spelt(str(value), _VISIBLE)


def visible_lines(text: str) -> list[str]:
    """A text of several lines: its own line breaks and tabs stay, other controls are spelt out."""
    return _spelt(text.replace("\r\n", "\n"), _VISIBLE_LINES).split("\n")


def _spelt(text: str, table: Mapping[int, str]) -> str:
    if text.isascii() and text.isprintable():
        return text
    shown = text.translate(table)
    # What no encoding holds must not stop the output.
    return shown.encode("utf-8", "backslashreplace").decode()


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
