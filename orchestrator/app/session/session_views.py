"""Sessions and groups as they are asked for: one of them, or a list. Nothing here writes.

Source: seed 004, Proposed Solution 3 (the router's decisions can be asked for).
"""

from __future__ import annotations

from orchestrator.app.engine import overview
from orchestrator.app.kernel import pagination, views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.session import open_work, unproven_completions
from orchestrator.store import queries
from orchestrator.store.queries import Row


def sessions(context: Context, *, all: bool = False, limit: int = 50, since: str | None = None) -> Answer:
    """The sessions in the order of their ids.

    Args:
        all: with ended ones too.
        limit: how many at most.
        since: the id after which the page begins.

    Returns:
        `sessions`, `has_more`, `next_since`.
    """
    sql = queries.SESSIONS if all else queries.OPEN_SESSIONS

    def fetch(most: int) -> list[Row]:
        return queries.rows(context.reader, sql, since=since or "", limit=most)

    return pagination.listed("sessions", *pagination.page(fetch, limit, "id"), "id", since, shape=views.session_shape)


def session(context: Context, *, id: str) -> Answer:
    """One session, with how many of its groups have which status, and the workflow version that it was created with.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    from orchestrator.store import versions

    context.require_session(id)
    pinned = versions.pinned(context.connection, id)
    found = views.session_row(context.reader, id)
    every = queries.rows(context.reader, queries.GROUPS, session=id, since=0, status=None, limit=-1)
    return {"success": True, "session": {**found, "awaited": views.awaited(found), "progress": views.progress(every)},
            "workflow": pinned and pinned.to_json()}


def groups(
    context: Context, *, session_id: str, status: str | None = None, limit: int = 50, since: int | None = None
) -> Answer:
    """The groups of a session in the order of their creation.

    Args:
        status: only groups of this status.
        limit: how many at most; groups that one step created stay together.
        since: the step after which the page begins.

    Returns:
        `groups`, each with its `doubt` where it is completed and no chain of reports proves it, and `waits_for`, the
        groups that a pending one still waits for; `has_more`, `next_since`.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    context.require_session(session_id)

    def fetch(most: int) -> list[Row]:
        return queries.rows(
            context.reader,
            queries.GROUPS,
            session=session_id,
            status=status,
            since=pagination.seq_or(since, 0),
            limit=most,
        )

    def shape(row: Row) -> Row:
        doubt = unproven_completions.of(context.reader, session_id, row["id"]) if row["status"] == "completed" else None
        return {**views.group_shape(row), "doubt": doubt.kind if doubt else None, "waits_for": waits.get(row["id"], [])}

    rows, has_more = pagination.page(fetch, limit, "created_seq")
    waits = open_work.dependencies(context, session_id, rows)
    return pagination.listed("groups", rows, has_more, "created_seq", since, shape=shape)


def group(context: Context, *, id: str, session_id: str, at_seq: int | None = None) -> Answer:
    """One group: whom it awaits, how often it came back, what stands in its way, each part of its path.

    Args:
        at_seq: the state right after this step of the session (default: the current one).

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP. UsageError: SEQ_OUT_OF_RANGE {first, last}.
    """
    if at_seq is not None:
        return context.as_of(context, group, session_id=session_id, at_seq=at_seq, id=id)
    row = views.require_group(context, session_id, id)
    reader, key = context.reader, {"session": session_id, "group": id}
    path_row, parts = overview.path(reader, session_id, id)
    return {
        "success": True,
        "group": {
            **row,
            "awaited": views.awaited(row),
            "counters": views.counters(row),
            "blockers": queries.rows(reader, queries.BLOCKERS, **key),
            "questions": queries.rows(reader, queries.QUESTIONS, **key),
            "resume_point": overview.resume_point(reader, session_id, id),
            "depends_on": views.depends_on(reader, session_id, id),
            "path": parts,
            "path_valid": bool(path_row.get("valid")),
            "pm_path": bool(path_row.get("pm_path")),
            "awaiting_confirmation": bool(path_row.get("awaiting_confirmation")),
            "ever_blocked": bool(path_row.get("ever_blocked")),
            **views.imported(reader, session_id, id),
        },
    }
