"""Which session is meant where none is named, and that nothing of another one is touched."""

from __future__ import annotations

import pathlib

import pytest

from tests.integration.cli.conftest import Ask, Lines, Run


def test_the_only_open_session_is_meant(ask: Ask) -> None:
    assert ask("group", "show", "A")["group"]["session_id"] == "S1"
    assert ask("route", "developer", "PARTIAL", "-g", "A")["session_id"] == "S1"
    assert ask("session", "show")["session"]["id"] == "S1"
    assert ask("why", "A")["session_id"] == "S1"


def test_of_several_open_sessions_none_is_guessed(ask: Ask, lines: Lines) -> None:
    lines(("session create", {"id": "S2"}), ("group create", {"id": "A", "session_id": "S2"}))
    for words in (("group", "show", "A"), ("route", "developer", "PARTIAL", "-g", "A"), ("why", "A")):
        answer = ask(*words)
        assert (answer["code"], answer["sessions"], answer["_exit"]) == ("AMBIGUOUS_SESSION", ["S1", "S2"], 64)
    (answer,) = lines(("group show", {"id": "A"}))
    assert (answer["code"], answer["exit_code"]) == ("AMBIGUOUS_SESSION", 64)


def test_the_environment_names_the_session_and_an_option_overrules_it(ask: Ask, lines: Lines) -> None:
    lines(("session create", {"id": "S2"}), ("group create", {"id": "A", "session_id": "S2"}))
    assert ask("group", "show", "A", ORCHESTRATOR_SESSION="S2")["group"]["session_id"] == "S2"
    assert ask("group", "show", "A", "-s", "S1", ORCHESTRATOR_SESSION="S2")["group"]["session_id"] == "S1"
    assert ask("session", "show", ORCHESTRATOR_SESSION="S2")["session"]["id"] == "S2"
    assert ask("status", ORCHESTRATOR_SESSION="S2")["session"]["id"] == "S2"
    assert ask("group", "show", "A", ORCHESTRATOR_SESSION="S/2")["code"] == "INVALID_ID"
    assert len(ask("agent", "list", ORCHESTRATOR_SESSION="S2")["agents"]) > 5


def test_without_an_open_session_the_way_to_one_is_named_and_the_attempt_recorded(
    ask: Ask, tmp_path: pathlib.Path
) -> None:
    fresh = ("--db", "empty.db")
    assert ask("init", *fresh)["success"] is True
    answer = ask("route", "developer", "PARTIAL", "-g", "A", *fresh)
    assert (answer["code"], answer["_exit"], answer["sessions"]) == ("UNKNOWN_SESSION", 3, [])
    assert answer["suggestion"] == f"orchestrator --db {tmp_path / 'empty.db'} session create ID --goal TEXT"
    refused = ask("audit", "refusals", "-s", "@store", *fresh)["refusals"]
    assert [(row["code"], row["role"], row["group_id"]) for row in refused] == [("UNKNOWN_SESSION", "developer", "A")]


def test_what_two_places_say_must_agree(ask: Ask) -> None:
    assert ask("session", "show", "S1", "-s", "S1")["session"]["id"] == "S1"
    answer = ask("session", "show", "S1", "-s", "S2")
    assert (answer["code"], "contradict" in answer["error"]) == ("USAGE", True)


def test_groups_of_the_same_id_are_told_apart(ask: Ask, lines: Lines) -> None:
    answers = lines(
        ("session create", {"id": "S2"}),
        ("group create", {"id": "A", "session_id": "S2", "name": "Other"}),
        ("route", {"session_id": "S2", "group_id": "A", "current_agent": "developer", "status": "BLOCKED",
                   "summary": "no key", "request_id": "1"}),
        ("route", {"session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "PARTIAL",
                   "request_id": "1"}),
        ("route", {"session_id": "S2", "group_id": "A", "current_agent": "developer", "status": "PARTIAL",
                   "request_id": "1"}),
        ("group show", {"id": "A", "session_id": "S1"}),
        ("group show", {"id": "A", "session_id": "S2"}),
        ("audit decisions", {"session_id": "S2", "group_id": "A"}),
    )  # fmt: skip
    assert [answer["success"] for answer in answers] == [True, True, True, True, False, True, True, True]
    refused, first, second, decisions = answers[4:]
    assert refused["code"] == "REQUEST_ID_REUSED"
    assert "no key" not in str(refused)
    assert [len(shown["group"]["blockers"]) for shown in (first, second)] == [0, 1]
    assert {row["session_id"] for row in decisions["decisions"]} == {"S2"}


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_request_that_is_sent_again_answers_the_same(form: str, run: Run, ask: Ask) -> None:
    words = ("route", "developer", "READY_FOR_QA", "-g", "A", "--request-id", "r1")
    if form == "text":
        first, second = run(*words), run(*words)
        assert (first.returncode, second.returncode) == (0, 0)
        assert b"(recorded before)" in second.stdout
        return
    first, second = ask(*words), ask(*words)
    assert (second["repeated"], second["decision_id"]) == (True, first["decision_id"])
    changed = ask(*words, "--summary", "something else")
    assert (changed["code"], changed["_exit"]) == ("REQUEST_ID_REUSED", 3)


def test_status_tells_of_the_only_open_session_in_full(ask: Ask, lines: Lines) -> None:
    assert ask("status")["session"]["id"] == "S1"
    lines(("session create", {"id": "C1", "kind": "chat"}))
    assert ask("status")["session"]["id"] == "S1"
    lines(("session create", {"id": "S2"}))
    assert [entry["session"]["id"] for entry in ask("status")["sessions"]] == ["C1", "S1", "S2"]
    assert ask("status", "C1")["state"] == "running"
