"""What one step means for the other groups: filling free slots, the phase check, and never waiting for nobody.

A board is what a session's groups look like once the step's own consequences are applied.
"""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import blocking
from orchestrator.core.routing.facts import DEVELOPER, MANAGER, TECH_LEAD, Group, Session
from orchestrator.core.workflow.model import Workflow
from orchestrator.hints import Any

SLOTS_BUSY = "all_slots_busy"
DEPENDENCIES = "waiting_on_dependencies"
PERSON_AWAITED = "person_awaited"
PAUSED = "session_paused"


class Board(NamedTuple):
    """The groups of a session in numbers, and those that could start, in their order.

    `running` groups hold the slots of which `limit` exist; `held` ones come before `startable` ones;
    `open_others` says whether any group awaits a role other than the project manager, a person among them.
    """

    limit: int
    running: int
    research_running: int
    held: int
    startable: tuple[Group, ...]
    pending: bool
    open_others: bool
    person_awaited: bool
    manager_called: bool
    session_awaits: str | None

    @property
    def free(self) -> int:
        """Slots left after the groups that are held have had theirs."""
        return max(0, self.limit - self.running - self.held)


class Start(NamedTuple):
    """One group that a batch starts, and the role that it is given."""

    group: Group
    role: str
    reasons: tuple[str, ...]


def limit(workflow: Workflow, session: Session) -> int:
    """How many groups of the session may run at a time."""
    return 1 if session.mode == "simple" else workflow.max_parallel


def batch(workflow: Workflow, session: Session, board: Board) -> tuple[Start, ...]:
    """The pending groups that the free slots take, by priority and then creation; research has its own limit."""
    if not session.planned or session.status != "active":
        return ()
    chosen: list[Start] = []
    research = board.research_running
    for group in board.startable:
        if len(chosen) == board.free:
            break
        if group.kind == "research":
            if research >= workflow.rules.research_max_parallel:
                continue
            research += 1
        chosen.append(_start(workflow, session, group))
    return tuple(chosen)


def _start(workflow: Workflow, session: Session, group: Group) -> Start:
    role = blocking.first_builder(workflow, group)
    reasons = []
    if group.security_sensitive and role == workflow.rules.security_force_agent:
        reasons.append(f"security: group {group.id} is security-sensitive")
    elif group.kind == "research":
        reasons.append(f"research: group {group.id} is research")
    elif role != DEVELOPER:
        reasons.append(f"complexity: group {group.id} has complexity {group.complexity}")
    if role in session.disabled_roles:
        plan = next((t for t in workflow.transitions.values() if t.effect == "plan"), None)
        named = plan.fallback_agent if plan else None
        barred = {*session.disabled_roles, DEVELOPER} if group.security_sensitive else set(session.disabled_roles)
        reasons.append(f"fallback: {role} is disabled in this session")
        role = next((r for r in (named, TECH_LEAD) if r and r not in barred), MANAGER)
    return Start(group, role, tuple(reasons))


def why_nothing(board: Board) -> str | None:
    """The reason a `wait` may give, or None where waiting would be waiting for nobody."""
    if not (board.running or board.person_awaited):
        return None
    if board.running + board.held >= board.limit:
        return SLOTS_BUSY
    if board.pending:
        return DEPENDENCIES
    return PERSON_AWAITED if not board.running else "groups_running"


def stalled(board: Board) -> bool:
    """Whether the session would wait for nobody: nothing runs, no person and no session-level agent is awaited."""
    waits = board.running or board.held or board.person_awaited or board.manager_called or board.session_awaits
    return not waits


def phase(summary: dict[str, list[dict[str, Any]]]) -> str:
    """`complete` when every group is in a set that is fine, else `attention`; never by the absence of open ones."""
    rest = summary["pending"] or summary["in_progress"]
    return "attention" if rest else "complete"
