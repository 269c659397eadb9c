"""Where reports can lead: the edges between roles, which the graph checks walk and the pictures draw.

Cold module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import vocabulary
from orchestrator.core.workflow.model import Transition, Workflow
from orchestrator.core.workflow.vocabulary import PROJECT_MANAGER, RETURN_TO_BLOCKED, VALIDATOR

NEXT = "next"
FALLBACK = "fallback"
THEN = "then"
PHASE = "phase"
VALIDATE = "validate"
RETURN = "return"
RULE = "rule"

ENDS = frozenset({vocabulary.END_SESSION, vocabulary.PAUSE_FOR_USER})


class Edge(NamedTuple):
    """One way from a role to another, taken at a status; `kind` says by what."""

    source: str
    status: str
    target: str
    kind: str


def blockers(workflow: Workflow) -> tuple[str, ...]:
    """The roles that have a status with effect `block`."""
    return tuple(dict.fromkeys(t.role for t in workflow.transitions.values() if t.effect == "block"))


def plain(workflow: Workflow) -> tuple[Edge, ...]:
    """The edges that every session has: those of the transitions themselves."""
    returns = blockers(workflow)
    return tuple(edge for t in workflow.transitions.values() for edge in _of(t, returns))


def of_rules(workflow: Workflow, present: Iterable[str]) -> tuple[Edge, ...]:
    """The edges that special rules add.

    Args:
        workflow: the workflow.
        present: the names of the rules that the file holds; a default that nobody wrote leads nowhere.
    """
    named = frozenset(present)
    edges = [edge for t in workflow.transitions.values() for edge in _redirects(t, workflow, named)]
    return tuple(dict.fromkeys(edges))


def _of(t: Transition, returns: tuple[str, ...]) -> Iterator[Edge]:
    if t.next_agent == RETURN_TO_BLOCKED:
        yield from (Edge(t.role, t.status, role, RETURN) for role in returns)
    elif t.next_agent is not None:
        yield Edge(t.role, t.status, t.next_agent, NEXT)
    if t.fallback_agent is not None:
        yield Edge(t.role, t.status, t.fallback_agent, FALLBACK)
    if t.then is not None:
        yield Edge(t.role, t.status, PROJECT_MANAGER, THEN)
    if t.action in (vocabulary.CHECK_PHASE, vocabulary.SPAWN_BATCH):
        # A phase check without a group to start, and a batch that stalls, call the project manager.
        yield Edge(t.role, t.status, PROJECT_MANAGER, PHASE)
    if t.action == vocabulary.VALIDATE_THEN_END:
        yield Edge(t.role, t.status, VALIDATOR, VALIDATE)


def _redirects(t: Transition, workflow: Workflow, named: frozenset[str]) -> Iterator[Edge]:
    for target in _targets(t, workflow, named):
        yield Edge(t.role, t.status, target, RULE)


def _targets(t: Transition, workflow: Workflow, named: frozenset[str]) -> Iterator[str]:
    rules = workflow.rules
    for mode in rules.testing_modes.values():
        if t.next_agent == vocabulary.QA_EXPERT and t.status in mode.affected_statuses:
            yield mode.override_next_agent
    if t.escalation_check and rules.escalation_agent is not None:
        yield rules.escalation_agent
    if t.iteration_budget_check and "investigation_budget" in named:
        yield rules.investigation_on_exhausted
    if t.next_agent == vocabulary.DEVELOPER:
        if rules.security_force_agent is not None:
            yield rules.security_force_agent
        if "research_tasks" in named:
            yield rules.research_agent
    if "loop_guard" in named:
        yield from (rung for rung in rules.loop_on_exhausted if rung != vocabulary.QUESTION)


def reach(starts: Iterable[str], edges: Iterable[Edge]) -> frozenset[str]:
    """Every role that can be come to from some roles, those included."""
    following: dict[str, list[str]] = {}
    for edge in edges:
        following.setdefault(edge.source, []).append(edge.target)
    seen, left = set(starts), list(starts)
    while left:
        fresh = [role for role in following.get(left.pop(), ()) if role not in seen]
        seen.update(fresh)
        left += fresh
    return frozenset(seen)


def turned(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """The same edges, walked backwards."""
    return tuple(Edge(edge.target, edge.status, edge.source, edge.kind) for edge in edges)
