"""A folder that runs of one database work in keeps those of others off, as long as their processes live."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from orchestrator.runner import folder_lock, orphan_recovery, process_identity, process_tree
from orchestrator.runner.folder_lock import Place
from tests.integration.runner import supervised

ALONE = """
import os, sys, time
from orchestrator.runner.folder_lock import Place
place = Place(sys.argv[1], sys.argv[2], "task-7")
assert place.take().taken
print("taken", flush=True)
time.sleep(600)
"""


@pytest.fixture
def one(tmp_path: pathlib.Path) -> str:
    return _database(tmp_path / "one.db")


@pytest.fixture
def two(tmp_path: pathlib.Path) -> str:
    return _database(tmp_path / "two.db")


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    return tmp_path / "a"


def _database(path: pathlib.Path) -> str:
    path.touch()
    return str(path)


@contextlib.contextmanager
def taken(root: pathlib.Path, database: str, run: str = "task-1") -> Iterator[Place]:
    place = Place(str(root), database, run)
    assert place.take().taken
    try:
        yield place
    finally:
        place.leave()


def is_free(root: pathlib.Path, database: str) -> bool:
    place = Place(str(root), database, "task-2")
    try:
        found = place.take().taken
        assert folder_lock.occupied(str(root), database) is not found
        return found
    finally:
        place.leave()


def test_p6_runs_of_one_database_on_a_server_share_a_folder(root: pathlib.Path, one: str) -> None:
    url, other = (f"postgresql://team@/{name}" for name in ("one", "two"))
    with taken(root, url):
        assert [is_free(root, each) for each in (url, other, one)] == [True, False, False]


def test_p6_others_are_kept_off_until_the_run_leaves(root: pathlib.Path, one: str, two: str) -> None:
    with taken(root, one):
        assert not is_free(root, two)
    assert is_free(root, two)


def test_p6_those_of_the_same_database_join_by_whatever_path(root: pathlib.Path, one: str) -> None:
    os.symlink(one, f"{one}.link")
    with taken(root, one), taken(root, f"{one}.link", "task-2"):
        assert is_free(root, one)


def test_p6_a_link_to_the_folder_is_the_same_folder(root: pathlib.Path, one: str, two: str) -> None:
    os.symlink(root, root.parent / "alias")
    with taken(root.parent / "alias", one):
        assert not is_free(root, two)


@pytest.mark.parametrize("first", ["outer", "inner"])
def test_p6_nested_folders_keep_each_other_off(root: pathlib.Path, one: str, two: str, first: str) -> None:
    (root / ".orchestrator").mkdir()
    held, other = (root, root / "b/c") if first == "outer" else (root / "b/c", root)
    with taken(held, one):
        assert not is_free(other, two)
        assert is_free(other, one)
    assert is_free(other, two)


def test_p6_siblings_below_one_project_go_on_side_by_side(root: pathlib.Path, one: str, two: str) -> None:
    (root / ".orchestrator").mkdir()
    (root / "d").mkdir()
    with taken(root / "b", one):
        assert is_free(root / "d", two)


def test_p6_who_works_first_in_a_folder_sees_who_began_further_down_before(
    root: pathlib.Path, one: str, two: str
) -> None:
    with taken(root / "b/c", one):
        assert not (root / ".orchestrator").exists()
        assert not is_free(root, two)
        assert not is_free(root, two)
    assert is_free(root, two)
    assert (root / ".orchestrator/locks/gate").read_bytes() == b"looked below\n"


def test_p12_who_came_first_is_served_first(root: pathlib.Path, one: str, two: str) -> None:
    with taken(root, one):
        waits = Place(str(root), two, "task-2")
        assert [each.run for each in waits.take().against] == ["task-1"]
    late = Place(str(root), one, "task-3")
    assert [(each.run, each.waits) for each in late.take().against] == [("task-2", True)]
    assert waits.take().taken
    waits.leave()
    assert late.take().taken
    late.leave()


def test_p12_who_gave_up_waiting_holds_nobody_up(root: pathlib.Path, one: str, two: str) -> None:
    with taken(root, one):
        waits = Place(str(root), two, "task-2")
        waits.take()
        waits.leave()
    assert is_free(root, one)


def test_nothing_stays_but_the_folder_and_its_gate(root: pathlib.Path, one: str, two: str) -> None:
    with taken(root, one):
        is_free(root, two)
    assert [path.name for path in (root / ".orchestrator/locks").iterdir()] == ["gate"]
    assert os.stat(root / ".orchestrator/locks").st_mode & 0o777 == 0o700


@pytest.fixture
def process(root: pathlib.Path, one: str) -> Iterator[subprocess.Popen[bytes]]:
    """One that works in the folder."""
    with subprocess.Popen([sys.executable, "-c", ALONE, str(root), one], stdout=subprocess.PIPE) as begun:
        assert begun.stdout is not None
        assert begun.stdout.readline() == b"taken\n"
        yield begun
        begun.kill()


def test_p6_the_death_of_a_process_lets_others_in(
    root: pathlib.Path, two: str, process: subprocess.Popen[bytes]
) -> None:
    assert not is_free(root, two)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert is_free(root, two)


@contextlib.contextmanager
def left(process: subprocess.Popen[bytes], variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """What an executor of the process's run leaves behind when that is killed."""
    text = "import time; print('begun', flush=True); time.sleep(600)"
    with subprocess.Popen(
        [sys.executable, "-c", text], env=variables, stdout=subprocess.PIPE, start_new_session=True
    ) as begun:
        assert begun.stdout is not None
        assert begun.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
        try:
            yield begun
        finally:
            begun.kill()


