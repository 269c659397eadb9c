"""How far a secret goes on from a place inside it: the ends of values.

A scan can be taken up again at the place it names, and then ends where it would have ended in one go.
"""

from __future__ import annotations

import re

from orchestrator.core.masking_letters import compiled
from orchestrator.core.named_tuple import NamedTuple

RUN, DOTTED, QUOTED, HEADER, BLOCK, FIXED, INDENTED = "run", "dotted", "quoted", "header", "block", "fixed", "indented"
DOCUMENT = "document"

MARKS = ".,:;!)}"
"""What ends a sentence or structure rather than a value, at most `MARKS_LENGTH` of them."""
MARKS_LENGTH = 3
ESCAPES = 8
"""Backslashes before a quote that belong to the quote, not to the value."""
PARAMETER_LENGTH = 4096
_FOLD_LENGTH = 66
FOLD_BLANK = rf"(?:\r(?:\n[ \t]{{0,{_FOLD_LENGTH - 2}}})?|\n[ \t]{{0,{_FOLD_LENGTH - 2}}})?"
"""What a folded header has between its lines, or the beginning of it."""
_BLANK_LINES = 2_048
"""More blank characters in a row end a block of indented lines."""
_MARK_LENGTH = 64
"""The longest line that ends a here-document."""
COUNTED = 256
"""Of a longer row of backslashes only so many count; any multiple of 16 leaves the same rest."""

BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY ----"
BEGUN = r"-----BEGIN [A-Z0-9 ]{0,57}-{0,5}|---- BEGIN [A-Z0-9 ]{0,57}-{0,4}"
END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- END [A-Z0-9 ]{0,40}PRIVATE KEY ----"
_BASE = "A-Za-z0-9+/="
_GAP = r"(?:\\{1,4}[rnt]|[\s>|*#]|(?<=\n)(?:-(?=[A-Za-z0-9+/]|-----END)|\+(?=-----))|\\(?=\s)){0,64}+"
CLOSED_LENGTH = 512
"""So much text tells whether the string that a block ends in is closed, and is no name."""


def closed(quote: str) -> str:
    """The rest of a string up to a closing quote; not of a name in JSON. A line that ends is no JSON."""
    rest = r"(?:\\{1,4}[rn]|[^\"'\\\r\n]){0,64}+"
    return rf"{rest}(?:{quote}(?=\s{{0,64}}+(?:[^\s:]|\Z))|[\r\n]|\Z)"


def _next(name: str) -> str:
    """The end of a string and the begin of the next one, quoted alike, which holds one line; not of a name in JSON."""
    line = rf"[{_BASE}]{{1,256}}+(?:\\{{1,4}}[rn]){{0,4}}+(?=\\{{0,4}}[\"'])"
    begin = rf"(?P<{name}>\\{{0,4}}[\"'])(?:\\{{1,4}}[rn]|[\s,+]){{0,64}}+(?P={name})"
    return rf"(?:{begin}(?=(?:{END}|{line}){closed(f'(?P={name})')}))?"


