"""The same database from wherever the command is called; only `init` creates one."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from tests.integration.cli.conftest import Run

NOWHERE = ""


@pytest.fixture
def run(installed: Run) -> Run:
    """With an interpreter of its own: these tests are about what a start finds."""
    return installed


@pytest.fixture
def project(tmp_path: pathlib.Path, run: Run) -> pathlib.Path:
    """A repository with a database and a folder below."""
    root = tmp_path / "project with space"
    (root / "sub" / "dir").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    done = run("init", "--json", cwd=root / "sub", ORCHESTRATOR_DB=NOWHERE)
    assert json.loads(done.stdout)["db"] == str(root / ".orchestrator" / "orchestrator.db")
    return root


def answered(run: Run, folder: pathlib.Path, *words: str) -> tuple[int, object]:
    """Exit code and database of a call in a folder."""
    done = run(*(words or ("session", "list")), "--json", cwd=folder, ORCHESTRATOR_DB=NOWHERE)
    return done.returncode, json.loads(done.stdout).get("db")


def test_every_folder_of_the_project_finds_its_database(
    project: pathlib.Path, run: Run, tmp_path: pathlib.Path
) -> None:
    database = str(project / ".orchestrator" / "orchestrator.db")
    link = tmp_path / "link"
    link.symlink_to(project / "sub")
    for folder in (project, project / "sub" / "dir", link):
        assert answered(run, folder) == (0, database)


def test_a_linked_worktree_shares_the_database(project: pathlib.Path, run: Run, tmp_path: pathlib.Path) -> None:
    git = ["git", "-C", str(project), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "tree")], check=True, capture_output=True)
    assert answered(run, tmp_path / "tree") == (0, str(project / ".orchestrator" / "orchestrator.db"))


@pytest.mark.parametrize(
    "words",
    [("session", "list"), ("route", "developer", "PARTIAL", "-g", "A"), ("session", "create", "S1"), ("db", "upgrade")],
    ids=["a read", "a route", "another write", "an upgrade"],
)
def test_outside_of_it_nothing_is_found_and_nothing_created(
    words: tuple[str, ...], project: pathlib.Path, run: Run, tmp_path: pathlib.Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    done = run(*words, "--json", cwd=other, ORCHESTRATOR_DB=NOWHERE)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["code"], list(other.iterdir())) == (5, "NO_DATABASE", [])
    assert answer["suggestion"].startswith("orchestrator init")


def test_the_root_of_the_file_system_has_none(run: Run) -> None:
    assert answered(run, pathlib.Path("/"))[0] == 5


def test_an_option_goes_before_the_environment(project: pathlib.Path, run: Run) -> None:
    done = run("session", "list", "--db", str(project / ".orchestrator" / "orchestrator.db"), "--json")
    assert json.loads(done.stdout)["sessions"] == []


def test_init_can_be_repeated(project: pathlib.Path, run: Run) -> None:
    done = run("init", "--json", cwd=project, ORCHESTRATOR_DB=NOWHERE)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["before"] == answer["after"], answer["loaded"]) == (0, True, False)
