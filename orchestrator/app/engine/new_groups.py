"""New groups: the rows of a planned group, and the research group of an investigation."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.app.engine import state_changes
from orchestrator.app.kernel.context import Work
from orchestrator.core import names
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
