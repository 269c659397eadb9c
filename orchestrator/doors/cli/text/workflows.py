"""How versions of the workflow read, and what two of them differ in."""

from __future__ import annotations

import json

from orchestrator.doors.cli import shapes
from orchestrator.doors.cli.text import layout
from orchestrator.hints import Any


def versions(answer: dict[str, Any]) -> list[str]:
    """The loaded versions, one in a line."""
    return [shapes.listing(answer, "versions", ("id", "active", "name", "hash", "loaded_at"))]


def version(answer: dict[str, Any]) -> list[str]:
    """A version: what it is, and its whole text."""
    head = {"version": answer["version"], "agent_files": answer["agent_files"]}
    return [shapes.everything(head), json.dumps(answer["workflow"], indent=2)]


def differences(answer: dict[str, Any]) -> list[str]:
    """What two versions differ in, and whether a person is needed to go from one to the other."""
    rules = answer["rules"]
    person = f"{layout.counted(len(rules), 'change')} of rules; needs a person while sessions are open."
    free = "No rules differ." if answer["changes"] else ""
    return [line for line in (str(answer["text"]).rstrip(), person if rules else free) if line]


def graph(answer: dict[str, Any]) -> list[str]:
    """The drawing itself."""
    return [str(answer["graph"])]
