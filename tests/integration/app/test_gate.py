"""The gate for pull requests on real repositories: which commits pass, and which certificates count."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from orchestrator.app.audit import make_certificate, pull_request_gate
from orchestrator.app.verdict import validate_session
from orchestrator.core import certificates, strict_json
from orchestrator.core.validation.snapshot import Merge
from orchestrator.errors import OrchestratorError
from orchestrator.runner import surroundings
from tests import forging, persons
from tests.integration.app.table import SESSION
from tests.integration.app.test_certificates import SIGNS
from tests.integration.app.test_drive import REST, Team
from tests.integration.app.test_drive_trees import MERGES, build, team, through
from tests.integration.app.test_validate import Court
from tests.integration.cli.test_certificates import commit, git

__all__ = ["team"]
Answer = dict[str, Any]


class Project:
    """A repository with a branch `work` from `main`, and accepted sessions that report its commits."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        git(self.folder, "init", "-q", "-b", "main")
        git(self.folder, "config", "log.showSignature", "true")
        commit(self.folder, "first")
        git(self.folder, "checkout", "-q", "-b", "work")
        self.courts: list[Court] = []

    def commit(self, name: str) -> str:
        return commit(self.folder, name)

    def merge(self, branch: str, *more: str) -> str:
        git(self.folder, "merge", "-q", "--no-ff", *more, "-m", f"Merge {branch}", branch)
        return git(self.folder, "rev-parse", "HEAD")

    def branch(self, *names: str) -> str:
        """A branch `group` of these commits, which is left again; its tip."""
        git(self.folder, "checkout", "-q", "-B", "group")
        tip = [self.commit(name) for name in names][-1]
        git(self.folder, "checkout", "-q", "work")
        return tip

    def accept(self, *commits: str, bazinga: bool = True) -> Court:
        names = [f"G{number}" for number in range(len(commits))]
        court = Court(*names, plan=True)
        # The working folder is another repository, where none of these commits is.
        court.context.run = None
        for name, merged in zip(names, commits, strict=True):
            court.approve(name)
            court.says("developer", "MERGE_SUCCESS", name, details={"commit": merged})
        if bazinga:
            court.bazinga()
        court.judge()
        return court

    def gate(self, court: Court | None = None, base: str = "main", **more: Any) -> Answer:
        return pull_request_gate.gate(str(self.folder), base, "HEAD", context=court and court.context, **more)

    def uncovered(self, court: Court | None = None, **more: Any) -> list[str]:
        answer = self.gate(court, **more)
        found = [each["subject"] for each in answer["commits"] if not each["covered"]]
        assert (answer["uncovered"], answer["ok"], answer["exit_code"]) == (len(found), not found, int(bool(found)))
        return found


@pytest.fixture
def project(tmp_path: pathlib.Path) -> Project:
    return Project(tmp_path)


def test_work_of_accepted_sessions_passes(project: Project) -> None:
    assert project.uncovered() == []
    alone = project.commit("alone")
    tip = project.branch("one", "two")
    first = project.merge("group")
    project.branch("three", "four")
    merged = project.merge("group")
    assert project.uncovered(project.accept(alone, tip, merged)) == ["one"]
    assert project.uncovered(project.accept(alone, first, merged)) == []
    assert sorted(project.uncovered(project.accept(alone, merged))) == ["one", "two"]
    assert project.uncovered() == ["four", "three", "two", "one", "alone"]


def test_what_nobody_accepted_does_not_pass(project: Project) -> None:
    project.commit("stray")
    tip = project.branch("one")
    git(project.folder, "merge", "-q", "--no-commit", "--no-ff", "group")
    (project.folder / "smuggled").write_text("in")
    git(project.folder, "add", "smuggled")
    git(project.folder, "commit", "-q", "-m", "Merge with more")
    answer = project.gate(project.accept(tip))
    assert [(each["subject"], each["by"], each["files"]) for each in answer["commits"] if not each["covered"]] == [
        ("Merge with more", "it is a merge with changes of its own", ["one", "smuggled"]),
        ("stray", "no accepted work covers it", ["stray"]),
    ]


