"""The seven phases of a runner session: only to the next, each left through its gate, and what fails is counted.

Source: seed 001, Property 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.core import lifecycle
from orchestrator.core.lifecycle_table import PHASES
from orchestrator.core.names import shown
from orchestrator.core.running import codes, states
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import Refused

MAX_RETRIES = 3
CHECKS = ("lint", "tests", "types", "build")
PASSED = "passed"
ENDED = (states.ERROR, states.INVALID)

NEEDS: dict[str, str] = dict(
    zip(PHASES, ("requirements", "tasks", "plan", "tasks", "checks", "evidence_verified", "report"), strict=True)
)
"""The evidence that each phase hands in, by its key."""


class Progress(NamedTuple):
    """Where a runner session is.

    finished: the phase's gate was passed.
    status: COMPLETE while nothing is wrong; ERROR or INVALID end the session.
    retries: recoverable errors of this phase.
    """

    phase: str = PHASES[0]
    finished: bool = False
    status: str = states.COMPLETE
    retries: int = 0


class Outcome(NamedTuple):
    """What became of a step: where the session is now, and everything that was wrong with it."""

    progress: Progress
    refusals: tuple[Refused, ...] = ()


def advance(progress: Progress, to: str) -> Outcome:
    """Go to the next phase. Any other move makes the session INVALID.

    Another of the seven phases leaves the order, E202; the same phase or an unknown name is no move, E203; a session
    that ended in ERROR or INVALID, or whose phase is unfinished, goes nowhere, E204.
    """
    problem = _move_problem(progress, to)
    if problem is not None:
        return Outcome(progress._replace(status=states.INVALID), (problem,))
    return Outcome(Progress(to))


def _move_problem(progress: Progress, to: str) -> Refused | None:
    ended = _ended(progress)
    if ended is not None:
        return ended
    if to == progress.phase or to not in PHASES:
        return codes.refused("E203", f"There is no move from {progress.phase} to {shown(to)}.", phase=progress.phase)
    follows = lifecycle.next_phase(progress.phase)
    if to != follows:
        sentence = f"{progress.phase} is followed by {follows or 'nothing'}, not by {to}."
        return codes.refused("E202", sentence, phase=progress.phase, next=follows)
    if not progress.finished:
        return codes.refused("E204", f"{progress.phase} is not finished.", phase=progress.phase)
    return None


def finish(progress: Progress, evidence: Mapping[str, Any]) -> Outcome:
    """Pass the gate of the phase with its evidence. What the gate refuses leaves the phase unfinished.

    Args:
        evidence: what the phase made, under its key of `NEEDS`; for EXECUTION the state of every registered task by
            its id; for QA `passed` or another word for each of `CHECKS` that the project has, None for the others.
    """
    ended = _ended(progress)
    if ended is not None:
        return Outcome(progress._replace(status=states.INVALID), (ended,))
    problems = gate(progress.phase, evidence)
    return Outcome(progress._replace(finished=not problems), tuple(problems))


def fail(progress: Progress, *, recoverable: bool) -> Outcome:
    """Count an error of the phase. The fourth recoverable one, and any other, ends the session in ERROR, E201."""
    ended = _ended(progress)
    if ended is not None:
        return Outcome(progress._replace(status=states.INVALID), (ended,))
    counted = progress._replace(finished=False, retries=progress.retries + recoverable)
    if recoverable and counted.retries <= MAX_RETRIES:
        return Outcome(counted)
    why = f"failed more than {MAX_RETRIES} times" if recoverable else "failed and cannot be tried again"
    return Outcome(counted._replace(status=states.ERROR), (codes.refused("E201", f"{progress.phase} {why}."),))


def gate(phase: str, evidence: Mapping[str, Any]) -> list[Refused]:
    """Everything that keeps a phase from being left: E209 without its evidence, E210 for what the evidence shows."""
    key = NEEDS[phase]
    handed_in = evidence.get(key)
    if handed_in is None:
        return [codes.refused("E209", f"{phase} has no evidence: {key} is missing.", phase=phase, needs=key)]
    return [codes.refused("E210", f"{phase}: {fault}.", phase=phase) for fault in _faults(phase, key, handed_in)]


def _faults(phase: str, key: str, handed_in: Any) -> list[str]:
    if phase == "EXECUTION":
        return [f"task {id_} is {state}" for id_, state in handed_in.items() if not states.is_terminal(state)]
    if phase == "QA":
        return _check_faults(handed_in)
    if phase == "COMPLETION_VALIDATION":
        return [] if handed_in is True else ["the evidence is not verified"]
    return [] if handed_in else [f"{key} is empty"]


def _check_faults(checks: Mapping[str, str | None]) -> list[str]:
    unknown = [f"{shown(name)} is no check" for name in checks if name not in CHECKS]
    silent = [f"nothing is said of {name}" for name in CHECKS if name not in checks]
    failed = [f"{name} {checks[name]}" for name in CHECKS if checks.get(name) not in (None, PASSED)]
    return unknown + silent + failed


def _ended(progress: Progress) -> Refused | None:
    if progress.status in ENDED:
        return codes.refused("E204", f"The session ended in {progress.status}.", phase=progress.phase)
    return None
