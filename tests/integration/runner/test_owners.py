"""Who owns a run is told in one line, and lives for as long as its process does."""

from __future__ import annotations

import ctypes
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from orchestrator.app import maintenance
from orchestrator.runner import process_identity, process_table


def test_this_process_lives() -> None:
    assert not process_identity.is_gone(process_identity.mine())


def test_p6_a_process_that_has_ended_is_gone() -> None:
    code = "from orchestrator.runner import process_identity; print(process_identity.mine())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process_identity.is_gone(ended.stdout.strip())


def test_p6_a_later_process_of_the_same_number_is_not_the_owner() -> None:
    host, number, start = process_identity.mine().rsplit(":", 2)
    assert process_identity.is_gone(f"{host}:{number}:{int(start) - 1}")


@pytest.mark.parametrize(("sets", "has_own_numbers", "is_gone"), [
    (process_identity.SANDBOXES[0], True, False), (process_identity.SANDBOXES[1], True, False),
    (process_identity.SANDBOXES[0], False, True),
    ("PATH", True, True),
])  # fmt: skip
def test_in_a_sandbox_that_hides_other_processes_nobody_is_gone(
    monkeypatch: pytest.MonkeyPatch, sets: str, has_own_numbers: bool, is_gone: bool
) -> None:
    if not process_table.has_proc():
        pytest.skip("this system keeps no folder of its processes")
    for name in process_identity.SANDBOXES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(sets, "1")
    numbers = os.readlink("/proc/self/ns/pid")
    monkeypatch.setattr(process_identity, "_FIRST_NUMBERS", "pid:[1]" if has_own_numbers else numbers)
    host, number, start = process_identity.mine().rsplit(":", 2)
    assert process_identity.is_gone(f"{host}:{number}:{int(start) - 1}") == is_gone


@pytest.fixture
def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "PROC", "/nowhere")


@pytest.mark.usefixtures("without_proc")
def test_p6_where_there_is_no_proc_ps_tells_who_owns(monkeypatch: pytest.MonkeyPatch) -> None:
    host, number, start = process_identity.mine().rsplit(":", 2)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    found = [process_identity.is_gone(f"{host}:{number}:{int(start) + later}") for later in (0, 100)]
    assert (int(start) > 1_700_000_000, found) == (True, [False, True])
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        ended.wait()
    assert process_identity.is_gone(f"{host}:{ended.pid}:{start}")


@pytest.mark.usefixtures("without_proc")
def test_without_proc_the_doctor_says_that_lost_processes_are_not_found(tmp_path: pathlib.Path) -> None:
    answer = maintenance.doctor(str(tmp_path / "none.db"), {}, tmp_path)
    told = [finding for finding in answer["findings"] if finding["id"] == "PROCESSES_UNKNOWN"]
    assert [finding["severity"] for finding in told] == ["warning"]


def test_where_nobody_can_adopt_orphans_the_doctor_says_what_is_not_found(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [finding["id"] for finding in maintenance.doctor(str(tmp_path / "none.db"), {}, tmp_path)["findings"]]
    monkeypatch.setattr(ctypes, "CDLL", lambda name: None)
    after = maintenance.doctor(str(tmp_path / "none.db"), {}, tmp_path)["findings"]
    told = {finding["id"]: finding["severity"] for finding in after if finding["id"] not in before}
    assert told == {"ORPHANS_UNKNOWN": "warning"}


@pytest.mark.parametrize("proc", [process_table.PROC, "/nowhere"], ids=["proc", "ps"])
def test_a_process_is_below_those_that_led_to_it(proc: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "PROC", proc)
    with subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        sleeping = int(shell.stdout.readline())
        mine, child, grandchild = process_identity.mine(), process_identity.of(shell.pid), process_identity.of(sleeping)
        pairs = [(child, mine), (grandchild, mine), (grandchild, child)]
        assert [process_identity.is_below(*pair) for pair in pairs] == [True, True, True]
        others = [(mine, child), (mine, mine), (child, "elsewhere:1:1"), ("elsewhere:1:1", mine), (child, "")]
        assert not any(process_identity.is_below(*pair) for pair in others)
        os.kill(sleeping, signal.SIGKILL)
        shell.wait()
    assert not process_identity.is_below(child, mine)


@pytest.mark.parametrize("owner", ["elsewhere:1:1", "", "system:runner", "a:b:c"])
def test_p6_what_is_not_known_lives(owner: str) -> None:
    assert not process_identity.is_gone(owner)
