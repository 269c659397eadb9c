"""Completed groups that a chain of reports does not prove, and why they count as completed all the same. Read-only."""

from __future__ import annotations

from orchestrator.core import completion_wording
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.store import queries
from orchestrator.store.reader import Reader


class Doubt(NamedTuple):
    """Why a completed group is not proven.

    kind: one of `completion.DOUBTS`.
    missing: the first part that is not met, where no path is valid.
    """

    kind: str
    missing: str | None


def in_session(reader: Reader, session: str) -> dict[str, Doubt]:
    """The completed groups of a session that have no chain; only what is not plainly proven is judged one by one."""
    asked = [group for (group,) in reader.connection.execute(queries.NOT_PLAIN, {"session": session})]
    found = {group: of(reader, session, group) for group in asked}
    return {group: doubt for group, doubt in found.items() if doubt is not None}


def of(reader: Reader, session: str, group: str) -> Doubt | None:
    """The doubt about one group, if there is any."""
    facts = reader.connection.execute(queries.UNPROVEN, {"session": session, "group": group}).fetchone()
    return None if facts is None else _doubt(*facts)


def _doubt(imported: int, manager: int, missing: str | None) -> Doubt:
    if imported:
        return Doubt(completion_wording.GRANDFATHERED, None)
    return Doubt(completion_wording.PM_PATH, None) if manager else Doubt(completion_wording.PATH_MISSING, missing)
