"""Lines that are nothing but a status: `BLOCKED` on a line of its own contradicts `STATUS: PASS`.

A word inside a sentence, an item of a list, a quotation, a section without content ("Blocked: none") and states that
are introduced as earlier ones name no status.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from orchestrator.core import names, status_marks
from orchestrator.core.message_lines import Line
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.status_marks import Mark

# ruff: noqa: RUF001 - dashes and quotation marks of all kinds
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]*(?:[_ -][A-Z][A-Z0-9]*)*")
_NEGATIVE = re.compile(r"BLOCKED|FAILED|REJECTED|INCOMPLETE|ABORTED|NEEDS?_\w+")
"""What says of itself, whoever writes it, that the work does not go forward."""
_NOT_YET = re.compile(
    r"not[ _](?:yet[ _])?(?:ready|done|approved|accepted|completed?|finished|passed|tested|merged)(?: [\w ]{1,20})?",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:(?:the|my|our|final|overall|current|qa|review) )*(?:result|verdict|outcome|conclusion|decision|state|report"
    r"|answer)[*_` ]*(?:[:=]|[-→–—]+>?)[*_` ]*(?P<value>.*)", re.IGNORECASE,
)  # fmt: skip
_ITEM = re.compile(r"\s*(?:[-*+•◦‣·]|\d{1,9}[.)])\s")
_TICKED = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])?\s*\[[xX]\]\s")
_ASIDE = re.compile(r"[|\"“”«»„‘’]|~~|<(?:s|del|strike)>|\?\W*\Z", re.IGNORECASE)
_EMOJI = re.compile(r":[a-z0-9_+-]+:\s*")
_SECTION = re.compile(r"\s*(?:#|\*\*|__)|.*:[\s*_]*\Z")
_NOTHING = re.compile(
    r"\W*(?:none|nothing|nobody|n/a|nil|0|no (?:blockers?|failures?|tests?|tasks?|groups?|issues?))"
    r"(?: (?:here|left|open|so far|yet|at all|known|remaining))?\W*", re.IGNORECASE,
)  # fmt: skip
_WRAPPED = 40
"""The least length of a line that a sentence is wrapped at."""
_TITLE = 6
"""The most words of a title."""


class Bare(NamedTuple):
    """A line that is only a status. `is_own` says that the role may report it; else it only says "not finished"."""

    mark: Mark
    is_own: bool


def find(lines: Sequence[Line], own: Collection[str]) -> Iterator[Bare]:
    """The lines that are nothing but a status, in order.

    Args:
        lines: those that speak, blank ones among them.
        own: the statuses that the role may report.
    """
    # The beginning of a long line is enough; the rest would only cost time.
    shown = (line._replace(text=line.text[: status_marks.LOOKED_AT + 1]) for line in lines)
    said = [line for line in shown if re.search(r"\w", line.text)]
    is_list = False
    past = -1
    for place, line in enumerate(said):
        is_ticked = bool(_TICKED.match(line.text))
        is_list = bool(_ITEM.match(line.text)) or (is_list and line.text.startswith("  "))
        status = None if is_list and not is_ticked else _status(said, place, own)
        if status is None:
            past = line.number + 1 if _introduces_past(line.text) else -1
        elif past >= 0 and (line.number == past or _introduces_past(said[place - 1].text)):
            past = line.number + 1
        elif not _continues_sentence(said, place) and not _is_empty_section(said, place):
            yield Bare(Mark(line.number, status, line.text, is_plain=False), names.status_name(status) in own)


def _status(said: Sequence[Line], place: int, own: Collection[str]) -> str | None:
    """The status that a line consists of."""
    text = said[place].text
    if len(text) > status_marks.LOOKED_AT or _ASIDE.search(text):
        return None
    bare = status_marks.bare(_EMOJI.sub("", status_marks.plainer(text)))
    label = _LABEL.fullmatch(bare)
    word = status_marks.bare(label["value"]) if label else bare
    status = names.status_name(word)
    is_known = status in own or _NEGATIVE.fullmatch(status)
    if is_known and _CAPITALS.fullmatch(word):
        return word
    if _NOT_YET.fullmatch(word) and _is_paragraph(said, place):
        return word
    # A small word counts where it is a paragraph: as a heading it names a section.
    return word if is_known and word.isalpha() and not label and _is_paragraph(said, place) else None


def _is_paragraph(said: Sequence[Line], place: int) -> bool:
    line = said[place]
    if _SECTION.match(line.text):
        return False
    return not any(abs(each.number - line.number) == 1 for each in said[max(place - 1, 0) : place]) and not (
        place + 1 < len(said)
        and said[place + 1].number == line.number + 1
        and not status_marks.is_plain(said[place + 1].text)
    )


def _introduces_past(text: str) -> bool:
    is_title = _SECTION.match(text) or (len(text.split()) <= _TITLE and not re.search(r"[.!?]", text))
    return bool(is_title and status_marks.is_of_past(text))


def _continues_sentence(said: Sequence[Line], place: int) -> bool:
    """Whether the word is the end, or a part, of a sentence that was wrapped before it."""
    line, before = said[place], said[place - 1] if place else None
    if before is None or before.number != line.number - 1 or len(before.text) < _WRAPPED:
        return False
    after = said[place + 1] if place + 1 < len(said) else None
    goes_on = after is not None and after.number == line.number + 1 and after.text.strip()[0].islower()
    is_end = re.search(r"[.,;!)]\s*\Z", line.text)
    return not re.search(r"[.:!?]\W*\Z", before.text) and bool(goes_on or is_end)


def _is_empty_section(said: Sequence[Line], place: int) -> bool:
    """Whether it is the heading of a section in which there is nothing, or the label of a list."""
    after = said[place + 1].text if place + 1 < len(said) else ""
    is_label = bool(re.search(r":[\s*_]*\Z", said[place].text)) and bool(_ITEM.match(after))
    return is_label or bool(_NOTHING.fullmatch(after))
