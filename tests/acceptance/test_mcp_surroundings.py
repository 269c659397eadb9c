"""What surrounds an MCP server: a file that may only be read, and what else writes to stdout."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from orchestrator import Orchestrator, bootstrap
from orchestrator.app.kernel.context import Context
from orchestrator.doors.mcp.tool_calls import Caller, Settings
from orchestrator.doors.mcp.tools import TOOLS
from tests.integration.store.conftest import Unprivileged, open_folder, unprivileged

__all__ = ["open_folder", "unprivileged"]


def test_calls_one_after_another_open_the_database_once(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "orchestrator.db"
    with Orchestrator.create(path) as o:
        o.session_create("S1", goal="one goal")
        o.group_create("A", session_id="S1", name="A")
    opened: list[bool] = []
    open_context = bootstrap.open_context

    def counted(*given: Any, write: bool, **more: Any) -> Context:
        opened.append(write)
        return open_context(*given, write=write, **more)

    monkeypatch.setattr(bootstrap, "open_context", counted)
    caller = Caller(Settings("project_manager", "S1", str(path)))
    for _ in range(3):
        assert not caller.call(TOOLS["get_group"], {"id": "A"}).is_error
        assert not caller.call(TOOLS["route"], {"status": "PLANNING_COMPLETE", "dry_run": True}).is_error
    assert opened == [False, True]
    # Another file in its place is noticed by the next call.
    for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        each.unlink(missing_ok=True)
    with Orchestrator.create(path) as o:
        o.session_create("S2", goal="another goal")
    assert caller.call(TOOLS["get_group"], {"id": "A"}).document["code"] == "UNKNOWN_SESSION"
    caller.close()


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o555), (0o444, 0o777)])
def test_a_database_that_may_only_be_read_is_read_and_a_change_says_why_not(
    open_folder: pathlib.Path, unprivileged: Unprivileged, file_mode: int, folder_mode: int
) -> None:
    path = open_folder / "orchestrator.db"
    with Orchestrator.create(path) as o:
        o.session_create("S1", goal="one goal")
        o.group_create("A", session_id="S1", name="A")
    caller = Caller(Settings("project_manager", "S1", str(path)))
    report = {"status": "PLANNING_COMPLETE"}
    # What is loaded by then need not be readable for another user.
    assert not caller.call(TOOLS["route"], {**report, "dry_run": True}).is_error
    caller.close()
    path.chmod(file_mode)
    open_folder.chmod(folder_mode)

    def attempts() -> object:
        tried = {**report, "dry_run": True}
        calls = (("get_group", {"id": "A"}), ("route", report), ("route", tried))
        return [caller.call(TOOLS[name], given) for name, given in calls]

    (read, is_error), (refused, is_refused), (trial, is_bad) = unprivileged(attempts)  # type: ignore[misc]
    assert (is_bad, trial["dry_run"]) == (False, True)
    assert (is_error, read["group"]["status"]) == (False, "pending")
    assert (is_refused, refused["code"]) == (True, "READ_ONLY")
    assert refused["error"].startswith("The database is read-only")
    assert str(open_folder) not in json.dumps(refused)


@pytest.mark.parametrize(
    ("agent", "code"),
    [
        ("nobody", "UNKNOWN_AGENT"), ("user", "HUMAN_REQUIRED"), ("system:runner", "NOT_PERMITTED"),
        ("developer@S9:A", "UNKNOWN_AGENT"),
    ],
)  # fmt: skip
def test_a_server_is_not_started_as_somebody_who_cannot_act_through_it(
    tmp_path: pathlib.Path, agent: str, code: str
) -> None:
    path = tmp_path / "orchestrator.db"
    Orchestrator.create(path).close()
    run = "from orchestrator.doors.cli.main import run; run()"
    argv = [sys.executable, "-c", run, "mcp", "--agent-id", agent, "--db", str(path), "--json"]
    done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=60)
    assert (done.returncode, json.loads(done.stdout)["code"]) == (3, code), done.stderr


def test_only_the_protocol_reaches_stdout() -> None:
    script = (
        "import os, sys; from orchestrator.doors.mcp.stdio_transport import Wire; wire = Wire(); print('stray', "
        "flush=True);"
        " os.system('echo child'); os.write(wire.sink, b'line'); os.write(2, repr(os.read(wire.source, 99)).encode());"
        " os.write(2, repr(sys.stdin.read()).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=b"given", capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b"line"
    assert done.stderr == b"stray\nchild\nb'given'''"
