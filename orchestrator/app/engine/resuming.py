"""Where a successor goes on: the newest point at which work stopped in the middle; how what was paused goes on.

Source: seed 003, Current Metadata Schema Analysis (resume point tracking)
"""

from __future__ import annotations

from typing import Any

from orchestrator.core.suggestions import suggest
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader


def newest(reader: Reader, session: str, group: str | None) -> dict[str, Any] | None:
    """The resume point of a group (None: of the session), of the newest partial report; None where there is none."""
    row = queries.row(reader, queries.RESUME_POINT, session=session, group=group)
    return shape(row) if row else None


def of_step(reader: Reader, session: str, seq: int) -> dict[str, Any] | None:
    """The resume point that one report gave."""
    row = queries.row(reader, queries.RESUME_POINT_OF, session=session, seq=seq)
    return shape(row) if row else None


def shape(row: Row) -> dict[str, Any]:
    """A resume point as it is answered; `phase` is the one to begin with, counted from 1."""
    done = row["phases_completed"]
    names = ("stage", "phases_completed", "phases_total", "handoff_path")
    return {"seq": row["seq"], **{name: row[name] for name in names}, "phase": None if done is None else done + 1}


def command(session: str) -> str:
    """The call by which a paused session goes on."""
    return suggest("session resume", id=session, by="project_manager", reason="TEXT")
