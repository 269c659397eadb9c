"""How large a task may be, how it is split when it is larger, and what is measured where tokens cannot be counted.

Source: seed 001, Properties 14, 17 and 20.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orchestrator.core.running import codes
from orchestrator.core.running.config import TaskLimits as TaskLimits
from orchestrator.errors import Refused

MEASURES = ("files", "tests", "seconds")
TOKENS = "tokens"
PROXIES = ("seconds", "output_bytes", "tool_calls", "files", "tests")
"""What stands for tokens that cannot be counted."""


class Piece(NamedTuple):
    """A part of a task that cannot be split further, with what it takes; seconds are estimated."""

    name: str
    files: int = 0
    tests: int = 0
    seconds: int = 0


class Violation(NamedTuple):
    """A limit that was broken: `max_files`, `max_tests`, `max_seconds`, ...; the limit, the actual value, and when."""

    type: str
    limit: int
    actual: int
    at: str

    def sentence(self) -> str:
        """The violation in words."""
        return f"{self.type} {self.actual} of {self.limit}"


Part = tuple[Piece, ...]


def violations(limits: TaskLimits, actual: Mapping[str, int], at: str) -> list[Violation]:
    """Every limit of a task that is broken.

    Args:
        limits: of the task.
        actual: files, tests and seconds, as far as they are known.
        at: the time, as it is recorded.
    """
    allowed = {measure: getattr(limits, measure) for measure in MEASURES}
    return _broken(allowed, {name: actual[name] for name in MEASURES if name in actual}, at)


def check(limits: TaskLimits, actual: Mapping[str, int], at: str) -> None:
    """Stop work that broke a limit.

    Raises:
        Refused: E206; data ``violations``, each with type, limit, actual and time.
    """
    found = violations(limits, actual, at)
    if found:
        raise over(found)


def over(found: Sequence[Violation]) -> Refused:
    """The refusal that names every broken limit."""
    what = ", ".join(each.sentence() for each in found)
    return codes.refused("E206", f"The task is over its limits: {what}.", violations=[each._asdict() for each in found])


def split(limits: TaskLimits, pieces: Sequence[Piece], at: str) -> tuple[Part, ...]:
    """Propose how a task is split so that each part fits; one part where the whole does. Pieces keep their order.

    Args:
        limits: of each part.
        pieces: what the task consists of, in the order in which they are done.
        at: the time, as it is recorded.

    Raises:
        Refused: E206, a piece does not fit by itself, so that no splitting helps.
    """
    alone = [broken for piece in pieces for broken in violations(limits, _total((piece,)), at)]
    if alone:
        raise over(alone)
    parts: list[Part] = []
    for piece in pieces:
        grown = (*parts[-1], piece) if parts else ()
        if grown and not violations(limits, _total(grown), at):
            parts[-1] = grown
        else:
            parts.append((piece,))
    return tuple(parts)


def override(limits: Mapping[str, int], name: str, value: int, ranges: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """Limits with one of them changed. A value out of its range is an error and changes nothing.

    Raises:
        Refused: E104; data ``name``, ``lowest``, ``highest``.
    """
    if name not in ranges:
        raise codes.refused("E104", f"There is no limit {name}.", name=name, known=sorted(ranges))
    lowest, highest = ranges[name]
    if isinstance(value, bool) or not lowest <= value <= highest:
        sentence = f"{name} may be {lowest} to {highest}, not {value}."
        raise codes.refused("E104", sentence, name=name, lowest=lowest, highest=highest)
    return {**limits, name: value}


def hard_limits(caps: Mapping[str, int], measured: Mapping[str, int | None], at: str) -> list[Violation]:
    """What is over a hard limit, by tokens where they were counted, else by every proxy that was measured.

    Args:
        caps: the highest value of tokens and of each proxy that is limited.
        measured: what was counted; None or absent where it cannot be.
        at: the time, as it is recorded.

    Raises:
        Refused: E206, neither tokens nor any limited proxy was measured, so that nothing holds the work.
    """
    counted = {name: value for name, value in measured.items() if value is not None and name in caps}
    usable = [TOKENS] if TOKENS in counted else [name for name in PROXIES if name in counted]
    if not usable:
        raise codes.refused("E206", "Neither tokens nor anything in their place can be measured.", needs=list(PROXIES))
    return _broken(caps, {name: counted[name] for name in usable}, at)


def _broken(caps: Mapping[str, int], actual: Mapping[str, int], at: str) -> list[Violation]:
    return [Violation(f"max_{name}", caps[name], value, at) for name, value in actual.items() if value > caps[name]]


def _total(pieces: Sequence[Piece]) -> dict[str, int]:
    return {measure: sum(getattr(piece, measure) for piece in pieces) for measure in MEASURES}
