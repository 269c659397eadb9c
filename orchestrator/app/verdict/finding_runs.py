"""The runs and turns that a verdict's findings are about; recorded findings tell of them in words alone."""

from __future__ import annotations

import json

from orchestrator.app.kernel.context import Context
from orchestrator.core.validation import checks
from orchestrator.store import page_reader, queries, snapshot


def runs(context: Context, *, session_id: str, names: list[str]) -> dict[str, str]:
    """The newest run of each name that has one: a task, or what a run left, which is a blocker or evidence."""
    asked = {"session": session_id, "names": json.dumps(names)}
    return {row["name"]: row["run"] for row in queries.rows(context.reader, page_reader.RUNS_NAMED, **asked)}


def turns(context: Context, *, session_id: str) -> dict[tuple[str, str], int]:
    """The turns of agents whose claims differ from what was seen, by subject and words of the finding."""
    measured, gates = snapshot.measured(context.connection, session_id)
    claims = [(subject, text, each.turn) for each in measured for _, subject, text, _ in checks.claims(each)]
    return {(subject, text): turn for subject, text, turn in (*claims, *gates) if turn is not None}