_FIELD = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID): [^\r\n\\\"]{0,200}" + rf"(?![{_BASE}])"
_LINE = rf"[{_BASE}]{{20,256}}+(?![{_BASE}]|[._-][A-Za-z0-9])"  # what goes on so is a key of another kind
_SHORT = rf"(?P<short>[{_BASE}]{{1,19}}+)(?![{_BASE}])"
PIECE = rf"{_GAP}{_next('quote')}(?:(?P<end>{END})|{BEGIN}|{_FIELD}|(?P<long>[{_BASE}]{{257,}}+)|{_LINE}|{_SHORT})"
"""A part of a key block: its end, a line of another kind, a word of any length, a long word, a short one."""
LAST = rf"(?:{_GAP}{_next('sum')}=[{_BASE}]{{1,8}})?{_GAP}{_next('quote')}(?:{END})"
"""What follows a block's last short line."""
LINE_END = r"[ \t]{0,8}(?:[\r\n\"']|\\{1,4}[rn\"]|\Z)"
PIECE_LENGTH = 2_048
"""So much text tells what a part of a key block is."""
_TEXT = r"(?:[^\"\\]|\\++(?!\"))*+"
_BETWEEN = r"\"(?:\\{1,4}[nr]|[\s,+]|\\(?=\s))*+"
STRINGS = rf"{_TEXT}(?:(\\{{0,7}}+){_BETWEEN}\1\"{_TEXT}(?:\1{_BETWEEN}\1\"{_TEXT})*+)?"
"""Text with quotes only where one string ends and the next begins at once, as in a list of lines.

All are escaped alike: a quote inside of a string ends none, and what follows it would be taken for a string.
"""


class Ends(NamedTuple):
    """What ends a secret.

    ``stops``: a pattern of one character that is outside; ``marks``: whether marks before it are outside, too;
    ``quote`` and ``level``: the closing quote and how many backslashes belong to it; ``length``: of a known length.
    """

    kind: str
    stops: str = ""
    marks: bool = False
    level: int = 0
    length: int = 0


class Extent(NamedTuple):
    """Where a secret ends; while it is not closed, how far it is certain."""

    end: int
    closed: bool
    certain: int


def scan(text: str, ends: Ends, at: int, final: bool) -> Extent:
    """Where the secret that goes on at a place ends.

    Args:
        text: what has been read of it, with some of what came before.
        at: a place inside the secret.
        final: whether nothing follows the text.
    """
    if ends.kind == QUOTED:
        return _quoted(text, ends, at, final)
    if ends.kind == HEADER:
        return _header(text, ends, at, final)
    if ends.kind == BLOCK:
        return _block(text, at, final)
    if ends.kind == INDENTED:
        return _indented(text, ends.level, at, final)
    return _run(text, ends, at, final)


def _open(text: str, at: int, final: bool, back: int = 0) -> Extent:
    return Extent(len(text), final, len(text) if final else max(at, len(text) - back))


def _run(text: str, ends: Ends, at: int, final: bool) -> Extent:
    found = compiled(ends.stops).search(text, at)
    if found and ends.kind == DOTTED and not final and text[found.start() : found.start() + 3] in (".", ".."):
        return Extent(len(text), False, found.start())
    if found is None and not final:
        back = _MARK_LENGTH if ends.kind == DOCUMENT else MARKS_LENGTH + ESCAPES if ends.marks else 0
        return _open(text, at, final, back)
    stop = found.start() if found else len(text)
    end = bare_end(text, at, stop) if ends.marks else stop
    return Extent(end, True, end)


def bare_end(text: str, at: int, stop: int) -> int:
    """Where a value ends without the marks and escapes behind it, which it cannot begin with."""
    end = stop
    if text[stop : stop + 1] in ('"', "'", "`"):
        while end > max(at, stop - ESCAPES) and text[end - 1] == "\\":
            end -= 1
    least = max(at, end - MARKS_LENGTH)
    while end > least and text[end - 1] in MARKS:
        end -= 1
    return end


def _quoted(text: str, ends: Ends, at: int, final: bool) -> Extent:
    """Up to the quote of the same level: an inner one has more backslashes; a line's end ends it as well."""
    search = compiled(ends.stops).search
    found = search(text, at)
    while found:
        stop = found.start()
        if text[stop] in "\r\n":
            return Extent(stop, True, stop)
        escapes = _backslashes(text, stop) if text[stop - 1 : stop] == "\\" else 0
        if escapes < ends.level or escapes % (2 * ends.level + 2) == ends.level:
            end = max(at, stop - min(escapes, ends.level))
            return Extent(end, True, end)
        found = search(text, stop + 1)
    return _open(text, at, final, min(_backslashes(text, len(text)), ESCAPES))


def _backslashes(text: str, stop: int) -> int:
    before = text[max(0, stop - COUNTED) : stop]
    return len(before) - len(before.rstrip("\\"))


def _header(text: str, ends: Ends, at: int, final: bool) -> Extent:
    """Up to the end of the line or a quote that is no parameter's (`name="value"`)."""
    parameter = compiled(rf"\"[^\"\\\r\n]{{0,{PARAMETER_LENGTH}}}\"(?=[;,\s]|\Z)")
    place = at
    while found := compiled(ends.stops).search(text, place):
        stop = found.start()
        blank = compiled(FOLD_BLANK).match(text, stop)
        if blank and blank.group() and not final and blank.end() == len(text) and len(blank.group()) < _FOLD_LENGTH:
            return Extent(len(text), False, stop)
        if next_line := fold(text, at, stop):
            place = next_line
            continue
        if text[stop] != '"' or text[stop - 1 : stop] != "=":
            return Extent(stop, True, stop)
        if len(text) - stop <= PARAMETER_LENGTH + 2 and not final and text.find('"', stop + 1) in (-1, len(text) - 1):
            return Extent(len(text), False, stop)
        value = parameter.match(text, stop)
        if value is None:
            return Extent(stop, True, stop)
        place = value.end()
    return _open(text, place, final)


def fold(text: str, start: int, stop: int, unfinished: bool = False) -> int:
    """Where a header that is folded goes on; 0 where its line is the last.

    A line's end as the protocol has it is followed by a blank; any other also follows on what cannot end a header.

    Args:
        start: where the header's value begins.
        stop: where its line ends.
        unfinished: whether the line cannot be all of it.
    """
    found = compiled(r"(\r?)\n[ \t]{1,64}(?=[^\s])").match(text, stop)
    if not found:
        return 0
    unfinished = unfinished or text[max(start, stop - _FOLD_LENGTH) : stop].rstrip()[-1:] in (";", ",")
    return found.end() if found[1] or unfinished else 0


def _indented(text: str, level: int, at: int, final: bool) -> Extent:
    """Up to the first line that is no further in than a name."""
    place = at
    while (stop := text.find("\n", place)) >= 0:
        blank = compiled(rf"\s{{0,{_BLANK_LINES}}}").match(text, stop)
        after = blank.end() if blank else stop
        end = stop - (text[stop - 1 : stop] == "\r" and stop > at)
        if after == len(text) and not final and after - stop < _BLANK_LINES:
            return Extent(len(text), False, max(at, end))
        if after == len(text) or after - text.rfind("\n", 0, after) - 1 <= level:
            return Extent(max(at, end), True, max(at, end))
        place = after
    back = text.endswith("\r") and not final
    return Extent(len(text), final, max(at, len(text) - back))


def _block(text: str, at: int, final: bool) -> Extent:
    """As long as it looks like key material: long words, known fields, one short word in a line of its own."""
    place = at
    if text[at - 1 : at].isalnum() or text[at - 1 : at] in ("+", "/", "="):
        rest = compiled(rf"[^{_BASE}]").search(text, at)
        place = rest.start() if rest else len(text)
    while True:
        found = compiled(PIECE).match(text, place)
        if not final and found and found["long"] and found.end() == len(text):
            return Extent(len(text), False, len(text))
        if not final and _undecided(found, len(text), place):
            return Extent(len(text), False, place)
        if found is None:
            return Extent(place, True, place)
        if found["short"] and not compiled(LAST).match(text, found.end()):
            alone = compiled(LINE_END).match(text, found.end())
            return Extent(found.end() if alone else place, True, place)
        place = found.end()
        if found["end"]:
            return Extent(place, True, place)


def _undecided(found: re.Match[str] | None, length: int, place: int) -> bool:
    """Whether more text could change what a part of a key block is."""
    if found is None:
        return length - place < PIECE_LENGTH
    if found["short"]:
        return length - found.end() < PIECE_LENGTH
    if found["quote"]:
        return length - found.end() < CLOSED_LENGTH
    return not found["end"] and not found["long"] and found.end() + 2 > length
