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
    line="List the questions that wait for a person.",
    example="orchestrator inbox --json",
    use_case="questions.inbox:inbox",
    answer="people.Inbox",
):
    """List open questions, oldest first, with what each answer does and the command to give it."""

    session_id: str | None = OF_SESSION
    limit: int = LIMIT
    since: str | None = option("Only what comes after this question.", default=None, metavar="ID")
