"""A text that comes in pieces is masked as a whole one, wherever it is cut; little of it is held back (P24, P25)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from orchestrator.core import masking, masking_stream
from tests.cases import every
from tests.conftest import LONG
from tests.unit.core.test_masking import ANTHROPIC, HARMLESS, KEYS, LONG_KEYS, MASKED, OPENAI

REGISTERED = ("open-sesame-1", "sesame-1-and-more", "{\n  two lines\n}")
LONGEST_HELD = 20_000
SMALL_HELD = 16
MANY = 200_000 if LONG else 60_000
BEHIND = f'-----END PRIVATE KEY-----", "d": "{"y z " * 170}"}}'


def streamed(pieces: Iterable[str], secrets: tuple[str, ...] = (), keys_only: bool = False, cut: bool = False) -> str:
    stream = masking_stream.Stream(secrets, keys_only=keys_only)
    return "".join([*(stream.feed(piece) for piece in pieces), stream.close(cut)])


def halves(text: str, first: int = 0, step: int = 1) -> Iterable[tuple[str, str]]:
    return ((text[:border], text[border:]) for border in range(first, len(text) + 1, step))


TEXTS = {
    **{f"key {name}": f"a {secret} b" for name, (secret, _) in KEYS.items()},
    **{name: text for name, (text, _) in MASKED.items()},
    **{f"harmless {name}": text for name, text in HARMLESS.items()},
    "registered": f"a {REGISTERED[0]} {REGISTERED[1]} open-sesame-1-and-more {REGISTERED[2]} open-sesam",
    "several": f"{OPENAI}\n{ANTHROPIC}\npassword: '{OPENAI} x'\n",
    "many dots": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.abc..def...",
    "marks at the end": "password: hunter2.,;: token=a1b2,,, x",
    "two words in a block": "password: |\n  not set\nx: 1",
    "a prompt": "read -s -p \"Password: \" PASSWORD\n read -p 'Token: ' a b",
    "escapes at the end": 'password: "a\\\\\\" b1" x \\"secret\\": \\"a\\\\\\\\\\" y',
}


@every("keys_only", [False, True], ids=["all", "keys"])
@every("text", TEXTS.values(), ids=TEXTS)
def test_p25_a_border_anywhere_changes_nothing(text: str, keys_only: bool) -> None:
    masked = masking.mask_keys if keys_only else masking.mask
    whole = masked(text, REGISTERED)
    # In the short form each of the two takes every twentieth border.
    borders = halves(text) if LONG or not text else halves(text, min(10, len(text)) * int(keys_only), 20)
    assert {streamed(pieces, REGISTERED, keys_only) for pieces in borders} == {whole}
    assert streamed(text, REGISTERED, keys_only) == whole


@every("border", [4096, 8192, 65_536])
@every(("secret", "token"), KEYS.values(), ids=KEYS)
def test_p24_a_key_over_the_border_of_a_buffer_is_masked(secret: str, token: str, border: int) -> None:
    for offset in (1, len(secret) // 2, len(secret) - 1):
        text = "x" * (border - offset - 1) + " " + secret
        pieces = [text[start : start + border] for start in range(0, len(text), border)]
        assert streamed(pieces, keys_only=True) == "x" * (border - offset - 1) + f" [MASKED:{token}]"


def test_p24_a_key_behind_a_block_that_may_go_on_is_masked_in_pieces() -> None:
    """What an open block might still reach is looked at again: in it the next key may begin."""
    key, _ = KEYS["amazon"]
    text = f'{{"a": "-----BEGIN PRIVATE KEY-----", "b": "{key}", "c": "{"x y " * 110}{BEHIND}'
    assert {streamed(pieces, keys_only=True) for pieces in halves(text)} == {masking.mask_keys(text)}


def test_p24_a_long_field_of_a_block_ends_between_words_wherever_it_is_cut() -> None:
    text = f'{{"a": "-----BEGIN RSA PRIVATE KEY-----Comment: a[{"A" * 300}{OPENAI}", "c": "{BEHIND}'
    assert {streamed(pieces, keys_only=True) for pieces in halves(text)} == {masking.mask_keys(text)}


@pytest.mark.parametrize("size", [7, 1000, 4096, 16_400])
@pytest.mark.parametrize(("secret", "token"), LONG_KEYS.values(), ids=LONG_KEYS)
def test_p24_a_long_key_block_in_pieces_is_masked_up_to_its_end(secret: str, token: str, size: int) -> None:
    text = f"a {secret} b"
    assert streamed(text[start : start + size] for start in range(0, len(text), size)) == f"a [MASKED:{token}] b"


@every("missing", [2, 10, 30])
@every(("secret", "token"), KEYS.values(), ids=KEYS)
def test_p24_a_key_that_was_cut_by_a_kill_is_masked(secret: str, token: str, missing: int) -> None:
    written = f"line\nkey {secret[: max(6, len(secret) - missing)]}"
    shown = streamed([written[:10], written[10:]], keys_only=True, cut=True)
    if secret.startswith(("sk-", "AIza", "AKIA", "ASIA", "xox")):
        assert "[MASKED:" in shown
    assert masking.mask_keys(secret, [])[:8] == "[MASKED:"
    assert not any(secret[:end] in shown for end in range(len(secret) - 1, 39, -1))


@every("secret", [secret for secret, _ in KEYS.values() if len(secret) < 200 and "\n" not in secret])
def test_p24_two_streams_are_masked_each_by_itself(secret: str) -> None:
    first, second = (masking_stream.Stream(keys_only=True) for _ in range(2))
    half = len(secret) // 2
    first_out = first.feed(secret[:half])
    second_out = second.feed(secret[:half])
    first_out += first.feed(secret[half:]) + first.close()
    second_out += second.feed(secret[half:]) + second.close()
    assert first_out == second_out == masking.mask_keys(secret)


@pytest.mark.parametrize("text", ["Downloading 12 %", "Password: ", "Ok to proceed? (y) ", "done\n", "a = {", "token"])
def test_p25_what_cannot_begin_a_secret_is_given_out_at_once(text: str) -> None:
    assert masking_stream.Stream(REGISTERED[:2], keys_only=False).feed(text) == text


@every(
    "unit",
    [
        "a",
        " ",
        "=",
        "-",
        '"',
        "\\",
        "sk-",
        "eyJ",
        "eyJA.",
        "token ",
        "://x:",
        "A1b2",
        'a="',
        "[MASKED:",
        "open-sesame-",
    ],
)
@every(
    "before",
    [
        "",
        'password="',
        "password=",
        "Cookie: a=",
        "sk-proj-",
        "eyJhbGciOiJIUzI1NiJ9.",
        "-----BEGIN RSA PRIVATE KEY-----\n",
    ],
)
def test_p25_a_line_without_end_is_held_back_only_in_small_part(before: str, unit: str) -> None:
    stream = masking_stream.Stream(REGISTERED, keys_only=False)
    piece = unit * (4096 // len(unit))
    for text in [before, *[piece] * (MANY // 4096)]:
        stream.feed(text)
        known = [each._machine._text for each in (stream._pass, stream._again) if each]
        assert max(map(len, known)) <= LONGEST_HELD + len(piece)


@pytest.mark.parametrize("at", [0, 70_000, 5_000_000])
def test_p25_a_secret_far_inside_one_line_is_masked(at: int) -> None:
    line = "a" * at + f' {OPENAI} password="{"b" * 100_000}1" end'
    assert masking.mask(line) == "a" * at + ' [MASKED:OPENAI_KEY] password="[MASKED:GENERIC_SECRET]" end'


def test_p24_even_the_shortest_beginning_of_a_key_is_masked_where_a_kill_cut_it() -> None:
    assert streamed(["key sk-", "abc"], keys_only=True, cut=True) == "key [MASKED:OPENAI_KEY]"
    assert streamed(["key sk-ant-a"], keys_only=True, cut=True) == "key [MASKED:ANTHROPIC_KEY]"
    assert streamed(["key AKIA", "AB"], keys_only=True, cut=True) == "key [MASKED:API_KEY]"
    assert streamed(["x eyJhb"], cut=True) == "x [MASKED:JWT]"
    assert streamed(["x eyJhbGciOiJIUzI1NiJ9.a"], cut=True) == "x [MASKED:JWT]"
    assert streamed(["x open"], ("open-sesame",), cut=True) == "x [MASKED:API_KEY]"
    assert streamed(["x ope"], ("open-sesame",), cut=True) == "x ope"


def test_p24_a_registered_value_of_one_repeated_letter_leaves_only_what_is_none() -> None:
    text = "x" + "a" * 5000 + "y"
    assert streamed([text[:700], text[700:]], ("aaaaaaaa",)) == "x[MASKED:API_KEY]y"


PLAIN = "".join(f"step {each} took 3 ms\n\x1b[32mGOOD\x1b[0m a/b.py (\x1b[1m{each}\x1b[22m)\n" for each in range(40))
"""Lines that are passed by."""
ONE_LINE = REGISTERED[:2]
"""Where a registered value has several lines none is passed by."""


@pytest.mark.parametrize("keys_only", [False, True], ids=["all", "keys"])
def test_p25_lines_that_are_passed_by_change_nothing(keys_only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each secret stands between plain lines, and at the end of a piece, in the middle of one, and at the border."""
    passed: list[str] = []
    act = masking_stream._Pass.pass_by
    monkeypatch.setattr(masking_stream._Pass, "pass_by", lambda *args: passed.append(args[1]) or act(*args))
    masked = masking.mask_keys if keys_only else masking.mask
    for number, text in enumerate((*TEXTS.values(), BEHIND)):
        known, whole = f"{PLAIN}{text}\n{PLAIN}", masked(f"{PLAIN}{text}\n{PLAIN}", ONE_LINE)
        border = len(PLAIN) + (len(text) + 1, len(text) // 2, 0)[number % 3]
        assert streamed((known[:border], known[border:]), ONE_LINE, keys_only) == whole, text
    assert len(passed) > len(TEXTS) / 2


ONE_LINE_KEYS = [
    *(secret for secret, _ in KEYS.values() if len(secret) < 120 and "\n" not in secret),
    "https://u:q7Zt9LmX2vB8nR4@host/x",
    '"password": "q7Zt9LmX2vB8nR4"',
    "--token 'q7Zt9LmX2vB8nR4'",
    "hunter-2-registered",
]


@every(
    "between",
    (
        *("\u200b", "\ufeff", "\xad", "\x1b[31m", "\x1b[31", "\x07", "\x1b]8;;h\x1b\\", "\x9d0;t\x9c"),
        *(r"\u200b", "^[[31m", "界"),
    ),
)
def test_p24_the_beginning_of_a_key_before_a_hidden_character_is_held_back(between: str) -> None:
    """A letter at a time: what begins a key may begin one, whatever that which no terminal shows cuts it from."""
    for number, key in enumerate(ONE_LINE_KEYS):
        for end in range(1, 9) if LONG else (1, 4 + number % 5):
            for before in ("", "a ") if LONG else ("a ",):
                text = f"{before}{key[:end]}{between}{key} end"
                whole = masking.mask_keys(text, ["hunter-2-registered"])
                assert streamed(text, ("hunter-2-registered",), keys_only=True) == whole, text


@every(
    "text",
    [
        f"AKIA2345ABCDEFGHIJKL{OPENAI} x",
        f"s\x1b]8;;https://example.com\x1b\\{OPENAI} x",
        f"key:\u200b{OPENAI} x",
        "パスワードは「q7Zt9LmX」です\x1b]8;;h\x1b\\AIza" + "Sy_D-e4" * 5,
    ],
)
def test_p24_a_key_right_behind_another_one_or_a_code_begins_a_word(text: str) -> None:
    assert streamed(text, keys_only=True) == masking.mask_keys(text)
    assert streamed(text) == masking.mask(text)
    assert "[MASKED:" in streamed(text, keys_only=True)


@every("between", ["", " x" * 200, " x" * 1300, "\n"], ids=["near", "in the same line", "far", "the next line"])
def test_p25_a_command_whose_first_secret_is_masked_still_hides_its_second_one(between: str) -> None:
    text = f"curl --cookie sid=q7Zt9LmX{between} -u user:q7Zt9 https://h\nls\n"
    assert streamed(text) == masking.mask(text)
    assert ("q7Zt9" in streamed(text)) == bool(between)
