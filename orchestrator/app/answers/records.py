"""The shapes of what `audit replay`, `audit export` and `audit import` answer."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from orchestrator.app.answers.shapes import Answer

Value = str | int | float | None


class Difference(TypedDict):
    """A row that was told otherwise than it is recorded, or is on one side only."""

    chain: str
    seq: int
    table: str
    key: list[Value]
    columns: list[str]
    recorded: list[Value] | None
    told: list[Value] | None
    why: str
    engine_changed: bool


class Replay(Answer):
    """`audit replay`."""

    session_id: str
    equal: bool
    told: int
    rules_version: int
    differences: list[Difference]
    count: int
    engine_changed: int
    head: str | None
    told_head: str | None


class SessionReplay(TypedDict):
    """The replay of one of several sessions."""

    session_id: str
    equal: bool
    told: int
    differences: list[Difference]
    count: int
    engine_changed: int
    head: str | None
    told_head: str | None


class Replays(Answer):
    """`audit replay --all`."""

    sessions: list[SessionReplay]
    equal: bool
    told: int
    rules_version: int
    count: int
    engine_changed: int


class AbsentFile(TypedDict):
    """A file of evidence that is in no export: the evidence that names it, its path, and why."""

    of: str
    path: str
    why: str


class Export(Answer):
    """`audit export --output FILE`; without a file the document itself is printed."""

    session_id: str
    format: Literal["jsonl", "csv"]
    output: str
    lines: int
    bytes: int
    head: str
    masked: int
    files: int
    absent: list[AbsentFile]


class Import(Answer):
    """`audit import`."""

    session_id: str
    events: int
    head: str
    files: int
    absent: list[AbsentFile]
