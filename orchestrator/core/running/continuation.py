"""Whether unfinished work may go on: only by approval, only where something was reached, and not for ever.

Source: seed 001, Property 16.
"""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import advice, codes, states

TTL_SECONDS = 1800
"""How long an approval may be given after it was asked for, and used after it was given."""


class Work(NamedTuple):
    """What a session has reached.

    status: merged. total, finished: tasks in all, and those that are complete.
    running: one of them is in progress. evidence_valid: all of the evidence is there and unchanged.
    begun: unfinished tasks of which something is verified, which is progress too.
    """

    status: str
    total: int
    finished: int
    running: bool = False
    evidence_valid: bool = True
    begun: int = 0


class Approval(NamedTuple):
    """When approval was asked for and given, in seconds since the epoch; None where it was not."""

    asked_at: float
    given_at: float | None = None


class NextAction(NamedTuple):
    """Whether work may go on now, and why or why not, in one sentence."""

    allowed: bool
    reason: str


def is_expired(*, asked_at: float, now: float, ttl: float = TTL_SECONDS) -> bool:
    """Whether an approval that was asked for is too old to be given or used. All times in seconds."""
    return now - asked_at > ttl


def of_run(status: str | None, files: int, *, evidence_valid: bool = True) -> Work:
    """What one unfinished run has reached: files that were made and found are progress.

    Args:
        status: its executor status.
        files: how many files it changed.
    """
    return Work(status or states.INCOMPLETE, 1, 0, evidence_valid=evidence_valid, begun=int(files > 0))


_ONE = "The task is finished."


def faults(work: Work) -> list[str]:
    """Everything that stands against continuing, as sentences."""
    checks = (
        (work.status not in states.EXECUTOR_STATUSES, f"{work.status} is no known status."),
        (work.status in (states.ERROR, states.INVALID), f"The work ended in {work.status}."),
        (work.running, "The work is still in progress."),
        (work.total <= 0, "There is no work."),
        (0 < work.total <= work.finished, f"All {work.total} tasks are finished." if work.total > 1 else _ONE),
        (work.total > 0 >= work.finished + work.begun, "Nothing was reached so far."),
        (not work.evidence_valid, "The evidence is not valid."),
    )
    return [sentence for holds, sentence in checks if holds]


def check(work: Work) -> None:
    """Refuse to ask for, or to give, an approval that may not be given. The session is INVALID then.

    Raises:
        Refused: E207; data ``reasons``, all of them.
    """
    found = faults(work)
    if found:
        raise codes.refused("E207", " ".join(found), reasons=found, status=states.INVALID)


def next_action(work: Work, approval: Approval | None, now: float) -> NextAction:
    """Whether work goes on: `next_action` and `next_action_reason` of the final report.

    Args:
        approval: the latest, or None.
        now: in seconds since the epoch.
    """
    found = faults(work)
    if found:
        return NextAction(False, " ".join(found))
    if approval is None or approval.given_at is None:
        return NextAction(False, advice.WAITS)
    if is_expired(asked_at=approval.given_at, now=now) or is_expired(asked_at=approval.asked_at, now=approval.given_at):
        return NextAction(False, advice.EXPIRED)
    return NextAction(True, f"Approved: {work.total - work.finished} of {work.total} tasks are left.")


def start(work: Work, approval: Approval | None, now: float) -> None:
    """Refuse to continue without a valid approval. The session is INVALID then.

    Raises:
        Refused: E207; data ``reasons``.
    """
    allowed, reason = next_action(work, approval, now)
    if not allowed:
        raise codes.refused("E207", reason, reasons=[reason], status=states.INVALID)
