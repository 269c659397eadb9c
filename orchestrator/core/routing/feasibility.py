"""Whether a group could ever be completed under the settings of its session, seen from the workflow alone.

Cold module.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.core.routing.facts import DEVELOPER
from orchestrator.core.workflow.model import Transition, Workflow

_SUBMISSIONS = ("submit_test", "submit_review")


def missing_role(
    workflow: Workflow, disabled_roles: Iterable[str], *, kind: str, security_sensitive: bool
) -> str | None:
    """The disabled role without which nobody could submit and merge a group; None where somebody can.

    Only a code group has to be merged. What no session could do with this workflow is no matter of disabled roles.

    Args:
        kind: of the group, code or research.
        security_sensitive: whether developers may not work on it.
    """
    disabled = frozenset(disabled_roles)
    secured = security_sensitive and workflow.rules.security_force_agent is not None
    if kind != "code" or not disabled or _can_finish(workflow, disabled, secured):
        return None
    if not _can_finish(workflow, frozenset(), secured):
        return None
    # Of two roles that are missing together, either one is enough.
    return next((role for role in sorted(disabled) if _can_finish(workflow, disabled - {role}, secured)), None)


def _can_finish(workflow: Workflow, disabled: frozenset[str], secured: bool) -> bool:
    barred = disabled | ({DEVELOPER} if secured else frozenset())
    submits = any(t.effect in _SUBMISSIONS and t.role not in barred for t in workflow.transitions.values())
    return submits and any(_merges(workflow, t, disabled, secured) for t in workflow.transitions.values())


def _merges(workflow: Workflow, approval: Transition, disabled: frozenset[str], secured: bool) -> bool:
    """Whether an approval sends somebody to merge who can: as `fallback`, `security` and `fallback` again choose."""
    if approval.effect != "approve" or approval.action != "spawn_merge":
        return False

    def standing(role: str | None) -> str | None:
        if role not in disabled:
            return role
        other = approval.fallback_agent
        return None if other in disabled or (secured and other == DEVELOPER) else other

    role = standing(approval.next_agent)
    if secured and role == DEVELOPER:
        role = standing(workflow.rules.security_force_agent)
    return any(t.role == role and t.effect == "merge" for t in workflow.transitions.values())
