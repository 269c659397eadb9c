"""Measure several things side by side, so that a busy machine slows all of them alike.

Every figure is the minimum over rounds, and every round runs each case once. What is compared are ratios of such
minima from one run; seconds are never compared with seconds of another run.
"""

from __future__ import annotations

import gc
import itertools
import os
import pathlib
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

MINIMUM_ROUNDS = 11

Argv = Sequence[str | pathlib.Path]
Case = Callable[[], object]
Clock = Callable[[], float]


class CommandFailed(Exception):
    """A measured process did not end as expected, so its time says nothing."""


def interleaved(cases: Mapping[str, Case], rounds: int, clock: Clock = time.perf_counter) -> dict[str, float]:
    """Run all cases in turn, once unmeasured and then `rounds` times.

    Args:
        cases: what to measure, by name; each is called `rounds + 1` times.
        rounds: at least `MINIMUM_ROUNDS`.
        clock: seconds, from any origin.

    Returns:
        The least seconds of each case.

    Raises:
        ValueError: too few rounds for a minimum that means something.
    """
    if rounds < MINIMUM_ROUNDS:
        raise ValueError(f"{rounds} rounds are too few; at least {MINIMUM_ROUNDS}")
    for case in cases.values():
        case()
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, case in cases.items():
            start = clock()
            case()
            best[name] = min(best[name], clock() - start)
    return best


def keep_memory() -> None:
    """Take what was prepared out of the collector's sight: no side is to pay for looking through it."""
    gc.collect()
    gc.freeze()


def process(
    argv: Argv, folder: pathlib.Path, environment: Mapping[str, str], exits: Iterable[int] = frozenset({0})
) -> Case:
    """A case that runs one whole process, from start to end, and checks its exit code."""
    allowed = frozenset(exits)

    def run() -> None:
        call(argv, folder, environment, allowed)

    return run


def processes(
    calls: Iterable[Argv], folder: pathlib.Path, environment: Mapping[str, str], exits: Iterable[int] = frozenset({0})
) -> Case:
    """A case that runs the next of several prepared calls each time, for acts that can be done only once.

    Raises:
        StopIteration: when run more often than there are calls.
    """
    following = iter(calls)
    allowed = frozenset(exits)

    def run() -> None:
        call(next(following), folder, environment, allowed)

    return run


def loop(function: Callable[[int], object], times: int) -> Case:
    """A case that calls a function many times in this process, with a number that never comes twice."""
    numbers = itertools.count()

    def run() -> None:
        for number in itertools.islice(numbers, times):
            function(number)

    return run


def call(
    argv: Argv, folder: pathlib.Path, environment: Mapping[str, str], exits: Iterable[int] = frozenset({0})
) -> str:
    """Run a process to its end and return what it printed.

    Raises:
        CommandFailed: it ended with another exit code; the message holds the call and its words.
    """
    done = subprocess.run(
        argv, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode not in exits:
        words = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        called = " ".join(os.path.basename(part) for part in map(str, argv))
        raise CommandFailed(f"exit {done.returncode} of {called}: {words[-1] if words else 'silent'}")
    return done.stdout.decode("utf-8", "replace")
