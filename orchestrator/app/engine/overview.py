"""Where the groups of a session stand: the completion path, the kind, and the cause where something is missing.

The hand-off of a project manager who is called for the session freezes it. Nothing here writes.
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Work
from orchestrator.core import completion_wording, handoff
from orchestrator.core.routing import free_slots
from orchestrator.core.routing.facts import MANAGER, NO_PATH
from orchestrator.core.suggestions import suggest
from orchestrator.hints import Any
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

# CASE keeps the two looks from groups that are closed.
KINDS = """SELECT g.id, g.status, g.awaited_role, g.held,
    CASE WHEN g.status = 'pending' OR g.status = 'in_progress' THEN
        EXISTS (SELECT 1 FROM blockers b INDEXED BY ix_blockers_open
            WHERE b.session_id = g.session_id AND b.group_id = g.id AND b.resolved_seq IS NULL) END,
    CASE WHEN g.status = 'pending' THEN
        (SELECT t.status FROM group_dependencies d
            JOIN task_groups t ON t.session_id = d.session_id AND t.id = d.depends_on
            WHERE d.session_id = g.session_id AND d.group_id = g.id AND d.removed_seq IS NULL
            AND t.status IN ('deferred_external', 'cancelled') ORDER BY t.status LIMIT 1) END
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
            path = reader.path(session, id_) if awaited == MANAGER else NO_PATH
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


def path_row(reader: Reader, session: str, group: str) -> dict[str, Any]:
    """The row of the completion view, by column name; empty where there is none."""
    cursor = reader.connection.execute(
        "SELECT * FROM completion_paths WHERE session_id = :session AND group_id = :group",
        {"session": session, "group": group},
    )
    row = cursor.fetchone()
    return dict(zip([column[0] for column in cursor.description], row, strict=True)) if row else {}


def path(reader: Reader, session: str, group: str) -> tuple[Row, list[dict[str, Any]]]:
    """The row of the completion view for a group, and its parts in words that name each report's status."""
    row = path_row(reader, session, group)
    statuses = {}
    for seq in completion_wording.reports(row):
        report = reader.one(
            "SELECT response_status FROM agent_reports WHERE session_id = :session AND seq = :seq",
            session=session,
            seq=seq,
        )
        if report:
            statuses[seq] = str(report[0])
    approved = reader.one(queries.LAST_APPROVAL, session=session, group=group) is not None
    return row, completion_wording.parts(row, statuses, approved_before=approved)


def parts(work: Work, group: str) -> list[dict[str, Any]]:
    """Each part of the group's path in words: what, met or not, why, by which report."""
    return path(work.reader, work.step.chain, group)[1]


_AT_WORK = ("running", "held")


def groups_now(
    reader: Reader, session: str, known: Kinds | None = None, *, planned: bool = False
) -> dict[str, Any]:
    """The groups of a session as the document keeps them, and what does not go on by itself.

    Args:
        known: the groups by kind, where the caller has looked at them.
        planned: whether a plan was reported, so that a session without groups is a plan that named none.
    """
    by_kind = known if known is not None else kinds(reader, session)
    entries = [(kind, entry) for kind in handoff.KINDS for entry in by_kind[kind]]
    most = handoff.LISTED
    found: dict[str, Any] = {"groups": [_frozen(reader, session, kind, entry) for kind, entry in entries[:most]]}
    if len(entries) > most:
        found["group_counts"] = _counts(by_kind)
    if entries and not any(entry.get("cause") in _AT_WORK for entry in by_kind["in_progress"]):
        found |= {"phase_check": free_slots.phase(by_kind), "causes": causes(by_kind)}
    if planned and not entries:
        found["causes"] = [handoff.NOTHING_PLANNED]
    return found


def _counts(by_kind: Kinds) -> dict[str, int]:
    counts = {kind: len(found) for kind, found in by_kind.items() if found}
    confirmable = counts.pop("awaiting_confirmation", 0)
    if confirmable:
        counts["in_progress"] = counts.get("in_progress", 0) + confirmable
    return counts


def _frozen(reader: Reader, session: str, kind: str, entry: dict[str, Any]) -> list[Any]:
    """A group's id, status, awaited role, cause, and the parts of its path that the cause is about."""
    id_, cause = entry["group_id"], entry.get("cause")
    if kind == "awaiting_confirmation":
        return [id_, "in_progress", MANAGER, cause, []]
    if kind == "deferred_external":
        cause = handoff.TO_ACKNOWLEDGE
    found = [id_, kind, entry.get("awaits"), cause, _unmet(reader, session, kind, entry)]
    open_ = reader.connection.execute(_TASKS, {"session": session, "group": id_}).fetchall() if _is_unmet(cause) else []
    return [*found, [list(row) for row in open_]] if open_ else found


_TASKS = """SELECT t.id, t.status FROM tasks t INDEXED BY ix_tasks_group WHERE t.session_id = :session
    AND t.group_id = :group AND t.status IN ('backlog', 'todo', 'in_progress') AND NOT EXISTS (
        SELECT 1 FROM tasks c INDEXED BY ix_tasks_parent WHERE c.session_id = t.session_id AND c.parent_id = t.id
        AND c.status NOT IN ('done', 'cancelled')
    ) ORDER BY t.created_seq, t.id LIMIT 20"""
"""The open tasks of a group that wait for no part of theirs."""


def _is_unmet(cause: str | None) -> bool:
    return cause == "path_missing"


def _unmet(reader: Reader, session: str, kind: str, entry: dict[str, Any]) -> list[list[str]]:
    """What is missing of a group that awaits the manager; of a pending one only what stands in its way."""
    stopped = kind == "pending" and entry["cause"] != "pending"
    if not stopped and entry.get("awaits") != MANAGER:
        return []
    parts = path(reader, session, entry["group_id"])[1]
    return [
        [part["part"], part["reason"]]
        for part in parts
        if not part["met"] and (not stopped or part["part"] == "unblocked")
    ]


def resume_point(reader: Reader, session: str, group: str | None) -> dict[str, Any] | None:
    """The resume point of a group (None: of the session), of the newest partial report; None where there is none."""
    row = queries.row(reader, queries.RESUME_POINT, session=session, group=group)
    return _resume_shape(row) if row else None


def resume_point_of(reader: Reader, session: str, seq: int) -> dict[str, Any] | None:
    """The resume point that one report gave."""
    row = queries.row(reader, queries.RESUME_POINT_OF, session=session, seq=seq)
    return _resume_shape(row) if row else None


def _resume_shape(row: Row) -> dict[str, Any]:
    """A resume point as it is answered; `phase` is the one to begin with, counted from 1."""
    done = row["phases_completed"]
    names = ("stage", "phases_completed", "phases_total", "handoff_path")
    return {"seq": row["seq"], **{name: row[name] for name in names}, "phase": None if done is None else done + 1}


def resume_command(session: str) -> str:
    """The call by which a paused session goes on."""
    return suggest("session resume", id=session, by="project_manager", reason="TEXT")
