"""How the time of a computation grows with its text, whatever else the machine does and however it is measured.

What is compared are times of the processor for a text and for a longer one, in turns; the least of several counts, and
a bound that a square would exceed by far. How long it takes is not asked.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

FACTOR = 8
ROUNDS = 3
ATTEMPTS = 6
SLACK = 2
"""How much worse than evenly it may grow: a square is FACTOR times worse."""


def seconds(work: Callable[[str], object], text: str) -> float:
    """The processor's time for one call, without that of the collector, which looks through whatever there is."""
    gc.disable()
    try:
        begin = time.process_time()
        work(text)
        return time.process_time() - begin
    finally:
        gc.enable()


def growth(work: Callable[[str], object], small: str, large: str, rounds: int = ROUNDS) -> float:
    """How many times longer the large text takes than the small one at its best.

    The large one is taken once: by chance it takes longer, never shorter, and `least` measures again then.
    """
    best = min(seconds(work, small) for _ in range(rounds))
    return seconds(work, large) / best


def least(measure: Callable[[], float], bound: float) -> float:
    """A measurement that is taken again, a few times, while it exceeds a bound; the least."""
    gc.collect()
    found = [measure()]
    while found[-1] > bound and len(found) < ATTEMPTS:
        found.append(measure())
    return min(found)


def is_even(work: Callable[[str], object], unit: str, count: int) -> bool:
    """Whether a text of so many units takes about as many times longer as it is longer than a part of it."""
    small, bound = count // FACTOR, FACTOR * SLACK
    return least(lambda: growth(work, unit * small, unit * count), bound) <= bound
