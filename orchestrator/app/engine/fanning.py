"""The part of a decision that looks at the other groups: a batch, or the phase check."""

from __future__ import annotations

from typing import Any

from orchestrator.app.engine import settling, spawning
from orchestrator.app.engine import summary as standing
from orchestrator.app.kernel.context import Version, Work
from orchestrator.core.routing import fanout
from orchestrator.core.routing.facts import MANAGER, Fired, Target


def fan_out(work: Work, version: Version, record: spawning.Record, next_agent: str | None) -> spawning.Record:
    """A decision to start a batch or to check the phase, as it looks once the other groups are looked at.

    Args:
        record: the decision; its target's action is `spawn_batch` or `check_phase`.
        next_agent: the role that a batch is said to go to.
    """
    session = work.session()
    checking = record.target.action == "check_phase"
    if session.status != "active":
        return record._replace(target=Target(None, "wait"), reason=fanout.PAUSED)
    board = settling.load_board(work, session, version)
    starts = fanout.batch(version.workflow, session, board)
    if starts:
        role = starts[0].role if checking else next_agent
        extras = {**record.extras, "phase_check": "continue"} if checking else record.extras
        fired = (*record.rules, *settling.batch_rules(starts))
        return record._replace(target=Target(role, "spawn_batch"), extras=extras, rules=fired, starts=starts)
    if checking and not board.open_others:
        return _settled(work, record, "phase_check")
    reason = fanout.why_nothing(board)
    if reason is None and not board.held:
        return _settled(work, record, "stalled")
    extras = {**record.extras, "phase_check": "wait"} if checking else record.extras
    return record._replace(target=Target(None, "wait"), extras=extras, reason=reason or fanout.SLOTS_BUSY)


def _settled(work: Work, record: spawning.Record, rule: str) -> spawning.Record:
    """Nothing runs and nothing can start: the project manager is called, for the session as a whole."""
    kinds = standing.kinds(work.reader, work.step.chain)
    causes = standing.causes(kinds)
    extras: dict[str, Any] = {**record.extras, "groups": kinds, "causes": causes}
    if rule == "phase_check":
        extras["phase_check"] = fanout.phase(kinds)
    # What a batch gives its builders is not the manager's; a phase check's context is for whoever it calls.
    context = record.include_context if record.target.action == "check_phase" else ()
    fired = Fired(rule, f"nothing runs: {', '.join(causes) or 'all groups are settled'}")
    return record._replace(
        target=Target(MANAGER, "spawn"), extras=extras, rules=(*record.rules, fired), session_level=True,
        model=None, include_context=context,
    )
