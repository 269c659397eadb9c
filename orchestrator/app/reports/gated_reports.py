"""Reports that are given by hand and run the gates that are due first, as a driver and the hooks do.

Source: 80 section 5 (gates while the agent is warm).
"""

from __future__ import annotations

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context, answered, call_of
from orchestrator.app.reports import last_messages
from orchestrator.app.reports.requests import Route
from orchestrator.app.verdict import gates
from orchestrator.core import names
from orchestrator.store.queries import Row


def route(context: Context, request: Route) -> Answer:
    """Run the gates of a report, then route it with what came of them.

    Returns:
        The decision, as `routing.route`.

    Raises:
        OrchestratorError: as `routing.route`. Refused: GATE_FAILED {gates}, at most three times in a turn.
    """
    plain = request.replaced(run_commands=False)
    start = _turn(context, request)
    if start is None or answered(context, call_of(plain)) is not None:
        return operations.ask(context, plain)
    given = {"group_id": request.group_id, "current_agent": request.current_agent, "session_id": request.session_id}
    gate = last_messages.gated(context, start, gates.where(context, start))
    seen = last_messages.proven(context, start, {**given, "dry_run": request.dry_run}, request.status, gate)
    if seen.details:
        plain = plain.replaced(details={**(request.details or {}), **seen.details})
    context.measured = seen.measured
    try:
        return operations.ask(context, plain)
    finally:
        context.measured = None


def _turn(context: Context, request: Route) -> Row | None:
    """The open turn that a report answers; None where it answers none, so that nothing is run for it."""
    session, role = context.require_session(request.session_id), names.role_name(request.current_agent)
    waiting = context.reader.group(session.id, request.group_id) if request.group_id else session
    if waiting is None or waiting.held or waiting.awaited_role != role or waiting.turn is None:
        return None
    if request.turn not in (None, waiting.turn):
        return None
    return {"session_id": session.id, "group_id": request.group_id, "turn": waiting.turn, "role": role}
