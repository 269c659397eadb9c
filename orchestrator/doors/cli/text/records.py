"""How replays and exports of a session's record read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.doors.cli import shapes


def replayed(answer: dict[str, Any]) -> str:
    from orchestrator.app.audit import replayed as replays

    return "\n".join(shapes.visible(line) for line in replays.sentences(answer))


def exported(answer: dict[str, Any]) -> str:
    where = shapes.visible(answer["output"])
    what = f"{answer['lines']} lines, head {answer['head']}"
    first = f"Session {answer['session_id']} is exported to {where}: {what}"
    return "\n".join((first, *hidden(answer["masked"]), *evidence(answer)))


def hidden(masked: int) -> Iterator[str]:
    if masked:
        yield f"Masked events: {masked}; only an export with --unmasked can be imported, and it holds their secrets"


def evidence(answer: dict[str, Any]) -> Iterator[str]:
    """What of the evidence that lies in files came along, and what did not, and why."""
    if answer["files"]:
        yield f"Files of evidence: {answer['files']}"
    for each in answer["absent"]:
        yield shapes.visible(f"Not in it: {each['path']} of {each['of']}: {each['why']}")
