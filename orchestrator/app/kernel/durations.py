"""Times of the record: how long something took."""

from __future__ import annotations

from datetime import datetime, timedelta

_SECOND = timedelta(seconds=1)


def seconds(since: str | None, until: str | None) -> int | None:
    """The whole seconds from one time to another, both ISO 8601; None where one of them is no time.

    A clock that went backwards makes it 0: nothing was open for less than no time.
    """
    if since is None or until is None:
        return None
    try:
        return max(0, (datetime.fromisoformat(until) - datetime.fromisoformat(since)) // _SECOND)
    except (TypeError, ValueError):
        return None


def later(at: str, seconds: int) -> str:
    """The time so many seconds after a time of the record, in the same form; before it where they are negative."""
    return (datetime.fromisoformat(at) + seconds * _SECOND).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
