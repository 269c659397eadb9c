"""What a tool takes and answers, as JSON Schema."""

from __future__ import annotations

from orchestrator.app.kernel import parameter_schemas
from orchestrator.app.kernel.parameter_schemas import Schema
from orchestrator.doors.mcp.tools import Tool

_OBJECT = {"type": "object"}


def taken(tool: Tool) -> Schema:
    """The schema of a tool's arguments."""
    known = tool.parameters
    properties = {name: parameter_schemas.of_parameter(known[name], what) for name, what in tool.arguments.items()}
    return parameter_schemas.of_object(properties, tool.required)


def answered(found: Schema) -> Schema:
    """The schema of an answer with its kind at the root, where the protocol wants it."""
    return {**_OBJECT, **found}
