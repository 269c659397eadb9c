"""Dependencies between groups: adding one closes no ring, dropping one needs a reason and stays on record."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.app.engine import scheduler
from orchestrator.app.kernel import actors, human
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.session.requests import DependGroup, UndependGroup
from orchestrator.core import task_graph
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import again, suggest
from orchestrator.errors import Refused
from orchestrator.store.task_edges import Edges

_EDGES = """SELECT depends_on FROM group_dependencies
    WHERE session_id = :session AND group_id = :group AND removed_seq IS NULL"""


def depend(work: Work, request: DependGroup) -> Answer:
    """Make a group wait for another group of its session.

    Raises:
        Refused: UNKNOWN_GROUP, GROUP_CLOSED, DEPENDENCY_INVALID {why}, DEPENDENCY_CYCLE {cycle}, NOT_PERMITTED,
            ALREADY_EXISTS.
    """
    by = _manager(work, request)
    group_id, on = _ends(work, request)
    group = work.group(group_id)
    if group is None or group.status not in ("pending", "in_progress"):
        raise Refused(
            "GROUP_CLOSED",
            f"Group {group_id} no longer waits for other groups.",
            _look(work, group_id),
            _recorded=f"Group {group_id} waits for nothing any more.",
        )
    if on in _targets(work, group_id):
        raise Refused(
            "ALREADY_EXISTS",
            f"Group {group_id} already depends on {on}; nothing changed.",
            _look(work, group_id),
            _recorded=f"Group {group_id} depends on {on} already; nothing changed.",
        )
    ring = find_ring(work, group_id, on)
    if ring:
        raise Refused(
            "DEPENDENCY_CYCLE",
            f"That would create a dependency cycle: {' -> '.join(ring)}.",
            "Drop one of these dependencies",
            cycle=ring,
            _recorded=f"That would close a ring: {' -> '.join(ring)}.",
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


def undepend(work: Work, request: UndependGroup) -> Answer:
    """Drop a dependency on a group that is cancelled or deferred, or one in a dependency cycle, with the reason.

    Raises:
        Refused: UNKNOWN_GROUP, UNKNOWN_ID, DEPENDENCY_INVALID {why}, ACTOR_REQUIRED, NOT_PERMITTED, REASON_REQUIRED.
    """

    def reasoned() -> str:
        return actors.reason(request.reason, "Dropping a dependency")

    by = _manager(work, request, reasoned)
    group_id, on = _ends(work, request)
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
    reason = reasoned()
    work.step.update(
        "group_dependencies", (group_id, on, _added(work, group_id, on)),
        {"removed_seq": work.seq, "removed_by": by, "removed_reason": reason},
    )
    scheduler.complete_freed(work, group_id)
    scheduler.settle(work, "group")
    return _answer(work, group_id)


def _added(work: Work, group_id: str, on: str) -> int:
    """The step that added the edge as it stands now."""
    return work.reader.count(
        "SELECT seq FROM group_dependencies WHERE session_id = :session AND group_id = :group AND depends_on = :on"
        " AND removed_seq IS NULL",
        session=work.step.chain, group=group_id, on=on,
    )


def _manager(work: Work, request: DependGroup | UndependGroup, *others: Callable[[], object]) -> str:
    work.open_session()
    agent = actors.first_of(work, lambda: actors.actor(work, request.by), *others)
    if agent.kind == "human":
        what = f"Changing dependencies as {agent.id}"
        actors.first_of(work, lambda: human.require(work, agent, what), *others)
    elif agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED",
            f"Only the project manager may change dependencies; {agent.id} is {agent.role}.",
            again(by="project_manager"),
            _recorded=f"{agent.id} is {agent.role}; dependencies are the project manager's.",
        )
    return agent.id


def _ends(work: Work, request: DependGroup | UndependGroup) -> tuple[str, str]:
    for name in (request.id, request.on):
        if work.group(name) is None:
            raise Refused(
                "UNKNOWN_GROUP", f"Session {work.step.chain} has no group {name}.",
                suggest("group list", session_id=work.step.chain),
            )
    if request.id == request.on:
        raise Refused("DEPENDENCY_INVALID", f"Group {request.id} cannot depend on itself.", "", why="self")
    return request.id, request.on


def _answer(work: Work, group_id: str) -> Answer:
    from orchestrator.app.kernel import views

    group = views.group_row(work.reader, work.step.chain, group_id)
    answer: Answer = {"success": True, "group": group, "seq": work.seq}
    if work.decisions:
        answer["followed_by"] = work.decisions
    return answer
