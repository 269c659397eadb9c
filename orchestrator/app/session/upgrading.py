"""What of a session's open state another workflow version lacks."""

from __future__ import annotations

from orchestrator.app.engine import feasible
from orchestrator.app.kernel.context import Work
from orchestrator.core.routing.facts import MANAGER, PERSON, VALIDATOR
from orchestrator.core.workflow.model import Workflow

_AWAITED = """SELECT id, awaited_role, awaited_action, qa_attempts, tl_review_attempts, merge_attempts
    FROM task_groups INDEXED BY ix_task_groups_awaited
    WHERE session_id = :session AND awaited_role IS NOT NULL ORDER BY created_seq"""
_UNFINISHED = """SELECT id, kind, security_sensitive FROM task_groups WHERE session_id = :session
    AND status NOT IN ('completed', 'cancelled') ORDER BY created_seq"""
_COUNTED = {"qa_attempts": "test_fail", "tl_review_attempts": "reject", "merge_attempts": "merge_fail"}


def missing(work: Work, old: Workflow, new: Workflow) -> list[str]:
    """Each awaited role, status of it, counter and blocker of the session that the new version does not have.

    Args:
        work: the session's step.
        old: the version that the session is pinned to.
        new: the version that it would move to.
    """
    found: list[str] = []
    effects = {transition.effect for transition in new.transitions.values()}
    for group, role, action, *counters in work.context.connection.execute(_AWAITED, {"session": work.step.chain}):
        if role not in (PERSON, VALIDATOR):
            found += [f"group {group} {what}" for what in _of_role(old, new, role)]
        if action == "spawn_merge" and "merge" not in effects:
            found.append(f"group {group} is sent to merge, and no status merges there")
        for (name, effect), count in zip(_COUNTED.items(), counters, strict=True):
            if count and effect not in effects:
                found.append(f"group {group} has {name} {count}, and nothing counts as {effect} there")
    found += _of_blockers(work, new)
    found += _endless(work, old, new)
    session = work.session()
    if session.awaited_role == MANAGER:
        found += [f"the session {what}" for what in _of_role(old, new, MANAGER)]
    return found


def _endless(work: Work, old: Workflow, new: Workflow) -> list[str]:
    """Groups that could be completed by the old rules and could not by the new ones, for want of a disabled role."""
    disabled = work.session().disabled_roles
    rows = work.context.connection.execute(_UNFINISHED, {"session": work.step.chain}) if disabled else ()
    found = []
    for id_, kind, secure in rows:
        before, after = (
            feasible.why_not(each, disabled, id=id_, kind=kind, security_sensitive=bool(secure)) for each in (old, new)
        )
        found += [after] if after and not before else []
    return found


def _of_role(old: Workflow, new: Workflow, role: str) -> list[str]:
    statuses = new.statuses_of(role)
    if not statuses:
        return [f"awaits {role}, which reports nothing there"]
    gone = [status for status in old.statuses_of(role) if new.find(role, status) is None]
    return [f"awaits {role}, whose {status} does not exist there" for status in gone]


def _of_blockers(work: Work, new: Workflow) -> list[str]:
    rows = work.context.connection.execute(
        "SELECT id, opened_role FROM blockers INDEXED BY ix_blockers_open"
        " WHERE session_id = :session AND resolved_seq IS NULL AND cause = 'report' ORDER BY opened_seq",
        {"session": work.step.chain},
    )
    return [f"blocker {blocker} returns to {role}, which reports nothing there" for blocker, role in rows
            if not new.statuses_of(role)]
