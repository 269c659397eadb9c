"""Drivers on several machines share one database on a server: each turn is run once, also when a machine dies.

A machine is played by a process with its own name and its own project folder.

Source: spec 90, sections 2 and 4.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import attached_evidence, operations
from orchestrator.store import leases
from tests.drills.test_drive_killed import AGENT
from tests.integration.app.test_drive_trees import git

pytestmark = pytest.mark.slow

DEADLINE_S = 90.0
LEASE_S = "6"
SLOW = """
import time
if (folder / "hang").exists():
    (folder / "hangs").write_text(str(os.getpid()))
    while (folder / "hang").exists():
        time.sleep(0.02)
"""


class Machine:
    """A project folder of its own, and what is called there."""

    def __init__(self, name: str, folder: pathlib.Path, url: str) -> None:
        self.folder, self.marks = folder / name, folder / f"marks-{name}"
        self.folder.mkdir()
        self.marks.mkdir()
        self._program = folder / f"agent-{name}.py"
        head, rest = re.sub(r"time.sleep\(.*\)", "", AGENT).split("group, role", 1)
        self._program.write_text(f"#!{sys.executable}\n{head}{SLOW}group, role{rest}")
        self._program.chmod(0o755)
        self._environment = {
            **os.environ, "ORCHESTRATOR_DB": url, "ORCHESTRATOR_HOST": name, "ORCHESTRATOR_LEASE": LEASE_S,
            "HOME": str(self.folder),
        }

    def begin(self, *words: str) -> subprocess.Popen[bytes]:
        executor = f"command:{self._program} {self.marks}"
        command = [sys.executable, "-m", "orchestrator", "drive", "S1", "--executor", executor, *words, "--json"]
        return subprocess.Popen(command, cwd=self.folder, env=self._environment, stdout=subprocess.PIPE)

    def lines(self, process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
        out, _ = process.communicate(timeout=DEADLINE_S)
        return [json.loads(line) for line in out.splitlines()]


@contextlib.contextmanager
def opened(url: str) -> Iterator[Any]:
    context = bootstrap.open_context(url, write=True, door="test")
    with contextlib.closing(context.connection):
        yield context


def begun(url: str, folder: pathlib.Path, groups: str) -> tuple[Machine, Machine]:
    """Two machines, and a session with groups on which developers are awaited."""
    with opened(url) as context:
        operations.call(context, "session create", id="S1", goal="some changes")
        for group in groups:
            operations.call(context, "group create", id=group, session_id="S1", name=group)
        operations.call(context, "route", session_id="S1", current_agent="project_manager", status="PLANNING_COMPLETE")
    return Machine("one", folder, url), Machine("two", folder, url)


def until(holds: Callable[[], object]) -> None:
    limit = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


def rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    with opened(url) as context:
        return [tuple(each) for each in context.connection.run(sql).fetchall()]


def require_once(url: str) -> None:
    """Require that the session is accepted, every turn has one run, and the record holds by itself."""
    assert rows(url, "SELECT outcome FROM sessions") == [("accepted",)]
    assert rows(url, "SELECT group_id, turn FROM turn_runs GROUP BY group_id, turn HAVING count(*) > 1") == []
    assert rows(url, "SELECT id FROM turn_runs WHERE ended_at IS NULL") == []
    with opened(url) as context:
        assert operations.call(context, "audit verify")["findings"] == []
        assert operations.call(context, "audit replay", session_id="S1")["equal"] is True


def test_two_machines_share_the_turns_of_a_session(tmp_path: pathlib.Path, pg_url: str) -> None:
    one, two = machines = begun(pg_url, tmp_path, "AB")
    (one.marks / "hang").touch()
    # One at a time, and held in its first turn: the other group is the second machine's, however slowly it starts.
    at_work = [(one, one.begin("--isolation", "none", "--parallel", "1"))]
    until((one.marks / "hangs").exists)
    at_work.append((two, two.begin("--isolation", "none")))
    owners = "SELECT DISTINCT split_part(owner, ':', 1) FROM starts ORDER BY 1"
    until(lambda: rows(pg_url, owners) == [("one",), ("two",)])
    (one.marks / "hang").unlink()
    told = [machine.lines(process) for machine, process in at_work]
    assert [process.returncode for _, process in at_work] == [0, 0], told
    require_once(pg_url)
    machines[0].folder.rename(tmp_path / "elsewhere")
    with opened(pg_url) as context:
        found = operations.call(context, "audit verify")
        evidence = attached_evidence.of(context.connection, "S1")
        assert list(attached_evidence.faults(context.path, "S1", evidence)) == []
    (warning,) = found["warnings"]
    assert (found["findings"], "lies on one (below" in warning) == ([], True)


def test_the_work_of_a_machine_that_died_is_done_once_by_another(tmp_path: pathlib.Path, pg_url: str) -> None:
    one, two = begun(pg_url, tmp_path, "A")
    (one.marks / "hang").touch()
    dead = one.begin("--isolation", "none")
    until(lambda: (one.marks / "hangs").exists() and rows(pg_url, "SELECT 1 FROM starts WHERE bound_seq IS NOT NULL"))
    dead.send_signal(signal.SIGKILL)
    dead.communicate()
    survivor = two.begin("--isolation", "none")
    lines = two.lines(survivor)
    with contextlib.suppress(ProcessLookupError):
        os.kill(int((one.marks / "hangs").read_text()), signal.SIGKILL)
    assert survivor.returncode == 0, lines
    reason = "the process that started its agent is gone (on one)"
    assert [each["reason"] for each in lines if each["event"] == "lost"] == [reason]
    ended = rows(pg_url, "SELECT state, reason FROM turn_runs WHERE state <> 'answered'")
    assert ended == [("failed", "the process that ran it is gone (on one)")]
    require_once(pg_url)


def test_work_in_worktrees_is_gone_on_with_where_its_commits_are(tmp_path: pathlib.Path, pg_url: str) -> None:
    one, two = begun(pg_url, tmp_path, "A")
    git(one.folder, "init", "-q", "-b", "main")
    (one.folder / ".gitignore").write_text(".orchestrator/\n")
    git(one.folder, "add", ".")
    git(one.folder, "commit", "-qm", "first")
    # Both begin at one commit, as copies of a project do: made twice, it would be another a second later.
    git(two.folder, "init", "-q", "-b", "main")
    git(two.folder, "fetch", "-q", str(one.folder), "main")
    git(two.folder, "reset", "-q", "--hard", "FETCH_HEAD")
    one.lines(one.begin("--max-steps", "1"))
    ((commit,),) = rows(pg_url, "SELECT input::json #>> '{measured,commit}' FROM audit_events WHERE kind = 'route'"
                                " AND input::json #>> '{measured,commit}' IS NOT NULL")  # fmt: skip
    (failed,) = [each for each in two.lines(two.begin()) if not each["success"]]
    assert (failed["code"], commit[:12] in failed["error"]) == ("PREFLIGHT_FAILED", True)
    assert "committed on one" in failed["error"]
    fetch = failed["suggestion"].partition(",")[0].replace("'", "").replace("REMOTE", str(one.folder))
    git(two.folder, *fetch.split()[1:])
    with opened(pg_url) as context:
        leases.take(context.connection, "S1", "one:7:8", leases.HOST, 60_000, waits=True, deadline_s=1.0)
        (busy,) = [each for each in two.lines(two.begin()) if not each["success"]]
        assert (busy["code"], busy["error"]) == ("BUSY", "Session S1 is driven by a driver on one (process 7).")
        leases.give_back(context.connection, "S1", "one:7:8")
    survivor = two.begin()
    told = two.lines(survivor)
    assert told[-1].get("outcome") == "accepted", told
    assert (two.folder / ".orchestrator" / "worktrees" / "S1" / "_integration" / "A.py").read_text() == "built"
    require_once(pg_url)
