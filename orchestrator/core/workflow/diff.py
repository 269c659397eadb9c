"""What differs between two workflow versions: transition by transition, rule by rule, agent file by agent file.

Cold module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow.model import Rules, Workflow
from orchestrator.hints import Any

ADDED = "added"
REMOVED = "removed"
CHANGED = "changed"

TRANSITION = "transition"
RULE = "rule"
ALIAS = "alias"
AGENT = "agent file"

FREE: dict[str, frozenset[str]] = {
    TRANSITION: frozenset(("description", "model_override", "include_context")),
    AGENT: frozenset(("model", "text")),
}
"""Texts, models and context: what may differ without changing who acts next or what counts as done."""


class AgentFile(NamedTuple):
    """An agent file as a version pins it; `hash` stands for its whole text."""

    name: str
    role: str
    model: str | None
    reports_to: str | None
    hash: str


class Field(NamedTuple):
    """One key whose value differs; None on the side that lacks it."""

    key: str
    before: Any
    after: Any


class Change(NamedTuple):
    """One transition, rule, alias or agent file that was added, removed or changed.

    name: "developer.BLOCKED", the rule's, the alias's or the agent file's name; fields: what differs, for an added or
    removed one everything that says something.
    """

    kind: str
    what: str
    name: str
    fields: tuple[Field, ...]


class Version(NamedTuple):
    """A workflow with the agent files that are pinned with it."""

    workflow: Workflow
    agents: tuple[AgentFile, ...] = ()


def diff(a: Version, b: Version) -> list[Change]:
    """The changes that lead from version `a` to version `b`; empty when both decide alike and read alike."""
    pairs = (
        (TRANSITION, _transitions(a.workflow), _transitions(b.workflow)),
        (RULE, _rules(a.workflow.rules), _rules(b.workflow.rules)),
        (ALIAS, _aliases(a.workflow), _aliases(b.workflow)),
        (AGENT, _agents(a.agents), _agents(b.agents)),
    )
    return [change for what, before, after in pairs for change in _compare(what, before, after)]


def of_rules(changes: list[Change]) -> list[Change]:
    """The changes of rules among all changes: those that differ in more than texts, models and context.

    A changed transition or agent file keeps only the fields that are rules; an added or removed one counts whole.
    """
    found = []
    for change in changes:
        free = FREE.get(change.what, frozenset())
        ruling = tuple(field for field in change.fields if field.key not in free)
        if change.kind != CHANGED or ruling:
            found.append(change._replace(fields=ruling))
    return found


def sentences(changes: list[Change]) -> list[str]:
    """The changes in words, one text each: `developer.READY_FOR_QA: effect submit_test -> approve`."""
    return [_sentence(change) for change in changes]


def _sentence(change: Change) -> str:
    name = change.name if change.what == TRANSITION else f"{change.what} {change.name}"
    fields = ", ".join(f"{field.key} {_shift(change.kind, field)}" for field in change.fields)
    return f"{name}{'' if change.kind == CHANGED else f' {change.kind}'}" + (f": {fields}" if fields else "")


def describe(changes: list[Change]) -> str:
    """The changes as text, one line each and one per changed key."""
    lines = []
    for change in changes:
        sign = {ADDED: "+", REMOVED: "-", CHANGED: "~"}[change.kind]
        lines.append(f"{sign} {change.what} {change.name}")
        lines += [f"    {field.key}: {_shift(change.kind, field)}" for field in change.fields]
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
    if rules.security_force_agent is not None or rules.security_mandatory_review:
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


def _agents(files: tuple[AgentFile, ...]) -> _Table:
    return {
        file.name: {"role": file.role, "reports_to": file.reports_to, "model": file.model, "text": file.hash[:12]}
        for file in files
    }


def _shift(kind: str, field: Field) -> str:
    if kind == ADDED:
        return _shown(field.after)
    if kind == REMOVED:
        return _shown(field.before)
    return f"{_shown(field.before)} -> {_shown(field.after)}"


def _shown(value: Any) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    return str(value)
