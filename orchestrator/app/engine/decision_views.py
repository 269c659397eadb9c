"""Decisions as they are shown, and whom each started under which turn."""

from __future__ import annotations

from orchestrator.app.engine import decision_answers
from orchestrator.app.kernel.context import Answer
from orchestrator.core import handoff, strict_json
from orchestrator.core.suggestions import recorded
from orchestrator.core.workflow.model import Workflow
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

MERGING = ("merge", "merge_fail")
"""Effects that only whoever merges may report."""


def decision_shape(row: Row) -> Row:
    """A decision's row with its rules parsed; in place of the whole answer whom it started, and what it left open.

    `awaiting_manager` are the groups that were left to the project manager, and `path` the parts of one that was
    merged and is not completed.
    """
    answer = decision_answers.whole(row)
    shown = {name: value for name, value in row.items() if name != "answer"}
    lists = {name: recorded(answer.get(name, [])) for name in ("spawns", "awaiting_manager", "path")}
    return {**shown, "rules": strict_json.stored(row["rules"]), "reason": answer.get("reason"), **lists}


def spawn(reader: Reader, session: str, group: str | None, turn: int) -> tuple[Row, Answer] | None:
    """The decision that gave out a turn for a group (None: for the session), and its entry for it."""
    found = spawned(reader, session, group, turn)
    return None if found is None else (decision_shape(found[0]), recorded(found[1]))


def spawned(reader: Reader, session: str, group: str | None, turn: int) -> tuple[Row, Answer] | None:
    """The same as it is recorded: the row of the decision, and the entry.

    The hand-off command tells entries apart: a spawn for the whole session may stand in a group's decision.
    """
    command = handoff.command(session, group, turn)
    for row in queries.rows(reader, queries.STEP_DECISIONS, session=session, seq=turn):
        for entry in decision_answers.spawns(row):
            if entry["handoff"] == command:
                return row, entry
    return None


def statuses(workflow: Workflow, role: str, action: str) -> list[Answer]:
    """What the role may report in this turn, with its meaning."""
    own = [transition for transition in workflow.transitions.values() if transition.role == role]
    return [
        {"status": each.status, "description": each.description, "effect": each.effect}
        for each in own
        if action == "spawn_merge" or each.effect not in MERGING
    ]
