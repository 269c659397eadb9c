"""Success criteria as they are shown: in a list, and in the hand-off of a turn. Nothing here writes."""

from __future__ import annotations

from orchestrator.app.kernel import pagination
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import strict_json
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader


def criteria(
    context: Context, *, session_id: str, all: bool = False, limit: int = 50, since: int | None = None
) -> Answer:
    """The success criteria of a session in the order in which they were added.

    Args:
        all: with removed ones too.
        limit: how many at most; what one step added stays together.
        since: the step after which the page begins.

    Returns:
        `criteria`, `has_more`, `next_since`.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    context.require_session(session_id)

    def fetch(most: int) -> list[Row]:
        since_seq = pagination.seq_or(since, 0)
        return queries.rows(
            context.reader, queries.CRITERIA, session=session_id, since=since_seq, all=int(all), limit=most
        )

    return pagination.listed(
        "criteria", *pagination.page(fetch, limit, "created_seq"), "created_seq", since, shape=shape
    )


def criterion(context: Context, *, session_id: str, id: str) -> Row | None:
    """One criterion as `criteria` gives it, removed or not; None where there is none of this id."""
    row = queries.row(context.reader, queries.CRITERION, session=session_id, id=id)
    return shape(row) if row else None


def shape(row: Row) -> Row:
    """A criterion's row with its command, and the statuses at which that is due, as lists."""
    found = {**row, "command": strict_json.stored(row["command"]) if row["command"] else None}
    return {**found, "due_at": strict_json.stored(row["due_at"]) if row["due_at"] else []}


def standing(reader: Reader, session: str, turn: int) -> list[Row]:
    """The criteria that held when a turn was given out, as a hand-off shows them."""
    rows = queries.rows(reader, queries.CRITERIA, session=session, since=0, all=1, limit=-1)
    return [
        shape(row)
        for row in rows
        if row["created_seq"] <= turn and (row["removed_seq"] is None or row["removed_seq"] > turn)
    ]
