"""Open and resolved blockers: who opened and resolved them, how, and how long each stood."""

from __future__ import annotations

from orchestrator.app.audit import audit_log
from orchestrator.app.kernel import durations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import names
from orchestrator.core.suggestions import again
from orchestrator.errors import UsageError
from orchestrator.hints import TYPE_CHECKING
from orchestrator.store import inquiries
from orchestrator.store.queries import Row

if TYPE_CHECKING:
    from typing import Unpack

    from orchestrator.app.audit.audit_log import Asked


def blockers(context: Context, *, session_id: str, **asked: Unpack[Asked]) -> Answer:
    """Open and resolved blockers, how long each stands or stood.

    Args:
        asked: by `agent` only blockers that this role or agent opened or resolved, by `status` those open or resolved;
            the step of a blocker is the one that opened it.

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
    _check_status(asked.get("status"))
    wanted = audit_log.filtered(session_id, **asked)
    now = context.clock()
    sql = inquiries.blockers(by_group=wanted.group is not None, status=wanted.status, descending=wanted.descending)
    answer = audit_log.listed(context, "blockers", sql, wanted, lambda row: _shape(row, now))
    return {**answer, "measured_at": now}


def _check_status(status: str | None) -> None:
    """An empty status matches nothing; a misspelt one must not look like a session without blockers."""
    if status and status not in inquiries.BLOCKER_STATUSES:
        near = names.nearest(status, inquiries.BLOCKER_STATUSES)
        hint = f"; did you mean {near}?" if near else "."
        message = f"The status of a blocker is open or resolved, not {names.shown(status)}{hint}"
        raise UsageError("USAGE", message, again(status="open"), did_you_mean=near)


def _shape(row: Row, now: str) -> Row:
    return {**row, "open_seconds": durations.seconds(row["opened_at"], row["resolved_at"] or now)}
