"""What the hand-off of a project manager who is called for the session freezes: how every group stands, and why."""

from __future__ import annotations

from typing import Any

from orchestrator.app.engine import completion_path, summary
from orchestrator.core import handoff_groups
from orchestrator.core.routing import fanout
from orchestrator.core.routing.facts import MANAGER
from orchestrator.store.reader import Reader

_AT_WORK = ("running", "held")


def groups_now(
    reader: Reader, session: str, kinds: summary.Kinds | None = None, *, planned: bool = False
) -> dict[str, Any]:
    """The groups of a session as the document keeps them, and what does not go on by itself.

    Args:
        kinds: the groups by kind, where the caller has looked at them.
        planned: whether a plan was reported, so that a session without groups is a plan that named none.
    """
    kinds = kinds if kinds is not None else summary.kinds(reader, session)
    entries = [(kind, entry) for kind in handoff_groups.KINDS for entry in kinds[kind]]
    most = handoff_groups.LISTED
    found: dict[str, Any] = {"groups": [_frozen(reader, session, kind, entry) for kind, entry in entries[:most]]}
    if len(entries) > most:
        found["group_counts"] = _counts(kinds)
    if entries and not any(entry.get("cause") in _AT_WORK for entry in kinds["in_progress"]):
        found |= {"phase_check": fanout.phase(kinds), "causes": summary.causes(kinds)}
    if planned and not entries:
        found["causes"] = [handoff_groups.NOTHING_PLANNED]
    return found


def _counts(kinds: summary.Kinds) -> dict[str, int]:
    counts = {kind: len(found) for kind, found in kinds.items() if found}
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
        cause = handoff_groups.TO_ACKNOWLEDGE
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
    parts = completion_path.path(reader, session, entry["group_id"])[1]
    return [
        [part["part"], part["reason"]]
        for part in parts
        if not part["met"] and (not stopped or part["part"] == "unblocked")
    ]
