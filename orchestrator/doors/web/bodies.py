"""What programs send and get: the JSON of the interface for runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.app.running.run_list_views import FIRST_PROMPT

Status = Literal[
    "QUEUED", "RUNNING", "AWAITING_RESPONSE", "COMPLETE", "INCOMPLETE", "ERROR", "CANCELLED"
]
MAX_TEXT = 65_536
"""Characters of a text that is sent at most. A form takes up to 12 bytes for one, so that none of them is too large."""
_LIMIT = f"At most {MAX_TEXT} characters."


class Body(BaseModel):
    """Something sent: what is not known is refused, and nothing is made of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewProject(Body):
    """A folder that is set up for runs."""

    project_path: Annotated[str, Field(min_length=1, max_length=4096, description="Its absolute path.")]
    alias: Annotated[str | None, Field(max_length=128, description="An alias, in the form of an id.")] = None


class Chat(Body):
    """Something that is to be done."""

    content: Annotated[str, Field(max_length=MAX_TEXT, description=f"Text, not blank. {_LIMIT}")]
    session_id: Annotated[
        str | None, Field(max_length=128, description="The chat; started if no chat has this id.")
    ] = None


class Reply(Body):
    """The answer to what a task asks: words, or a choice."""

    reply: Annotated[str | None, Field(max_length=MAX_TEXT, description=f"Text. {_LIMIT}")] = None
    choice: Annotated[Literal["yes", "no"] | None, Field(description="Instead of text, never together with it.")] = None
    question_id: Annotated[str | None, Field(max_length=300, description="The question being answered.")] = None


class Failure(BaseModel):
    """Why something was not done."""

    error: str
    message: str


class Health(BaseModel):
    """The store can be written."""

    status: Literal["ok"]


class Project(BaseModel):
    """A registered project."""

    id: str
    alias: str | None
    path: str
    created_by: str
    created_at: str


class ProjectAnswer(BaseModel):
    """A project, and whether it is new."""

    project_id: str
    project: Project
    created: bool


class Projects(BaseModel):
    """All projects."""

    projects: list[Project]


class Queued(BaseModel):
    """A task that was taken."""

    task_id: str
    task_group_id: str
    session_id: str
    status: Status


class Moved(BaseModel):
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


class Group(BaseModel):
    """A chat with what became of its tasks."""

    task_group_id: str
    task_count: int
    status_counts: dict[Status, int]
    latest_status: Status
    first_prompt: Annotated[
        str, Field(max_length=FIRST_PROMPT, description="The first message; a long one ends in an ellipsis.")
    ]
    created_at: str
    latest_updated_at: str


class Groups(BaseModel):
    """A page of chats."""

    task_groups: list[Group]
    total_count: int
    has_more: bool


class Question(BaseModel):
    """What a task asks."""

    id: str
    kind: str
    text: str


class File(BaseModel):
    """A file that a task changed or claims to have changed, and whether it was found."""

    path: str
    change: str | None
    exists: bool


class Task(BaseModel):
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


class Tasks(BaseModel):
    """The tasks of a chat."""

    task_group_id: str
    tasks: list[Task]


class TaskDetail(Task):
    """A task with its output and log."""

    output: str | None
    why: str
    events: list[dict[str, Any]]
