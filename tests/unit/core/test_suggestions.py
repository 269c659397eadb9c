"""Suggestions: values with a wording for the command line, which every door may reword."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from orchestrator.core.suggestions import (
    Sentence,
    Suggestion,
    again,
    joined,
    options,
    recorded,
    reword,
    sentence,
    split_lines,
    suggest,
    suggestions,
)  # fmt: skip
from tests.cases import every

STATUS = suggest("status", session_id="S1")


def upper(suggestion: Suggestion) -> str:
    return f"<{suggestion.operation} {dict(suggestion.arguments)}>"


@every(
    ("suggested", "line"),
    [
        (STATUS, "orchestrator status S1"),
        (suggest("status"), "orchestrator status"),
        (suggest("group show", id="A", session_id=None), "orchestrator group show A"),
        (suggest("task set-status", id="T 1", status="done", by="dev-1"),
         "orchestrator task set-status 'T 1' done --by dev-1"),
        (suggest("route", session_id="S1", status="PASS"), "orchestrator route --session-id S1 --status PASS"),
        (suggest("route", current_agent="pm", turn=4, status="X"), "orchestrator route pm --turn 4 --status X"),
        (suggest("handoff", turn=4), "orchestrator handoff --turn 4"),
        (suggest("db check", repair=True, confirm=False, db="/srv/a b.db"),
         "orchestrator db check --repair --db '/srv/a b.db'"),
        (suggest("session create", id="ID", disabled_roles="qa"), "orchestrator session create ID --disable-role qa"),
        (suggest("group create", id="A", depends_on=["B", "C"]),
         "orchestrator group create A --depends-on B --depends-on C"),
        (suggest("route", current_agent="pm", status="X", acknowledge={"A": "REASON", "B": "it's so"}),
         "orchestrator route pm X --acknowledge A=REASON --acknowledge 'B=it'\"'\"'s so'"),
        (suggest("workflow check", help=True), "orchestrator workflow check --help"),
        (suggest("task show", id="a\nb"), r"orchestrator task show $'a\x0ab'"),
        (suggest("", help=True), "orchestrator --help"),
        (options(status="open", request_id=True), "--status open --request-id"),
        (again(reason="TEXT"), "Repeat with --reason TEXT"),
    ],
)  # fmt: skip
def test_its_text_is_the_command(suggested: str, line: str) -> None:
    assert suggested == line
    assert json.loads(json.dumps([suggested])) == [line]


def test_it_keeps_what_it_is_in_sentences() -> None:
    said = sentence("Call `{}`, or {}: {} of {}.", STATUS, sentence("({})", suggest("init")), 3, "{}")
    assert said == "Call `orchestrator status S1`, or (orchestrator init): 3 of {}."
    assert [each.operation for each in suggestions(said)] == ["status", "init"]
    assert reword(said, upper) == "Call `<status {'session_id': 'S1'}>`, or (<init {}>): 3 of {}."
    assert suggestions("orchestrator status S1") == []
    assert suggestions(STATUS) == [STATUS]


@pytest.mark.parametrize(("template", "values"), [("{} {}", ("a",)), ("{}", ("a", "b")), ("a", ("b",))])
def test_every_place_of_a_template_has_its_value(template: str, values: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="zip"):
        sentence(template, *values)


@every(
    ("text", "said"),
    [
        (STATUS + ", then go on", "<status {'session_id': 'S1'}>, then go on"),
        ("First " + STATUS, "First <status {'session_id': 'S1'}>"),
        ("First " + sentence("{}.", STATUS), "First <status {'session_id': 'S1'}>."),
        (sentence("{}", STATUS) + STATUS, "<status {'session_id': 'S1'}><status {'session_id': 'S1'}>"),
        (joined(["a", STATUS, sentence("b {}", STATUS)], "\n"),
         "a\n<status {'session_id': 'S1'}>\nb <status {'session_id': 'S1'}>"),
        (joined([]), ""),
    ],
)  # fmt: skip
def test_what_is_put_together_is_a_sentence(text: str, said: str) -> None:
    assert isinstance(text, Sentence)
    assert reword(text, upper) == said
    assert text == said.replace("<status {'session_id': 'S1'}>", STATUS)


def test_a_document_is_reworded_wherever_a_suggestion_stands() -> None:
    answer = {"next": [STATUS], "pair": (STATUS, 1), "goal": "orchestrator status S1", "count": 2, "none": None}
    said = "<status {'session_id': 'S1'}>"
    assert reword(answer, upper) == {**answer, "next": [said], "pair": (said, 1)}
    assert answer["next"] == [STATUS]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))])  # noqa: S301
def test_a_copy_is_the_same(copied: Any) -> None:
    found = copied(sentence("Call {}", STATUS))
    assert (found, reword(found, upper)) == ("Call orchestrator status S1", "Call <status {'session_id': 'S1'}>")


@every(
    "suggested",
    [
        STATUS, suggest("handoff", group_id="A", turn="4", session_id="S1"), suggest("validate", session_id="S1"),
        suggest("route", session_id="S1", group_id="A", current_agent="developer", turn="4", status="CODE"),
        suggest("route", current_agent="pm", status="X", acknowledge={"A": "REASON", "B": "REASON"}, interrupt=True),
        suggest("task set-status", id="T1", status="done", by="dev-1"),
    ],
)  # fmt: skip
def test_what_was_recorded_is_a_suggestion_again(suggested: Suggestion) -> None:
    answer = recorded({"spawns": [{"command": str(suggested)}], "next": [str(suggested)]})
    (found,) = answer["next"]
    assert (found.operation, found.arguments) == (suggested.operation, suggested.arguments)
    assert answer["spawns"][0]["command"].operation == suggested.operation


@every(
    "text",
    [
        "wait", "orchestrator status S1 S2", "orchestrator status 'S 1'", "orchestrator status S1, then go on",
        "orchestrator nothing S1", "git status S1", "orchestrator status S1 --brief X Y", "", "orchestrator",
    ],
)  # fmt: skip
def test_what_is_not_exactly_one_stays_a_text(text: str) -> None:
    assert type(recorded({"hint": text})["hint"]) is str


def test_what_people_wrote_stays_a_text() -> None:
    assert type(recorded({"goal": "orchestrator status S1"})["goal"]) is str
    assert recorded({"command": ["pytest"], "turn": 4}) == {"command": ["pytest"], "turn": 4}


def test_lines_keep_their_suggestions() -> None:
    found = split_lines(sentence("a\n[NEXT] {}\n{}", STATUS, "b\nc"))
    assert found == ["a", "[NEXT] orchestrator status S1", "b", "c"]
    assert [each.operation for line in found for each in suggestions(line)] == ["status"]
    assert split_lines("x\n") == ["x", ""]


def test_the_end_of_a_sentence_is_taken_off_also_where_it_is_that_of_a_value() -> None:
    for text in ("It is full.", sentence("{}.", STATUS), sentence("{}: {}", STATUS, sentence("{} is full.", "x"))):
        assert sentence("Look: {}", text).rstrip(".") == f"Look: {text}"[:-1]
    assert (sentence("").rstrip("."), sentence("{}", STATUS).rstrip(".")) == ("", str(STATUS))
