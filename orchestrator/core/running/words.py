"""Words that guess and words that claim an end, in English and Japanese, and the sentences that hold them."""

from __future__ import annotations

import re

_GUESS_ENGLISH = (
    r"probably|maybe|might|perhaps|possibly|presumably|likely|seem(?:s|ed|ingly)?|appear(?:s|ed)? to"
    r"|i (?:think|guess|believe|suppose|assume)"
)
_GUESS_JAPANESE = "たぶん|多分(?!野)|おそらく|恐らく|かもしれ|かも知れ|と思います|と思われ"
_GUESS = re.compile(rf"(?<![\w-])(?:{_GUESS_ENGLISH})(?![\w-])|{_GUESS_JAPANESE}", re.IGNORECASE)
_CLAIM_ENGLISH = (
    r"done|complet(?:e|ed|es|ely)|finish(?:ed|es)?|ready|success(?:ful|fully)?|succeed(?:s|ed)?|works?|working|worked"
    r"|pass(?:es|ed)?|fine|ok|okay|correct|created?|added|updated|changed|modified|fixed|fixes|implemented|wrote|written"
    r"|removed|deleted|renamed|resolved|solved|deployed|installed|built"
)
_CLAIM_JAPANESE = "完了|終わ|終了|でき(?:た|ま)|しました|成功|作成|追加|修正|変更|更新|実装|削除|直り|直し|動作|動き"
_CLAIM = re.compile(rf"(?<![\w-])(?:{_CLAIM_ENGLISH})(?![\w-])|{_CLAIM_JAPANESE}", re.IGNORECASE)
_LATER = re.compile(
    r"(?<![\w-])(?:polling (?:has |was )?started|started polling|(?:started|running|continues) in the background"
    r"|(?:is|are) still running|will (?:notify|report|update) (?:you )?(?:when|once))(?![\w-])"
    r"|ポーリングを?開始|バックグラウンドで(?:実行|継続)",
    re.IGNORECASE,
)
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


def put_off(text: str) -> bool:
    """Whether a text says that the work itself goes on after the executor's end, as in "polling started"."""
    return _LATER.search(_plain(text)) is not None


def _plain(text: str) -> str:
    """The text with the spaces inside phrases made one, lines kept."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))
