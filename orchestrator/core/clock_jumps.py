"""Clocks that jump: what a day or more between a step and those before it means, and when a lease has ended then.

Times are UTC, ISO 8601, microseconds, Z.
"""

from __future__ import annotations

from orchestrator.core.suggestions import sentence, suggest

DAY_S = 86_400


def day_after(time: str) -> str:
    """The time a day later."""
    from datetime import datetime, timedelta

    return (datetime.fromisoformat(time) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def is_far_ahead(time: str, of: str) -> bool:
    """Whether a time is a day or more ahead of another one."""
    return time[:10] > of[:10] and time >= day_after(of)


def warning(at: str, before: str) -> str | None:
    """What a step that is a day or more ahead of or behind the newest before it is told; None where it is not."""
    if is_far_ahead(at, before):
        return (
            f"This step's clock says {at}, a day or more after the newest step before it ({before}). If that is"
            f" wrong, check the clock of this machine."
        )
    if is_far_ahead(before, at):
        return sentence(
            "This step's clock says {}, a day or more before a step that was recorded before it ({}). Check the clocks:"
            " {}", at, before, suggest("doctor"),
        )
    return None


def has_ended(until: str | None, beat: str | None, now: str) -> bool:
    """Whether a lease has ended, by the shorter of both clocks: that of whoever took it, and this one.

    Args:
        until: when it ends; None where there is none.
        beat: the last sign of life. A day or more ahead of this clock, it came from a wrong one and counts no longer.
    """
    return until is not None and (until < now or (beat is not None and is_far_ahead(beat, now)))
