"""The seven phases of a run: only to the next, each left through its gate, what fails is counted, and the log says how.

Source: seed 001, Property 4.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core import lifecycle
from orchestrator.core.lifecycle_table import PHASES
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import shown
from orchestrator.core.running import codes, states
from orchestrator.errors import Refused
from orchestrator.hints import Any

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


Entry = dict[str, str]


def walk(evidence: dict[str, Any], times: Mapping[str, str], *, fails: str | None = None) -> list[Entry]:
    """Go through the phases with what each made, as far as their gates let pass.

    Args:
        evidence: by phase, what `phases.finish` takes.
        times: by phase, when it ended, as the log has it.
        fails: the phase that failed and cannot be tried again, if one did.

    Returns:
        An entry of the log for each phase that was reached.
    """
    entries: list[Entry] = []
    progress = Progress()
    while True:
        failed = progress.phase == fails
        done = fail(progress, recoverable=False) if failed else finish(progress, evidence[progress.phase])
        entries.append(_entry(progress.phase, times[progress.phase], done))
        following = lifecycle.next_phase(progress.phase)
        if done.refusals or following is None:
            return entries
        moved = advance(done.progress, following)
        if moved.refusals:
            return [*entries, _entry(progress.phase, times[progress.phase], moved)]
        progress = moved.progress


def _entry(phase: str, at: str, done: Outcome) -> Entry:
    faults = "; ".join(f"{refusal.code} {refusal.message}" for refusal in done.refusals)
    return {"at": at, "kind": "phase", "level": "full", "text": f"{phase}: {faults or 'passed'}"}


def evidence_of(
    *, prompt: str, tasks: dict[str, str], plan: dict[str, Any], checks: dict[str, str | None], verified: bool,
    report: str,
) -> dict[str, dict[str, Any]]:
    """What each phase of a run made, in the form of its gate.

    Args:
        tasks: the run, or each part of it, with the state that it goes to as its facts are judged.
        checks: the outcome of each check that the project has; None, or absent, where it has none.
        verified: the evidence was read back and is sound.
    """
    made: tuple[dict[str, Any], ...] = (
        {"requirements": [prompt]},
        {"tasks": list(tasks)},
        {"plan": plan},
        {"tasks": tasks},
        {"checks": {name: checks.get(name) for name in CHECKS}},
        {"evidence_verified": verified},
        {"report": report},
    )
    return dict(zip(PHASES, made, strict=True))
