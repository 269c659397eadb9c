"""Allowing the command of a criterion that came in an agent's report, which only a person may."""

from __future__ import annotations

from orchestrator.app.engine import changes
from orchestrator.app.kernel import actors
from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.app.session.pending_commands import PENDING
from orchestrator.app.verdict import scope
from orchestrator.core import names
from orchestrator.errors import Refused
from orchestrator.store import queries

APPROVED = "approved"


def approve(
    context: Context,
    *,
    id: str,
    session_id: str,
    reason: str = "",
    by: str | None = None,
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Confirm, as a person, that the command of a criterion may run.

    Args:
        id: a criterion whose command came in a report.
        by: the person; the only one there is where left out.

    Returns:
        `criterion`.

    Raises:
        Refused: UNKNOWN_ID {kind}, SESSION_CLOSED, HUMAN_REQUIRED, ACTOR_REQUIRED, UNKNOWN_AGENT; ILLEGAL_MOVE, nothing
            about the criterion waits for a confirmation.
    """
    given = {"id": id, "by": by, "reason": reason or None}
    return perform(context, Call("criterion approve", session_id, by or "", given, request_id, at=at), approve_action)


def approve_action(work: Work) -> Answer:
    """Confirm; a replay calls it with a recorded event's input."""
    given, session = work.call.input, work.open_session()
    row = queries.row(work.reader, queries.CRITERION, session=session.id, id=given["id"])
    look = f"orchestrator criterion list --session-id {session.id}"
    if row is None or row["removed_seq"] is not None:
        what = f"Session {session.id} has no criterion {names.shown(given['id'])}."
        raise Refused("UNKNOWN_ID", what, look, kind="criterion")
    if row["approval"] != PENDING:
        raise Refused("ILLEGAL_MOVE", f"Criterion {row['id']} has no command that waits for a confirmation.", look)
    person = actors.person_named(work, given.get("by"), f"Allowing the command of criterion {row['id']}")
    work.actor = person.id
    changes.record_change(
        work, "criterion_command", row["id"], PENDING, APPROVED, by=person.id, reason=names.said(given.get("reason"))
    )
    work.step.update(
        "criteria", (row["id"],), {"approval": APPROVED, "approved_by": person.id, "approved_seq": work.seq}
    )
    found = queries.row(work.reader, queries.CRITERION, session=session.id, id=row["id"])
    assert found is not None  # noqa: S101 - it was there just now
    return {"success": True, "criterion": scope.shape(found), "seq": work.seq}
