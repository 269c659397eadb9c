"""`validate` and `criterion` through the command: exit codes, commands of all kinds, git, other writers."""

from __future__ import annotations

import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.integration.cli.conftest import Completed, Run

PM = ("--by", "project_manager", "--reason", "asked for")
LAST = "SELECT seq FROM audit_events WHERE session_id = 'S1' ORDER BY seq DESC LIMIT 1"


class Project:
    """A folder with a database of its own, in which the command runs."""

    def __init__(self, run: Run, folder: pathlib.Path, database: pathlib.Path) -> None:
        self.folder = folder / "project"
        self.path = self.folder / ".orchestrator" / "orchestrator.db"
        self.path.parent.mkdir(parents=True)
        shutil.copy(database, self.path)
        self._run = run

    def run(self, *words: str, **more: Any) -> Completed:
        return self._run(*words, cwd=self.folder, ORCHESTRATOR_DB="", **more)

    def ok(self, *words: str) -> dict[str, Any]:
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stdout
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def validate(self, *words: str, exit_code: int) -> dict[str, Any]:
        done = self.run("validate", "S1", *words, "--json")
        assert (done.returncode, done.stderr) == (exit_code, b"")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def finish(self, *commit: str) -> None:
        """Group A is built, tested, approved, merged; B is cancelled; the manager confirms."""
        details = ("--details", json.dumps({"commit": commit[0]})) if commit else ()
        for words in (
            ("project_manager", "PLANNING_COMPLETE"), ("developer", "READY_FOR_QA", "-g", "A"),
            ("qa_expert", "PASS", "-g", "A"), ("tech_lead", "APPROVED", "-g", "A"),
            ("developer", "MERGE_SUCCESS", "-g", "A", *details),
        ):  # fmt: skip
            self.ok("route", *words, "-s", "S1")
        self.ok("group", "set-status", "B", "cancelled", "-s", "S1", *PM)
        self.ok("route", "project_manager", "BAZINGA", "-s", "S1")

    def command(self, id: str, *argv: str) -> None:
        self.ok("criterion", "add", id, "-s", "S1", "--text", "it holds", "--command", json.dumps(argv), *PM)

    def python(self, id: str, text: str) -> None:
        self.command(id, sys.executable, "-c", text)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


@pytest.fixture
def project(run: Run, tmp_path: pathlib.Path, database: pathlib.Path) -> Project:
    """A project with session S1 and groups A and B."""
    return Project(run, tmp_path, database)


def failed(verdict: dict[str, Any], level: str = "error") -> list[tuple[str, str]]:
    return [(check["id"], check["subject"]) for check in verdict["checks"] if check["level"] == level]


def test_reject_is_1_and_accept_is_0(project: Project) -> None:
    trial = project.validate(exit_code=1)
    assert (trial["verdict"], trial["recorded"], "report_id" in trial) == ("REJECT", False, False)
    assert "nothing was reported yet" in trial["warnings"][0]
    rejected = project.validate("--record", exit_code=1)
    assert (rejected["success"], rejected["verdict"], rejected["recorded"]) == (True, "REJECT", True)
    assert set(rejected) >= {"verdict", "reason", "checks", "completes", "head", "seq", "report_id", "decision"}
    project.finish()
    accepted = project.validate(exit_code=0)
    assert accepted["verdict"] == "ACCEPT"
    closed = project.validate(exit_code=3)
    assert (closed["success"], closed["code"]) == (False, "SESSION_CLOSED")
    status = json.loads(project.run("status", "S1", "--json").stdout)
    assert (status["state"], status["verdict"]["verdict"], status["verdict"]["fresh"]) == ("ended", "ACCEPT", True)


def test_a_person_can_read_a_verdict(project: Project) -> None:
    done = project.run("validate", "S1", "--dry-run")
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, lines[0]) == (1, "REJECT: V01 (project_manager), V02 (S1, A, B)")
    assert "V02 ERROR   A: is pending and was never started" in "\n".join(lines)
    assert "try: orchestrator why A --session-id S1" in "\n".join(lines)
    project.finish()
    lines = project.run("validate", "S1").stdout.decode().splitlines()
    assert lines[0] == "ACCEPT: every check passed, with 2 warnings"
    assert any(line.split() == "Next: the session has ended, accepted".split() for line in lines)