@pytest.mark.parametrize("ends", [True, False])
def test_p6_what_a_dead_run_has_left_is_ended_before_others_come_in(
    root: pathlib.Path, two: str, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    tag = orphan_recovery.tag(f"h:{process.pid}:{process_identity._start(process.pid)}", "task-7")
    with left(process, process_tree.marked(os.environ, process_tree.token(tag))) as late:
        if not ends:
            monkeypatch.setattr(orphan_recovery, "end", lambda tag: orphan_recovery.Lost(left=(f"{late.pid} python",)))
        place = Place(str(root), two, "task-2")
        found = place.take()
        place.leave()
        assert (found.taken, supervised.alive(late.pid)) == (ends, not ends)
        told = [each.split()[0] for each in found.ended] if ends else found.left
        assert told == ([str(late.pid)] if ends else (("task-7", (f"{late.pid} python",)),))


def test_who_was_started_by_a_run_there_is_told_so(
    root: pathlib.Path, two: str, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphan_recovery, "is_within", lambda tag: tag.endswith("task-7"))
    place = Place(str(root), two, "task-2")
    assert place.take().own == ("task-7",)
    process.kill()
    process.wait()
    assert place.take().left == (("task-7", ("what has started this process",)),)
    place.leave()


def test_a_gate_that_somebody_holds_is_not_waited_for(root: pathlib.Path, one: str) -> None:
    gate = folder_lock.folders_of(str(root))[0] / folder_lock.GATE
    with open(gate, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        place = Place(str(root), one, "task-1")
        assert place.take() == folder_lock.Answer(False)
    assert place.take().taken
    place.leave()


@pytest.mark.parametrize("content", [b"", b"{bad", b"\xff"])
def test_a_file_that_says_nothing_counts_while_somebody_has_it(root: pathlib.Path, one: str, content: bytes) -> None:
    path = folder_lock.folders_of(str(root))[0] / "x.run"
    path.write_bytes(content)
    assert is_free(root, one)
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert not is_free(root, one)


def test_p1_what_is_done_to_the_files_is_told(root: pathlib.Path, one: str) -> None:
    with taken(root, one) as place:
        assert place.tampered() == ()
        (path,) = (root / ".orchestrator/locks").glob("*.run")
        data = path.read_bytes()
        path.write_bytes(data + b" ")
        assert place.tampered() == (".orchestrator/locks (changed)",)
        path.write_bytes(data)
        path.unlink()
        assert place.tampered() == (".orchestrator/locks (deleted)",)


def test_where_there_is_nothing_to_lock_a_run_works_unguarded(
    root: pathlib.Path, one: str, two: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", failing)
    first, second = Place(str(root), one, "task-1"), Place(str(root), two, "task-2")
    assert (first.take().taken, second.take().taken) == (True, True)
    first.leave()
    second.leave()


def test_a_folder_that_cannot_be_written_stops_nobody(root: pathlib.Path, one: str) -> None:
    (root / ".orchestrator").write_text("no folder")
    assert is_free(root, one)
    os.unlink(root / ".orchestrator")
    os.symlink(root / "b", root / ".orchestrator")
    assert is_free(root, one)
    assert [path.name for path in (root / "b").iterdir()] == ["c"]
