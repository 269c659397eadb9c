"""New worktrees: set up once by the project's own commands, with files that git does not carry and their own ports."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import sys
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.app.driving import fresh, preflight, trees
from orchestrator.errors import EnvironmentProblem
from orchestrator.runner import commands, fresh_trees, process_identity
from tests.integration.app.test_drive import REST, Team, says
from tests.integration.app.test_drive_trees import build, git, reasons, team  # noqa: F401 - a fixture

WRITES = "import os; open('set-up.txt', 'a').write(os.environ['ORCHESTRATOR_SLOT'])"


def settings(team: Team, **found: Any) -> None:  # noqa: F811
    (team.folder / "orchestrator.json").write_text(json.dumps(found))


def prepared(team: Team, group: str = "A", role: str = "developer") -> trees.Tree:  # noqa: F811
    start = {"session_id": "S1", "group_id": group, "role": role, "turn": 3}
    return trees.prepare(str(team.folder), start, "spawn", lambda *_, **__: None)


def ready(team: Team, tree: trees.Tree, **more: Any) -> dict[str, str]:  # noqa: F811
    start = {"session_id": "S1", "group_id": tree.group, "role": tree.role, "turn": tree.turn}
    return dict(fresh.make_ready(team.desk.context, start, tree, lambda *_, **__: None, **more))


def kept(team: Team) -> list[tuple[str, Any]]:  # noqa: F811
    rows = team.rows("SELECT outcome, content FROM evidence WHERE kind = 'setup'")
    return [(outcome, json.loads(content)["done"]) for outcome, content in rows]


def test_a_tree_is_set_up_once_before_its_first_agent(team: Team) -> None:  # noqa: F811
    team.desk.planned("S1", "A")
    (team.folder / ".gitignore").write_text(".orchestrator/\n.env\nset-up.txt\n")
    git(team.folder, "commit", "-qam", "ignore")
    (team.folder / ".env").write_text("KEY=1\n")
    (team.folder / ".env").chmod(0o640)
    settings(team, worktree_copy=[".env"], worktree_setup=[[sys.executable, "-c", WRITES]], task_limits={"files": 3})
    assert team.drive(build("A", "built\n"), *REST)["outcome"] == "accepted", reasons(team, "failed", "verdict")
    tree = team.folder / ".orchestrator" / "worktrees" / "S1" / "A"
    assert ((tree / ".env").read_text(), (tree / ".env").stat().st_mode & 0o777) == ("KEY=1\n", 0o640)
    assert (tree / "set-up.txt").read_text() == "0"
    (outcome, done), *_ = kept(team)
    assert (outcome, done[0]) == ("done", {"copied": ".env", "new": True})
    assert (done[1]["command"][0], done[1]["why"]) == (sys.executable, "exit 0")
    # Once for the group's tree, and once for that in which the manager confirms.
    assert len(kept(team)) == 2
    assert ".env" not in git(team.folder, "ls-tree", "--name-only", "orchestrator/S1/_integration")
    assert team.desk.call("audit replay", session_id="S1")["equal"] is True
    assert team.desk.call("audit verify")["findings"] == []


def test_each_tree_has_a_slot_and_ten_ports_of_its_own(team: Team) -> None:  # noqa: F811
    team.desk.planned("S1", "A", "B")
    first, second = ready(team, prepared(team, "A")), ready(team, prepared(team, "B"))
    assert (first["ORCHESTRATOR_SLOT"], second["ORCHESTRATOR_SLOT"]) == ("0", "1")
    ports = sorted(int(each["ORCHESTRATOR_PORT"]) for each in (first, second))
    assert ports[1] - ports[0] >= 10
    assert ready(team, prepared(team, "A")) == first
    # A slot is free again with its tree, and a block in which somebody listens is passed over.
    assert len(team.drive(clean=True)["removed"]) == 3
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(first["ORCHESTRATOR_PORT"]) + 3))
        taken.listen()
        again = ready(team, prepared(team, "A"))
    assert (again["ORCHESTRATOR_SLOT"], again["ORCHESTRATOR_PORT"] == first["ORCHESTRATOR_PORT"]) == ("0", False)


AGENT = """
import os, sys
assert os.environ["ORCHESTRATOR_SLOT"] == "0", os.environ
assert int(os.environ["ORCHESTRATOR_PORT"]) % 10 == 0
open("login.py", "w").write("built")
print("STATUS: READY_FOR_QA")
"""


def test_the_agent_and_the_gates_get_slot_and_port(team: Team) -> None:  # noqa: F811
    team.desk.planned("S1", "A")
    team.desk.context.run = commands.run
    team.desk.call(
        "criterion add", id="C1", text="t", session_id="S1", command=("sh", "-c", "test $ORCHESTRATOR_PORT"),
        at_status=("READY_FOR_QA",), by="project_manager", reason="x",
    )  # fmt: skip
    assert team.drive(executor=team.program(AGENT), once=True)["steps"] == 1
    assert team.told("reported", "failed", "sent_back") == ["reported"]
    ((details,),) = team.rows("SELECT details FROM agent_reports WHERE role = 'developer'")
    assert json.loads(details) == {}


def linked(team: Team) -> None:  # noqa: F811
    (team.folder / "real").write_text("x")
    (team.folder / ".env").symlink_to("real")


def pipe(team: Team) -> None:  # noqa: F811
    os.mkfifo(team.folder / ".env")


BAD: list[Any] = [
    pytest.param({"worktree_copy": [".env"]}, None, "No such file", id="a missing file"),
    pytest.param({"worktree_copy": [".env"]}, linked, "is a symbolic link", id="a link"),
    pytest.param({"worktree_copy": [".env"]}, pipe, "not a regular file", id="a pipe"),
    pytest.param({"worktree_copy": ["../.env"]}, None, "must be a path inside the project", id="out of the project"),
    pytest.param({"worktree_copi": []}, None, "did you mean worktree_copy?", id="an unknown key"),
    pytest.param({"worktree_setup": ["make"]}, None, "must be an argument list", id="no argument list"),
]


@pytest.mark.parametrize(("found", "make", "said"), BAD)
def test_what_cannot_be_done_is_named_before_anything_is_started(
    team: Team, found: dict[str, Any], make: Callable[[Team], None] | None, said: str  # noqa: F811
) -> None:
    team.desk.planned("S1", "A")
    settings(team, **found)
    if make is not None:
        make(team)
    with pytest.raises(EnvironmentProblem, match="settings: ") as caught:
        team.drive(build("A", "built\n"))
    assert said in caught.value.message
    assert team.rows("SELECT count(*) FROM starts") == [(0,)]


def test_a_link_in_the_tree_is_not_written_through(team: Team, tmp_path: pathlib.Path) -> None:  # noqa: F811
    team.desk.planned("S1", "A")
    tree = prepared(team)
    (tmp_path / "elsewhere").mkdir()
    pathlib.Path(tree.path, "conf").symlink_to(tmp_path / "elsewhere")
    (team.folder / "conf").mkdir()
    (team.folder / "conf" / "local.ini").write_text("x")
    settings(team, worktree_copy=["conf/local.ini"])
    with pytest.raises(EnvironmentProblem, match="is a symbolic link"):
        ready(team, tree)
    assert list((tmp_path / "elsewhere").iterdir()) == []


FAILS: list[Any] = [
    pytest.param([["sh", "-c", "echo no network; exit 7"]], "exit 7.\nno network", id="fails"),
    pytest.param([["true"], ["/no/such/program"]], "cannot be started: No such file", id="missing"),
    pytest.param([["sleep", "60"]], "killed after 0.2 seconds", id="hangs"),
]


@pytest.mark.parametrize(("commands_", "said"), FAILS)
def test_a_set_up_that_fails_is_named_and_loses_nothing(
    team: Team, monkeypatch: pytest.MonkeyPatch, commands_: list[list[str]], said: str  # noqa: F811
) -> None:
    team.desk.planned("S1", "A")
    monkeypatch.setattr(fresh, "TIMEOUT_S", 0.2 if "killed" in said else 60.0)
    settings(team, worktree_setup=commands_)
    with pytest.raises(EnvironmentProblem) as caught:
        team.drive(build("A", "built\n"))
    assert (caught.value.code, said in caught.value.message) == ("SETUP_FAILED", True), caught.value.message
    assert team.rows("SELECT outcome FROM starts") == [("freed",)]
    ((outcome, done),) = kept(team)
    assert (outcome.startswith("failed: "), done[-1]["why"] in caught.value.message) == (True, True)
    settings(team, worktree_setup=[["true"]])
    assert team.drive(build("A", "built\n"), *REST)["outcome"] == "accepted"


def test_who_cancels_during_a_set_up_is_obeyed_and_the_turn_is_free(team: Team) -> None:  # noqa: F811
    team.desk.planned("S1", "A")
    settings(team, worktree_setup=[["sleep", "60"]])
    ended = team.drive(build("A", "x\n"), wants=lambda: 2 if "waiting" in team.told() else 0)
    assert (ended["outcome"], team.rows("SELECT outcome FROM starts")) == ("stopped", [("freed",)])


def test_an_agent_that_changes_the_settings_of_its_tree_breaks_a_rule_and_the_change_is_undone(
    team: Team,  # noqa: F811
) -> None:
    settings(team, allowed_commands=[["true"]])
    git(team.folder, "add", ".")
    git(team.folder, "commit", "-qm", "settings")
    team.desk.planned("S1", "A")
    changes = {"login.py": "built\n", "orchestrator.json": '{"allowed_commands": [["sh"]]}'}
    step = says("developer", "READY_FOR_QA", writes=changes)
    team.drive(step, once=True)
    assert "orchestrator.json" in reasons(team, "failed")
    assert team.rows("SELECT error_code FROM turn_runs") == [("E501",)]
    assert "developer may not change orchestrator.json; undone" in reasons(team, "warning")
    kept = git(team.folder, "show", "orchestrator/S1/A:orchestrator.json")
    assert json.loads(kept) == {"allowed_commands": [["true"]]}
    assert git(team.folder, "show", "orchestrator/S1/A:login.py") == "built"


def test_settings_that_an_agent_has_made_or_committed_are_taken_away(team: Team) -> None:  # noqa: F811
    team.desk.planned("S1", "A")
    tree = prepared(team)
    for commits in (False, True):
        pathlib.Path(tree.path, "orchestrator.json").write_text("{}")
        if commits:
            git(pathlib.Path(tree.path), "add", ".")
            git(pathlib.Path(tree.path), "commit", "-qm", "mine")
        trees.finish(tree, lambda *_, **__: None)
        assert not os.path.lexists(os.path.join(tree.path, "orchestrator.json"))
        assert "orchestrator.json" not in git(team.folder, "ls-tree", "--name-only", "orchestrator/S1/A")


def test_a_tree_whose_git_file_was_changed_is_not_written_for(team: Team, tmp_path: pathlib.Path) -> None:  # noqa: F811
    team.desk.planned("S1", "A")
    tree = prepared(team)
    (tmp_path / "other").mkdir()
    pathlib.Path(tree.path, ".git").write_text(f"gitdir: {tmp_path / 'other'}\n")
    with pytest.raises(EnvironmentProblem, match="does not name the folder"):
        fresh_trees.variables(str(team.folder), tree.path)
    assert list((tmp_path / "other").iterdir()) == []


def test_without_worktrees_nothing_is_set_up(team: Team) -> None:  # noqa: F811
    team.desk.planned("S1", "A")
    settings(team, worktree_setup=[["false"]])
    assert team.drive(build("A", "built\n"), once=True, isolation="none")["steps"] == 1
    assert kept(team) == []
    assert preflight._settings(str(team.folder)).ok
    assert process_identity.mine()
