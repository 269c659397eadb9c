"""`./task check` runs every part, tells them apart, fails where one does, and leaves nothing running."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import time

import pytest

from tests.architecture import source

PARTS = {"lint": "ruff", "types": "mypy", "contracts": "lint-imports", "tests": "python"}
"""Each part, and the program in .venv/bin that it runs."""
DEADLINE_S = 60.0


class Checkout:
    """The task file among programs that do nothing but what the test says."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        (folder / "task").write_bytes((source.ROOT / "task").read_bytes())
        for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
            (folder / name).touch()
        (folder / ".venv" / "bin").mkdir(parents=True)
        self.interpreter = self.program("interpreter", "")
        for part in PARTS:
            self.does(part, f"echo {part} is well")

    def program(self, name: str, body: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def does(self, part: str, body: str) -> None:
        """Let a part do something; the interpreter does it for pytest alone, and is asked for other things as well."""
        body = f'[ "$2" = pytest ] || exit 0\n{body}' if part == "tests" else body
        self.program(f".venv/bin/{PARTS[part]}", body)

    def start(self) -> subprocess.Popen[str]:
        """Start `./task check` as the first process of a group, as a terminal does."""
        return subprocess.Popen(
            ["sh", "task", "check"], cwd=self.folder, env=os.environ | {"PYTHON": str(self.interpreter)}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip

    def check(self) -> tuple[int, str]:
        process = self.start()
        said, _ = process.communicate(timeout=DEADLINE_S)
        return process.returncode, said


@pytest.fixture
def checkout(tmp_path: pathlib.Path) -> Checkout:
    return Checkout(tmp_path)


def test_every_part_is_told_under_its_name(checkout: Checkout) -> None:
    code, said = checkout.check()
    assert code == 0
    told = said[said.index("== tests") :].splitlines()
    assert told == [
        "== tests (lint, types and contracts run beside them)", "tests is well",
        "== lint", "lint is well", "== types", "types is well", "== contracts", "contracts is well",
    ]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_whichever_part_fails_all_are_run_and_the_check_fails(checkout: Checkout, part: str) -> None:
    checkout.does(part, f"echo {part} is broken >&2; exit 3")
    code, said = checkout.check()
    assert code == 1
    assert [each for each in PARTS if f"{each} is broken" in said] == [part]
    assert [each for each in PARTS if f"{each} is well" in said] == [each for each in PARTS if each != part]
    assert said.splitlines()[-1] == f"task: failed: {part}"


def test_all_that_failed_is_named(checkout: Checkout) -> None:
    for part in ("tests", "lint", "contracts"):
        checkout.does(part, "exit 1")
    code, said = checkout.check()
    assert (code, said.splitlines()[-1]) == (1, "task: failed: tests lint contracts")


def test_an_interrupt_ends_every_part(checkout: Checkout) -> None:
    for part in PARTS:
        checkout.does(part, f"echo $$ >{part}.pid; exec sleep {DEADLINE_S:.0f}")
    process = checkout.start()
    running = [_number(checkout.folder / f"{part}.pid") for part in PARTS]
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130
    until = time.monotonic() + DEADLINE_S / 2
    while (left := [each for each in running if _runs(each)]) and time.monotonic() < until:
        time.sleep(0.01)
    assert left == []


def _number(file: pathlib.Path) -> int:
    """The process that a part wrote down."""
    until = time.monotonic() + DEADLINE_S / 2
    while not (file.exists() and file.read_text()) and time.monotonic() < until:
        time.sleep(0.01)
    return int(file.read_text())


def _runs(process: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_linked_environment_is_left_to_whom_it_belongs(checkout: Checkout) -> None:
    other = checkout.folder / "other"
    (checkout.folder / ".venv").rename(other)
    (checkout.folder / ".venv").symlink_to(other)
    made = '[ "$1 $2 $3" = "-m venv --clear" ] || exit 0\nrm -rf "$4"/* && mkdir -p "$4/bin" && touch "$4/new"'
    checkout.program("interpreter", made)
    checkout.check()
    assert (checkout.folder / ".venv" / "new").exists()
    assert sorted(path.name for path in other.iterdir()) == ["bin"]
