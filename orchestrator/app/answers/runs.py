"""The shapes of what `run` and `repl` answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.shapes import Answer

State = Literal["queued", "running", "awaiting_response", "complete", "incomplete", "error", "cancelled"]


class VerifiedFile(TypedDict):
    """A file that a run changed or claims to have changed, as the runner found it."""

    path: str
    exists: bool
    detected_at: str
    detection_method: Literal["diff", "executor_claim"]


class Question(TypedDict):
    """The one question of a run, while it is open."""

    id: str
    kind: str
    text: str


class Run(TypedDict):
    """A run, without what its executor said."""

    id: str
    log_id: str
    session_id: str
    group_id: str
    task_id: str
    prompt: str
    task_type: str
    state: State
    status: str
    executor_status: str | None
    executor: str
    provider: str
    model: str | None
    retry_of: str | None
    queued_at: str
    started_at: str | None
    ended_at: str | None
    error_code: str | None
    error_reason: str | None
    why: str | None
    executor_blocked: bool
    blocked_reason: str | None
    timeout_ms: int | None
    limit: str | None
    files_modified_count: int
    question: Question | None
    verification_root: str
    verified_files: list[VerifiedFile]
    artifacts: list[str]


class OneRun(Answer):
    """`run`: the run as it ended, the block of seven lines, and where it was done."""

    run: Run
    summary: str | None
    project: str
    notices: list[str]
    report: dict[str, Any] | None
    report_path: str | None


class Line(Answer):
    """One answer of `repl --json`: to a command or task by its name in `op`, further keys belonging to that; `summary`
    or `question` when a run has ended or asks; `begin` at first; `end` with the exit code at last."""

    op: str
    run: NotRequired[Run]
    summary: NotRequired[str | None]
    exit_code: NotRequired[int]
    proof: NotRequired[Literal["weak", "possession", "strong"]]


class Listening(Answer):
    """`serve`, once it listens: where, the link by which a person comes in once, and the token that was made for
    scripts; again, without the token, with the next link when one was used."""

    url: str
    link: str | None
    token: str | None
