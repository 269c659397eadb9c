"""Rows of sessions, groups and agents as every answer shows them, by column name. Nothing here writes.

Source: seed 004, Proposed Solution 3 (the router's decisions can be asked for).
"""

from __future__ import annotations

import operator

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

PRIORITIES = ("urgent", "high", "medium", "low")
"""The words of a priority, at the place of its number."""


COUNTERS = ("qa_attempts", "tl_review_attempts", "merge_attempts")
_COUNTED = operator.itemgetter(*COUNTERS)


def session_row(reader: Reader, session_id: str) -> Row:
    """The row of a session that is known to exist, by column name."""
    found = queries.row(reader, queries.SESSION, session=session_id)
    assert found is not None  # noqa: S101 - the caller has required the session
    return session_shape(found)


def session_shape(row: Row) -> Row:
    """A session's row with its disabled roles as a list."""
    return {**row, "disabled_roles": row["disabled_roles"].split(",") if row["disabled_roles"] else []}


def progress(rows: list[Row]) -> Answer:
    """How many groups there are, how many of each status, and how often work came back."""
    by_status: dict[str, int] = {}
    for row in rows:
        by_status[row["status"]] = by_status.get(row["status"], 0) + 1
    return {"groups": len(rows), "by_status": by_status, "rework": sum(revisions(row) for row in rows)}


def revisions(row: Row) -> int:
    """How often a group's work came back: failed tests, rejections and failed merges together."""
    found: int = sum(_COUNTED(row))
    return found


def imported(reader: Reader, session: str, group: str) -> Answer:
    """Whether a group counts as completed because it was imported so, and what its import found out."""
    key = {"session": session, "group": group}
    found = queries.rows(reader, queries.GROUP_FINDINGS, **key)
    return {
        "grandfathered": reader.one(queries.GRANDFATHERED, **key) is not None,
        "import_findings": [{"code": each["code"], "text": each["text"]} for each in found],
    }


def require_group(context: Context, session_id: str, group_id: str) -> Row:
    """The row of a group.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP.
    """
    context.require_session(session_id)
    row = group_row(context.reader, session_id, group_id)
    if row is None:
        raise context.unknown_group(session_id, group_id)
    return row


def group_row(reader: Reader, session: str, group: str) -> Row | None:
    """The row of a group by column name, its priority as a word, in one statement; None where there is none."""
    row = queries.row(reader, queries.GROUP, session=session, group=group)
    return group_shape(row) if row else None


def group_shape(row: Row) -> Row:
    """A group's row with its priority as a word."""
    return {**row, "priority": PRIORITIES[row["priority"]]}


def depends_on(reader: Reader, session: str, group: str) -> list[Row]:
    """The groups that this one depends on, as {id, status, satisfied}.

    A dependency is satisfied once it is completed, or waits for nothing but the project manager's confirmation.
    """
    found = queries.rows(reader, queries.DEPENDS_ON, session=session, group=group)
    return [{**row, "satisfied": _satisfied(reader, session, row)} for row in found]


def _satisfied(reader: Reader, session: str, row: Row) -> bool:
    if row["status"] != "in_progress":
        return bool(row["status"] == "completed")
    settled = reader.one(queries.AWAITS_CONFIRMATION, session=session, group=row["id"])
    return settled is not None and settled[0] == 1


def dependents(reader: Reader, session: str, group: str) -> list[Row]:
    """The groups that depend on this one, as {group_id, status}, without cancelled ones and removed dependencies."""
    return queries.rows(reader, queries.DEPENDENTS, session=session, group=group)


def awaited(row: Row) -> Answer | None:
    """Whom a session or group awaits, or None."""
    if row["awaited_role"] is None:
        return None
    return {
        "role": row["awaited_role"],
        "agent_id": row["awaited_agent_id"],
        "action": row["awaited_action"],
        "turn": row["turn"],
        "since": row["awaited_since"],
        "held": row["held"],
    }


def counters(row: Row) -> Answer:
    """How often a group's work came back, of each kind and in all, and its iterations of investigation."""
    return {
        **{name: row[name] for name in COUNTERS},
        "revision_count": revisions(row),
        "iterations": row["iterations"],
    }


def agent_row(reader: Reader, agent: str) -> Row | None:
    """The row of an agent by column name; None where there is none."""
    return queries.row(reader, queries.AGENT, agent=agent)
