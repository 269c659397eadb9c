"""Groups that their session's disabled roles keep from ever being completed, in words."""

from __future__ import annotations

from orchestrator.app.kernel.context import Context
from orchestrator.core.routing import feasibility
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.core.workflow.model import Workflow
from orchestrator.hints import Any

_OPEN = ("pending", "in_progress")


def why_not(workflow: Workflow, disabled_roles: Any, *, id: str, kind: str, security_sensitive: bool) -> str | None:
    """Why a group could never be completed in a session that does without these roles; None where it could."""
    role = feasibility.missing_role(workflow, disabled_roles, kind=kind, security_sensitive=security_sensitive)
    if role is None:
        return None
    which = f"security-sensitive group {id}" if security_sensitive else f"group {id}"
    return f"{which} can never be completed, because nobody but the disabled {role} could build and merge it"


def beforehand(workflow: Workflow, disabled_roles: tuple[str, ...]) -> list[str]:
    """Which kinds of groups a session without these roles will refuse, for whoever creates it."""
    found = []
    for secure, which in ((False, "code groups"), (True, "security-sensitive groups")):
        role = feasibility.missing_role(workflow, disabled_roles, kind="code", security_sensitive=secure)
        if role is not None:
            found.append(f"Without {role} this session will accept no {which}: nobody else could build and merge them.")
    return found[:1]


def warnings(context: Context, session: dict[str, Any], groups: list[dict[str, Any]]) -> list[str]:
    """What `status` says of open groups that can never be completed, with what to change.

    Args:
        session, groups: rows by column name.
    """
    open_ = [group for group in groups if group["status"] in _OPEN]
    if not session["disabled_roles"] or not open_:
        return []
    workflow = context.version(session["workflow_version_id"]).workflow
    found = (
        why_not(
            workflow, session["disabled_roles"], id=group["id"], kind=group["kind"],
            security_sensitive=bool(group["security_sensitive"]),
        )
        for group in open_
    )  # fmt: skip
    by = {"session_id": session["id"], "by": "project_manager", "reason": "TEXT"}
    return [
        sentence(
            "In session {} {}. Cancel the group and build it in a session that has the role: {}",
            session["id"], why, suggest("group set-status", id=group["id"], status="cancelled", **by),
        )
        for group, why in zip(open_, found, strict=True)
        if why
    ]
