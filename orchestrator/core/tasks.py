"""Tasks as rules see them: the facts, their statuses, and the order in which they are taken up."""

from __future__ import annotations

import re

from orchestrator.core import clock_jumps
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

BACKLOG, TODO, IN_PROGRESS, BLOCKED, DONE, CANCELLED = "backlog", "todo", "in_progress", "blocked", "done", "cancelled"
STATUSES = (BACKLOG, TODO, IN_PROGRESS, BLOCKED, DONE, CANCELLED)
PENDING = (BACKLOG, TODO)
CLOSED = (DONE, CANCELLED)


class Task(NamedTuple):
    """A task, in the order of the columns read. `claim_until` and the other times are UTC, ISO 8601."""

    id: str
    group_id: str | None
    parent_id: str | None
    title: str
    type: str
    priority: int
    assignee: str | None
    auto_unblock: int
    status: str
    status_changed_by_agent_id: str | None
    former_status: str | None
    blocked_reason: str | None
    version: int
    created_seq: int
    created_at: str
    claim_holder: str | None
    claim_token: str | None
    claim_until: str | None
    claim_beat_at: str | None

    @property
    def pending(self) -> bool:
        """Whether it was not begun yet."""
        return self.status in PENDING

    @property
    def closed(self) -> bool:
        """Whether nothing more is to be done about it."""
        return self.status in CLOSED

    @property
    def holder(self) -> str | None:
        """Who has it: by a claim, else as its assignee."""
        return self.claim_holder or self.assignee


def overdue(task: Task, now: str, *, gone: bool) -> bool:
    """Whether another agent may take over a task in progress: its lease has ended, or its holder is out of service.

    A blocked task keeps its claim, which nobody can take over before it is unblocked.

    Args:
        now: UTC, ISO 8601.
        gone: whether its holder is out of service.

    Source: spec 30, section 4 (`task claim`).
    """
    has_ended = clock_jumps.has_ended(task.claim_until, task.claim_beat_at, now)
    return task.status == IN_PROGRESS and (gone or has_ended)


def order(task: Task) -> tuple[int, str, tuple[Any, ...], str]:
    """The order in which tasks are taken up: priority, creation, id with numbers as numbers."""
    return task.priority, task.created_at, natural(task.id), task.id


def natural(text: str) -> tuple[Any, ...]:
    """A sort key under which `T9` comes before `T10`: what stands between numbers, and numbers, in turn."""
    parts: list[Any] = re.split(r"([0-9]+)", text)
    parts[1::2] = map(int, parts[1::2])
    return tuple(parts)
