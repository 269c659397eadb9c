"""Text for people: aligned, complete, and without a control character of anybody's."""

from __future__ import annotations

import unicodedata

import hypothesis
import pytest
from hypothesis import strategies as st

from orchestrator.doors.cli import text
from orchestrator.doors.cli.text import layout

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("\x1b[31mred\x07", "\\x1b[31mred\\x07", id="colour and bell"),
        pytest.param("a\nb\tc\rd", "a\\nb\\tc\\rd", id="line breaks"),
        pytest.param("\x9b31m", "\\x9b31m", id="control of eight bits"),
        pytest.param("user\u202etxt", "user\\u202etxt", id="direction"),
        pytest.param("a\u200bb\ufeff", "a\\u200bb\\ufeff", id="no width"),
        pytest.param("a\u2028b", "a\\u2028b", id="hidden line break"),
        pytest.param("\udc80", "\\udc80", id="half a surrogate pair"),
        pytest.param("a\nmysql -p q7Zt9LmX\nb", "a\\nmysql -p [MASKED:GENERIC_SECRET]\\nb", id="secret in a line"),
        pytest.param("Grüße 日本", "Grüße 日本", id="other letters"),
        pytest.param(None, "-", id="nothing"),
        pytest.param("", "-", id="empty"),
        pytest.param(True, "yes", id="true"),
        pytest.param(0, "0", id="zero"),
    ],
)
def test_a_value_is_shown_on_one_line(value: object, shown: str) -> None:
    assert layout.visible(value) == shown


@hypothesis.given(st.text())
def test_no_control_character_gets_out(value: str) -> None:
    shown = layout.visible(value)
    assert [letter for letter in shown if unicodedata.category(letter) in ("Cc", "Zl", "Zp", "Cs")] == []


@hypothesis.given(st.dictionaries(st.text(), JSON))
def test_any_answer_has_a_text(answer: dict[str, object]) -> None:
    shown = text.render("an operation without a text", answer)
    assert [letter for letter in shown if unicodedata.category(letter) in ("Cc", "Cs") and letter != "\n"] == []


def test_lines_keep_their_breaks_and_nothing_else() -> None:
    assert layout.visible_lines("a\r\nb\x1b\tc") == ["a", "b\\x1b\tc"]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = [("A", None, "first"), ("日本", "long", "")]
    assert layout.table(("ID", "X", "TEXT"), rows) == [
        "ID    X     TEXT",
        "A     -     first",
        "日本  long  -",
    ]


def test_fields_are_aligned_and_leave_nothing_out_but_what_is_not_there() -> None:
    assert layout.fields((("Goal", "g"), ("Outcome", None), ("Progress", 0))) == ["Goal:     g", "Progress: 0"]
    assert layout.fields(()) == []


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        pytest.param({"has_more": False, "next_since": 3}, [], id="the last page"),
        pytest.param({"has_more": True, "next_since": 3}, ["", "There is more: repeat with --since 3"], id="upwards"),
        pytest.param(
            {"has_more": True, "next_since": 0, "next_until": 9}, ["", "There is more: repeat with --until 9"],
            id="downwards",
        ),
    ],
)  # fmt: skip
def test_a_page_says_how_to_read_on(answer: dict[str, object], lines: list[str]) -> None:
    assert layout.more(answer) == lines


def test_an_answer_without_a_text_of_its_own_is_shown_key_by_key() -> None:
    answer = {"success": True, "warnings": [], "a": {"b_c": 1, "d": ["e", True]}, "f": [{"g_h": 2, "i": None}], "j": []}
    assert text.render("no operation", answer).split("\n") == [
        "a:", "  b c: 1", "  d: e, yes", "f:", "  g h  i", "  2    -", "j: -",
    ]  # fmt: skip
