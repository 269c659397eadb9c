"""Agents, as text."""

from __future__ import annotations

from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]


def agent(answer: Answer) -> list[str]:
    """The answer of `agent show`."""
    row = answer["agent"]
    pairs = (
        ("Role", row["role"]),
        ("Kind", row["kind"]),
        ("Active", row["active"]),
        ("Reports to", " > ".join(row["ancestors"]) or None),
        ("Session", row["session_id"]),
        ("Group", row["group_id"]),
        ("Tasks at once", row["max_parallel_tasks"]),
        ("Created", screen.when(row["created_at"])),
        ("Below it", ", ".join(row["children"]) or None),
        ("Token in force", next(map(_token, row.get("enrolments", ())), None)),
    )
    return [f"Agent {visible(row['id'])}", *layout.fields(pairs)]


def _token(enrolment: Answer) -> str:
    return f"{enrolment['id']}, {screen.when(enrolment['enrolled_at'])}"


def tree(answer: Answer) -> list[str]:
    """The answer of `agent tree`: each agent below the one that it reports to."""
    lines: list[str] = []
    waiting = [(0, node) for node in reversed(answer["agents"])]
    while waiting:
        depth, node = waiting.pop()
        lines.append(f"{layout.INDENT * depth}{visible(node['id'])}{_note(node)}")
        waiting += [(depth + 1, child) for child in reversed(node["children"])]
    return lines


def _note(node: Answer) -> str:
    notes = [] if node["kind"] == "ai" else [node["kind"]]
    notes += [] if node["role"] == node["id"].partition("@")[0] else [node["role"]]
    notes += [] if node["active"] else ["deactivated"]
    return f" ({visible(', '.join(notes))})" if notes else ""
