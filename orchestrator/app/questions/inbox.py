"""What waits for a person: every open question, what each answer would do, and the command that gives it.

Source: seed 003, Recommendations 2 (the reason is shown, and how to go on)
"""

from __future__ import annotations

from orchestrator.app.kernel import pagination
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import names, questions, strict_json
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

MOST_ERRORS = 10
"""So many errors of a report are told."""
MOST_SAID = 500
"""So many characters of what an error says, or of how far the work came."""
_OF_REPORT = ("id", "agent_id", "role", "response_status", "summary", "reported_at")

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
        `questions`, each with `answers` (the decisions, what each will do, and the exact command) and `report` (as
        `report` gives it); `has_more`, `next_since`.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_ID {kind}.
    """
    if session_id is not None:
        context.require_session(session_id)
    after = queries.row(context.reader, queries.QUESTION, id=since) if since else None
    if since and after is None:
        raise Refused("UNKNOWN_ID", f"There is no question {names.shown(since)}.", suggest("inbox"), kind="question")
    key = {"session": session_id, "at": after["asked_at"] if after else None, "id": since}

    def fetch(most: int) -> list[Row]:
        return queries.rows(context.reader, queries.INBOX, **key, limit=most)

    def entry(row: Row) -> Answer:
        found = {name: row[name] for name in COLUMNS}
        return {**found, "answers": answers(context.reader, row), "report": report(context, row)}

    return pagination.listed("questions", *pagination.page(fetch, limit, "id"), "id", since, shape=entry)


def report(context: Context, row: Row) -> Answer | None:
    """The report whose step asked a question, so that nobody decides without what happened; None where none did.

    Args:
        row: the question's `session_id` and `opened_seq`.

    Returns:
        The report's columns, and of its metadata `errors` ({type, message}) and `progress` (null where it says none).
    """
    found = queries.row(context.reader, queries.REPORT, session=row["session_id"], seq=row["opened_seq"])
    if found is None:
        return None
    stored = strict_json.stored(found["metadata"]) if found["metadata"] else {}
    return {
        **{name: found[name] for name in _OF_REPORT},
        "errors": [_error(each) for each in (stored.get("errors") or [])[:MOST_ERRORS]],
        "progress": _progress(stored.get("partial_progress")),
    }


def _error(each: Row) -> Answer:
    return {"type": each["type"], "message": _cut(each.get("message")) or ""}


def _progress(found: Row | None) -> Answer | None:
    """How far the work came, where the report says any of it."""
    if not found:
        return None
    told = {name: _cut(found.get(name)) for name in ("stage", "details")}
    told |= {name: found.get(name) for name in ("phases_completed", "phases_total")}
    return told if any(value is not None for value in told.values()) else None


def _cut(text: str | None) -> str | None:
    said = (text or "").strip()
    return (said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}...") or None


def answers(reader: Reader, row: Row) -> list[dict[str, Any]]:
    """The decisions that a question may be answered by: what each will do, and its command."""
    stored = strict_json.stored(row["decision"]) if row["decision"] else {}
    role, action = (stored.get("target") or (None, "wait"))[:2]
    reporter = (stored.get("reporter") or {}).get("role")
    group = row["group_id"] if row["task_id"] is None else None
    effects = questions.effects(
        row["kind"], row["text"], row["task_id"], (role, action), reporter, group=group,
        begun=bool((stored.get("report") or {}).get("begins")),
        deferrable=group is not None and any(each.external for each in reader.blockers(row["session_id"], group)),
    )
    return [
        {"decision": decision, "effect": effect, "command": questions.command(row["id"], decision, row["kind"])}
        for decision, effect in effects.items()
    ]
