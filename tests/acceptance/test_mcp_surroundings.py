"""What surrounds an MCP server: a file that may only be read, and what else writes to stdout."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from orchestrator import Orchestrator
from orchestrator.doors.mcp.calling import Caller, Settings
from orchestrator.doors.mcp.tools import TOOLS
from tests.integration.store.conftest import Unprivileged, open_folder, unprivileged

__all__ = ["open_folder", "unprivileged"]


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
    path.chmod(file_mode)
    open_folder.chmod(folder_mode)

    def attempts() -> object:
        return [caller.call(TOOLS["get_group"], {"id": "A"}), caller.call(TOOLS["route"], report)]

    (read, is_error), (refused, is_refused) = unprivileged(attempts)  # type: ignore[misc]
    assert (is_error, read["group"]["status"]) == (False, "pending")
    assert (is_refused, refused["code"]) == (True, "READ_ONLY")
    assert refused["error"].startswith("The database is read-only")
    assert str(open_folder) not in json.dumps(refused)


def test_only_the_protocol_reaches_stdout() -> None:
    script = (
        "import os, sys; from orchestrator.doors.mcp.streams import Wire; wire = Wire(); print('stray', flush=True);"
        " os.system('echo child'); os.write(wire.sink, b'line'); os.write(2, repr(os.read(wire.source, 99)).encode());"
        " os.write(2, repr(sys.stdin.read()).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=b"given", capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b"line"
    assert done.stderr == b"stray\nchild\nb'given'''"
