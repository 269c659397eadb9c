"""What an agent can put in the place of a file that the program itself reads: nothing of it is waited for."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import files, worktrees
from orchestrator.app.session import pending_commands
from orchestrator.errors import EnvironmentProblem
from orchestrator.store import evidence, git

STRANGE: dict[str, tuple[Callable[[pathlib.Path], Any], str]] = {
    "pipe": (lambda path: os.mkfifo(path), "it is a named pipe"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "it is a device"),
    "folder": (lambda path: path.mkdir(), "it is a folder"),
    "loop of links": (lambda path: path.symlink_to(path.name), ""),
    "nothing": (lambda path: None, ""),
}
strange = pytest.mark.parametrize("strange", STRANGE)


@strange
def test_evidence_that_is_no_file_any_more_is_a_fault(strange: str, tmp_path: pathlib.Path) -> None:
    put, said = STRANGE[strange]
    put(tmp_path / "report.json")
    (fault,) = evidence.file_faults([evidence.File("S1:E5", "report.json", "0" * 64)], [tmp_path])
    assert fault.id == "S1:E5"
    assert fault.why.startswith("report.json cannot be read: ")
    assert said in fault.why


def test_evidence_that_leads_to_an_open_database_is_not_opened(tmp_path: pathlib.Path) -> None:
    """To close it again would end the locks that this process has on the database."""
    database = tmp_path / "orchestrator.db"
    database.write_bytes(b"x")
    (tmp_path / "report.json").symlink_to(database)
    files.databases.add(str(database.resolve()))
    try:
        (fault,) = evidence.file_faults([evidence.File("S1:E5", "report.json", "0" * 64)], [tmp_path])
    finally:
        files.databases.discard(str(database.resolve()))
    assert fault.why == "report.json cannot be read: it belongs to a database that is open"


@strange
def test_settings_that_are_no_file_allow_nothing(strange: str, tmp_path: pathlib.Path) -> None:
    put, said = STRANGE[strange]
    put(tmp_path / "orchestrator.json")
    if strange == "nothing":
        assert pending_commands.settings(str(tmp_path)) is None
        return
    with pytest.raises(EnvironmentProblem) as found:
        pending_commands.settings(str(tmp_path))
    assert found.value.code == "SETTINGS_INVALID"
    assert ("symbolic link" if "link" in strange or strange == "device" else said) in found.value.message


@strange
def test_what_stands_in_the_place_of_gits_files_says_nothing(strange: str, tmp_path: pathlib.Path) -> None:
    STRANGE[strange][0](tmp_path / ".git")
    assert worktrees.first_line(str(tmp_path / ".git")) == ""
    assert git.untrack(str(tmp_path / "orchestrator.db")) is None
