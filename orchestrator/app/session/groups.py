"""Task groups: creating them, and what every change of a group asks first."""

from __future__ import annotations

from orchestrator.app.engine import group_changes, scheduler
from orchestrator.app.kernel import actors, human
from orchestrator.app.kernel.context import Answer, Work
from orchestrator.app.session.requests import CreateGroup
from orchestrator.core import names
from orchestrator.core.routing.facts import (
    MANAGER,
    Session,
)
from orchestrator.core.suggestions import again, options, sentence, suggest
from orchestrator.errors import Refused


def create(work: Work, request: CreateGroup) -> Answer:
    """Create a task group.

    Returns:
        `group`, and `warnings` where the name speaks of security but the flag is not set.

    Raises:
        UsageError: INVALID_ID. Refused: ALREADY_EXISTS, UNKNOWN_GROUP, SESSION_CLOSED, UNKNOWN_AGENT, NOT_PERMITTED
            (also where the session does without a role that the group cannot be completed without),
            DEPENDENCY_INVALID.
    """
    session = work.open_session()
    by = request.by or MANAGER
    _require_planner(work, request, by)
    if session.kind == "chat":
        raise Refused(
            "NOT_PERMITTED", f"Session {session.id} is a chat: it has one group.", suggest("session create", id="ID")
        )
    group_id = request.id
    if work.group(group_id) is not None:
        raise Refused(
            "ALREADY_EXISTS",
            f"Group {group_id} already exists in session {session.id}; nothing changed.",
            suggest("group show", id=group_id, session_id=session.id),
            _recorded=f"Session {session.id} has a group {group_id} already; nothing changed.",
        )
    dependencies = list(dict.fromkeys(request.depends_on or []))
    _check_dependencies(work, group_id, dependencies)
    name = names.said(request.name) or group_id
    secure = bool(request.security_sensitive)
    _refuse_endless(work, session, group_id, request.kind or "code", secure)
    group_changes.insert(
        work, group_id, name=name, kind=request.kind or "code", by=by, security_sensitive=secure,
        complexity=request.complexity or group_changes.DEFAULT_COMPLEXITY, priority=request.priority or "medium",
        description=names.said(request.description) or None,
    )
    group_changes.depend(work, group_id, dependencies, by=by)
    if session.planned:
        scheduler.settle(work, "group")
    return _created(work, session, group_id, name, secure)


FEASIBLE_SINCE = 4
"""The first rules version that refuses a group which could never be completed."""


def _refuse_endless(work: Work, session: Session, group_id: str, kind: str, secure: bool) -> None:
    """Refuse a group that could never be completed without the roles that the session does without."""
    why = why_endless(work, session, group_id, kind, secure) if work.asks(FEASIBLE_SINCE) else None
    if why is not None:
        way = sentence(
            "Create it in a session that has the role ({}, without that {})",
            suggest("session create", id="ID"), options(disabled_roles=True),
        )  # fmt: skip
        if secure:
            way = sentence("{}, or leave out {} if the work is not", way, options(security_sensitive=True))
        raise Refused("NOT_PERMITTED", f"In session {session.id} {why}.", way)


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
                "UNKNOWN_GROUP",
                f"This session has no group {dependency} to depend on.",
                suggest("group list", session_id=work.step.chain),
                _recorded=f"There is no group {dependency} to depend on in this session.",
            )


def _require_planner(work: Work, request: CreateGroup, by: str) -> None:
    agent = actors.actor(work, by)
    if agent.kind == "human":
        human.require(work, agent, f"Planning a group as {agent.id}")
        return
    if agent.role not in (MANAGER, "orchestrator"):
        raise Refused(
            "NOT_PERMITTED",
            f"Only the project manager may plan groups; {by} is {agent.role}.",
            again(by="project_manager"),
            _recorded=f"{by} is {agent.role}; groups are planned by the project manager.",
        )
    if request.security_sensitive and agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED",
            f"Only the project manager may set the security flag; {by} is {agent.role}.",
            again(by="project_manager"),
            _recorded=f"{by} is {agent.role}; the security flag is the project manager's to set.",
        )