@pytest.mark.parametrize(("digits", "bazinga"), [(20, True), (40, False)], ids=["shortened", "rejected"])
def test_a_shortened_commit_and_a_rejected_session_cover_nothing(project: Project, digits: int, bazinga: bool) -> None:
    court = project.accept(project.commit("one")[:digits], bazinga=bazinga)
    assert project.uncovered(court) == ["one"]
    assert ["names shortened commit ids" in each for each in project.gate(court)["warnings"]] == [True] * bazinga


def test_a_commit_from_before_its_session_covers_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = project.commit("old"), project.commit("new")

    def look_up(found: tuple[Merge, ...], *_: object) -> tuple[Merge, ...]:
        return tuple(merge._replace(ancestor=True, is_older=merge.commit == old) for merge in found)

    monkeypatch.setattr(validate_session, "look_up", look_up)
    court = project.accept(old, new)
    assert project.uncovered(court) == ["old"]
    warned = f"session {SESSION} names commits from before it began, which cover nothing: {old[:12]}"
    assert project.gate(court)["warnings"] == [warned]


def test_a_session_whose_record_was_altered_covers_nothing(project: Project) -> None:
    court = project.accept(project.commit("one"))
    forging.disarm(court.context.connection)
    court.context.connection.execute("UPDATE agent_reports SET summary = 'other' WHERE seq = 5")
    answer = project.gate(court)
    assert (answer["uncovered"], len(answer["warnings"])) == (1, 1)
    assert "does not verify" in answer["warnings"][0]


def certificate(project: Project, court: Court, key: pathlib.Path | None, name: str = "s1.json") -> tuple[str, bytes]:
    court.context.surroundings = surroundings.Surroundings()
    made = court.do("certificate make", session_id=SESSION, sign=key and str(key.with_suffix("")))
    data = strict_json.canonical(made["document"]).encode()
    path = project.folder / name
    path.write_bytes(data)
    return str(path), data


@SIGNS
def test_a_certificate_that_is_committed_beside_its_work_passes(project: Project, tmp_path: pathlib.Path) -> None:
    key = persons.key(tmp_path)
    file = certificate(project, project.accept(project.commit("one")), key)
    git(project.folder, "add", "s1.json")
    git(project.folder, "commit", "-q", "-m", "Certify")
    assert project.uncovered(files=[file], known=key.read_text()) == []
    answer = project.gate(files=[file], known=key.read_text())
    assert [each["by"] for each in answer["commits"]] == [
        "holds certificates alone", f"certificate {file[0]} of session S1"
    ]  # fmt: skip
    (project.folder / "s1.json").write_text("{}")
    git(project.folder, "commit", "-q", "-a", "-m", "Replace")
    assert project.uncovered(files=[file], known=key.read_text()) == ["Replace", "Certify"]


@SIGNS
def test_only_certificates_of_known_keys_count(project: Project, tmp_path: pathlib.Path) -> None:
    ours, theirs = persons.key(tmp_path, "ours"), persons.key(tmp_path, "theirs")
    court, known = project.accept(project.commit("one")), ours.read_text()
    files = [
        certificate(project, court, theirs, "theirs.json"),
        certificate(project, court, None, "unsigned.json"),
        certificate(project, project.accept(project.commit("two"), bazinga=False), ours, "rejected.json"),
        ("cut.json", certificate(project, court, ours)[1][:-50]),
    ]
    answer = project.gate(files=files, known=known)
    assert answer["uncovered"] == 2
    said = ["not among the known ones", "it is not signed", "not ACCEPT", "it is cut off"]
    for each, part in zip(answer["certificates"], said, strict=True):
        assert (each["counts"], part in each["problems"][0]) == (False, True), each
    with pytest.raises(OrchestratorError, match="signed by a known key"):
        project.gate(files=files)


