"""`gate` through the command: its forms, its exit codes, and the workflow file that is there to copy."""

from __future__ import annotations

import json
import pathlib
import shutil

import pytest
import yaml

from tests import persons
from tests.integration.app.test_certificates import SIGNS
from tests.integration.cli.conftest import Run
from tests.integration.cli.test_certificates import commit, git, play, repository
from tests.integration.cli.test_schema import json_schema, problems

__all__ = ["repository"]
WORKFLOW = pathlib.Path(__file__).parents[3] / "docs" / "gate.yml"


@SIGNS
def test_a_pull_request_passes_with_the_certificate_of_its_session(
    run: Run, repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    key = persons.key(tmp_path)
    git(repository, "branch", "base")
    play(run, commit(repository, "second"), commit(repository, "third"))
    made = run("certificate", "make", "S1", "--sign", str(key.with_suffix("")), "--output", "s1.json", "--json")
    schema = json_schema("certificate make")
    assert [*problems(json.loads(made.stdout), schema, schema)] == []
    words = ("gate", "s1.json", "--base", "base", "--repo", "repository", "--key", str(key))
    nowhere = {"ORCHESTRATOR_DB": ""}
    done = run(*words, "--json", **nowhere)
    answer, schema = json.loads(done.stdout), json_schema("gate")
    assert [*problems(answer, schema, schema)] == []
    assert (done.returncode, answer["ok"], len(answer["commits"]), answer["db"]) == (0, True, 2, None)
    assert run(*words[:1], *words[2:]).returncode == 0
    commit(repository, "<b>|fourth|")
    said = {}
    for form in ("text", "json", "sarif", "github"):
        done = run(*words, "--format", form, **nowhere)
        assert (done.returncode, done.stderr) == (1, b""), form
        said[form] = done.stdout.decode()
    assert "1 of 3 commits" in said["text"]
    assert json.loads(said["json"])["uncovered"] == 1
    (result,) = json.loads(said["sarif"])["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%3Cb%3E%7Cfourth%7C"
    assert said["github"].startswith("### Gate failed\n")
    assert r"\<b\>\|fourth\|" in said["github"]


def test_a_database_that_came_with_a_commit_covers_nothing(
    run: Run, repository: pathlib.Path, database: pathlib.Path
) -> None:
    git(repository, "branch", "base")
    merged = commit(repository, "second")
    play(run, merged, merged)
    home = repository / ".orchestrator"
    home.mkdir()
    shutil.copy(database, home / "orchestrator.db")

    def found(*words: str) -> tuple[int, bytes]:
        done = run("gate", "--base", "base", *words, cwd=repository, ORCHESTRATOR_DB="")
        return done.returncode, done.stderr

    assert found() == (0, b"")
    git(repository, "add", "-f", ".orchestrator")
    assert found()[0] == 1
    assert b"git tracks it" in found()[1]
    assert found("--db", str(home / "orchestrator.db"))[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--base", "gone"), 5, b"has no commit gone"),
        (("--base", "HEAD", "missing.json", "--key", "missing"), 5, b"missing.json"),
        (("--base", "HEAD", "first"), 64, b"signed by a known key"),
        ((), 64, b"--base"),
        (("--base", "HEAD", "--db", "gone.db"), 5, b"NO_DATABASE"),
    ],
)
def test_a_gate_that_cannot_tell_fails(
    run: Run, repository: pathlib.Path, words: tuple[str, ...], code: int, said: bytes
) -> None:
    done = run("gate", *words, cwd=repository)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_the_workflow_file_takes_its_keys_from_the_base() -> None:
    """Whoever asks for a merge could else add a key of their own to the known ones."""
    (job,) = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"].values()
    assert job["steps"][0]["with"] == {
        "persist-credentials": False, "fetch-depth": 0, "ref": "${{ github.event.pull_request.head.sha }}",
    }  # fmt: skip
    text = "\n".join(step.get("run", "") for step in job["steps"])
    assert 'git show "$BASE:.github/allowed_signers"' in text
    assert "orchestrator gate" in text
    assert "${{" not in text
