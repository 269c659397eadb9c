"""Texts that are hashed are the same whoever writes them: else a record would look altered where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core import canonical_json, strict_json
from orchestrator.core.named_tuple import NamedTuple

LIBRARY = canonical_json.LIBRARY
COMPILED = canonical_json.compiled()

WHOLE = st.text(st.characters(exclude_categories=["Cs"]))
ANY_TEXT = st.text() | st.text(st.characters(categories=["Cs", "Cc", "Zl", "Zp", "So"]))
SCALARS = st.none() | st.booleans() | st.integers() | st.integers(2**63 - 2, 2**64 + 1) | ANY_TEXT | st.binary()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(ANY_TEXT | st.integers(), inner),
    max_leaves=20,
)


class Pair(NamedTuple):
    first: int
    second: str


class Word(str):
    """A text of a kind of its own."""


def outcome(write: Callable[[object], object], value: object) -> object:
    """What the writer gives, or the kind of error that it raises."""
    try:
        return write(value)
    except (TypeError, ValueError) as error:
        return type(error)


@settings(max_examples=500)
@given(VALUES)
def test_both_writers_give_one_text(value: object) -> None:
    assert outcome(COMPILED.exact, value) == outcome(LIBRARY.exact, value)


@settings(max_examples=500)
@given(st.lists(SCALARS))
def test_both_writers_give_one_line(values: list[object]) -> None:
    assert outcome(COMPILED.line, values) == outcome(LIBRARY.line, values)


EDGES: list[Any] = [
    pytest.param({"b": 1, "a": {"d": 2, "c": 3}}, '{"a":{"c":3,"d":2},"b":1}', id="members in order, at every depth"),
    pytest.param({"\uffff": 1, "\U00010000": 2}, '{"\uffff":1,"\U00010000":2}', id="order of code points"),
    pytest.param([2**63, -(2**63) - 1, 2**64], "[9223372036854775808,-9223372036854775809,18446744073709551616]",
                 id="more than 64 bits"),
    pytest.param(["\0\x1f\x7f\u2028\t\r\n\b\f\"\\/"], '["\\u0000\\u001f\x7f\u2028\\t\\r\\n\\b\\f\\"\\\\/"]',
                 id="controls"),
    pytest.param(["ü€😀"], '["ü€😀"]', id="letters as they are"),
    pytest.param(["\ud800"], '["\ud800"]', id="half a character"),
    pytest.param([b"\x00\xff"], '["00ff"]', id="bytes"),
    pytest.param([True, False, None], "[true,false,null]", id="words"),
    pytest.param(Pair(1, "two"), '[1,"two"]', id="a tuple with names"),
    pytest.param([Word("said")], '["said"]', id="a text of a kind of its own"),
    pytest.param({1: "one"}, '{"1":"one"}', id="a key that is no text"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), EDGES)
@pytest.mark.parametrize("writer", [pytest.param(LIBRARY, id="library"), pytest.param(COMPILED, id="compiled")])
def test_a_value_has_this_text(writer: canonical_json.Writer, value: object, text: str) -> None:
    assert writer.exact(value) == text


def test_a_deep_value_has_one_text() -> None:
    value: object = []
    for _ in range(400):
        value = [value]
    assert COMPILED.exact(value) == LIBRARY.exact(value) == "[" * 401 + "]" * 401


@pytest.mark.parametrize("value", [{1, 2}, object(), 1j], ids=["a set", "an object", "a complex number"])
def test_what_json_has_no_form_for_is_an_error(value: object) -> None:
    assert [outcome(writer.exact, [value]) for writer in (LIBRARY, COMPILED)] == [TypeError, TypeError]


@given(st.recursive(st.none() | st.booleans() | st.integers() | WHOLE, lambda inner: st.lists(inner), max_leaves=10))
def test_an_exact_text_is_the_canonical_one(value: object) -> None:
    assert COMPILED.exact(value) == strict_json.canonical(value)
    assert json.loads(COMPILED.exact(value)) == value


def test_a_process_that_stays_writes_with_the_compiled_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical_json, "exact", LIBRARY.exact)
    monkeypatch.setattr(canonical_json, "line", LIBRARY.line)
    canonical_json.quicken()
    quick = canonical_json.exact
    canonical_json.quicken()
    assert canonical_json.exact is quick is not LIBRARY.exact
    assert canonical_json.line is not LIBRARY.line
    assert (canonical_json.exact({"b": 1, "a": 2}), canonical_json.line(["S1", 1, None])) == (
        '{"a":2,"b":1}', b'["S1",1,null]\n'
    )  # fmt: skip


def test_without_the_c_encoder_the_texts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"b": [1, None, True, 'é\n"\x00\u2028', b"\x01\xff"], "a": {"z": "", "y": -1}}
    fast = [canonical_json.encoder(sort_keys=order, default=bytes.hex)(value) for order in (True, False)]
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    assert [canonical_json.encoder(sort_keys=order, default=bytes.hex)(value) for order in (True, False)] == fast
    assert fast[0] == '{"a":{"y":-1,"z":""},"b":[1,null,true,"é\\n\\"\\u0000\u2028","01ff"]}'
