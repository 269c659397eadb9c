"""Whether somebody is logged in to a client is asked of the client itself, before anything is spent."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator.app.driving import crew, preflight
from orchestrator.errors import EnvironmentProblem
from orchestrator.runner import port
from orchestrator.runner.executors.claude_code import ClaudeCode
from orchestrator.runner.executors.codex import Codex
from tests.cases import every

PATH = {"PATH": "/usr/bin:/bin"}
OUT = """{"loggedIn": false, "authMethod": "none"}"""


def program(folder: pathlib.Path, output: str, code: int, seconds: int = 0) -> str:
    """A client that answers so, and notes with which arguments it was called."""
    path = folder / "client"
    lines = (f"echo \"$@\" >>'{folder}/asked'", f"sleep {seconds}", "cat <<'END'", output, "END", f"exit {code}")
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return str(path)


CASES: list[Any] = [
    (ClaudeCode, OUT, 1, {}, False),
    (ClaudeCode, OUT.replace("false", "true"), 0, {}, True),
    # Another version, which knows no such command, or says something new.
    (ClaudeCode, "error: unknown command 'auth'", 1, {}, True),
    (ClaudeCode, "[]", 0, {}, True),
    (Codex, "Not logged in", 1, {}, False),
    (Codex, "Logged in using ChatGPT", 0, {}, True),
    (Codex, "error: unrecognized subcommand 'login'", 2, {}, True),
    (Codex, "Not logged in", 1, {"CODEX_API_KEY": "sk-made-up"}, True),
    (Codex, "Not logged in", 1, {"CODEX_OSS_BASE_URL": "http://127.0.0.1"}, True),
]


@every(("kind", "output", "code", "variables", "logged_in"), CASES)
def test_only_a_plain_no_counts(
    tmp_path: pathlib.Path, kind: Any, output: str, code: int, variables: dict[str, str], logged_in: bool
) -> None:
    found = kind(program(tmp_path, output, code), {**PATH, "HOME": str(tmp_path), **variables}).is_logged_in()
    assert (found.available, found.code) == (logged_in, None if logged_in else "NOT_LOGGED_IN")


def test_a_provider_of_its_own_needs_no_login(tmp_path: pathlib.Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text('model = "m"\nmodel_provider = "mine"\n')
    assert Codex(program(tmp_path, "Not logged in", 1), {**PATH, "HOME": str(tmp_path)}).is_logged_in().available


def test_a_client_that_hangs_is_not_waited_for(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.runner.executors.logins.TIMEOUT_S", 0.3)
    assert ClaudeCode(program(tmp_path, OUT, 1, seconds=60), PATH).is_logged_in() == port.Availability(True)


def test_who_is_not_logged_in_is_named_before_anything_is_started(tmp_path: pathlib.Path) -> None:
    executor = ClaudeCode(program(tmp_path, OUT, 1), PATH)
    member = crew.Member("claude-code", executor)
    found = preflight.checks(crew.Crew(member, {}), str(tmp_path), "none")
    (login,) = [each for each in found if each.name == "login claude-code"]
    assert (login.ok, login.message, "/login" in login.suggestion) == (False, "Claude Code is not logged in.", True)
    assert (tmp_path / "asked").read_text() == "auth status\n"
    with pytest.raises(EnvironmentProblem, match="login claude-code: Claude Code is not logged in"):
        preflight.require(found)
