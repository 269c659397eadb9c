"""Completing groups whose path the database's own view finds valid, and wording what is missing."""

from __future__ import annotations

from typing import Any

from orchestrator.app.engine import changes
from orchestrator.app.kernel.context import Work
from orchestrator.core import completion
from orchestrator.core.routing.facts import ROUTER
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

_CHAIN = "SELECT chain FROM completion_paths WHERE session_id = :session AND group_id = :group"
_DEPENDENTS = """SELECT d.group_id FROM group_dependencies d JOIN task_groups t
    ON t.session_id = d.session_id AND t.id = d.group_id
    WHERE d.session_id = :session AND d.depends_on = :group AND d.removed_seq IS NULL AND t.status = 'in_progress'"""


def complete(work: Work, candidates: list[str]) -> tuple[str, ...]:
    """Complete those of the candidates whose chain is valid, then what waited for them; return their ids in order."""
    done: list[str] = []
    queue = list(candidates)
    while queue:
        group_id = queue.pop(0)
        group = work.group(group_id)
        if group is None or group.status != "in_progress":
            continue
        row = work.reader.one(_CHAIN, session=work.step.chain, group=group_id)
        if row is None or row[0] != 1:
            continue
        changes.move_group(
            work, group, "completed", by=ROUTER, reason="the completion path is valid", cause="completion"
        )
        work.unsettled = True
        done.append(group_id)
        queue += [r[0] for r in work.context.connection.execute(
            _DEPENDENTS, {"session": work.step.chain, "group": group_id}
        )]
    return tuple(done)


def would_complete(work: Work, candidates: list[str]) -> bool:
    """Whether the chain of one of the candidates is valid as things stand."""
    for group_id in candidates:
        group = work.group(group_id)
        row = work.reader.one(_CHAIN, session=work.step.chain, group=group_id)
        if group is not None and group.status == "in_progress" and row is not None and row[0] == 1:
            return True
    return False


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
