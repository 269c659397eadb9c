"""One pass over a text that may come in pieces: every character is kept or belongs to one masked secret.

A stack holds the secrets that are open at the place the pass has reached; one of an earlier row may lie within one of a
later row and then is masked by itself. What is held back is only what the following characters decide.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Sequence

from orchestrator.core import masking_extents as runs
from orchestrator.core import masking_kinds as kinds
from orchestrator.core import masking_patterns as patterns
from orchestrator.core import masking_tables as tables
from orchestrator.core.masking_heads import BLOCK_LIMIT, LEAD, Found, Head, Pending, View, free, is_within
from orchestrator.core.masking_letters import SHORT, Letters, compiled, seldom
from orchestrator.core.masking_names import HEADS
from orchestrator.core.masking_prefilter import (
    FORMS,
    KEYS,
    NOTHING,
    SHORTEST_VALUE,
    WHOLE,
    WORDS,
    Literals,
    holds_name,
    holds_registered,
    is_issuer_in,
    is_marked,
    look,
    names_issuer,
    rarest,
    words,
)

SLICE = 65_536
"""Longer pieces are taken in parts of so many characters, which bounds the memory."""
_CONTEXT = 320
"""How much is kept of what was given out, to see what stands before a hint."""
LINES_BEFORE = 96
"""So much of the lines before one may tell what is in it: the issuer of a key."""
_CUT_VALUE = 4
_LONGEST_BEGUN = 128 + max(map(len, tables.FORMS))


_BEGINNINGS: dict[str, list[str]] = {}
"""What a key may begin with, the longest first, by the last character."""
for _each in sorted({mark[:end] for mark in patterns.BEGINS for end in range(1, len(mark) + 1)}, key=len, reverse=True):
    _BEGINNINGS.setdefault(_each[-1], []).append(_each)
_LONGEST_BEGINNING = max(map(len, patterns.BEGINS))
_LONGEST_TOKEN = max(map(len, patterns.TOKENS))
_MASKED_PART = r"\[(?:M(?:A(?:S(?:K(?:E(?:D(?::[A-Z_]*)?)?)?)?)?)?)?\Z"

_JOINED = (runs.RUN, runs.HEADER)
"""What goes on behind a secret that begins where it would end, because a masked text no longer shows its end there."""


_BEFORE = 2_560
"""So far before a token what it lets go on may begin."""
BEHIND = 2 * patterns.HEAD_LENGTH
"""So far behind a token it may yet be a part of what stands there; what has begun is read up to its end."""
STORED = -1
"""Keys alone are looked for, before a text is stored."""
_GATED = 512
_SHORTEST_MARK = min(map(len, tables.FORMS))
_BEGUN_KEY = r"[A-Za-z0-9_+/=.:@~-]*+"
_BESIDE_REACH = 256
"""So far before the end of a text may stand the name of an issuer whose key is not there as a whole."""
_BEGUN_FORMS = ("<<", "echo ", "printf ")
"""What may begin a secret that is known by what follows, and that no name stands before."""
_OPTION = r" -(?:[A-Za-z]|\Z)"
"""What every short option begins with, or may begin with where the text ends."""
_QUOTES = ('"', "'", "`")
_QUOTED = r"[^\\\"'`\r\n]*+"
"""The same of a value in quotes."""
_UNENDING = r"(?!-)[A-Za-z0-9_.-]*+"
"""What ends no value: behind its name a secret of such characters is one, as its token is."""
Wanted = tuple[str, str, str, bool, list[patterns.Hint], str]
"""A literal; its capitals and rare signs; its rarest character; whether it is looked for in lower case; the hints that
begin with it; a pattern of them all, where they are several."""


_NO_WORDS = frozenset[str]()
_LITERALS = dict.fromkeys(hint.literal for hint in patterns.HINTS if hint.literal)
_ALL_WORDS = frozenset((*WORDS, *(each if each in tables.LABELS else each.lower() for each in _LITERALS)))
_NEEDING = {hint.literal.lower() for hint in patterns.HINTS if hint.needs}.difference(WORDS, {" -"})
_UNGATED = _ALL_WORDS.difference(WORDS, tables.LABELS, {" -"})
_EVERY = Literals(sorted(_ALL_WORDS.difference(tables.LABELS, _NEEDING)))
_LONGEST_LITERAL = max(map(len, _LITERALS))
_BESIDE = next(hint for hint in patterns.HINTS if hint.head == "beside")


@functools.lru_cache(maxsize=256)
def _wanted(kind: int, long: bool, words: frozenset[str], ungated: bool) -> tuple[Wanted, ...]:
    """What is looked for in a text that may hold `KEYS`, `FORMS` or any secret.

    Args:
        long: the marks of issuers, or all else.
        words: which words are in the text, in lower case.
        ungated: whether only those of `WORDS` were looked for.
    """
    found: dict[tuple[str, bool], list[patterns.Hint]] = {}
    for hint in patterns.HINTS:
        there = _missing(hint, ungated) <= words and (not hint.needs or not words.isdisjoint(hint.needs))
        if hint.long == long and hint.literal and there and _is_wanted(hint, kind):
            found.setdefault((hint.literal, hint.lower), []).append(hint)
    return tuple(
        (literal, "" if lower else seldom(literal), rarest(literal), lower, hints, _any_of(literal, hints))
        for (literal, lower), hints in found.items()
    )


def _any_of(literal: str, hints: list[patterns.Hint]) -> str:
    """A pattern of what several hints find that begin with the same literal; empty for one hint."""
    rests = [hint.pattern.removeprefix(literal) for hint in hints if hint.pattern.startswith(literal)]
    return f"{re.escape(literal)}(?:{'|'.join(rests)})" if len(hints) == len(rests) > 1 else ""


@functools.lru_cache(maxsize=256)
def _awaited(kind: int, words: frozenset[str], ungated: bool) -> tuple[tuple[str, bool], ...]:
    """The literals, and whether each is in lower case, of hints that lack a word which the next piece may bring."""
    needing = [hint for hint in patterns.HINTS if hint.needs and _is_wanted(hint, kind)]
    lacking = [hint for hint in needing if words.isdisjoint(hint.needs)]
    return tuple(dict.fromkeys((hint.literal, hint.lower) for hint in lacking if _missing(hint, ungated) <= words))


def _is_wanted(hint: patterns.Hint, kind: int) -> bool:
    if hint in patterns.KEY_HINTS or kind == WHOLE:
        return True
    if kind == STORED:
        return False
    says = Letters(f"{hint.literal} {' '.join(hint.needs)}")
    return hint.row == kinds.KEEP or (kind == FORMS and not holds_name(says))


def _words(letters: Letters, ungated: bool) -> frozenset[str]:
    """Which words and literals of hints are in a text, in lower case; or of those only which of `WORDS`."""
    if ungated:
        found = words(letters)
        return found | {" -"} if " -" in letters.text and compiled(_OPTION).search(letters.text) else found
    every = _EVERY.found(letters.lower())
    return frozenset((*every, *tables.LABELS) if letters.labelled else every)


@functools.cache
def _missing(hint: patterns.Hint, ungated: bool) -> frozenset[str]:
    """The words that are in a hint's literal, so that a text without one of them holds no such hint."""
    literal = hint.literal if hint.literal in tables.LABELS else hint.literal.lower()
    found = frozenset(word for word in _ALL_WORDS if word in literal) if literal else _NO_WORDS
    return found - (_UNGATED if ungated else _NEEDING)


