"""Databases that are damaged, closed, foreign or not there: what is said, and with which exit code."""

from __future__ import annotations

import json
import os
import pathlib
import sqlite3
import subprocess
import sys

import pytest

from orchestrator import EnvironmentProblem, Orchestrator
from orchestrator.store import problems
from tests.integration.cli.conftest import Ask, Run, clean_environment, jsonl


@pytest.fixture
def run(installed: Run) -> Run:
    """With an interpreter of its own: these tests are about what a start finds."""
    return installed


@pytest.fixture
def damaged(database: pathlib.Path) -> pathlib.Path:
    """The database, every page of its groups overwritten."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    names = "('task_groups', 'sessions', 'ix_task_groups_open')"
    pages = connection.execute(f"SELECT rootpage FROM sqlite_master WHERE name IN {names} OR tbl_name = 'task_groups'")
    places = [row[0] for row in pages if row[0]]
    connection.close()
    with database.open("r+b") as stream:
        for page in places:
            stream.seek((page - 1) * size)
            stream.write(b"\xff" * size)
    return database


@pytest.mark.parametrize("words", [("group", "list", "-s", "S1"), ("status", "S1"), ("group", "show", "A", "-s", "S1")])
def test_a_damaged_page_is_a_corrupt_database(words: tuple[str, ...], damaged: pathlib.Path, ask: Ask) -> None:
    answer = ask(*words)
    assert (answer["code"], answer["_exit"], "orchestrator doctor" in answer["suggestion"]) == ("CORRUPT", 5, True)


def test_a_batch_and_the_python_interface_say_the_same(damaged: pathlib.Path, run: Run) -> None:
    (answer,) = map(json.loads, run("batch", stdin=jsonl([("group list", {"session_id": "S1"})])).stdout.splitlines())
    assert (answer["code"], answer["exit_code"]) == ("CORRUPT", 5)
    with Orchestrator.open(damaged) as o, pytest.raises(EnvironmentProblem) as caught:
        o.group_list(session_id="S1")
    assert caught.value.code == "CORRUPT"


def test_a_check_says_once_that_the_file_is_damaged(damaged: pathlib.Path, ask: Ask) -> None:
    found = [problem["id"] for problem in ask("db", "check")["problems"]]
    assert found.count("CORRUPT") == 1


def test_a_closed_file_is_a_matter_of_permissions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != "/srv/closed")
    file, folder = problems.unreadable("/srv/o.db"), problems.unreadable("/srv/closed/in/o.db")
    assert (file.suggestion, "may not read it" in file.message) == ("chmod u+r /srv/o.db, as its owner", True)
    assert "init" not in folder.suggestion


def test_a_deleted_working_folder_is_no_matter_for_a_whole_path(
    script: pathlib.Path, database: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    def call(*words: str) -> subprocess.CompletedProcess[bytes]:
        folder = tmp_path / "gone"
        folder.mkdir()
        go = f"import os, sys; os.rmdir({str(folder)!r}); os.execv(sys.executable, sys.argv[1:])"
        argv = [sys.executable, "-c", go, sys.executable, str(script), *words]
        return subprocess.run(argv, cwd=folder, capture_output=True, env=clean_environment(), check=False)

    assert call("status", "S1", "--db", str(database)).returncode == 0
    assert call("doctor", "--db", str(database)).returncode == 0
    done = call("status", "S1", "--json")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (5, "NO_DATABASE")


@pytest.mark.parametrize(("place", "way"), [("folder", "orchestrator.db"), ("/dev/null", "name a file by --db")])
def test_init_on_what_is_no_file_names_a_file(place: str, way: str, ask: Ask, tmp_path: pathlib.Path) -> None:
    (tmp_path / "folder").mkdir()
    answer = ask("init", "--db", place)
    assert (answer["_exit"], way in answer["suggestion"]) == (5, True)


def test_a_backup_makes_no_folder(ask: Ask, tmp_path: pathlib.Path) -> None:
    answer = ask("db", "backup", str(tmp_path / "nope" / "x.db"))
    assert (answer["_exit"], answer["code"], (tmp_path / "nope").exists()) == (5, "NO_FOLDER", False)


def test_another_programs_database_is_none_to_change_the_rights_of(ask: Ask, tmp_path: pathlib.Path) -> None:
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE notes (text)")
    connection.close()
    other.chmod(0o644)
    assert [each["id"] for each in ask("doctor", "--db", str(other))["findings"]] == ["NO_DATABASE"]


def test_a_setting_that_does_not_exist_is_wrong_usage(ask: Ask) -> None:
    answer = ask("session", "create", "S2", ORCHESTRATOR_SYNCHRONOUS="OFTEN")
    assert (answer["_exit"], answer["code"]) == (64, "USAGE")


def test_a_reading_that_cannot_be_printed_recorded_nothing(
    run: Run, script: pathlib.Path, database: pathlib.Path
) -> None:
    run("route", "developer", "READY_FOR_QA", "-g", "A")
    with open("/dev/full", "wb") as full:
        environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
        argv = [sys.executable, str(script), "handoff", "A"]
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, env=environment, check=False)
    assert (done.returncode, b"recorded" in done.stderr) == (5, False)


def test_wrong_metadata_is_explained_once(run: Run) -> None:
    done = run("route", "developer", "READY_FOR_QA", "-g", "A", "--details", "{bad")
    lines = done.stderr.decode().splitlines()
    message = lines[0].partition(": ")[2].rstrip(".")
    assert (done.returncode, done.stderr.decode().count(message)) == (4, 1)
