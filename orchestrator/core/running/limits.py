"""How large a task may be, and how it is split when it is larger.

Its measures are what stands for tokens, which not every executor counts: seconds are measured always.

Source: seed 001, Properties 14, 17 and 20.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import codes
from orchestrator.core.running.config import TaskLimits as TaskLimits
from orchestrator.errors import Refused

MEASURES = ("files", "tests", "seconds")
TASK_SECONDS = "task_limits.seconds"
"""The one clock that is set in seconds; the others are set in milliseconds."""


def setting(clock: str | None, timeout_ms: int) -> tuple[int, str]:
    """What a clock is set to, and the unit of its setting.

    Args:
        clock: executor_timeout_ms, progress_timeout_ms or task_limits.seconds.
        timeout_ms: what it was set to, in milliseconds.
    """
    return (timeout_ms // 1000, "s") if clock == TASK_SECONDS else (timeout_ms, "ms")


class Piece(NamedTuple):
    """What of a task cannot be split further, by its files, with what it takes; seconds where they can be told."""

    names: tuple[str, ...]
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


def _broken(caps: Mapping[str, int], actual: Mapping[str, int], at: str) -> list[Violation]:
    return [Violation(f"max_{name}", caps[name], value, at) for name, value in actual.items() if value > caps[name]]


def _total(pieces: Sequence[Piece]) -> dict[str, int]:
    return {measure: sum(getattr(piece, measure) for piece in pieces) for measure in MEASURES}
