"""The answer of a decision: its row keeps what its other columns do not say, and the rest is put together when asked.

Rows that were decided under older rules keep their whole answer, so that their digests hold.

Source: spec 50 section 5 (decisions store ids and hashes, not copies)
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.app.kernel.context import Answer
from orchestrator.core import canonical_json, handoff, strict_json
from orchestrator.core.routing.facts import LEAN_SINCE
from orchestrator.hints import Any
from orchestrator.store import queries
from orchestrator.store.reader import Reader

_SAID = frozenset(
    ("success", "current_agent", "response_status", "next_agent", "action", "group_id", "session_id", "decision_id",
     "report_id", "seq", "rules", "workflow_version", "repeated", "dry_run")
)  # fmt: skip
"""What every answer says and other columns hold."""
_STARTED = frozenset((*_SAID, "handoff_hash", "turn"))
"""What else they hold of a decision that started one agent."""
_STARTED_THERE = frozenset((*_STARTED, "handoff", "spawns"))
"""And where it started it on the decision's own group."""
_WORKFLOW = "SELECT hash FROM workflow_versions WHERE id = :id"


def kept(answer: Answer, rules_version: int) -> str:
    """What a decision's row keeps of its answer, as JSON.

    Args:
        answer: the whole answer of a decision that is carried out.
        rules_version: what the decision is marked with.
    """
    if rules_version < LEAN_SINCE:
        return canonical_json.exact(answer)
    said = _SAID
    if "handoff_hash" in answer:
        said = _STARTED_THERE if answer["spawns"][0]["group_id"] == answer["group_id"] else _STARTED
    return canonical_json.exact({name: value for name, value in answer.items() if name not in said})


def whole(row: Mapping[str, Any], workflow: str | None = None) -> Answer:
    """The whole answer of a decision, its members in the order of their names.

    Args:
        row: all columns of the decision.
        workflow: the hash of the workflow version by which it was made, where that matters.
    """
    rest: Answer = strict_json.stored(row["answer"])
    if row["rules_version"] < LEAN_SINCE:
        return rest
    columns = ("current_agent", "response_status", "next_agent", "action", "group_id", "session_id", "report_id", "seq")
    found: Answer = {name: row[name] for name in columns}
    found |= {
        "success": True,
        "decision_id": row["id"],
        "rules": strict_json.stored(row["rules"]),
        "workflow_version": workflow,
        "repeated": False,
        "dry_run": False,
    }
    if row["handoff_hash"] is not None:
        found |= _started(row, found | rest)
    return dict(sorted((found | rest).items()))


def spawns(row: Mapping[str, Any]) -> list[Answer]:
    """The agents that a decision started, one entry each, as its whole answer has them."""
    rest: Answer = strict_json.stored(row["answer"])
    if row["rules_version"] < LEAN_SINCE or row["handoff_hash"] is None or "spawns" in rest:
        found: list[Answer] = rest.get("spawns", [])
        return found
    started: list[Answer] = _started(row, {**row, **rest})["spawns"]
    return started


def _started(row: Mapping[str, Any], said: Answer) -> Answer:
    """What is left out of the answer of a decision that started one agent on its own group."""
    command = str(handoff.command(row["session_id"], row["group_id"], row["seq"]))
    given: Answer = {"handoff": command, "handoff_hash": row["handoff_hash"], "turn": row["seq"]}
    entry = {**given, "agent": said["next_agent"], "group_id": said["group_id"]}
    entry |= {name: said[name] for name in ("agent_id", "model")}
    return {**given, "spawns": [dict(sorted(entry.items()))]}


def of_step(reader: Reader, session: str, seq: object) -> list[Answer]:
    """The whole answers of the decisions of a step, in their order."""
    found = queries.rows(reader, queries.STEP_DECISIONS, session=session, seq=seq)
    return [whole(row, _hash(reader, row["workflow_version_id"])) for row in found]


def _hash(reader: Reader, version: int) -> str | None:
    row = reader.one(_WORKFLOW, id=version)
    return str(row[0]) if row else None
