"""What a terminal would show of a line that holds colours, cursor codes, carriage returns and backspaces.

Only one row is modelled. A code that moves to another row begins an empty one; so does one that clears the screen.
"""

from __future__ import annotations

import re

from orchestrator.core.named_tuple import NamedTuple

WIDEST = 8_192
"""Cells of a row; no code makes it wider, or moves the cursor further, than the text that is written."""

_TOKEN = re.compile(
    r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links and other strings, also one that is cut
    r"|(?:\x1b\[|\x9b)(?P<numbers>[0-?]*)[ -/]*(?P<code>[@-~])?"
    r"|\x1b[ -/]*(?P<escape>[0-Z\\^-~])?"
    r"|(?P<control>[\x00-\x1f\x7f-\x9a\x9c-\x9f])"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
)
_TO_ANOTHER_ROW = frozenset("ABEFHfd")
_WORD = re.compile(r"[^\W_]")
_NO_WORDS = re.compile(r"[\W_]+")


class Shown(NamedTuple):
    """A line as a terminal shows it.

    row: what stands there at last; blanks at its end are kept.
    before: what stood there when something with a letter or digit was last written; what was drawn over it since
        is a spinner. None where nothing with a letter or digit was ever written.
    redrawn: whether anything was written over.
    """

    row: str
    before: str | None
    redrawn: bool


def clean(text: str) -> str:
    """Text of any number of lines as a terminal shows it, without codes.

    Args:
        text: as a program wrote it.

    Returns:
        As many lines, each as it looks at last.
    """
    return "\n".join(show(line).row for line in text.split("\n"))


def show(line: str) -> Shown:
    """Show one line.

    Args:
        line: without its newline; an escape sequence that is cut at the end is left out.

    Returns:
        How it looks at last, and looked before a spinner was drawn over it.
    """
    if line.isprintable():
        return Shown(line, line if has_words(line) else None, False)
    row = _Row()
    for token in _TOKEN.finditer(line):
        if token["text"] is not None:
            row.write(token["text"])
        elif token["control"] is not None:
            row.control(token["control"])
        elif token["code"] is not None:
            row.code(token["code"], token["numbers"])
        elif token["escape"] is not None:
            row.escape(token["escape"])
    row.settle()
    return Shown("".join(row.cells), row.before, row.redrawn)


def has_words(text: str) -> bool:
    """Whether a letter or digit of any language is in a text; in spinners, bars and dots there is none."""
    return _WORD.search(text) is not None


def words(text: str) -> str:
    """The letters and digits of a text, by which two pictures of one spinner are alike."""
    return _NO_WORDS.sub("", text)


class _Row:
    """One row of a terminal, while it is written."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.at = 0
        self.saved = 0
        self.before: str | None = None
        self.redrawn = False
        self._worded = False

    def write(self, text: str) -> None:
        """Put text where the cursor is, over what stands there."""
        if self.at > len(self.cells):
            self.cells += " " * (self.at - len(self.cells))
        self.redrawn = self.redrawn or self.at < len(self.cells)
        self.cells[self.at : self.at + len(text)] = text
        self._worded = self._worded or has_words(text)
        self._move(self.at + len(text))

    def settle(self) -> None:
        """Remember the row, if something with letters was written since it was last remembered."""
        if self._worded:
            self.before, self._worded = "".join(self.cells), False

    def control(self, character: str) -> None:
        """Obey a control character; most of them show nothing."""
        if character == "\t":
            self.write(" ")
        elif character in "\r\b":
            self.settle()
            self._move(0 if character == "\r" else self.at - 1)

    def escape(self, code: str) -> None:
        """Obey an escape of one letter: the cursor's place is kept or taken again, the screen is reset."""
        self.settle()
        if code == "7":
            self.saved = self.at
        elif code == "8":
            self._move(self.saved)
        elif code in "DEMc":
            self._clear()

    def code(self, code: str, numbers: str) -> None:
        """Obey a control sequence; colours and unknown ones show nothing."""
        self.settle()
        first = numbers.split(";")[0]
        number = int(first[:5]) if first.isascii() and first.isdigit() else 0
        if code in "GCD`":
            column = {"C": self.at + max(number, 1), "D": self.at - max(number, 1)}.get(code, max(number, 1) - 1)
            self._move(column)
        elif code in "su":
            self.escape("7" if code == "s" else "8")
        elif code in _TO_ANOTHER_ROW:
            self._clear()
        else:
            self._edit(code, number)

    def _edit(self, code: str, number: int) -> None:
        here, count = self.at, min(max(number, 1), WIDEST)
        if code in "KJ" and number == 0:
            del self.cells[here:]
        elif code == "K" and number == 1:
            self.cells[: here + 1] = " " * min(here + 1, len(self.cells))
        elif code in "KJ":
            self.cells.clear()
        elif code == "P":
            del self.cells[here : here + count]
        elif code == "X":
            self.cells[here : here + count] = " " * min(count, max(len(self.cells) - here, 0))
        elif code == "@" and here < len(self.cells):
            widest = max(WIDEST, len(self.cells))
            self.cells[here:here] = " " * count
            del self.cells[widest:]
        self.redrawn = True if code in "KJPX@" else self.redrawn

    def _clear(self) -> None:
        self.redrawn = self.redrawn or bool(self.cells)
        self.cells.clear()
        self._move(0)

    def _move(self, column: int) -> None:
        self.at = min(max(column, 0), max(WIDEST, len(self.cells)))
