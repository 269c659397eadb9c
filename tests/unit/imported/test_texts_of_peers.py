"""Values from elsewhere become texts, numbers and ids that can be stored, and none is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import names
from orchestrator.core.imported import texts


@pytest.mark.parametrize(
    ("value", "expected", "changed"),
    [
        pytest.param(None, None, 0, id="nothing"),
        pytest.param("plain ' \" \n \U0001f600", "plain ' \" \n \U0001f600", 0, id="text"),
        pytest.param("a\0b", "a\\x00b", 1, id="nul"),
        pytest.param("a\udcffb", "a\\xffb", 1, id="byte that is no text"),
        pytest.param("a\ud800b", "a\\ud800b", 1, id="half a character"),
        pytest.param(b"ok\xff", "ok\\xff", 1, id="bytes"),
        pytest.param(7, "7", 0, id="number"),
        pytest.param(0.5, "0.5", 0, id="fraction"),
        pytest.param(float("inf"), "inf", 0, id="infinite"),
    ],
)
def test_any_value_has_a_text(value: Any, expected: str | None, changed: int) -> None:
    clean = texts.Cleaner()
    assert (clean.text(value), clean.changed) == (expected, changed)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(3, 3, id="number"),
        pytest.param(" 3 ", 3, id="written"),
        pytest.param(3.0, 3, id="whole fraction"),
        pytest.param(3.5, None, id="fraction"),
        pytest.param(11, None, id="too much"),
        pytest.param(-1, None, id="too little"),
        pytest.param("many", None, id="word"),
        pytest.param("9" * 40, None, id="endless"),
        pytest.param(True, None, id="truth"),
        pytest.param(None, None, id="nothing"),
    ],
)
def test_a_number_is_taken_only_within_its_bounds(value: Any, expected: int | None) -> None:
    assert texts.number(value, 0, 10) == expected


def test_sound_ids_stay_and_others_are_made_from_what_they_were() -> None:
    made = texts.ids("group", ["A", "B 2", "A", "", "\U0001f600"])
    assert made[:1] == ["A"]
    assert [each.rpartition("-")[0] for each in made[1:]] == ["B-2", "A", "group", "group"]


@given(st.lists(st.text(max_size=200), max_size=12))
def test_every_id_is_sound_distinct_and_the_same_next_time(given: list[str]) -> None:
    made = texts.ids("group", given)
    assert all(names.ID_PATTERN.fullmatch(each) for each in made)
    assert len(set(made)) == len(given)
    assert texts.ids("group", given) == made


@given(st.lists(st.from_regex(names.ID_PATTERN, fullmatch=True), unique=True, max_size=8), st.text())
def test_no_made_id_takes_the_place_of_a_sound_one(sound: list[str], other: str) -> None:
    assert texts.ids("group", [other, *sound])[1:] == sound or other in sound


def test_a_quotation_is_short_and_on_one_line() -> None:
    assert texts.excerpt("a\n b\t c") == "'a b c'"
    assert len(texts.excerpt("x" * 10_000)) == texts.EXCERPT + 2
