"""What a tool takes, as JSON Schema: read from the use case itself, like the checks that every call meets."""

from __future__ import annotations

from typing import Any

from orchestrator.app.kernel import arguments
from orchestrator.app.kernel.argument_tables import CHOICES, RANGES
from orchestrator.doors.mcp.tools import Tool

Schema = dict[str, Any]
_TYPES = {str: "string", int: "integer", bool: "boolean", dict: "object", list: "array"}
_OBJECT = {"type": "object"}


def taken(tool: Tool) -> Schema:
    """The schema of a tool's arguments."""
    known = arguments.parameters(tool.words)
    properties = {name: _argument(tool, name, known[name], what) for name, what in tool.arguments.items()}
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": list(tool.required)} if tool.required else found


def _argument(tool: Tool, name: str, parameter: arguments.Parameter, what: str) -> Schema:
    types = [_TYPES[kind] for kind in parameter.kinds]
    found: Schema = {"description": what, "type": types[0] if len(types) == 1 else types}
    choices = CHOICES.get(f"{tool.words} {name}") or CHOICES.get(name)
    if choices:
        found["enum"] = list(choices)
    elif name in RANGES and int in parameter.kinds:
        found["minimum"], found["maximum"] = RANGES[name]
    if name == "acknowledge":
        found["additionalProperties"] = {"type": "string"}
    if parameter.default is not arguments.REQUIRED and parameter.default not in (None, ""):
        found["default"] = parameter.default
    return found


def answered(found: Schema) -> Schema:
    """The schema of an answer with its kind at the root, where the protocol wants it."""
    return {**_OBJECT, **found}
