"""Open and resolved blockers: who opened and resolved them, how, and how long each stood."""

from __future__ import annotations

from orchestrator.app.audit import auditing
from orchestrator.app.kernel import moments
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import names
from orchestrator.core.suggestions import again
from orchestrator.errors import UsageError
from orchestrator.store import inquiries
from orchestrator.store.queries import Row


def blockers(
    context: Context,
    *,
    session_id: str,
    group_id: str | None = None,
    agent: str | None = None,
    status: str | None = None,
    since: int | None = None,
    until: int | None = None,
    limit: int = 50,
    order: str = "asc",
) -> Answer:
    """Open and resolved blockers, how long each stands or stood.

    Args:
        group_id: only blockers of this group.
        agent: only blockers that this role, or this agent, opened or resolved.
        status: open or resolved.
        since, until: the steps after which and up to which a blocker was opened, whatever the order.
        limit: how many at most; the blockers that one step opened stay together.
        order: asc or desc, by the step that opened them.

    Returns:
        `blockers`: each row by column name, with `seq` (the step that opened it), `status`, `resolved_role`, and
        `open_seconds`: whole seconds from its opening to its resolution, or to `measured_at` while it is open (null
        where an imported time cannot be read); `measured_at`, `has_more`, `next_since`, in descending order
        `next_until`.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: USAGE.

    Source: seed 004, Proposed Solution 3.
    """
    context.require_session(session_id)
    _check_status(status)
    asked = auditing.filtered(session_id, group_id, agent, status, since, until, limit, order)
    now = context.clock()
    sql = inquiries.blockers(by_group=group_id is not None, status=status, descending=asked.descending)
    answer = auditing.listed(context, "blockers", sql, asked, lambda row: _shape(row, now))
    return {**answer, "measured_at": now}


def _check_status(status: str | None) -> None:
    """An empty status matches nothing; a misspelt one must not look like a session without blockers."""
    if status and status not in inquiries.BLOCKER_STATUSES:
        near = names.nearest(status, inquiries.BLOCKER_STATUSES)
        hint = f"; did you mean {near}?" if near else "."
        message = f"The status of a blocker is open or resolved, not {names.shown(status)}{hint}"
        raise UsageError("USAGE", message, again(status="open"), did_you_mean=near)


def _shape(row: Row, now: str) -> Row:
    return {**row, "open_seconds": moments.seconds(row["opened_at"], row["resolved_at"] or now)}
