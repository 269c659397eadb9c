"""How versions of the workflow read, and what two of them differ in."""

from __future__ import annotations

import json
from typing import Any

from orchestrator.doors.cli import shapes
from orchestrator.doors.cli.text import layout


def versions(answer: dict[str, Any]) -> str:
    return shapes.listing(answer, "versions", ("id", "active", "name", "hash", "loaded_at"))


def version(answer: dict[str, Any]) -> str:
    head = {"version": answer["version"], "agent_files": answer["agent_files"]}
    return f"{shapes.everything(head)}\n{json.dumps(answer['workflow'], indent=2)}"


def compared(answer: dict[str, Any]) -> str:
    rules = answer["rules"]
    person = f"{layout.counted(len(rules), 'change')} of rules: needs a person while sessions are open."
    free = "No rule differs." if answer["changes"] else ""
    return "\n".join(filter(None, [str(answer["text"]).rstrip(), person if rules else free]))


def graph(answer: dict[str, Any]) -> str:
    """The drawing itself."""
    return str(answer["graph"])