def test_the_criteria_are_told_to_people(project: Project) -> None:
    project.ok("criterion", "add", "C1", "-s", "S1", "--text", "covered", "--metric", "coverage", "--operator", "ge",
               "--target", "80.5", *PM)  # fmt: skip
    project.command("C2", "pytest", "-q")
    done = project.run("criterion", "set", "C1", "-s", "S1", "--actual", "79", "--by", "qa_expert", "--reason", "x")
    assert done.stdout.decode() == "Criterion C1 of S1 is open: covered\nMeasured: coverage >= 80.5 (79, not met)\n"
    listed = project.run("criterion", "list", "-s", "S1").stdout.decode()
    assert "coverage >= 80.5 (79, not met)" in listed
    assert "pytest -q" in listed
    refused = project.run("criterion", "set", "C1", "-s", "S1", "--status", "met", *PM)
    assert (refused.returncode, b"CRITERION_COMPUTED" in refused.stderr) == (3, True)


@pytest.mark.parametrize("given", ["pytest -q", "{}", "[]", '["a", 1]', "[", "nothing.json"])
def test_a_command_is_a_json_array_of_texts(project: Project, given: str) -> None:
    done = project.run("criterion", "add", "C1", "-s", "S1", "--text", "x", "--command", given, "--json")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (64, "USAGE")


def test_commands_run_in_the_projects_folder_with_little_around_them(project: Project) -> None:
    project.python("C1", "import os; print(os.getcwd(), sorted(set(os.environ) - {'LC_CTYPE'}))")
    project.finish()
    done = project.run("validate", "S1", "--json", ANY_KEY_OF_MINE="x")
    assert json.loads(done.stdout)["verdict"] == "ACCEPT"
    ((content,),) = project.rows("SELECT content FROM evidence")
    assert content.startswith(f"{project.folder.resolve()} [")
    assert "ANY_KEY_OF_MINE" not in content
    # The mark by which its processes are found again is all that it gets of ours.
    assert "ORCHESTRATOR" not in content.replace("'XDG_ORCHESTRATOR_RUN'", "")


def test_a_command_that_needs_stdin_gets_none(project: Project) -> None:
    project.python("C1", "import sys; raise SystemExit(sys.stdin.read() != '')")
    project.finish()
    done = project.run("validate", "S1", "--json", stdin=b"answer\n")
    assert json.loads(done.stdout)["verdict"] == "ACCEPT"


def test_a_command_that_hangs_is_killed_and_fails(project: Project) -> None:
    project.python("C1", "import time; print('all tests passed', flush=True); time.sleep(60)")
    project.finish()
    begun = time.monotonic()
    verdict = project.validate("--command-timeout", "1", exit_code=1)
    assert time.monotonic() - begun < 20
    assert failed(verdict) == [("V10", "C1")]
    assert project.rows("SELECT outcome, content FROM evidence") == [("killed after 1 seconds", "all tests passed\n")]


def test_a_command_that_does_not_exist_fails(project: Project) -> None:
    project.command("C1", "no-such-program-here", "--all")
    project.finish()
    assert failed(project.validate(exit_code=1)) == [("V10", "C1")]


def test_megabytes_of_output_are_kept_by_their_ends(project: Project) -> None:
    project.python("C1", "print('begin' + 'x' * 5_000_000); print('12 passed')")
    project.finish()
    project.validate(exit_code=0)
    ((size, content),) = project.rows("SELECT size, content FROM evidence")
    assert (size, content[:5], content[-10:]) == (5_000_016, "begin", "12 passed\n")
    assert len(content) < 1_100_000


def test_while_commands_run_others_ask_for_more_and_the_verdict_is_refused(
    project: Project, script: pathlib.Path
) -> None:
    more = ["--text", "more", "--command", '["true"]', *PM]
    words = [sys.executable, str(script), "criterion", "add", "C2", "-s", "S1", *more, "--db", str(project.path)]
    patience = {"ORCHESTRATOR_BUSY_TIMEOUT": "1"}
    project.python("C1", f"import subprocess, time; subprocess.run({words!r}, env={patience!r}); time.sleep(1.1)")
    project.finish()
    before = project.rows(LAST)[0][0]

    # No time is left to judge the session from the beginning.
    done = project.run("validate", "S1", "--json", **patience)
    assert done.returncode == 3
    refused = json.loads(done.stdout)

    assert refused["code"] == "STATE_CHANGED"
    assert refused["suggestion"] == "orchestrator validate S1"
    kinds = f"SELECT kind FROM audit_events WHERE session_id = 'S1' AND seq > {before} ORDER BY seq"
    assert project.rows(kinds) == [("criterion add",), ("refusal",)]
    assert project.rows("SELECT count(*) FROM evidence") == [(0,)]
    assert project.rows("SELECT status FROM sessions") == [("active",)]


