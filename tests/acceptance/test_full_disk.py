"""A disk that an executor fills: the run says so, and the next call claims nothing that is not so."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

import pytest

from tests.acceptance.replhouse import House

FILLS = "head -c 20000000 /dev/zero | tr '\\0' x; echo done"
FILLS_ITSELF = "head -c 20000000 /dev/zero > big"


@pytest.fixture
def small_disk(house: House) -> Iterator[House]:
    """The house with its project and database on a disk of five megabytes; only who may mount one can play."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="small-disk-"))
    argv = ["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(folder)]
    try:
        if not shutil.which("mount") or subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode:
            pytest.skip("no small disk can be mounted here")
        shutil.copytree(house.project, folder / "project")
        shutil.copy(house.database, folder / "orchestrator.db")
        house.project = folder / "project"
        yield house
        subprocess.run(["umount", str(folder)], check=True, timeout=60)
    finally:
        folder.rmdir()


@pytest.mark.parametrize("text", [FILLS, FILLS_ITSELF], ids=["by its output", "by a file"])
def test_P9_a_full_disk_is_the_reason_and_the_run_has_its_end(small_disk: House, text: str) -> None:
    database = str(small_disk.project.parent / "orchestrator.db")
    program = small_disk.program(text)
    done = small_disk.run("what is this?", command="run", executor=program, ORCHESTRATOR_DB=database)
    reason = re.search(r"^\[WHY\] .*(DISK_FULL: the disk is full|No space left on device)", done.out, re.MULTILINE)
    assert (done.code, "[RESULT]  ERROR" in done.out, bool(reason)) == (1, True, True), (done.out, done.err)
    after = small_disk.run(lines=["/logs", "/exit"], ORCHESTRATOR_DB=database)
    assert (after.code, "ERROR" in after.out, after.err) == (0, True, "")
