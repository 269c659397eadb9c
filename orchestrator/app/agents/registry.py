"""Registered actors. Names that are not registered never act; agents are deactivated, never deleted."""

from __future__ import annotations

from orchestrator.app.agents.requests import DeactivateAgent, RegisterAgent
from orchestrator.app.kernel import actors, credentials, human, pagination, views
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.core import names
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import again, suggest
from orchestrator.core.workflow import vocabulary
from orchestrator.errors import Refused
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

SHOWN_CHILDREN = 100


def register(work: Work, request: RegisterAgent) -> Answer:
    """Register an agent under its parent; a person is registered by a person only.

    Returns:
        `agent`.

    Raises:
        Refused: ALREADY_EXISTS, UNKNOWN_ROLE, UNKNOWN_AGENT, HUMAN_REQUIRED.
    """
    actor = actors.named_actor(work, request.by, f"Registering {request.id}")
    role = names.role_name(request.role)
    if role not in vocabulary.ROLES:
        raise Refused(
            "UNKNOWN_ROLE",
            f"Unknown role {names.shown(request.role)}.",
            f"One of: {', '.join(vocabulary.ROLES)}",
            did_you_mean=names.nearest(role, vocabulary.ROLES),
            _recorded=f"No role is called {names.shown(request.role)}.",
        )
    if work.reader.agent(request.id) is not None:
        raise Refused(
            "ALREADY_EXISTS",
            f"Agent {request.id} already exists; nothing changed.",
            suggest("agent show", id=request.id),
            _recorded=f"There is an agent {request.id} already; nothing changed.",
        )
    if request.kind == "human":
        human.require(work, actor, f"Registering {request.id} as a person")
    parent = request.parent or (role if work.reader.agent(role) else None)
    if parent is not None and work.reader.agent(parent) is None:
        raise Refused("UNKNOWN_AGENT", f"There is no agent {parent} to report to.", suggest("agent tree"))
    insert(work, request.id, role, parent, request.kind, request.max_parallel_tasks)
    return {"success": True, "agent": _row(work, request.id), "seq": work.seq}


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


def deactivate(work: Work, request: DeactivateAgent) -> Answer:
    """Deactivate an agent: it can no longer act; what it did stays on record.

    Raises:
        Refused: ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, REASON_REQUIRED, HUMAN_REQUIRED.
    """

    def reasoned() -> str:
        return actors.reason(request.reason, "Deactivating an agent")

    actor = actors.first_of(work, lambda: actors.actor(work, request.by), reasoned)
    agent = work.reader.agent(request.id)
    if agent is None or not agent.active:
        raise Refused("UNKNOWN_AGENT", f"There is no active agent {request.id}.", suggest("agent list"))
    if agent.kind == "human" or actor.kind == "human":
        what = f"Deactivating {agent.id}"
        actors.first_of(work, lambda: human.require(work, actor, what), reasoned)
    elif actor.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED",
            f"Only the project manager may deactivate agents; {actor.id} is {actor.role}.",
            again(by="project_manager"),
            _recorded=f"{actor.id} is {actor.role}; agents are the project manager's to deactivate.",
        )
    if agent.kind == "system" or agent.id == agent.role:
        # Spawns stand under it, so a session that does without the role says so instead.
        raise Refused(
            "NOT_PERMITTED",
            f"{agent.id} is the default agent of its role and cannot be deactivated.",
            suggest("session create", id="ID", disabled_roles=agent.role),
            _recorded=f"{agent.id} stands for its role and cannot be deactivated.",
        )
    reasoned()
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

    return pagination.listed("agents", *pagination.page(fetch, limit, "id"), "id", since)


def agent(context: Context, *, id: str) -> Answer:
    """One agent, with those above it up to the person, and the active ones right below it.

    Raises:
        Refused: UNKNOWN_AGENT.
    """
    row = views.agent_row(context.reader, id)
    if row is None:
        known = [found["id"] for found in _standing_agents(context)]
        message = f"Agent {names.shown(id)} is not registered."
        raise Refused("UNKNOWN_AGENT", message, suggest("agent list"), did_you_mean=names.nearest(id, known))
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
