"""The shapes of tasks and of blockers."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.parts import Blocker
from orchestrator.app.answers.shapes import Answer, Page, Past, Written

Status = Literal["backlog", "todo", "in_progress", "blocked", "done", "cancelled"]


class Task(TypedDict):
    """A task's row."""

    session_id: str
    id: str
    group_id: str | None
    parent_id: str | None
    title: str
    description: str
    type: str
    priority: Literal["urgent", "high", "medium", "low"]
    assignee: str | None
    auto_unblock: bool
    created_by: str | None
    created_at: str
    created_seq: int
    status: Status
    status_changed_by_agent_id: str | None
    status_changed_at: str
    status_seq: int
    former_status: str | None
    blocked_reason: str | None
    version: int
    claim_holder: str | None
    claim_until: str | None
    claim_beat_at: str | None


class Edge(TypedDict):
    """A task that another one depends on."""

    id: str
    title: str
    status: Status
    satisfied: bool


class Part(TypedDict):
    """A subtask."""

    id: str
    title: str
    status: Status


class ListedTask(Task):
    """A task's row; overdue if another agent may take it over."""

    overdue: bool


class TaskWithAll(ListedTask):
    """A task's row, with what `task show` adds."""

    depends_on: list[Edge]
    waits_for_groups: list[str]
    dependents: list[str]
    subtasks: list[Part]
    blockers: list[Blocker]
    questions: list[dict[str, Any]]


class OneTask(Written):
    """A task that was created or changed."""

    task: Task


class TaskShow(Past):
    """`task show`."""

    task: TaskWithAll


class Claim(TypedDict):
    """Who has claimed a task, and until when; overdue if another agent may take it over."""

    holder: str
    until: str
    overdue: bool


class TaskBlocker(Blocker):
    """An open blocker of a task, with who may lift it."""

    may_lift: list[str]


class Change(TypedDict):
    """A change of a task's status."""

    seq: int
    from_status: Status | None
    to_status: Status
    changed_by: str
    changed_at: str
    reason: str
    cause: str


class WaitedGroup(TypedDict):
    """A group that the task's group waits for."""

    id: str
    status: str


class Next(TypedDict):
    """What who has the task does next."""

    agent_id: str
    action: str
    state: str
    instruction: str


class WhyTask(Past):
    """`why TASK`."""

    about: Literal["task"]
    session_id: str
    task_id: str
    group_id: str | None
    title: str
    status: Status
    assignee: str | None
    claim: Claim | None
    blockers: list[TaskBlocker]
    questions: list[dict[str, Any]]
    depends_on: list[Edge]
    waits_for_groups: list[WaitedGroup]
    open_subtasks: list[Part]
    changes: list[Change]
    next: Next | None
    sentences: list[str]


class Tasks(Page):
    """`task list`."""

    tasks: list[ListedTask]


class OneBlocker(Answer):
    """`blocker show`."""

    blocker: Blocker


class Resolved(Written):
    """`blocker resolve`; the task where the blocker was one's."""

    blocker: Blocker
    task: NotRequired[Task]


class Blockers(Page):
    """`blocker list`."""

    blockers: list[Blocker]
