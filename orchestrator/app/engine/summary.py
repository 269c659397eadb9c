"""Where a session's groups stand, by kind and with the cause where something is missing. Read-only."""

from __future__ import annotations

from typing import Any

from orchestrator.core.routing.facts import MANAGER, Path
from orchestrator.store.reader import Reader

KINDS = """SELECT g.id, g.status, g.awaited_role, g.held,
    EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_open
        WHERE b.session_id = g.session_id AND b.group_id = g.id AND b.resolved_seq IS NULL),
    (SELECT t.status FROM group_dependencies d JOIN task_groups t ON t.session_id = d.session_id AND t.id = d.depends_on
        WHERE d.session_id = g.session_id AND d.group_id = g.id AND d.removed_seq IS NULL
        AND t.status IN ('deferred_external', 'cancelled') ORDER BY t.status LIMIT 1)
    FROM task_groups g WHERE g.session_id = :session ORDER BY g.created_seq"""

Kinds = dict[str, list[dict[str, Any]]]


def kinds(reader: Reader, session: str) -> Kinds:
    """Every group of the session under the kind it is of; what is open comes with its cause.

    Returns:
        `completed`, `deferred_external`, `cancelled`, `awaiting_confirmation`, `in_progress`, `pending`.
    """
    found: Kinds = {
        name: []
        for name in ("completed", "deferred_external", "cancelled", "awaiting_confirmation", "in_progress", "pending")
    }
    for row in reader.connection.execute(KINDS, {"session": session}):
        id_, status, awaited, held, blocked, dependency = row
        entry: dict[str, Any] = {"group_id": id_}
        if status == "pending":
            entry["cause"] = _pending_cause(dependency, bool(blocked))
        elif status == "in_progress":
            # Only what awaits the project manager can lack nothing but the confirmation.
            path = reader.path(session, id_) if awaited == MANAGER else Path()
            if path.awaiting_confirmation:
                status, entry["cause"] = "awaiting_confirmation", "confirmation_needed"
            else:
                cause = _open_cause(awaited, bool(blocked), held)
                entry |= {"awaits": awaited, "cause": cause, "missing": path.missing}
        found[status].append(entry)
    return found


def _pending_cause(dependency: str | None, blocked: bool) -> str:
    if dependency:
        return "waiting_on_deferred" if dependency == "deferred_external" else "waiting_on_cancelled"
    return "blocked" if blocked else "pending"


def _open_cause(awaited: str | None, blocked: bool, held: str | None) -> str:
    if awaited != MANAGER:
        return "held" if held else "running"
    return "blocked" if blocked else "path_missing"


def causes(found: Kinds) -> list[str]:
    """Why nothing goes on by itself, each cause once."""
    entries = [entry for name in ("awaiting_confirmation", "in_progress", "pending") for entry in found[name]]
    named = list(dict.fromkeys(entry["cause"] for entry in entries if entry["cause"] not in ("pending", "running")))
    if not found["pending"]:
        named.append("nothing_pending")
    if not found["completed"]:
        named.append("nothing_completed")
    return named
