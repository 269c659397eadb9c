"""How versions of the workflow read, and what two of them differ in."""

from __future__ import annotations

import json

from orchestrator.doors.cli import shapes
from orchestrator.doors.cli.text import layout
from orchestrator.hints import Any


def versions(answer: dict[str, Any]) -> list[str]:
    """The loaded versions, one in a line."""
    return [shapes.listing(answer, "versions", ("id", "active", "name", "hash", "loaded_at"))]


def version(answer: dict[str, Any]) -> list[str]:
    """A version: what it is, and its whole text."""
    head = {"version": answer["version"], "agent_files": answer["agent_files"]}
    return [shapes.everything(head), json.dumps(answer["workflow"], indent=2)]


def differences(answer: dict[str, Any]) -> list[str]:
    """What two versions differ in, and whether a person is needed to go from one to the other."""
    rules = answer["rules"]
    person = f"{layout.counted(len(rules), 'change')} of rules; needs a person while sessions are open."
    free = "No rules differ." if answer["changes"] else ""
    return [line for line in (str(answer["text"]).rstrip(), person if rules else free) if line]


def graph(answer: dict[str, Any]) -> list[str]:
    """The drawing itself."""
    return [str(answer["graph"])]


def what_if(answer: dict[str, Any]) -> list[str]:
    """What recorded sessions would have decided under a file: the differences side by side, session by session."""
    workflow, rows = answer["workflow"], answer["sessions"]
    if not rows:
        return ["No sessions to replay."]
    named = f"{workflow['name']} ({workflow['source']}, {workflow['hash'][:12]})"
    differing = [row["session_id"] for row in rows if not row["equal"]]
    where = f"{len(differing)} of {layout.counted(len(rows), 'session')}"
    summary = "no difference" if answer["equal"] else f"{layout.counted(answer['count'], 'difference')} in {where}"
    told = [line for row in rows if len(rows) == 1 or not row["equal"] or row["warnings"] for line in _told_under(row)]
    return [shapes.visible(f"Under {named}: {summary}."), *told]


def _told_under(row: dict[str, Any]) -> list[str]:
    title = f"Session {row['session_id']}: {layout.counted(row['count'], 'difference')}"
    return layout.section(title, [
        _compared(row),
        *map(shapes.visible, row["warnings"]),
        *_side_by_side(row),
        *_groups_under(row["groups"]),
        *_session_under(row),
    ])  # fmt: skip


def _session_under(row: dict[str, Any]) -> list[str]:
    ended = row["ended"]
    own = [shapes.visible(f"Comparison of the session's own reports ended: {_end(ended)}")] if ended else []
    return [*own, *_after_an_end(row), *_status_under(row["status"])]


def _after_an_end(row: dict[str, Any]) -> list[str]:
    """What is to be known of differences behind the end of another group."""
    ends = {each["group_id"]: each["ended"]["seq"] for each in row["groups"] if each["ended"]}
    others = [each["seq"] for each in row["differences"] if each["group_id"] not in ends]
    if not ends or max(others, default=0) < min(ends.values()):
        return []
    return ["A group whose comparison ended keeps its slot; later decisions may differ for that reason."]


def _compared(row: dict[str, Any]) -> str:
    if not row["decisions"]:
        return "No decisions on record, so there is nothing to compare."
    texts = row["handoffs_changed"]
    more = f"; {layout.counted(texts, 'hand-off')} with another text" if texts else ""
    return f"{row['compared']} of {layout.counted(row['decisions'], 'decision')} compared{more}."


def _side_by_side(row: dict[str, Any]) -> list[str]:
    cells = [
        (each["seq"], each["group_id"], _reported(each), _side(each["recorded"]), _side(each["told"]))
        for each in row["differences"]
    ]
    if not cells:
        return []
    table = layout.table(("STEP", "GROUP", "AFTER", "ON RECORD", "UNDER THE FILE"), cells)
    left = row["count"] - len(cells)
    return ["", *table, *([f"and {layout.counted(left, 'more difference')}"] if left else []), ""]


def _reported(each: dict[str, Any]) -> str:
    said = f"{each['current_agent']} {each['response_status']}" if each["current_agent"] else ""
    return said or str(each["call"])


def _side(side: dict[str, Any] | None) -> str | None:
    if side is None:
        return None
    rules = ", ".join(side["rules"])
    return f"{side['text']} by {rules}" if rules else str(side["text"])


def _groups_under(groups: list[dict[str, Any]]) -> list[str]:
    rows = [
        (each["group_id"], each["recorded"], each["told"], _end(each["ended"]) if each["ended"] else None)
        for each in groups
    ]
    return layout.table(("GROUP", "ON RECORD", "UNDER THE FILE", "COMPARISON ENDED"), rows) if rows else []


def _end(ended: dict[str, Any]) -> str:
    why = f"{ended['code']}: {ended['message']}" if ended["code"] else ended["message"]
    return f"step {ended['seq']}, {_reported(ended)}: {why}"


def _status_under(status: dict[str, Any]) -> list[str]:
    before, after = (_state(status[name]) for name in ("recorded", "told"))
    return [] if before == after else [shapes.visible(f"Session: {before} on record, {after} under the file")]


def _state(status: dict[str, Any] | None) -> str:
    if status is None:
        return "not created"
    return f"{status['status']} ({status['outcome']})" if status["outcome"] else str(status["status"])
