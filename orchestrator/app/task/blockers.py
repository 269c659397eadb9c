"""Blockers one by one: listing, showing and resolving them, as far as they are the caller's to lift.

Source: seed 002, validateUnblockPermission; seed 003, Blocker Taxonomy.
"""

from __future__ import annotations

from orchestrator.app.engine import scheduler, state_changes
from orchestrator.app.kernel import actors, agent_checks, human, pagination
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.reports import unblocked_groups
from orchestrator.app.task import status_checks, task_status
from orchestrator.app.task.requests import ResolveBlocker
from orchestrator.core import blockers, names, permissions
from orchestrator.core.permissions import Block
from orchestrator.core.routing.facts import Blocker
from orchestrator.core.suggestions import again, suggest
from orchestrator.errors import Refused
from orchestrator.store import queries, task_queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Agent

GROUP_HARD = (
    permissions.A_PERSON, "tech_lead, by guidance or approval", "project_manager, where guidance marked it external",
)  # fmt: skip
"""Who lifts a hard blocker of a group."""
_OF_BLOCKER = ("id", "type", "class", "external", "opened_role", "opened_by", "cause")
"""The columns of a blocker as deciding sees it."""


def blockers_of(
    context: Context,
    *,
    session_id: str,
    group_id: str | None = None,
    task: str | None = None,
    open: bool = False,
    limit: int = 50,
    since: int | None = None,
) -> Answer:
    """The blockers of a session in the order in which they were opened.

    Args:
        group_id: only those of this group, its tasks included.
        task: only those of this task.
        open: only those that are not resolved.
        limit: how many at most; blockers that one step opened stay together.
        since: the step after which the page begins.

    Returns:
        `blockers`, `has_more`, `next_since`.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    context.require_session(session_id)
    sql = task_queries.blockers(group=group_id is not None, task=task is not None, open=open)

    def fetch(most: int) -> list[Row]:
        return queries.rows(
            context.reader, sql, session=session_id, group=group_id, task=task, since=pagination.seq_or(since, 0),
            limit=most,
        )  # fmt: skip

    return pagination.listed("blockers", *pagination.page(fetch, limit, "opened_seq"), "opened_seq", since)


def blocker(context: Context, *, id: str, session_id: str) -> Answer:
    """One blocker: who opened it, when and why, and what became of it.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_ID.
    """
    context.require_session(session_id)
    return {"success": True, "blocker": _require(context, session_id, id)}


def _require(context: Context, session: str, id: str) -> Row:
    found = queries.row(context.reader, task_queries.BLOCKER, id=id, session=session)
    if found is None:
        raise Refused(
            "UNKNOWN_ID", f"Session {session} has no blocker {names.shown(id)}.",
            suggest("blocker list", session_id=session), kind="blocker",
        )
    return found


def resolve(work: Work, request: ResolveBlocker) -> Answer:
    """Resolve one blocker; with the last one of a task the task goes back to its former status.

    With the last one of a group the group returns to who was blocked, where somebody else was to judge the block.

    Returns:
        `blocker`, `task` where it is one's, and what the machinery did (`followed_by`).

    Raises:
        Refused: UNKNOWN_ID, ALREADY_RESOLVED, ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED, HUMAN_REQUIRED,
            UNBLOCK_NOT_PERMITTED, REASON_REQUIRED, in this order.

    Source: seed 002, validateUnblockPermission.
    """
    session = work.open_session()
    row = _require(work.context, session.id, request.id)
    if row["resolved_seq"] is not None:
        raise Refused(
            "ALREADY_RESOLVED", f"Blocker {row['id']} was resolved by {row['resolved_by']} at {row['resolved_at']}.",
            suggest("blocker show", id=row['id'], session_id=session.id), resolved_by=row["resolved_by"],
            resolved_at=row["resolved_at"],
        )

    def reasoned() -> str:
        return actors.reason(request.reason, f"Resolving blocker {row['id']}")

    agent = actors.first_of(work, lambda: actors.actor(work, request.by), reasoned)
    agent_checks.refuse_outside(work, agent, row["group_id"])
    legacy = actors.first_of(work, lambda: _check(work, row, agent), reasoned)
    reason = reasoned()
    return _write(work, row, agent, reason, "legacy" if legacy else "resolved")


def _check(work: Work, row: Row, agent: Agent) -> bool:
    """Whether the blocker is the agent's to lift; True where nobody is on record as its opener."""
    if agent.kind == "system":
        raise Refused("NOT_PERMITTED", f"{agent.id} resolves blockers by its own rules.", again(by="AGENT"))
    person = agent.kind == "human"
    if person:
        human.require(work, agent, f"Resolving blocker {row['id']} as {agent.id}")
    block = Block(*(row[name] for name in ("id", "type", "class", "reason", "opened_by", "opened_at", "cause")))
    answer = status_checks.liftable(work, status_checks.standing(work, agent.id), block, person=person)
    if not answer.allowed:
        raise _refused(row, block, answer)
    return answer.legacy


def _refused(row: Row, block: Block, answer: permissions.Answer) -> Refused:
    if row["task_id"] is None and block.severity == blockers.HARD:
        answer = answer._replace(may=GROUP_HARD)
    what = f"task {row['task_id']}" if row["task_id"] else f"group {row['group_id'] or '(the session)'}"
    return status_checks.refuse_lift(what, block, answer)


def _write(work: Work, row: Row, agent: Agent, reason: str, resolution: str) -> Answer:
    from orchestrator.app.task import task_views

    answer: Answer = {"success": True}
    if row["task_id"] is None:
        state_changes.resolve_blocker(work, row["id"], by=agent.id, resolution=resolution, note=reason)
        if row["group_id"] is not None:
            scheduler.complete_freed(work, row["group_id"])
            unblocked_groups.send_back(
                work, row["group_id"], Blocker(*(row[name] for name in _OF_BLOCKER)), opened_seq=row["opened_seq"],
                by=agent.id, reason=reason,
            )
    else:
        task = status_checks.require_task(work, work.step.chain, row["task_id"])
        task_status.resolve(work, task, [row["id"]], by=agent.id, reason=reason, resolution=resolution)
        answer["task"] = task_views.changed(work, task.id)["task"]
    if work.session().planned:
        scheduler.settle(work, "task")
    answer |= {"blocker": _require(work.context, work.step.chain, row["id"]), "seq": work.seq}
    if work.decisions:
        answer["followed_by"] = work.decisions
    return answer
