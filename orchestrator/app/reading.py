"""Reading sessions, groups and agents: one thing or a list of them, by column name. Nothing here writes.

Source: seed 004, Proposed Solution 3 (the router's decisions can be asked for).
"""

from __future__ import annotations

from orchestrator.app import credentials, paging
from orchestrator.app.context import Answer, Context
from orchestrator.app.session import resuming
from orchestrator.app.verdict import completing
from orchestrator.errors import Refused
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

PRIORITIES = ("urgent", "high", "medium", "low")
"""The words of a priority, at the place of its number."""


COUNTERS = ("qa_attempts", "tl_review_attempts", "merge_attempts")
SHOWN_CHILDREN = 100


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

    return paging.listed("sessions", *paging.page(fetch, limit, "id"), "id", since, shape=session_shape)


def session(context: Context, *, id: str) -> Answer:
    """One session, with how many of its groups have which status, and the workflow version that it was created with.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    from orchestrator.store import versions

    context.require_session(id)
    pinned = versions.pinned(context.connection, id)
    found = session_row(context.reader, id)
    every = queries.rows(context.reader, queries.GROUPS, session=id, since=0, status=None, limit=-1)
    return {"success": True, "session": {**found, "awaited": awaited(found), "progress": progress(every)},
            "workflow": pinned and pinned.to_json()}


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
    return sum(int(row[name]) for name in COUNTERS)


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
    from orchestrator.app.session import doubtful

    context.require_session(session_id)

    def fetch(most: int) -> list[Row]:
        return queries.rows(
            context.reader, queries.GROUPS, session=session_id, status=status, since=paging.seq_or(since, 0), limit=most
        )

    def shape(row: Row) -> Row:
        doubt = doubtful.of(context.reader, session_id, row["id"]) if row["status"] == "completed" else None
        waits = context.reader.open_dependencies(session_id, row["id"]) if row["status"] == "pending" else ()
        return {**group_shape(row), "doubt": doubt.kind if doubt else None, "waits_for": list(waits)}

    return paging.listed("groups", *paging.page(fetch, limit, "created_seq"), "created_seq", since, shape=shape)


def group(context: Context, *, id: str, session_id: str, at_seq: int | None = None) -> Answer:
    """One group: whom it awaits, how often it came back, what stands in its way, each part of its path.

    Args:
        at_seq: the group as it stood right after this step of the session; as it stands now where left out.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP. UsageError: SEQ_OUT_OF_RANGE {first, last}.
    """
    if at_seq is not None:
        return context.as_of(context, group, session_id=session_id, at_seq=at_seq, id=id)
    row = require_group(context, session_id, id)
    reader, key = context.reader, {"session": session_id, "group": id}
    path_row, parts = completing.path(reader, session_id, id)
    return {
        "success": True,
        "group": {
            **row,
            "awaited": awaited(row),
            "counters": counters(row),
            "blockers": queries.rows(reader, queries.BLOCKERS, **key),
            "questions": queries.rows(reader, queries.QUESTIONS, **key),
            "resume_point": resuming.newest(reader, session_id, id),
            "depends_on": depends_on(reader, session_id, id),
            "path": parts,
            "path_valid": bool(path_row.get("valid")),
            "pm_path": bool(path_row.get("pm_path")),
            "awaiting_confirmation": bool(path_row.get("awaiting_confirmation")),
            "ever_blocked": bool(path_row.get("ever_blocked")),
            **imported(reader, session_id, id),
        },
    }


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


def agents(
    context: Context,
    *,
    session_id: str | None = None,
    role: str | None = None,
    all: bool = False,
    limit: int = 50,
    since: str | None = None,
) -> Answer:
    """The registered agents in the order of their ids.

    Args:
        session_id: only the instances that one session spawned.
        role: only agents of this role.
        all: with deactivated ones too.
        limit: how many at most.
        since: the id after which the page begins.

    Returns:
        `agents`, `has_more`, `next_since`.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    if session_id:
        context.require_session(session_id)

    def fetch(most: int) -> list[Row]:
        return queries.rows(
            context.reader, queries.AGENTS,
            session=session_id, role=role, active=int(not all), since=since or "", limit=most,
        )  # fmt: skip

    return paging.listed("agents", *paging.page(fetch, limit, "id"), "id", since)


def agent(context: Context, *, id: str) -> Answer:
    """One agent, with those above it up to the person, and the active ones right below it.

    Raises:
        Refused: UNKNOWN_AGENT.
    """
    row = agent_row(context.reader, id)
    if row is None:
        from orchestrator.core import names

        known = [found["id"] for found in _standing_agents(context)]
        message = f"Agent {names.shown(id)} is not registered."
        raise Refused("UNKNOWN_AGENT", message, "orchestrator agent list", did_you_mean=names.nearest(id, known))
    below = queries.rows(context.reader, queries.CHILDREN, agent=id, limit=SHOWN_CHILDREN)
    above = _ancestors(context.reader, row)
    found: Row = {**row, "ancestors": above, "children": [child["id"] for child in below]}
    if row["kind"] == "human":
        found["enrolments"] = credentials.enrolments(context, id)
    return {"success": True, "agent": found}


def agent_row(reader: Reader, agent: str) -> Row | None:
    """The row of an agent by column name; None where there is none."""
    return queries.row(reader, queries.AGENT, agent=agent)


def _standing_agents(context: Context) -> list[Row]:
    return queries.rows(
        context.reader, queries.AGENTS, session=None, role=None, active=0, since="", limit=200
    )


def _ancestors(reader: Reader, row: Row) -> list[str]:
    found: list[str] = []
    parent = row["parent_id"]
    while parent is not None and parent not in (*found, row["id"]):
        found.append(parent)
        above = reader.agent(parent)
        parent = above.parent_id if above else None
    return found


def agent_tree(context: Context, *, session_id: str | None = None, all: bool = False) -> Answer:
    """The agents under those that they report to.

    Args:
        session_id: of the instances, only those of this session.
        all: with deactivated ones too.

    Returns:
        `agents`: the topmost ones, each with its `children`.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    if session_id:
        context.require_session(session_id)
    rows = queries.rows(context.reader, queries.AGENT_TREE, session=session_id, active=int(not all))
    nodes = {row["id"]: {**row, "children": []} for row in rows}
    roots: list[Row] = []
    for node in nodes.values():
        parent = nodes.get(node["parent_id"])
        (roots if parent is None else parent["children"]).append(node)
    return {"success": True, "agents": roots}
