"""Masking of a text that comes in pieces, also of secrets that are broken by what a terminal does not show.

That is colours, cursor codes and zero-width characters. What is unseen is taken out of the text, the rest is masked,
and then it is put back where it stood. Within a secret it goes with the secret. What follows it begins anew, so that
a key behind a colour is one whatever stands before.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Sequence

from orchestrator.core import masking_hidden as hidden
from orchestrator.core import masking_kinds as kinds
from orchestrator.core.masking_letters import Letters, all_seen, compiled
from orchestrator.core.masking_machine import BEHIND, LINES_BEFORE, STORED, Machine, first_begin, goes_on, may_begin
from orchestrator.core.masking_prefilter import (
    BROKEN,
    COLOURED,
    HIDDEN,
    NOTHING,
    SHORTEST_VALUE,
    holds_registered,
    look,
)
from orchestrator.core.named_tuple import NamedTuple

_CONTEXT = 640
"""So much of what stands before a place decides what it is."""
_HELD = 65_536
"""Unseen characters in a row, or within what may be a secret, of which no more are kept back."""


_DENSE = 2
"""Behind so many pieces with a secret in a row the next one is not looked at closely."""


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

    def anew(self, places: list[int]) -> None:
        """What comes at these places of all its text begins anew."""
        self._codes += places

    def _put(self, text: str, end: int) -> None:
        count, known = end - self._at, len(self._out)
        kept = not self._stack or self._stack[-1].row == kinds.KEEP
        super()._put(text, end)
        if count > 0:
            self.parts.append(_Part(count, "".join(self._out[known:]), kept))


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
        self._pass = _Pass(secrets, keys_only)
        # For eyes a text is masked again, as a whole one is where what is masked lets another value go on (SEC-8).
        self._again = None if keys_only else _Pass(secrets, keys_only)
        self._held = ""
        self._near: int | None = None
        self._secrets, self._keys_only = tuple(secrets), keys_only
        self._by_lines = not any("\n" in secret or "\r" in secret for secret in secrets)
        # While all goes by, only its end is kept; the passes are told of it when one of them has something to do.
        self._tail: str | None = ""
        self._untold = 0
        self._dense = 0

    def feed(self, text: str) -> str:
        """Take the next piece; give out what is decided."""
        text = self._pass.take_begun() + self._held + text
        self._held = ""
        # What something waits for is mostly decided in the same line; the lines behind it may be passed by.
        first = text.find("\n") + 1 if self._tail is None and self._waits else 0
        if 0 < first < len(text):
            return self._fed(text[:first]) + self._fed(self._pass.take_begun() + self._held + text[first:])
        return self._fed(text)

    def _fed(self, text: str) -> str:
        self._held = ""
        end, hides = self._plain(text)
        passed = self._passed(text[:end], hides) if end else ""
        rest = text[end : len(text) - len(self._held)]
        if not rest:
            return passed
        self._tell()
        shown = self._pass.feed(rest)
        self._dense = self._dense + 1 if shown != rest else 0
        shown = self._masked_again(shown)
        self._rest()
        return passed + shown

    def _plain(self, text: str) -> tuple[int, bool]:
        """Up to where a piece holds no secret, and none begins; and whether it hides anything.

        One look decides that for most pieces. Where a secret may begin in the last line without its end, this is the
        end of the line before: what goes on behind that has a name before it, or begins as no word does.
        """
        if not self._by_lines or (self._tail is None and self._waits) or hidden.says(text):
            return 0, False
        known = self._context + text
        letters = Letters(known)
        found = look(known, self._secrets, keys_only=self._keys_only, letters=letters)
        # Where the last pieces held a secret the next one mostly does, and a closer look would only cost.
        if found not in (NOTHING, HIDDEN):
            if self._dense >= _DENSE or found in (BROKEN, COLOURED):
                return 0, False
            begin = self._first_begin(known, found, letters)
            if begin < len(known):
                return max(0, known.rfind("\n", 0, begin) + 1 + len(text) - len(known)), not text.isascii()
        # A look leaves out what is not Latin, whether a terminal shows it or not.
        hides = found == HIDDEN or not (text.isascii() or all_seen(text))
        if text.endswith("\n"):  # nothing that goes on behind it begins here
            return len(text), hides
        begins = -1 if hides or hidden.begun(text) < len(text) else self._begins(known, len(text))
        if 0 <= begins <= len(text):
            self._held = text[len(text) - begins :]
            return len(text) - begins, False
        end = text.rfind("\n") + 1
        return 0 if end < len(text) < _CONTEXT else end, hides

    def _first_begin(self, known: str, found: int, letters: Letters) -> int:
        """Where in what is known, in which a look has found something, the first secret begins, or may yet."""
        if self._secrets and holds_registered(letters.text, self._secrets):
            return 0
        before = self._tail[: len(self._tail) - len(self._context)] if self._tail else ""
        return first_begin(before, STORED if self._keys_only else found, letters, known, self._tail is not None)

    @property
    def _waits(self) -> bool:
        return not self._pass.waits_for_nothing or (self._again is not None and not self._again.waits_for_nothing)

    @property
    def _context(self) -> str:
        """The line that is not at its end, and a little of what came before, of what was read and what was masked."""
        if self._tail is not None:
            return self._tail[max(0, self._tail.rfind("\n") + 1 - LINES_BEFORE) :]
        return "".join([each.context for each in (self._again, self._pass) if each is not None])

    def _begins(self, known: str, unread: int) -> int:
        """How much at the end of what is known may be the beginning of a secret; so much of it is unread."""
        if self._tail is not None:
            return self._pass.begins(known, [])
        read = len(known) - unread
        behind = [self._pass.held + place for place in self._again.anew] if self._again else []
        return self._pass.begins(known, sorted({read - place for place in (*self._pass.anew, *behind)}))

    def _passed(self, text: str, hides: bool) -> str:
        self._until(text)
        if self._tail is not None and not hides:
            self._tail, self._untold = (self._tail + text)[-_CONTEXT:], self._untold + len(text)
            return text
        self._tell()
        passed = self._pass.pass_by(text, hides)
        passed = passed if self._again is None else self._again.pass_by(passed, hides)
        self._rest()
        return passed

    def _rest(self) -> None:
        """Keep the end of what was read alone, where all of it is given out and nothing that follows can change it."""
        ends = {each.plain_end for each in (self._pass, self._again) if each is not None}
        self._tail = ends.pop() if len(ends) == 1 else None

    def _tell(self) -> None:
        """Tell the passes of what went by."""
        if self._tail is not None and self._untold:
            for each in (self._pass, self._again):
                if each is not None:
                    each.pass_by(self._tail[-self._untold :], False)
        self._tail, self._untold = None, 0

    def _masked_again(self, text: str) -> str:
        """Mask what is masked again, as far as that may change it."""
        if self._again is None:
            return text
        joined = self._pass.take_joins()
        if joined is not None:
            self._near = max(0, len(text) - joined) + BEHIND
        near, shown = self._until(text), ""
        if not near and not self._again.rests:
            near = text.find("\n", 0, _CONTEXT) + 1 or min(len(text), _CONTEXT)
        if near:
            shown, text = self._again.feed(text[:near]), text[near:]
        if not text or not self._again.rests:
            return shown + (self._again.feed(text) if text else "")
        # What is held back could yet belong to what is right before it.
        end = len(text) if self._pass.rests else max(text.rfind("\n") + 1, len(text) - _CONTEXT)
        shown += self._again.pass_by(text[:end], True) if end > 0 else ""
        return shown + (self._again.feed(text[max(end, 0) :]) if end < len(text) else "")

    def _until(self, text: str) -> int:
        """How much of what comes is near a token that lets another value go on: up to the end of a line, as in a whole.

        A text that is masked as a whole is masked again there as well (`masking_machine.masked`).
        """
        if self._near is None:
            return 0
        end = text.find("\n", self._near) + 1
        self._near = None if end else max(0, self._near - len(text))
        return end or len(text)

    def close(self, cut: bool = False) -> str:
        """Give out the rest.

        Args:
            cut: whether the writer was ended in the middle; then even the shortest beginning of a key at the end is
                masked, which in a whole text would be none.
        """
        if self._tail is not None and not cut:
            # Nothing is held back, or only what could have begun a secret; what was read before decides on nothing.
            if not self._held or look(self._context + self._held, self._secrets, keys_only=self._keys_only) == NOTHING:
                return self._held
        self._tell()
        rest = self._pass.close(self._held, cut)
        return rest if self._again is None else self._again.close(rest, cut)


def masked(text: str, secrets: Sequence[str], keys_only: bool, coloured: bool = False) -> str:
    """A text that is there as a whole, masked as by a stream; ``coloured``: nothing is hidden in it but colours."""
    plain = hidden.without_colours(text) if coloured else None
    if plain is not None and not may_begin(plain, secrets, keys_only):
        return text
    while True:
        one = _Pass(secrets, keys_only)
        shown = one.whole(text)
        if keys_only or not one.joins or shown == text or not goes_on(shown, secrets):
            return shown
        text = shown


class _Pass:
    """One pass over a text that comes in pieces."""

    def __init__(self, secrets: Sequence[str], keys_only: bool) -> None:
        self._secrets, self._keys_only = tuple(secrets), keys_only
        self._machine = _Traced(secrets, keys_only)
        self._begun = ""
        self._hidden: deque[tuple[int, str]] = deque()
        self._held = 0
        self._taken = self._given = 0

    @property
    def joins(self) -> bool:
        """As of the machine."""
        return bool(self._machine.joined)

    @property
    def waits_for_nothing(self) -> bool:
        """Whether it is inside of no secret, nor of anything hidden, and behind no name of one."""
        return not self._begun and not self._machine.is_inside and not self._machine.waits

    @property
    def context(self) -> str:
        """The line that is not at its end, and a little of what came before, which may still count."""
        return self._machine.context

    @property
    def rests(self) -> bool:
        """Whether all that was fed is given out, and nothing that follows can change what it was."""
        return not self._begun and not self._hidden and self._machine.rests

    @property
    def plain_end(self) -> str | None:
        """The end of what was fed, where all of it is given out, nothing waits and no word begins anew; else None."""
        return self._machine.plain_end if self.rests else None

    @property
    def anew(self) -> list[int]:
        """As of the machine."""
        return self._machine.anew_before

    @property
    def held(self) -> int:
        """As of the machine."""
        return self._machine.held

    def begins(self, text: str, anew: list[int]) -> int:
        """As of the machine."""
        return self._machine.begins(text, anew)

    def take_joins(self) -> int | None:
        """As of the machine."""
        return self._machine.take_joins()

    def take_begun(self) -> str:
        """The beginning of something hidden that the last piece ended with, which is to stand before the next one."""
        begun, self._begun = self._begun, ""
        return begun

    def pass_by(self, text: str, hides: bool) -> str:
        """Take a text that holds no secret; give it out behind what was held back before it.

        Args:
            text: what no secret is in, and none begins in.
            hides: whether anything hidden may be in it.
        """
        start = text.rfind("\n", 0, max(0, len(text) - _CONTEXT)) + 1
        plain = self._without_hidden(text[start:], kept=False) if hides else text[start:]
        held = self._machine.pass_by(plain)
        out = self._with_hidden(_Part(len(held), held, True)) + self._unseen(self._taken)
        self._taken += len(plain)
        self._given, self._held = self._taken, 0
        return out + text

    def feed(self, text: str) -> str:
        text = self._begun + text
        end = hidden.begun(text, self._secrets)
        whole, self._begun = text[:end], text[end:]
        return self._masked(whole)

    def whole(self, text: str) -> str:
        """Mask a text that is there as a whole."""
        return self._masked(text, final=True) + self._unseen(self._taken)

    def close(self, text: str, cut: bool) -> str:
        rest, self._begun = self._begun + text, ""
        out = self._masked(rest, final=True, cut=cut)
        return out + self._unseen(self._taken)

    def _masked(self, text: str, *, final: bool = False, cut: bool = False) -> str:
        nothing_held = self._given == self._taken and not self._hidden
        plain = self._without_hidden(text)
        self._taken += len(plain)
        shown = self._machine.feed(plain, final=final, cut=cut)
        parts, self._machine.parts = self._machine.parts, []
        if nothing_held and shown == plain and self._may_stay(text):
            self._given, self._held = self._taken, 0
            self._hidden.clear()
            return text
        out = "".join([self._with_hidden(part) for part in parts])
        if self._held > _HELD and self._given == self._taken:
            out += self._unseen(self._given)
        return out

    def _may_stay(self, text: str) -> bool:
        """Whether what is hidden in a text stays as it is where nothing of the text is masked."""
        if not self._hidden:
            return True
        return self._hidden[-1][0] < self._taken and not hidden.says(text)

    def _without_hidden(self, text: str, kept: bool = True) -> str:
        parts = hidden.split(text, self._secrets)
        seen, unseen = parts[::2], parts[1::2]
        if not unseen:
            return text
        places = list(itertools.accumulate(map(len, seen[:-1]), initial=self._taken))[1:]
        self._machine.anew(places)
        if not kept:
            return "".join(seen)
        # Within a secret that never ends there could be any number of them.
        if self._given == self._taken or self._held + len(text) <= _HELD:
            self._hidden.extend(zip(places, unseen, strict=True))
            self._held += sum(map(len, unseen))
        else:
            for place, code in zip(places, unseen, strict=True):
                if self._held <= _HELD:
                    self._hidden.append((place, code))
                    self._held += len(code)
        return "".join(seen)

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
            out.append(text if len(text) < SHORTEST_VALUE else compiled(hidden.STRING).sub(self._said, text))
        return "".join(out)

    def _said(self, found: re.Match[str]) -> str:
        if len(found["said"]) < SHORTEST_VALUE:
            return found[0]
        return found["begin"] + masked(found["said"], self._secrets, self._keys_only)
