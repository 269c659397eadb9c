"""Return metadata as `route` uses it: when a person must look, what stopped the work, and where it goes on."""

from __future__ import annotations

import os

from orchestrator.app.kernel.context import Context, Work
from orchestrator.core import names, oversized
from orchestrator.core.routing.facts import Case, Report, Stop
from orchestrator.errors import InvalidInput
from orchestrator.hints import Any
from orchestrator.store import constants

MISSING = "missing_file"
"""Of what was found before the step: the hand-off file that the metadata names and that is not there."""
MOST_STOPS = 10
"""So many soft blockers are looked at; fewer reach the last limit."""


def found(context: Context, metadata: dict[str, Any] | None) -> dict[str, str] | None:
    """What must be looked up outside the database before the step: whether the hand-off file is there.

    A relative path is looked for from the working folder, and from the project that the database belongs to.
    """
    progress = (metadata or {}).get("partial_progress")
    path = progress.get("handoff_path") if isinstance(progress, dict) else None
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        return None
    return None if is_there(path, context.path) else {MISSING: path}


def is_there(path: str, database: str | None) -> bool:
    """Whether a path names a file in the working folder or in the project that a database belongs to."""
    bases = (".", *(_project(database) if database else ()))
    return any(os.path.isfile(os.path.join(base, path)) for base in bases)


def _project(database: str) -> tuple[str, ...]:
    """The folder that a database in its usual place belongs to. Without pathlib, which is dear to load."""
    folder = os.path.dirname(os.path.abspath(database))
    return (os.path.dirname(folder),) if os.path.basename(folder) == constants.FOLDER else ()


def judged(work: Work, case: Case) -> Report:
    """The report with what its metadata says: why a person must look, and by what the work was stopped.

    Raises:
        InvalidInput: METADATA_INVALID or METADATA_MISMATCH, with every problem.

    Source: seed 003, Recommendations 1 and 2.
    """
    metadata = case.report.metadata
    if metadata is None:
        return case.report
    checked = _checked(work, metadata, case.transition.effect)
    stop = _stop(work, case, checked)
    report = case.report._replace(stop=stop)
    if checked.requires_user_review:
        mark = "over_flagged" if checked.over_flagged else None
        return report._replace(review_reason=str(checked.review_reason), review_mark=mark)
    if checked.under_flagged:
        reason = f"hard blocker without a request for review: {checked.blocker_type}"
        return report._replace(review_reason=reason, review_mark="under_flagged")
    if stop is not None and stop.limit and stop.status == "partial":
        return report._replace(review_reason=f"{stop.type}: {stop.limit}", review_kind="budget")
    return report


def _checked(work: Work, metadata: dict[str, Any], effect: str) -> Any:
    """The checked metadata, whose status fits what the report's own status means."""
    from orchestrator.core import metadata as rules

    missing = (work.call.circumstances.found or {}).get(MISSING)
    try:
        checked = rules.check(metadata, (lambda path: path != missing) if missing else None)
    except InvalidInput as problem:
        status = metadata.get("status")
        contradicted = rules.mismatch(status, effect) if status in rules.STATUSES else None
        if contradicted:
            problem.data["problems"] = [*problem.data["problems"], {"path": "$.status", "message": contradicted}]
        raise
    contradicted = rules.mismatch(checked.status, effect)
    if contradicted:
        raise InvalidInput(
            "METADATA_MISMATCH", contradicted, "Report the status that the metadata says, or correct the metadata",
            problems=[{"path": "$.status", "message": contradicted}],
        )
    return checked


def _stop(work: Work, case: Case, checked: Any) -> Stop | None:
    from orchestrator.core import blockers

    if checked.blocker_type is None:
        return None
    severity, limit, progress = checked.blocker_class, None, checked.partial_progress
    phases = progress.phases_completed if progress else None
    if severity == blockers.SOFT:
        before = work.reader.soft_stops(case.session, case.group, MOST_STOPS)
        limit = blockers.hardened(checked.blocker_type, phases, before)
    return Stop(
        status=checked.status,
        type=checked.blocker_type,
        severity=blockers.HARD if limit else severity,
        limit=limit,
        message=checked.blocker_message,
        stage=progress.stage if progress else None,
        phases_completed=phases,
        phases_total=progress.phases_total if progress else None,
        handoff_path=progress.handoff_path if progress else None,
    )


def keep(work: Work, case: Case) -> None:
    """Write where the work stopped, for successors and for counting; nothing for a report that nothing stopped."""
    stop = case.report.stop
    if stop is None:
        return
    work.step.insert(
        "resume_points",
        group_id=case.group.id if case.group else None,
        status=stop.status,
        type=stop.type,
        **{"class": stop.severity},
        stage=stop.stage,
        phases_completed=stop.phases_completed,
        phases_total=stop.phases_total,
        handoff_path=stop.handoff_path,
    )


def blocker_of(report: Report) -> tuple[str, str, str]:
    """Type, class and reason of the blocker that a report with effect `block` opens."""
    type_, severity = (report.stop.type, report.stop.severity) if report.stop else ("unclassified", "hard")
    told = report.stop.message if report.stop else None
    given = [oversized.beginning(report.details.get(name)) for name in ("reason", "blocker_details")]
    reason = next((names.said(text) for text in (told, report.summary, *given) if names.said(text)), "")
    return type_, severity, reason or f"{report.role} reported {report.status}"
