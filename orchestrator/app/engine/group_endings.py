"""How groups end without being completed: deferred for an external blocker, cancelled, or with their investigation."""

from __future__ import annotations

from orchestrator.app.engine import state_changes
from orchestrator.app.kernel.context import Work
from orchestrator.core.routing import blocking
from orchestrator.core.routing.facts import Case, Group


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
