"""P15: words of guess, and the claims of completion that hold them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import hedging_words
from tests.unit.core import growth

SURE_ENGLISH = "likelihood unlikely mighty seemly probable thinking almighty maybe-later".split()
GUESS_ENGLISH = "probably maybe might perhaps possibly presumably likely seems".split()


@pytest.mark.parametrize(
    "text",
    [
        "Probably done.", "MAYBE", "it might work", "I think it is done", "I  think\tso", "It seems to work",
        "It appears to be done", "(probably)", "多分、終わりました", "たぶん完了", "おそらく修正しました",
        "動くかもしれない", "恐らく", "完了したと思います",
    ],
)  # fmt: skip
def test_p15_a_guess_is_found(text: str) -> None:
    assert hedging_words.guesses(text)


@pytest.mark.parametrize("text", [*SURE_ENGLISH, "", "It is done.", "多分野の調査", "I\nthink", "しかも完了"])
def test_p15_a_word_that_only_holds_one_is_no_guess(text: str) -> None:
    assert not hedging_words.guesses(text)


@pytest.mark.parametrize(
    ("text", "whole", "expected"),
    [
        pytest.param("It is probably done.", True, True, id="claim that guesses"),
        pytest.param("It is probably done.", False, True, id="also beside an answer"),
        pytest.param("README.mdを作成しました。たぶん完了です。", True, True, id="Japanese"),
        pytest.param("Fixed it. The cause might be the cache.", True, False, id="firm claim and a guess beside it"),
        pytest.param("Maybe.", True, True, id="nothing but a guess"),
        pytest.param("The cause might be the cache.", False, False, id="a guess within an answer"),
        pytest.param("It is done.", True, False, id="firm claim"),
        pytest.param("", True, False, id="nothing"),
    ],
)
def test_p15_a_claim_in_words_of_guess_is_seen(text: str, whole: bool, expected: bool) -> None:
    assert hedging_words.guessed_claim(text, whole=whole) is expected


@pytest.mark.parametrize(
    ("text", "hedges"),
    [
        *((text, False) for text in (
            "notes.md holds the word probably.", "Created notes.md; the file contains 'maybe'.",
            'Added the line "I think so" to notes.md.', "Created `maybe.md`.", "Created maybe.md.",
            "Wrote drafts/perhaps/seems.txt and maybe/a.md.", "Replaced probably with certainly in a.md.",
            "Replaced foo by maybe.", "Removed every perhaps from a.md.", "Removed maybe from notes.md.",
            "Created notes.md with the text maybe.", "Done. The file reads maybe.", "notes.md now says perhaps.",
            "Created a.md:\n```\nIt might rain, I think.\n```\nDone.", "Updated a.md with:\n> maybe tomorrow",
            "Renamed “probably” to “surely”.", "a.mdに「たぶん」という語を追加しました。", "「おそらく」を書きました。",
            "たぶんをきっとに置き換えました。", "a.mdにたぶんと書きました。", "たぶんという言葉を削除しました。",
            "Counted 3 occurrences of perhaps and fixed them.", "Added maybe to a.md.",
        )),
        *((text, True) for text in (
            "It is probably done.", 'It is "probably" done.', "notes.md was probably created.",
            "I think `a.md` is done.", 'I think "a.md" works.', "Maybe a.md works.",
            '"It is probably done"', "The value probably changed.", "Fixed maybe.",
            "Created a.md, maybe.", "たぶん「a.md」を作成しました。", "a.mdを作成したかもしれません。",
            "The word maybe is in a.md, and it probably works.", "Perhaps fixed:\n```\nx = 1\n```",
            "It contains probably three lines; done.",
        )),
    ],
)  # fmt: skip
def test_p15_a_word_of_guess_that_is_data_guesses_nothing(text: str, hedges: bool) -> None:
    said = hedging_words.spoken(text)
    assert hedging_words.guessed_claim(said, whole=True) is hedges, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It should be done.", True), ("notes.md should now work", True), ("Hopefully done.", True),
        ("Everything should have been created.", True), ("I'd say it is fixed.", True), ("完了したはずです。", True),
        ("修正は成功でしょう", True), ("It should be done. I expect it works.", True), ("", False),
        ("Fixed it. The tests should pass now.", False), ("Created a.md, which should be fine.", False),
        ("作成しました。動作するはずです。", False), ("It should return 5.", False), ("Done.", False),
        ("ボタンをはずしました", False), ("完了してよろしいでしょうか", False),
    ],
)  # fmt: skip
def test_p15_what_is_only_expected_is_no_firm_claim(text: str, expected: bool) -> None:
    assert hedging_words.expected_claim(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Polling started.", True), ("I started polling the job", True), ("It is still running", True),
        ("The job continues in the background.", True), ("I will notify you when it ends", True),
        ("バックグラウンドで実行中です", True), ("All done.", False), ("Polling is a technique", False), ("", False),
    ],
)  # fmt: skip
def test_p8_work_that_is_put_off_is_seen(text: str, expected: bool) -> None:
    assert hedging_words.put_off(text) is expected


def test_sentences_end_at_marks_and_lines() -> None:
    assert hedging_words.sentences("One. Two!\nThree。Four？ a.py") == ["One.", "Two!", "Three", "Four", "a.py"]  # noqa: RUF001


@given(st.sampled_from(GUESS_ENGLISH), st.text("abcxyz", min_size=1))
def test_p15_borders_of_words_count(guess: str, letters: str) -> None:
    assert (hedging_words.guesses(f"{letters} {guess} {letters}"), hedging_words.guesses(letters + guess)) == (
        True,
        False,
    )


@given(st.text(), st.booleans())
def test_p15_what_has_no_guess_is_no_guessed_claim(text: str, whole: bool) -> None:
    assert hedging_words.guesses(text) or not hedging_words.guessed_claim(text, whole=whole)


@pytest.mark.parametrize("unit", [" ", "i ", "a", "seem", "\n", ".", "。", "i think\t"])
def test_long_texts_take_linear_time(unit: str) -> None:
    assert growth.is_even(lambda text: hedging_words.guessed_claim(text, whole=True), unit, 20_000)
