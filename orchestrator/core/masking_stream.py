"""Masking of a text that comes in pieces, also of secrets that are broken by what a terminal does not show.

That is colours, cursor codes and zero-width characters. What is unseen is taken out of the text, the rest is masked,
and then it is put back where it stood. Within a secret it goes with the secret. What follows it begins anew, so that
a key behind a colour is one whatever stands before.
"""

from __future__ import annotations

import bisect
import re
from collections import deque
from collections.abc import Sequence

from orchestrator.core import masking_kinds as kinds
from orchestrator.core import masking_patterns as patterns
from orchestrator.core.masking_machine import BEGINS, Machine
from orchestrator.core.masking_patterns import compiled
from orchestrator.core.tuples import NamedTuple

_STRING_LENGTH = 4_096
"""A longer title or link is taken for text."""
_ESCAPE = r"(?:\\(?:x1[bB]|u001[bB]|0?033|[eE]|u\{1[bB]\})|\^\[)"
_SPELT_BEGIN = rf"(?:{_ESCAPE}[\[\]()*+#%]|{patterns.ESCAPED})"
_NO_KEY = rf"(?!-{{4}}[- ]BEGIN|{_SPELT_BEGIN}|" + "|".join(sorted(map(re.escape, BEGINS))) + ")"
"""A code ends before what begins a key or spells out a code: who reads the bytes sees the whole key."""
_NUMBERS = rf"[\x00-\x08\x0b\x0c\x0e-\x17\x19\x1c-\x1f0-?]{{0,256}}(?:{_NO_KEY}[ -/]){{0,16}}"
"""What stands before the last character of a code: numbers, controls that a terminal acts on at once, intermediates."""
_CUT_OFF = rf"(?=[\x1b\x80-\x9f]|{_SPELT_BEGIN})|\Z"
_FINAL = rf"(?:{_NO_KEY}[@-~]|[\x18\x1a]|{_CUT_OFF})"
"""A terminal drops a code at CAN and SUB, and where another one begins, which is not yet there in a stream."""
_TITLE = r"(?:\x1b(?:[\]PX_]|\^(?!\[\[))|[\x90\x98\x9d-\x9f])"
_STRING = rf"{_TITLE}[^\x07\x18\x1a\x1b\x9c]{{0,{_STRING_LENGTH}}}"
_SPELT_TITLE = rf"{_ESCAPE}\][^\r\n\\]{{0,256}}"
_SPELT = (
    rf"{_ESCAPE}\[{_NUMBERS}{_NO_KEY}[@-~]|{_ESCAPE}[()*+#%][0-~]"
    rf"|{_SPELT_TITLE}(?:\\(?:x07|u0007|007|a)|{_ESCAPE}{_NO_KEY}\\(?:{_NO_KEY}\\)?)|{patterns.ESCAPED}"
)
_CODES = (
    rf"{_STRING}(?:[\x07\x18\x1a\x9c]|\x1b{_NO_KEY}\\|(?=\x1b)|\Z)|(?:\x1b\[|\x9b){_NUMBERS}{_FINAL}"
    rf"|\x1b(?:{_NO_KEY}[ -/]){{0,16}}(?:{_NO_KEY}[0-~]|{_CUT_OFF})"
)
_HIDDEN = rf"(?:{_CODES}|[{patterns.UNSEEN}]|{_SPELT})+"
_LAST = rf"[A-Za-z-][A-Za-z0-9_.:/ -]{{0,{max(map(len, BEGINS))}}}"
_SPELT_BEGUN = r"(?:\\(?:[xu0eE][0-9A-Fa-f{}]{0,4})?|\^\[?)"
_BEGUN = (
    rf"(?:\x1b(?:\[{_NUMBERS}|[ -/]{{0,16}})(?:{_LAST}|{_SPELT_BEGUN})?|{_STRING}(?:\x1b{_SPELT_BEGUN}?)?"
    rf"|\x9b{_NUMBERS}(?:{_LAST}|{_SPELT_BEGUN})?"
    rf"|(?<!\x1b)\\(?:[xu0eE][0-9A-Fa-f{{}}]{{0,4}}(?:\[{_NUMBERS}(?:{_LAST})?|[()*+#%])?)?"
    rf"|{_ESCAPE}(?:\[{_NUMBERS}(?:{_LAST})?|[()*+#%])"
    rf"|{_SPELT_TITLE}(?:\\[a-zA-Z0-9{{}}]{{0,6}}\\{{0,2}})?|\^(?:\[(?:\[{_NUMBERS}(?:{_LAST})?)?)?)\Z"
)
_SIGNS = ("\x1b", "\x90", "\x98", "\x9b", "\x9d", "\x9e", "\x9f", "\\", "^")
_WAITS = _STRING_LENGTH + 16
"""How far before the end a code may have begun that is not there as a whole."""
_HELD = 65_536
"""Unseen characters in a row, or within what may be a secret, of which no more are kept back."""


