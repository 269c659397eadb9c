"""What a program printed is text, or ends with one whole JSON object; half an object is neither."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.runner.executors import reading

RESULT = {"status": "COMPLETE", "output": "a\nb", "nested": {"a": [1, {"b": None}]}}
PRETTY = json.dumps(RESULT, indent=2)
LINE = json.dumps(RESULT)


@pytest.mark.parametrize(
    "stdout",
    [
        pytest.param(LINE, id="the whole output"),
        pytest.param(f"\n\n  {LINE}\n\n", id="blanks around"),
        pytest.param(PRETTY, id="many lines"),
        pytest.param(json.dumps(RESULT, indent=0), id="many lines without indentation"),
        pytest.param(f"working\nstill\n{LINE}\n", id="the last line"),
        pytest.param(f"working\n{PRETTY}\n", id="many lines at the end"),
        pytest.param(f'{{"type": "event"}}\n{{"type": "event"}}\n{LINE}\n', id="the last of many objects"),
        pytest.param(f"int main()\n{{\n  return 0;\n}}\n{LINE}", id="behind other braces"),
        pytest.param(f'for example {{"a": 1}}\n{{"a": ...}}\nand then\n{LINE}', id="behind examples"),
    ],
)
def test_a_result_is_the_whole_output_or_its_end(stdout: str) -> None:
    assert reading.final_object(stdout) == RESULT


@pytest.mark.parametrize(
    "stdout",
    [
        pytest.param("", id="nothing"),
        pytest.param(" \n", id="blanks"),
        pytest.param("It is a small project.", id="a sentence"),
        pytest.param("int main()\n{\n  return 0;\n}\n", id="a program's braces"),
        pytest.param("void f()\n{\n}\n", id="an empty block"),
        pytest.param(f"{LINE}\nand so on", id="text follows"),
        pytest.param('The form is\n{"a": ...}\nas above.', id="an example within text"),
        pytest.param("[1, 2]", id="a list"),
        pytest.param("null", id="null"),
        pytest.param("{name} is a placeholder", id="a brace at the beginning"),
        pytest.param('he said {"status": "COMPLETE"}', id="an object within a line"),
        pytest.param('x\n{"' + "[{" * 200 + "\ndone", id="bytes that are no text, with many brackets"),
        pytest.param('x\n{"a": ' + "1" * 5000 + "}\ndone", id="a number that nobody reads"),
        pytest.param('x\n{"a\udcff\x01' + "[" * 200 + "\ndone", id="bytes that are no text, and no UTF-8"),
    ],
)
def test_anything_else_is_text(stdout: str) -> None:
    assert reading.final_object(stdout) is None


@pytest.mark.parametrize(
    ("stdout", "cut"),
    [
        pytest.param('{"status": "COMP', True, id="within a text"),
        pytest.param('{"status": "COMPLETE", "files": ["a"', True, id="within a list"),
        pytest.param('{"status"', True, id="behind a key"),
        pytest.param('working\n{"status": "COMPLETE",', True, id="on the last line"),
        pytest.param('working\n{\n  "status": "COMPLETE",\n  "output": "a', True, id="over many lines"),
        pytest.param('{"status": COMPLETE}', False, id="a bare word"),
        pytest.param('working\n{"status": ...}', False, id="a malformed last line"),
        pytest.param('{"status": "ERROR", "status": "COMPLETE"}', False, id="a key twice"),
        pytest.param('{"status": "COMPLETE", "tool_calls": NaN}', False, id="no number"),
        pytest.param('{"a":' + "[" * 5_000 + "]" * 5_000 + "}", False, id="nested too deeply"),
        pytest.param('{"a":' + "[" * 200_000, True, id="deep and cut"),
        pytest.param('{"a": ' + "9" * 5_000 + "}", False, id="a number of thousands of digits"),
        pytest.param('{"a": "\\u0000"}', False, id="a character that cannot be stored"),
    ],
)
def test_E13_half_a_result_is_never_taken_for_text(stdout: str, cut: bool) -> None:
    with pytest.raises(reading.Unreadable) as caught:
        reading.final_object(stdout)
    assert caught.value.cut == cut or "nested" in str(caught.value)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
VALUES = st.one_of(st.integers(), TEXTS, st.none(), st.lists(st.booleans()))


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=5), st.data())
def test_E13_no_cut_of_a_result_is_read_as_one_or_as_text(found: dict[str, object], data: st.DataObject) -> None:
    whole = json.dumps(found)
    assert reading.final_object(whole) == found
    cut = whole[: data.draw(st.integers(2, len(whole) - 1))]
    with pytest.raises(reading.Unreadable):
        reading.final_object(cut)


@given(st.text(alphabet='{}[]",:\\ab1 \n', max_size=60))
def test_no_output_makes_reading_fail_in_another_way(stdout: str) -> None:
    with contextlib.suppress(reading.Unreadable):
        found = reading.final_object(stdout)
        assert found is None or stdout.strip().endswith("}")


def test_events_are_the_lines_that_are_objects() -> None:
    stdout = 'warming up\n{"a": 1}\n{"b": \n[1]\n{"a": 1, "a": 2}\n{"c": 3}\n'
    assert reading.objects(stdout) == [{"a": 1}, {"c": 3}]


def test_a_result_of_megabytes_is_read() -> None:
    found = {"status": "COMPLETE", "output": "x" * 4_000_000}
    assert reading.final_object("log\n" * 100_000 + json.dumps(found)) == found
