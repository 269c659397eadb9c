"""Strict JSON: a document is read as it was meant or refused with the reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import strict_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=15,
)


def problem_of(data: bytes | str, limit: int = strict_json.SIZE_LIMIT) -> strict_json.JsonProblem:
    with pytest.raises(strict_json.JsonProblem) as caught:
        strict_json.loads(data, "the file", limit)
    return caught.value


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'{"a": [1, 2.5, null, true, "\xc3\xbc"]}', id="UTF-8"),
        pytest.param(b'\xef\xbb\xbf{"a": [1, 2.5, null, true, "\xc3\xbc"]}', id="UTF-8 with BOM"),
        pytest.param('\ufeff{"a": [1, 2.5, null, true, "ü"]}', id="text with BOM"),
        pytest.param(b'\r\n{"a": [1, 2.5,\r\n null, true, "\\u00fc"]}\r\n', id="CRLF and escapes"),
    ],
)
def test_a_good_document_is_read(data: bytes | str) -> None:
    assert strict_json.loads(data, "the file") == {"a": [1, 2.5, None, True, "ü"]}


@pytest.mark.parametrize(
    ("data", "kind", "fault"),
    [
        pytest.param('{"a": 1, "a": 2}', "duplicate", "has a duplicate key: $.a", id="key twice"),
        pytest.param(
            '{"dev": {"X": {"n": 1, "n": 1}}, "dev": 1}',
            "duplicate",
            "has a duplicate key: $.dev.X.n, $.dev",
            id="keys twice at two depths",
        ),
        pytest.param(
            '[0, {"a b": 1, "a b": 1}]', "duplicate", "has a duplicate key: $[1]['a b']", id="twice in a list"
        ),
        pytest.param("[NaN]", "number", "has NaN, which is not a JSON number", id="NaN"),
        pytest.param("-Infinity", "number", "has -Infinity, which is not a JSON number", id="infinity"),
        pytest.param("1e999", "number", "has '1e999', which is not a JSON number", id="float overflow"),
        pytest.param("1" * 5000, "number", "has a number with too many digits", id="endless integer"),
        pytest.param(b"", "empty", "is empty", id="empty"),
        pytest.param(b"\xef\xbb\xbf \n", "empty", "is empty", id="only a BOM"),
        pytest.param(
            '{"a":1}'.encode("utf-16"),
            "encoding",
            "is UTF-16 or UTF-32 text or binary; save it as UTF-8",
            id="UTF-16",
        ),
        pytest.param(
            '{"a":1}'.encode("utf-16-be"),
            "encoding",
            "is UTF-16 or UTF-32 text or binary; save it as UTF-8",
            id="UTF-16 without BOM",
        ),
        pytest.param(
            b'{\n"a": "\xff"}', "encoding", "is not UTF-8: byte 0xff at offset 8, line 2", id="no UTF-8"
        ),
        pytest.param(
            '{"a": [1,',
            "cut",
            "is cut off: Expecting value at line 1, column 10",
            id="cut after a comma",
        ),
        pytest.param(
            '{\n"a": "b',
            "cut",
            "is cut off: Unterminated string starting at line 2, column 6",
            id="cut in a text",
        ),
        pytest.param(
            "{'a': 1}",
            "syntax",
            "is not valid JSON: Expecting property name enclosed in double quotes at line 1, column 2",
            id="single quotes",
        ),
        pytest.param("1 2", "syntax", "is not valid JSON: Extra data at line 1, column 3", id="two documents"),
        pytest.param("[" * 100_000, "depth", "is nested more than 100 levels deep", id="depth bomb"),
        pytest.param('{"a":' * 101 + "1" + "}" * 101, "depth", "is nested more than 100 levels deep", id="101"),
        pytest.param(
            '["\\ud800"]', "text",
            "has a string at $[0] that contains the lone surrogate U+D800 at character 1",
            id="lone surrogate escaped",
        ),
        pytest.param('"\ud800"', "text", "contains the lone surrogate U+D800 at character 2", id="lone surrogate"),
        pytest.param(
            '{"a": "x\\u0000"}', "text",
            "has a string at $.a that contains a NUL character at character 2",
            id="NUL",
        ),
        pytest.param(
            '{"\\u0000": 1}', "text",
            "has a string at $['\\x00'] that contains a NUL character at character 1",
            id="NUL in a key",
        ),
        pytest.param(
            '"\n"', "syntax",
            "is not valid JSON: Invalid control character at line 1, column 2",
            id="line feed in a text",
        ),
    ],
)
def test_a_bad_document_is_refused_with_its_reason(data: bytes | str, kind: str, fault: str) -> None:
    problem = problem_of(data)
    assert (problem.kind, problem.message) == (kind, f"the file {fault}")


def test_size_is_counted_in_bytes_and_limited() -> None:
    assert strict_json.loads('"üü"', "the file", limit=6) == "üü"
    assert problem_of('"üü"', limit=5).message == "the file has 6 bytes; 5 are allowed"
    assert problem_of(b" " * (strict_json.SIZE_LIMIT + 1)).kind == "size"


def test_without_a_limit_any_size_is_read() -> None:
    assert strict_json.loads(b" " * strict_json.SIZE_LIMIT + b"1", "the file", limit=None) == 1


def test_what_the_store_holds_is_read_without_another_look() -> None:
    assert strict_json.stored('{"a":[1,2.5,"ü"]}') == {"a": [1, 2.5, "ü"]}
    assert strict_json.stored(strict_json.canonical({"b": None})) == {"b": None}


def test_a_hundred_levels_and_many_brackets_side_by_side_are_fine() -> None:
    assert strict_json.loads("[" * 100 + "]" * 100, "the file") is not None
    assert strict_json.loads("[" + "[]," * 500 + '"[[[\\"{{"]', "the file") == [[]] * 500 + ['[[["{{']


def test_an_escaped_pair_of_surrogates_is_one_character() -> None:
    assert strict_json.loads('"\\ud83d\\ude00"', "the file") == "\U0001f600"


@pytest.mark.parametrize(
    ("data", "paths", "place"),
    [
        ('{"a": {"x": 1,\n "x": 2}, "b": [{"y": 1, "y": 2}]}', ("$.a.x", "$.b[0].y"), (2, 2)),
        ('[[], {}, [{"a": "}", "b": "a:", "a": {"a": 1}}]]', ("$[2][0].a",), (1, 33)),
        ('{"a": 1, "\\u0061" : {"b": 1, "b": 1}, "a": {}}', ("$.a", "$.a.b", "$.a"), (1, 10)),
        ('[{"\\"": 1, "b": {}}, {"b": 1}, {"\\"": 1, "\\"": 2}]', ("$[2]['\"']",), (1, 42)),
        ('["\\ud800", {"\\u0000": {"a": "x"}},\n{"\\ud800": ["\\u0000"]}]',
         ("$[0]", "$[1]['\\x00']", "$[2]['\\ud800']", "$[2]['\\ud800'][0]"), (1, 2)),
        ('{"a": "\\n", "b":\n ["x", "\\ud800"]}', ("$.b[1]",), (2, 8)),
    ],
)  # fmt: skip
def test_all_faults_are_named_each_with_its_path_and_the_first_is_located(
    data: str, paths: tuple[str, ...], place: tuple[int, int]
) -> None:
    problem = problem_of(data)
    assert (problem.paths, (problem.line, problem.column)) == (paths, place)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param('{\n"a": [1,}', (2, 9), id="syntax"),
        pytest.param('{"a":\n "x\\u0000"}', (2, 2), id="text"),
        pytest.param(b'{\n"a": "\xff"}', (2, 7), id="no UTF-8"),
        pytest.param("", (None, None), id="nowhere"),
    ],
)
def test_a_problem_says_in_which_line_and_column(data: bytes | str, expected: tuple[int | None, int | None]) -> None:
    problem = problem_of(data)
    assert (problem.line, problem.column) == expected


def test_a_value_within_a_text_ends_somewhere_or_breaks_off() -> None:
    deep, digits = "[" * 100_000, '{"a": ' + "1" * 5000 + "}\nmore"
    assert [strict_json.end_of(text, 2) for text in ('ab{"a": 1} b', 'ab{"a": 1', f"ab{deep}", f"ab{digits}")] == [
        10, None, None, None,
    ]  # fmt: skip
    cases = ('{"a": 1', '{"a": "x', deep, "{'a': 1}", digits, "{} more")
    assert [strict_json.breaks_off(text, 0) for text in cases] == [True, True, True, False, False, False]


def test_a_text_of_another_program_is_read_as_that_one_reads_it() -> None:
    assert strict_json.lenient('{"a": 1, "a": "\\ud800"}') == {"a": "\ud800"}
    for bad in ("[" * 100_000, "{", b"\xff"):
        with pytest.raises(ValueError):  # noqa: PT011  # the declared error has no more to say
            strict_json.lenient(bad)


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"\xef\xbb\xbf{}", True), ("\ufeff{}", True), (b"{}", False), ("{}", False)],
    ids=["bytes with", "text with", "bytes without", "text without"],
)
def test_a_byte_order_mark_can_be_asked_for(data: bytes | str, expected: bool) -> None:
    assert strict_json.has_bom(data) == expected


def test_canonical_text_has_sorted_keys_no_spaces_and_plain_letters() -> None:
    assert strict_json.canonical({"b": [1, 2.5], "a": "ü\n\u2028"}) == '{"a":"ü\\n\u2028","b":[1,2.5]}'


def test_canonical_refuses_what_json_has_no_form_for() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json.canonical(float("nan"))
    with pytest.raises(TypeError):
        strict_json.canonical({1, 2})


@pytest.mark.parametrize("bad", [float("nan"), object(), frozenset()], ids=["nan", "object", "set"])
def test_after_a_value_that_has_no_text_the_next_one_is_written(bad: object) -> None:
    inner: list[object] = ["a", bad]
    with pytest.raises((TypeError, ValueError)):
        strict_json.canonical({"a": inner})
    inner.pop()
    assert strict_json.canonical({"a": inner}) == '{"a":["a"]}'


def test_a_value_that_contains_itself_has_no_text_until_it_does_no_more() -> None:
    inner: list[object] = []
    inner.append(inner)
    with pytest.raises(ValueError, match=r"[Cc]ircular"):
        strict_json.canonical(inner)
    inner[0] = 1
    assert strict_json.canonical(inner) == "[1]"


@given(VALUES)
def test_what_canonical_writes_is_read_back_equal(value: object) -> None:
    text = strict_json.canonical(value)
    assert strict_json.loads(text, "the file") == value
    assert strict_json.loads(text.encode(), "the file") == value
    assert strict_json.canonical(strict_json.loads(json.dumps(value, indent=1), "the file")) == text


@given(st.binary() | st.text(st.characters(exclude_categories=[])) | st.text('[]{}",:\\u0d89aNIe1- \n'))
def test_any_input_is_read_or_refused_by_the_declared_error(data: bytes | str) -> None:
    try:
        value = strict_json.loads(data, "the file")
    except strict_json.JsonProblem as problem:
        message, path = problem.message, problem.path
    else:
        message, path = "the file is good", "$"
        assert strict_json.loads(strict_json.canonical(value), "the file") == value
    assert message.startswith("the file ")
    assert path.startswith("$")


@given(VALUES, st.data())
def test_a_cut_object_is_never_read(value: object, data: st.DataObject) -> None:
    text = strict_json.canonical({"a": value})
    end = data.draw(st.integers(0, len(text) - 1))
    assert problem_of(text[:end]).kind in {"cut", "empty", "syntax"}