class _Open:
    """A secret the pass is in.

    ``end``: where it ends, if ``closed``, else as far as the text goes; ``certain``: up to where that much is sure;
    ``begin``: where it begins in all that was fed; ``shown``: its token stands for what came last.
    """

    __slots__ = ("begin", "certain", "closed", "end", "ends", "row", "seen", "shown")

    def __init__(self, row: int, ends: runs.Ends, start: int, begin: int, shown: bool = False) -> None:
        self.row, self.ends, self.begin, self.shown = row, ends, begin, shown
        self.end, self.certain = start + ends.length, start
        self.closed = self.seen = False

    def measure(self, view: View, at: int) -> None:
        """Find the end, if it is not known: from where it was certain so far, or behind what lay within."""
        if self.ends.kind == runs.FIXED:
            self.closed = view.final or self.end <= len(view.text)
            self.certain = min(self.end, len(view.text))
        elif at > self.end if self.closed else at > self.certain or not self.seen:
            start = at if self.closed else max(at, self.certain)
            self.end, self.closed, self.certain = runs.scan(view.text, self.ends, start, view.final)
            self.seen = True

    def shift(self, by: int) -> None:
        """Follow a text that has lost its beginning and will go on."""
        self.end, self.certain, self.seen = self.end - by, self.certain - by, False


