"""What a tool takes, as JSON Schema: read from the use case itself, like the checks that every call meets."""

from __future__ import annotations

from typing import Any

from orchestrator.app.kernel import arguments
from orchestrator.app.kernel.requests import REASONS, REQUIRED, Parameter
from orchestrator.doors.mcp.tools import Tool

Schema = dict[str, Any]
_TYPES = {str: "string", int: "integer", bool: "boolean", dict: "object", list: "array"}
_OBJECT = {"type": "object"}


def taken(tool: Tool) -> Schema:
    """The schema of a tool's arguments."""
    known = arguments.parameters(tool.words)
    properties = {name: _argument(known[name], what) for name, what in tool.arguments.items()}
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": list(tool.required)} if tool.required else found


def _argument(parameter: Parameter, what: str) -> Schema:
    types = [_TYPES[kind] for kind in parameter.kinds]
    found: Schema = {"description": what, "type": types[0] if len(types) == 1 else types}
    field = parameter.field
    if field.choices:
        found["enum"] = list(field.choices)
    elif field.span is not None:
        found["minimum"], found["maximum"] = field.span
    if field.holds == REASONS:
        found["additionalProperties"] = {"type": "string"}
    if parameter.default is not REQUIRED and parameter.default not in (None, ""):
        found["default"] = parameter.default
    return found


def answered(found: Schema) -> Schema:
    """The schema of an answer with its kind at the root, where the protocol wants it."""
    return {**_OBJECT, **found}
