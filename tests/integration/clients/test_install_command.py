"""`orchestrator install ...` as it is called: the database, the session for the next client, exit codes."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.doors.cli import main
from tests.integration.clients.test_install import LOCAL, put, tree


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> Any:
    for name in ("ORCHESTRATOR_DB", *bootstrap.CLIENTS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")

    def called(*words: str, client: str = "claude-code") -> tuple[int, dict[str, Any]]:
        code = main.main(["install", client, *words, "--json"])
        return code, json.loads(capfd.readouterr().out)

    return called


def test_one_command_makes_a_folder_ready_and_another_one_puts_it_back(call: Any, tmp_path: pathlib.Path) -> None:
    code, answer = call()
    assert (code, answer["db"]) == (0, str(tmp_path / "project/.orchestrator/orchestrator.db"))
    assert LOCAL in [each["path"] for each in answer["changes"]]
    assert call()[1]["changes"] == []
    assert call("--uninstall")[0] == 0
    assert {path.partition("/")[0] for path in tree(tmp_path / "project")} == {".orchestrator"}
    assert (tmp_path / "project/.orchestrator/orchestrator.db").exists()


def test_the_same_for_codex_and_its_session_is_known_by_the_variable_that_it_sets(
    call: Any, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, answer = call(client="codex")
    assert (code, answer["client"]) == (0, "codex")
    assert call(client="codex")[1]["changes"] == []
    monkeypatch.setenv("CODEX_SESSION_ID", "a-conversation")
    main.main(["session", "create", "S1", "--goal", "x"])
    capfd.readouterr()
    monkeypatch.delenv("CODEX_SESSION_ID")
    path = str(tmp_path / "project/.orchestrator/orchestrator.db")
    context = bootstrap.open_context(path, write=False, door="cli")
    assert context.connection.execute("SELECT client FROM adoptions").fetchall() == [("a-conversation",)]
    assert call("--uninstall", client="codex")[0] == 0
    assert {path.partition("/")[0] for path in tree(tmp_path / "project")} == {".orchestrator"}


def test_a_check_before_anything_is_installed_says_so_and_creates_nothing(call: Any, tmp_path: pathlib.Path) -> None:
    code, answer = call("--check")
    assert code == 1
    assert ("missing", ".orchestrator") in [(each["id"], each["path"]) for each in answer["problems"]]
    assert tree(tmp_path / "project") == {}


def test_settings_that_are_refused_create_no_database(call: Any, tmp_path: pathlib.Path) -> None:
    put(tmp_path / "project", LOCAL, "{")
    before = tree(tmp_path / "project")
    code, answer = call()
    assert (code, answer["code"], answer["problems"][0]["path"]) == (4, "E105", "$")
    assert tree(tmp_path / "project") == before


def test_a_session_is_given_to_the_next_client(
    call: Any, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    call()
    assert call("--session", "S1")[1]["code"] == "UNKNOWN_SESSION"
    main.main(["session", "create", "S1", "--goal", "x"])
    capfd.readouterr()
    assert call("--session", "S1")[0] == 0
    context = bootstrap.open_context(str(tmp_path / "project/.orchestrator/orchestrator.db"), write=False, door="cli")
    assert context.connection.execute("SELECT session_id, client FROM adoptions").fetchall() == [("S1", None)]


def test_a_database_that_hooks_do_not_find_is_refused(call: Any, tmp_path: pathlib.Path) -> None:
    call()
    code, answer = call("--db", str(tmp_path / "other.db"))
    assert (code, answer["code"]) == (64, "USAGE")
    assert "Hooks in" in answer["error"]
