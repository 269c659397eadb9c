"""Keys that are broken by what a terminal does not show are masked, and all else stays as it was written."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import (
    masking,
    masking_hidden,
    masking_letters,
    masking_patterns,
    masking_prefilter,
    masking_stream,
    masking_tables,
)
from tests.cases import every
from tests.conftest import LONG

KEY = "sk-ant-api03-QQQQBBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKKK"
RED, OFF, CLEAR = "\x1b[31m", "\x1b[0m", "\x1b[2K"
LINK = "\x1b]8;;https://example.com\x1b\\"
TOKEN = "[MASKED:ANTHROPIC_KEY]"  # noqa: S105 - it stands for one
UNSEEN = {
    "colour": OFF,
    "many colours": f"{RED}{OFF}{RED}",
    "colours of numbers": "\x1b[38;2;10;20;30m",
    "clearing": CLEAR,
    "link": LINK,
    "title": "\x1b]0;title\x07",
    "single letter": "\x1b7",
    "one byte": "\x9b0m",
    "bell": "\x07",
    "nothing": "\x00",
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "direction": "\u202e",
    "variation": "\ufe0f",
    "many intermediates": "\x1b[1;2 !\"#$%&'()m",
    "many intermediates without numbers": "\x1b !\"#$%&'()F",
    "many numbers": f"\x1b[{'1;' * 100}m",
    "controls within a code": "\x1b[3\x071m",
    "a code that is cancelled": "\x1b[3\x18",
    "a code cut by another": "\x1b[3\x1b[0m",
    "link of eight bits": "\x9d8;;https://example.com\x9c",
    "title cut by a colour": "\x1b]0;title\x1b[0m",
    "title that is cancelled": "\x1b]0;title\x1a",
    "long title": f"\x1b]0;{'t' * 3000}\x07",
    "device control": "\x1bP1$r0m\x1b\\",
    "device control of eight bits": "\x901$r0m\x9c",
    "application command": "\x1b_G a=1\x1b\\",
    "privacy message": "\x1b^x\x9c",
    "start of string": "\x98x\x1b\\",
    "colour, spelt out by a shell": r"\033[1;31m",
    "colour, spelt out by a script": r"\e[0m",
    "colour, spelt out in carets": "^[[31m",
    "character set, spelt out": r"\x1b(B",
    "title, spelt out": r"\x1b]0;title\x07",
    "link, spelt out": r"\x1b]8;;x\x1b\\",
    "colour, spelt out": r"\x1b[31m",
    "colour, spelt out in JSON": r"\u001b[0m",
    "zero-width space, spelt out": r"\u200b",
    "colour, spelt out in four octal digits": r"\0033[1m",
    "colour, spelt out in two octal digits": r"\33[1m",
    "colour, spelt out by name": r"\N{ESC}[31m",
    "colour, spelt out by its whole name": r"\N{ESCAPE}[0m",
    "colour, spelt out as a control key": r"\c[[0m",
    "colour, spelt out in braces": r"\u{1b}[0m",
    "colour, spelt out in braces with zeros": r"\u{001B}[0m",
    "colour, spelt out in braces of Perl": r"\x{1b}[0m",
    "colour, spelt out in eight digits": r"\U0000001b[0m",
    "colour, spelt out twice": r"\\u001b[0m",
    "cursor kept, spelt out": r"\e7",
    "cursor moved, spelt out": r"\x1bM",
    "keypad, spelt out": r"\033=",
    "control, spelt out in octal": r"\0",
    "bell, spelt out in octal": r"\007",
    "zero-width space, spelt out in braces": r"\u{200b}",
    "zero-width space, spelt out by name": r"\N{ZERO WIDTH SPACE}",
    "word joiner, spelt out in eight digits": r"\U00002060",
    "tag": "\U000e0041",
    "annotation": "\ufff9",
}


def masked(
    text: str, size: int = 0, *, secrets: tuple[str, ...] = (), keys_only: bool = True, cut: bool = False
) -> str:
    stream = masking_stream.Stream(secrets, keys_only=keys_only)
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    return "".join([*map(stream.feed, pieces), stream.close(cut)])


@every("size", [0, 1, 3, 7] if LONG else [0, 1])
@every("unseen", UNSEEN.values(), ids=UNSEEN)
@every("at", [2, 3, 8, 20, len(KEY) - 1] if LONG else [3, len(KEY) - 1])
def test_a_key_is_masked_wherever_it_is_broken(unseen: str, at: int, size: int) -> None:
    broken = f"{KEY[:at]}{unseen}{KEY[at:]}"
    assert masked(f"{RED}key{OFF} {broken} and{RED}\n", size) == f"{RED}key{OFF} {TOKEN} and{RED}\n"


@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_key_that_is_broken_everywhere_is_one(size: int) -> None:
    assert masked(f"a {OFF.join(KEY)} b", size) == f"a {TOKEN} b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"word{RED}{KEY}{OFF}", f"word{RED}{TOKEN}{OFF}"),
        (f"{RED}{KEY}{OFF} done", f"{RED}{TOKEN}{OFF} done"),
        (f"{KEY}{OFF} {KEY[:9]}{RED}{KEY[9:]}", f"{TOKEN}{OFF} {TOKEN}"),
        (f"\x1b]0;{KEY}\x07 title", f"\x1b]0;{TOKEN}\x07 title"),
        (f"\x1b]0;{KEY} without end", f"\x1b]0;{TOKEN} without end"),
        (f"ta{RED}sk-list", f"ta{RED}sk-list"),
        (f"sk{OFF}-list and sk-{OFF}", f"sk{OFF}-list and sk-{OFF}"),
        ("\x1b[", "\x1b["),
        ("\x1b", "\x1b"),
    ],
)
@pytest.mark.parametrize("size", [0, 1, 4])
def test_colours_stay_where_no_key_is(text: str, shown: str, size: int) -> None:
    assert masked(text, size) == shown


@pytest.mark.parametrize("begun", ["\x1b", "\x9b", f"{RED}\x1b"])
def test_what_begins_a_code_does_not_swallow_the_beginning_of_a_token(begun: str) -> None:
    shown = masked(f"a {begun}-----BEGIN PRIVATE KEY-----")
    assert shown.removeprefix("a ").removeprefix(RED) == "[MASKED:PRIVATE_KEY]"
    assert masked(shown) == shown


@pytest.mark.parametrize("begun", ["\x1b", "\x1b[", "\x1b[1;", "\x9b", "\x1b(", r"\x1b[", r"\033[", "^[["])
@pytest.mark.parametrize("key", [KEY, "AKIA2345ABCDEFGHIJKL", "glpat-q7Zt9LmX2vB8nR4kW3sD6"])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_what_begins_a_code_does_not_hide_the_key_behind_it(begun: str, key: str, size: int) -> None:
    shown = masked(f"a {begun}{key} b", size)
    assert key[5:12] not in shown
    assert "[MASKED:" in shown


@every("title", ["\x1b]0;{}\x07", "\x1bP{}\x1b\\", "\x9d{}\x9c", r"\x1b]0;{}\x07", r"^[]0;{}\a"])
def test_a_key_that_a_title_says_is_masked_and_a_broken_one_too(title: str) -> None:
    assert masking.mask_keys(f"a {title.format(KEY)} b") == f"a {title.format(TOKEN)} b"
    broken = title.format("\u200b".join((KEY[:9], KEY[9:])))
    assert KEY[9:] not in masking.mask_keys(f"a {broken} b")


def test_every_character_is_seen_or_hides_something() -> None:
    every_one = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    seen = set(re.findall(f"[{masking_letters.SEEN}]", every_one))
    unseen = set(re.findall(f"[{masking_hidden.UNSEEN}]", every_one))
    assert seen.isdisjoint(unseen)
    assert seen | unseen == set(every_one)
    for each in [each for each in unseen if each < "\u0100"]:
        assert masking_letters.Letters(each).controls


@every("unseen", [unseen for unseen in UNSEEN.values() if unseen.isprintable() and unseen.isascii()])
def test_the_first_look_knows_how_whatever_is_spelt_out_begins(unseen: str) -> None:
    assert masking_letters.Letters(f"a {unseen} b").spells_controls()
    assert not masking_letters.Letters(r"C:\Users\new\x64\bin\target \u00fc\u2013\ud83d \n\t\\ \d+").spells_controls()


@every(
    "colour", [RED, OFF, "\x1b[m", "\x1b[1;38;5;208m", f"\x1b[{'1' * 70}m", f"\x1b[{'1' * 300}m", "\x1b3[m", "\x1b;[m"]
)
@every(
    "known",
    ["token=q7Zt9LmX2vB8nR4", "AKIA2345ABCDEFGHIJKL", "fo1_q7Zt9+LmX2vB8nR4/kW3sD6fGhJ5pYcA1eUo0TiKzVb", "m1y;2[3se"],
)
def test_what_is_left_of_a_text_without_colours_and_digits_tells_of_every_secret(colour: str, known: str) -> None:
    secrets = ("m1y;2[3se-cret",)
    for at in range(len(known)):
        text = f"a {colour}{known[:at]}{colour}{known[at:]} b"
        views = masking_hidden.views(text)
        if any(masking_prefilter.look(view, secrets, keys_only=False) for view in views):
            found = masking_prefilter.look(text, secrets, keys_only=False)
            assert found in (masking_prefilter.BROKEN, masking_prefilter.COLOURED)
            assert masking.mask(text, secrets) == masking_stream.masked(text, secrets, keys_only=False)


def test_nothing_that_is_looked_for_begins_as_a_colour_ends() -> None:
    known = (*masking_prefilter.NAMES, *masking_tables.FORMS, *masking_patterns.BEGINS)
    assert [each for each in known if each.startswith("m")] == []


@every("unseen", [OFF, f"{RED}{OFF}", "\u200b", r"\x1b[0m"])
@every("name", ["API_|KEY=", "secret_|key: ", "Authori|zation: Basic ", "--to|ken ", "cu|rl -u a:", "my|sql -p"])
def test_p25_what_stands_before_a_code_still_belongs_to_a_name(unseen: str, name: str) -> None:
    assert "q7Zt9LmX2vB8" not in masking.mask(f"x {name.replace('|', unseen)}q7Zt9LmX2vB8")


def test_a_code_before_a_program_hides_none() -> None:
    assert masking.mask(f"nc -p 4444{RED}curl -u a:q7Zt9LmX") == f"nc -p 4444{RED}curl -u a:[MASKED:GENERIC_SECRET]"


def test_a_registered_value_is_masked_when_broken() -> None:
    assert masked(f"x={'hunter'}{OFF}{'2secret'}!", secrets=("hunter2secret",)) == "x=[MASKED:API_KEY]!"


@every("unseen", UNSEEN.values(), ids=UNSEEN)
@every("at", range(1, 9) if LONG else [1, 5, 8])
def test_a_broken_secret_is_masked_in_texts_values_and_documents(unseen: str, at: int) -> None:
    line = "TOKEN=q7Zt9LmX2vB8nR4"
    broken = f"a {line[:at]}{unseen}{line[at:]} b"
    for shown in (
        masking.mask(broken),
        masking.mask_value({"x": [broken]})["x"][0],
        json.loads(masking.mask_written(json.dumps({"x": broken})))["x"],
        json.loads(masking.mask_written(json.dumps({"x": broken}, ensure_ascii=False)))["x"],
        json.loads(masking.mask_event(json.dumps([broken])))[0],
    ):
        assert "q7Zt9" not in shown
        assert "[MASKED:ENV_CREDENTIAL]" in shown
        assert masking.mask(shown) == shown
    assert not masking.is_plain({"x": broken})


@every("unseen", UNSEEN.values(), ids=UNSEEN)
@every("at", [2, 8, 20])
def test_a_broken_key_is_masked_before_it_is_stored(unseen: str, at: int) -> None:
    broken = f"say {KEY[:at]}{unseen}{KEY[at:]}!"
    assert masking.mask_keys(broken) == f"say {TOKEN}!"
    assert masking.mask_keys_value([{"x": broken}]) == [{"x": f"say {TOKEN}!"}]
    assert masking.may_hold_keys(repr((broken,)))


@pytest.mark.parametrize(
    "text", [f"{RED}ok{OFF}\n", "a\u200db", "\x1b]8;;https://h\x1b\\x\x1b]8;;\x1b\\", "\ufeffx", "👩‍👧"]
)
def test_what_is_not_shown_stays_where_it_hides_nothing(text: str) -> None:
    assert masking.mask(text) == text
    assert masking.mask_keys(text) == text


def test_for_eyes_more_than_keys_is_masked() -> None:
    text = f"pass{OFF}word: hun{RED}ter2secret\n"
    assert (masked(text), masked(text, keys_only=False)) == (text, f"pass{OFF}word: [MASKED:GENERIC_SECRET]\n")


def test_a_broken_key_that_is_cut_is_masked() -> None:
    assert masked(f"key sk-{OFF}ant-a", cut=True) == f"key {TOKEN}"


@every("begun", ["\x1b", "\x1b[", "\x1b[1;", "\x1b[31", "\x9b", "\x1b(", r"\x1b[", r"\033[", "^[[", "\x1b]0;", "\x1b "])
@every("value", ["open-sesame-1", "mysecret99", "12345678ab", "p@ssw0rd!x", "[0;31mkey9", "m;31secret", "\xfcber-7xy"])
def test_a_code_does_not_hide_the_beginning_of_a_registered_value(begun: str, value: str) -> None:
    text = f"a {begun}{value} b"
    whole = masked(text, secrets=(value,))
    assert value not in whole
    assert {masked(text, size, secrets=(value,)) for size in (1, 2, 3, 5)} == {whole}
    assert value not in masking.mask(text, (value,))
    assert masking.mask_keys(text, (value,)) == whole


SPELT = (r"\x1b[31m", r"\033[0m", r"\e[1m", r"\u001b[0m", "^[[31m", r"\x1b]0;t\x07")
BEGUN = ("\x1b", "\x1b[", "\x1b[3", "\x9b", "\x1b(", "\x1b]0;t\x1b\\", r"\x1b]t\x1b\\", "\x1b[1;2\x90x\x9c")


@every("begun", BEGUN)
@every("spelt", SPELT)
@every("at", [0, 3, 8] if LONG else [3])
def test_a_real_code_does_not_swallow_the_beginning_of_a_spelt_one(begun: str, spelt: str, at: int) -> None:
    text = f"a {KEY[:at]}{begun}{spelt}{KEY[at:]} b"
    whole = masked(text)
    assert KEY[at + 2 :] not in whole
    assert TOKEN in whole
    assert {masked(text, size) for size in ((1, 2, 3, 5) if LONG else (1, 3))} == {whole}


@every("begun", ["\x9d", "\x90", "\x98", "\x9e", "\x9f", "\x1b]", "\x1bP", "\x1b_"])
@every("end", ["", "\x07", "\x9c", "\x1b\\"])
@every("size", [0, 1])
def test_a_key_right_behind_the_beginning_of_a_title_is_masked(begun: str, end: str, size: int) -> None:
    assert KEY[2:] not in masked(f"{begun}{KEY}{end}", size)


unseen = st.sampled_from([*UNSEEN.values(), "\x1b", "\x1b[", "\x1b]", "\x1b\\", "\x9b", *SPELT, *BEGUN])
pieces = st.one_of(unseen, st.sampled_from([KEY, KEY[:7], KEY[7:], "sk-", "ant-", " ", "\n", "a", "AKIA"]), st.text())


@given(st.lists(pieces).map("".join), st.integers(1, 9))
def test_how_the_text_is_cut_into_pieces_does_not_matter(text: str, size: int) -> None:
    assert masked(text, size) == masked(text)


@given(st.lists(st.one_of(unseen, st.sampled_from([" ", "task-1", "key", "\n", "é"]))).map("".join))
def test_what_holds_no_key_stays_as_it_is(text: str) -> None:
    assert masked(text) == text


@given(st.text(alphabet=st.characters(blacklist_categories=["Cc", "Cf", "Cs", "Mn"])).map(lambda text: text + KEY))
def test_without_anything_unseen_it_masks_as_any_stream(text: str) -> None:
    plain = text.replace("\u115f", "").replace("\u1160", "").replace("\u3164", "").replace("\uffa0", "")
    assert masked(plain) == masking.mask_keys(plain)


@pytest.mark.parametrize("text", ["\x00" * 300_000, "a\x00" * 150_000, f"sk-{OFF * 80_000}", "\x1b]" * 150_000])
def test_floods_of_it_take_their_time_and_no_more(text: str) -> None:
    started = time.process_time()
    assert len(masked(text, 4096)) <= len(text)
    assert time.process_time() - started < 5
