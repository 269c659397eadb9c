"""How long evidence stays on the disk: that of closed sessions is deleted after the days that the settings give.

The database keeps its own record of every operation for good; the deletion is evidence itself.

Source: seed 001, Property 3 (evidence_settings.retention_days).
"""

from __future__ import annotations

from datetime import datetime

from orchestrator.app.kernel import attached_evidence, operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import run_repository
from orchestrator.core.routing.facts import RUNNER
from orchestrator.core.running.config import Settings
from orchestrator.runner import evidence_files
from orchestrator.store.evidence import SHARED

DAY_S = 86_400
_OPEN = "SELECT id FROM sessions WHERE status <> 'ended'"


class ExpireEvidence(Request, event="run expire", use_case="running.retention:record", acting=RUNNER):
    """Record which closed sessions have no evidence on the disk any more, `days` after their end."""

    session_id: str
    root: str
    days: int
    sessions: tuple[str, ...]


def expire(context: Context, settings: Settings, *, session_id: str, root: str) -> tuple[str, ...]:
    """Delete what is older, and record in a session which sessions have no evidence on the disk any more.

    Args:
        settings: how many days evidence is kept.
        session_id: the session under way.
        root: the project, in which they lie unless machines share a folder for them.
    """
    days = settings.evidence_settings.retention_days
    keep = {str(row[0]) for row in context.connection.execute(_OPEN)}
    now = datetime.fromisoformat(context.clock()).timestamp()
    place = attached_evidence.place(context.path)
    gone = evidence_files.expire(place.folder or root, now - days * DAY_S, keep)
    root = root if place.folder is None else SHARED
    if gone:
        operations.ask(context, ExpireEvidence(session_id=session_id, root=root, days=days, sessions=tuple(gone)))
    return gone


def record(work: Work, request: ExpireEvidence) -> Answer:
    """Record a deletion that has happened; a replay deletes nothing."""
    work.open_session()
    content = {"days": request.days, "sessions": list(request.sessions)}
    id_ = run_repository.write_evidence(work, kind="expiry", subject=request.root, outcome="deleted", content=content)
    return {"success": True, "evidence": id_, "seq": work.seq}
