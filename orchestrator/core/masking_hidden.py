"""Masking of secrets that are broken by what a terminal does not show: colours, cursor codes, zero-width characters.

What is unseen is taken out of the text, the rest is masked, and then it is put back where it stood. Within a secret it
goes with the secret. What follows it begins anew, so that a key behind a colour is one whatever stands before.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Sequence

from orchestrator.core import masking
from orchestrator.core import masking_patterns as patterns
from orchestrator.core.masking_machine import Machine
from orchestrator.core.masking_patterns import compiled
from orchestrator.core.tuples import NamedTuple

_STRING_LENGTH = 1_024
_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
)
_NUMBERS = r"[0-?]{0,64}[ -/]{0,8}"
_STRING = rf"\x1b[\]PX^_][^\x07\x1b]{{0,{_STRING_LENGTH}}}"
_HIDDEN = rf"(?:{_STRING}(?:\x07|\x1b\\)|(?:\x1b\[|\x9b){_NUMBERS}[@-~]|\x1b[ -/]{{0,4}}[0-~]|[{_UNSEEN}])+"
_BEGUN = rf"(?:\x1b(?:\[{_NUMBERS}|[ -/]{{0,4}})|{_STRING}\x1b?|\x9b{_NUMBERS})\Z"
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
        kept = not self._stack or self._stack[-1].row == patterns.KEEP
        super()._put(text, end)
        if count > 0:
            self.parts.append(_Part(count, "".join(self._out[known:]), kept))

    def _pop(self) -> bool:
        self._stack.pop()
        bisect.insort(self._ends, self._at)
        return True


class Stream:
    """Masks as `masking.Stream`, secrets that unseen characters break as well.

    Args:
        secrets: registered values.
        keys_only: as `masking.mask_keys`, for what is stored; else as `masking.mask`.

    Source: seed 001, Property 24, 3.
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
        begun = compiled(_BEGUN).search(text, max(0, len(text) - _WAITS)) if "\x1b" in text or "\x9b" in text else None
        whole, self._begun = (text[: begun.start()], begun.group()) if begun else (text, "")
        return self._masked(whole)

    def close(self, cut: bool = False) -> str:
        """Give out the rest; `cut` as for `masking.Stream`."""
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
        if compiled(f"[{_UNSEEN}]").search(text) is None:
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
            return before + part.shown if part.shown else ""
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
            mask = masking.mask_keys if self._keys_only else masking.mask
            out.append(text if len(text) < patterns.SHORTEST_VALUE else mask(text, self._secrets))
        return "".join(out)
