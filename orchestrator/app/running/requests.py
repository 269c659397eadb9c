"""What only a server has for runs: chats, their tasks, and what is said to these. A run is called a task here, and its
chat a task group.

Source: seed 000, INV-3 to INV-6.
"""

from __future__ import annotations

from orchestrator.app.kernel.requests import REQUEST, Request, argument, option
from orchestrator.core.running import states
from orchestrator.errors import UsageError

MAX_TEXT = 65_536
"""Characters of a text that is sent at most. A form takes up to 12 bytes for one, so that none of them is too large."""
MOST = 200
"""Groups on one page at most."""
STATUSES = tuple(state.upper() for state in states.STATES)
_TEXT = (0, MAX_TEXT)
_LIMIT = f"At most {MAX_TEXT} characters."


class ListChats(Request, use_case="running.run_list_views:groups", answer="chats.Groups"):
    """Chats that hold tasks, the one that changed last first; those in a status by their newest task."""

    limit: int = option("Maximum number of rows.", default=50, span=(1, MOST))
    offset: int = option("How many are left out before.", default=0, span=(0, 2**31))
    status: str | None = option("Only those whose newest task is in it.", default=None, choices=STATUSES)


class ListTasksOfChat(Request, use_case="running.run_list_views:tasks", answer="chats.Tasks"):
    """The tasks of a chat."""

    group: str = argument("The chat.")


class ShowTaskOfChat(Request, use_case="running.run_list_views:task", answer="chats.TaskDetail"):
    """A task with what it asks."""

    id: str = argument("The task.")


class Chat(Request, answer="chats.Queued"):
    """Queue a task in a project."""

    project: str = argument("The project, by its id or alias.")
    content: str = option(f"Text, not blank. {_LIMIT}", span=_TEXT)
    session_id: str | None = option("The chat; started if no chat has this id.", default=None, span=(0, 128))
    request_id: str | None = REQUEST


class Reply(Request, answer="chats.Replied", checked_by="running.requests:checked_reply"):
    """Answer what a task asks, as a person: by words, or by a choice."""

    id: str = argument("The task.")
    reply: str | None = option(f"In words. {_LIMIT}", default=None, span=_TEXT)
    choice: str | None = option(
        "Instead of text, never together with it.", default=None, choices=("yes", "no")
    )
    question_id: str | None = option("The question being answered.", default=None, span=(0, 300))
    request_id: str | None = REQUEST


def checked_reply(request: Reply) -> Reply:
    """The reply, which has words or a choice.

    Raises:
        UsageError: USAGE.
    """
    if request.reply is not None and request.choice is not None:
        raise UsageError("USAGE", "A reply has words or a choice, not both; nothing changed.", "Send one of them")
    return request


class Retry(Request, answer="chats.Retried"):
    """Try again what ended without being complete, as INCOMPLETE or ERROR. With the server's token that is done as far
    as the program may lift what blocks the task; what only a person may lift (403) is tried again from a page, or with
    a person's token. What is CANCELLED is not tried again (409): say it anew."""

    id: str = argument("The task.")
    request_id: str | None = REQUEST


class Cancel(Request, answer="chats.Moved"):
    """Cancel a task that has not ended. One that runs is stopped; where that takes longer than a few seconds it is
    answered as RUNNING, and is CANCELLED later."""

    id: str = argument("The task.")
    request_id: str | None = REQUEST
