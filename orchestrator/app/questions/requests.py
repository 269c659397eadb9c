"""The operations on questions."""

from __future__ import annotations

from orchestrator.app.kernel.requests import (
    LIMIT,
    OF_SESSION,
    Request,
    option,
)


class ListInbox(
    Request,
    words="inbox",
    line="List what waits for a person.",
    example="orchestrator inbox --json",
    use_case="questions.inbox:inbox",
    answer="people.Inbox",
):
    """List what waits for a person, the oldest first: what each answer would do, and the command that gives it."""

    session_id: str | None = OF_SESSION
    limit: int = LIMIT
    since: str | None = option("Only what comes after this question.", default=None, metavar="ID")
