"""What can be read of a faulty file, so that the other checks still speak: all problems come in one run.

Cold module.
"""

from __future__ import annotations

import difflib

from orchestrator.core.workflow import model, vocabulary
from orchestrator.hints import Any


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(_text(item) for item in value)


_ENTRY = {
    "next_agent": _text,
    "then": _text,
    "effect": lambda value: isinstance(value, str) and value in vocabulary.EFFECTS,
    "include_context": _texts,
    "fallback_agent": _text,
    "model_override": _text,
    "escalation_check": _flag,
    "iteration_budget_check": _flag,
    "max_parallel": _count,
    "resolves": _text,
    "mandatory_review": _flag,
    "bypass_qa": _flag,
    "description": _text,
}
_MODE = {"affected_statuses": _texts, "override_next_agent": _text}
_RULES: dict[str, dict[str, Any]] = {
    "testing_mode_disabled": _MODE,
    "testing_mode_minimal": _MODE,
    "escalation_after_failures": {"threshold": _count, "escalation_agent": _text},
    "security_sensitive": {"force_agent": _text, "mandatory_review": _flag},
    "research_tasks": {"agent": _text, "max_parallel": _count},
    "investigation_budget": {"max_iterations": _count, "on_exhausted": _text},
    "loop_guard": {"max_visits": _count, "on_exhausted": _texts},
}
_NEEDED = {"testing_mode_disabled": _MODE, "testing_mode_minimal": _MODE}


def readable(raw: dict[str, Any]) -> dict[str, Any]:
    """The part of a document that has the right shape; parsing it never fails."""
    document: dict[str, Any] = {
        role: block for role in raw if role in vocabulary.REPORTING_ROLES and (block := _block(raw[role]))
    }
    document["_special_rules"] = _rules(_object(raw.get("_special_rules")))
    document["_status_aliases"] = {
        name: to for name, to in _object(raw.get("_status_aliases")).items() if _text(name) and _text(to)
    }
    return document


def workflow(raw: dict[str, Any]) -> model.Workflow:
    """The readable part as a Workflow; its hash means nothing."""
    return model.parse(readable(raw), known_hash="-")


def rules_in(raw: dict[str, Any]) -> frozenset[str]:
    """The names of the special rules that the file holds."""
    return frozenset(_rules(_object(raw.get("_special_rules"))))


def resolve(role: str, known: tuple[str, ...]) -> str | None:
    """The role that a misspelt one was meant to be, so that one slip is reported once."""
    if role in known:
        return role
    close = difflib.get_close_matches(role, known, n=1, cutoff=0.6)
    return close[0] if close else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _block(block: Any) -> dict[str, Any]:
    return {
        status: _entry(entry)
        for status, entry in _object(block).items()
        if status and not status.startswith("_") and isinstance(entry, dict)
    }


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    kept = {key: entry[key] for key, fits in _ENTRY.items() if key in entry and fits(entry[key])}
    action = entry.get("action")
    if not isinstance(action, str) or action not in vocabulary.ACTIONS:
        # Nothing certain is known: assume the harmless reading, the action itself is reported already.
        action = vocabulary.SPAWN if "next_agent" in kept else vocabulary.PAUSE_FOR_USER
    return {**kept, "action": action}


def _rules(rules: dict[str, Any]) -> dict[str, Any]:
    kept = {}
    for name, keys in _RULES.items():
        rule = rules.get(name)
        if not isinstance(rule, dict):
            continue
        fitting = {key: rule[key] for key, fits in keys.items() if key in rule and fits(rule[key])}
        if name not in _NEEDED or len(fitting) == len(keys):
            kept[name] = fitting
    return kept
