"""Who is at work in a session, what that has cost, and what was seen of that which was reported: for pages and tables.

Source: spec 80, section 5 (measured instead of claimed).
"""

from __future__ import annotations

from orchestrator.app.engine import measured as measuring
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import strict_json
from orchestrator.hints import Any
from orchestrator.store import queries, turn_reader

MOST = 12
"""How many of the newest comparisons are told."""
_ONCE_DRIVEN = "SELECT 1 FROM starts WHERE session_id = :session AND via = 'drive' LIMIT 1"
_MERGED, _NOTHING = "merged", "nothing_to_merge"
_IN_WORDS = ("merge", "changed", "commit", measuring.GATES)


def turns(context: Context, session_id: str, spawns: list[Answer]) -> list[Answer]:
    """The open turns that somebody is at work on, or that wait for a usage limit.

    Args:
        spawns: as `status` gives them.

    Returns:
        `group_id`, `role`, `turn`, `action`, `state` (reserved, running, lost, limited), `via`, `since`, `last_sign`
        (None while it waits), `due_at`, `executor`, `model` and `cost_usd` (of its group so far; None where no run
        says any).
    """
    costs = {row[0]: row[1] for row in context.connection.execute(turn_reader.COSTS, {"session": session_id})}
    found = []
    for each in spawns:
        start, limited = each.get("start"), each.get("limited")
        if start is None and limited is None:
            continue
        runs = turn_reader.of_turn(context.connection, session_id, each["group_id"], each["turn"])
        newest = runs[-1] if runs else None
        found.append({
            "group_id": each["group_id"], "role": each["agent"], "turn": each["turn"], "action": each["action"],
            "state": start["state"] if start else "limited", "via": start["via"] if start else None,
            "since": start["started_at"] if start else each["since"],
            "last_sign": start["last_sign"] if start else None, "due_at": limited["due_at"] if limited else None,
            "executor": newest.executor.partition(":")[0] if newest else None,
            "model": newest.model if newest else each["model"], "cost_usd": dollars(costs.get(each["group_id"])),
        })  # fmt: skip
    return found


def cost(context: Context, session_id: str) -> str | None:
    """What the turns of a session have cost so far, in dollars; None where no run says any."""
    return dollars(turn_reader.cost(context.connection, session_id))


def dollars(microusd: float | None) -> str | None:
    """An amount in dollars with two places; None where it is not known, or nothing."""
    return None if not microusd else f"{microusd / 1_000_000:.2f}"


def seen(context: Context, session_id: str) -> list[Answer]:
    """What drivers saw of the newest reports, the newest first.

    Returns:
        `report_id`, `group_id`, `role`, `status`, `seen` (in words) and `agrees`.
    """
    if context.reader.one(_ONCE_DRIVEN, session=session_id) is None:
        return []
    rows = queries.rows(context.reader, queries.SEEN_REPORTS, session=session_id, limit=MOST)
    return [
        {
            "report_id": row["id"], "group_id": row["group_id"], "role": row["role"], "status": row["response_status"],
            **_compared(strict_json.stored(row["measured"])),
        }
        for row in rows
    ]


def _compared(measured: dict[str, Any]) -> Answer:
    """What was measured in words, and whether it agrees with what was reported."""
    commit = f" (commit {str(measured['commit'])[:10]})" if measured.get("commit") else ""
    words, agrees = [], True
    if measured.get("merge") == _MERGED:
        words.append(f"the merge was seen in the integration branch{commit}")
    elif measured.get("merge") == _NOTHING:
        words.append("nothing to merge: the group has no commit of its own")
        agrees = False
    if measured.get("changed") is True:
        words.append(f"the tree has changed{commit}")
    elif measured.get("changed") is False:
        words.append("nothing in the tree has changed")
        agrees = False
    more = [f"{name.replace('_', ' ')}: {_said(value)}" for name, value in measured.items() if name not in _IN_WORDS]
    failed = [each for each in measured.get(measuring.GATES, ()) if each["ran"]]
    said = "; ".join([*words, *measuring.gates_in_words(measured), *more])
    return {"seen": said, "agrees": agrees and not failed and "differences" not in measured}


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
