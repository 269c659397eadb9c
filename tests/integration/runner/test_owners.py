"""Who owns a run is told in one line, and lives for as long as its process does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from orchestrator.runner import owners


def test_this_process_lives() -> None:
    assert not owners.is_gone(owners.mine())


def test_p6_a_process_that_has_ended_is_gone() -> None:
    code = "from orchestrator.runner import owners; print(owners.mine())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert owners.is_gone(ended.stdout.strip())


def test_p6_a_later_process_of_the_same_number_is_not_the_owner() -> None:
    host, number, start = owners.mine().rsplit(":", 2)
    assert owners.is_gone(f"{host}:{number}:{int(start) - 1}")


@pytest.mark.parametrize("owner", ["elsewhere:1:1", "", "system:runner", "a:b:c"])
def test_p6_what_is_not_known_lives(owner: str) -> None:
    assert not owners.is_gone(owner)
