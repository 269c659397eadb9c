"""Which of the files that a task mentions take the place of which: one is renamed to another, or replaced by it.

The text is read by the set phrases of the vocabulary, with its mentions blackened: U+E000 stands for each character of
one. What is replaced within a file, as in "replace a.md with b.md in index.html" or "replace the link to a.md with
b.md", is no replacement of files.

Source: seed 001, Properties 8 and 31.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import prompt_words as words

RENAMED, ARCHIVED, REPLACED, TURNED, FILLED, QUOTED = "renamed", "archived", "replaced", "turned", "filled", "quoted"
"""The old name goes in any case; goes or stays; goes unless the new one is there already; if both are of one kind; it
stays, and is filled from the new one; neither is a file that has to change."""
COPIED, SWAPPED, ENTERED, MOVED, CONVERTED = "copied", "swapped", "entered", "moved", "converted"
"""The old name stays, and is in the new folder as well; both get what the other one has, which may be one list; it is
only written into the new one, or taken out of it; it goes into the new folder; it gets another form, without a word of
its new name."""
_STAYING = (COPIED, SWAPPED, ENTERED, MOVED, CONVERTED)
_NEAR = 160
"""Characters before a phrase that are looked at."""

Span = tuple[int, int]


class Replacement(NamedTuple):
    """Names that go and names that take their place, as the bounds of both in the text.

    kind: in what way. within: where in the text a file or folder is named in which this is to happen; None where none
    is.
    """

    old: Span
    new: Span
    kind: str
    within: Span | None = None


_NAME = "(?<!\ue000)\ue000++"
_INTO = r"(?:to|into|as|with|by|for|->|=>|-->|\u2192)"
_MARKED = regex("\ue000++")
_OPENS = r"[\"'`(\[*「『]*"
_CLOSES = r"(?:[\"`)\]*」』]|'(?!s\b))*"
_CALLED = rf"(?:files?|{words.FOLDER})\s+(?:called|named)"
_ARTICLES = words.any_of("|".join(each for each in words.ARTICLES.split("|") if each not in ("called", "named")))
_LEAD = regex(rf"(?:(?<!\w)(?:(?:{_CALLED}|{_ARTICLES})\s+)+|(?:ファイル)?){_OPENS}\Z", re.IGNORECASE)
_TAIL = regex(
    rf"{_CLOSES}(?:\s+(?:{words.FOLDER}|files?)(?!\w)|(?:という(?:名前の)?)?(?:ファイル|{words.FOLDER_JA})(?!名))?",
    re.IGNORECASE,
)
_LIST = regex(rf"\ue000++(?:\s*(?:{words.any_of(words.JOINS)})\s*\ue000++)++", re.IGNORECASE)
_INTO_IT = regex(rf"\s{_INTO}\s+\Z", re.IGNORECASE)
_FROM_IT = regex(rf"\s+{_INTO}\s", re.IGNORECASE)
"""A list between both of these ends one pair and begins the next."""


def _compiled(phrases: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """The patterns of phrases; those without a blank are of a language without blanks."""
    patterns = []
    for phrase in phrases:
        spaced = " " in phrase
        pattern = phrase.replace(" ", r"\s+")
        for role in ("old", "new"):
            pattern = pattern.replace(f"{{{role}}}", f"(?P<{role}>{_NAME})" + ("" if spaced else r"\s*"))
        border = r"(?<![\w\-])" if spaced and phrase[0] not in "{\ue000" else ""
        patterns.append(regex(border + pattern, re.IGNORECASE))
    return tuple(patterns)


_PHRASES = (
    (SWAPPED, _compiled((*words.SWAPPED, *words.SWAPPED_JA))),
    (FILLED, _compiled((*words.FILLED, *words.FILLED_JA))),
    (QUOTED, _compiled((*words.QUOTED, *words.QUOTED_JA))),
    (RENAMED, _compiled((*words.RENAMED, *words.RENAMED_JA))),
    (ARCHIVED, _compiled((*words.ARCHIVED, *words.ARCHIVED_JA))),
    (REPLACED, _compiled((*words.REPLACED, *words.REPLACED_JA))),
    (TURNED, _compiled((*words.TURNED, *words.TURNED_JA))),
    (COPIED, _compiled((*words.COPIED, *words.COPIED_JA))),
    (ENTERED, _compiled((*words.ENTERED, *words.ENTERED_JA))),
    (CONVERTED, _compiled((*words.CONVERTED, *words.CONVERTED_JA))),
    (MOVED, _compiled((*words.MOVED, *words.MOVED_JA))),
)
_ARROWS = _compiled((r"{old} (?:->|=>|-->|\u2192) {new}", r"{old}(?:->|=>|-->|\u2192){new}"))
_MOVES = regex(
    rf"(?<![\w\-])(?:{words.any_of(words.MOVE)}|{words.RENAMES})(?![\w\-])|{words.MOVE_JA}", re.IGNORECASE
)
"""With one of these in the text an arrow between two names is a rename."""
_AGAIN = regex(
    rf"(?:\s*(?:[,;&]|\band\b)|\s*\n)+[ \t]*(?:[-*+]\s+)?(?P<old>{_NAME})\s+{_INTO}\s+(?P<new>{_NAME})", re.IGNORECASE
)
"""A second pair behind the first, without the verb."""
_BEFORE_JA = regex(f"(?P<old>{_NAME})(?:を|は)(?P<new>{_NAME})[にへとで]、?\\s*\\Z")
"""A pair before the one that has the verb."""
_PART_OF = regex(r"(?:\A|\W)(?:of|to|in|from|for|on|at|about|with|by|than)\s+\Z", re.IGNORECASE)
"""What makes the name behind it no subject."""
_SAID_IN = regex(
    rf"(?:(?:\A|\W)(?:in|inside|within|under|throughout|across|of)\s+(?P<en>{_NAME})[,:]?|(?P<colon>{_NAME})\s*[:\uff1a]"
    rf"|(?P<ja>{_NAME})(?:内|中|の中|のなか)?(?:の|にある|に書かれた|では|で)、?)"
    r"\s*(?:please|now|just|then|you should|we should|you must)?\s*\Z",
    re.IGNORECASE,
)
_IN_WHICH = regex(rf"\s+(?:inside|in|within|under|throughout|across|on|from)\s+(?P<name>{_NAME})", re.IGNORECASE)
_EVERYWHERE = regex(rf"\s+(?:{words.EVERYWHERE})(?!\w)", re.IGNORECASE)
_DENIED_JA = regex(f"[^。、\\n\ue000]{{0,8}}?(?:{words.DENIALS_JA})")
_ITS_PART = regex(r"['\u2019]s(?!\w)|の(?!代わり|かわり|名)|から")
_ASKS = regex(rf"\s*(?:{words.WH}|{words.ASKS_FIRST})(?![\w-])", re.IGNORECASE)


def find(text: str) -> Iterator[Replacement]:
    """Every replacement that a text speaks of, the surest first; one name may be told of by several.

    Args:
        text: the task with every mention blackened.
    """
    text = _LIST.sub(_as_one, _whole(text))
    arrows = (RENAMED, _ARROWS if _MOVES.search(text) else ())
    for kind, patterns in (*_PHRASES, arrows):
        for match in (each for pattern in patterns for each in pattern.finditer(text)):
            two = "new" in match.re.groupindex
            last = max(match.end("old"), match.end("new")) if two else match.end()
            part = _is_part(text, match) or (_ITS_PART.match(text, last) and kind not in (FILLED, SWAPPED, ENTERED))
            if part or _DENIED_JA.match(text, match.end()):
                continue
            named = QUOTED if _EVERYWHERE.match(text, last) and kind != FILLED else kind
            pairs = ((match.span("old"), match.span("new")), *_others(text, match)) if two else ()
            for old, new in pairs or ((match.span("old"), match.span("old")),):
                yield Replacement(old, new, named, _within(text, match, last))


def is_ordered(sentence: str) -> bool:
    """Whether a sentence, with its mentions blackened, orders a replacement; one that begins as a question does not."""
    kinds = {each.kind for each in find(sentence)} - {QUOTED, *_STAYING}
    return bool(kinds) and not _ASKS.match(sentence)


def _whole(text: str) -> str:
    """The text with the articles, quotes and nouns around a mention blackened with it."""
    pieces, at = [], 0
    for match in _MARKED.finditer(text):
        lead = _LEAD.search(text, max(at, match.start() - _NEAR), match.start())
        start = lead.start() if lead is not None and (lead.start() > at or not at) else match.start()
        tail = _TAIL.match(text, match.end())
        end = tail.end() if tail is not None else match.end()
        pieces += [text[at:start], "\ue000" * (end - start)]
        at = end
    return "".join((*pieces, text[at:]))


def _as_one(found: re.Match[str]) -> str:
    """A list as a single name of its length, unless it ends one pair and begins the next."""
    text, (start, end) = found.string, found.span()
    if _FROM_IT.match(text, end) and _INTO_IT.search(text, max(0, start - _NEAR), start):
        return found[0]
    return "\ue000" * len(found[0])


def _others(text: str, match: re.Match[str]) -> Iterator[tuple[Span, Span]]:
    """The pairs of names that share the verb of a match."""
    again: re.Match[str] | None = match
    while again is not None and again.end("new") > again.start("old"):
        again = _AGAIN.match(text, again.end("new"))
        if again is not None:
            yield again.span("old"), again.span("new")
    start = match.start()
    while (before := _BEFORE_JA.search(text, max(0, start - _NEAR), start)) is not None:
        yield before.span("old"), before.span("new")
        start = before.start()


def _is_part(text: str, match: re.Match[str]) -> bool:
    """Whether the name that a phrase begins with only belongs to what is spoken of, as in "the link to a.md"."""
    start = match.start()
    return text[start] == "\ue000" and _PART_OF.search(text, max(0, start - _NEAR), start) is not None


def _within(text: str, match: re.Match[str], last: int) -> Span | None:
    behind = _IN_WHICH.match(text, last)
    if behind is not None:
        return behind.span("name")
    before = _SAID_IN.search(text, max(0, match.start() - _NEAR), match.start())
    return before.span(before.lastgroup or 0) if before is not None else None
