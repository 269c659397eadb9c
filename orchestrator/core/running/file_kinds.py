"""Which kinds of files a task orders something of by a common word: "all logs", "every markdown file", 一時ファイル.

A kind is meant where it is the object of a verb that deletes, moves, copies or converts; of a verb that makes or
changes only where each file of it is named. Each file has to be dealt with where the task says so ("all", "both"), or
spares one ("except README.md"); where anything else is said of them ("old", "older than a week") one is enough.

Source: seed 001, Property 8.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import file_names
from orchestrator.core.running import prompt_words as words
from orchestrator.core.running.file_names import Place
from orchestrator.core.running.order_verbs import DENIED_BEFORE, RENAMES, VERB_JA, is_object, verb_of, verbs

DELETE, CLEAN, MOVE, COPY, CONVERT, CHANGE, KEEP = "delete", "clean", "move", "copy", "convert", "change", "keep"


class Kind(NamedTuple):
    """A kind of file of which something is ordered.

    said: its word. patterns: which files that are. verb: what is ordered. whole: whether each of them is meant.
    within: the number of the place that names the folder in which they are; None where none is named.
    """

    said: str
    patterns: tuple[str, ...]
    verb: str
    whole: bool
    within: int | None = None


_KINDS = tuple(
    (regex(rf"(?<![A-Za-z0-9_.\-/])(?:{words.any_of(group)})(?![A-Za-z0-9_\-/])", re.IGNORECASE), globs)
    for group, globs in words.GROUPS
)
_QUOTE = r"[\"'`)\]*」』(\[「『]*"
_ARTICLE = rf"(?:(?:{words.any_of(words.ARTICLES)})\s+)*"
_COUNT = rf"(?:{'|'.join(words.NUMBERS[1:])}|[2-9])"
_EACH = regex(
    rf"(?<!\w)(?:(?:{words.any_of(words.ALL_OF)})(?:\s+(?:the|my|our|these|those))?(?:\s+(?:other|remaining))?"
    rf"(?:\s+{_COUNT})?|(?:the|these|those)\s+{_COUNT}|(?:the|all)\s+other|any|no)\s+"
    rf"(?:(?:[a-z]+\s+files?\s*(?:,|and|or)\s*){{1,4}})?\Z|(?:(?:{words.ALL_OF_JA})の|全|各)\Z",
    re.IGNORECASE,
)
_THE = regex(r"(?:\A|(?<!\w)(?:the|these|those|our|my))\s+\Z|[^\x00-\x7f]\Z|\A\Z", re.IGNORECASE)
"""Where no word is said of the files of a kind before it."""
_EACH_JA = regex(
    r"(?:[とや、][^。、\s]{1,12}?ファイル){0,4}[はを]?、?(?:\ue000+[」』`]?を除いて、?)?(?:[一ひ1]つも?残さ(?:ず|ないで)、?)?"
    rf"(?:{words.ALL_OF_JA}|[0-9二三四五]つとも|両方(?:とも)?|どちらも)"
)
_SPARES = regex(
    rf"[,;]?\s+\(?(?:(?:please|but)\s+)?(?:{words.any_of(words.EXCEPTIONS)}|but|save|keep|leave)\s+{_ARTICLE}{_QUOTE}\ue000",
    re.IGNORECASE,
)
_SPARES_JA = regex(rf"\ue000[」』`]?(?:以外|を除[いくき])(?:の|て、?|、)?(?:(?:{words.ALL_OF_JA}|他)の)?\Z")
_ENDS = regex(
    r"\s*(?:[.,;!?)]|\Z|\n|(?:please|now|and|should|must|have to|need to|can|left|remain|go|goes|belongs?)\b"
    r"|[、。をはもとや]|(?=[\u4e00-\u9fff]))",
    re.IGNORECASE,
)
"""That nothing else is said of them: logs older than a week are not all."""
_IN = regex(
    rf"\s+(?:(?:that|which)\s+(?:are|lie)\s+)?(?:in|from|inside|under|below|within)\s+{_ARTICLE}{_QUOTE}(?=\ue000)",
    re.IGNORECASE,
)
_IN_JA = regex(
    f"\ue000[」』`]?(?:{words.FOLDER_JA})?(?:内|の中|配下|以下|直下|にある)?の?(?:(?:{words.ALL_OF_JA})の|全|各)?\\Z"
)
_TO = regex(
    rf"\s+(?:(?:in)?to|in|under|as|with|by)\s+(?:{_ARTICLE}{_QUOTE}\ue000|[\w*.]+(?:\s+[\w*.]+){{0,3}}\s*(?:[.,;!]|\Z))"
    r"|に\S{0,8}(?:移|変換|コピー)",
    re.IGNORECASE,
)
_SENTENCE = regex(r"[.!?](?=\s)|[\n。;]")
_DELETES = verb_of(words.DELETE, words.CLEAN, japanese=f"|{words.DELETE_JA}|片付け|クリア")
_PASSIVE = regex(
    rf"\s+(?:{words.any_of(words.PASSIVES)}|must|can)\s+(?:(?:all|both|now)\s+)*(?:be\s+)?"
    r"(?:(?P<delete>deleted|removed|erased|gone|go)|(?P<move>moved))(?!\w)",
    re.IGNORECASE,
)
_GOES_ON = regex(r"\s+(?:can|may|have|are|were|left|remain|remaining)(?!\w)", re.IGNORECASE)
_BELONGS = regex(
    rf"\s+(?:(?:should|must|all)\s+)*(?:go(?:es)?|belongs?)\s+(?:to|into|in|under)\s+{_ARTICLE}{_QUOTE}\ue000",
    re.IGNORECASE,
)
_OF = regex(r"(?<!\w)(?:of|for|about|with)(?!\w)", re.IGNORECASE)
"""What makes a kind that of which something else is made."""
_NONE = regex(r"(?<!\w)no\s+\Z", re.IGNORECASE)
_REMAIN = regex(rf"\s+{words.REMAIN}(?!\w)", re.IGNORECASE)
_PUTS = regex(rf"(?:{words.PUTS})\Z", re.IGNORECASE)
_COPIES = regex(rf"(?:{words.DUPLICATES}|{words.DUPLICATES_JA})\Z", re.IGNORECASE)
_CONVERTS = regex(rf"(?:{words.CONVERTS}|{words.CONVERTS_JA})\Z", re.IGNORECASE)
_TIDIES_JA = regex(f"{words.TIDY_JA}|整理|掃除")
_PUTS_JA = regex(f"\ue000[」』`]?(?:{words.FOLDER_JA})?[にへ](?:{words.PUTS_JA})")
_ABOUT = regex(rf"(?<!\w)(?:{words.ONLY_ABOUT})(?!\w)|{words.ONLY_ABOUT_JA}", re.IGNORECASE)
_KEEPS = regex(
    rf"(?<!\w)(?:without|not|avoid|never)\s+(?:{words.any_of(words.DELETING)})\s+(?:(?:any|all|the)\s+)*\Z",
    re.IGNORECASE,
)
_KEEPS_JA = regex(
    f"[をはも](?:すべて|全て|全部)?(?:(?:{words.DELETE_JA})?\\S{{0,2}}?(?:{words.DENIALS_JA})|残)"
    f"|以外(?!は?\\S{{0,4}}?(?:{words.DENIALS_JA}))"
)
_SPEAKS = regex(
    rf"(?<!\w)(?:how\s+to|that|which|who|(?:{words.ONLY_ABOUT})\s+(?:to|for))\s+(?:\w+\s+){{0,2}}\Z", re.IGNORECASE
)
"""What speaks of an order, which is none then."""
_SPEAKS_JA = regex("する(?!こと|[。、\\s]|\\Z)|され|した(?!い)|してい")
_NEAR, _TRIED = 240, 40
"""Characters before and behind a kind that are looked at; how often it is looked for."""
_MOST = 40
"""Characters between a verb and a kind of file that it may be about."""


class _Order(NamedTuple):
    """What is ordered by the verb of a kind, and whether the kind is its object."""

    verb: str
    direct: bool


def find(masked: str, places: Sequence[Place]) -> Iterator[Kind]:
    """The kinds of files of which something is ordered, each once.

    Args:
        masked: the task with every mention blackened.
    """
    for pattern, globs in _KINDS:
        said = (each for each in itertools.islice(pattern.finditer(masked), _TRIED) if _is_named(masked, each.end()))
        found = next((read for each in said if (read := _read(masked, each, globs, places))), None)
        if found is not None:
            yield found


def _is_named(masked: str, end: int) -> bool:
    """Whether the word is not a part of a longer term."""
    return any(each.match(masked, end) for each in (file_names.NEXT_WORD, _SPARES, _GOES_ON, _BELONGS))


def _read(masked: str, kind: re.Match[str], globs: tuple[str, ...], places: Sequence[Place]) -> Kind | None:
    """What is ordered of the files of a kind, by the sentence around its word."""
    near = max(0, kind.start() - _NEAR)
    start = max((end.end() for end in _SENTENCE.finditer(masked, near, kind.start())), default=near)
    stop = _SENTENCE.search(masked, kind.end(), kind.end() + _NEAR)
    before, after = masked[start : kind.start()], masked[kind.end() : stop.start() if stop else kind.end() + _NEAR]
    each = _EACH.search(before)
    said = before[: each.start()] if each else before
    if _KEEPS.search(before) or _KEEPS_JA.match(after):
        return Kind(kind[0], globs, KEEP, True)
    if after.startswith("以外"):
        return None
    order = _order(before if _NONE.search(before) else said, after)
    if order is None and _DELETES.search(masked):
        order = _Order(DELETE, True)
    if order is None or order.verb == KEEP:
        return Kind(kind[0], globs, KEEP, True) if order and order.direct else None
    spares = _SPARES.match(after) or _SPARES_JA.search(before)
    every = each is not None or spares is not None or _EACH_JA.match(after) is not None
    if not order.direct or order.verb == CHANGE:
        some = every or (_THE.search(before) is not None and not order.direct)
        return Kind(kind[0], globs, CHANGE, False) if some and not _ABOUT.search(said[-_MOST:]) else None
    into = _TO.match(after) or _BELONGS.match(after)
    goes = into and order.verb == MOVE and not _IN.match(after)
    within = None if goes else _within(before, after, start, kind, places)
    travels = order.verb in (MOVE, COPY, CONVERT)
    ends = bool(_ENDS.match(after) or within is not None or (travels and into))
    renames = order.verb == MOVE and RENAMES.search(before) is not None
    whole = bool(spares) or (ends and not renames and (every or (travels and _THE.search(before) is not None)))
    return Kind(kind[0], globs, order.verb, whole, within)


def _order(before: str, after: str) -> _Order | None:
    """What is ordered by the nearest verb before a kind, or else behind it; None where there is none."""
    known = verbs(before)
    if known:
        first = before[: known[-1].start()]
        if DENIED_BEFORE.search(first) or _SPEAKS.search(first):
            keeps = known[-1].lastgroup in (DELETE, MOVE) and not _SPEAKS.search(first)
            return _Order(KEEP, keeps and is_object(before[known[-1].end() :]))
        between = before[known[-1].end() :]
        verb = _class(known[-1], after)
        if known[-1].lastgroup == "make" and _OF.search(between):
            return _Order(KEEP, False)
        return _Order(verb, is_object(between)) if len(between) <= _MOST else None
    if _BELONGS.match(after):
        return _Order(MOVE, True)
    if _NONE.search(before) and _REMAIN.match(after):
        return _Order(DELETE, True)
    passive = _PASSIVE.match(after)
    if passive:
        return _Order(passive.lastgroup or "", True)
    put = _PUTS_JA.search(after)
    found = VERB_JA.search(after)
    if put and (found is None or put.end() >= found.start()):
        return _Order(MOVE, True)
    if found is None:
        return None
    if _SPEAKS_JA.match(after, found.end()):
        return _Order(KEEP, False)
    return _Order(_class(found, after), not after.startswith(("の", "に", "から", "へ", "内")))


def _class(verb: re.Match[str], after: str) -> str:
    if _COPIES.match(verb[0]):
        return COPY
    if _CONVERTS.match(verb[0]):
        return CONVERT
    if _PUTS.match(verb[0]) and _TO.match(after):
        return MOVE
    if _TIDIES_JA.match(verb[0]):
        return CLEAN
    return verb.lastgroup if verb.lastgroup in (DELETE, CLEAN, MOVE) else CHANGE


def _within(before: str, after: str, start: int, kind: re.Match[str], places: Sequence[Place]) -> int | None:
    """The number of the place that names the folder in which the files are."""
    found = _IN.match(after)
    if found is not None:
        at = kind.end() + found.end()
        return next((number for number, place in enumerate(places) if place.start == at), None)
    found = _IN_JA.search(before)
    at = start + found.start() if found is not None else -1
    return next((number for number, place in enumerate(places) if place.start <= at < place.end), None)
