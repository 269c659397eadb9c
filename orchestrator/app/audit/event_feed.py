"""What happens, as it happens: events of all sessions behind a number."""

from __future__ import annotations

from orchestrator.app.kernel.context import Context
from orchestrator.core import masking
from orchestrator.hints import Any
from orchestrator.store import event_reader

PAGE = 200
"""Events that are read at once."""

Event = dict[str, Any]


def last(context: Context) -> int:
    """The number of the newest event; 0 where there is none."""
    return event_reader.last(context.connection)


def after(context: Context, number: int, *, session: str | None = None) -> tuple[list[Event], int]:
    """The next events behind a number, and the number to go on from.

    Args:
        session: only those of this session; the number goes on past all others.

    Each is as `event_reader.after` reads it, the states of runs in upper case as everywhere over HTTP.
    """
    found = event_reader.after(context.connection, number, PAGE)
    chosen = [event for event in found if session in (None, event["session_id"])]
    for change in (change for event in chosen for change in event["changes"] if change["entity"] == "run"):
        change |= {name: change[name] and change[name].upper() for name in ("from", "to")}
    shown = masking.mask_value(chosen)
    # A number that no event has reached is another database's.
    return shown, found[-1]["number"] if found else min(number, last(context))
