"""Which entries of a list a task means: "the first two of these", "one of a.md and b.md", 最後の1つ以外.

The list may stand before what is said of it or behind. Where a task says how many it means and not which, all of them
are meant, unless one is enough.

Source: seed 001, Property 8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import prompt_words as words
from orchestrator.core.running.file_names import Place

_COUNT = rf"(?:{'|'.join(words.NUMBERS)}|[1-9]|couple|pair)"
WHICH = (
    rf"(?P<which>{'|'.join(words.ORDINALS)}|last|final|middle)(?:\s+(?P<count>{_COUNT}))?"
    rf"(?:\s+(?:ones?|files?|items?|entries|names?|{words.FOLDER}))?"
    rf"(?:\s+and\s+(?:the\s+)?(?P<also>{'|'.join(words.ORDINALS)}|last|final)(?:\s+(?:ones?|files?))?)?"
)
"""Which entries, as a pattern: the groups `which`, `count` and `also`."""
_BUT = (
    r"(?:(?P<but>(?<!\w)(?:all|everything|any)(?:\s+of\s+(?:these|those|them|the\s+following))?"
    r"\s+(?:but|except(?:\s+for)?|save)\s+)|(?<!\w)(?:only|just)\s+)?(?<!\w)"
)
_SOME = regex(
    rf"{_BUT}(?:the\s+)?{WHICH}\s+(?:out\s+of|of|among|from|in)\s+(?=(?:these|those|them|this"
    r"|the\s+(?:following|list|files|ones|names|\w+\s+(?:files|names)))(?!\w)|[\"'`*]*\ue000++[\"'`*]*(?:,|\s+and\s))",
    re.IGNORECASE,
)
_SOME_LED = regex(
    rf"{_BUT}the\s+{WHICH}(?=\s*:\s*(?:(?:[-*+]|\d{{1,3}}[.)])\s*)?[\"'`*]*\ue000)", re.IGNORECASE
)
"""Which of the list behind a colon."""
_SOME_SPARED = regex(
    rf"(?<![\s,]),?\s++(?P<but>(?:but\s+)?(?:not|except(?:\s+for)?|without|excluding)\s+)(?:the\s+)?{WHICH}(?=\s*(?:[.,;!\n]|\Z))",
    re.IGNORECASE,
)
"""Which of the list before are not meant."""
_SOME_JA = regex(
    r"(?:(?:。(?:この|その|これらの|それらの))?の?(?:うち|中から|なかから|中で)、?の?|の)"
    rf"(?:(?P<which>最初|はじめ|先頭|最後|末尾|真ん中|中央)の?(?:(?P<count>[1-9{words.NUMBERS_JA}])(?:つ|個|件|本))?"
    rf"|(?P<nth>[1-9{words.NUMBERS_JA}])(?:番目|つ目|個目|件目))(?:の?(?:ファイル|もの))?(?:だけ|のみ)?"
    r"(?:(?P<but>以外(?:の(?:もの|ファイル))?|を(?:除い|のぞい)て)|(?=[をはも、]|(?<=だけ)|(?<=のみ)))"
)
_SHARE = regex(
    r"(?<!\w)(?:(?P<any>any(?:\s+one)?|one|either(?:\s+one)?|at\s+least\s+one|some)"
    rf"|all(?:\s+{_COUNT})?|each|both|every\s+one|(?:any\s+)?{_COUNT})"
    r"\s+of\s+(?=these|those|them|the\s+(?:following|files\s+below))"
    r"|の?(?:うち)?の?(?P<any_ja>どちらか|いずれか|どれか)の?(?:一方|片方|[1一]つ|[1一]個)?(?=を)",
    re.IGNORECASE,
)
"""How much of a list is meant, without saying which; where one of the groups is found, one entry is enough."""
_LAST, _MIDDLE = ("last", "final", "最後", "末尾"), ("middle", "真ん中", "中央")
_COUPLES = ("couple", "pair")
_CLOSES = regex(r"[\"'`)\]*」』 ]*")
_ARTICLE = rf"(?:(?:{words.any_of(words.ARTICLES)})\s+)*"
_BETWEEN = regex(
    rf"[\"'`)\]*」』(\[「『]*\s*(?:{words.any_of(words.JOINS)}|{words.any_of(words.OR)})?"
    rf"\s*(?:(?:[-*+\u2022\u30fb]|\d{{1,3}}[.)])\s*)?{_ARTICLE}[\"'`)\]*」』(\[「『]*",
    re.IGNORECASE,
)
"""What stands between two entries of a list."""
_STOP = regex(r"(?<!\n\d)(?<!\n\d\d)[.!?](?=\s)|[。\ue000]")


class Parts(NamedTuple):
    """What a text says of lists.

    text: the text without it, as long as before. spared: the numbers of the places that are not meant.
    any_of: those of a list of which one is enough.
    """

    text: str
    spared: set[int]
    any_of: set[int]


def find(text: str, places: Sequence[Place]) -> Parts:
    """What a text, in which every mention is blackened, says of lists of its mentions."""
    spared, any_of, plain = set[int](), set[int](), text
    for pattern in (_SOME, _SOME_LED, _SOME_SPARED, _SOME_JA, _SHARE):
        for match in pattern.finditer(text):
            plain = plain[: match.start()] + " " * len(match[0]) + plain[match.end() :]
            listed = _listed(text, places, match)
            if pattern is not _SHARE:
                spared |= spared_of(match, listed)
            elif match["any"] or match["any_ja"]:
                any_of |= set(listed)
    return Parts(plain, spared, any_of)


def _listed(text: str, places: Sequence[Place], match: re.Match[str]) -> range:
    """The numbers of the places in the list that stands right before what is said of it, or else behind it."""
    first = last = sum(place.start < match.start() for place in places)
    if first and _CLOSES.fullmatch(text, places[first - 1].end, match.start()):
        first -= 1
        while first and _BETWEEN.fullmatch(text, places[first - 1].end, places[first].start):
            first -= 1
    elif last < len(places) and not _STOP.search(text, match.end(), places[last].start):
        last += 1
        while last < len(places) and _BETWEEN.fullmatch(text, places[last - 1].end, places[last].start):
            last += 1
    return range(first, last)


def spared_of(match: re.Match[str], listed: range) -> set[int]:
    """The numbers of a list that are not meant by a match of `WHICH`; none where the list is too short for it."""
    groups = match.groupdict()
    said, known = (groups["which"] or "").lower(), _number(groups["count"] or "one")
    nth = words.ORDINALS.index(said) if said in words.ORDINALS else 0
    if groups.get("nth"):
        nth = _number(groups["nth"]) - 1
    if said in _MIDDLE:
        nth = len(listed) // 2 if len(listed) % 2 and known == 1 else len(listed)
    if len(listed) < 2 or nth + known > len(listed):
        return set()
    meant = set(listed[-known:] if said in _LAST else listed[nth : nth + known])
    if groups.get("also"):
        also = groups["also"].lower()
        nth = -1 if also in _LAST else words.ORDINALS.index(also)
        meant |= {listed[nth]} if nth < len(listed) else set()
    return meant if groups.get("but") else set(listed) - meant


def _number(said: str) -> int:
    """How many a word or a digit of a text says."""
    word = said.lower()
    if word in _COUPLES:
        return 2
    return words.NUMBERS.index(word) + 1 if word in words.NUMBERS else words.NUMBERS_JA.find(word) + 1 or int(word)
