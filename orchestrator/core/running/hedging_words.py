"""Words that guess and words that claim an end, in English and Japanese, and the sentences that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orchestrator.core.lazy_regex import regex
from orchestrator.core.running import prompt_words

_GUESS = regex(rf"(?<![\w-])(?:{prompt_words.GUESSES})(?![\w-])|{prompt_words.GUESSES_JA}", re.IGNORECASE)
_CLAIM = regex(rf"(?<![\w-])(?:{prompt_words.CLAIMS})(?![\w-])|{prompt_words.CLAIMS_JA}", re.IGNORECASE)
_EXPECT = regex(rf"(?<![\w-])(?:{prompt_words.EXPECTS})(?![\w-])|{prompt_words.EXPECTS_JA}", re.IGNORECASE)
_SHOULD = regex(rf"(?<![\w-]){prompt_words.SHOULD_BE}(?![\w-])", re.IGNORECASE)
_LATER = regex(rf"(?<![\w-])(?:{prompt_words.LATER})(?![\w-])|{prompt_words.LATER_JA}", re.IGNORECASE)
_SPOKEN_OF = regex(f"{prompt_words.SPOKEN_WORDS}|{prompt_words.SPOKEN_WORDS_JA}", re.IGNORECASE)
_QUOTED = regex(
    r"\"[^\"\n]{1,400}\"|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)|\u201c[^\u201d\n]{1,400}\u201d"
    r"|\u2018[^\u2019\n]{1,400}\u2019(?!\w)|「[^」\n]{1,400}」|『[^』\n]{1,400}』"
)
_HEDGES = regex(r"(?<!\w)(?:is|are|was|were|be|been|looks?|now|all)\s+\Z", re.IGNORECASE)
_FENCE = regex(r" {0,3}(`{3,}|~{3,})")
_SENTENCE_END = regex("(?<=[.!?])\\s|[。！？\uff01\uff1f]|\\s*\n\\s*")  # noqa: RUF001


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the blank ones; a line's end ends a sentence as well."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def guesses(text: str) -> bool:
    """Whether a text holds a guessing word, with word borders; Japanese has none.

    Source: seed 001, Property 15 and Property 39.
    """
    return _GUESS.search(_plain(text)) is not None


def guessed_claim(text: str, *, whole: bool) -> bool:
    """Whether a text claims an end in guessing words.

    One sentence that holds both a guessing and a claiming word is such a claim.

    Args:
        text: what the executor said.
        whole: whether the whole text is the claim, so that a guess beside no firm claim counts as well.

    Source: seed 001, Property 15.
    """
    guessing = [part for part in sentences(_plain(text)) if _GUESS.search(part)]
    if any(_CLAIM.search(part) for part in guessing):
        return True
    return whole and bool(guessing) and _CLAIM.search(_plain(text)) is None


def expected_claim(text: str) -> bool:
    """Whether a text claims an end only as what is expected, as in "it should be done"; a firm claim beside it counts.

    Source: seed 001, Property 15.
    """
    parts = sentences(_plain(text))
    firm = [_SHOULD.sub("", part) for part in parts if not _EXPECT.search(part)]
    return firm != parts and _CLAIM.search("\n".join(parts)) is not None and _CLAIM.search("\n".join(firm)) is None


def spoken(text: str) -> str:
    """A text without the words that it quotes or speaks of, which are data; where no other word is left, as it is.

    A block of code, a quoted line, what stands in quotation marks, and words such as in "holds the word probably". A
    quoted word right between a verb and a claim (`it is "probably" done`) hedges all the same.

    Source: seed 001, Property 15.
    """
    unquoted = _QUOTED.sub(_blackened, "\n".join(_without_blocks(text.split("\n"))))
    kept = _SPOKEN_OF.sub(lambda found: _GUESS.sub(_DATA, found[0]), unquoted)
    return kept if re.search(r"[^\W_]", kept.replace(_DATA, "")) else text


_DATA = "\ue000"
"""Stands for words that are data."""


def _without_blocks(lines: Iterable[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not line.strip(" `~") else fence
            yield _DATA
        elif mark:
            fence = mark[1]
            yield _DATA
        else:
            yield _DATA if line.lstrip().startswith(">") else line


def _blackened(quoted: re.Match[str]) -> str:
    text, start = quoted.string, quoted.start()
    hedges = _GUESS.fullmatch(quoted[0][1:-1].strip()) and _HEDGES.search(text, max(0, start - 10), start)
    if hedges and _CLAIM.match(text, quoted.end() + 1):
        return quoted[0]
    return f"{quoted[0][0]}{_DATA}{quoted[0][-1]}"


def put_off(text: str) -> bool:
    """Whether a text says that the work itself goes on after the executor's end, as in "polling started"."""
    return _LATER.search(_plain(text)) is not None


def _plain(text: str) -> str:
    """The text with the spaces inside phrases made one, lines kept."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))
