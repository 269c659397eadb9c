"""Dependencies between groups: adding one closes no ring, dropping one needs a reason and stays on record."""

from __future__ import annotations

from orchestrator.app.engine import settling
from orchestrator.app.kernel import actors, human
from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.core import names, task_graph
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import again, suggest
from orchestrator.errors import Refused
from orchestrator.store.task_edges import Edges

_EDGES = """SELECT depends_on FROM group_dependencies
    WHERE session_id = :session AND group_id = :group AND removed_seq IS NULL"""


def depend(
    context: Context, *, id: str, on: str, session_id: str, by: str = MANAGER, reason: str = "",
    request_id: str | None = None, at: str | None = None,
) -> Answer:
    """Let a group wait for another one of its session.

    Raises:
        Refused: UNKNOWN_GROUP, GROUP_CLOSED, DEPENDENCY_INVALID {why}, DEPENDENCY_CYCLE {cycle}, NOT_PERMITTED,
            ALREADY_EXISTS.
    """
    given = {"id": id, "on": on, "by": by, "reason": reason}
    return perform(context, Call("group depend", session_id, by, given, request_id, at=at), depend_action)


def undepend(
    context: Context, *, id: str, on: str, session_id: str, by: str | None = None, reason: str = "",
    request_id: str | None = None, at: str | None = None,
) -> Answer:
    """Drop a dependency on a group that is cancelled or deferred, or one in a dependency cycle, with the reason.

    Raises:
        Refused: UNKNOWN_GROUP, UNKNOWN_ID, DEPENDENCY_INVALID {why}, ACTOR_REQUIRED, NOT_PERMITTED, REASON_REQUIRED.
    """
    given = {"id": id, "on": on, "by": by, "reason": reason}
    return perform(context, Call("group undepend", session_id, by or "", given, request_id, at=at), undepend_action)


def depend_action(work: Work) -> Answer:
    """Add an edge; a replay calls it with a recorded event's input."""
    by = _manager(work)
    group_id, on = _ends(work)
    group = work.group(group_id)
    if group is None or group.status not in ("pending", "in_progress"):
        raise Refused(
            "GROUP_CLOSED", f"Group {group_id} waits for nothing any more.", _look(work, group_id)
        )
    if on in _targets(work, group_id):
        raise Refused("ALREADY_EXISTS", f"Group {group_id} depends on {on} already; nothing changed.", "")
    ring = find_ring(work, group_id, on)
    if ring:
        raise Refused(
            "DEPENDENCY_CYCLE", f"That would close a ring: {' -> '.join(ring)}.", "Leave one of these edges out",
            cycle=ring,
        )
    work.step.insert("group_dependencies", group_id=group_id, depends_on=on, added_by=by)
    return _answer(work, group_id)


def find_ring(work: Work, group_id: str, on: str) -> list[str]:
    """The ring that an edge from a group to another would close, over groups and their tasks, or nothing."""
    return task_graph.ring_of_group(Edges(work.context.connection, work.step.chain), group_id, on)


def _targets(work: Work, group_id: str) -> list[str]:
    rows = work.context.connection.execute(_EDGES, {"session": work.step.chain, "group": group_id})
    return [row[0] for row in rows]


def _look(work: Work, group_id: str) -> str:
    return suggest("group show", id=group_id, session_id=work.step.chain)


def undepend_action(work: Work) -> Answer:
    """Drop an edge; a replay calls it with a recorded event's input."""
    by = _manager(work)
    group_id, on = _ends(work)
    reason = names.said(work.call.input.get("reason"))
    if on not in _targets(work, group_id):
        raise Refused(
            "UNKNOWN_ID", f"Group {group_id} does not depend on {on}.", _look(work, group_id),
            kind="dependency",
        )
    other = work.group(on)
    droppable = other is not None and other.status in ("cancelled", "deferred_external")
    if not droppable and not find_ring(work, group_id, on):
        raise Refused(
            "DEPENDENCY_INVALID", "Only a dependency on a cancelled or deferred group, or one in a dependency cycle,"
            f" can be dropped; {on} is {other.status if other else 'missing'}.", _look(work, on), why="open",
        )
    if not reason:
        raise Refused("REASON_REQUIRED", "Dropping a dependency needs a reason.", again(reason="TEXT"))
    work.step.update(
        "group_dependencies", (group_id, on, _added(work, group_id, on)),
        {"removed_seq": work.seq, "removed_by": by, "removed_reason": reason},
    )
    settling.complete_freed(work, group_id)
    settling.settle(work, "group")
    return _answer(work, group_id)


def _added(work: Work, group_id: str, on: str) -> int:
    """The step that added the edge as it stands now."""
    return work.reader.count(
        "SELECT seq FROM group_dependencies WHERE session_id = :session AND group_id = :group AND depends_on = :on"
        " AND removed_seq IS NULL",
        session=work.step.chain, group=group_id, on=on,
    )


def _manager(work: Work) -> str:
    work.open_session()
    agent = actors.actor(work, work.call.input.get("by"))
    if agent.kind == "human":
        human.require(work, agent, f"Changing dependencies as {agent.id}")
    elif agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", f"{agent.id} is {agent.role}; dependencies are the project manager's.",
            again(by="project_manager"),
        )
    return agent.id


def _ends(work: Work) -> tuple[str, str]:
    given = work.call.input
    for name in (given["id"], given["on"]):
        if work.group(name) is None:
            raise Refused(
                "UNKNOWN_GROUP", f"Session {work.step.chain} has no group {name}.",
                suggest("group list", session_id=work.step.chain),
            )
    if given["id"] == given["on"]:
        raise Refused("DEPENDENCY_INVALID", f"Group {given['id']} cannot depend on itself.", "", why="self")
    return given["id"], given["on"]


def _answer(work: Work, group_id: str) -> Answer:
    from orchestrator.app.kernel import views

    group = views.group_row(work.reader, work.step.chain, group_id)
    answer: Answer = {"success": True, "group": group, "seq": work.seq}
    if work.decisions:
        answer["followed_by"] = work.decisions
    return answer
