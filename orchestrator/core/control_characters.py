"""Characters that move the cursor, ring, hide, or turn the direction of text, spelt out."""

from __future__ import annotations

from collections.abc import Mapping

# Controls, and the marks that turn the direction of text or end a line without looking like it.
_HIDDEN = (*range(0x20), *range(0x7F, 0xA0), 0x061C, *range(0x200B, 0x2010), *range(0x2028, 0x202F),
           *range(0x2060, 0x2070), 0xFEFF, *range(0xFFF9, 0xFFFC))  # fmt: skip
_JOINERS = (0x200C, 0x200D)
_SHORT = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
_LINE = {code: _SHORT.get(code, f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}") for code in _HIDDEN}
_LINES = {code: text for code, text in _LINE.items() if code not in (0x09, 0x0A)}
_JSON = {code: f"\\u{code:04x}" for code in _HIDDEN if code != 0x0A}
_PAGE = {code: text for code, text in _LINES.items() if code not in _JOINERS}


def on_one_line(text: str) -> str:
    """A text for one line."""
    return _spelt(text, _LINE)


def on_lines(text: str) -> str:
    """A text of several lines: its own line breaks and tabs stay."""
    return _spelt(text.replace("\r\n", "\n"), _LINES)


def in_json(text: str) -> str:
    """Lines of JSON, which stay the same JSON."""
    return _spelt(text, _JSON)


def on_a_page(text: str) -> str:
    """A text for a browser: as on lines, and what joins letters stays, which some scripts and faces cannot be drawn
    without."""
    return _spelt(text.replace("\r\n", "\n"), _PAGE)


def _spelt(text: str, table: Mapping[int, str]) -> str:
    if text.isascii() and text.isprintable():
        return text
    shown = text.translate(table)
    # What no encoding holds must not stop the output.
    return shown.encode("utf-8", "backslashreplace").decode()
