"""Return metadata as `route` uses it: when a person must look, and what kind of blocker a report opens."""

from __future__ import annotations

from typing import Any

from orchestrator.core.routing.facts import Report
from orchestrator.errors import InvalidInput


def check(metadata: dict[str, Any] | None) -> Any:
    """The checked metadata, or None where there is none; imported only where a report carries some.

    Raises:
        InvalidInput: METADATA_INVALID with every problem.
    """
    if metadata is None:
        return None
    from orchestrator.core import metadata as rules

    return rules.check(metadata)


def review_reason(metadata: dict[str, Any] | None) -> str | None:
    """Why a person must look at the report before it goes on, or None.

    A partial report with a hard blocker that does not ask for it gets the question all the same.

    Source: seed 003, Recommendations 1 and 2.
    """
    checked = check(metadata)
    if checked is None:
        return None
    if checked.requires_user_review:
        return str(checked.review_reason)
    return f"hard blocker without a request for review: {checked.blocker_type}" if checked.under_flagged else None


def refuse_mismatch(metadata: dict[str, Any] | None, effect: str) -> None:
    """Refuse metadata whose status contradicts what the report's own status means.

    Raises:
        InvalidInput: METADATA_MISMATCH.
    """
    checked = check(metadata)
    if checked is None:
        return
    from orchestrator.core import metadata as rules

    problem = rules.mismatch(checked.status, effect)
    if problem:
        advice = "Report the status that the metadata says, or mend the metadata"
        raise InvalidInput("METADATA_MISMATCH", problem, advice)


def blocker_of(metadata: dict[str, Any] | None, report: Report) -> tuple[str, str, str]:
    """Type, class and reason of the blocker that a report with effect `block` opens."""
    checked = check(metadata)
    type_, severity = "unclassified", "hard"
    if checked is not None and checked.blocker_type:
        type_, severity = checked.blocker_type, checked.blocker_class
    texts = [report.summary, report.details.get("reason"), report.details.get("blocker_details")]
    reason = next((t.strip() for t in texts if isinstance(t, str) and t.strip()), "")
    return type_, severity, reason or f"{report.role} reported {report.status}"