class _Source:
    """The places of one hint in the text, one after the other; ``found`` is what the present one turned out to be."""

    __slots__ = ("at", "first", "found", "head", "marked", "match", "pattern", "row", "start", "text")

    def __init__(self, hint: patterns.Hint, view: View, at: int) -> None:
        self.pattern, self.head, self.row, self.first = compiled(hint.pattern), HEADS[hint.head], hint.row, hint.first
        self.text, self.marked = view.lower if hint.lower else view.text, hint.marked
        self.seek(at)

    def seek(self, at: int) -> None:
        """Go to the first place from there."""
        self.match = self.pattern.search(self.text, at)
        while self.marked and self.match:
            mark = patterns.mark_before(self.text, self.match.end(), at)
            if mark:
                self.match = mark
                break
            self.match = self.pattern.search(self.text, self.match.end())
        self.found: Found = None
        self.at = self.start = self.match.start() if self.match else len(self.text)

    def skip(self, limit: int) -> None:
        """Up to the end of a secret, go by what can be only of a later row."""
        if self.first:
            self.seek(limit)
        while self.at < limit - 2 * patterns.HEAD_LENGTH:
            self.seek(self.at + 1)

    def look(self, view: View) -> None:
        """See whether the present place may be a secret; if not, go to the next."""
        self.found = self.head(view, self.match) if self.match else None
        if self.found is None:
            self.seek(self.at + 1)
        else:
            self.start = self.found.start if isinstance(self.found, Head) else self.found.hold


class _Values(_Source):
    """The places of registered values, also those that overlap."""

    __slots__ = ()

    def __init__(self, pattern: str, view: View, at: int) -> None:
        self.pattern, self.head, self.text = compiled(pattern), _value, view.text
        self.row, self.first, self.marked = -1, False, False
        self.seek(at)


def _value(view: View, match: re.Match[str]) -> Head:
    """A registered value, which is known by itself."""
    length = match.end() - match.start()
    return Head(match.start(), kinds.REGISTERED, runs.Ends(runs.FIXED, length=length))


