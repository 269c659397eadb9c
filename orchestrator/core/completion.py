"""Words for the completion path. What "complete" means stands in the database view alone."""

from __future__ import annotations

from typing import Any

PARTS = ("approved", "tested", "merged", "unblocked", "reviewed", "confirmed")
REQUIRED = "tech_lead APPROVED + MERGE_SUCCESS, or project_manager BAZINGA acknowledging the group"
_RESEARCH = ("approved", "unblocked", "confirmed")


def needed(kind: str) -> tuple[str, ...]:
    """The parts that a group of this kind needs."""
    return _RESEARCH if kind == "research" else PARTS


def parts(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Each needed part of a path as {part, met, reason, report_id}, from a row of the view."""
    if not row:
        return []
    session = row["session_id"]
    return [
        {
            "part": part,
            "met": bool(row[f"{part}_met"]),
            "reason": row[f"{part}_why"] or ("met" if row[f"{part}_met"] else "not met"),
            "report_id": f"{session}:R{row[f'{part}_seq']}" if row[f"{part}_seq"] else None,
        }
        for part in needed(row["kind"])
    ]
