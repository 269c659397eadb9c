"""`drive` with worktrees: each group in its own, merged by what was measured, and the user's checkout left alone."""

from __future__ import annotations

import json
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.app import maintenance, starts
from orchestrator.app.driving import crew, preflight, trees
from orchestrator.app.kernel import operations
from orchestrator.app.reports import last_messages
from orchestrator.app.running import driven_turn, turn_runs
from orchestrator.app.verdict import finding_runs
from orchestrator.core import database_urls, refs
from orchestrator.errors import EnvironmentProblem, Refused
from orchestrator.runner import commands, driver_locks, process_identity, repository
from orchestrator.store import migrate, turn_reader
from tests.cases import every
from tests.integration.app.test_drive import REST, Team, says

INTEGRATION = "orchestrator/S1/_integration"
LEFT = "TREES_LEFT"
MERGES = says("developer", "MERGE_SUCCESS", "B", writes={"login.py": "of both\n"})


def git(folder: pathlib.Path, *words: str) -> str:
    """What a git command prints."""
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


FORMATS = {"sha256": "--object-format=sha256", "reftable": "--ref-format=reftable"}
"""Forms of a repository besides the usual one, and how git is asked for them."""


@pytest.fixture
def team(tmp_path: pathlib.Path, request: pytest.FixtureRequest) -> Team:
    """A team in a repository with one commit; its parameters are those of `git init`."""
    folder = tmp_path / "project"
    folder.mkdir()
    form = getattr(request, "param", ())
    done = subprocess.run(["git", "init", "-q", "-b", "main", *form, "."], cwd=folder, check=False)
    if done.returncode and form:
        pytest.skip(f"this git knows no {form[0]}")
    assert done.returncode == 0
    (folder / ".gitignore").write_text(".orchestrator/\n")
    (folder / "login.py").write_text("base\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return Team(folder)


in_each_form = pytest.mark.parametrize(
    "team", [(each,) for each in FORMATS.values()], ids=FORMATS.keys(), indirect=True
)


def build(group: str, text: str, **more: Any) -> dict[str, Any]:
    return says("developer", "READY_FOR_QA", group, writes={"login.py": text}, **more)


def through(group: str, *merge: dict[str, Any]) -> list[dict[str, Any]]:
    """QA, review and merge of a group."""
    merged = merge or (says("developer", "MERGE_SUCCESS", group),)
    return [says("qa_expert", "PASS", group), says("tech_lead", "APPROVED", group), *merged]


def reasons(team: Team, *kinds: str) -> str:
    return " | ".join(str(each.get("reason")) for each in team.events if each["event"] in kinds)


def test_the_work_is_put_together_beside_what_the_user_has_checked_out(team: Team) -> None:
    team.desk.planned("S1", "A")
    (team.folder / "mine.txt").write_text("under way\n")
    git(team.folder, "add", "mine.txt")
    before = [git(team.folder, *words) for words in (("rev-parse", "HEAD"), ("status", "--porcelain"))]
    ended = team.drive(build("A", "built\n"), *REST)
    assert (ended["outcome"], ended["landed"], ended["next"][0]) == ("accepted", False, f"git merge {INTEGRATION}")
    assert [git(team.folder, *words) for words in (("rev-parse", "HEAD"), ("status", "--porcelain"))] == before
    assert (git(team.folder, "show", f"{INTEGRATION}:login.py"), reasons(team, "warning")) == ("built", "")
    commit = git(team.folder, "rev-parse", "orchestrator/S1/A")
    proof = "SELECT subject, outcome, content FROM evidence WHERE kind = 'merge'"
    assert team.rows(proof) == [("A", "merged", commit)]
    assert "and seen by its driver" in " ".join(team.desk.call("why", id="A", session_id="S1")["sentences"])
    said = git(team.folder, "log", "-1", "--format=%an %s", "orchestrator/S1/A")
    assert said == "developer developer on A, turn 3"
    assert team.rows("SELECT DISTINCT isolation FROM starts") == [("worktree",)]
    assert team.desk.call("audit replay", session_id="S1")["equal"] is True


def doctored(team: Team) -> list[dict[str, Any]]:
    """What `doctor` finds."""
    path = team.desk.context.path
    if database_urls.is_postgresql(path):
        return list(maintenance.doctor_on_server(path, "", {}, 5.0)["findings"])
    return list(maintenance.doctor(path, {}, team.folder)["findings"])


def test_accepted_work_lands_where_that_is_a_step_forward_and_is_cleaned_up_after(team: Team) -> None:
    team.desk.planned("S1", "A")
    assert team.drive(build("A", "built\n"), *REST, land=True)["landed"] is True
    assert (team.folder / "login.py").read_text() == "built\n"
    left = [each for each in doctored(team) if each["id"] == LEFT]
    assert [(each["subject"], each["suggestion"]) for each in left] == [("S1", "orchestrator drive S1 --clean")]
    assert f"orchestrator/S1/A, {INTEGRATION}" in left[0]["message"]
    cleaned = team.drive(clean=True)
    assert LEFT not in [each["id"] for each in doctored(team)]
    assert (cleaned["removed"], cleaned["kept"]) == (["orchestrator/S1/A", INTEGRATION], [])
    assert git(team.folder, "branch", "--format=%(refname:short)") == "main"


def test_a_tree_with_changes_of_its_own_is_not_landed_in_and_what_is_not_merged_stays(team: Team) -> None:
    team.desk.planned("S1", "A")
    (team.folder / "login.py").write_text("mine\n")
    ended = team.drive(build("A", "built\n"), *REST, land=True)
    assert (ended["landed"], (team.folder / "login.py").read_text()) == (False, "mine\n")
    assert "uncommitted changes" in reasons(team, "warning")
    assert team.drive(clean=True)["removed"] == []


def test_groups_run_side_by_side_and_a_conflict_is_resolved_by_who_merges(team: Team) -> None:
    team.desk.planned("S1", "A", "B")
    steps = [
        build("A", "of A\n", delay_ms=700), build("B", "of B\n", delay_ms=700), REST[3],
        # Whoever comes later has the conflict.
        *(each for group in "AB" for each in through(group, MERGES | {"group": group})),
    ]  # fmt: skip
    ended = team.drive(*steps)
    assert ended["outcome"] == "accepted", reasons(team, "failed", "sent_back", "warning")
    started = [each["group_id"] for each in team.events if each["event"] in ("started", "reported")][:2]
    assert sorted(started) == ["A", "B"]
    assert git(team.folder, "show", f"{INTEGRATION}:login.py") == "of both"
    prompts = [row[0] for row in team.rows("SELECT prompt FROM turn_runs WHERE prompt LIKE '%## The merge%'")]
    assert ["conflicts: login.py" in each for each in prompts].count(True) == 1


def test_a_merge_that_was_not_seen_goes_back_with_the_reason(team: Team) -> None:
    team.desk.planned("S1", "A", "B")
    claimed = says("developer", "MERGE_SUCCESS", "B")
    steps = [build("A", "of A\n"), build("B", "of B\n"), *through("A"), *through("B", claimed, MERGES), REST[3]]
    # One after the other, so that it is B whose merge has the conflict.
    assert team.drive(*steps, parallel=1)["outcome"] == "accepted", reasons(team, "failed")
    assert "is not finished: login.py" in reasons(team, "sent_back")
    assert team.rows("SELECT code FROM refusals WHERE role = 'developer'") == [("MERGE_UNPROVEN",)]


def test_a_merge_of_a_worktree_is_taken_with_its_proof_alone(team: Team) -> None:
    team.desk.planned("S1", "A")
    team.drive(build("A", "built\n"), *REST[:2], max_steps=3)
    start = team.left(process_identity.mine(), isolation="worktree")
    # The driver's own word is not enough, and neither is that of a person who takes the turn over.
    message = "STATUS: MERGE_SUCCESS"
    for report in (
        lambda: last_messages.report(team.desk.context, start, message),
        lambda: team.desk.report("developer MERGE_SUCCESS", "A", interrupt=True),
        lambda: team.desk.report("developer MERGE_SUCCESS", "A", interrupt=True, details={"measured": {"merge": "x"}}),
    ):
        with pytest.raises(Refused) as caught:
            report()
        assert caught.value.code == "MERGE_UNPROVEN"
    assert team.rows("SELECT merged_met FROM completion_paths WHERE group_id = 'A'") == [(0,)]
    last_messages.report(team.desk.context, start, message, lambda *_: last_messages.Proven({}, {"merge": "merged"}))
    assert team.rows("SELECT merged_met FROM completion_paths WHERE group_id = 'A'") == [(1,)]


def test_a_merge_by_hand_needs_a_turn_in_which_no_worktree_was_begun(team: Team) -> None:
    team.desk.planned("S1", "A")
    team.drive(build("A", "built\n"), *REST[:2], max_steps=3)
    start = team.left(process_identity.mine(), isolation="worktree")
    starts.end(team.desk.context, start, outcome="freed", reason="x")
    with pytest.raises(Refused, match="its merge was not verified") as caught:
        team.desk.report("developer MERGE_SUCCESS", "A")
    assert "orchestrator redispatch A -s S1" in str(caught.value.suggestion).replace("--session-id", "-s")
    team.desk.call("redispatch", session_id="S1", group_id="A", reason="I merge it")
    assert team.desk.report("developer MERGE_SUCCESS", "A")["group_status"] == "completed"


@pytest.mark.sqlite("a schema of before is gone back to")
def test_what_older_rules_took_without_a_proof_stays_as_it_was(team: Team) -> None:
    """Its decisions say by which rules they were made, and no evidence is asked of them."""
    team.desk.context.rules_version = 4
    team.desk.planned("S1", "A")
    assert team.drive(build("A", "built\n"), *REST)["outcome"] == "accepted"
    team.desk.context.rules_version = 5
    assert team.rows("SELECT count(*) FROM evidence WHERE kind = 'merge'") == [(0,)]
    # As the version of the schema before had it.
    migrate.downgrade(team.desk.path, "0013", team.desk.clock())
    assert migrate.upgrade(team.desk.path, team.desk.clock()).before == 13
    assert team.rows("SELECT merged_why, valid FROM completion_paths") == [("merged", 1)]
    assert team.desk.call("audit verify")["findings"] == []
    assert team.desk.call("audit replay", session_id="S1")["count"] == 0


def test_what_was_seen_stands_beside_the_report_and_in_the_verdict(team: Team) -> None:
    team.desk.planned("S1", "A")
    idle = says("developer", "READY_FOR_QA")
    assert team.drive(idle, idle, *REST)["outcome"] == "accepted"
    assert "nothing in your folder has changed" in reasons(team, "sent_back")
    assert team.told("sent_back") == ["sent_back"]
    assert team.rows("SELECT code FROM refusals") == [("NOTHING_CHANGED",)]
    rows = team.rows(
        "SELECT json_extract(input, '$.measured.changed'), json_extract(input, '$.measured.merge') FROM audit_events"
        " WHERE kind = 'route' AND json_extract(input, '$.measured') IS NOT NULL ORDER BY seq"
    )
    # JSON is text on a server.
    measured = [(changed and int(changed), merge) for changed, merge in rows]
    assert measured == [(0, None), (None, "nothing_to_merge")]
    assert team.rows("SELECT subject, outcome FROM evidence WHERE kind = 'merge'") == [("A", "nothing_to_merge")]
    assert "merged is met: the group changed nothing: MERGE_SUCCESS" in " ".join(
        team.desk.call("why", id="A", session_id="S1")["sentences"]
    )
    ((seq,),) = team.rows("SELECT seq FROM agent_reports WHERE response_status = 'READY_FOR_QA'")
    told = team.desk.call("why", id=f"S1:D{seq}")
    assert told["report"]["measured"]["changed"] is False
    assert "What was seen of it: changed: no; commit: " in " ".join(told["sentences"])
    ((checks,),) = team.rows("SELECT json_extract(input, '$.found.verdict.checks') FROM audit_events"
                             " WHERE kind = 'validate'")
    found = [each for each in json.loads(checks) if each["id"] == "V17"]
    assert [(each["level"], each["subject"]) for each in found] == [("warning", "A")] * 2
    turns = finding_runs.turns(team.desk.context, session_id="S1")
    asked = "SELECT turn FROM agent_reports WHERE response_status IN ('READY_FOR_QA', 'MERGE_SUCCESS') ORDER BY seq"
    assert [turns["A", each["message"]] for each in found] == [turn for (turn,) in team.rows(asked)]
    assert team.desk.call("audit replay", session_id="S1")["equal"] is True


def tree(role: str) -> trees.Tree:
    """A folder that is never looked at."""
    return trees.Tree("r", "S1", "A", role, 1, "p", "b", "c", merges=False)


@pytest.mark.parametrize(("role", "effect"), [("developer", "progress"), ("qa_expert", "submit_test")])
def test_only_work_that_a_builder_submits_is_measured(
    monkeypatch: pytest.MonkeyPatch, role: str, effect: str
) -> None:
    monkeypatch.setattr(repository, "tip", lambda _: pytest.fail("it was measured"))
    assert trees.measure(tree(role), effect, asks=True, tell=print) is None


@pytest.mark.parametrize(("merging", "conflicts"), [(True, []), (False, ["a.txt"])])
def test_a_merge_that_is_not_finished_proves_nothing(
    monkeypatch: pytest.MonkeyPatch, merging: bool, conflicts: list[str]
) -> None:
    monkeypatch.setattr(repository, "is_merging", lambda _: merging)
    monkeypatch.setattr(repository, "conflicts", lambda _: conflicts)
    with pytest.raises(Refused, match="is not finished"):
        trees.prove(tree("developer"), print)


def only_a_merge(team: Team, tree: trees.Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge of what the integration branch has already; it has no commit that counts as work."""
    merge = git(pathlib.Path(tree.path), "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-p", "HEAD~", "-m", "merge")
    git(pathlib.Path(tree.path), "reset", "-q", "--hard", merge)


def conflicting(team: Team, tree: trees.Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (pathlib.Path(tree.path), team.folder / refs.folder("S1")):
        (place / "login.py").write_text(f"of {place.name}\n")
        git(place, "commit", "-qam", "changed")


def never_made(team: Team, tree: trees.Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    git(pathlib.Path(tree.path), "commit", "-q", "--allow-empty", "-m", "built")
    monkeypatch.setattr(repository, "merge", lambda *_, **__: [])


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (only_a_merge, "A is not contained in"),
        (conflicting, "A conflicts with"),
        (never_made, "A is not contained in"),
    ],
)
def test_a_merge_that_the_integration_branch_does_not_hold_is_unproven(
    team: Team, monkeypatch: pytest.MonkeyPatch, left: Callable[..., None], why: str
) -> None:
    git(team.folder, "commit", "-q", "--allow-empty", "-m", "second")
    start = {"session_id": "S1", "group_id": "A", "role": "developer", "turn": 1}
    tree = trees.prepare(str(team.folder), start, None, print)
    left(team, tree, monkeypatch)
    with pytest.raises(Refused, match=why) as caught:
        trees.prove(tree, print)
    assert caught.value.code == "MERGE_UNPROVEN"
    whole = team.folder / refs.folder("S1")
    assert git(whole, "status", "--porcelain", "--untracked-files=no") == ""


def test_a_session_without_an_integration_branch_lands_nothing(team: Team) -> None:
    assert trees.land(str(team.folder), "S9") == "no branch orchestrator/S9/_integration"


def test_only_who_builds_or_tests_leaves_anything_behind(team: Team) -> None:
    team.desk.planned("S1", "A")
    steps = [
        build("A", "built\n"), says("qa_expert", "PASS", writes={"test_login.py": "ok\n"}),
        says("tech_lead", "APPROVED", writes={"login.py": "by the reviewer\n", "own.txt": "x\n"}), *REST[2:],
    ]  # fmt: skip
    assert team.drive(*steps)["outcome"] == "accepted"
    assert "tech_lead may not write here; reverted: login.py, own.txt" in reasons(team, "warning")
    names = git(team.folder, "ls-tree", "--name-only", INTEGRATION).split()
    assert names == [".gitignore", "login.py", "test_login.py"]
    assert git(team.folder, "show", f"{INTEGRATION}:login.py") == "built"


def test_a_base_that_has_moved_is_merged_in_and_an_empty_group_is_said_to_be_one(team: Team) -> None:
    team.desk.planned("S1", "A")
    team.drive(*[says("developer", "READY_FOR_QA")] * 2, once=True)
    assert "A was submitted, but nothing has changed in its folder" in reasons(team, "warning")
    (team.folder / "later.txt").write_text("x\n")
    git(team.folder, "add", "later.txt")
    git(team.folder, "commit", "-qm", "later")
    assert team.drive(*REST)["outcome"] == "accepted"
    assert "later.txt" in git(team.folder, "ls-tree", "--name-only", INTEGRATION)
    assert "nothing_to_merge" in reasons(team, "warning")


@pytest.mark.parametrize("claimed", [pytest.param({}, id="none"), pytest.param({"commit": "0" * 40}, id="a wrong one")])
def test_the_verdict_finds_the_commit_that_was_merged_whatever_the_agent_names(
    team: Team, claimed: dict[str, str]
) -> None:
    """It is in the integration branch, and in none of the user's."""
    team.desk.context.run = commands.run
    team.desk.planned("S1", "A")
    merge = says("developer", "MERGE_SUCCESS", details=claimed)
    ended = team.drive(build("A", "built\n"), *through("A", merge), REST[3])
    assert ended["outcome"] == "accepted", reasons(team, "verdict")
    (verdict,) = [each for each in team.events if each["event"] == "verdict"]
    assert [each for each in verdict["checks"] if each["id"] == "V16"] == []


@pytest.mark.parametrize("words", [("-b", "feature"), ("--detach",)])
def test_work_on_another_branch_is_brought_to_the_one_that_is_merged(team: Team, words: tuple[str, ...]) -> None:
    team.desk.planned("S1", "A")
    start = {"session_id": "S1", "group_id": "A", "role": "developer", "turn": 3}
    tree = trees.prepare(str(team.folder), start, "spawn", lambda *_: None)
    git(pathlib.Path(tree.path), "checkout", "-q", *words)
    pathlib.Path(tree.path, "login.py").write_text("built\n")
    told: list[str] = []
    trees.finish(tree, lambda _, **more: told.append(more["reason"]))
    assert git(team.folder, "show", "orchestrator/S1/A:login.py") == "built"
    assert ["another branch" in each for each in told] == [True]


def test_a_branch_that_does_not_hold_the_groups_is_refused(team: Team) -> None:
    team.desk.planned("S1", "A")
    start = {"session_id": "S1", "group_id": "A", "role": "developer", "turn": 3}
    tree = trees.prepare(str(team.folder), start, "spawn", lambda *_: None)
    pathlib.Path(tree.path, "login.py").write_text("built\n")
    trees.finish(tree, lambda *_: None)
    git(pathlib.Path(tree.path), "checkout", "-q", "--detach", "main")
    with pytest.raises(Refused, match="does not contain orchestrator/S1/A"):
        trees.finish(tree, lambda *_: None)
    assert git(team.folder, "show", "orchestrator/S1/A:login.py") == "built"


def test_nothing_is_removed_under_an_agent_at_work(team: Team) -> None:
    """A branch without a commit of its own is merged already, whatever its agent has in hand."""
    team.desk.planned("S1", "A")
    start = team.left(process_identity.mine(), isolation="worktree")
    tree = trees.prepare(str(team.folder), start, "spawn", lambda *_, **__: None)
    cleaned = team.drive(clean=True)
    assert (cleaned["removed"], cleaned["kept"], len(cleaned["in_use"])) == ([], [], 2)
    assert pathlib.Path(tree.path, "login.py").read_text() == "base\n"


def test_whoever_cleans_does_so_alone(team: Team) -> None:
    """Neither another cleaning nor a driver that starts may find a tree that is gone in the next moment."""
    team.desk.planned("S1", "A")
    root = str(team.folder)
    start = {"session_id": "S1", "group_id": "A", "role": "developer", "turn": 3}
    trees.prepare(root, start, "spawn", lambda *_, **__: None)
    folder = str(team.folder / ".orchestrator")
    for alone in (True, False):
        with driver_locks.held(folder, "S1", alone=alone) as free:
            cleaned = team.drive(clean=True)
            assert (free, cleaned["removed"], len(cleaned["in_use"])) == (True, [], 2)
    held = driver_locks.held(folder, "S1", alone=True)
    with held, pytest.raises(EnvironmentProblem, match="being removed"):
        team.drive(build("A", "built\n"))
    with driver_locks.held(folder, "S1", alone=False):
        assert team.drive(build("A", "built\n"), once=True)["session_id"] == "S1"



def test_with_a_detached_head_nothing_is_landed_or_removed(team: Team) -> None:
    """What only a detached HEAD holds is gone with the next checkout."""
    team.desk.planned("S1", "A")
    git(team.folder, "checkout", "-q", "--detach")
    before = git(team.folder, "rev-parse", "HEAD")
    ended = team.drive(build("A", "built\n"), *REST, land=True)
    assert (ended["landed"], git(team.folder, "rev-parse", "HEAD")) == (False, before)
    assert reasons(team, "warning").count("detached HEAD") == 2
    git(team.folder, "merge", "-q", INTEGRATION)
    assert team.drive(clean=True)["removed"] == []


@pytest.mark.parametrize(
    ("turns", "action", "answers"),
    [
        pytest.param(0, "spawn", [build("A", "built\n"), *REST], id="of a builder"),
        pytest.param(3, "spawn_merge", [says("developer", "MERGE_SUCCESS"), REST[3]], id="of a merge"),
    ],
)
def test_an_answer_that_a_killed_driver_had_not_routed_is_kept_and_measured_like_any_other(
    team: Team, turns: int, action: str, answers: list[dict[str, Any]]
) -> None:
    team.desk.planned("S1", "A")
    if turns:
        team.drive(build("A", "built\n"), *REST, max_steps=turns)
    start = team.left(process_identity.mine().rpartition(":")[0] + ":1", isolation="worktree")
    tree = trees.prepare(str(team.folder), start, action, lambda *_, **__: None)
    executor = crew.crew(team.script(answers[0]), ()).usual.executor
    order = driven_turn.TurnOrder("S1", "A", start["turn"], "developer", "x", executor, tree.path, str(team.folder))
    starts.bind(team.desk.context, start, worker=driven_turn.run_turn(team.desk.context, order).run)
    ended = team.drive(*answers[1:])
    assert (ended["outcome"], team.told("lost", "recovered", "failed")) == ("accepted", ["recovered"])
    assert git(team.folder, "show", f"{INTEGRATION}:login.py") == "built"
    assert git(team.folder, "log", "--no-merges", "--format=%an", f"main..{INTEGRATION}") == "developer"


@in_each_form
def test_a_repository_of_another_form_is_worked_in_as_in_any(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.desk.planned("S1", "A", "B")
    killed(team, monkeypatch, **{"half.py": "x\n"})
    builds = [build(group, f"of {group}\n") for group in "AB"]
    steps = [*builds, REST[3], *(each for group in "AB" for each in through(group, MERGES | {"group": group}))]
    assert team.drive(*steps)["outcome"] == "accepted", reasons(team, "failed", "verdict", "warning")
    assert git(team.folder, "show", f"{INTEGRATION}:login.py") == "of both"
    assert git(team.folder, "show", f"{INTEGRATION}:half.py") == "x"
    git(team.folder, "merge", "-q", INTEGRATION)
    assert len(team.drive(clean=True)["removed"]) == 3


@in_each_form
def test_a_commit_of_an_agent_in_the_users_checkout_is_seen_in_a_repository_of_another_form(team: Team) -> None:
    team.desk.planned("S1", "A")
    team.drive(executor=team.program(OUTSIDE.format(COMMITS)), once=True)
    assert "the branch of the project's checkout (moved)" in reasons(team, "failed")


def test_criteria_are_judged_where_the_work_is(team: Team) -> None:
    team.desk.planned("S1", "A")
    team.desk.context.run = commands.run
    team.desk.call(
        "criterion add", id="C1", text="it is built", session_id="S1", command=("grep", "-q", "built", "login.py"),
        by="project_manager", reason="x",
    )  # fmt: skip
    assert team.drive(build("A", "built\n"), *REST)["outcome"] == "accepted"


def test_a_hook_that_refuses_a_commit_stops_the_driver_and_its_turn_is_free(team: Team) -> None:
    team.desk.planned("S1", "A")
    hook = team.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho 'no tabs, please'\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(EnvironmentProblem) as caught:
        team.drive(build("A", "built\n"))
    assert (caught.value.code, "no tabs, please" in caught.value.message) == ("GIT_FAILED", True)
    assert team.rows("SELECT outcome FROM starts") == [("freed",)]


def test_where_no_worktree_can_be_made_nothing_is_started(team: Team, tmp_path: pathlib.Path) -> None:
    git(team.folder, "branch", "orchestrator")
    assert "A branch named orchestrator" in preflight._repository(str(team.folder)).message
    assert "not the root of a git repository" in preflight._repository(str(tmp_path)).message


def test_signed_commits_are_named_before_anything_is_started(team: Team) -> None:
    assert preflight.warnings(str(team.folder), trees.WORKTREE) == []
    git(team.folder, "config", "commit.gpgsign", "yes")
    (said,) = preflight.warnings(str(team.folder), trees.WORKTREE)
    assert said.startswith("commits are signed here")


PARTS = [
    ("S1", "S1"), ("a.b", "a=2Eb"), ("_integration", "=5Fintegration"), ("-x", "=2Dx"), ("a-_b", "a-_b"),
    ("x.lock", "x=2Elock"), ("a=b", "a=3Db"), ("ü", "=C3=BC"),
]  # fmt: skip


@every(("id", "part"), PARTS)
def test_an_id_becomes_one_part_of_a_ref(id: str, part: str) -> None:
    assert refs.part(id) == part


# What an agent leaves, and what it reaches


def killed(team: Team, patch: pytest.MonkeyPatch, role: str = "developer", **files: str) -> str:
    """A driver that was killed while its agent had written files into its tree; the tree."""
    gone = process_identity.mine().rpartition(":")[0] + ":1"
    start = team.left(gone, isolation="worktree")
    tree = trees.prepare(str(team.folder), start, "spawn", lambda *_, **__: None)
    for name, text in files.items():
        pathlib.Path(tree.path, name).write_text(text, errors="surrogateescape")
    patch.setattr(process_identity, "mine", lambda: gone)
    asked = turn_runs.QueueTurn(
        session_id="S1", group="A", turn=start["turn"], role=role, prompt="x", executor="scripted", model=None,
        folder=tree.path, root=str(team.folder), owner=gone,
    )  # fmt: skip
    run = turn_reader.by_id(team.desk.context.connection, operations.ask(team.desk.context, asked)["run"])
    assert run is not None
    turn_runs.start(team.desk.context, run, capacity=4)
    patch.undo()
    starts.bind(team.desk.context, start, worker=run.id, commit=tree.begun)
    return tree.path


def test_what_a_killed_builder_left_is_on_record_before_the_next_one_begins(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.desk.planned("S1", "A")
    key = "sk-ant-" + "api03-" + "x1" * 30
    killed(team, monkeypatch, **{"login.py": "half\n", "new.txt": f"{key} \udce9\n"})
    assert team.drive(build("A", "built\n"), *REST)["outcome"] == "accepted", reasons(team, "failed", "verdict")
    assert "kept as evidence: login.py, new.txt" in reasons(team, "warning")
    rows = team.rows("SELECT outcome, content, path FROM evidence WHERE kind = 'left' ORDER BY part")
    (outcome, content, _), (_, _, path) = rows
    assert (outcome, json.loads(content)["files"]) == ("2 files", ["login.py", "new.txt"])
    patch = (team.folder / path).read_text(errors="surrogateescape")
    assert ("+half" in patch, "+++ b/new.txt" in patch) == (True, True)
    assert (key in patch, " \udce9\n" in patch) == (False, True)
    said = git(team.folder, "log", "--no-merges", "--format=%s", "main..orchestrator/S1/A").splitlines()
    assert [each.partition(", turn")[0] for each in said] == ["developer on A"] * 2
    assert team.desk.call("audit verify")["findings"] == []
    assert team.desk.call("audit replay", session_id="S1")["equal"] is True


def test_a_killed_agent_that_left_nothing_leaves_no_evidence(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.desk.planned("S1", "A")
    killed(team, monkeypatch)
    team.drive(build("A", "built\n"), once=True)
    assert team.rows("SELECT count(*) FROM evidence WHERE kind = 'left'") == [(0,)]


def test_what_is_kept_of_a_killed_agent_is_bounded_and_says_what_it_leaves_out(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.desk.planned("S1", "A")
    few, many = "x\n" * 100, "y\n" * 600
    tree = killed(team, monkeypatch, **{
        "login.py": few, "icon.png": "a\0b", "photo.png": "a\0b" * 100, "log.txt": many, "-odd [name]*": few,
        "z1": few * 4, "z2": few * 4,
    })  # fmt: skip
    pathlib.Path(tree, "link").symlink_to("/nowhere")
    for name, size in (("TEXT_LIMIT", 1000), ("BLOB_LIMIT", 100), ("PATCH_LIMIT", 4000)):
        monkeypatch.setattr(repository, name, size)
    team.drive(build("A", "built\n"), once=True)
    (content, _), (_, path) = team.rows("SELECT content, path FROM evidence WHERE kind = 'left' ORDER BY part")
    found = json.loads(content)
    assert (found["left_out"], found["left_out_count"], found["cut"]) == (["log.txt", "photo.png", "z2"], 3, False)
    assert "left out as too large or no text: log.txt, photo.png, z2" in reasons(team, "warning")
    git(team.folder, "checkout", "-q", "-b", "again", "main")
    git(team.folder, "apply", str(team.folder / path))
    applied = git(team.folder, "status", "--porcelain", "-z").split("\0")
    assert [each.split(" ", 1)[-1].lstrip() for each in applied if each] == [
        "login.py", "-odd [name]*", "icon.png", "link", "z1",
    ]  # fmt: skip


def test_a_patch_that_is_longer_than_its_files_is_cut(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "PATCH_LIMIT", 100)
    (team.folder / "login.py").write_text("x\n" * 20)
    assert (len(repository.patch(str(team.folder)).data), repository.patch(str(team.folder)).is_cut) == (100, True)


def test_what_a_killed_agent_has_committed_that_may_not_write_is_named_kept_and_undone(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.desk.planned("S1", "A")
    team.drive(build("A", "built\n"), *REST, max_steps=2)
    before = git(team.folder, "rev-parse", "orchestrator/S1/A")
    tree = pathlib.Path(killed(team, monkeypatch, "tech_lead", **{"notes.md": "mine\n"}))
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "by the tech lead")
    git(tree, "checkout", "-q", "-b", "mine")
    (tree / "login.py").write_text("changed\n")
    (tree / "gone.md").write_text("x")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "more")
    (tree / "gone.md").unlink()
    team.drive(*REST[1:2], max_steps=0)
    assert "tech_lead may not write here; reverted: gone.md, login.py, notes.md" in reasons(team, "warning")
    assert git(tree, "rev-parse", "HEAD", "orchestrator/S1/A").split() == [before, before]
    assert (git(tree, "status", "--porcelain"), git(tree, "branch", "--show-current")) == ("", "orchestrator/S1/A")
    (_, (path,)) = team.rows("SELECT path FROM evidence WHERE kind = 'left' ORDER BY part")
    patch = (team.folder / path).read_text()
    assert ("+mine" in patch, "+changed" in patch) == (True, True)
    assert team.drive(*REST[1:])["outcome"] == "accepted"


def test_what_a_killed_builder_has_committed_stays_but_for_the_projects_settings(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.desk.planned("S1", "A")
    tree = pathlib.Path(killed(team, monkeypatch, **{"new.py": "x\n", "orchestrator.json": "{}"}))
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "half")
    team.drive(build("A", "built\n"), max_steps=0)
    assert team.rows("SELECT count(*) FROM evidence WHERE kind = 'left'") == [(0,)]
    assert git(tree, "ls-files") == ".gitignore\nlogin.py\nnew.py"
    assert "may not change orchestrator.json" in reasons(team, "warning")


OUTSIDE = """
import pathlib, subprocess, sys
top = pathlib.Path.cwd().parents[3]
{}
open("login.py", "w").write("built")
print("STATUS: READY_FOR_QA")
"""
COMMITS = (
    "subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x'],"
    " cwd=top, check=True)"
)
REACHES: list[Any] = [
    pytest.param("(top / 'login.py').write_text('by the agent')", "login.py in the project's checkout (changed)",
                 id="a file"),
    pytest.param("(top / 'new.txt').write_text('x')", "new.txt in the project's checkout (new)", id="a new file"),
    pytest.param("(top / 'login.py').unlink()", "login.py in the project's checkout (deleted)", id="a deletion"),
    pytest.param(COMMITS, "the branch of the project's checkout (moved)", id="a commit"),
]  # fmt: skip


@pytest.mark.parametrize(("does", "said"), REACHES)
def test_an_agent_that_writes_into_the_users_checkout_breaks_a_rule(team: Team, does: str, said: str) -> None:
    team.desk.planned("S1", "A")
    team.drive(executor=team.program(OUTSIDE.format(does)), once=True)
    assert team.told("reported", "failed") == ["failed"]
    assert said in reasons(team, "failed")
    assert team.rows("SELECT DISTINCT error_code FROM turn_runs") == [("E501",)]


BESIDE = """
import os, pathlib, time
top = pathlib.Path.cwd().parents[3]
mine, begun = top / "login.py", top.parent / "begun"
role, group = os.environ["ORCHESTRATOR_AGENT"].partition("@")[0], os.environ["ORCHESTRATOR_START"].split(":")[1]
def wait(holds):
    until = time.monotonic() + 60
    while not holds() and time.monotonic() < until:
        time.sleep(0.02)
if role == "developer":
    if group == "A":
        begun.write_text("")
        wait(lambda: mine.read_text() != "base\\n")
    else:
        wait(begun.exists)
        mine.write_text("by B")
    pathlib.Path("login.py").write_text(group)
print("STATUS: " + ("READY_FOR_QA" if role == "developer" else "PASS"))
"""


def test_a_change_that_several_agents_could_have_made_fails_none_and_is_named_to_all(team: Team) -> None:
    team.desk.planned("S1", "A", "B")
    team.drive(executor=team.program(BESIDE), max_steps=4)
    assert team.told("started", "reported", "failed") == [
        "started", "started", "reported", "reported", *["started", "reported"] * 2,
    ], reasons(team, "failed")  # fmt: skip
    first, second = (row[0] for row in team.rows("SELECT id FROM turn_runs ORDER BY id LIMIT 2"))
    said = reasons(team, "warning")
    for other in (first, second):
        assert f"login.py in the project's checkout (changed), by this agent or one of {other}" in said
        assert f"{other}, {other}" not in said
    ((decision,), _) = team.rows("SELECT id FROM router_decisions WHERE response_status = 'READY_FOR_QA'")
    assert "project's checkout (changed)" in " ".join(team.desk.call("why", id=decision)["sentences"])
    found = team.desk.call("validate", session_id="S1", dry_run=True)["checks"]
    assert sorted(each["subject"] for each in found if each["id"] == "V17") == ["A", "B"]


def test_what_is_only_touched_in_the_users_checkout_is_no_violation(team: Team) -> None:
    team.desk.planned("S1", "A")
    agent = team.program(OUTSIDE.format("(top / 'login.py').write_text('base\\n'); (top / 'login.py').touch()"))
    team.drive(executor=agent, once=True)
    assert team.told("reported", "failed") == ["reported"]


def test_what_an_agent_was_denied_stands_in_the_next_hand_off(team: Team) -> None:
    team.desk.planned("S1", "A")
    team.drive({"role": "developer", "group": "A", "status": "COMPLETE", "denied": ["Bash(curl x)"]}, once=True)
    told = team.desk.call("handoff", session_id="S1", group_id="A")
    assert told["handoff"]["denied"] == [{"role": "developer", "tools": ["Bash(curl x)"]}]
    assert '- developer was not allowed to use: "Bash(curl x)"' in told["markdown"]
