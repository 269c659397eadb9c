"""The shape of what `import peer` answers, and of what an import left with a group."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class ImportFinding(TypedDict):
    """What an import found out about a group; text, and no proof."""

    code: str
    text: str


class Found(ImportFinding):
    """A finding with the session and group that it is about."""

    session_id: str
    group_id: str | None


class ImportedSession(TypedDict):
    """One imported session; lists hold group ids."""

    id: str
    peer_id: str
    peer_status: str | None
    status: Literal["active", "ended"]
    groups: int
    grandfathered: list[str]
    in_progress: list[str]
    pending: list[str]
    blocked: list[str]
    criteria: int
    logs: int
    seq: int
    handoff: str | None


class LeftOut(TypedDict):
    """Rows that were not imported; null where they cannot be counted."""

    rows: int | None
    reason: str


class Account(TypedDict):
    """A table of the file and what became of its rows."""

    table: str
    rows: int | None
    imported: int
    left_out: int | None
    reasons: list[LeftOut]


Renamed = TypedDict("Renamed", {"session_id": str, "kind": Literal["session", "group"], "from": str, "to": str})
"""An id that could not stay as it was."""
