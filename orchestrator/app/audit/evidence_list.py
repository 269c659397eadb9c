"""The evidence of a session as a list, the newest first, and the content of one piece. Nothing here writes."""

from __future__ import annotations

from orchestrator.app.kernel import pagination
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import names
from orchestrator.errors import Refused
from orchestrator.store import page_reader, queries
from orchestrator.store.queries import Row


def evidence(context: Context, *, session_id: str, limit: int = 50, until: int | None = None) -> Answer:
    """What commands, gates, merges and runs left as evidence.

    Args:
        limit: rows of a page; those of one step stay together.
        until: only what was recorded before this step.

    Returns:
        `evidence`: id, seq, part, group_id, kind, subject, outcome, hash (SHA-256), size (bytes), `is_kept` (the
        database has its content; otherwise it lies in a file), at; `has_more`, `next_until`.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: USAGE.
    """
    context.require_session(session_id)

    def fetch(most: int) -> list[Row]:
        asked = {"session": session_id, "until": pagination.seq_or(until, queries.LAST_SEQ), "limit": most}
        return queries.rows(context.reader, page_reader.EVIDENCE, **asked)

    rows, has_more = pagination.page(fetch, limit, "seq")
    shown = [{**row, "is_kept": bool(row["is_kept"])} for row in rows]
    return {"success": True, "evidence": shown, "has_more": has_more, "next_until": rows[-1]["seq"] if rows else until}


def content(context: Context, *, session_id: str, seq: int, part: int = 1) -> str:
    """The content of a piece of evidence that the database keeps.

    Raises:
        Refused: UNKNOWN_SESSION; UNKNOWN_ID {kind}, there is none of this id here.
    """
    context.require_session(session_id)
    asked = {"session": session_id, "seq": pagination.seq_or(seq, 0), "part": pagination.seq_or(part, 0)}
    row = queries.row(context.reader, page_reader.EVIDENCE_CONTENT, **asked)
    if row is None or row["content"] is None:
        what = f"The database keeps no content of evidence {names.shown(f'{session_id}:E{seq}')}."
        raise Refused("UNKNOWN_ID", what, "Its page says where it lies", kind="evidence")
    return str(row["content"])
