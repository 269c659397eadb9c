"""What happened in a client, whichever it is, and what it may be answered."""

from __future__ import annotations

from orchestrator.core.tuples import NamedTuple
from orchestrator.hints import Any

LIMIT = 9000
"""Characters of a reason or context; clients cut off what is longer."""


class Event(NamedTuple):
    """One event.

    client: the id of the client's own session; owner: its process, as `runner.owners` names it.
    worker: the agent in which it happened; None in the main agent. call_id: the tool call that it is about.
    message: what an agent said last; trace: the file that its client writes of it. folder: where it worked.
    until: when the commands that its report asks for must have ended, in seconds of the monotonic clock.
    """

    name: str
    client: str
    owner: str | None = None
    worker: str | None = None
    role: str = ""
    tool: str = ""
    given: dict[str, Any] | None = None
    call_id: str | None = None
    started: str | None = None
    message: str = ""
    trace: str | None = None
    prompt: str = ""
    reason: str = ""
    source: str = ""
    background: bool = False
    folder: str | None = None
    until: float | None = None


class Reply(NamedTuple):
    """What an event is answered: at most one of a denial, a changed call, a reason to go on, and a context."""

    deny: str | None = None
    call: dict[str, Any] | None = None
    block: str | None = None
    context: str | None = None


NOTHING = Reply()


def bounded(text: str) -> str:
    """A text that no client cuts off."""
    return text if len(text) <= LIMIT else f"{text[: LIMIT - 20]}... (shortened)"
