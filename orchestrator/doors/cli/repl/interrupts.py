"""Signals while lines are worked on: the first stops the run under way, the next one ends the loop.

A signal breaks in only where somebody waits for a line. Elsewhere it is remembered and asked about, so that no
executor is left alive and no step torn apart.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from orchestrator.hints import Any

ENDING = ("SIGTERM", "SIGHUP")
"""Signals that end the loop as soon as what is under way was stopped."""
IMPATIENT = 3
"""As many interrupts break in wherever they come."""


class Interrupts:
    """Counts interrupts while it is entered.

    Args:
        forgives: whether the next one after a run was stopped is a first one again, as a person at a prompt means it;
            else it is the second, which ends a script.
    """

    def __init__(self, *, forgives: bool) -> None:
        self._forgives = forgives
        self._count = self._spent = 0
        self._ending = False
        self._open = False
        self._shielded = False
        self._before: dict[int, Any] = {}

    @property
    def leaving(self) -> bool:
        """Whether the loop is to end: by a second interrupt or a signal that ends it, and in a script by any."""
        unspent = self._count > self._spent and not self._forgives
        return self._ending or self._count > 1 or unspent

    def __enter__(self) -> Interrupts:
        for name in ("SIGINT", *ENDING):
            number = getattr(signal, name, None)
            # What is ignored from the start, as in the background of a shell, stays ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    @property
    def cancels(self) -> bool:
        """Whether what runs is to be ended as well: after a second interrupt, or a signal that ends the program."""
        return self._ending or self._count > 1

    def came(self) -> bool:
        """Whether the run under way is to be stopped."""
        return self._count > self._spent

    def run_is_over(self) -> None:
        """An interrupt that came while a run was under way has stopped it, and does no more."""
        if self._count == 1:
            self._spent = 1
            if self._forgives:
                self.forget()

    def forget(self) -> None:
        """Somebody goes on: the next interrupt is a first one again."""
        self._count = self._spent = 0

    @contextlib.contextmanager
    def breaking_in(self) -> Iterator[None]:
        """While this is entered a signal breaks in, once, as KeyboardInterrupt."""
        self._open = True
        try:
            yield
        finally:
            self._open = False

    @contextlib.contextmanager
    def shielded(self) -> Iterator[None]:
        """While this is entered no signal breaks in: what is open is being ended."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False

    def _handle(self, number: int, _: FrameType | None) -> None:
        self._count += 1
        self._ending = self._ending or number != signal.SIGINT
        if not self._shielded and (self._open or self._count >= IMPATIENT):
            self._open = False
            raise KeyboardInterrupt