class Machine:
    """Masks a text that comes in pieces.

    Args:
        secrets: values to mask wherever they occur; those that are too short are left out.
        keys_only: only these and the keys that must never be stored.
        kind: what a look at all of the text has found that it may hold.
    """

    def __init__(self, secrets: Sequence[str], keys_only: bool, kind: int = WHOLE) -> None:
        long = {secret for secret in secrets if len(secret) >= SHORTEST_VALUE}
        self._secrets = sorted(long, key=lambda secret: (-len(secret), secret))
        self._kind = STORED if keys_only else kind
        self._context = max([_CONTEXT, *map(len, self._secrets)])
        self._text, self._at, self._look = "", 0, 0
        self._before = 0
        self._ends: list[int] = []
        self._spans: list[tuple[int, int]] = []
        self._lead = ""
        self._codes: list[int] = []
        self._stack: list[_Open] = []
        self._out: list[str] = []
        self.waits = False
        """Whether what follows decides on something that was read."""
        self._given = 0
        self.joined: list[int] = []
        """Where in what was given out a token stands for what could end a value or be no part of one."""

    def feed(self, text: str, final: bool = False, cut: bool = False, letters: Letters | None = None) -> str:
        """Take a piece and give out what is decided.

        Args:
            final: whether nothing follows.
            cut: whether the text was cut off, so that a beginning of a key at its end is masked as one.
            letters: of the piece, if it is the whole text, and a look at it has worked them out.
        """
        for begin in range(0, max(len(text), 1), SLICE):
            last = begin + SLICE >= len(text)
            self._text += text[begin : begin + SLICE]
            view = View(
                self._text,
                final=final and last,
                cut=cut and last,
                ends=self._ends,
                codes=self._codes,
                before=self._before,
                spans=self._spans,
                lead=self._lead,
            )
            self._advance(view, letters if len(text) <= SLICE else None)
        out, self._out = self._out, []
        return "".join(out)

    def take_joins(self) -> int | None:
        """How much was given out from the last new token on that lets another value go on; None without one."""
        joined, self.joined = self.joined, []
        return self._given - joined[-1] if joined else None

    @property
    def is_inside(self) -> bool:
        """Whether a secret goes on at the end of what was fed."""
        return bool(self._stack)

    @property
    def context(self) -> str:
        """The line that goes on at the end of what was fed, given out or not, and a little of what was before it."""
        return self._text[max(0, min(self._at, self._text.rfind("\n") + 1) - LINES_BEFORE) :]

    @property
    def rests(self) -> bool:
        """Whether it is inside of no secret, holds nothing back and waits for nothing that decides on a name."""
        return not self._stack and not self.waits and self._at == len(self._text)

    @property
    def plain_end(self) -> str | None:
        """The end of what was fed, where no word in it begins anew; else None."""
        return None if self._ends or self._codes else self._text

    @property
    def anew_before(self) -> list[int]:
        """How far before the end of what was fed a masked secret ended, or something hidden stands."""
        end = self._before + len(self._text)
        return [end - place for place in (*self._ends, *self._codes)]

    @property
    def held(self) -> int:
        """How much of what was fed is not given out."""
        return len(self._text) - self._at

    def begins(self, text: str, anew: list[int]) -> int:
        """How much of a text that goes on may be the beginning of a secret, as far as no name says so.

        -1 where the last line has to be looked at more closely.

        Args:
            text: the line, or more, up to its end so far.
            anew: where in it a word begins, whatever stands before.
        """
        line, last = text[text.rfind("\n") + 1 :], text[-self._context :]
        if any(map(line.__contains__, _BEGUN_FORMS)) or is_issuer_in(last.lower()):
            return -1
        view = View(last, final=False, cut=False, ends=[], codes=anew, before=len(text) - len(last))
        begun = max(len(last) - min(self._tails(view)), _begun_key(last))
        # With a token in place of what begins here a URL may go on that this would end.
        if "://" in line and (_ends_in_url(line) or (begun and _ends_in_url(line[: max(0, len(line) - begun)]))):
            begun = max(begun, len(line) - line.rfind("://") - len("://"))
        return begun if begun <= _CONTEXT else -1

    def pass_by(self, text: str) -> str:
        """Take a text in which no secret is or begins; give out what was held back before it."""
        held = self._text[self._at :]
        self._text += text
        self._at = len(self._text)
        self._trim(max(0, self._at - patterns.HEAD_LENGTH))
        return held

    def _advance(self, view: View, letters: Letters | None) -> None:
        sources, near = _sources(view, self._kind, self._look, letters)
        tails = self._tails(view)
        if self._secrets:
            sources.append(_Values(self._values(view, tails[0]), view, max(0, self._at - self._context)))
        if not sources and view.final and not self._stack:  # nothing begins, and nothing goes on
            self._put(view.text, len(view.text))
            return
        ended = len(self._ends)
        while self._step(view, sources, tails):
            if len(self._ends) > ended:
                ended = len(self._ends)
                if self._at >= len(view.text) - _LONGEST_BEGINNING:  # behind it a word may begin
                    tails = self._tails(view)
        waiting = [source.at for source in sources if source.found]
        self.waits = bool(waiting)
        # Where an open secret may yet end, the next may begin. What decides about its end is no further away than this.
        far = len(view.text) - BLOCK_LIMIT - patterns.HEAD_LENGTH
        waiting += [max(opened.certain, far) for opened in self._stack if not opened.closed]
        self._trim(min([max(self._look, near), *waiting]))

    def _trim(self, look: int) -> None:
        """Forget what no longer counts."""
        start = max(0, min(self._at, look) - self._context)
        if start:
            self._lead = self._told(start) if self._spans or self._stack else ""
        self._text = self._text[start:]
        self._at, self._look = self._at - start, look - start
        self._before += start
        # There may be a great many, of a text that is there as a whole.
        for places in (self._ends, self._codes):
            del places[: bisect.bisect_left(places, self._before)]
        del self._spans[: bisect.bisect_left(self._spans, self._before, key=lambda span: span[1])]
        for opened in self._stack:
            opened.shift(start)

    def _told(self, start: int) -> str:
        """What stood before a place that is forgotten: a command may hold a long secret, up to which it is told."""
        if self._stack:
            start = min(start, self._stack[0].begin - self._before)
        view = View(
            self._text, final=False, cut=False, ends=[], codes=[], before=self._before, spans=self._spans,
            lead=self._lead,
        )  # fmt: skip
        return view.told(start, LEAD) if start > 0 else self._lead

    def _tails(self, view: View) -> tuple[int, int]:
        """Where a secret may begin of which only the beginning is there: outside of other secrets, and inside."""
        text, plain = view.text, len(view.text)
        if view.final and not self._secrets:
            return plain, plain
        for beginning in _BEGINNINGS.get(text[-1:], ()):
            # What only begins where a word does begins nothing in the middle of one.
            at = plain - len(beginning)
            if text.endswith(beginning) and (not beginning[0].isalnum() or free(view, at) or _is_within(view, at)):
                plain = at
                break
        plain = min([plain, *(_beginning(text, secret) for secret in self._secrets)])
        masked = compiled(_MASKED_PART).search(text, max(0, len(text) - _LONGEST_TOKEN))
        return plain, min(plain, masked.start()) if masked else plain

    def _values(self, view: View, tail: int) -> str:
        """The pattern of the registered values, also for one that the end of the text cuts."""
        known = [re.escape(secret) for secret in self._secrets]
        least = _CUT_VALUE if view.cut else SHORTEST_VALUE
        if view.final and len(view.text) - tail >= least:
            known += [re.escape(view.text[_beginning(view.text, secret) :]) + r"\Z" for secret in self._secrets]
        return "|".join(known)

    def _step(self, view: View, sources: list[_Source], tails: tuple[int, int]) -> bool:
        """Go on to the next place where something begins or ends; false where more text is needed."""
        top = self._stack[-1] if self._stack else None
        closed, limit = self._limit(view, top)
        first = self._next(view, sources, top, limit)
        wait = len(view.text) if view.final else tails[bool(top)]
        reach = limit + 1 if top and closed and top.ends.kind in _JOINED else limit
        if first and isinstance(first.found, Head) and first.start < max(wait, self._at):
            if self._passed(first.found, top, limit):
                first.seek(first.at + 1)
                return True
            if first.start < reach and (top is None or closed or first.start < top.certain):
                return self._begin(view, first, first.found, top, limit)
        pending = first is not None and isinstance(first.found, Pending) and first.start < reach
        if pending and first:
            wait = min(wait, first.start)
        if closed and limit <= wait and not pending:
            self._put(view.text, limit)
            return self._pop() if top else False
        self._put(view.text, min(wait, limit if top is None or closed else top.certain))
        return False

    def _limit(self, view: View, top: _Open | None) -> tuple[bool, int]:
        """Whether the end of what the pass is in is known, and where it is or may be."""
        if top is None:
            return view.final, len(view.text)
        top.measure(view, self._at)
        return top.closed, min(top.end, len(view.text))

    def _next(self, view: View, sources: list[_Source], top: _Open | None, limit: int) -> _Source | None:
        if top:
            for source in sources:
                if source.row >= top.row and source.at < limit:
                    source.skip(limit)
        return _first(view, sources, limit)

    def _passed(self, head: Head, top: _Open | None, limit: int) -> bool:
        """Whether a secret lies behind, or within one of an earlier row."""
        end = head.start + head.ends.length
        if head.row == kinds.REGISTERED:
            return end <= self._at or (top is not None and top.row <= head.row and end <= limit)
        if head.start < self._at or (top is None and head.row == kinds.KEEP):
            return True
        return top is not None and head.start < limit and head.row >= top.row

    def _begin(self, view: View, source: _Source, head: Head, top: _Open | None, limit: int) -> bool:
        if top and top.row == head.row == kinds.REGISTERED:  # two registered values that overlap
            self._put(view.text, limit)
            return self._pop()
        clipped = head.start < self._at
        self._put(view.text, head.start)
        if top:
            top.shown = False
        self._stack.append(_Open(head.row, head.ends, head.start, self._before + head.start, shown=clipped))
        source.seek(source.at + 1)
        return True

    def _put(self, text: str, end: int) -> None:
        """Give out what comes before a place: as it is, or the token of the secret that it belongs to."""
        if end <= self._at:
            return
        top = self._stack[-1] if self._stack else None
        if top is None or top.row == kinds.KEEP:
            self._out.append(text[self._at : end])
            self._given += end - self._at
        else:
            if self._joins(top, text, end):
                self.joined.append(self._given)
            if not top.shown:
                self._out.append(patterns.TOKENS[top.row])
                self._given += len(self._out[-1])
                top.shown = True
        self._at = end

    def _joins(self, top: _Open, text: str, end: int) -> bool:
        """Whether what is masked up to a place could end a value or be no part of one, where its token is one."""
        if top.row < kinds.AUTH or top.row == kinds.JWT:
            return True
        quoted = top.ends.kind == runs.QUOTED and text[self._at - 1 : self._at] in _QUOTES
        unending = compiled(_QUOTED if quoted and text[end : end + 1] in _QUOTES else _UNENDING)
        return not unending.fullmatch(text, self._at, end)

    def _pop(self) -> bool:
        begin = self._stack.pop().begin
        self._ends.append(self._before + self._at)
        self._spans.append((begin, self._before + self._at))
        return True


