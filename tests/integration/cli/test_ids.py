"""Ids are compared byte for byte, so what is none is refused by every door, and what is one is found again."""

from __future__ import annotations

import json
import pathlib

import pytest

from orchestrator import Orchestrator, UsageError
from tests.integration.cli.conftest import Lines, Run

NO_IDS = {
    "newline at the end": "AUTH\n",
    "carriage return at the end": "AUTH\r",
    "two dots": "..",
    "slash": "a/b",
    "leading hyphen": "-rf",
    "an option": "--help",
    "129 characters": "x" * 129,
    "empty": "",
    "decomposed": "e\u0301",
    "composed": "\u00e9",
    "turned direction": "A\u202eB",
    "blank": "A B",
    "percent": "A%",
    "quote": "A'",
    "colon": "A:1",
}
LONGEST = "x" * 128


@pytest.mark.parametrize("name", NO_IDS)
def test_the_command_line_refuses_what_is_no_id(name: str, run: Run) -> None:
    answer = json.loads(run("group", "create", "-s", "S1", "--json", "--", NO_IDS[name]).stdout)
    assert (answer["code"], answer["kind"]) == ("INVALID_ID", "group")


def test_a_batch_refuses_what_is_no_id(lines: Lines) -> None:
    answers = lines(*(("group create", {"id": bad, "session_id": "S1"}) for bad in NO_IDS.values()))
    assert [(answer["code"], answer["exit_code"]) for answer in answers] == [("INVALID_ID", 64)] * len(NO_IDS)


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        pytest.param("session create", {"id": "a/b"}, id="session"),
        pytest.param("group show", {"id": "A", "session_id": "S1\n"}, id="session of a group"),
        pytest.param("group create", {"id": "C", "session_id": "S1", "depends_on": ["A", "b/"]}, id="dependency"),
        pytest.param("group create", {"id": "C", "session_id": "S1", "by": "project manager"}, id="actor"),
        pytest.param("agent register", {"id": "dev 2", "role": "developer"}, id="agent"),
        pytest.param("agent register", {"id": "d2", "role": "developer", "parent": "tech lead"}, id="parent"),
        pytest.param(
            "route",
            {"session_id": "S1", "current_agent": "pm", "status": "BAZINGA", "acknowledge": {"A/": "ok"}},
            id="acknowledged group",
        ),
        pytest.param("audit decisions", {"session_id": "%"}, id="session of a list"),
    ],
)
def test_every_id_of_a_call_is_looked_at(op: str, arguments: dict[str, object], lines: Lines) -> None:
    (answer,) = lines((op, arguments))
    assert (answer["code"], answer["op"]) == ("INVALID_ID", op)


@pytest.mark.parametrize("value", ["", "%", "a b", "ü"])
@pytest.mark.parametrize("words", ["audit decisions", "audit refusals", "audit timeline"])
def test_a_filter_that_nothing_can_have_is_refused(words: str, value: str, lines: Lines) -> None:
    named = ("group_id", "agent", "status")
    codes = [lines((words, {"session_id": "S1", name: value}))[0].get("code") for name in named]
    # What a step can reach besides what workflows call statuses is no closed set.
    assert codes == ["UNKNOWN_GROUP", "UNKNOWN_AGENT", None if words == "audit timeline" else "USAGE"]


@pytest.mark.parametrize("name", NO_IDS)
def test_the_python_interface_refuses_what_is_no_id(name: str, database: pathlib.Path) -> None:
    with Orchestrator.open(database) as o, pytest.raises(UsageError) as caught:
        o.group_create(NO_IDS[name], session_id="S1")
    assert caught.value.code == "INVALID_ID"


def test_the_longest_id_is_found_byte_for_byte(lines: Lines) -> None:
    answers = lines(
        ("group create", {"id": LONGEST, "session_id": "S1"}), ("group show", {"id": LONGEST, "session_id": "S1"})
    )
    assert [answer["group"]["id"] for answer in answers] == [LONGEST, LONGEST]


def test_ids_differ_by_case(lines: Lines) -> None:
    answers = lines(
        ("group create", {"id": "a", "session_id": "S1", "name": "small"}),
        ("group show", {"id": "A", "session_id": "S1"}),
        ("group show", {"id": "a", "session_id": "S1"}),
    )
    assert [answer["group"]["name"] for answer in answers] == ["small", "Login", "small"]


def test_agents_may_have_colon_and_at_and_300_characters(lines: Lines) -> None:
    name = "developer@S1:" + "x" * 287
    (answer,) = lines(("agent register", {"id": name, "role": "developer"}))
    assert answer["agent"]["id"] == name


def test_what_begins_with_a_hyphen_is_an_option_without_two_of_them_before(run: Run) -> None:
    done = run("group", "show", "-rf", "-s", "S1", "--json")
    assert (done.returncode, b'"code": "USAGE"' in done.stdout) == (64, True)
