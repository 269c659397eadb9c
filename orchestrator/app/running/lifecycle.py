"""The seven phases of a run: each is left through its gate, and the log says how.

Source: seed 001, Property 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.core import lifecycle
from orchestrator.core.lifecycle_table import PHASES
from orchestrator.core.running import phases

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
    progress = phases.Progress()
    while True:
        failed = progress.phase == fails
        done = phases.fail(progress, recoverable=False) if failed else phases.finish(progress, evidence[progress.phase])
        entries.append(_entry(progress.phase, times[progress.phase], done))
        following = lifecycle.next_phase(progress.phase)
        if done.refusals or following is None:
            return entries
        moved = phases.advance(done.progress, following)
        if moved.refusals:
            return [*entries, _entry(progress.phase, times[progress.phase], moved)]
        progress = moved.progress


def _entry(phase: str, at: str, done: phases.Outcome) -> Entry:
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
        {"checks": {name: checks.get(name) for name in phases.CHECKS}},
        {"evidence_verified": verified},
        {"report": report},
    )
    return dict(zip(PHASES, made, strict=True))
