"""Registered actors. Names that are not registered never act; agents are deactivated, never deleted."""

from __future__ import annotations

from orchestrator.app.kernel import actors, credentials, human, paging, views
from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.core import names
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.workflow import vocabulary
from orchestrator.errors import Refused, UsageError
from orchestrator.store import queries
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

KINDS = ("ai", "human")
SHOWN_CHILDREN = 100


def register(
    context: Context,
    *,
    id: str,
    role: str,
    parent: str | None = None,
    kind: str = "ai",
    max_parallel_tasks: int = 1,
    by: str = MANAGER,
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Register an agent under its parent.

    Args:
        id: unique; letters, digits and `_ . - : @`, up to 300 characters.
        role: one of the workflow's roles.
        parent: whom it reports to; the agent of its role where left out.
        kind: ai or human; a human is registered by a person only.
        max_parallel_tasks: how many tasks it may have in progress at a time.

    Returns:
        `agent`.

    Raises:
        UsageError: INVALID_ID, USAGE. Refused: ALREADY_EXISTS, UNKNOWN_ROLE, UNKNOWN_AGENT, HUMAN_REQUIRED.
    """
    names.check_agent_id(id)
    if kind not in KINDS:
        raise UsageError("USAGE", f"An agent is {' or '.join(KINDS)}, not {names.shown(kind)}.", "--kind ai")
    if max_parallel_tasks < 1:
        raise UsageError("USAGE", "An agent takes at least one task at a time.", "--max-parallel-tasks 1")
    given = {
        "id": id, "role": role, "parent": parent, "kind": kind, "max_parallel_tasks": max_parallel_tasks, "by": by,
    }
    return perform(context, Call("agent register", STORE_CHAIN, by, given, request_id, at=at), register_action)


def register_action(work: Work) -> Answer:
    """Register; a replay calls it with a recorded event's input."""
    given = work.call.input
    actor = actors.named_actor(work, given.get("by"), f"Registering {given['id']}")
    role = names.role_name(given["role"])
    if role not in vocabulary.ROLES:
        raise Refused(
            "UNKNOWN_ROLE", f"No role is called {names.shown(given['role'])}.",
            f"One of: {', '.join(vocabulary.ROLES)}", did_you_mean=names.nearest(role, vocabulary.ROLES),
        )
    if work.reader.agent(given["id"]) is not None:
        raise Refused(
            "ALREADY_EXISTS", f"There is an agent {given['id']} already; nothing changed.",
            f"orchestrator agent show {given['id']}",
        )
    if given.get("kind") == "human":
        human.require(work, actor, f"Registering {given['id']} as a person")
    parent = given.get("parent") or (role if work.reader.agent(role) else None)
    if parent is not None and work.reader.agent(parent) is None:
        raise Refused("UNKNOWN_AGENT", f"There is no agent {parent} to report to.", "orchestrator agent tree")
    insert(work, given["id"], role, parent, given.get("kind") or "ai", given.get("max_parallel_tasks") or 1)
    return {"success": True, "agent": _row(work, given["id"]), "seq": work.seq}


def insert(work: Work, agent: str, role: str, parent: str | None, kind: str, max_parallel_tasks: int = 1) -> None:
    """Write an agent of no session; its parent exists already, so that no circle can close."""
    work.step.insert(
        "agents",
        id=agent,
        role=role,
        parent_id=parent,
        kind=kind,
        max_parallel_tasks=max_parallel_tasks,
        created_at=work.at,
        created_seq=work.seq,
    )


def deactivate(
    context: Context, *, id: str, by: str | None = None, reason: str = "", request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Take an agent out of service; what it did stays, and it acts no more.

    Raises:
        Refused: ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, REASON_REQUIRED, HUMAN_REQUIRED.
    """
    given = {"id": id, "by": by, "reason": reason}
    call = Call("agent deactivate", STORE_CHAIN, by or "", given, request_id, at=at)
    return perform(context, call, deactivate_action)


def deactivate_action(work: Work) -> Answer:
    """Deactivate; a replay calls it with a recorded event's input."""
    given = work.call.input
    actor = actors.actor(work, given.get("by"))
    agent = work.reader.agent(given["id"])
    if agent is None or not agent.active:
        raise Refused("UNKNOWN_AGENT", f"There is no active agent {given['id']}.", "orchestrator agent list")
    if agent.kind == "human" or actor.kind == "human":
        human.require(work, actor, f"Deactivating {agent.id}")
    elif actor.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", f"{actor.id} is {actor.role}; agents are the project manager's to deactivate.",
            "Repeat with --by project_manager",
        )
    if agent.kind == "system" or agent.id == agent.role:
        # Spawns stand under it, so a session that does without the role says so instead.
        raise Refused(
            "NOT_PERMITTED", f"{agent.id} stands for its role and cannot be deactivated.",
            f"orchestrator session create ID --disable-role {agent.role}",
        )
    if not names.said(given.get("reason")):
        raise Refused("REASON_REQUIRED", "Deactivating an agent needs a reason.", "Repeat with --reason TEXT")
    work.step.update("agents", (agent.id,), {"active": 0})
    return {"success": True, "agent": _row(work, agent.id), "seq": work.seq}


def _row(work: Work, agent: str) -> Answer:
    row = views.agent_row(work.reader, agent)
    assert row is not None  # noqa: S101 - its caller has written or found it
    return row


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
    row = views.agent_row(context.reader, id)
    if row is None:
        known = [found["id"] for found in _standing_agents(context)]
        message = f"Agent {names.shown(id)} is not registered."
        raise Refused("UNKNOWN_AGENT", message, "orchestrator agent list", did_you_mean=names.nearest(id, known))
    below = queries.rows(context.reader, queries.CHILDREN, agent=id, limit=SHOWN_CHILDREN)
    above = _ancestors(context.reader, row)
    found: Row = {**row, "ancestors": above, "children": [child["id"] for child in below]}
    if row["kind"] == "human":
        found["enrolments"] = credentials.enrolments(context, id)
    return {"success": True, "agent": found}


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
