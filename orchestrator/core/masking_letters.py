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
_MANY_RUNS, _MARK_BEFORE, _IN_KEYS = 384, 80, "/.:+=@"
"""One run in so many characters is more than ordinary texts have; how far before one, and behind which signs, a mark
may stand."""
_NUMBERS, _COLOUR = b"0123456789;", b"\x1b[m"
SPELT_BEGINS = "\\^"
"""What begins a character that is not shown where it is spelt out."""
_SPELT = (
    r"\\(?:u(?:0(?:0[01789aA]|34|61)|11[56]|17[bB]|180|20(?:0[b-fB-F]|2[a-eA-E]|6)|316|[fF][eEfF]|\{|[dD][bB]4)"
    r"|x(?:[0189{]|7[fF]|[aA][dD])|0|U000|N\{|[eE][\[\]()*+#%0-9=>DEHMNOZ]|33|177|c\[)"
)
"""How each of these begins: what `masking_hidden` looks closer at."""
_SPELT_BY = frozenset("xuU013eENc")
_SPLIT_BEFORE = "".join(sorted({mark.rpartition("_")[0][-1] for mark in tables.SPLIT if "_" in mark}))
_SPLIT_MARKS = (
    f"_(?<=[{_SPLIT_BEFORE}]_)(?:"
    + "|".join(f"{mark.rpartition('_')[2]}(?<={mark})" for mark in tables.SPLIT if "_" in mark)
    + ")"
)
"""It begins with a literal, which is found much faster than a class."""
_SPLIT_END = 2
_SPLIT_ENDS = frozenset(mark.partition("_")[0][-_SPLIT_END:] for mark in tables.SPLIT if "_" in mark)
"""What stands before the first such sign of a mark; one without it is itself a long run."""
SHORT = 2_048
"""Characters; for a text of fewer a pattern is made only where nothing cheaper tells."""
_SELDOM = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ:/<>@|[~"
"""What most texts have little of, and most marks of keys hold."""
_OFTEN = bytes(each for each in range(256) if each not in _SELDOM)


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled once."""
    return re.compile(pattern)


@functools.cache
def seldom(literal: str) -> str:
    """The capitals and rare signs of a literal."""
    return literal.encode("latin-1", "ignore").translate(None, _OFTEN).decode("latin-1")


class Letters:
    """A text whose characters have one byte each, and what kind each is: `a` may be in a key, `c` is a control.

    ``dropped``: whether the text has other characters, which are left out here: no secret is looked for by one.
    ``labelled``: whether one of the others is a label of a secret.
    ``words``: what `masking_prefilter.words` has found. ``nameless``: so many of them are known not to be there.
    ``controls``: whether what is left holds a character that no terminal shows.
    """

    __slots__ = (
        *("_classes", "_long", "_lower", "_runs", "_seldom"),
        *("controls", "data", "dropped", "labelled", "nameless", "text", "words"),
    )

    def __init__(self, text: str) -> None:
        try:
            self.data, self.dropped, self.labelled = text.encode("latin-1"), False, False
        except UnicodeEncodeError:
            if "\u0130" in text or "\u212a" in text:  # in lower case these are letters of ASCII
                text = text.replace("\u0130", "i").replace("\u212a", "k")
            self.data, self.dropped = text.encode("latin-1", "ignore"), True
            self.labelled = any(map(text.__contains__, tables.LABELS))
            text = self.data.decode("latin-1")
        self.text, self._classes = text, b""
        self.words: frozenset[str] | None = None
        self.nameless = 0
        self._runs: str | None = None
        self._long: list[tuple[int, int]] | None = None
        self._lower = self._seldom = ""
        self.controls = self.classes.find(_CONTROL) >= 0

    @property
    def classes(self) -> bytes:
        """What kind each character is, worked out when it is first asked for."""
        if not self._classes:
            self._classes = self.data.translate(_CLASS_TABLE)
        return self._classes

    def seldom(self) -> str:
        """The capitals and rare signs of the text, taken out of it once."""
        self._seldom = self._seldom or self.data.translate(None, _OFTEN).decode("latin-1") + "\n"
        return self._seldom

    def lower(self) -> str:
        """The text in lower case, as far as it is ASCII."""
        if not self._lower:
            self._lower = self.text.lower() if self.text.isascii() else self.data.lower().decode("latin-1")
        return self._lower

    def has_run(self, length: int) -> bool:
        """Whether so many characters of a key follow each other."""
        return self.classes.find(b"a" * length) >= 0

    def has_long_run(self) -> bool:
        """Whether so many characters of a key follow each other that an issuer's key could be in it."""
        return self.classes.find(_RUN) >= 0 or self.is_split()

    def around_runs(self) -> str:
        """The long runs, each with as much before it as the mark of its key may be; the whole text where they are many.

        A key has a long run, and mostly its mark is a part of it; where a sign stands before the run it may not be.
        """
        if self._runs is None:
            text, places = self.text, self._places()
            if places is None:
                self._runs = text
            else:
                begins = (max(0, at - _MARK_BEFORE) if text[at - 1 : at] in _IN_KEYS else at for at, _ in places)
                self._runs = "\n".join([text[begin:end] for begin, (_, end) in zip(begins, places, strict=True)])
        return self._runs

    def runs(self) -> list[str]:
        """The long runs, each with the character behind it; the whole text as one where they are many."""
        places = self._places()
        return [self.text] if places is None else [self.text[at : end + 1] for at, end in places]

    def _places(self) -> list[tuple[int, int]] | None:
        """Where long runs begin and end; None where they are many."""
        if self.classes.count(_RUN) > 4 + len(self.text) // _MANY_RUNS:
            return None
        if self._long is None:
            self._long, find = [], self.classes.find
            at = find(_RUN)
            while at >= 0:
                end = find(b" ", at)
                end = len(self.text) if end < 0 else end
                self._long.append((at, end))
                at = find(_RUN, end)
        return self._long

    def is_split(self) -> bool:
        """Whether the mark of a key is in the text that holds no long run."""
        text = self.text
        if len(text) < SHORT:
            if "_" not in text or _SPLIT_ENDS.isdisjoint([part[-_SPLIT_END:] for part in text.split("_")]):
                return "~" in text and "Q~" in text
            return any(map(text.__contains__, tables.SPLIT))
        return ("~" in text and "Q~" in text) or ("_" in text and compiled(_SPLIT_MARKS).search(text) is not None)

    def spells_controls(self) -> bool:
        r"""Whether characters that no terminal shows may be spelt out in it, as `\x1b` or `^[`."""
        text = self.text
        if "^" in text and "^[" in text:
            return True
        if "\\" not in text:
            return False
        if len(text) < SHORT and _SPELT_BY.isdisjoint([part[:1] for part in text.split("\\")[1:]]):
            return False
        return compiled(_SPELT).search(text) is not None

    def without_colours(self) -> tuple[str, bool] | None:
        """The text without colours, and without digits and `;`; and whether a long run may be in it.

        None where it holds any other control. Where digits are gone a colour is always the same, and so is found and
        taken out at once, without a look at each. What is longer than a terminal takes for a colour is taken out as
        well, up to its `m`, with which nothing begins that is looked for.
        """
        plain = self.data.translate(None, _NUMBERS)
        if plain.count(b"\x1b") != plain.count(_COLOUR):
            return None
        classes = self.data.translate(_CLASS_TABLE, b"\x1b[;")
        if classes.find(_CONTROL) >= 0:
            return None
        text = plain.replace(_COLOUR, b"").decode("latin-1")
        return text, classes.find(_RUN) >= 0


def all_seen(text: str) -> bool:
    """Whether a terminal shows every character of a text."""
    found = compiled(f"[{SEEN}]*+").match(text)
    return found is not None and found.end() == len(text)
