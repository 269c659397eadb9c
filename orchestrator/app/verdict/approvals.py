"""Allowing the command of a criterion that came in an agent's report, which only a person may."""

from __future__ import annotations

from orchestrator.app.engine import state_changes
from orchestrator.app.kernel import actors
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.session.pending_commands import PENDING
from orchestrator.app.verdict import scope
from orchestrator.app.verdict.requests import ApproveCriterion
from orchestrator.core import names
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.store import queries

APPROVED = "approved"


def approve(work: Work, request: ApproveCriterion) -> Answer:
    """Confirm, as a person, that the command of a criterion may run, which came in a report.

    Returns:
        `criterion`.

    Raises:
        Refused: UNKNOWN_ID {kind}, SESSION_CLOSED, HUMAN_REQUIRED, ACTOR_REQUIRED, UNKNOWN_AGENT; ILLEGAL_MOVE, nothing
            about the criterion waits for a confirmation.
    """
    session = work.open_session()
    row = queries.row(work.reader, queries.CRITERION, session=session.id, id=request.id)
    look = suggest("criterion list", session_id=session.id)
    if row is None or row["removed_seq"] is not None:
        what = f"Session {session.id} has no criterion {names.shown(request.id)}."
        raise Refused("UNKNOWN_ID", what, look, kind="criterion")
    if row["approval"] != PENDING:
        raise Refused("ILLEGAL_MOVE", f"Criterion {row['id']} has no command that waits for a confirmation.", look)
    person = actors.person_named(work, request.by, f"Allowing the command of criterion {row['id']}")
    work.actor = person.id
    state_changes.record_change(
        work, "criterion_command", row["id"], PENDING, APPROVED, by=person.id, reason=names.said(request.reason)
    )
    work.step.update(
        "criteria", (row["id"],), {"approval": APPROVED, "approved_by": person.id, "approved_seq": work.seq}
    )
    found = queries.row(work.reader, queries.CRITERION, session=session.id, id=row["id"])
    assert found is not None  # noqa: S101 - it was there just now
    return {"success": True, "criterion": scope.shape(found), "seq": work.seq}
