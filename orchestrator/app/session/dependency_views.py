"""What the tasks or the groups of a session depend on, for pictures; each picture shows so many at most.

Source: spec 60, section 3 (pages).
"""

from __future__ import annotations

import json
from collections.abc import Collection

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import tasks
from orchestrator.store import next_reader, page_reader, queries, task_queries

LIMIT = 300
"""How many are drawn at most, those that are not closed first."""


def of_tasks(context: Context, *, session_id: str, limit: int = LIMIT) -> Answer:
    """What the tasks of a session depend on.

    Returns:
        `edges`, pairs of a task and one on which it depends; `tasks`, those that have an edge to another of them: id,
        title, status, group_id; `left_out`, how many more have one; `of`, by a task's id all that it depends on.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    closed = (tasks.DONE, tasks.CANCELLED)
    return _drawn(context, session_id, "tasks", (next_reader.EDGES, task_queries.NAMED), closed, limit)


def of_groups(context: Context, *, session_id: str, limit: int = LIMIT) -> Answer:
    """What the groups of a session depend on, as `of_tasks` answers it: `groups` with id, title and status.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    closed = ("completed", "cancelled")
    return _drawn(context, session_id, "groups", (page_reader.GROUP_EDGES, page_reader.GROUPS_NAMED), closed, limit)


def _drawn(
    context: Context, session: str, named: str, asked: tuple[str, str], closed: Collection[str], limit: int
) -> Answer:
    context.require_session(session)
    edges_of, rows_of = asked
    edges = [(str(one), str(on)) for one, on in context.connection.execute(edges_of, {"session": session})]
    ids = json.dumps(sorted({each for edge in edges for each in edge}))
    rows = queries.rows(context.reader, rows_of, session=session, ids=ids)
    first = sorted(rows, key=lambda row: row["status"] in closed)[:limit]
    known = {row["id"] for row in first}
    drawn = [edge for edge in edges if known.issuperset(edge)]
    joined = {each for edge in drawn for each in edge}
    of: dict[str, list[str]] = {}
    for one, on in edges:
        of.setdefault(one, []).append(on)
    shown = [row for row in first if row["id"] in joined]
    return {"success": True, "edges": drawn, named: shown, "left_out": len(rows) - len(shown), "of": of}
