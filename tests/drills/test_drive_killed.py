"""A driver that is killed at any moment loses nothing: the next one ends what it left, each turn is answered once."""

from __future__ import annotations

import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

from orchestrator.runner import process_table
from tests import persons
from tests.conftest import LONG
from tests.integration.app.test_drive import Team
from tests.integration.app.test_drive_trees import git

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not process_table.tells_variables(), reason="this system does not tell whose a process is"),
]

KILLS = 50 if LONG else 3
GROUPS = "ABCDEFGH" if LONG else "AB"
MOST_S = 3.0
"""Seconds after which a driver is killed at the latest."""
AGENT = """
import os, pathlib, random, re, sys, time
folder = pathlib.Path(sys.argv[1])
(folder / str(os.getpid())).touch()
group, role, action = re.match(r"\\[\\S+ \\S+ (\\S+) turn \\d+ (\\S+) (\\S+)\\]", sys.argv[2]).groups()
time.sleep(random.uniform(0.05, 0.5))
status = {
    "project_manager": "BAZINGA", "qa_expert": "PASS", "tech_lead": "APPROVED",
    "developer": "MERGE_SUCCESS" if action == "spawn_merge" else "READY_FOR_QA",
    "senior_software_engineer": "MERGE_SUCCESS" if action == "spawn_merge" else "READY_FOR_QA",
}[role]
if status == "READY_FOR_QA":
    pathlib.Path(f"{group}.py").write_text("built")
    time.sleep(random.uniform(0.05, 0.3))
print(f"Done.\\n\\nSTATUS: {status}")
"""


@pytest.fixture
def team(tmp_path: pathlib.Path) -> Team:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / ".gitignore").write_text(".orchestrator/\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    found = Team(folder)
    found.desk.planned("S1", *GROUPS)
    return found


def test_every_turn_is_answered_once_however_often_its_driver_is_killed(team: Team) -> None:
    """P35."""
    (team.folder.parent / "pids").mkdir()
    agent = team.folder.parent / "agent.py"
    agent.write_text(f"#!{sys.executable}\n{AGENT}")
    agent.chmod(0o755)
    killed, number = 0, 0
    while killed < KILLS:
        number += 1
        if number > 1:
            team.desk.planned(f"S{number}", *GROUPS)
        killed += drill(team, f"S{number}", agent, KILLS - killed)
        assert_whole(team, f"S{number}")
    assert killed == KILLS


def drill(team: Team, session: str, agent: pathlib.Path, most: int) -> int:
    """Run a session to ACCEPT with drivers that are killed; how many were."""
    pids = team.folder.parent / "pids"
    argv = [sys.executable, "-m", "orchestrator", "drive", session, "--json", "--executor", f"command:{agent} {pids}"]
    killed = 0
    while killed < most and not over(team, session):
        driver = subprocess.Popen(argv, cwd=team.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # The first moments are its own start.
            driver.wait(random.uniform(0.3, MOST_S))  # noqa: S311 - a moment, no secret
        except subprocess.TimeoutExpired:
            killed += 1
            driver.send_signal(signal.SIGKILL)
            driver.wait()
    for _ in range(20):
        if over(team, session):
            break
        done = subprocess.run(argv, cwd=team.folder, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode in (0, 2), done.stdout + done.stderr
    return killed


def over(team: Team, session: str) -> bool:
    """Whether the session has its ACCEPT; a person who is asked lets it go on."""
    for (question,) in team.rows("SELECT id FROM questions WHERE closed_seq IS NULL"):
        persons.sit(team.desk.context)
        team.desk.call("answer", id=question, decision="continue", by="user")
    return ("accepted",) in team.rows(f"SELECT outcome FROM sessions WHERE id = '{session}'")


def assert_whole(team: Team, session: str) -> None:
    """Nothing runs on, no turn was answered twice, and record, evidence and branches hold."""
    answers = "SELECT session_id, group_id, turn FROM agent_reports WHERE turn_assumed = 0"
    twice = f"{answers} GROUP BY session_id, group_id, turn HAVING count(*) > 1"
    assert team.rows(twice) == []
    assert team.rows("SELECT state FROM turn_runs WHERE ended_at IS NULL") == []
    until = time.monotonic() + 10
    while living(team) and time.monotonic() < until:
        time.sleep(0.1)
    assert living(team) == []
    assert team.desk.call("audit verify")["findings"] == []
    assert team.desk.call("audit replay", session_id=session)["equal"] is True
    names = git(team.folder, "ls-tree", "--name-only", f"orchestrator/{session}/_integration").split()
    assert [name for name in names if name.endswith(".py")] == [f"{group}.py" for group in GROUPS]
    assert git(team.folder, "status", "--porcelain") == ""


def living(team: Team) -> list[str]:
    """The agents that still run."""
    agent = str(team.folder.parent / "agent.py").encode()
    return [each.name for each in (team.folder.parent / "pids").iterdir() if agent in _words(each.name)]


def _words(number: str) -> bytes:
    try:
        return pathlib.Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


def test_the_agents_of_a_killed_driver_live_on_until_then(team: Team) -> None:
    """So that the drill above has something to end."""
    agent = team.folder.parent / "agent.py"
    agent.write_text(f"#!{sys.executable}\nimport os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)\n")
    agent.chmod(0o755)
    argv = [sys.executable, "-m", "orchestrator", "drive", "S1", "--executor", f"command:{agent}", "--max-steps", "1"]
    driver = subprocess.Popen(argv, cwd=team.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    place = team.folder / ".orchestrator" / "worktrees" / "S1" / "A" / "pid"
    until = time.monotonic() + 60
    while not (place.exists() and place.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    number = int(place.read_text())
    assert _words(str(number)) != b""
    agent.write_text(f"#!{sys.executable}\nprint('STATUS: READY_FOR_QA')\n")
    done = subprocess.run([*argv, "--once"], cwd=team.folder, capture_output=True, check=False, timeout=120)
    assert done.returncode == 2, done.stderr
    # One that has ended has no words any more, though nobody may have taken note of its end.
    assert _words(str(number)) == b""
