"""`audit ...`: what happened, who decided it, and what was turned down."""

from __future__ import annotations

from typing import Any

from orchestrator.doors.cli import shapes
from orchestrator.doors.cli.options import GROUP, INTEGER, PAGE, SESSION, Command, option

FILTERS = (
    SESSION._replace(help=f"{SESSION.help} @store is what belongs to none."),
    GROUP,
    option("agent", "Only what this role or agent did or was sent to do."),
    option("status", "Only what has this status."),
    *PAGE,
    option("until", "Only what comes up to this step.", kind=INTEGER, metavar="SEQ"),
    option("order", "By step.", choices=("asc", "desc")),
)


def _decisions(answer: dict[str, Any]) -> str:
    rows = [
        {**row, "rules": [rule["name"] for rule in row.get("rules") or ()], "status": row.get("response_status")}
        for row in answer["decisions"]
    ]
    columns = ("id", "group_id", "current_agent", "status", "action", "next_agent", "rules", "timestamp")
    return shapes.listing({**answer, "decisions": rows}, "decisions", columns)


def _timeline(answer: dict[str, Any]) -> str:
    return shapes.listing(answer, "events", ("seq", "at", "kind", "actor", "text"))


def _refusals(answer: dict[str, Any]) -> str:
    columns = ("seq", "refused_at", "actor", "group_id", "status", "code", "detail")
    return shapes.listing(answer, "refusals", columns)


COMMANDS = {
    each.words: each
    for each in (
        Command(
            "audit decisions",
            "List decisions: who was sent where, by which rule.",
            "orchestrator audit decisions -s S1 -g A --limit 20",
            FILTERS,
            _decisions,
        ),
        Command(
            "audit timeline",
            "List all that happened, in the order of the record.",
            "orchestrator audit timeline -s S1 --since 40",
            FILTERS,
            _timeline,
        ),
        Command(
            "audit refusals",
            "List what was refused: who tried what, and why not.",
            "orchestrator audit refusals -s S1 --agent orchestrator",
            FILTERS,
            _refusals,
        ),
    )
}
