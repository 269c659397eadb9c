"""Eight clients that ask at once, and what is said of how soon they were answered."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from tools.benchmarks.table import Figure

CLIENTS = 8

Ask = Callable[[], None]
"""One request of a client, to the end of its answer; raises where it was not answered as expected."""


class Load:
    """Clients that each ask a number of times.

    Args:
        clients: one function for each.
        times: how often each asks in a round.

    Attributes:
        seconds: how long each request took, of all rounds but the first, which is not measured.
    """

    def __init__(self, clients: Sequence[Ask], times: int) -> None:
        self._clients, self.times = clients, times
        self._rounds: list[list[float]] = []

    def __call__(self) -> None:
        """One round: all ask at once; it ends with the last answer."""
        taken: list[float] = []
        faults: list[BaseException] = []
        threads = [threading.Thread(target=self._work, args=(ask, taken, faults)) for ask in self._clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]
        self._rounds.append(taken)

    def _work(self, ask: Ask, taken: list[float], faults: list[BaseException]) -> None:
        try:
            for _ in range(self.times):
                began = time.perf_counter()
                ask()
                taken.append(time.perf_counter() - began)
        except BaseException as fault:
            faults.append(fault)

    @property
    def seconds(self) -> list[float]:
        return [each for round_ in self._rounds[1:] for each in round_]

    def p99(self) -> float:
        """The seconds within which 99 of 100 were answered."""
        return statistics.quantiles(self.seconds, n=100)[98]

    def rate(self, least: float) -> float:
        """Requests per second, where a round took so many seconds at least."""
        return len(self._clients) * self.times / least


def compared(
    words: str, anchor: str, pair: tuple[Load, Load], least: Mapping[str, float], names: tuple[str, str], more: str = ""
) -> Iterator[Figure]:
    """What is said of a load beside a bare one: requests per second and the 99th of a hundred, of both sides.

    Args:
        pair: the measured load and the bare one.
        least: the least seconds of a round, by name.
        names: theirs.
        more: what else is to be said.
    """
    one, bare = (load.rate(least[name]) for load, name in zip(pair, names, strict=True))
    said = f"{one:.0f} requests a second against {bare:.0f}"
    yield Figure(f"{words}: seconds per request", anchor, bare / one, note="; ".join(filter(None, (said, more))))
    p99, bare99 = (load.p99() for load in pair)
    said = f"{p99 * 1000:.1f} ms against {bare99 * 1000:.1f} ms"
    yield Figure(f"{words}: p99", anchor, p99 / bare99, note=said)
