"""Decisions as they are shown, and whom each started under which turn."""

from __future__ import annotations

from orchestrator.app.context import Answer
from orchestrator.core import handoff, strictjson
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader


def decision_shape(row: Row) -> Row:
    """A decision's row with its rules parsed, and whom it started in place of the whole answer."""
    answer = strictjson.stored(row["answer"])
    shown = {name: value for name, value in row.items() if name != "answer"}
    rules = strictjson.stored(row["rules"])
    return {**shown, "rules": rules, "reason": answer.get("reason"), "spawns": answer.get("spawns", [])}


def spawn(reader: Reader, session: str, group: str | None, turn: int) -> tuple[Row, Answer] | None:
    """The decision that gave out a turn for a group (None: for the session), and its entry for it.

    The hand-off command tells entries apart: a spawn for the whole session may stand in a group's decision.
    """
    command = handoff.command(session, group, turn)
    for row in queries.rows(reader, queries.STEP_DECISIONS, session=session, seq=turn):
        decision = decision_shape(row)
        for entry in decision["spawns"]:
            if entry["handoff"] == command:
                return decision, entry
    return None
