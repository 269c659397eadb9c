"""The verbs by which tasks order, by class, in both languages: to delete, clean, move, make, change.

A verb of the lists that stands as a noun ("the change") is none. What is done to a name is told by the nearest one.
"""

from __future__ import annotations

import re

from orchestrator.core.lazy_regex import regex
from orchestrator.core.running import prompt_words as words

EDGE = r"(?<![\w.\-/])"


def verb_of(*lists: str, japanese: str = "") -> re.Pattern[str]:
    """A pattern of the verbs of some lists."""
    return regex(rf"{EDGE}(?:{words.any_of('|'.join(lists))})(?![\w\-]){japanese}", re.IGNORECASE)


CLASSES = (
    ("delete", words.DELETE, words.DELETE_JA), ("clean", words.CLEAN, words.CLEAN_JA),
    ("move", words.MOVE, words.MOVE_JA),
    ("make", words.MAKE, words.MAKE_JA),
    ("change", f"{words.CHANGE}|{words.COPY}", f"{words.CHANGE_JA}|{words.COPY_JA}"),
)  # fmt: skip
VERBS = "|".join(f"(?P<{name}>{words.any_of(english)})" for name, english, _ in CLASSES)
VERB = regex(rf"{EDGE}(?:{VERBS})(?![\w\-])", re.IGNORECASE)
VERB_JA = regex(
    "|".join(f"(?P<{name}>{ja})" for name, _, ja in sorted(CLASSES, key=lambda each: each[0] != "change") if ja)
)
NOUN = regex(rf"\b{words.NOUNS}\s+\Z", re.IGNORECASE)
RENAMES = regex(rf"(?<!\w)(?:{words.RENAMES})(?!\w)|{words.RENAMES_JA}", re.IGNORECASE)
DENIED_BEFORE = regex(
    rf"(?<!\w)(?!(?:{words.any_of(words.NO_DENIALS)})(?!\w))(?:{words.any_of(words.DENIALS)})(?!\w)[^.,;\n]{{0,40}}\Z",
    re.IGNORECASE,
)
"""What denies the verb behind it."""
_ARTICLES = frozenset(words.ARTICLES.split("|"))
_PLACES = frozenset(words.PLACES.split("|"))


def verbs(text: str) -> list[re.Match[str]]:
    """The verbs of a text that are not nouns."""
    return [each for each in VERB.finditer(text) if not NOUN.search(text, max(0, each.start() - 12), each.start())]


def is_object(between: str) -> bool:
    """Whether what follows these words is what the verb before them is about: no preposition, few words, no turn."""
    said = [word for word in re.findall(r"[^\W\d_][\w'-]*", between.lower()) if word not in _ARTICLES]
    return _PLACES.isdisjoint(said) and len(said) <= 2 and not (said and re.search(r"[:,\n]", between))
