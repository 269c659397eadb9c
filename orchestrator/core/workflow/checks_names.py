"""Checks of names: roles, actions with and without agents, aliases, statuses, keys without a reader (W2xx).

Cold module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.core.workflow import schema, vocabulary
from orchestrator.core.workflow.checks_file import nearest
from orchestrator.core.workflow.model import Transition, Workflow
from orchestrator.core.workflow.problems import Finding, Path
from orchestrator.core.workflow.vocabulary import AGENT_ACTIONS, REPORTING_ROLES, RETURN_TO_BLOCKED
from orchestrator.hints import Any

_STATUS = re.compile(schema.STATUS_PATTERN)
_ROLE_LIST = ", ".join(REPORTING_ROLES)
_TARGETS = (*REPORTING_ROLES, RETURN_TO_BLOCKED)


def check(workflow: Workflow, raw: dict[str, Any]) -> Iterator[Finding]:
    """Yield what is wrong with names in the readable part of a file.

    Args:
        workflow: the readable part.
        raw: the document as written, for what the readable part has left out.
    """
    yield from _statuses(raw)
    for transition in workflow.transitions.values():
        yield from _transition(transition, _entry(raw, transition))
    yield from _rules(workflow, raw)
    yield from _aliases(workflow)


def _entry(raw: dict[str, Any], t: Transition) -> dict[str, Any]:
    entry: dict[str, Any] = raw[t.role][t.status]
    return entry


def _statuses(raw: dict[str, Any]) -> Iterator[Finding]:
    for role in REPORTING_ROLES:
        block = raw.get(role)
        if isinstance(block, dict):
            names = [status for status in block if not status.startswith("_")]
            yield from (_badly_named((role, name), name) for name in names if not well_named(name))
            yield from _same_but_for_case((role,), names)


def well_named(status: str) -> bool:
    """Whether a name can be a status: reports are folded to upper case before they are looked up."""
    return len(status) <= schema.MAX_STATUS and _STATUS.fullmatch(status) is not None


def _badly_named(path: Path, name: str) -> Finding:
    shown = name if len(name) <= 40 else name[:37] + "..."
    folded = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
    hint = f"Name it {folded}." if well_named(folded) else "Name it like READY_FOR_QA."
    return Finding("W207", path, f"{shown!r} is not a status code: upper-case words joined by underscores.", hint)


def _same_but_for_case(parent: Path, names: list[str]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            message = f"{other!r} and {name!r} differ only by case, so a report could mean either."
            yield Finding("W206", (*parent, name), message, "Keep one of them.")


def _transition(t: Transition, entry: dict[str, Any]) -> Iterator[Finding]:
    at: Path = (t.role, t.status)
    yield from _role_exists((*at, "next_agent"), t.next_agent, _TARGETS)
    yield from _role_exists((*at, "fallback_agent"), t.fallback_agent, REPORTING_ROLES)
    if entry.get("action") in vocabulary.ACTIONS:
        yield from _agent_fits(t, at)
        yield from _keys_fit(t, at)
    if "effect" not in entry and vocabulary.known_effect(t.role, t.status) is None:
        message = f"The meaning of {t.role} {t.status} is not known, so it has the effect 'none'."
        yield Finding("W222", at, message, f"Write its effect: one of {', '.join(vocabulary.EFFECT_ORDER)}.")
    entitled = vocabulary.ENTITLED.get(t.effect, REPORTING_ROLES)
    if t.role not in entitled:
        message = f"{t.role} {t.status} has the effect {t.effect!r}, which is the word of {', '.join(entitled)}."
        hint = "Completion trusts effects, whoever reports them: give it another effect, or move it to that role."
        yield Finding("W224", (*at, "effect"), message, hint)


def _role_exists(path: Path, role: str | None, known: tuple[str, ...]) -> Iterator[Finding]:
    if role is None or role in known:
        return
    if role == vocabulary.ORCHESTRATOR:
        message = "The orchestrator starts agents and reports nothing, so nobody can be sent to it."
        yield Finding("W210", path, message, f"Name one of {_ROLE_LIST}.")
    elif role == RETURN_TO_BLOCKED:
        yield Finding("W201", path, f"{role!r} is only possible as next_agent.", f"Name one of {_ROLE_LIST}.")
    else:
        yield Finding("W201", path, f"There is no role {role!r}.", f"{nearest(role, known)}Roles: {_ROLE_LIST}.")


def _agent_fits(t: Transition, at: Path) -> Iterator[Finding]:
    path = (*at, "next_agent")
    if t.action in AGENT_ACTIONS and t.next_agent is None:
        yield Finding("W202", path, f"Action {t.action!r} starts an agent, but next_agent is null.", "Name the role.")
    if t.action not in AGENT_ACTIONS and t.next_agent is not None:
        message = f"Action {t.action!r} starts no agent, but next_agent is {t.next_agent!r}."
        yield Finding("W203", path, message, "Make next_agent null, or the action 'spawn'.")
    if t.next_agent == RETURN_TO_BLOCKED and t.action in (vocabulary.SPAWN_MERGE, vocabulary.SPAWN_BATCH):
        message = f"Action {t.action!r} cannot go back to whoever was blocked."
        yield Finding("W203", path, message, "Use 'spawn' or 'respawn', or name a role.")
    if vocabulary.VALIDATOR in (t.next_agent, t.fallback_agent):
        message = "The validator cannot be spawned; it acts only after validate_then_end."
        yield Finding("W210", at, message, "Use next_agent null with action 'validate_then_end'.")
    if t.action == vocabulary.END_SESSION and t.effect != "end_research" and t.role != vocabulary.VALIDATOR:
        message = f"{t.role} {t.status} may not end the session: only the validator and the effect end_research may."
        yield Finding("W208", (*at, "action"), message, "Use 'validate_then_end'.")


def _keys_fit(t: Transition, at: Path) -> Iterator[Finding]:
    readers = (
        ("then", t.then, t.action == vocabulary.SPAWN_MERGE, "action 'spawn_merge'"),
        ("max_parallel", t.max_parallel, t.action == vocabulary.SPAWN_BATCH, "action 'spawn_batch'"),
        ("fallback_agent", t.fallback_agent, t.action in AGENT_ACTIONS, "an action that starts an agent"),
        ("model_override", t.model_override, t.action in AGENT_ACTIONS, "an action that starts an agent"),
    )
    for key, value, is_read, where in readers:
        if value is not None and not is_read:
            yield Finding("W209", (*at, key), f"{key!r} is read only with {where}.", f"Remove {key!r}.")


def _rules(workflow: Workflow, raw: dict[str, Any]) -> Iterator[Finding]:
    rules, parent = workflow.rules, "_special_rules"
    known = {status for _, status in workflow.transitions}
    for mode, rule in rules.testing_modes.items():
        at = (parent, f"testing_mode_{mode}")
        yield from _rule_role((*at, "override_next_agent"), rule.override_next_agent)
        for index, status in enumerate(rule.affected_statuses):
            if status not in known:
                message = f"The rule names {status!r}, which no role has."
                hint = f"{nearest(status, tuple(known))}Remove it or add the status."
                yield Finding("W223", (*at, "affected_statuses", index), message, hint)
    yield from _rule_role((parent, "escalation_after_failures", "escalation_agent"), rules.escalation_agent)
    yield from _rule_role((parent, "security_sensitive", "force_agent"), rules.security_force_agent)
    yield from _rule_role((parent, "research_tasks", "agent"), rules.research_agent)
    yield from _rule_role((parent, "investigation_budget", "on_exhausted"), rules.investigation_on_exhausted)
    for index, rung in enumerate(rules.loop_on_exhausted):
        if rung != vocabulary.QUESTION:
            yield from _rule_role((parent, "loop_guard", "on_exhausted", index), rung)


def _rule_role(path: Path, role: str | None) -> Iterator[Finding]:
    if role == vocabulary.VALIDATOR:
        yield Finding("W210", path, "The validator cannot be spawned, so no rule can call it.", "Name another role.")
    else:
        yield from _role_exists(path, role, REPORTING_ROLES)


def _aliases(workflow: Workflow) -> Iterator[Finding]:
    owners: dict[str, list[str]] = {}
    for role, status in workflow.transitions:
        owners.setdefault(status, []).append(role)
    yield from _same_but_for_case(("_status_aliases",), list(workflow.aliases))
    for alias, target in workflow.aliases.items():
        at: Path = ("_status_aliases", alias)
        if not well_named(alias):
            yield _badly_named(at, alias)
        yield from _alias_leads_somewhere(at, alias, workflow.aliases, owners)
        if alias in owners:
            yield _shadow(at, alias, target, owners)


def _alias_leads_somewhere(
    at: Path, alias: str, aliases: dict[str, str], owners: dict[str, list[str]]
) -> Iterator[Finding]:
    chain = [alias]
    while (target := aliases.get(chain[-1])) is not None:
        if target in chain:
            circle = " -> ".join([*chain, target])
            yield Finding("W204", at, f"The alias refers to itself: {circle}.", "Point it at a status.")
            return
        if target in owners:
            return
        chain.append(target)
    hint = f"{nearest(chain[-1], tuple(owners))}Point it at a status that some role has."
    yield Finding("W205", at, f"{alias!r} stands for {chain[-1]!r}, which no role has.", hint)


def _shadow(at: Path, alias: str, target: str, owners: dict[str, list[str]]) -> Finding:
    names = ", ".join(owners[alias])
    message = f"{alias!r} is an alias of {target!r} and also a status of {names}; there the role's own status wins."
    return Finding("W221", at, message, "Keep it if that is intended; otherwise rename the alias.")
