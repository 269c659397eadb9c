"""What happened in a client, whichever it is, and what it may be answered."""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

LIMIT = 9000
"""Characters of a reason or context; clients cut off what is longer."""
START, MESSAGE, WAIT, BUILD, HAND_BACK = "start", "message", "wait", "build", "hand back"
"""What a tool does that the rules know: start an agent, send it a message, wait for one or close it, edit a file, give
an agent's last message. Each adapter knows its client's names for them."""


class Event(NamedTuple):
    """One event.

    client: the id of the client's own session; owner: its process, as `runner.owners` names it.
    worker: the agent in which it happened; None in the main agent. tool: one of the kinds above, or empty.
    given: the tool's input, as the client names its parts; call_id: the tool call that it is about.
    started: the agent that the tool started, or that it is about. prompt: what the user, or an agent's caller, wrote.
    message: what an agent said last; trace: the file that its client writes of it. folder: where it worked.
    start: the step of the start that has given the agent its name.
    failed: agents that a tool's result says have failed or were stopped, each with the reason.
    until: when the commands that its report asks for must have ended, in seconds of the monotonic clock.
    asks: the names of a start's two parts, role and prompt, for what the main agent is told to do.
    is_sealed: what an agent is told cannot be read or replaced, so that its hand-off reaches it as a context.
    wakes: the client goes on by itself when an agent in the background has ended.
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
    start: int | None = None
    failed: tuple[tuple[str, str], ...] = ()
    until: float | None = None
    asks: tuple[str, str] = ("subagent_type", "prompt")
    is_sealed: bool = False
    wakes: bool = True


class Begin(NamedTuple):
    """An agent that may be started: its hand-off, the model of its turn, and the step of its start."""

    hand_off: str
    model: str
    start: int


class Reply(NamedTuple):
    """What an event is answered: at most one of a denial, a start, a reason to go on, and a context."""

    deny: str | None = None
    begin: Begin | None = None
    block: str | None = None
    context: str | None = None


NOTHING = Reply()


def bounded(text: str) -> str:
    """A text that no client cuts off."""
    return text if len(text) <= LIMIT else f"{text[: LIMIT - 20]}... (shortened)"


def answer(event: Event, reply: Reply, call: dict[str, Any] | None) -> dict[str, Any] | None:
    """What a client is told, in the form that all of them read; None where it is told nothing.

    Args:
        call: the tool's input in place of its own, where the reply is a start.
    """
    own: dict[str, Any] = {"hookEventName": event.name}
    if reply.deny is not None:
        own |= {"permissionDecision": "deny", "permissionDecisionReason": bounded(reply.deny)}
    elif call is not None:
        own |= {"permissionDecision": "allow", "updatedInput": call}
    elif reply.block is not None:
        return {"decision": "block", "reason": bounded(reply.block)}
    elif reply.context is not None:
        own["additionalContext"] = bounded(reply.context)
    else:
        return None
    return {"hookSpecificOutput": own}


def text(document: Any, name: str) -> str:
    """A text in an event's document; empty where there is none."""
    value = document.get(name)
    return value if isinstance(value, str) else ""


def part(document: Any, name: str) -> dict[str, Any]:
    """An object in an event's document; empty where there is none."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}