def test_a_dry_run_changes_nothing(project: Project) -> None:
    marker = project.folder / "ran"
    project.python("C1", f"open({str(marker)!r}, 'w')")
    project.finish()
    before = project.rows(LAST)
    assert failed(project.validate("--dry-run", exit_code=1)) == [("V10", "C1")]
    assert not marker.exists()
    assert project.validate("--dry-run", "--run-commands", exit_code=0)["dry_run"] is True
    assert marker.exists()
    assert project.rows(LAST) == before


def test_the_only_open_session_is_meant(project: Project) -> None:
    assert json.loads(project.run("validate", "--json").stdout)["session_id"] == "S1"


@pytest.mark.parametrize("timeout", ["0", "-1", "86401", "x"])
def test_a_timeout_is_a_number_of_seconds(project: Project, timeout: str) -> None:
    assert project.run("validate", "S1", "--command-timeout", timeout).returncode == 64


# git


def git(folder: pathlib.Path, *words: str) -> str:
    author = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository_of(project: Project) -> dict[str, str]:
    """The project is a repository: commits in the main branch, beside it, and nowhere."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git(project.folder, "init", "-q", "-b", "main")
    (project.folder / ".gitignore").write_text(".orchestrator\n")
    git(project.folder, "add", ".")
    git(project.folder, "commit", "-q", "-m", "one")
    merged = git(project.folder, "rev-parse", "HEAD")
    git(project.folder, "checkout", "-q", "-b", "feature")
    git(project.folder, "commit", "-q", "--allow-empty", "-m", "two")
    beside = git(project.folder, "rev-parse", "HEAD")
    return {"merged": merged, "short": merged[:10], "beside": beside, "nowhere": "0123456789abcdef"}


@pytest.mark.parametrize(
    ("commit", "code", "level"),
    [("merged", 0, None), ("short", 0, None), ("beside", 1, "error"), ("nowhere", 1, "error")],
)
def test_a_merged_commit_is_an_ancestor_of_the_main_branch(
    project: Project, repository_of: dict[str, str], commit: str, code: int, level: str | None
) -> None:
    project.finish(repository_of[commit])
    verdict = project.validate(exit_code=code)
    found = [check["level"] for check in verdict["checks"] if (check["id"], check["subject"]) == ("V16", "A")]
    assert found == ([level] if level else [])


def test_a_commit_from_before_the_session_shows_none_of_its_work(
    project: Project, repository_of: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    git(project.folder, "checkout", "-q", "main")
    git(project.folder, "commit", "-q", "--allow-empty", "-m", "old")
    project.finish(git(project.folder, "rev-parse", "HEAD"))
    (line,) = [check for check in project.validate(exit_code=0)["checks"] if check["id"] == "V16"]
    assert (line["level"], line["message"].partition(":")[0]) == ("warning", "commit_before_session")


def test_a_branch_with_the_name_of_a_commit_is_none(project: Project, repository_of: dict[str, str]) -> None:
    git(project.folder, "branch", "abcdef0123", repository_of["merged"])
    project.finish("abcdef0123")
    (line,) = [check for check in project.validate(exit_code=1)["checks"] if check["id"] == "V16"]
    assert (line["level"], "but a branch or tag of this name" in line["message"]) == ("error", True)


@pytest.mark.parametrize("named", ["main", "--output=/tmp/x", "HEAD", "abc", "a" * 65, "abcd; true"])
def test_what_is_no_commit_id_is_never_handed_to_git(
    project: Project, repository_of: dict[str, str], named: str
) -> None:
    project.finish(named)
    verdict = project.validate(exit_code=0)
    (line,) = [check for check in verdict["checks"] if check["id"] == "V16"]
    assert (line["level"], line["message"][:17]) == ("warning", "unverified_merge:")


def test_where_the_project_is_no_repository_a_commit_is_unverified(project: Project) -> None:
    project.finish("0123456789abcdef")
    verdict = project.validate(exit_code=0)
    (line,) = [check for check in verdict["checks"] if check["id"] == "V16"]
    assert line["level"] == "warning"
    assert "unverified_merge: commit 0123456789abcdef" in line["message"]
