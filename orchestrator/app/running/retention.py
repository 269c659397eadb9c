"""How long evidence stays on the disk: that of closed sessions is deleted after the days that the settings give.

The database keeps its own record of every operation for good; the deletion is evidence itself.

Source: seed 001, Property 3 (evidence_settings.retention_days).
"""

from __future__ import annotations

from datetime import datetime

from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.app.running import run_repository
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running.config import Settings
from orchestrator.runner import evidence_files

DAY_S = 86_400
_OPEN = "SELECT id FROM sessions WHERE status <> 'ended'"


def expire(context: Context, settings: Settings, *, session_id: str, root: str) -> tuple[str, ...]:
    """Delete what is older, and record in a session which sessions have no evidence on the disk any more.

    Args:
        settings: how many days evidence is kept.
        session_id: the session under way.
        root: the project.
    """
    days = settings.evidence_settings.retention_days
    keep = {str(row[0]) for row in context.connection.execute(_OPEN)}
    now = datetime.fromisoformat(context.clock()).timestamp()
    gone = evidence_files.expire(root, now - days * DAY_S, keep)
    if gone:
        given = {"root": root, "days": days, "sessions": list(gone)}
        perform(context, Call("run expire", session_id, RUNNER, given), expire_action)
    return gone


def expire_action(work: Work) -> Answer:
    """Record a deletion that has happened; a replay deletes nothing."""
    given = work.call.input
    work.open_session()
    content = {"days": given["days"], "sessions": given["sessions"]}
    id_ = run_repository.write_evidence(
        work, kind="expiry", subject=given["root"], outcome="deleted", content=content
    )
    return {"success": True, "evidence": id_, "seq": work.seq}