def _sources(view: View, kind: int, at: int, letters: Letters | None = None) -> tuple[list[_Source], int]:
    """The hints that are in a text from a place on, each literal looked for once; and where the next may yet begin.

    Args:
        letters: of the text from there on, where they are known.
    """
    text, sources = view.text, list[_Source]()
    unread = letters or Letters(text[at:] if at else text)
    if kind != STORED and len(unread.text) == len(text):
        view.know(unread)
    lower = text if kind == STORED else view.lower
    gated = len(text) - at > _GATED
    known = _ALL_WORDS if kind in (STORED, KEYS) else _words(unread, gated)
    back = max(at, len(text) - patterns.HEAD_LENGTH)
    near = max(back, len(text) - _LONGEST_LITERAL)
    wanted = _wanted(kind, False, known, gated)
    if _may_be_marked(unread, view):
        wanted, near = _wanted(kind, True, _ALL_WORDS, gated) + wanted, back
    long = len(unread.text) >= SHORT
    for literal, part, rare, lowered, hints, any_of in wanted:
        seen = lower if lowered else text
        # Of a short text it costs least to ask whether one is there; in a long one it is searched for once.
        if gated and (rare not in seen or (long and part and part not in unread.seldom())):
            continue
        if gated and not long and literal not in seen:
            continue
        place = seen.find(literal, at)
        if place >= 0:
            sources += _begun(view, hints, at if hints[0].marked else place, any_of if long else "")
            near = near if view.final else _undecided(seen, literal, hints, back, near)
    if not view.final:
        for literal, lowered in _awaited(kind, known, gated):
            last = (lower if lowered else text).find(literal, back)
            near = last if 0 <= last < near else near
    if kind != STORED and _is_beside(unread, view, at):
        source = _Source(_BESIDE, view, at)
        sources += [source] if source.match else []
        near = back
    return sources, near


