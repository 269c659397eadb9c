"""What the record has about one group beyond its row: the decisions that moved it, who came back to it, who took it."""

from __future__ import annotations

from orchestrator.app.engine import turns
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

_CAME_BACK = {"completed": "completed, and reopened", "deferred_external": "deferred, and taken up again"}


def decisions(reader: Reader, session: str, group: str, most: int) -> list[Row]:
    """The newest decisions that were about a group, started it or moved it, whichever group they name; newest first.

    Args:
        most: how many at most.
    """
    key = {"session": session, "group": group, "limit": most}
    moves = _changes(reader, session, group, most)
    own = [row["seq"] for row in queries.rows(reader, queries.LAST_DECISIONS, **key)]
    started = [row["turn"] for row in queries.rows(reader, queries.LAST_TURNS, **key)]
    found: list[Row] = []
    for seq in sorted({*own, *started, *(move["seq"] for move in moves)}, reverse=True):
        step = queries.rows(reader, queries.STEP_DECISIONS, session=session, seq=seq)
        found += reversed(_concerning(group, [turns.decision_shape(row) for row in step]))
    return found[:most]


def _concerning(group: str, step: list[Row]) -> list[Row]:
    """The decisions of a step that name the group or start it; else the first, with which all of the step came."""
    named = [each for each in step if group in (each["group_id"], *(spawn["group_id"] for spawn in each["spawns"]))]
    return named or step[:1]


def came_back(reader: Reader, session: str, group: str) -> str | None:
    """Who took a group up again that was finished, when and why; None where its last move is none of that kind."""
    last = next(iter(_changes(reader, session, group, 1)), None)
    if last is None or last["to_status"] != "in_progress" or last["from_status"] not in _CAME_BACK:
        return None
    reason = f": {last['reason']}" if last["reason"] else ""
    return f"It was {_CAME_BACK[last['from_status']]} by {last['changed_by']} at {last['changed_at']}{reason}."


def taken_as_it_is(reader: Reader, session: str, group: str) -> str:
    """That the project manager acknowledged a group whatever it lacks: in which report, and with which words."""
    found = queries.row(reader, queries.LAST_CONFIRMED, session=session, group=group)
    where = f", in {found['response_status']}, report {found['id']} ({found['reason']})," if found else ","
    return f"The project manager acknowledged it as it is{where} which stands for what is not met"


def _changes(reader: Reader, session: str, group: str, most: int) -> list[Row]:
    key = {"session": session, "entity": "group", "id": group, "limit": most}
    return queries.rows(reader, queries.LAST_CHANGES, **key)
