"""What may become of a run: the executor's statuses, how they merge, and how each shows."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.core.lifecycle_table import RUN_STATUSES, RUN_TERMINAL

COMPLETE, INCOMPLETE, NO_EVIDENCE = "COMPLETE", "INCOMPLETE", "NO_EVIDENCE"
ERROR, INVALID, BLOCKED = "ERROR", "INVALID", "BLOCKED"
EXECUTOR_STATUSES = (COMPLETE, INCOMPLETE, NO_EVIDENCE, ERROR, INVALID, BLOCKED)
SEVERITY = (COMPLETE, INCOMPLETE, NO_EVIDENCE, ERROR, INVALID)
"""The statuses that merge, the most severe last."""

QUEUED, RUNNING, AWAITING = "queued", "running", "awaiting_response"
DONE, UNFINISHED, FAILED, CANCELLED = "complete", "incomplete", "error", "cancelled"
STATES, TERMINAL = RUN_STATUSES, RUN_TERMINAL

TIMEOUT, INTERACTIVE_PROMPT = "TIMEOUT", "INTERACTIVE_PROMPT"
BLOCKED_REASONS = (TIMEOUT, INTERACTIVE_PROMPT)

_STATE_OF = {
    COMPLETE: DONE,
    INCOMPLETE: UNFINISHED,
    NO_EVIDENCE: UNFINISHED,
    ERROR: FAILED,
    INVALID: FAILED,
    BLOCKED: UNFINISHED,
}
_WORD_OF = {DONE: COMPLETE, UNFINISHED: INCOMPLETE, FAILED: ERROR, CANCELLED: INCOMPLETE}


def merge(statuses: Iterable[str], *, merely_started: bool = False) -> str:
    """The most severe of several executor statuses.

    BLOCKED counts as INCOMPLETE and an unknown status as ERROR. Nothing to merge is COMPLETE only for a session that
    was merely started, else NO_EVIDENCE.

    Source: seed 001, Property 29.
    """
    found = [_mergeable(status) for status in statuses]
    if not found:
        return COMPLETE if merely_started else NO_EVIDENCE
    return max(found, key=SEVERITY.index)


def _mergeable(status: str) -> str:
    if status == BLOCKED:
        return INCOMPLETE
    return status if status in SEVERITY else ERROR


def state_of(status: str) -> str:
    """The state of a run that ends with an executor status; an unknown status is an error."""
    return _STATE_OF.get(status, FAILED)


def word_of(state: str) -> str | None:
    """COMPLETE, INCOMPLETE or ERROR for a terminal state, None for any other.

    Source: seed 001, Property 39.
    """
    return _WORD_OF.get(state)


def is_terminal(state: str) -> bool:
    """Whether a run in this state moves no more."""
    return state in TERMINAL
