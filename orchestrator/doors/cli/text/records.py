"""How replays and exports of a session's record read."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.doors.cli import shapes
from orchestrator.hints import Any


def replay(answer: dict[str, Any]) -> list[str]:
    """What a replay found, in sentences."""
    from orchestrator.app.audit import replay_comparison

    answers = answer.get("sessions", [answer])
    lines = [shapes.visible(line) for each in answers for line in replay_comparison.sentences(each)]
    return lines or ["No sessions to replay."]


def export(answer: dict[str, Any]) -> list[str]:
    """Where an export lies, how much it holds, and what it lacks."""
    where = shapes.visible(answer["output"])
    what = f"{answer['lines']} lines, head {answer['head']}"
    first = f"Session {answer['session_id']} is exported to {where}: {what}"
    return [first, *hidden(answer["masked"]), *evidence(answer)]


def hidden(masked: int) -> Iterator[str]:
    """How many events were masked, and what that means."""
    if masked:
        yield f"Masked events: {masked}; only an export with --unmasked can be imported, and that contains the secrets"


def evidence(answer: dict[str, Any]) -> Iterator[str]:
    """What of the evidence that lies in files came along, and what did not, and why."""
    if answer["files"]:
        yield f"Files of evidence: {answer['files']}"
    for each in answer["absent"]:
        yield shapes.visible(f"Not included: {each['path']} of {each['of']}: {each['why']}")