def test_a_range_that_cannot_be_seen_is_refused(project: Project, tmp_path: pathlib.Path) -> None:
    project.commit("one")
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{project.folder}", "shallow")
    for folder, base, code in (
        (tmp_path / "shallow", "origin/main", "SHALLOW_CLONE"),
        (project.folder, "gone", "NO_REPOSITORY"),
        (tmp_path, "main", "NO_REPOSITORY"),
    ):
        with pytest.raises(OrchestratorError) as caught:
            pull_request_gate.gate(str(folder), base, "HEAD")
        assert caught.value.code == code


def test_the_work_of_a_driven_team_passes(team: Team) -> None:
    """Each group has a commit of its own that the driver merges, the later one with a conflict that is resolved."""
    git(team.folder, "branch", "base")
    team.desk.planned("S1", "A", "B")
    merges = [each for group in "AB" for each in through(group, MERGES | {"group": group})]
    assert team.drive(build("A", "of A\n"), build("B", "of B\n"), REST[3], *merges, land=True)["landed"] is True
    answer = pull_request_gate.gate(str(team.folder), "base", "main", context=team.desk.context, is_named=False)
    assert [each for each in answer["commits"] if not each["covered"]] == []
    assert {each["by"] for each in answer["commits"]} == {"session S1", "merges and adds nothing"}
    body = make_certificate.body(team.desk.context, "S1")
    assert [each["proof"] for each in body["merges"]] == ["merged", "merged"]
    assert certificates.problems(certificates.read(certificates.document(body).encode(), "it")) == []


# What somebody who asks for a merge might try


def test_a_session_that_a_row_alone_calls_accepted_covers_nothing(project: Project) -> None:
    court = project.accept(project.commit("one"), bazinga=False)
    forging.disarm(court.context.connection)
    court.context.connection.execute("PRAGMA ignore_check_constraints = 1")
    court.context.connection.execute("UPDATE sessions SET outcome = 'accepted'")
    assert project.uncovered(court) == ["one"]


def test_a_name_that_could_be_two_commits_is_refused(project: Project) -> None:
    """Else a tag of the base's name would empty the range."""
    project.commit("stray")
    git(project.folder, "config", "core.warnAmbiguousRefs", "false")
    git(project.folder, "tag", "main")
    with pytest.raises(OrchestratorError, match="Several") as caught:
        project.gate()
    assert caught.value.code == "NO_REPOSITORY"


def test_a_replaced_commit_hides_nothing(project: Project) -> None:
    project.commit("stray")
    git(project.folder, "replace", "HEAD", "main")
    assert project.uncovered() == ["stray"]


def test_a_merge_that_anybody_makes_covers_nothing_beneath_a_reported_commit(project: Project) -> None:
    tip = project.branch("stray", "one")
    project.merge("group")
    assert project.uncovered(project.accept(tip)) == ["stray"]


@SIGNS
def test_a_certificate_hides_no_submodule(project: Project, tmp_path: pathlib.Path) -> None:
    def pin(commit: str) -> None:
        git(project.folder, "update-index", "--add", "--cacheinfo", f"160000,{commit},part")

    key = persons.key(tmp_path)
    (project.folder / ".gitmodules").write_text('[submodule "part"]\n\tpath = part\n\turl = x\n\tignore = all\n')
    git(project.folder, "add", ".gitmodules")
    pin("1" * 40)
    git(project.folder, "commit", "-q", "-m", "part")
    file = certificate(project, project.accept(git(project.folder, "rev-parse", "HEAD")), key)
    git(project.folder, "add", "s1.json")
    pin("2" * 40)
    git(project.folder, "commit", "-q", "-m", "Certify")
    assert project.uncovered(files=[file], known=key.read_text()) == ["Certify"]


@SIGNS
def test_a_repository_without_a_worktree_is_looked_at(project: Project, tmp_path: pathlib.Path) -> None:
    key = persons.key(tmp_path)
    file = certificate(project, project.accept(project.commit("one")), key)
    git(tmp_path, "clone", "-q", "--bare", str(project.folder), "bare")
    answer = pull_request_gate.gate(str(tmp_path / "bare"), "main", "work", files=[file], known=key.read_text())
    assert answer["ok"]
