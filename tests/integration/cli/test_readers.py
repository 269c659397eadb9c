"""The quick reader and Typer read the same declaration: what both accept, both understand alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.doors.cli import catalogue, fast_parser, options, typer_parser
from orchestrator.errors import UsageError

WORDS = (
    "A",
    "S1",
    "-",
    "--",
    "a=b",
    "@x",
    "",
    "x y",
    "-x",
    "--nothing",
    "\u2705",
    "7",
    "-7",
    "--json=1",
    "-s=S1",
    "-sS1",
)


def by_typer(words: str, rest: list[str]) -> Any:
    """What Typer makes of a call: values, or None where it is refused, or help's exit code."""
    try:
        found = typer_parser.read([catalogue.find(words)], [*words.split(), *rest])
    except UsageError:
        return None
    return found if isinstance(found, int) else found[1]


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A command and some words after it, many of them options that it has."""
    words = draw(st.sampled_from(sorted(catalogue.every())))
    flags = [flag for each in (*catalogue.find(words).parameters, *options.COMMON) for flag in each.flags]
    word = st.sampled_from([*flags, *WORDS])
    value = st.sampled_from([f"{flag}={value}" for flag in flags for value in ("1", "", "-")])
    return words, draw(st.lists(st.one_of(word, word, value), max_size=6))


@settings(max_examples=400)
@given(calls())
def test_a_plain_call_is_read_as_typer_reads_it(call: tuple[str, list[str]]) -> None:
    words, rest = call
    plain, refusal = read_by(fast_parser.read, words, rest)
    if refusal is not None:
        # Typer would take it, so that a scan comes before.
        assert read_by(fast_parser.scan, words, rest) == (None, refusal)
    elif plain is not None:
        assert read_by(fast_parser.scan, words, rest) == (None, None)
        assert plain == by_typer(words, rest)


def read_by(reader: Callable[..., Any], words: str, rest: list[str]) -> tuple[Any, str | None]:
    """What a reader makes of a call, and why it refuses it."""
    try:
        return reader(catalogue.find(words), rest), None
    except UsageError as problem:
        return None, problem.message


@pytest.mark.parametrize(
    ("words", "rest", "values"),
    [
        pytest.param("group show", ["A", "-s", "S1"], {"id": "A", "session_id": "S1"}, id="short option"),
        pytest.param("group show", ["--session-id=S1", "A", "--json"], {"id": "A", "session_id": "S1", "json": True},
                     id="mixed"),
        pytest.param("group show", ["--", "-rf"], {"id": "-rf"}, id="after two hyphens"),
        pytest.param("route", ["dev", "PASS", "--acknowledge", "A=x", "--acknowledge", "B=y"],
                     {"role": "dev", "code": "PASS", "acknowledge": ["A=x", "B=y"]}, id="repeated"),
        pytest.param("route", ["--summary", "-", "--status", "--odd"], {"summary": "-", "status": "--odd"},
                     id="any value"),
        pytest.param("schema", ["group", "show"], {"command": ["group", "show"]}, id="many words"),
    ],
)  # fmt: skip
def test_both_readers_read(words: str, rest: list[str], values: dict[str, object]) -> None:
    assert fast_parser.read(catalogue.find(words), rest) == values
    assert by_typer(words, rest) == values


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        pytest.param("group show", [], id="missing argument"),
        pytest.param("group show", ["A", "--help"], id="help"),
        pytest.param("group show", ["A", "-sS1"], id="value without a blank"),
        pytest.param("group show", ["A", "--sessio", "S1"], id="unknown option"),
        pytest.param("group show", ["A", "--session-id"], id="missing value"),
        pytest.param("group show", ["A", "B"], id="too many"),
        pytest.param("group show", ["A", "--json=yes"], id="flag with a value"),
        pytest.param("group depend", ["A"], id="missing option"),
    ],
)
def test_what_is_not_plain_is_left_to_typer(words: str, rest: list[str]) -> None:
    assert fast_parser.read(catalogue.find(words), rest) is None
