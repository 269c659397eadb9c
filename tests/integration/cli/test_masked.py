"""No secret pattern reaches a terminal: what is stored as it was said is masked where it is shown."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Command

SECRET = "password=hunter2hunter2"  # noqa: S105 - made up


@pytest.fixture
def told(command: Command) -> Command:
    assert command("init").returncode == 0
    assert command("session", "create", "S1", "--goal", f"log in with {SECRET}").returncode == 0
    return command


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("words", [("status", "S1"), ("session", "show", "S1"), ("session", "list")])
def test_p25_a_secret_is_masked_in_every_form(told: Command, words: tuple[str, ...], form: tuple[str, ...]) -> None:
    shown = told(*words, *form)
    assert "hunter2" not in shown.stdout + shown.stderr
    assert "[MASKED:" in shown.stdout


def test_p25_an_answer_in_a_batch_is_masked(told: Command) -> None:
    line = json.dumps({"op": "session show", "args": {"id": "S1"}})
    shown = told("batch", stdin=f"{line}\n")
    assert "hunter2" not in shown.stdout
    assert "[MASKED:" in json.loads(shown.stdout)["session"]["goal"]


def test_p25_an_error_is_masked(told: Command) -> None:
    shown = told("session", "pause", "S1", "--by", SECRET, "--reason", "r")
    assert "hunter2" not in shown.stdout + shown.stderr


def test_what_the_program_itself_gives_out_is_not_masked(told: Command) -> None:
    assert told("task", "create", "T1", "-s", "S1", "--title", "t").returncode == 0
    claimed = json.loads(told("task", "claim", "T1", "--agent-id", "developer", "-s", "S1", "--json").stdout)
    assert claimed["claim"]["token"].startswith("S1:C")
