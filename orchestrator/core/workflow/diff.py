"""What differs between two workflows, transition by transition.

Cold module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.core.tuples import NamedTuple
from orchestrator.core.workflow.model import Rules, Workflow

ADDED = "added"
REMOVED = "removed"
CHANGED = "changed"

TRANSITION = "transition"
RULE = "rule"
ALIAS = "alias"


class Field(NamedTuple):
    """One key whose value differs; None on the side that lacks it."""

    key: str
    before: Any
    after: Any


class Change(NamedTuple):
    """One transition, rule or alias that was added, removed or changed.

    name: "developer.BLOCKED", the rule's or the alias's name; fields: what differs, for an added or removed
    one everything that says something.
    """

    kind: str
    what: str
    name: str
    fields: tuple[Field, ...]


def diff(a: Workflow, b: Workflow) -> list[Change]:
    """The changes that lead from workflow `a` to workflow `b`; empty when both decide alike and read alike."""
    pairs = (
        (TRANSITION, _transitions(a), _transitions(b)),
        (RULE, _rules(a.rules), _rules(b.rules)),
        (ALIAS, _aliases(a), _aliases(b)),
    )
    return [change for what, before, after in pairs for change in _compare(what, before, after)]


def describe(changes: list[Change]) -> str:
    """The changes as text, one line each and one per changed key."""
    lines = []
    for change in changes:
        sign = {ADDED: "+", REMOVED: "-", CHANGED: "~"}[change.kind]
        lines.append(f"{sign} {change.what} {change.name}")
        lines += [f"    {_side(change.kind, field)}" for field in change.fields]
    return "\n".join(lines or ["no difference"]) + "\n"


_Table = Mapping[str, dict[str, Any]]


def _compare(what: str, before: _Table, after: _Table) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        fields = tuple(_fields(old or {}, new or {}))
        if new is None:
            yield Change(REMOVED, what, name, fields)
        elif old is None:
            yield Change(ADDED, what, name, fields)
        elif fields:
            yield Change(CHANGED, what, name, fields)


def _fields(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Field]:
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if before != after:
            yield Field(key, before, after)


def _transitions(workflow: Workflow) -> _Table:
    table = {}
    for (role, status), transition in workflow.transitions.items():
        values = transition._asdict()
        del values["role"], values["status"]
        table[f"{role}.{status}"] = {key: value for key, value in values.items() if value not in (None, "", (), False)}
    return table


def _rules(rules: Rules) -> _Table:
    table: dict[str, dict[str, Any]] = {
        f"testing_mode_{mode}": rule._asdict() for mode, rule in rules.testing_modes.items()
    }
    if rules.escalation_agent is not None:
        values = {"threshold": rules.escalation_threshold, "escalation_agent": rules.escalation_agent}
        table["escalation_after_failures"] = values
    if rules.security_force_agent is not None:
        values = {"force_agent": rules.security_force_agent, "mandatory_review": rules.security_mandatory_review}
        table["security_sensitive"] = values
    table["research_tasks"] = {"agent": rules.research_agent, "max_parallel": rules.research_max_parallel}
    table["investigation_budget"] = {
        "max_iterations": rules.investigation_max_iterations,
        "on_exhausted": rules.investigation_on_exhausted,
    }
    table["loop_guard"] = {"max_visits": rules.loop_max_visits, "on_exhausted": rules.loop_on_exhausted}
    return table


def _aliases(workflow: Workflow) -> _Table:
    return {alias: {"status": target} for alias, target in workflow.aliases.items()}


def _side(kind: str, field: Field) -> str:
    if kind == ADDED:
        return f"{field.key}: {_shown(field.after)}"
    if kind == REMOVED:
        return f"{field.key}: {_shown(field.before)}"
    return f"{field.key}: {_shown(field.before)} -> {_shown(field.after)}"


def _shown(value: Any) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    return str(value)
