"""Pages of a list: they follow the record's order, and none splits a step."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.app.kernel.context import Answer
from orchestrator.core.suggestions import again
from orchestrator.errors import UsageError
from orchestrator.store import queries
from orchestrator.store.queries import Row


def page(fetch: Callable[[int], list[Row]], limit: int, key: str) -> tuple[list[Row], bool]:
    """A page of rows that never splits a step, and whether more follow.

    Args:
        fetch: gives the first so many rows, in order.
        limit: rows on a page; only a single step with more of them makes it longer.
        key: the column that pages go by.

    Raises:
        UsageError: USAGE, the limit is no positive number.
    """
    check_limit(limit)
    found = fetch(min(limit, queries.LAST_SEQ) + 1)
    if len(found) <= limit:
        return found, False
    kept = [row for row in found if row[key] != found[-1][key]]
    if kept:
        return kept, True
    more, unread = page(fetch, limit * 2, key)
    step = [row for row in more if row[key] == more[0][key]]
    return step, unread or len(step) < len(more)


def check_limit(limit: int) -> None:
    """Refuse a limit that would never show a row.

    Raises:
        UsageError: USAGE, the limit is no positive number.
    """
    if limit < 1:
        raise UsageError("USAGE", "The limit must be 1 or more.", again(limit="50"))


def listed(
    name: str,
    rows: list[Row],
    has_more: bool,
    key: str,
    since: object = None,
    *,
    shape: Callable[[Row], Row] | None = None,
) -> Answer:
    """The answer of a list; where it is empty the next page begins where this one did."""
    shown = [shape(row) for row in rows] if shape else rows
    return {"success": True, name: shown, "has_more": has_more, "next_since": rows[-1][key] if rows else since}


def seq_or(value: int | None, default: int) -> int:
    """A step's number as it can be compared in the database; any number may be asked for."""
    return default if value is None else max(0, min(value, queries.LAST_SEQ))
