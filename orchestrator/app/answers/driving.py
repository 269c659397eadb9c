"""The shapes of what `drive` tells and answers."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.shapes import Answer
from orchestrator.app.answers.verdicts import CheckLine


class Event(Answer):
    """One line of `drive --json`: what happened, on which turn of whom; further keys belong to the event."""

    event: Literal[
        "session", "started", "reported", "sent_back", "failed", "lost", "recovered", "freed", "limited", "verdict",
        "waiting", "warning",
    ]
    session_id: str
    group_id: NotRequired[str | None]
    turn: NotRequired[int]
    role: NotRequired[str]
    run: NotRequired[str | None]
    reason: NotRequired[str]
    due_at: NotRequired[str]
    decision: NotRequired[dict[str, Any]]
    verdict: NotRequired[str]
    checks: NotRequired[list[CheckLine]]


class Driven(Answer):
    """The last line of `drive`: how it ended. `next` are commands that go on from here."""

    event: Literal["ended"]
    session_id: str
    outcome: Literal["accepted", "ended", "person", "budget", "work_remains", "stopped", "stalled", "limited"]
    reason: str
    steps: int
    questions: list[str]
    next: list[str]
    exit_code: NotRequired[int]
    landed: NotRequired[bool]


class Check(TypedDict):
    """One thing that must hold before a turn is started."""

    name: str
    ok: bool
    message: str
    suggestion: str


class Preflight(Answer):
    """`drive --check`."""

    checks: list[Check]
    exit_code: NotRequired[int]


class Cleaned(Answer):
    """`drive --clean`: branches that were removed with their worktrees. `kept` are not merged into the branch that is
    checked out; `in_use` are those of a session on which a driver, an agent or another `--clean` is at work.
    """

    session_id: str
    removed: list[str]
    kept: list[str]
    in_use: list[str]
