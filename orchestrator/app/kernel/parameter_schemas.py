"""What an operation takes, as JSON Schema: read from its declaration, like the checks that every call meets."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.app.kernel.requests import REASONS, REQUIRED, Parameter
from orchestrator.hints import Any

Schema = dict[str, Any]
_TYPES = {str: "string", int: "integer", bool: "boolean", dict: "object", list: "array"}


def of_parameter(parameter: Parameter, what: str = "") -> Schema:
    """The schema of one parameter.

    Args:
        what: what it means, where that is not what the declaration says.
    """
    types = [_TYPES[kind] for kind in parameter.kinds]
    field = parameter.field
    found: Schema = {"description": what or field.help, "type": types[0] if len(types) == 1 else types}
    if field.choices:
        found["enum"] = list(field.choices)
    elif field.span is not None:
        found["minimum"], found["maximum"] = field.span
    if field.holds == REASONS:
        found["additionalProperties"] = {"type": "string"}
    if parameter.default is not REQUIRED and parameter.default not in (None, ""):
        found["default"] = parameter.default
    return found


def of_object(properties: dict[str, Schema], required: Iterable[str]) -> Schema:
    """The schema of an object that takes these names alone."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    needed = list(required)
    return {**found, "required": needed} if needed else found
