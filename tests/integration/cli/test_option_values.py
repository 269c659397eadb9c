"""What options take: no flag of the command as a value, one value each, and of closed sets only what is in them."""

from __future__ import annotations

import pytest

from orchestrator.doors.cli import catalogue, fast_parser, options, typer_parser
from orchestrator.errors import UsageError
from tests.integration.cli.conftest import Ask

ROUTE = ("route", "developer", "READY_FOR_QA", "-s", "S1", "-g", "A")


@pytest.mark.parametrize(
    ("call", "option", "flag"),
    [
        pytest.param((*ROUTE, "--summary", "--dry-run"), "--summary", "--dry-run", id="text"),
        pytest.param((*ROUTE, "--output", "--json"), "--output", "--json", id="file, common flag"),
        pytest.param((*ROUTE, "--summary", "--help"), "--summary", "--help", id="help"),
        pytest.param((*ROUTE, "--summary", "-g"), "--summary", "-g", id="short flag"),
        pytest.param((*ROUTE, "--acknowledge", "--interrupt"), "--acknowledge", "--interrupt", id="repeatable"),
        pytest.param(("route", "dev", "PARTIAL", "-sS1", "--summary", "--dry-run"), "--summary", "--dry-run",
                     id="a call that Typer reads"),
        pytest.param(("group", "create", "B", "-s", "S1", "--name", "--security-sensitive"), "--name",
                     "--security-sensitive", id="name"),
    ],
)  # fmt: skip
def test_a_flag_of_the_command_is_no_value(ask: Ask, call: tuple[str, ...], option: str, flag: str) -> None:
    answer = ask(*call)
    assert (answer["_exit"], answer["code"]) == (64, "USAGE")
    assert answer["error"] == f"{option} needs a value; {flag} is an option of this command."
    assert f"{option}={flag}" in answer["suggestion"]
    assert ask("audit", "decisions", "S1", "--status", "READY_FOR_QA")["decisions"] == []


def test_an_option_without_its_value_names_the_help_of_its_command() -> None:
    with pytest.raises(UsageError) as caught:
        typer_parser.read([catalogue.find("task set-status")], ["task", "set-status", "T", "blocked", "--reason"])
    assert caught.value.suggestion == "orchestrator task set-status --help"


def test_a_flag_that_is_meant_as_a_text_is_one(ask: Ask) -> None:
    assert ask(*ROUTE, "--summary=--dry-run")["success"] is True
    (report,) = ask("audit", "query", "SELECT summary FROM agent_reports")["rows"]
    assert report == ["--dry-run"]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(("session", "create", "SX", "--testing-mode", "full", "--testing-mode", "disabled"), id="words"),
        pytest.param(("session", "create", "SX", "--testing-mode=full", "--testing-mode", "disabled"), id="equals"),
        pytest.param(("group", "show", "A", "-s", "S1", "--session-id", "S2"), id="two spellings"),
        pytest.param(("group", "show", "A", "-sS1", "-sS2"), id="a call that Typer reads"),
    ],
)
def test_an_option_given_twice_with_different_values_is_refused(ask: Ask, call: tuple[str, ...]) -> None:
    answer = ask(*call)
    assert (answer["_exit"], answer["code"]) == (64, "USAGE")
    assert answer["error"].endswith("is given twice with different values.")


def test_an_option_given_twice_with_the_same_value_is_taken(ask: Ask) -> None:
    assert ask("group", "show", "A", "-s", "S1", "--session-id", "S1")["success"] is True


@pytest.mark.parametrize("words", catalogue.every())
def test_every_option_of_every_command_refuses_a_flag(words: str) -> None:
    command = catalogue.find(words)
    for parameter in command.parameters:
        if parameter.flags and parameter.kind != options.FLAG:
            for read in (fast_parser.read, fast_parser.scan):
                with pytest.raises(UsageError, match="is an option of this command"):
                    read(command, [parameter.flags[-1], "--json"])


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (("task", "list", "-s", "S1", "--status", "in_progres"), "in_progress"),
        (("group", "list", "-s", "S1", "--status", "complete"), "completed"),
        (("audit", "blockers", "S1", "--status", "opn"), "open"),
        (("audit", "decisions", "S1", "--status", "READY_FOR_QQ"), "READY_FOR_QA"),
    ],
)
def test_a_status_that_nothing_has_is_refused_with_the_nearest(ask: Ask, call: tuple[str, ...], near: str) -> None:
    answer = ask(*call)
    assert (answer["_exit"], answer["code"], answer["did_you_mean"]) == (64, "USAGE", near)


@pytest.mark.parametrize("spelling", ["in-progress", "In Progress", "IN_PROGRESS", " in_progress "])
def test_a_status_is_read_with_hyphen_blank_and_case_as_one(ask: Ask, spelling: str) -> None:
    assert ask(*ROUTE)["group_status"] == "in_progress"
    assert [each["id"] for each in ask("group", "list", "-s", "S1", "--status", spelling)["groups"]] == ["A"]


@pytest.mark.parametrize(
    ("role", "status"),
    [
        ("Senior Software-Engineer", "partial"), ("DEV", "ready-for-qa"), ("developer", "Ready For QA"),
        ("tech-lead", "Changes Requested"),
    ],
)  # fmt: skip
def test_roles_and_statuses_are_read_alike(ask: Ask, role: str, status: str) -> None:
    assert ask("route", role, status, "-s", "S1", "-g", "A")["success"] is True


def test_a_role_that_is_nearly_one_is_suggested(ask: Ask) -> None:
    answer = ask("route", "techlead", "APPROVED", "-s", "S1", "-g", "A")
    assert (answer["code"], answer["did_you_mean"]) == ("UNKNOWN_ROLE", "tech_lead")
    assert "did you mean tech_lead?" in answer["error"]


def test_a_decision_on_a_known_status_may_be_absent(ask: Ask) -> None:
    assert ask("audit", "decisions", "S1", "--status", "approved")["decisions"] == []


def test_a_chat_is_meant_only_by_its_name(ask: Ask) -> None:
    assert ask("session", "create", "C1", "--kind", "chat")["success"] is True
    assert ask("group", "show", "A")["group"]["id"] == "A"
    assert ask("route", "developer", "READY_FOR_QA", "-g", "A")["session_id"] == "S1"
    assert ask("session", "show", "C1")["session"]["kind"] == "chat"
