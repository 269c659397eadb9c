"""Which type a task has: given by the caller, or told by its words, destructive ones first. Unsure is READ_INFO.

A sentence orders where it holds a word of the lists that orders and no word that asks before it, or where a clause of
it begins with the first; it asks where it holds only the second. Where words of both kinds cannot be told apart, and
where no list knows a word of the task, the type is a guess, and what was changed decides what it is judged as.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from orchestrator.core import task_types
from orchestrator.core.lazy_regex import regex
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import shown
from orchestrator.core.running import ambiguity, mentions, prompt_words, renamed_files, tests_exist
from orchestrator.core.running import prompt_words as words
from orchestrator.core.running.file_names import NOTHING, Tree
from orchestrator.core.running.mention_outcomes import MADE
from orchestrator.errors import UsageError


def _words(english: str, japanese: str = "") -> re.Pattern[str]:
    return regex(rf"(?<![\w-])(?:{english})(?![\w-]|\.\w){f'|{japanese}' if japanese else ''}", re.IGNORECASE)


_REPORT = _words(words.REPORT, words.REPORT_JA)
_NO_REPORT = _words(words.NO_REPORT, words.NO_REPORT_JA)
_REVIEW = regex(f"{words.REVIEW}|{words.REVIEW_JA}", re.IGNORECASE)
_CONFIG = regex(rf"(?<![\w-])(?:{words.CONFIG})(?![\w-])|{words.CONFIG_NAMES}", re.IGNORECASE)
_LIGHT = _words(f"{words.LIGHT}|{words.SED}", words.LIGHT_JA)
_ORDERS = "|".join((words.MAKE, words.CHANGE, words.DELETE, words.CLEAN, words.MOVE, words.COPY, words.ORDERS_TOO))
_ORDER = _words("|".join(sorted(_ORDERS.split("|"), key=len, reverse=True)))
_ASKS = _words(words.ASKS)
_WH = _words(words.WH)
_PROPOSES = regex(rf"(?:{words.PROPOSES})(?!\w)", re.IGNORECASE)
_LISTED = regex(words.LISTED, re.IGNORECASE)
_WISHES = regex(words.WISHES, re.IGNORECASE)
_BEGS = regex(rf"(?<!\w)(?:{words.BEGS})", re.IGNORECASE)
_GOVERNS = _words(words.GOVERNS)
_LEADS = regex(
    rf"\s*(?:(?:[-*+]|\d{{1,3}}[.)]|todo:?|task:?|step \d+:?)\s+)?(?:(?:{words.POLITE})[\s,:]+){{0,8}}", re.IGNORECASE
)
_CONDITION = regex(words.CONDITION, re.IGNORECASE)
_JOIN = regex(
    r"(?P<colon>:\s+)|,\s+(?:(?:and|then|but|or)\s+)?|\s+-\s+|\s+(?:and|then|but|or|&)\s+", re.IGNORECASE
)
_CAN_YOU = regex(r"(?<!\w)(?:can|could|would|will) (?:you|someone|somebody|anyone)\b", re.IGNORECASE)
_OBJECT = regex(
    rf"\s+(?:(?:only|just)\s+)?(?:(?:in)?to\s+)?(?:(?:{words.DETERMINERS})(?![\w-])|[\"'`(\ue000]|what\b)",
    re.IGNORECASE,
)
_NOUN = regex(rf"(?<!\w){words.NOUNS}\s+\Z", re.IGNORECASE)
_SENTENCE = regex("(?<=[.!?])\\s+|[。！;；\n]|(?<=[？\uff1f])|,?\\s+(?:and\\s+)?then\\s+")  # noqa: RUF001
_ORDER_JA = regex(
    rf"(?:{words.MAKE_JA}|{words.CHANGE_JA}|{words.DELETE_JA}|{words.CLEAN_JA}|{words.MOVE_JA}|{words.COPY_JA}|{words.SET_JA}|[A-Za-z0-9]){words.ORDER_JA}"
)
_ASKS_JA = regex(f"{words.ASKS_JA}|か[。？?]?\\Z")  # noqa: RUF001
_POLITE_JA = regex(words.POLITE_JA)
_CUT_JA = regex(
    f"[、,]|(?<=て)\\s+|(?:(?<=調べて)|(?<=見つけて)|(?<=確認して))(?={words.MAKE_JA}|{words.CHANGE_JA}|{words.DELETE_JA})"
)
_JAPANESE = regex("[\u3040-\u30ff\u3400-\u9fff]")
_QUESTION = regex("[?\uff1f][\"')\\]」]*\\s*\\Z")
_END = regex(r"[\s.!]*\Z")
_ORDERED, _MIXED, _ASKED = "ordered", "mixed", "asked"


class Settled(NamedTuple):
    """The type of a task, and whether it is but a guess, since no word of the task tells it."""

    type: str
    guessed: bool = False


def check(value: object) -> str:
    """A task type as it was given; any other value is refused.

    Raises:
        UsageError: INVALID_TASK_TYPE; data ``allowed``.
    """
    if isinstance(value, str) and value in task_types.TYPES:
        return value
    raise UsageError(
        "INVALID_TASK_TYPE",
        f"{shown(value)} is not a task type.",
        f"Use one of: {', '.join(task_types.TYPES)}",
        allowed=list(task_types.TYPES),
    )


def settle(given: str | None, text: str, tree: Tree = NOTHING) -> Settled:
    """The type that the caller gave, checked, or else the one that the words of the task show.

    Args:
        tree: what of the files that the text names is there; a list in one that is not may be asked for or ordered.
    """
    if given is not None:
        return Settled(check(given))
    told = _told(text)
    asks = told.type == task_types.READ_INFO and not told.guessed
    listed = asks and any(_LISTED.match(_LEADS.sub("", each, 1)) for each in mentions.sentences(text))
    missing = listed and any(each.kind == MADE for each in mentions.find(text, tree))
    return told._replace(guessed=True) if missing else told


def detect(text: str) -> str:
    """The type of a task by its English or Japanese words: the first of the ordered tests that holds.

    Destructive operations come first, then words for reports, questions, and verbs of making and changing.

    Source: seed 000, INV-2; seed 001, Property 8.
    """
    return _told(text).type


def _told(text: str) -> Settled:
    if is_destructive(text):
        return Settled(task_types.DANGEROUS_OP)
    if ambiguity.goes_on(text):
        # Whatever it goes on with is work, so that no answer alone completes it.
        return Settled(task_types.LIGHT_EDIT)
    plain = collapsed(text)
    parts = [part for each in mentions.sentences(text) for part in _SENTENCE.split(each) if part.strip(" .!?")]
    sentences = [kind for part in parts if (kind := _kind(part))]
    if _REPORT.search(plain) and not _NO_REPORT.search(plain):
        return Settled(task_types.REPORT)
    if _REVIEW.search(plain) and _ORDERED in sentences:
        return Settled(task_types.REVIEW_RESPONSE)
    if _ORDERED in sentences:
        return Settled(_edit(plain, parts))
    if _MIXED in sentences:
        return Settled(task_types.READ_INFO, guessed=True)
    return Settled(task_types.READ_INFO, guessed=not sentences or len(sentences) < len(parts))


def _kind(sentence: str) -> str:
    """What a sentence does: it orders, it asks, it may do either, or no list knows."""
    if _JAPANESE.search(sentence):
        kinds = {_kind_ja(clause) for clause in _CUT_JA.split(sentence)}
        found = next((kind for kind in (_ORDERED, _ASKED) if kind in kinds), "")
        if found:
            return found
    said = _LEADS.sub("", _CONDITION.sub("", _LEADS.sub("", sentence, 1), 1), 1)
    question = _QUESTION.search(sentence) is not None and not _CAN_YOU.search(sentence)
    if _BEGS.search(sentence) or (not question and (renamed_files.is_ordered(said) or tests_exist.are_to_pass(said))):
        return _ORDERED
    order = next((each for each in _ORDER.finditer(said) if not _NOUN.search(said[: each.start()])), None)
    asks = next((each for each in _ASKS.finditer(said) if not _NOUN.search(said[: each.start()])), None)
    if not question and _WISHES.search(said) and not (asks and asks.start() == 0):
        return _ORDERED
    if _PROPOSES.match(said):
        return _MIXED
    if order is None:
        return _ASKED if question or (asks and asks.start() == 0) else ""
    if asks is None or order.start() <= asks.start():
        return _MIXED if question else _ORDERED
    return _behind_a_question(said, order, question=question)


def _behind_a_question(said: str, order: re.Match[str], *, question: bool) -> str:
    """What a sentence does in which words that ask come first: a clause behind them may order."""
    leads = [(join, _LEADS.match(said, join.end())) for join in _JOIN.finditer(said)]
    begins = [(lead, found) for _, lead in leads if lead and (found := _ORDER.match(said, lead.end()))]
    if any(_CAN_YOU.search(lead[0]) for lead, _ in begins):
        return _ORDERED
    governed = _GOVERNS.search(said[: order.start()]) is not None
    if not begins:
        return _ASKED if question or governed or _ASKS.match(said) else ""
    if question and _WH.match(said):
        return _ASKED
    firm = any(_OBJECT.match(said, found.end()) for _, found in begins)
    # "README.md is broken: repair" has its object before the colon.
    firm = firm or any(join["colon"] and "\ue000" in said[: join.start()] and _END.match(said, found.end())
                       for join, lead in leads if lead and (found := _ORDER.match(said, lead.end())))  # fmt: skip
    return _ORDERED if firm and not (governed or question) else _MIXED


def _kind_ja(clause: str) -> str:
    said = _POLITE_JA.sub("て", clause)
    if _ASKS_JA.search(said):
        return _ASKED
    return _ORDERED if _ORDER_JA.search(said) or tests_exist.are_to_pass(said) else ""


def _edit(text: str, sentences: Sequence[str]) -> str:
    if _CONFIG.search(text):
        return task_types.CONFIG_CI_CHANGE
    light = _LIGHT.search(text) or any(map(renamed_files.is_ordered, sentences))
    return task_types.LIGHT_EDIT if light else task_types.IMPLEMENTATION


_DESTRUCTIVE = regex(
    rf"(?<![\w.-])(?:{'|'.join(prompt_words.DESTRUCTIVE_COMMANDS)})(?![\w-])"
    rf"|(?<![\w.-])(?:{'|'.join(prompt_words.DESTRUCTIVE_PHRASES)})|{'|'.join(prompt_words.DESTRUCTIVE_JA)}",
    re.IGNORECASE,
)
_PRECIOUS = regex(prompt_words.PRECIOUS, re.IGNORECASE | re.ASCII)
# Whether a branch is deleted by force is a matter of case.
_BRANCH = regex(rf"(?<![\w.-]){prompt_words.GIT}branch\s+(?:\S+\s+){{0,3}}?-[a-zA-Z]*D")


def collapsed(text: str) -> str:
    """Full-width letters made plain and runs of whitespace one space, so that they hide nothing."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def is_destructive(text: str) -> bool:
    """Whether a text names a destructive operation, or a file or path that only a person may have touched."""
    # A line's end ends a phrase, and is a mere blank within a command.
    forms = dict.fromkeys((collapsed(text), collapsed(" ; ".join(text.splitlines()))))
    return any(pattern.search(form) for form in forms for pattern in (_DESTRUCTIVE, _PRECIOUS, _BRANCH))
