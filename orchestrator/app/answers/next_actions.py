"""The shapes of what is to be done next, and of claims."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.parts import Started, Stuck, ValidatorAwaited
from orchestrator.app.answers.shapes import Answer
from orchestrator.app.answers.verdicts import LastVerdict


class Progress(TypedDict):
    """How many subtasks there are, and how many of each kind."""

    total: int
    done: int
    cancelled: int
    in_progress: int
    pending: int
    blocked: int


class Notice(TypedDict):
    """A blocker of a task below a manager that the manager has not seen."""

    blocker_id: str
    task_id: str
    title: str
    type: str
    blocker_class: Literal["soft", "hard"]
    reason: str
    opened_by: str | None
    opened_at: str


class Named(TypedDict):
    """A task with its title."""

    id: str
    title: str
    blocked_reason: NotRequired[str]
    blocked_by: NotRequired[str]


class Item(TypedDict):
    """A task as it is offered."""

    id: str
    title: str
    type: str
    status: str
    priority: str
    group_id: str | None
    parent_id: str | None
    assignee: str | None
    version: NotRequired[int]


class Working(TypedDict):
    """Who works at a subtask."""

    agent_id: str
    id: str
    title: str
    last_seen: str | None
    claim_until: str | None
    overdue: bool


class WorkerOf(TypedDict):
    """An agent that has room for a task."""

    id: str
    role: str


class Root(TypedDict):
    """What other work waits for."""

    kind: Literal["task", "group", "blocker"]
    id: str
    title: str
    status: str
    assignee: str | None
    group_id: str | None
    parent_id: str | None


class Limited(TypedDict):
    """A usage limit that a turn waits for: until when, what was said of it, and who reached it."""

    due_at: str
    reason: str | None
    worker: str | None


class OpenTurn(TypedDict):
    """An open turn: whom it was given to, and the commands to read its hand-off and to report on it."""

    group_id: str | None
    agent: str
    agent_id: str | None
    model: str | None
    action: str | None
    turn: int
    handoff: str
    report_command: str
    start: NotRequired[Started]
    limited: NotRequired[Limited]


class NextAction(Answer):
    """What an agent does next; which other keys there are depends on the action."""

    action: Literal[
        "wait_for_review", "get_task", "no_work", "work", "execute_subtask", "start_subtask", "unblock_and_continue",
        "wait_for_unblock", "wait_for_dependencies", "needs_decision", "dependency_deadlock", "report_completion",
        "wait", "dispatch", "completion_check", "take_turn",
    ]  # fmt: skip
    state: str
    instruction: str
    turns: list[OpenTurn]
    progress: Progress
    notices: list[Notice]
    question_id: NotRequired[str | None]
    reason: NotRequired[str]
    task: NotRequired[Item | str]
    dependency: NotRequired[str]
    why: NotRequired[str]
    current_subtask: NotRequired[Item]
    next_subtask: NotRequired[Item]
    subtask: NotRequired[Item]
    available_workers: NotRequired[list[WorkerOf]]
    who_works: NotRequired[list[Working]]
    blocked_task: NotRequired[Named]
    blocked_subtask: NotRequired[Named]
    blocked_subtasks: NotRequired[list[Named]]
    root_causes: NotRequired[list[Root]]
    ring: NotRequired[list[str]]


class Waiting(TypedDict):
    """A question that only a person may answer, and how work goes on after it."""

    id: str
    group_id: str | None
    task_id: str | None
    kind: str
    text: str
    asked_by: str
    asked_at: str
    answers: list[dict[str, Any]]
    report: dict[str, Any] | None
    reason: str
    command: str


class Resumed(TypedDict):
    """An open spawn, the command that resumes it, and the phase it begins with; no command for what is under way."""

    group_id: str | None
    agent: str | None
    agent_id: str | None
    model: str | None
    action: str | None
    turn: int | None
    command: str | None
    report_command: str | None
    start: NotRequired[Started]
    limited: NotRequired[Limited]
    stage: str | None
    from_phase: int | None
    phases_completed: int | None
    phases_total: int | None
    handoff_path: str | None


class Postflight(Answer):
    """With which commands a session goes on, or which questions it waits for."""

    session_id: str
    group_id: str | None
    state: Literal[
        "awaiting_person", "resumable", "paused", "nothing_to_resume", "validate", "stuck", "ended",
    ]  # fmt: skip
    questions: list[Waiting]
    resume: list[Resumed]
    turns: list[dict[str, Any]]
    validate: ValidatorAwaited | None
    stuck: list[Stuck]
    outcome: str | None
    verdict: LastVerdict | None


class Held(TypedDict):
    """A claim; `lease` in seconds."""

    token: str
    holder: str
    until: str
    lease: int


class Claimed(Answer):
    """A task and its claim; both null where there was nothing to claim."""

    task: Item | None
    claim: Held | None
    seq: NotRequired[int]
    why: NotRequired[str]
    repeated: NotRequired[bool]
    taken_over_from: NotRequired[str]
