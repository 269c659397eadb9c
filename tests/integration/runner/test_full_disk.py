"""An output that cannot be kept: what is there of it says so, and the reason is told as what it is."""

from __future__ import annotations

import contextlib
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from unittest import mock

import pytest

from orchestrator.app.running import orphaned_runs
from orchestrator.core.running import facts, states
from orchestrator.runner import atomic_files, output_capture
from orchestrator.store import run_reader

MIB = 1024 * 1024


@pytest.fixture
def no_large_files() -> Iterator[int]:
    """Files of this process end after a megabyte, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
    try:
        yield MIB
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def small_disk() -> Iterator[pathlib.Path]:
    """A disk of three megabytes; only who may mount one can play."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="small-disk-"))
    argv = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    try:
        if not shutil.which("mount") or subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode:
            pytest.skip("no small disk can be mounted here")
        yield folder
        subprocess.run(["umount", str(folder)], check=True, timeout=60)
    finally:
        folder.rmdir()


def write_much(output: output_capture.Output) -> None:
    for _ in range(100):
        output.add("stdout", b"word word word\n" * 4_000)


def fill_up(path: pathlib.Path) -> None:
    with open(path, "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 65_536)


def fill(raw: pathlib.Path) -> output_capture.EvidenceLost:
    output = output_capture.Output(raw, ())
    with pytest.raises(output_capture.EvidenceLost) as caught:
        write_much(output)
    output.add("stdout", b"the last words\n")
    output.close()
    assert output.text().endswith("the last words\n")
    return caught.value


def test_P21_where_the_disk_is_full_the_evidence_says_from_where_on_nothing_was_kept(
    tmp_path: pathlib.Path, no_large_files: int
) -> None:
    lost = fill(tmp_path / "raw")
    text = (tmp_path / "raw").read_text()
    kept = no_large_files - output_capture.ROOM
    assert (lost.kind, f"the output was kept up to byte {kept}." in str(lost)) == (facts.DISK_FULL, True)
    assert text.endswith(f"\n[... the disk was full: after {kept} bytes nothing was kept ...]\n")
    assert len(text) < no_large_files


def test_P9_room_for_the_end_of_the_run_is_given_back_on_a_real_disk(small_disk: pathlib.Path) -> None:
    with atomic_files.held_room(small_disk):
        assert list(small_disk.iterdir()) == []
        with pytest.raises(OSError, match="No space left"):
            fill_up(small_disk / "big")
        full = os.statvfs(small_disk)
        assert full.f_bavail * full.f_frsize < 65_536
    (small_disk / "evidence").write_bytes(b"x" * (atomic_files.ROOM - 65_536))


def test_P9_where_no_room_can_be_held_the_work_goes_on(small_disk: pathlib.Path) -> None:
    (small_disk / "big").write_bytes(b"x" * (2 * MIB + MIB // 2))
    with atomic_files.held_room(small_disk):
        (small_disk / "note").write_text("x")
    with atomic_files.held_room(small_disk / "absent"):
        pass


def test_P21_evidence_that_is_deleted_meanwhile_is_told_as_that(tmp_path: pathlib.Path) -> None:
    (tmp_path / "raw").mkdir()
    output = output_capture.Output(tmp_path / "raw/op.log", ())
    output.add("stdout", b"x")
    shutil.rmtree(tmp_path / "raw")
    # A file in its place is no folder either.
    (tmp_path / "raw").touch()
    with pytest.raises(output_capture.EvidenceLost) as caught:
        output.close()
    what = f"the evidence folder {tmp_path}/raw was deleted while the executor ran"
    assert (caught.value.kind, str(caught.value)) == (facts.EVIDENCE_DELETED, what)
    output = output_capture.Output(tmp_path / "op.log", ())
    (tmp_path / "op.log").unlink()
    with pytest.raises(output_capture.EvidenceLost, match=r"op\.log was deleted while"), contextlib.closing(output):
        pass


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ((), "runs no more, and its end could not be recorded yet: see whether there is room on the disk."),
        (("7 sleep",), "runs no more, but these of its processes could not be stopped: 7 sleep."),
    ],
)
def test_P9_that_something_lives_on_is_claimed_only_where_it_does(
    monkeypatch: pytest.MonkeyPatch, left: tuple[str, ...], said: str
) -> None:
    run = mock.Mock(id="task-7", verification_root="/p", state=states.RUNNING)
    monkeypatch.setattr(run_reader, "run", lambda *_: run)
    assert orphaned_runs.describe(mock.Mock(), run, left) == f"task-7 in /p {said}"
