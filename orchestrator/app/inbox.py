"""What waits for a person: every open question, what each answer would do, and the command that gives it.

Source: seed 003, Recommendations 2 (the reason is shown, and how to go on)
"""

from __future__ import annotations

from typing import Any

from orchestrator.app import paging
from orchestrator.app.context import Answer, Context
from orchestrator.core import questions, strictjson
from orchestrator.store import queries
from orchestrator.store.queries import Row

COLUMNS = ("id", "session_id", "group_id", "task_id", "kind", "text", "asked_by", "asked_at")


def inbox(
    context: Context, *, session_id: str | None = None, limit: int = 50, since: str | None = None
) -> Answer:
    """The open questions of all sessions, or of one, the oldest first.

    Args:
        session_id: only those of this session.
        limit: how many at most.
        since: the id of the question after which the page begins.

    Returns:
        `questions`, each with `answers`: the decisions, what each will do, and the exact command; `has_more`,
        `next_since`.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    if session_id is not None:
        context.require_session(session_id)
    after = queries.row(context.reader, queries.QUESTION, id=since) if since else None
    key = {"session": session_id, "at": after["asked_at"] if after else None, "id": since}

    def fetch(most: int) -> list[Row]:
        return queries.rows(context.reader, queries.INBOX, **key, limit=most)

    return paging.listed("questions", *paging.page(fetch, limit, "id"), "id", since, shape=entry)


def entry(row: Row) -> Answer:
    """An open question as a person sees it."""
    return {**{name: row[name] for name in COLUMNS}, "answers": answers(row)}


def answers(row: Row) -> list[dict[str, Any]]:
    """The decisions that a question may be answered by: what each will do, and its command."""
    stored = strictjson.stored(row["decision"]) if row["decision"] else {}
    role, action = (stored.get("target") or (None, "wait"))[:2]
    reporter = (stored.get("reporter") or {}).get("role")
    effects = questions.effects(row["kind"], row["text"], row["task_id"], (role, action), reporter)
    return [
        {"decision": decision, "effect": effect, "command": questions.command(row["id"], decision, row["kind"])}
        for decision, effect in effects.items()
    ]
