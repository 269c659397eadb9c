"""The parts of answers that speak of success criteria and verdicts."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class Criterion(TypedDict):
    """A success criterion's row; numbers are decimal texts."""

    session_id: str
    id: str
    text: str
    metric: str | None
    operator: str | None
    target: str | None
    command: list[str] | None
    created_by: str
    created_at: str
    created_seq: int
    status: str
    actual: str | None
    reason: str | None
    evidence: str | None
    set_by: str | None
    set_at: str | None
    set_seq: int | None
    removed_seq: int | None
    removed_by: str | None
    removed_reason: str | None
    group_id: str | None
    due_at: list[str]
    approval: Literal["pending", "approved"] | None
    approved_by: str | None
    approved_seq: int | None


class CheckLine(TypedDict):
    """One line of a verdict."""

    id: str
    level: Literal["error", "warning", "info"]
    subject: str
    message: str
    hint: str


class LastVerdict(TypedDict):
    """The newest verdict of a session; fresh while nothing was recorded since that changes it."""

    id: str
    verdict: Literal["ACCEPT", "REJECT"]
    reason: str
    seq: int
    at: str
    fresh: bool
