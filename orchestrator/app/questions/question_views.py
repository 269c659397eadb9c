"""One question as a person reads it before they answer: open or closed, with what led to it.

Source: seed 003, Recommendations 2 (the reason is shown, and how to go on)
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.questions import inbox
from orchestrator.core import names
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.store import queries, run_reader
from orchestrator.store.queries import Row

_COLUMNS = (*inbox.COLUMNS, "closed_at", "closed_by", "answer", "note", "channel")


def question(context: Context, *, id: str) -> Answer:
    """One question with its answers while it is open, the report that asked it, and the run that it concerns.

    Returns:
        `question` with `answers` (as `inbox` gives them, none where it is closed), `report` and `run`, either null.

    Raises:
        Refused: UNKNOWN_ID {kind}.
    """
    row = queries.row(context.reader, queries.QUESTION, id=id)
    if row is None:
        what = f"There is no question {names.shown(id)}."
        raise Refused("UNKNOWN_ID", what, suggest("inbox"), kind="question")
    found = {
        **{name: row[name] for name in _COLUMNS},
        "answers": inbox.answers(context.reader, row) if row["closed_seq"] is None else [],
        "report": inbox.report(context, row),
        "run": run_of(context, row),
    }
    return {"success": True, "question": found}


def run_of(context: Context, row: Row) -> str | None:
    """The run that asked a question, else the newest of the task that it is about, by its id outside."""
    if row["task_id"] is None:
        return None
    runs = run_reader.of_task(context.connection, row["session_id"], row["task_id"])
    return next((run.id for run in reversed(runs) if run.question_id == row["id"]), runs[-1].id if runs else None)
