"""What it costs to run a program under supervision: row 14, beside `subprocess.run` of the same program."""

from __future__ import annotations

import functools
import os
import pathlib
import sys
import tempfile
from collections.abc import Iterator, Sequence

from orchestrator.core.running import program_variables
from orchestrator.runner import process
from tools.benchmarks import harness
from tools.benchmarks.table import Bound, Figure

SIZE = 32 * 1024 * 1024
"""Bytes that the talkative program writes."""
LINE = "a line of ordinary text, of which there is much"
TALK = f"import sys\nfor _ in range({SIZE // 48}): sys.stdout.write({LINE!r} + '\\n')"
PROGRAMS: dict[str, tuple[Sequence[str], int, Bound]] = {
    "a program that does nothing": (("true",), 20, Bound(4, 2.5)),
    "a Python program": ((sys.executable, "-I", "-c", "print('done')"), 1, Bound(1.5, 1.15)),
    f"a program that writes {SIZE // 1024 // 1024} MB": ((sys.executable, "-I", "-c", TALK), 1, Bound(6, 4)),
}


def supervised(rounds: int) -> Iterator[Figure]:
    """Row 14: programs that are watched, masked and kept as evidence, with a look for what they leave behind."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, (argv, times, bound) in PROGRAMS.items():
            cases = {
                "supervised": harness.loop(functools.partial(_supervised, argv, folder), times),
                "plain": harness.loop(functools.partial(_plain, argv, folder), times),
            }
            seconds = harness.interleaved(cases, rounds)
            spent = (seconds["supervised"] - seconds["plain"]) / times * 1000
            ratio = seconds["supervised"] / seconds["plain"]
            yield Figure(f"{title}, supervised", "`subprocess.run`", ratio, bound, f"{spent:.1f} ms more")


def _supervised(argv: Sequence[str], folder: pathlib.Path, number: int) -> None:
    raw = folder / f"raw{number}"
    ended = process.supervise(argv, folder=folder, variables=program_variables.child(os.environ), raw=raw)
    raw.unlink()
    if ended.exit_code != 0:
        raise harness.CommandFailed(f"{argv[0]}: {ended.why}")


def _plain(argv: Sequence[str], folder: pathlib.Path, number: int) -> None:
    del number
    harness.call(argv, folder, program_variables.child(os.environ))