def _begun(view: View, hints: list[patterns.Hint], at: int, any_of: str) -> list[_Source]:
    """Those of the hints of one literal that are in a text from a place on; a mark that ends with it begins before."""
    if any_of:
        first = compiled(any_of).search(view.lower if hints[0].lower else view.text, at)
        if first is None:
            return []
        at = first.start()
    return [source for hint in hints if (source := _Source(hint, view, at)).match]


def _undecided(seen: str, literal: str, hints: list[patterns.Hint], at: int, near: int) -> int:
    """Where from a place on a literal stands that may yet begin a hint; one that is there is decided on, or waits."""
    place = seen.find(literal, at)
    while 0 <= place < near:
        if not all(compiled(hint.pattern).match(seen, place) for hint in hints):
            return place
        place = seen.find(literal, place + 1)
    return near


def _may_be_marked(unread: Letters, view: View) -> bool:
    """Whether the key of an issuer may be in what is unread of a text, or begin at its end."""
    if unread.has_long_run() and is_marked(unread):
        return True
    # The mark may stand at the end of the piece, with its key still to come.
    return (not view.final or view.cut) and _begun_key(unread.text) > 0


def _is_beside(unread: Letters, view: View, at: int) -> bool:
    """Whether a key without a mark may be in what is unread of a text, beside the name of its issuer."""
    start = max(0, at - _CONTEXT)
    if names_issuer(unread, view.lower, start):
        return True
    return not (view.final and not view.cut) and is_issuer_in(view.lower[max(start, len(view.text) - _BESIDE_REACH) :])


def _ends_in_url(line: str) -> bool:
    """Whether the last URL of a line reaches its end; one goes on for as long as no other begins."""
    at = line.rfind("://")
    return at >= 0 and compiled(rf"{patterns.URL_RUN}\Z").match(line, at + len("://")) is not None


def _is_within(view: View, at: int) -> bool:
    """Whether a mark may begin there that stands within its key."""
    return view.text[at].isdigit() and is_within(view, at)


