"""Completion in real shells: what the Tab key makes of a line that was begun."""

from __future__ import annotations

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import pytest

from tests.conftest import clean_environment

pytestmark = pytest.mark.slow

SECONDS = 120
LINES = {
    "orchestrator group sho": "orchestrator group show",
    "orchestrator route --current-a": "orchestrator route --current-agent",
    "orchestrator run x --type LIGHT": "orchestrator run x --type LIGHT_EDIT",
}
"""What was begun, and what it becomes: a command, an option, a value of an option."""
INTERACTIVE = {"bash": ("bash", "--norc", "-i"), "zsh": ("zsh", "-f", "-i")}
BEFORE = {"bash": "", "zsh": "autoload -Uz compinit && compinit -D; "}


def environment(home: pathlib.Path) -> dict[str, str]:
    """That of a person's shell, in which the command is found."""
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**clean_environment(), "HOME": str(home), "PATH": path, "TERM": "dumb", "PS1": "> "}


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def typed(shell: str, home: pathlib.Path) -> str:
    """What a terminal shows where each of the lines is begun, and the Tab key finishes it."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        INTERACTIVE[shell], stdin=follower, stdout=follower, stderr=follower, env=environment(home), cwd=home,
        start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    told = b""
    try:
        os.write(leader, f'{BEFORE[shell]}eval "$(orchestrator completion {shell})"; echo rea""dy\n'.encode())
        told = until(leader, told, "ready")
        for number, line in enumerate(LINES):
            # Control-A goes to the beginning: whatever it has become, it is the argument of a command that echoes it.
            os.write(leader, f'{line}\t\x01echo is \x05; echo ti""ll {number}\n'.encode())
            told = until(leader, told, f"till {number}")
    finally:
        process.kill()
        process.wait()
        os.close(leader)
    return told.decode(errors="replace")


def until(leader: int, told: bytes, sign: str) -> bytes:
    deadline = time.monotonic() + SECONDS
    while not re.search(rf"^{sign}\s*$", told.decode(errors="replace"), re.MULTILINE):
        assert select.select([leader], [], [], max(0.0, deadline - time.monotonic()))[0], told
        told += os.read(leader, 65536)
    return told


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_tab_key_finishes_what_was_begun(shell: str, tmp_path: pathlib.Path) -> None:
    needs(shell)
    assert re.findall(r"^is (.*?)\s*$", typed(shell, tmp_path), re.MULTILINE) == list(LINES.values())


def test_fish_offers_the_same(tmp_path: pathlib.Path) -> None:
    needs("fish")
    asked = "".join(f"; complete -C {line!r}" for line in LINES)
    done = subprocess.run(
        ("fish", "--no-config", "-c", f"orchestrator completion fish | source{asked}"), env=environment(tmp_path),
        cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    offered = [each.split("\t")[0] for each in done.stdout.splitlines()]
    assert offered == [whole.split()[-1] for whole in LINES.values()]
