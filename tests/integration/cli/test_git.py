"""What git does to a database, and what git does not get to do: played with git itself."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
from typing import Any

import pytest

from tests.integration.cli.conftest import Run

NOWHERE = ""
DATABASE = pathlib.Path(".orchestrator") / "orchestrator.db"


def git(folder: pathlib.Path, *arguments: str) -> str:
    settings = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    argv = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(argv, cwd=folder, env=settings, check=True, capture_output=True, text=True).stdout


class Project:
    """A repository with the product's own database in it, and a machine's memory of its own."""

    def __init__(self, run: Run, root: pathlib.Path, state: pathlib.Path) -> None:
        self._run, self.root, self.state = run, root, state
        git(root.parent, "init", "-q", str(root))
        (root / "file").write_text("x")

    def __call__(self, *words: str, cwd: pathlib.Path | None = None) -> dict[str, Any]:
        done = self._run(
            *words, "--json", cwd=cwd or self.root, ORCHESTRATOR_DB=NOWHERE, XDG_STATE_HOME=str(self.state)
        )
        return {**json.loads(done.stdout), "exit": done.returncode}

    def commit(self, *added: str) -> None:
        git(self.root, "add", *(added or ("-A",)))
        git(self.root, "commit", "-qm", "all")

    def codes(self) -> tuple[set[str], set[str]]:
        """What doctor finds of git and of the past, and what a verification finds."""
        seen = {each["id"] for each in self("doctor")["findings"]} & {"WENT_BACK", "REPLACED", "TRACKED_BY_GIT"}
        return seen, set(self("audit", "verify")["counts"])


@pytest.fixture
def project(run: Run, tmp_path: pathlib.Path) -> Project:
    project = Project(run, tmp_path / "project", tmp_path / "state")
    project("init")
    project("session", "create", "S1")
    return project


STEPS = (
    (("add", "-A"), ("commit", "-qm", "all"), ("reset", "-q", "--hard")),
    (("add", "-A"), ("commit", "-qm", "all"), ("checkout", "-q", "-b", "other"), ("checkout", "-q", "-")),
    (("stash", "-q", "-u"),),
    (("clean", "-fdq"),),
    (("add", "-A"), ("stash", "-q")),
)


@pytest.mark.parametrize("steps", STEPS, ids=lambda steps: " ".join(steps[-1]))
def test_what_git_does_takes_nothing_away(project: Project, steps: tuple[tuple[str, ...], ...]) -> None:
    git(project.root, "commit", "-q", "--allow-empty", "-m", "first")
    assert "orchestrator" not in git(project.root, "status", "--porcelain", "-uall")
    for number, step in enumerate(steps):
        git(project.root, *step)
        assert project("group", "create", f"G{number}", "-s", "S1", "--by", "project_manager")["success"]
    assert len(project("group", "list", "-s", "S1")["groups"]) == len(steps)
    assert project.codes() == (set(), set())


def test_evidence_of_a_run_is_ignored_as_well(project: Project) -> None:
    from orchestrator.runner import evidence_files

    shutil.rmtree(project.root / ".orchestrator")
    (evidence_files.session_folder(project.root, "S1") / "log").write_text("x")
    assert (project.root / ".orchestrator" / ".gitignore").read_text() == "*\n"
    assert "orchestrator" not in git(project.root, "status", "--porcelain", "-uall")


def test_a_folder_that_an_older_program_made_is_ignored_from_the_next_init(project: Project) -> None:
    (project.root / ".orchestrator" / ".gitignore").unlink()
    assert "orchestrator" in git(project.root, "status", "--porcelain", "-uall")
    assert project("init")["success"]
    assert "orchestrator" not in git(project.root, "status", "--porcelain", "-uall")


def test_a_database_that_git_tracks_is_named_until_it_does_not(project: Project) -> None:
    assert project("status")["warnings"] == []
    project.commit("-f", str(DATABASE))
    for words in (("init",), ("status",), ("status", "S1"), ("audit", "verify"), ("audit", "verify", "S1")):
        (warning,) = project(*words)["warnings"]
        assert f"git -C {project.root} rm --cached -- {DATABASE}" in warning, words
        assert project(*words)["exit"] == 0
    assert project.codes() == ({"TRACKED_BY_GIT"}, set())
    git(project.root, "rm", "-q", "--cached", str(DATABASE))
    assert project("status")["warnings"] == []


@pytest.mark.parametrize("how", [("reset", "-q", "--hard"), ("stash", "-q"), ("checkout", "-q", "--", ".")])
def test_a_database_that_git_brought_back_is_named(project: Project, how: tuple[str, ...]) -> None:
    project.commit("-f", str(DATABASE))
    project("group", "create", "A", "-s", "S1", "--by", "project_manager")
    git(project.root, *how)
    for words in (("init",), ("status",), ("status", "S1")):
        warning = project(*words)["warnings"][0]
        assert "went back: step 2 of session S1" in warning, words
        assert f"orchestrator db restore FILE --db {project.root / DATABASE}" in warning
    assert project.codes() == ({"WENT_BACK", "TRACKED_BY_GIT"}, {"WENT_BACK"})
    assert project("audit", "verify")["exit"] == project("doctor")["exit"] == 1
    # What is written now covers nothing up.
    project("group", "create", "A", "-s", "S1", "--by", "project_manager")
    project("group", "create", "B", "-s", "S1", "--by", "project_manager")
    assert project.codes() == ({"WENT_BACK", "TRACKED_BY_GIT"}, {"WENT_BACK"})


def test_a_linked_worktree_never_uses_its_copy(project: Project, tmp_path: pathlib.Path) -> None:
    project.commit("-f", str(DATABASE))
    project("group", "create", "A", "-s", "S1", "--by", "project_manager")
    git(project.root, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert (tmp_path / "tree" / DATABASE).exists()
    answer = project("group", "list", "-s", "S1", cwd=tmp_path / "tree")
    assert answer["db"] == str(project.root / DATABASE)
    assert [group["id"] for group in answer["groups"]] == ["A"]


def test_a_clone_has_a_database_that_git_tracks_and_nothing_that_was_seen(
    project: Project, tmp_path: pathlib.Path
) -> None:
    project.commit("-f", str(DATABASE))
    project("group", "create", "A", "-s", "S1", "--by", "project_manager")
    git(tmp_path, "clone", "-q", str(project.root), str(tmp_path / "clone"))
    (warning,) = project("status", "S1", cwd=tmp_path / "clone")["warnings"]
    assert "Git tracks" in warning


DELETED = (
    (("clean", "-fdxq"),),
    (("stash", "-q", "-a"),),
    (("add", "-f", "-A"), ("commit", "-qm", "all"), ("checkout", "-q", "-b", "with"), ("checkout", "-q", "HEAD~")),
)
BEHIND = "step 1 of session S1 ("


@pytest.mark.parametrize("steps", [*DELETED, ()], ids=lambda steps: " ".join(steps[-1]) if steps else "by hand")
def test_a_database_that_is_gone_is_told_of(project: Project, steps: tuple[tuple[str, ...], ...]) -> None:
    git(project.root, "commit", "-q", "--allow-empty", "-m", "first")
    for step in steps:
        git(project.root, *step)
    shutil.rmtree(project.root / ".orchestrator", ignore_errors=bool(steps))
    (project.root / "sub").mkdir()
    path = project.root / DATABASE
    for words in (("status",), ("next",), ("status", "--db", str(path)), ("route", "developer", "READY_FOR_QA")):
        told = project(*words, cwd=project.root / "sub")
        assert (told["exit"], told["code"], told["db"]) == (5, "NO_DATABASE", str(path)), words
        assert (told["error"].startswith(f"The database {path} is gone: "), BEHIND in told["error"]) == (True, True)
        assert f"orchestrator db restore FILE --db {path}" in told["suggestion"]
    (finding,) = project("doctor")["findings"]
    assert (finding["id"], BEHIND in finding["message"]) == ("NO_DATABASE", True)


def test_a_new_database_in_the_place_of_one_that_is_gone_says_so_once(project: Project) -> None:
    shutil.rmtree(project.root / ".orchestrator")
    (warning,) = project("init")["warnings"]
    assert ("Another database was here" in warning, BEHIND in warning) == (True, True)
    assert project("init")["warnings"] == []
    assert "warnings" not in project("status") or project("status")["warnings"] == []
    assert project.codes() == (set(), set())
    (finding,) = [each for each in project("doctor")["findings"] if each["id"] == "EARLIER_DATABASE"]
    assert (finding["severity"], BEHIND in finding["message"]) == ("info", True)


def test_of_a_database_that_this_machine_has_not_seen_nothing_can_be_said(project: Project) -> None:
    shutil.rmtree(project.root / ".orchestrator")
    shutil.rmtree(project.state)
    assert project("status")["error"].startswith("No .orchestrator/orchestrator.db in ")
    assert project("init")["warnings"] == []
    assert "EARLIER_DATABASE" not in {each["id"] for each in project("doctor")["findings"]}


def test_a_backup_that_is_left_is_named(project: Project) -> None:
    copy = project.root / ".orchestrator" / "backups" / "orchestrator-v12-2026-01-01T000000Z.db"
    copy.parent.mkdir()
    assert project("db", "backup", str(copy))["success"]
    for end in ("", "-wal", "-shm"):
        (project.root / f"{DATABASE}{end}").unlink(missing_ok=True)
    assert f"orchestrator db restore {copy} --db" in project("status")["suggestion"]


def test_a_branch_that_tracks_a_database_of_its_own_takes_the_live_one_in_the_open(project: Project) -> None:
    """The file is ignored, so that git puts the branch's over it and asks nobody."""
    project.commit("file")
    git(project.root, "checkout", "-q", "-b", "other")
    project.commit("-f", str(DATABASE))
    git(project.root, "checkout", "-q", "-")
    assert not (project.root / DATABASE).exists()
    # The one of the branch was there first.
    assert project("init")["success"]
    assert project("session", "create", "LIVE")["success"]
    assert project.codes() == (set(), set())
    git(project.root, "checkout", "-q", "other")
    for words in (("init",), ("status",), ("status", "S1")):
        warning = project(*words)["warnings"][0]
        assert "Another database was here, and is lost with all of its steps: step 1 of session LIVE" in warning, words
        assert f"orchestrator db restore FILE --db {project.root / DATABASE}" in warning
    assert project.codes() == ({"REPLACED", "TRACKED_BY_GIT"}, {"REPLACED"})
    assert project("audit", "verify")["exit"] == project("doctor")["exit"] == 1
    # Whoever means to go on with it says so.
    assert project("db", "backup", "kept.db")["success"]
    assert project("db", "restore", "kept.db")["success"]
    assert project.codes() == ({"TRACKED_BY_GIT"}, set())


def test_a_mark_that_an_earlier_version_kept_is_used_on(project: Project) -> None:
    kept = (project.state / "orchestrator").rglob("*")
    (mark,) = (each for each in kept if each.is_file() and not each.is_symlink())
    path = project.root / DATABASE
    connection = sqlite3.connect(path)
    (first,) = connection.execute("SELECT hash FROM audit_events WHERE session_id = '@store' AND seq = 1").fetchone()
    connection.close()
    copy = path.read_bytes()
    project("group", "create", "A", "-s", "S1", "--by", "project_manager")
    mark.rename(mark.parents[1] / hashlib.sha256(first + os.fsencode(path)).hexdigest()[:40])
    path.write_bytes(copy)
    assert project.codes() == ({"WENT_BACK"}, {"WENT_BACK"})
    assert mark.exists()


def test_where_nothing_can_be_kept_nothing_is_said(project: Project) -> None:
    shutil.rmtree(project.state)
    project.state.write_text("no folder")
    project.commit("-f", str(DATABASE))
    assert project("group", "create", "A", "-s", "S1", "--by", "project_manager")["success"]
    git(project.root, "reset", "-q", "--hard")
    assert project.codes() == ({"TRACKED_BY_GIT"}, set())
