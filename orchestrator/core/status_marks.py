"""Lines that look as if they named a status, however they are decorated.

One plain form reports (`STATUS: CODE`). All others here only contradict: bold and headings, "FINAL STATUS", an emoji
before the code, a table, a key in JSON that stands outside of any fence, a heading with the code below, and the word
in other languages. What is plainly prose ("Status: 3 of 4 tests pass") names no status.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from orchestrator.core import names
from orchestrator.core.message_lines import Line
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import vocabulary

# ruff: noqa: RUF001 - words of other scripts, and dashes
_ASCII = ("status", "statut", "estado", "estatus", "etat", "stato", "zustand", "durum", "tila", "stav")
_OTHERS = (
    "état", "статус", "состояние", "стан", "状态", "狀態", "状態", "ステータス", "상태", "κατάσταση", "الحالة",
    "סטטוס", "स्थिति", "trạng thái", "สถานะ",
)  # fmt: skip
_WORD = "|".join((*_ASCII, *_OTHERS))
_MARK = re.compile(
    rf"(?P<before>[^\w]*(?:\w[\w'/-]*[ ]){{0,2}}[*_ ]*)(?P<word>{_WORD})(?![^\W_])"
    r"(?:[ ](?:code|update|of|for)(?:[ ][\w.@:-]+?){0,4}?)?(?:[ ]?\([^)]*\))?(?P<after>(?:[^\w:=|→>–—-]|_)*)"
    r"(?P<sign>[:=|→–—-]+>?|is\b|$|(?=(?-i:[A-Z][A-Z_]{2,})(?!\w)))(?P<value>.*)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r" {0,3}status:[ \t\u00a0]*(?P<code>[A-Za-z][A-Za-z0-9_-]*)\s*", re.IGNORECASE | re.ASCII)
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]*(?:[_ -][A-Z][A-Z0-9]*)*(?![\w])")
_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-*:?\s*)*")
_LEAST_CAPITALS = 3
_ITEM = re.compile(r"(?:\d{1,9}[.)]|[-*+])?\s*(?:\[[ xX]\])?\s*")
_TAG = re.compile(r"<[^<>]{0,100}>")
_PAST = re.compile(
    r"\b(?:earlier|previous(?:ly)?|history|histories|past|former(?:ly)?|old|prior|initial|states|statuses|sequence"
    r"|timeline|was|were|so far)\b", re.IGNORECASE,
)  # fmt: skip
_ADVERBS = re.compile(r"(?:(?:still|currently|now|is|remains|again)\s+)+", re.IGNORECASE)
_NEGATED = re.compile(r"(?:not|never|cannot|can't|won't)\b", re.IGNORECASE)
LOOKED_AT = 500
"""Characters of a line that are looked at: a status stands at its beginning."""


class Mark(NamedTuple):
    """A line that names a status, or looks as if. `status` is its code or its words; `is_plain`, that it may report."""

    line: int
    status: str
    text: str
    is_plain: bool


def find(lines: Iterable[Line]) -> Iterator[Mark]:
    """The marks of the lines that speak, in order."""
    is_announced = False
    for line, columns in _with_columns(lines):
        if columns:
            yield from _of_row(line, columns)
        elif re.search(r"\w", line.text):
            is_heading = _is_heading(line.text)
            found = _of_line(line)
            if is_announced and not found and not is_heading:
                found = _mark(line, _status(line.text, alone=True))
            if found:
                yield found
            is_announced = is_heading


def _with_columns(lines: Iterable[Line]) -> Iterator[tuple[Line, list[int]]]:
    """Each line, and in the rows of a table with a column of statuses the numbers of such columns."""
    head: Line | None = None
    columns: list[int] = []
    for line in lines:
        if head is not None and _DELIMITER.fullmatch(line.text[:LOOKED_AT]):
            columns = _columns(head.text)
            if not columns:
                yield head, []
            head = None
            continue
        if head is not None:
            yield head, []
            head = None
        if "|" not in line.text:
            columns = []
        elif not columns:
            head = line
            continue
        yield line, columns
    if head is not None:
        yield head, []


def _mark(line: Line, status: str | None) -> Mark | None:
    return Mark(line.number, status, line.text, is_plain=False) if status else None


def _speaks_of_status(text: str) -> bool:
    folded = text.casefold()
    return any(word in folded for word in (_ASCII if text.isascii() else (*_ASCII, *_OTHERS)))


def plainer(text: str) -> str:
    """The beginning of a line without HTML tags, full-width letters and what cannot be seen."""
    found = _ITEM.sub("", text.strip()[:LOOKED_AT], count=1)
    if not found.isascii():
        found = unicodedata.normalize("NFKC", found)
        found = "".join(letter for letter in found if unicodedata.category(letter) != "Cf")
    return _TAG.sub(" ", found) if "<" in found else found


def is_of_past(text: str) -> bool:
    """Whether a label or heading speaks of earlier states."""
    return bool(_PAST.search(text[:LOOKED_AT]))


def is_plain(text: str) -> bool:
    """Whether a line is `STATUS: CODE` and nothing else."""
    return bool(_PLAIN.fullmatch(text))


def _matched(text: str) -> re.Match[str] | None:
    shown = plainer(text)
    found = _MARK.fullmatch(shown) if _speaks_of_status(shown) else None
    return None if found and is_of_past(found["before"]) else found


def _is_heading(text: str) -> bool:
    found = _matched(text)
    return bool(found and not bare(found["value"]))


def _of_line(line: Line) -> Mark | None:
    plain = _PLAIN.fullmatch(line.text)
    if plain:
        return Mark(line.number, plain["code"], line.text, line.whole)
    found = _matched(line.text)
    if not found or not bare(found["value"]):
        return None
    is_undecorated = not found["before"].strip() and not found["after"].strip() and found["sign"] == ":"
    if is_undecorated and found["word"] == "STATUS":
        # Whoever writes this means to report.
        return _mark(line, _status(found["value"], alone=True) or found["value"].strip())
    alone = not re.search(r"\w", found["before"])
    status = _status(found["value"].partition("|")[0] if found["sign"] == "|" else found["value"], alone=alone)
    return _mark(line, status)


def _columns(head: str) -> list[int]:
    return [number for number, cell in enumerate(_cells(head)) if _is_heading(cell)]


def _cells(row: str) -> list[str]:
    return row.strip().removeprefix("|").removesuffix("|").split("|")


def _of_row(line: Line, columns: list[int]) -> Iterator[Mark]:
    cells = _cells(line.text)
    marks = (_mark(line, _status(cells[number], alone=True)) for number in columns if number < len(cells))
    yield from filter(None, marks)


def bare(value: str) -> str:
    """A value without what decorates it: marks, emoji, quotes, brackets."""
    start = re.search(r"\w", value)
    if not start:
        return ""
    end = max(place for place, letter in enumerate(value) if letter.isalnum() or letter == "_")
    return value[start.start() : end + 1].strip("_")


def _status(value: str, *, alone: bool) -> str | None:
    """The status that a value names: a code in capitals or a known one at its start, or (alone) its one word."""
    said = _ADVERBS.sub("", bare(plainer(value)), count=1) if value else ""
    if _NEGATED.match(said):
        return said
    capitals = _CAPITALS.match(said)
    if capitals and (len(capitals.group()) >= _LEAST_CAPITALS or (alone and capitals.group() == said)):
        return capitals.group()
    first = _CODE.match(said)
    if first is None:
        return None
    if first.group() == said:
        return said if alone or _is_known(said) else None
    if _is_known(said):
        return said
    return first.group() if _is_known(first.group()) else None


def _is_known(word: str) -> bool:
    return names.status_name(word) in vocabulary.KNOWN_STATUSES
