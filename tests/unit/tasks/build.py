"""Facts about tasks, in few words."""

from __future__ import annotations

from typing import Any

from orchestrator.core.next_facts import Barrier, Facts, Item, Question
from orchestrator.core.tasks import Task
from orchestrator.core.wait_graph import Waits

NOW = "2026-01-01T12:00:00.000000Z"
ME, BOSS = "dev-1", "tech_lead"


def task(id: str = "T", status: str = "in_progress", **more: Any) -> Task:
    """A task of one's own."""
    values: dict[str, Any] = {
        "id": id, "group_id": None, "parent_id": None if id == "T" else "T", "title": f"title of {id}",
        "type": "IMPLEMENTATION", "priority": 2, "assignee": ME, "auto_unblock": 0, "status": status,
        "status_changed_by_agent_id": ME, "former_status": None, "blocked_reason": None, "version": 1,
        "created_seq": 1, "created_at": NOW, "claim_holder": None, "claim_token": None, "claim_until": None,
        "claim_beat_at": None,
    }  # fmt: skip
    return Task(**{**values, **more})


def blocked(id: str = "T.1", *barriers: Barrier, waits: bool = False, **more: Any) -> Item:
    """A blocked task; by oneself, where nothing else is said."""
    item = task(id, "blocked", **{"blocked_reason": "no file", **more})
    return Item(item, barriers or (soft(),), waits=waits)


def soft(opened_by: str | None = ME, *, liftable: bool = True) -> Barrier:
    """A soft blocker."""
    return Barrier("S1:B4", False, "no file", opened_by, liftable)


def hard() -> Barrier:
    """A hard blocker, which no agent may lift."""
    return Barrier("S1:B5", True, "the theorem is false", ME, False)


def asked(id: str = "S1:Q6") -> Question:
    """An open question."""
    return Question(id, "which colour?")


def facts(main: Item | Task | None = None, *, subtasks: dict[str, int] | None = None, **more: Any) -> Facts:
    """What a worker's next action depends on: a task in progress, where nothing else is said."""
    item = Item(main) if isinstance(main, Task) else main
    return Facts("S1", ME, NOW, main=item, counts=subtasks or {}, **more)


def managed(main: Item | Task | None = None, **more: Any) -> Facts:
    """The same for a manager."""
    return facts(main, **more)._replace(agent_id=BOSS, manager=True)


def walked(*roots: str, dead_end: tuple[str, str] | None = None, ring: tuple[str, ...] = ()) -> Any:
    """What a walk has found."""
    return lambda: Waits(roots, dead_end, ring)
