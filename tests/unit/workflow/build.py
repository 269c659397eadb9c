"""Small workflows for the tests: a clean one, and ways to change it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from orchestrator.core.workflow import checks

Document = dict[str, Any]
Change = Callable[[Document], object]

# Small, and without any problem. The counter on READY_FOR_REVIEW bounds the one cycle that it has.
CLEAN: Document = {
    "_version": "1",
    "project_manager": {
        "PLANNING_COMPLETE": {"next_agent": "developer", "action": "spawn_batch", "max_parallel": 2},
        "NEEDS_CLARIFICATION": {"next_agent": None, "action": "pause_for_user"},
        "BAZINGA": {"next_agent": None, "action": "validate_then_end"},
    },
    "developer": {
        "READY_FOR_REVIEW": {"next_agent": "tech_lead", "action": "spawn", "iteration_budget_check": True},
        "MERGE_SUCCESS": {"next_agent": None, "action": "check_phase"},
    },
    "tech_lead": {
        "APPROVED": {"next_agent": "developer", "action": "spawn_merge", "then": "check_phase"},
        "UNBLOCKING_GUIDANCE": {"next_agent": "_return_to_blocked", "action": "spawn"},
    },
    "validator": {
        "ACCEPT": {"next_agent": None, "action": "end_session"},
        "REJECT": {"next_agent": None, "action": "pause_for_user"},
    },
}


def document(*changes: Change) -> Document:
    """The clean document with changes applied to a copy."""
    made = copy.deepcopy(CLEAN)
    for change in changes:
        change(made)
    return made


def encoded(made: Document) -> bytes:
    """A document as the bytes of a file."""
    return json.dumps(made, indent=2, ensure_ascii=False).encode()


def check(*changes: Change) -> checks.Report:
    """The report on a changed document."""
    return checks.check(encoded(document(*changes)), "small.json")


def ids(report: checks.Report) -> list[str]:
    """The ids of a report's problems."""
    return [problem.id for problem in report.problems]


def put(role: str, status: str, **entry: Any) -> Change:
    """Add or replace a transition."""

    def change(made: Document) -> None:
        made.setdefault(role, {})[status] = {"next_agent": None, "action": "pause_for_user", **entry}

    return change


def with_keys(role: str, status: str, **keys: Any) -> Change:
    """Change keys of a transition."""

    def change(made: Document) -> None:
        made[role][status].update(keys)

    return change


def without(*path: str) -> Change:
    """Remove what stands at a path."""

    def change(made: Document) -> None:
        node = made
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]

    return change


def rule(name: str, **keys: Any) -> Change:
    """Add a special rule."""

    def change(made: Document) -> None:
        made.setdefault("_special_rules", {})[name] = keys

    return change


def aliases(**names: Any) -> Change:
    """Add aliases."""

    def change(made: Document) -> None:
        made.setdefault("_status_aliases", {}).update(names)

    return change


def top(key: str, value: Any) -> Change:
    """Set a key at the top."""

    def change(made: Document) -> None:
        made[key] = value

    return change
