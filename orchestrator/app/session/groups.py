"""Task groups: creating them, and what every change of a group asks first."""

from __future__ import annotations

from orchestrator.app.engine import new_groups, settling
from orchestrator.app.kernel import actors, human
from orchestrator.app.kernel.context import RULES, Answer, Call, Context, Work, perform
from orchestrator.core import names
from orchestrator.core.routing.facts import (
    MANAGER,
    RULES_VERSION,
    Session,
)
from orchestrator.errors import Refused


def create(
    context: Context,
    *,
    id: str,
    session_id: str,
    name: str | None = None,
    description: str | None = None,
    kind: str = "code",
    security_sensitive: bool = False,
    complexity: int = new_groups.DEFAULT_COMPLEXITY,
    priority: str = "medium",
    depends_on: tuple[str, ...] = (),
    by: str = MANAGER,
    request_id: str | None = None,
    at: str | None = None,
) -> Answer:
    """Create a task group.

    Args:
        id: unique in its session.
        description: what is to be done; the group's agents are given it.
        complexity: 1 to 10; from 7 on the senior engineer builds it.
        priority: urgent, high, medium or low; the order in which free slots are taken.
        depends_on: groups of the same session that must be done first.
        by: who creates it: the project manager or the orchestrator.

    Returns:
        `group`, and `warnings` where the name speaks of security but the flag is not set.

    Raises:
        UsageError: INVALID_ID. Refused: ALREADY_EXISTS, UNKNOWN_GROUP, SESSION_CLOSED, UNKNOWN_AGENT, NOT_PERMITTED
            (also where the session does without a role that the group cannot be completed without),
            DEPENDENCY_INVALID.
    """
    names.check_id("group", id)
    given = {
        "id": id, "name": name, "kind": kind, "description": description,
        "security_sensitive": security_sensitive, "complexity": complexity,
        "priority": priority, "depends_on": list(depends_on), "by": by, RULES: RULES_VERSION,
    }
    call = Call("group create", session_id, by, given, request_id, at=at)
    return perform(context, call, create_action)


def create_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    session = work.open_session()
    by = given.get("by") or MANAGER
    _require_planner(work, by)
    if session.kind == "chat":
        raise Refused(
            "NOT_PERMITTED", f"Session {session.id} is a chat: it has one group.", "orchestrator session create ID"
        )
    group_id = given["id"]
    if work.group(group_id) is not None:
        raise Refused(
            "ALREADY_EXISTS", f"Session {session.id} has a group {group_id} already; nothing changed.",
            f"orchestrator group show {group_id} --session-id {session.id}",
        )
    dependencies = list(dict.fromkeys(given.get("depends_on") or []))
    _check_dependencies(work, group_id, dependencies)
    name = names.said(given.get("name")) or group_id
    secure = bool(given.get("security_sensitive"))
    _refuse_endless(work, session, group_id, given.get("kind") or "code", secure)
    new_groups.insert(
        work, group_id, name=name, kind=given.get("kind") or "code", by=by, security_sensitive=secure,
        complexity=given.get("complexity") or new_groups.DEFAULT_COMPLEXITY, priority=given.get("priority") or "medium",
        description=names.said(given.get("description")) or None,
    )
    new_groups.depend(work, group_id, dependencies, by=by)
    if session.planned:
        settling.settle(work, "group")
    return _created(work, session, group_id, name, secure)


FEASIBLE_SINCE = 4
"""The first rules version that refuses a group which could never be completed."""


def _refuse_endless(work: Work, session: Session, group_id: str, kind: str, secure: bool) -> None:
    """Refuse a group that could never be completed without the roles that the session does without."""
    why = why_endless(work, session, group_id, kind, secure) if work.asks(FEASIBLE_SINCE) else None
    if why is not None:
        way = "Create it in a session that has the role (orchestrator session create ID, without that --disable-role)"
        flag = ", or leave out --security-sensitive if the work is not" if secure else ""
        raise Refused("NOT_PERMITTED", f"In session {session.id} {why}.", way + flag)


def why_endless(work: Work, session: Session, group_id: str, kind: str, secure: bool) -> str | None:
    """Why a group could never be completed in a session; None where it could."""
    if not session.disabled_roles:
        return None
    from orchestrator.app.engine import feasible

    return feasible.why_not(
        work.version().workflow, session.disabled_roles, id=group_id, kind=kind, security_sensitive=secure
    )


def _created(work: Work, session: Session, group_id: str, name: str, secure: bool) -> Answer:
    from orchestrator.app.kernel import views

    answer: Answer = {"success": True, "group": views.group_row(work.reader, session.id, group_id), "seq": work.seq}
    if warning := unmarked_security(name, secure):
        answer["warnings"] = [warning]
    if work.decisions:
        answer["followed_by"] = work.decisions
    return answer


def unmarked_security(name: str, secure: bool) -> str | None:
    """The warning about a group whose name speaks of security while its flag does not say so; else None."""
    word = names.whole_words_security(name)
    if not word or secure:
        return None
    return f"The name speaks of {word}, but the group is not security-sensitive: only --security-sensitive counts."


def _check_dependencies(work: Work, group_id: str, dependencies: list[str]) -> None:
    for dependency in dependencies:
        if dependency == group_id:
            raise Refused("DEPENDENCY_INVALID", f"Group {group_id} cannot depend on itself.", "", why="self")
        if work.group(dependency) is None:
            raise Refused(
                "UNKNOWN_GROUP", f"There is no group {dependency} to depend on in this session.",
                f"orchestrator group list --session-id {work.step.chain}",
            )


def _require_planner(work: Work, by: str) -> None:
    agent = actors.actor(work, by)
    if agent.kind == "human":
        human.require(work, agent, f"Planning a group as {agent.id}")
        return
    if agent.role not in (MANAGER, "orchestrator"):
        raise Refused(
            "NOT_PERMITTED", f"{by} is {agent.role}; groups are planned by the project manager.",
            "Repeat with --by project_manager",
        )
    if work.call.input.get("security_sensitive") and agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", f"{by} is {agent.role}; the security flag is the project manager's to set.",
            "Repeat with --by project_manager",
        )
