"""The shapes of what `audit verify` and `audit head` answer."""

from __future__ import annotations

from typing_extensions import TypedDict

from orchestrator.app.answers.shapes import Answer


class VerifyFinding(TypedDict):
    """Something that is not as the record says; without a step or table where it is about none."""

    code: str
    session_id: str | None
    seq: int | None
    table: str | None
    subject: str
    message: str
    suggestion: str


class VerifyNote(TypedDict):
    """A repair of the guards, which every later verification mentions."""

    seq: int
    message: str


class Verify(Answer):
    """`audit verify`."""

    ok: bool
    session_id: str | None
    since: int | None
    head: str | None
    chains: int
    events: int
    rows: int
    findings: list[VerifyFinding]
    counts: dict[str, int]
    total: int
    has_more: bool
    notes: list[VerifyNote]


class Head(TypedDict):
    """The newest step of a chain, and how `audit verify --head` takes it."""

    session_id: str
    seq: int
    hash: str
    head: str


class Heads(Answer):
    """`audit head`."""

    heads: list[Head]
