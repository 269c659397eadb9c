"""Words that guess and words that claim an end, in English and Japanese, and the sentences that hold them."""

from __future__ import annotations

import re

from orchestrator.core.running import vocabulary

_GUESS = re.compile(rf"(?<![\w-])(?:{vocabulary.GUESSES})(?![\w-])|{vocabulary.GUESSES_JA}", re.IGNORECASE)
_CLAIM = re.compile(rf"(?<![\w-])(?:{vocabulary.CLAIMS})(?![\w-])|{vocabulary.CLAIMS_JA}", re.IGNORECASE)
_EXPECT = re.compile(rf"(?<![\w-])(?:{vocabulary.EXPECTS})(?![\w-])|{vocabulary.EXPECTS_JA}", re.IGNORECASE)
_SHOULD = re.compile(rf"(?<![\w-]){vocabulary.SHOULD_BE}(?![\w-])", re.IGNORECASE)
_LATER = re.compile(rf"(?<![\w-])(?:{vocabulary.LATER})(?![\w-])|{vocabulary.LATER_JA}", re.IGNORECASE)
_SENTENCE_END = re.compile("(?<=[.!?])\\s|[。！？\uff01\uff1f]|\\s*\n\\s*")  # noqa: RUF001


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


def put_off(text: str) -> bool:
    """Whether a text says that the work itself goes on after the executor's end, as in "polling started"."""
    return _LATER.search(_plain(text)) is not None


def _plain(text: str) -> str:
    """The text with the spaces inside phrases made one, lines kept."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))
