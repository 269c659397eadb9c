"""The lines of `install claude-code` and `install codex`."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.doors.cli import install

CREATED = {"path": "a.md", "change": "create", "copy": None}
NEXT = "Next: start claude in this project and type /orchestrate GOAL"
NEXT_IN_CODEX = (
    "Next: start codex in this project, trust it and its hooks when asked (/hooks), and type $orchestrate GOAL"
)
WRONG = {"id": "changed", "path": "a.md", "message": "a.md was changed.", "difference": ""}


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        pytest.param({"changes": [CREATED]}, ["created a.md", NEXT], id="installed"),
        pytest.param({"changes": [CREATED], "dry_run": True}, ["would create a.md"], id="a dry run"),
        pytest.param({}, ["Everything is in place."], id="again"),
        pytest.param({"mode": "uninstall"}, ["Nothing is installed."], id="nothing to remove"),
        pytest.param({"problems": [WRONG]}, ["a.md was changed.", "1 problem."], id="left"),
        pytest.param({"client": "codex", "changes": [CREATED]}, ["created a.md", NEXT_IN_CODEX], id="for Codex"),
        pytest.param(
            {"client": "codex", "mode": "check", "limits": ["It sends no event."]},
            ["Everything is in place.", "What its events cannot hold:", "- It sends no event."], id="with its limits",
        ),
    ],
)
def test_an_installation_says_what_was_done_and_what_comes_next(answer: dict[str, Any], lines: list[str]) -> None:
    default = {
        "client": "claude-code", "mode": "install", "dry_run": False, "changes": [], "problems": [], "limits": [],
        "db": None,
    }  # fmt: skip
    assert install.show({**default, **answer}).splitlines() == lines
