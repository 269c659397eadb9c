"""How groups begin, planned or for an investigation, and end: deferred, cancelled, or with what they found out."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.app.engine import state_changes
from orchestrator.app.kernel.context import Work
from orchestrator.core import names
from orchestrator.core.routing import blocking
from orchestrator.core.routing.facts import MANAGER, ROUTER, Case, Group

PRIORITIES = {"urgent": 0, "high": 1, "medium": 2, "low": 3}
DEFAULT_COMPLEXITY = 3


def insert(
    work: Work,
    group_id: str,
    *,
    name: str,
    kind: str,
    by: str,
    security_sensitive: bool = False,
    complexity: int = DEFAULT_COMPLEXITY,
    priority: str = "medium",
    description: str | None = None,
) -> Group:
    """Write a new pending group and return it."""
    work.step.insert(
        "task_groups",
        id=group_id,
        name=name,
        kind=kind,
        security_sensitive=int(security_sensitive),
        complexity=complexity,
        priority=PRIORITIES[priority],
        created_by=by,
        created_at=work.at,
        created_seq=work.seq,
        status="pending",
        status_changed_by=by,
        status_changed_at=work.at,
        status_seq=work.seq,
        description=description,
    )
    group = work.group(group_id)
    assert group is not None  # noqa: S101 - written just now
    return group


def depend(work: Work, group_id: str, on: Iterable[str], *, by: str) -> None:
    """Write what a new group depends on."""
    for dependency in on:
        work.step.insert("group_dependencies", group_id=group_id, depends_on=dependency, added_by=by)


def create_investigation(work: Work, case: Case) -> Group:
    """The research group of an investigation that no group was named for; it starts at once."""
    group_id = f"investigation-{work.seq}"
    group = insert(work, group_id, name=names.said(case.report.summary) or "Investigation", kind="research", by=MANAGER)
    state_changes.move_group(
        work, group, "in_progress", by=ROUTER, reason=f"{case.report.status} without a group", cause="report"
    )
    return work.group(group_id) or group


def defer(work: Work, group: Group, blocker_id: str, *, reason: str, by: str, cause: str) -> None:
    """Defer a group for its external blocker: the record that the guard asks for, then the move."""
    row = work.reader.one(
        "SELECT external_dependency, external_by, external_seq FROM blockers WHERE id = :id", id=blocker_id
    )
    assert row is not None  # noqa: S101 - the caller found the blocker just now
    work.step.insert(
        "deferrals",
        group_id=group.id,
        blocker_id=blocker_id,
        reason=reason,
        dependency=str(row[0]),
        confirmed_by=str(row[1]),
        confirmed_seq=row[2],  # type: ignore[arg-type]  # an external blocker has its step
        deferred_by=by,
        deferred_at=work.at,
    )
    state_changes.move_group(work, group, "deferred_external", by=by, reason=reason, cause=cause)


def cancel(work: Work, group: Group, *, by: str, reason: str, cause: str) -> None:
    """Cancel a group: its blockers and questions are settled, its open turn is stale."""
    from orchestrator.app.engine import task_blocks

    for blocker in work.reader.blockers(work.step.chain, group.id):
        state_changes.resolve_blocker(work, blocker.id, by=by, resolution="cancelled", note=reason)
    state_changes.close_questions(work, group.id, by=by, answer="moot")
    task_blocks.cancel_group(work, group.id, by=by, reason=f"group {group.id} was cancelled: {reason}")
    state_changes.move_group(work, group, "cancelled", by=by, reason=reason, cause=cause)


def end_research(work: Work, case: Case, agent: str) -> list[str]:
    """End a session whose investigation has answered: what is still open is cancelled, with the reason."""
    reason = blocking.reason(case) or f"{case.report.status}: nothing was open"
    cancelled = cancel_open(work, by=agent, reason=reason, cause="report")
    state_changes.move_session(
        work, work.session().status, "ended", by=agent, reason=reason, cause="report", outcome="investigation_only"
    )
    return cancelled


def cancel_open(work: Work, *, by: str, reason: str, cause: str) -> list[str]:
    """Cancel every group that is not finished, and close what a person is still asked; the ids of the groups."""
    cancelled = []
    rows = work.context.connection.execute(
        "SELECT id FROM task_groups WHERE session_id = :session AND status IN ('pending', 'in_progress')"
        " ORDER BY created_seq",
        {"session": work.step.chain},
    ).fetchall()
    for (group_id,) in rows:
        group = work.group(group_id)
        if group is not None:
            cancel(work, group, by=by, reason=reason, cause=cause)
            cancelled.append(group_id)
    state_changes.close_questions(work, None, by=by, answer="moot")
    return cancelled
