"""The hand-off of a turn with its references filled in, and whether it is still what the decision's hash says."""

from __future__ import annotations

import hashlib
from typing import Any

from orchestrator.app import paging, reading, scope, turns
from orchestrator.app.context import Answer, Context
from orchestrator.core import handoff as handoffs
from orchestrator.core import strictjson
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.workflow.model import Workflow
from orchestrator.errors import Refused
from orchestrator.store import queries
from orchestrator.store.queries import Row

MERGING = ("merge", "merge_fail")
"""Effects that only an agent sent to merge may report."""

_REPORT_COLUMNS = ("seq", "id", "agent_id", "role", "response_status", "summary")


def handoff(context: Context, *, session_id: str, group_id: str | None = None, turn: int | None = None) -> Answer:
    """What the agent of a turn was given.

    Args:
        group_id: the group; where left out, what was handed to the project manager for the session as a whole.
        turn: the newest one where left out.

    Returns:
        `handoff`: the frozen document with goal, group, role text, context values, blockers, reports, allowed
        statuses and the command to report with; `hash`, and whether document and decision still agree with it
        (`verified`); `open`, whether the turn is still awaited; `markdown`.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP, UNKNOWN_ID (kind handoff).

    Source: seed 004, Proposed Solution 1 (include_context).
    """
    session = _session(context, session_id)
    group = reading.require_group(context, session_id, group_id) if group_id is not None else None
    frozen = _frozen(context, session_id, group_id, turn)
    document = strictjson.stored(frozen["document"])
    full = document | _filled(context, session, group, document)
    given = turns.spawn(context.reader, session_id, group_id, frozen["turn"])
    computed = hashlib.sha256(frozen["document"].encode()).hexdigest()
    return {
        "success": True,
        "handoff": full,
        "hash": frozen["hash"],
        "verified": computed == frozen["hash"] and given is not None and given[1]["handoff_hash"] == computed,
        "decision_id": given[0]["id"] if given else None,
        "model": given[1]["model"] if given else None,
        "open": (group or session)["turn"] == frozen["turn"],
        "markdown": handoffs.render(full),
    }


def _session(context: Context, session_id: str) -> Row:
    context.require_session(session_id)
    return reading.session_row(context.reader, session_id)


def _frozen(context: Context, session_id: str, group_id: str | None, turn: int | None) -> Row:
    key: dict[str, Any] = {"session": session_id, "group": group_id or ""}
    if turn is None:
        frozen = queries.row(context.reader, queries.LAST_HANDOFF, **key)
    else:
        frozen = queries.row(context.reader, queries.HANDOFF, **key, turn=paging.seq_or(turn, 0))
    if frozen is None:
        scope = f"group {group_id}" if group_id else f"session {session_id} as a whole"
        which = "no hand-off yet" if turn is None else f"no hand-off of turn {turn}"
        message = f"There is {which} for {scope}."
        raise Refused("UNKNOWN_ID", message, f"orchestrator status {session_id}", kind="handoff")
    return frozen


def _filled(context: Context, session: Row, group: Row | None, document: dict[str, Any]) -> Answer:
    """What the document's references stand for."""
    version = queries.row(context.reader, queries.VERSION, hash=document["workflow_version"])
    version_id = version["id"] if version else session["workflow_version_id"]
    workflow = context.version(version_id).workflow
    role, turn, group_id = document["role"], document["turn"], document["group_id"]
    filled: Answer = {
        "goal": session["goal"],
        "group": group,
        "criteria": scope.standing(context.reader, session["id"], turn),
        "context": [_item(context, session["id"], name, seq) for name, seq in document["context"]],
        "blockers": _blockers(context, session["id"], document["blockers"]),
        "reports": _reports(context, session["id"], document["reports"]),
        "statuses": _statuses(workflow, role, document["action"]),
        "role_text": _role_text(context, version_id, role),
        "report_command": handoffs.report_command(session["id"], group_id, role, turn),
    }
    if role == MANAGER:
        filled["groups"] = _groups(context, session["id"])
    return filled


def _item(context: Context, session_id: str, name: str, seq: int) -> Answer:
    report = queries.row(context.reader, queries.REPORT, session=session_id, seq=seq)
    value = strictjson.stored(report["details"]).get(name) if report else None
    return {"name": name, "producer": report["agent_id"] if report else None, "seq": seq, "value": value}


def _blockers(context: Context, session_id: str, ids: list[str]) -> list[Row]:
    found = (queries.row(context.reader, queries.BLOCKER, id=id_, session=session_id) for id_ in ids)
    return [blocker for blocker in found if blocker]


def _reports(context: Context, session_id: str, seqs: list[int]) -> list[Row]:
    found = (queries.row(context.reader, queries.REPORT, session=session_id, seq=seq) for seq in seqs)
    return [{name: report[name] for name in _REPORT_COLUMNS} for report in found if report]


def _statuses(workflow: Workflow, role: str, action: str) -> list[Answer]:
    """What the role may report in this turn, with its meaning."""
    own = [transition for transition in workflow.transitions.values() if transition.role == role]
    return [
        {"status": each.status, "description": each.description, "effect": each.effect}
        for each in own
        if action == "spawn_merge" or each.effect not in MERGING
    ]


def _role_text(context: Context, version_id: int, role: str) -> str:
    row = context.reader.one(queries.ROLE_TEXT, version=version_id, role=role)
    return str(row[0]).strip() if row else ""


def _groups(context: Context, session_id: str) -> list[Row]:
    rows = queries.rows(context.reader, queries.GROUPS, session=session_id, since=0, status=None, limit=-1)
    return [{name: row[name] for name in ("id", "name", "status", "awaited_role")} for row in rows]
