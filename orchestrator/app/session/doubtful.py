"""Completed groups that a chain of reports does not prove, and why they count as completed all the same. Read-only."""

from __future__ import annotations

from orchestrator.core import completion
from orchestrator.core.tuples import NamedTuple
from orchestrator.hints import Any
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
    """Every completed group of a session that has no chain, in one statement."""
    return _found(reader, queries.UNPROVEN, session=session)


def of(reader: Reader, session: str, group: str) -> Doubt | None:
    """The doubt about one group, if there is any."""
    return _found(reader, queries.UNPROVEN_GROUP, session=session, group=group).get(group)


def _found(reader: Reader, sql: str, **key: Any) -> dict[str, Doubt]:
    return {id_: _doubt(*facts) for id_, *facts in reader.connection.execute(sql, key)}


def _doubt(imported: int, manager: int, missing: str | None) -> Doubt:
    if imported:
        return Doubt(completion.GRANDFATHERED, None)
    return Doubt(completion.PM_PATH, None) if manager else Doubt(completion.PATH_MISSING, missing)
