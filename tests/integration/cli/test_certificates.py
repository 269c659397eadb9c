"""`certificate make` and `certificate check` through the command, in and out of repositories."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from tests.integration.cli.conftest import Run, jsonl

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.com")


def git(folder: pathlib.Path, *words: str) -> str:
    return subprocess.run(
        ["git", *AUTHOR, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()  # fmt: skip


def commit(folder: pathlib.Path, name: str) -> str:
    (folder / name).write_text(name)
    git(folder, "add", name)
    git(folder, "commit", "-q", "-m", name)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "first")
    return folder


def play(run: Run, *merged: str) -> None:
    """Groups A and B of the session, merged as these commits, and accepted."""

    def says(role: str, status: str, **more: object) -> tuple[str, dict[str, object]]:
        return "route", {"session_id": "S1", "current_agent": role, "status": status, **more}

    calls = [says("pm", "PLANNING_COMPLETE")]
    for group, name in zip("AB", merged, strict=True):
        for role, status in (("developer", "READY_FOR_QA"), ("qa_expert", "PASS"), ("tech_lead", "APPROVED")):
            calls.append(says(role, status, group_id=group))
        calls.append(says("developer", "MERGE_SUCCESS", group_id=group, details={"commit": name}))
    calls += [says("pm", "BAZINGA"), ("validate", {"session_id": "S1"})]
    done = run("batch", stdin=jsonl(calls))
    assert done.returncode == 0, done.stdout


def test_a_certificate_is_checked_where_there_is_no_database(
    run: Run, installed: Run, repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    first = commit(repository, "second")
    play(run, first[:12], commit(repository, "third"))
    made = run("certificate", "make", "--output", "s1.json")
    assert (made.returncode, made.stdout.splitlines()[0]) == (
        0, f"Certificate of session S1 (ACCEPT): {tmp_path / 's1.json'}".encode()
    )  # fmt: skip
    assert run("certificate", "make", "S1", "--output", "s1.json").returncode == 3
    nowhere = {"ORCHESTRATOR_DB": str(tmp_path / "no.db")}
    checked = installed("certificate", "check", "s1.json", "--repo", str(repository), "--json", **nowhere)
    answer = json.loads(checked.stdout)
    assert (checked.returncode, answer["ok"], answer["commits"][0]) == (0, True, first[:12])
    assert answer["warnings"] == ["The certificate is not signed: whoever changes it can make its hash anew."]
    whole = (tmp_path / "s1.json").read_bytes()
    altered = run("certificate", "check", "-", stdin=whole.replace(b"Login", b"Logout"), **nowhere)
    assert altered.returncode == 1
    assert b"groups[0]: this was altered" in altered.stdout
    cut = run("certificate", "check", "-", stdin=whole[:-100], **nowhere)
    assert (cut.returncode, cut.stderr.partition(b":")[0]) == (4, b"error CERTIFICATE_INVALID")
    assert run("certificate", "check", "missing.json").returncode == 5
    printed = run("certificate", "make", "S1")
    assert json.loads(printed.stdout)["certificate"]["head"] == json.loads(whole)["certificate"]["head"]


def test_commits_are_looked_for_in_the_repository(run: Run, repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    merged = commit(repository, "second")
    git(repository, "branch", "old", "HEAD~1")
    play(run, merged, merged)
    run("certificate", "make", "S1", "--output", "s1.json")
    commit(repository, "third")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "-q", "-b", "main")
    commit(tmp_path / "other", "other")

    def found(*words: str) -> tuple[int, str]:
        done = run("certificate", "check", "s1.json", "--repo", *words)
        return done.returncode, (done.stdout + done.stderr).decode()

    assert found("repository")[0] == 0
    for words, code, said in (
        (("repository", "--ref", "old"), 1, "is not contained in old"),
        (("other",), 1, f"merges[1]: commit {merged} is not in the repository: is it the right one?"),
        (("shallow",), 1, "which is a shallow clone"),
        ((".",), 5, "is not a git repository"),
        (("nowhere",), 5, "is not a git repository"),
        (("repository", "--ref", "gone"), 5, "has no commit gone"),
        (("repository", "--ref", "--all"), 5, "has no commit --all"),
    ):
        status, text = found(*words)
        assert (status, said in text) == (code, True), text
    lost = run("certificate", "check", "s1.json", "--ref", "main")
    assert (lost.returncode, b"--repo is missing" in lost.stderr) == (64, True)


def test_a_session_without_a_verdict_gets_no_certificate(run: Run) -> None:
    done = run("certificate", "make", "S1")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"error NO_VERDICT: Session S1 has no verdict yet")
