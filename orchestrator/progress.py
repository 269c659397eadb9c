"""How far long work has come: set by whoever does it, read by whoever shows it to a person.

A call does one thing at a time, so there is one state for the process; nothing depends on it.
"""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple

EVERY = 256
"""Events between two words on how far it is."""


class State(NamedTuple):
    """How far it is.

    what: the things that are counted, such as `events`, or what is done now. done: how many of them; None where nothing
    is counted. total: how many there are; None where that is not known.
    """

    what: str
    done: int | None = None
    total: int | None = None


_state: State | None = None


def tell(what: str, done: int | None = None, total: int | None = None) -> None:
    """Say how far it is, as `State`; cheap enough for every thousandth row."""
    global _state
    _state = State(what, done, total)


def state() -> State | None:
    """What was said last; None where nothing was."""
    return _state
