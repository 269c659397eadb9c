"""What the lists of the record have in their rows."""

from __future__ import annotations

from typing_extensions import TypedDict

from orchestrator.app.answers.parts import Part, Rule, Spawn


class DecisionRow(TypedDict):
    """A recorded decision."""

    session_id: str
    seq: int
    part: int
    id: str
    group_id: str | None
    current_agent: str
    response_status: str
    next_agent: str | None
    action: str
    timestamp: str
    report_id: str | None
    cause: str
    rules: list[Rule]
    workflow_version_id: int
    rules_version: int
    handoff_hash: str | None
    reason: str | None
    spawns: list[Spawn]
    awaiting_manager: list[str]
    path: list[Part]


class Told(TypedDict):
    """One thing that a step wrote."""

    what: str
    id: str | None
    group_id: str | None
    text: str


class Event(TypedDict):
    """One step."""

    session_id: str
    seq: int
    kind: str
    actor: str
    channel: str
    at: str
    via: str | None
    called: str | None
    wrote: list[Told]
    text: str


class Refusal(TypedDict):
    """One attempt that a rule turned down."""

    session_id: str
    seq: int
    part: int
    id: str
    door: str
    actor: str | None
    claimed_session: str | None
    group_id: str | None
    role: str | None
    status: str | None
    turn: int | None
    code: str
    detail: str | None
    refused_at: str
