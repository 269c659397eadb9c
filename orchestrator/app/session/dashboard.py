"""The sessions of a database at a glance: state, progress, age, open questions, verdict. Nothing here writes.

Source: spec 60, section 3 (pages).
"""

from __future__ import annotations

from orchestrator.app.kernel import pagination, views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.session import board
from orchestrator.core.suggestions import again
from orchestrator.errors import UsageError
from orchestrator.store import page_reader, queries
from orchestrator.store.queries import Row

STATES = tuple(page_reader.SESSION_STATES)
LIMIT = 30
MOST_TITLE = 300
"""Characters of a goal that a list shows."""


def sessions(
    context: Context, *, state: str = STATES[0], text: str = "", page: int = 1, limit: int = LIMIT
) -> Answer:
    """One page of the sessions: those that wait for a person first, ended ones last, the newest first.

    Args:
        state: one of `STATES`.
        text: only sessions whose id or goal holds this, in whatever case.
        page: from 1; one past the end is the last one.
        limit: rows of a page, 1 or more.

    Returns:
        `sessions`: id, kind, `title` (the goal, or of a chat what was said first; cut), `state`, `awaited`, `groups`,
        `completed`, `blocked`, `questions`, `asked_at` (the oldest question), `created_at`, `changed_at`, `outcome`,
        `verdict`, `work` (groups that wait for an agent); `counts` by state; `total`, `page`, `pages`.

    Raises:
        UsageError: USAGE.
    """
    if state not in STATES:
        raise UsageError("USAGE", f"state must be one of {', '.join(STATES)}.", again(state=STATES[0]))
    pagination.check_limit(limit)
    row = context.connection.execute(page_reader.SESSIONS_COUNTED, {"text": text}).fetchone()
    counts = dict(zip(("all", "open", "waiting", "ended"), (int(number or 0) for number in row), strict=True))
    pages = max(-(-counts[state] // limit), 1)
    number = min(max(page, 1), pages)
    asked = {"text": text, "limit": limit, "offset": (number - 1) * limit}
    rows = queries.rows(context.reader, page_reader.sessions(state), **asked)
    return {"success": True, "sessions": [_session(row) for row in rows], "counts": counts, "total": counts[state],
            "page": number, "pages": pages}  # fmt: skip


def _session(row: Row) -> Answer:
    names = (
        "id", "kind", "status", "groups", "completed", "blocked", "questions", "asked_at", "created_at", "changed_at",
        "outcome", "verdict", "work",
    )  # fmt: skip
    return {
        **{name: row[name] for name in names}, "title": _cut(row["goal"] or row["first_words"] or ""),
        "state": board.state(row, asks=bool(row["questions"] or row["persons"]), works=bool(row["work"])),
        "awaited": views.awaited(row),
    }  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TITLE else f"{text[: MOST_TITLE - 1]}…"
