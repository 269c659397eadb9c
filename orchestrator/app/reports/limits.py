"""Usage limits: when an executor that has reached one may be called again."""

from __future__ import annotations

import datetime
import re
import zoneinfo

from orchestrator.app.kernel.context import Context
from orchestrator.store import queries
from orchestrator.store.queries import Row

MARGIN_S = 60.0
"""Seconds that are waited beyond a reset."""
STEPS_S = (60.0, 300.0, 900.0, 1800.0)
"""Seconds that are waited where no time is named: after the first time, the second, and so on."""
LONGEST_S = 24 * 3600.0

_RESET = re.compile(r"\bresets?(?: at)? (\d{1,2})(?::(\d\d))? ?([ap]m)?\b(?: \(([A-Za-z_+\-/0-9]+)\))?", re.IGNORECASE)


def due(
    context: Context, start: Row, said: str, *, resets_at: int | None = None, before: int | None = None
) -> tuple[float, str]:
    """How long to wait after a start that has reached a limit, in seconds, and until when, as `due_at` keeps it.

    Args:
        start: as `starts.reserve` answered it.
        said, resets_at: as `wait_s` takes them.
        before: likewise (default: how many starts of the same turn had reached one).
    """
    now = datetime.datetime.fromisoformat(context.clock())
    if before is None:
        given = {"session": start["session_id"], "group": start["group_id"] or "", "turn": start["turn"]}
        (count,) = context.reader.one(queries.LIMITED_STARTS, **given) or (0,)
        before = int(str(count))
    wait = wait_s(said, resets_at, now.timestamp(), before)
    until = now + datetime.timedelta(seconds=wait)
    return wait, until.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def left_s(context: Context, due_at: str) -> float:
    """Seconds until a time that `due` has given."""
    return (datetime.datetime.fromisoformat(due_at) - datetime.datetime.fromisoformat(context.clock())).total_seconds()


def wait_s(said: str, resets_at: int | None, now: float, before: int) -> float:
    """How long to wait, in seconds.

    Args:
        said: what the executor says, such as `You've hit your session limit · resets 3pm (Europe/Warsaw)`.
        resets_at: the time of the reset where an event names it, in seconds since 1970.
        now: the time, likewise.
        before: how often that executor had reached a limit already, without an answer since.
    """
    at = float(resets_at) if resets_at is not None else _said(said, now)
    if at is None:
        return STEPS_S[min(before, len(STEPS_S) - 1)]
    return min(max(at - now, 0.0) + MARGIN_S, LONGEST_S)


def _said(text: str, now: float) -> float | None:
    """The next time of day that a sentence names as that of the reset; in the zone it names, else the local one."""
    found = _RESET.search(text)
    if found is None:
        return None
    hour, minute, half = int(found[1]), int(found[2] or 0), (found[3] or "").lower()
    if (half and not 1 <= hour <= 12) or hour > 23 or minute > 59:
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    here = datetime.datetime.fromtimestamp(now, _zone(found[4]))
    there = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if there < here:
        there += datetime.timedelta(days=1)
    return there.timestamp()


def _zone(name: str | None) -> datetime.tzinfo | None:
    if name is None:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return datetime.UTC if name.upper() == "UTC" else None
