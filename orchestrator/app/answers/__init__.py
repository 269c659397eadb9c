"""The shapes of what operations and commands answer, as their declarations name them.

Cold: pydantic makes the JSON Schemas.
"""

from __future__ import annotations

import functools
import importlib
import operator
from typing import Any

from pydantic import TypeAdapter

FAILURE = "shapes.Failure"


def json_schema(words: str, names: tuple[str, ...]) -> dict[str, Any]:
    """The JSON Schema of an answer, which is one of several shapes.

    Args:
        words: what is answered.
        names: modules below this package, each with its class, such as `tasks.OneTask`; none for any object.
    """
    one_of = functools.reduce(operator.or_, map(shape, names)) if names else dict[str, Any]
    found: dict[str, Any] = TypeAdapter(one_of).json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"orchestrator {words}"}
    return {**head, **found, **head}


def shape(name: str) -> Any:
    """The class of a shape, as a declaration names it."""
    module, _, found = name.partition(".")
    return getattr(importlib.import_module(f"{__name__}.{module}"), found)
