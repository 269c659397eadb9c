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
from orchestrator.core.suggestions import again, options, sentence, suggest
from orchestrator.errors import Refused


def create(
    context: Context,
    *,
    id: str,
    session_id: str,
    name: str | None = None,
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
        "id": id, "name": name, "kind": kind, "security_sensitive": security_sensitive, "complexity": complexity,
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
            "NOT_PERMITTED", f"Session {session.id} is a chat: it has one group.", suggest("session create", id="ID")
        )
    group_id = given["id"]
    if work.group(group_id) is not None:
        raise Refused(
            "ALREADY_EXISTS", f"Session {session.id} has a group {group_id} already; nothing changed.",
            suggest("group show", id=group_id, session_id=session.id),
        )
    dependencies = list(dict.fromkeys(given.get("depends_on") or []))
    _check_dependencies(work, group_id, dependencies)
    name = names.said(given.get("name")) or group_id
    secure = bool(given.get("security_sensitive"))
    _refuse_endless(work, session, group_id, given.get("kind") or "code", secure)
    new_groups.insert(
        work, group_id, name=name, kind=given.get("kind") or "code", by=by, security_sensitive=secure,
        complexity=given.get("complexity") or new_groups.DEFAULT_COMPLEXITY, priority=given.get("priority") or "medium",
    )
    for dependency in dependencies:
        work.step.insert("group_dependencies", group_id=group_id, depends_on=dependency, added_by=by)
    if session.planned:
        settling.settle(work, "group")
    return _created(work, session, group_id, name, secure)


FEASIBLE_SINCE = 4
"""The first rules version that refuses a group which could never be completed."""


def _refuse_endless(work: Work, session: Session, group_id: str, kind: str, secure: bool) -> None:
    """Refuse a group that could never be completed without the roles that the session does without."""
    if not session.disabled_roles or not work.asks(FEASIBLE_SINCE):
        return
    from orchestrator.app.engine import feasible

    why = feasible.why_not(
        work.version().workflow, session.disabled_roles, id=group_id, kind=kind, security_sensitive=secure
    )
    if why is not None:
        way = sentence(
            "Create it in a session that has the role ({}, without that {})",
            suggest("session create", id="ID"), options(disabled_roles=True),
        )  # fmt: skip
        if secure:
            way = sentence("{}, or leave out {} if the work is not", way, options(security_sensitive=True))
        raise Refused("NOT_PERMITTED", f"In session {session.id} {why}.", way)


def _created(work: Work, session: Session, group_id: str, name: str, secure: bool) -> Answer:
    from orchestrator.app.kernel import views

    answer: Answer = {"success": True, "group": views.group_row(work.reader, session.id, group_id), "seq": work.seq}
    word = names.whole_words_security(name)
    if word and not secure:
        answer["warnings"] = [
            f"The name speaks of {word}, but the group is not security-sensitive: only --security-sensitive counts."
        ]
    if work.decisions:
        answer["followed_by"] = work.decisions
    return answer


def _check_dependencies(work: Work, group_id: str, dependencies: list[str]) -> None:
    for dependency in dependencies:
        if dependency == group_id:
            raise Refused("DEPENDENCY_INVALID", f"Group {group_id} cannot depend on itself.", "", why="self")
        if work.group(dependency) is None:
            raise Refused(
                "UNKNOWN_GROUP", f"There is no group {dependency} to depend on in this session.",
                suggest("group list", session_id=work.step.chain),
            )


def _require_planner(work: Work, by: str) -> None:
    agent = actors.actor(work, by)
    if agent.kind == "human":
        human.require(work, agent, f"Planning a group as {agent.id}")
        return
    if agent.role not in (MANAGER, "orchestrator"):
        raise Refused(
            "NOT_PERMITTED", f"{by} is {agent.role}; groups are planned by the project manager.",
            again(by="project_manager"),
        )
    if work.call.input.get("security_sensitive") and agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", f"{by} is {agent.role}; the security flag is the project manager's to set.",
            again(by="project_manager"),
        )
