r"""P25: in JSON a newline is written as `\n`; what follows a secret's line is not taken for a part of the secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import masking
from orchestrator.doors.cli import output
from tests.unit.core import growth

KEY = "sk-" + "a1B2" * 10
LINES = (
    "API_KEY=abcdefghijkl", "export DB_PASSWORD='a b c d'", "password: hunter2hunter2",
    "Authorization: Bearer abcdefghijkl",
    "Cookie: a=b; c=d", f"used {KEY} here", "MY_SECRET=", "password =", "token:",
)  # fmt: skip
PLAIN = (
    "DEBUG=true", "next line", "x = 1", "keep: this", "", "  indented",
    "commit 14ae301c9b7f4d2e8a6c5b3d1f0e9a8b7c6d5e4f",
)  # fmt: skip

secret_lines, plain_lines = st.sampled_from(LINES), st.sampled_from(PLAIN)
texts = st.lists(secret_lines | plain_lines, max_size=5).map("\n".join)
harmless = st.text(max_size=12) | st.lists(plain_lines, max_size=4).map("\n".join)
names = st.sampled_from(["log", "text", "prompt", "output", "id"])


def documents(strings: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    leaves = strings | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))


def by_hand(value: Any) -> Any:
    """Each string of a document masked as a text."""
    if isinstance(value, str):
        return masking.mask(value)
    if isinstance(value, dict):
        return {name: by_hand(each) for name, each in value.items()}
    return [by_hand(each) for each in value] if isinstance(value, list) else value


def test_what_follows_a_secret_in_a_log_survives() -> None:
    log = "first\nAPI_KEY=abcdefghijkl\nDEBUG=1\nkeep me\nMY_SECRET=\nlast"
    shown = "first\nAPI_KEY=[MASKED:ENV_CREDENTIAL]\nDEBUG=1\nkeep me\nMY_SECRET=\nlast"
    assert json.loads(masking.mask_written(json.dumps({"log": log}))) == {"log": shown}
    assert json.loads(output.line({"log": log})) == {"log": shown}
    assert json.loads(output.text(json.dumps({"log": log}), None)) == {"log": shown}
    nested = json.dumps([json.dumps({"log": log})])
    assert json.loads(json.loads(masking.mask_written(nested))[0]) == {"log": shown}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"password": "hunter2hunter2", "x": 1}', '{"password": "[MASKED:JSON_CREDENTIAL]", "x": 1}'),
        ('{"password":"required"}', '{"password":"required"}'),
        ('{"api_key": {"id": "abc"}}', '{"api_key": {"id": "abc"}}'),
        (f'{{"{KEY}": 1}}', '{"[MASKED:OPENAI_KEY]": 1}'),
        (f'{{"a": 1}}\n{{"b": "{KEY}\\nx"}}\n', '{"a": 1}\n{"b": "[MASKED:OPENAI_KEY]\\nx"}\n'),
        (f'{{"é": "{KEY}é"}}', '{"é": "[MASKED:OPENAI_KEY]é"}'),
        (f'{{"cut": "{KEY}\\nx', '{"cut": "[MASKED:OPENAI_KEY]\\nx'),
        ("password: hunter2hunter2", "password: [MASKED:GENERIC_SECRET]"),
        ("", ""),
    ],
    ids=["by name", "a bare word", "an object", "a name", "lines", "not ASCII", "cut", "no JSON", "nothing"],
)
def test_what_is_json_is_masked_string_by_string(text: str, shown: str) -> None:
    assert masking.mask_written(text) == shown


@given(documents(texts), st.sampled_from([{}, {"indent": 2}, {"ensure_ascii": False}]))
def test_p25_a_written_document_is_masked_as_its_texts_are(document: Any, how: dict[str, Any]) -> None:
    shown = masking.mask_written(json.dumps(document, **how))
    assert json.loads(shown) == by_hand(document)
    assert masking.mask_written(shown) == shown


@given(documents(harmless), st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}]))
def test_p25_what_is_no_secret_survives_byte_for_byte(document: Any, how: dict[str, Any]) -> None:
    if by_hand(document) == document:
        written = json.dumps(document, **how)
        assert masking.mask_written(written) == written
        assert json.loads(output.line({"answer": document})) == {"answer": document}


@given(st.lists(plain_lines, max_size=4), secret_lines, st.lists(plain_lines, max_size=4))
def test_p25_the_lines_around_a_secret_stay(before: list[str], secret: str, after: list[str]) -> None:
    text = "\n".join([*before, secret, *after])
    shown = json.loads(output.line({"log": text}))["log"].split("\n")
    assert shown[: len(before)] == before
    assert shown[len(before) + 1 :] == after


@pytest.mark.parametrize("unit", ['"password": "x",', "\\n", "API_KEY=a ", '{"a":', "[", '"', "{}\n"], ids=repr)
def test_long_texts_take_linear_time(unit: str) -> None:
    assert growth.is_even(lambda text: masking.mask_written(f"[{json.dumps(text)}]"), unit, 8_000)
    assert growth.is_even(lambda text: masking.mask_written(f'["password", {text}'), unit, 8_000)


PLAIN = {"a": ["words", 1, None, {"b": "task-1", "c": ["x"] * 20}], "d": "é 日本"}
SECRETIVE = {"a": ["words", "token=q7Zt9LmX2vB8", {"password": "x", "n": 7}], "b": '{"password": "q7Zt9LmX2vB8"}'}


@pytest.mark.parametrize("masked", [masking.mask_value, masking.mask_document])
def test_an_answer_without_secrets_is_looked_at_once(
    masked: Callable[[object], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    look = masking.look
    monkeypatch.setattr(masking, "look", lambda text, *rest, **more: looks.append(text) or look(text, *rest, **more))
    masking.named.cache_clear()
    [masking.named(name) for name in "abcd"]
    looks.clear()
    assert masked(PLAIN) == PLAIN
    assert len(looks) == 1


def test_an_answer_keeps_its_names_and_its_texts_are_masked_as_they_are_written() -> None:
    assert masking.mask_document(SECRETIVE) == {
        "a": ["words", "token=[MASKED:GENERIC_SECRET]", {"password": "x", "n": 7}],
        "b": '{"password": "[MASKED:JSON_CREDENTIAL]"}',
    }
    assert masking.mask_document(("a", "Bearer a1b2c3")) == ["a", "Bearer [MASKED:BEARER_TOKEN]"]


@pytest.mark.parametrize("broken", ["say sk-ant-api03-QQQQ\x1b[0mBBBBCCCCDDDD", "TOK\u200bEN=q7Zt9LmX2vB8"])
def test_a_broken_secret_is_masked_wherever_it_is_in_an_answer(broken: str) -> None:
    # The title before it would go on into the next text if the texts were one.
    for shown in (masking.mask_document({"a": ["\x1b]0;", broken]}), masking.mask_value({"a": ["\x1b]0;", broken]})):
        assert shown["a"][1].endswith("]")
        assert "[MASKED:" in shown["a"][1]


SECRET = {
    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db1x2"}, "data": {"a": "cTdadDlMbVgydkI4", "b": "true"},
}  # fmt: skip
MASKED = {**SECRET, "data": {"a": "[MASKED:JSON_CREDENTIAL]", "b": "true"}}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (SECRET, MASKED),
        (dict(reversed(SECRET.items())), MASKED),
        ({"items": [SECRET, {**SECRET, "kind": "ConfigMap"}]}, {"items": [MASKED, {**SECRET, "kind": "ConfigMap"}]}),
        (
            {"kind": "Secret", "stringData": {"a": {"b": "q7Zt9LmX"}}},
            {"kind": "Secret", "stringData": {"a": {"b": "[MASKED:JSON_CREDENTIAL]"}}},
        ),
        *((each, each) for each in ({"kind": "Secret", "meta": {"data": {"a": "q7Zt9LmX"}}},
                                    {"data": {"kind": "Secret", "a": "q7Zt9LmX"}})),
    ],
    ids=["data behind the kind", "data before it", "in a list", "nested", "data of something else", "kind in the data"],
)
def test_p25_the_data_of_a_kubernetes_secret_are_masked_wherever_its_kind_is_said(value: Any, shown: Any) -> None:
    assert json.loads(masking.mask_written(json.dumps(value))) == shown
    assert masking.mask_value(value) == shown
    assert masking.mask_value({"details": [value]}) == {"details": [shown]}
    assert not masking.leaks(json.dumps(shown))
