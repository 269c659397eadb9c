"""Orders that only hold where a file is missing or there: "create x.md unless it exists", 「old.txtがあれば削除して」.

Where the one file of a task already is as it is to be, nothing is left to do. That is only read where the set phrase of
the condition and one verb are the whole order: a second sentence, clause or verb may be about something else.

Source: seed 001, Property 8.
"""

from __future__ import annotations

import re

from orchestrator.core.lazy_regex import regex
from orchestrator.core.running import prompt_words as words
from orchestrator.core.running.order_verbs import VERB_JA, verbs

MISSING, THERE = "missing", "there"
"""The order holds where the file is missing; where it is there."""

_QUOTE = r"[\"'`*(\[「『」』)\]]{0,4}"
_ARTICLE = r"(?:(?:an?|the|any|my|our|your|this|that|new|empty|file|files|called|named)\s+)*"
"""As few as there can be, since each phrase holds them (RUN-108)."""
_NAME = rf"{_ARTICLE}{_QUOTE}(?<!\ue000)\ue000++{_QUOTE}(?:\s+(?:file|{words.FOLDER}))?"
_NAME_JA = f"{_QUOTE}(?<!\ue000)\ue000++{_QUOTE}(?:という(?:名前の)?)?(?:ファイル|{words.FOLDER_JA})?"


def _compiled(phrases: tuple[str, ...], name: str) -> re.Pattern[str]:
    joined = "|".join(phrases).replace(" ", r"\s+").replace("{name}", name)
    return regex(rf"(?<![A-Za-z0-9_-])(?:{joined})(?![A-Za-z])", re.IGNORECASE)


_CONDITIONS = (
    (MISSING, ("make",), _compiled(words.IF_MISSING, _NAME), _compiled(words.IF_MISSING_JA, _NAME_JA)),
    (THERE, ("delete",), _compiled(words.IF_THERE, _NAME), _compiled(words.IF_THERE_JA, _NAME_JA)),
)
_MORE = regex(
    rf"[.;:!?\n](?=\s*\S)|(?<!\w)(?:{words.any_of(words.ELSE)})(?!\w)|[。、\uff1b](?=.*[^\s。])|{words.ELSE_JA}",
    re.IGNORECASE,
)
_POLITE = regex(rf"(?<!\w)(?:{words.POLITE})(?!\w)", re.IGNORECASE)
_STATES = regex(rf"(?<![\w-])(?:{words.STATES_THAT})(?![\w-])", re.IGNORECASE)


def find(masked: str) -> str | None:
    """On what the whole order of a task depends: that its one file is missing, or there; None elsewhere.

    Args:
        masked: the task with every mention blackened.
    """
    text = masked.strip().rstrip(".!。 ")
    for kind, classes, *patterns in _CONDITIONS:
        found = next((match for pattern in patterns if (match := pattern.search(text))), None)
        if found is None:
            continue
        rest = f"{text[: found.start()]} {text[found.end() :].lstrip(',、 ')}"
        ordered = [each.lastgroup for each in (*verbs(rest), *VERB_JA.finditer(rest))]
        itself = _STATES.match(found[0]) is not None
        if _MORE.search(rest) or ordered != ([] if itself else list(classes)):
            return None
        return kind if not itself or not _says_more(rest) else None
    return None


def missing(masked: str) -> set[int]:
    """Where the files begin in a text of which something is ordered only if they are missing."""
    (_, _, *patterns), _ = _CONDITIONS
    found = (match for pattern in patterns for match in pattern.finditer(masked))
    return {match.start() + match[0].index("\ue000") for match in found}


def _says_more(rest: str) -> bool:
    """Whether anything of weight stands beside a phrase that is the whole order."""
    return re.search(r"[^\W\d_]{2,}", _POLITE.sub(" ", rest)) is not None