class _Part(NamedTuple):
    """What became of the next characters of a text: themselves, a token, or nothing behind a token."""

    length: int
    shown: str
    kept: bool


class _Traced(Machine):
    """Tells what became of which characters."""

    def __init__(self, secrets: Sequence[str], keys_only: bool) -> None:
        super().__init__(secrets, keys_only)
        self.parts: list[_Part] = []

    def anew(self, offset: int) -> None:
        """What comes at this place of the next piece begins anew."""
        self._ends.append(len(self._text) + offset)

    def _put(self, text: str, end: int) -> None:
        count, known = end - self._at, len(self._out)
        kept = not self._stack or self._stack[-1].row == kinds.KEEP
        super()._put(text, end)
        if count > 0:
            self.parts.append(_Part(count, "".join(self._out[known:]), kept))

    def _pop(self) -> bool:
        self._stack.pop()
        bisect.insort(self._ends, self._at)
        return True


class Stream:
    """Masks a text that comes in pieces as `masking.mask` or `masking.mask_keys` would mask it as a whole.

    What could be the beginning of a secret is held back, and no more than some thousand characters; the rest is given
    out at once. Each stream of a process needs one of its own.

    Args:
        secrets: registered values.
        keys_only: as `masking.mask_keys`, for what is stored; else as `masking.mask`.

    Source: seed 001, Property 24, 3; Property 25, 3.
    """

    def __init__(self, secrets: Sequence[str] = (), *, keys_only: bool) -> None:
        self._secrets, self._keys_only = tuple(secrets), keys_only
        self._machine = _Traced(secrets, keys_only)
        self._begun = ""
        self._hidden: deque[tuple[int, str]] = deque()
        self._held = 0
        self._taken = self._given = 0

    def feed(self, text: str) -> str:
        """Take the next piece; give out what is decided."""
        text = self._begun + text
        tail = max(0, len(text) - _WAITS)
        known = any(text.find(sign, tail) >= 0 for sign in _SIGNS)
        begun = compiled(_BEGUN).search(text, tail) if known else None
        whole, self._begun = (text[: begun.start()], begun.group()) if begun else (text, "")
        return self._masked(whole)

    def close(self, cut: bool = False) -> str:
        """Give out the rest.

        Args:
            cut: whether the writer was ended in the middle; then even the shortest beginning of a key at the end is
                masked, which in a whole text would be none.
        """
        rest, self._begun = self._begun, ""
        out = self._masked(rest, final=True, cut=cut)
        return out + self._unseen(self._taken)

    def _masked(self, text: str, *, final: bool = False, cut: bool = False) -> str:
        plain = self._without_hidden(text)
        self._taken += len(plain)
        self._machine.feed(plain, final=final, cut=cut)
        parts, self._machine.parts = self._machine.parts, []
        out = "".join([self._with_hidden(part) for part in parts])
        if self._held > _HELD and self._given == self._taken:
            out += self._unseen(self._given)
        return out

    def _without_hidden(self, text: str) -> str:
        if not patterns.is_broken(text):
            return text
        pieces, at, count = [], 0, 0
        for found in compiled(_HIDDEN).finditer(text):
            pieces.append(text[at : found.start()])
            count, at = count + found.start() - at, found.end()
            self._machine.anew(count)
            # Within a secret that never ends there could be any number of them.
            if self._held <= _HELD or self._given == self._taken:
                self._hidden.append((self._taken + count, found.group()))
                self._held += len(found.group())
        pieces.append(text[at:])
        return "".join(pieces)

    def _with_hidden(self, part: _Part) -> str:
        start, self._given = self._given, self._given + part.length
        if not self._hidden or self._hidden[0][0] >= self._given:
            return part.shown
        if not part.kept:
            before = self._unseen(start)
            self._unseen(self._given - 1)
            # With the bracket of a token such a beginning would be a code.
            return before.rstrip("\x1b\x9b") + part.shown if part.shown else ""
        out, at = [], start
        while self._hidden and self._hidden[0][0] < self._given:
            place = self._hidden[0][0]
            out += [part.shown[at - start : place - start], self._unseen(place)]
            at = place
        return "".join([*out, part.shown[at - start :]])

    def _unseen(self, place: int) -> str:
        """Take out what is unseen up to a place; titles and links are texts, and may hold a secret themselves."""
        out = []
        while self._hidden and self._hidden[0][0] <= place:
            text = self._hidden.popleft()[1]
            self._held -= len(text)
            out.append(text if len(text) < patterns.SHORTEST_VALUE else compiled(_STRING).sub(self._said, text))
        return "".join(out)

    def _said(self, found: re.Match[str]) -> str:
        if len(found[0]) < patterns.SHORTEST_VALUE + 2:
            return found[0]
        within = Stream(self._secrets, keys_only=self._keys_only)
        before = 2 if found[0][0] == "\x1b" else 1
        return found[0][:before] + within.feed(found[0][before:]) + within.close()
