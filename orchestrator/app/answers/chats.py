"""The shapes of what a server answers about projects, and about runs as tasks of chats."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from orchestrator.store.run_board import FIRST_PROMPT

Status = Literal["QUEUED", "RUNNING", "AWAITING_RESPONSE", "COMPLETE", "INCOMPLETE", "ERROR", "CANCELLED"]


class Project(TypedDict):
    """A registered project."""

    id: str
    alias: str | None
    path: str
    created_by: str
    created_at: str


class ProjectAnswer(TypedDict):
    """A project, and whether it is new."""

    project_id: str
    project: Project
    created: bool


class Projects(TypedDict):
    """All projects."""

    projects: list[Project]


class Queued(TypedDict):
    """A task that was taken."""

    task_id: str
    task_group_id: str
    session_id: str
    status: Status


class Moved(TypedDict):
    """A task whose status was changed."""

    task_id: str
    old_status: Status
    new_status: Status


class Replied(Moved):
    """A task that was answered; how much the channel proves by which the answer came."""

    proof: Literal["weak", "possession", "strong"]


class Retried(Moved):
    """A new task in place of one that ended; its statuses are that one's before, and its own now."""

    task_group_id: str
    session_id: str
    retry_of: str


class Group(TypedDict):
    """A chat, with how many of its tasks are in each status."""

    task_group_id: str
    task_count: int
    status_counts: dict[Status, int]
    latest_status: Status
    first_prompt: Annotated[
        str, Field(max_length=FIRST_PROMPT, description="The first message; a long one ends in an ellipsis.")
    ]
    created_at: str
    latest_updated_at: str


class Groups(TypedDict):
    """A page of chats."""

    task_groups: list[Group]
    total_count: int
    has_more: bool


class Question(TypedDict):
    """What a task asks."""

    id: str
    kind: str
    text: str


class File(TypedDict):
    """A file that a task changed or claims to have changed, and whether it was found."""

    path: str
    change: str | None
    exists: bool


class Task(TypedDict):
    """A task."""

    task_id: str
    task_group_id: str
    session_id: str
    status: Status
    prompt: str
    task_type: str
    executor: str
    provider: str
    model: str | None
    retry_of: str | None
    error_code: str | None
    error_reason: str | None
    blocked_reason: str | None
    files_modified_count: int
    created_at: str
    updated_at: str
    started_at: str | None
    ended_at: str | None
    show_reply_ui: bool
    question: Question | None
    files: list[File]


class Tasks(TypedDict):
    """The tasks of a chat."""

    task_group_id: str
    tasks: list[Task]


class TaskDetail(Task):
    """A task with its output and log."""

    output: str | None
    why: str
    events: list[dict[str, Any]]
