"""The completion path of a group, as the database's own view finds it, and what it lacks in words."""

from __future__ import annotations

from typing import Any

from orchestrator.app.kernel.context import Work
from orchestrator.core import completion
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader


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
    for seq in completion.reports(row):
        report = reader.one(
            "SELECT response_status FROM agent_reports WHERE session_id = :session AND seq = :seq",
            session=session,
            seq=seq,
        )
        if report:
            statuses[seq] = str(report[0])
    approved = reader.one(queries.LAST_APPROVAL, session=session, group=group) is not None
    return row, completion.parts(row, statuses, approved_before=approved)


def parts(work: Work, group: str) -> list[dict[str, Any]]:
    """Each part of the group's path in words: what, met or not, why, by which report."""
    return path(work.reader, work.step.chain, group)[1]
