"""Every parameter that names a file takes regular files in UTF-8; all else ends at once, with the file's name."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import resources
from tests.integration.cli.conftest import Ask

WORKFLOW = resources.path("workflow") / "transitions.json"
REPORT = ("route", "developer", "READY_FOR_QA", "-s", "S1", "-g", "A")

NAMED: dict[str, tuple[str, ...]] = {
    "report": (*REPORT, "--report", "given"),
    "output": (*REPORT, "--output", "given"),
    "metadata of a report": (*REPORT, "--metadata", "given"),
    "text": (*REPORT, "--summary", "@given"),
    "object": (*REPORT, "--details", "@given"),
    "array": ("criterion", "add", "C", "-s", "S1", "--text", "t", "--command", "@given"),
    "metadata": ("metadata", "check", "given"),
    "workflow to load": ("workflow", "load", "given"),
    "workflow to check": ("workflow", "check", "given"),
    "workflow of a new database": ("init", "--workflow", "given"),
    "key": ("human", "enrol", "--ssh-key", "given"),
}
WITHOUT_TEXT: dict[str, tuple[str, ...]] = {
    "batch": ("batch", "given"),
    "export": ("audit", "import", "given"),
    "peer": ("import", "peer", "given"),
    "backup": ("db", "restore", "given"),
    "database": ("status", "--db", "given"),
}
SECRET: dict[str, tuple[str, ...]] = {
    "token of a person": ("session", "end", "S1", "--reason", "r", "--human-token-file", "given"),
    "token of a server": ("serve", "--port", "0", "--token-file", "given"),
}
STRANGE: dict[str, Callable[[pathlib.Path], Any]] = {
    "pipe": lambda path: os.mkfifo(path),
    "folder": lambda path: path.mkdir(),
    "loop of links": lambda path: path.symlink_to(path.name),
    "device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.fixture(autouse=True)
def _here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("named", NAMED | WITHOUT_TEXT)
def test_what_is_no_regular_file_is_named_and_not_waited_for(
    ask: Ask, tmp_path: pathlib.Path, named: str, strange: str
) -> None:
    STRANGE[strange](tmp_path / "given")
    answer = ask(*(NAMED | WITHOUT_TEXT)[named])
    assert answer["_exit"] in (4, 5), answer
    # Of a database the file is told that a link leads to.
    assert "given" in answer["error"] or "/dev/zero" in answer["error"]


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("named", SECRET)
def test_the_name_of_a_secret_is_not_shown(ask: Ask, tmp_path: pathlib.Path, named: str, strange: str) -> None:
    STRANGE[strange](tmp_path / "given")
    answer = ask(*SECRET[named])
    assert (answer["_exit"], answer["code"]) == (5, "FILE_UNREADABLE")
    assert "given" not in answer["error"].replace("that was given", "")


@pytest.mark.parametrize("named", NAMED)
def test_what_is_not_utf_8_is_told_with_its_place(ask: Ask, tmp_path: pathlib.Path, named: str) -> None:
    (tmp_path / "given").write_bytes(b"caf\xe9\n")
    answer = ask(*NAMED[named])
    assert answer["_exit"] == 4, answer
    assert "given" in answer["error"]
    assert "0xe9" in str(answer) or "line 1" in str(answer)


@pytest.mark.parametrize("named", [*SECRET])
def test_a_secret_that_is_no_text_is_invalid(ask: Ask, tmp_path: pathlib.Path, named: str) -> None:
    (tmp_path / "given").write_bytes(b"caf\xe9\n")
    answer = ask(*SECRET[named])
    assert (answer["_exit"], answer["code"]) == (4, "FILE_INVALID")


@pytest.mark.parametrize("strange", [*STRANGE, "not UTF-8"])
def test_an_agent_file_that_cannot_be_read_is_named(ask: Ask, tmp_path: pathlib.Path, strange: str) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    if strange in STRANGE:
        STRANGE[strange](folder / "x.md")
    else:
        (folder / "x.md").write_bytes(b"caf\xe9\n")
    answer = ask("workflow", "check", str(WORKFLOW), "--agents", "agents")
    assert (answer["_exit"], answer["code"]) == (4, "WORKFLOW_INVALID")
    assert "agents/x.md" in answer["error"]