def _begun_key(text: str) -> int:
    """How much of the end of a text may be the mark of an issuer and the beginning of a key behind it."""
    last = compiled(_BEGUN_KEY).match(text[: -_LONGEST_BEGUN - 1 : -1])
    if last is None or last.end() < _SHORTEST_MARK:
        return 0
    begun = last[0][::-1]
    return len(begun) if "sk-" in begun or any(map(begun.__contains__, tables.FORMS)) else 0


def may_begin(text: str, secrets: Sequence[str], keys_only: bool) -> bool:
    """Whether a text has a place where a secret may begin."""
    if secrets and holds_registered(Letters(text).text, secrets):
        return True
    view = View(text, final=True, cut=False, ends=[], codes=[], before=0)
    return bool(_sources(view, STORED if keys_only else WHOLE, 0)[0])


def first_begin(before: str, kind: int, letters: Letters, text: str, plain: bool) -> int:
    """Where in a text that goes on the first secret begins, or may yet; the length of the text where none does.

    Args:
        before: what stands before it.
        kind: what a look at the text has found, or `STORED`.
        letters: of the text.
        plain: whether no word in the text or before it begins anew, so that each place where a secret may begin can be
            looked at; else it counts by itself.
    """
    view = View(before + text, final=False, cut=False, ends=[], codes=[], before=0)
    sources = [each for each in _sources(view, kind, len(before), letters)[0] if each.row != kinds.KEEP]
    for source in sources:
        while plain and source.match and not source.found:
            source.look(view)
    return min((source.at for source in sources), default=len(view.text)) - len(before)


def masked(
    text: str, secrets: Sequence[str], keys_only: bool, kind: int = WHOLE, letters: Letters | None = None
) -> str:
    """A text masked, and again as long as what is masked lets another value go on."""
    machine = Machine(secrets, keys_only, kind)
    shown = machine.feed(text, final=True, letters=letters)
    # Where there are but keys, a token lets nothing go on.
    while not keys_only and kind != KEYS and machine.joined and shown != text:
        text, places = shown, machine.joined
        machine = Machine(secrets, False)
        shown = _around(machine, text, places, secrets)
    return shown


def _around(machine: Machine, text: str, places: list[int], secrets: Sequence[str]) -> str:
    """Mask the lines of a masked text again in which a token may let another value go on, and those around them."""
    out, done = list[str](), 0
    for begin, end in _stretches(text, places, whole=any("\n" in secret or "\r" in secret for secret in secrets)):
        if done < end and goes_on(text[max(begin, done) : end], secrets):
            if done < begin:
                out += [machine.pass_by(text[done:begin]), text[done:begin]]
                done = begin
            while done < end:
                out.append(machine.feed(text[done:end], final=end == len(text)))
                done = end
                end = end if machine.rests else _line_end(text, end + BEHIND)
    return "".join((*out, text[done:]))


def _stretches(text: str, places: list[int], whole: bool) -> list[list[int]]:
    """Where the lines around places begin and end, or all of a text; what touches is one."""
    if whole:
        return [[0, len(text)]]
    found = list[list[int]]()
    for place in places:
        begin, end = text.rfind("\n", 0, max(0, place - _BEFORE)) + 1, _line_end(text, place + BEHIND)
        if found and begin <= found[-1][1]:
            found[-1][1] = end
        else:
            found.append([begin, end])
    return found


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def goes_on(shown: str, secrets: Sequence[str]) -> bool:
    """Whether anything is left in a masked text that could begin a secret."""
    return look(compiled(patterns.MASKED).sub("\n", shown), secrets, keys_only=False) != NOTHING


def _first(view: View, sources: list[_Source], limit: int) -> _Source | None:
    """The source whose hint stands before a place and whose secret begins first.

    Of two that begin together the one comes first whose hint does, so that the other lies within.
    """
    while True:
        best, unknown = None, None
        for source in sources:
            if source.at >= limit:
                continue
            if source.found is None:
                unknown = source if unknown is None or source.at < unknown.at else unknown
            elif best is None or (source.start, source.at) < (best.start, best.at):
                best = source
        if unknown is None or (best and best.start <= unknown.at):
            return best
        unknown.look(view)


def _beginning(text: str, secret: str) -> int:
    """Where the longest end of a text stands that a secret begins with; the whole secret does not count."""
    at = text.find(secret[0], max(0, len(text) - len(secret) + 1))
    while at >= 0:
        if secret.startswith(text[at:]):
            return at
        at = text.find(secret[0], at + 1)
    return len(text)
