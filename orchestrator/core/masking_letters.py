"""What every look at a text rests on: the kinds of its characters, and patterns that are compiled once."""

from __future__ import annotations

import functools
import re

from orchestrator.core import masking_tables as tables

LONG_RUN = 16
"""So many letters, digits, `_` and `-` in a row are in every key that is known by the mark of its issuer."""
SEEN = (
    "\t\n\r -~\x85\xa0-\xac\xae-\u034e\u0350-\u061b\u061d-\u115e\u1161-\u17b3\u17b6-\u180a\u1810-\u200a\u2010-\u2029"
    "\u202f-\u205f\u2070-\u3163\u3165-\ufdff\ufe10-\ufefe\uff00-\uff9f\uffa1-\ufff8\ufffc-\U000dffff"
    "\U000e1000-\U0010ffff"
)
"""Every character but for those that no terminal shows; see `masking_hidden.UNSEEN`."""
_CONTROLS = b"c" * 9 + b"  " + b"cc" + b" " + b"c" * 18
_CLASSES = (
    *(_CONTROLS, b" " * 13, b"a", b"  ", b"a" * 10, b" " * 7, b"a" * 26, b" " * 4, b"a", b" ", b"a" * 26, b" " * 4),
    *(b"c" * 6, b" ", b"c" * 26, b" " * 13, b"c", b" " * 82),
)
_CLASS_TABLE = b"".join(_CLASSES)
_RUN, _CONTROL = b"a" * LONG_RUN, b"c"
SPELT_BEGINS = "\\^"
"""What begins a character that is not shown where it is spelt out."""
_SPELT = r"\\[xuU0-3eENc]"


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled once."""
    return re.compile(pattern)


class Letters:
    """A text whose characters have one byte each, and what kind each is: `a` may be in a key, `c` is a control.

    ``unseen``: whether a character is in it that no terminal shows.
    """

    __slots__ = ("classes", "text", "unseen")

    def __init__(self, text: str) -> None:
        seen = True
        try:
            data = text.encode("latin-1")
        except UnicodeEncodeError:
            seen = _all_seen(text)
            if "\u0130" in text or "\u212a" in text:  # in lower case these are letters of ASCII
                text = text.replace("\u0130", "i").replace("\u212a", "k")
            data = text.encode("ascii", "replace")
            text = data.decode("ascii")
        self.text = text
        self.classes = data.translate(_CLASS_TABLE)
        self.unseen = not seen or self.classes.find(_CONTROL) >= 0

    def lower(self) -> str:
        """The text in lower case, as far as it is ASCII."""
        return self.text.lower() if self.text.isascii() else self.text.encode("latin-1").lower().decode("latin-1")

    def has_long_run(self) -> bool:
        """Whether so many characters of a key follow each other that an issuer's key could be in it."""
        return self.classes.find(_RUN) >= 0 or ("_" in self.text and any(mark in self.text for mark in tables.SPLIT))

    def spells_controls(self) -> bool:
        r"""Whether characters that no terminal shows may be spelt out in it, as `\x1b` or `^[`."""
        text = self.text
        return ("\\" in text and compiled(_SPELT).search(text) is not None) or ("^" in text and "^[" in text)


def _all_seen(text: str) -> bool:
    found = compiled(f"[{SEEN}]*+").match(text)
    return found is not None and found.end() == len(text)
