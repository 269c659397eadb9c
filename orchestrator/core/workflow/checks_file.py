"""Checks of the file's shape: types, unknown keys, missing keys (W101, W110 to W112).

Cold module. pydantic finds, this module words.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.core.workflow import loader, schema, vocabulary
from orchestrator.core.workflow.problems import Finding, Path

_TOP = tuple(field.alias or name for name, field in schema.WorkflowFile.model_fields.items())
_RULE_MODELS: dict[str, type[BaseModel]] = {
    "testing_mode_disabled": schema.TestingMode,
    "testing_mode_minimal": schema.TestingMode,
    "escalation_after_failures": schema.Escalation,
    "security_sensitive": schema.Security,
    "research_tasks": schema.Research,
    "investigation_budget": schema.InvestigationBudget,
    "loop_guard": schema.LoopGuard,
}


def shape(raw: dict[str, Any]) -> Iterator[Finding]:
    """Yield everything that is wrong with types and keys."""
    try:
        schema.ADAPTER.validate_python(raw)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            yield _word(detail)
    if not any(isinstance(block, dict) and any(s[:1] != "_" for s in block) for block in _blocks(raw)):
        yield Finding("W101", (), "No role has a status.", "Start from the shipped workflow/transitions.json.")


def _blocks(raw: dict[str, Any]) -> Iterator[Any]:
    return (raw.get(role) for role in vocabulary.REPORTING_ROLES)


def _word(detail: ErrorDetails) -> Finding:
    path: Path = tuple(detail["loc"])
    kind, value = detail["type"], detail["input"]
    if kind == "extra_forbidden" or _is_comment_of_block(path):
        return _unknown(path)
    if kind == "missing":
        return Finding("W112", path, f"{_owner(path)} lacks the key {path[-1]!r}.", f"Add {path[-1]!r}.")
    if kind == "literal_error":
        return _not_in_list(path, value, detail["ctx"]["expected"])
    return Finding("W110", path, f"{path[-1]!r} must be {_wanted(detail)}, not {_shown(value)}.", "Correct the value.")


def _is_comment_of_block(path: Path) -> bool:
    return len(path) == 2 and str(path[0]) in vocabulary.REPORTING_ROLES and str(path[1]).startswith("_")


def _unknown(path: Path) -> Finding:
    key, known = str(path[-1]), known_keys(path[:-1])
    if path == (vocabulary.ORCHESTRATOR,):
        return Finding("W111", path, "The orchestrator reports nothing, so it has no statuses.", "Remove the block.")
    what = "is neither a role nor a key of the file" if len(path) == 1 else "is a key that is never read"
    return Finding("W111", path, f"{key!r} {what}.", f"{nearest(key, known)}Known here: {', '.join(known)}.")


def known_keys(parent: Path) -> tuple[str, ...]:
    """The keys that may stand in the object at a path."""
    if not parent:
        return _TOP
    if parent == ("_special_rules",):
        return tuple(_RULE_MODELS)
    if parent[0] == "_special_rules":
        return _aliases_of(_RULE_MODELS[str(parent[1])])
    if len(parent) == 1:
        return ("_description", "_note")
    return _aliases_of(schema.Transition)


def _aliases_of(kind: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in kind.model_fields.items())


def nearest(word: str, known: tuple[str, ...]) -> str:
    """A "did you mean" sentence with a blank behind it, or nothing."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"Did you mean {close[0]!r}? " if close else ""


def _not_in_list(path: Path, value: Any, expected: str) -> Finding:
    known = tuple(word for word in expected.split("'") if word.replace("_", "").isalnum() and word != "or")
    hint = f"{nearest(value, known) if isinstance(value, str) else ''}Known: {', '.join(known)}."
    return Finding("W110", path, f"{path[-1]!r} cannot be {_shown(value)}.", hint)


def _owner(path: Path) -> str:
    return ".".join(str(step) for step in path[:-1]) or "The file"


_WANTED = {
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "string_too_short": "non-empty text",
    "string_pattern_mismatch": "text that is not blank",
    "too_short": "a list that is not empty",
}


def _wanted(detail: ErrorDetails) -> str:
    ctx = detail.get("ctx", {})
    if detail["type"] == "string_too_long":
        return f"a text of at most {ctx['max_length']} characters"
    if detail["type"] in ("greater_than_equal", "less_than_equal"):
        return f"a whole number from 1 to {schema.MAX_COUNT}"
    return _WANTED.get(detail["type"], detail["msg"])


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:37] + "...")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)[:40]
    return loader.kind_of(value)
