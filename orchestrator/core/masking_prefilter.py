"""The first look at a text: whether it could hold anything that is to be masked.

Every text that is stored or shown passes here, and most of them no further. So this looks for literals, of which a key
or a named secret has at least one, compiles no pattern for most texts, and loads nothing else. It may be wrong in one
direction only: a text that it lets pass holds no secret.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from orchestrator.core import masking_tables as tables

NOTHING, HIDDEN, WHOLE, BROKEN = range(4)
"""What a text may hold: nothing; something hidden, but no secret; a secret; a secret that something hidden breaks.

Where a text holds something hidden, this is no answer for the texts that it was put together from, nor for those that
it is decoded to.
"""

SHORTEST_VALUE = 8
"""A registered value of fewer characters would mask ordinary words."""
LONG_RUN = 16
"""So many letters, digits, `_` and `-` in a row are in every key that is known by the mark of its issuer."""
NAMES = (*("pass", "pwd", "secret", "token", "key", "credential", "authorization", "cookie", "bearer", "sig="),)
"""Words without one of which, in lower case, a text holds no secret that a name stands before."""
_ENDLESS_URL = 1_024
_SK = r"sk-(?:ant-[A-Za-z0-9_-]{10}|[A-Za-z0-9_-]{20})"

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


def look(text: str, secrets: Sequence[str] = (), *, keys_only: bool) -> int:
    """What a text may hold: `NOTHING`, `HIDDEN`, `WHOLE` or `BROKEN`.

    Args:
        text: what is to be stored or shown.
        secrets: registered values.
        keys_only: whether only these and keys count, as before a text is stored.
    """
    letters = Letters(text)
    holds = _holds_key if keys_only else _holds_secret
    if letters.unseen or letters.spells_controls():
        from orchestrator.core import masking_hidden

        views = masking_hidden.views(text, letters)
        if views:
            found = any(_holds_value(view, secrets) or holds(Letters(view), True) for view in views)
            return BROKEN if found else HIDDEN
    return WHOLE if _holds_value(text, secrets) or holds(letters, False) else NOTHING


def _holds_value(text: str, secrets: Sequence[str]) -> bool:
    """Whether a registered value could begin in a text."""
    return bool(secrets) and any(begin[0] in text and begin in text for begin in _beginnings(tuple(secrets)))


@functools.lru_cache(maxsize=16)
def _beginnings(secrets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({secret[:SHORTEST_VALUE] for secret in secrets if len(secret) >= SHORTEST_VALUE})


def _holds_secret(text: Letters, anew: bool) -> bool:
    # Names are what most texts have, and there are fewer of them.
    data, lower = text.text, text.lower()
    if any(name in lower for name in NAMES):
        return True
    if "J" in data and "eyJ" in data:
        return True
    if "://" in data and ("@" in data or len(data) > _ENDLESS_URL):
        return True
    if " -" in data and not _OPTIONS.isdisjoint({part[:1] for part in data.split(" -")[1:]}):
        return True
    return _holds_key(text, anew)


_OPTIONS = frozenset(tables.OPTION_LETTERS)


def _holds_key(text: Letters, anew: bool) -> bool:
    """Whether a key could be in a text; where ``anew`` is true one may begin in the middle of a word."""
    data = text.text
    if "B" in data and "BEGIN " in data and ("-----BEGIN " in data or "---- BEGIN " in data):
        return True
    if "I" in data and "IA" in data and ("AKIA" in data or "ASIA" in data):
        return True
    if ("z" in data and "AIza" in data) or ("x" in data and "xox" in data):
        return True
    if "k" in data and "sk-" in data and (anew or _begins(data)) and compiled(_SK).search(data):
        return True
    return text.has_long_run() and is_marked(data)


def _begins(data: str) -> bool:
    """Whether `sk-` is more than the end of words such as `task-`."""
    return "\\" in data or "%" in data or "\x1b" in data or data.count("sk-") != data.count("task-")


_PARTS = ("hook", "TT3", "EZ")


@functools.cache
def _marks() -> list[tuple[str, str, list[str]]]:
    """Marks that end with no sign, by what several of them share, and its last character, which is looked for first."""
    found: dict[str, list[str]] = {}
    for mark in tables.FORMS:
        if mark[-1] not in tables.SIGNS:
            found.setdefault(next((part for part in _PARTS if part in mark), mark), []).append(mark)
    return [(part[-1], part, marks) for part, marks in found.items()]


@functools.cache
def _marks_backwards(sign: str) -> str:
    """A pattern of all marks that end with a sign, from that sign on backwards.

    It begins with a literal, which is found much faster than a class, and no two of its branches begin alike.
    """
    return re.escape(sign) + _branches({mark[-2::-1] for mark in tables.FORMS if mark.endswith(sign)})


def _branches(words: set[str]) -> str:
    """A pattern of all these words, each looked at letter by letter."""
    behind: dict[str, set[str]] = {}
    for word in words:
        behind.setdefault(word[0], set()).add(word[1:])
    # Of a word and a longer one that begins with it the shorter is found first.
    parts = [re.escape(first) + ("" if "" in rest else _branches(rest)) for first, rest in sorted(behind.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def is_marked(data: str) -> bool:
    """Whether an issuer's key is in a text: a mark, and behind it enough of what follows it."""
    backwards = data[::-1]
    for sign in tables.SIGNS:
        if sign in data and compiled(_marks_backwards(sign)).search(backwards):
            if any(mark[-1] == sign and mark in data and _has_form(data, mark) for mark in tables.FORMS):
                return True
    for rare, part, marks in _marks():
        if rare in data and part in data and any(mark in data and _has_form(data, mark) for mark in marks):
            return True
    return False


def _has_form(data: str, mark: str) -> bool:
    characters, least, needed = tables.FORMS[mark]
    behind, at = compiled(f"[{characters}]{{{least},126}}").match, data.find(mark)
    while at >= 0:
        found = behind(data, at + len(mark))
        if found and (not needed or compiled(needed).search(found[0])):
            return True
        at = data.find(mark, at + 1)
    return False
