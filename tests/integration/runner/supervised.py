"""Programs written for a test, and a look at what is left of them."""

from __future__ import annotations

import os
import pathlib
import sys
import time

from orchestrator.core.running import program_variables
from orchestrator.runner import process

QUICK = process.Limits(
    executor_timeout_ms=20_000,
    progress_timeout_ms=20_000,
    prompt_ms=150,
    finished_prompt_ms=350,
    grace_ms=300,
)
"""The clocks of the product, of which those for prompts and for ending run much faster."""


def supervise(folder: pathlib.Path, *argv: str, **more: object) -> process.Ended:
    """Run a program in a folder with the variables that programs get, and quick clocks."""
    variables = program_variables.child(os.environ)
    given: dict[str, object] = {"folder": folder, "variables": variables, "limits": QUICK, **more}
    return process.supervise(argv, **given)  # type: ignore[arg-type]


def python(folder: pathlib.Path, text: str, **more: object) -> process.Ended:
    """Run a Python program that is written into the folder."""
    path = folder / "program.py"
    path.write_text(text, "utf-8")
    return supervise(folder, sys.executable, "-S", str(path), **more)


def shell(folder: pathlib.Path, text: str, **more: object) -> process.Ended:
    """Run a shell's program that is written into the folder."""
    path = folder / "program.sh"
    path.write_text(text, "utf-8")
    return supervise(folder, "/bin/sh", str(path), **more)


def alive(number: int) -> bool:
    """Whether a process runs; one that nobody has reaped yet runs no more."""
    try:
        state = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def left(folder: pathlib.Path) -> list[int]:
    """Those that still live of the processes that have written their numbers into files of the folder."""
    numbers = [int(path.read_text()) for path in folder.glob("*.pid") if path.read_text()]
    assert numbers
    return [number for number in numbers if alive(number)]


def appeared(path: pathlib.Path, seconds: float = 5) -> str:
    """Wait for a file to have been written, and read it."""
    until = time.monotonic() + seconds
    while not (path.exists() and path.read_text()) and time.monotonic() < until:
        time.sleep(0.01)
    return path.read_text()
