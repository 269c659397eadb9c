"""Checks of the graph: what can be reached, what can end, who can be helped, what can go round (W3xx).

Cold module. What can be reached counts the edges of rules too. Whether a role has a way out counts only
the edges that every session has: a way that exists only after two failures or in one testing mode is no way out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from orchestrator.core.workflow import edges, lenient, vocabulary
from orchestrator.core.workflow.edges import Edge
from orchestrator.core.workflow.model import Transition, Workflow
from orchestrator.core.workflow.problems import Finding, Path
from orchestrator.core.workflow.vocabulary import PROJECT_MANAGER, REPORTING_ROLES, VALIDATOR


def check(workflow: Workflow, present: frozenset[str]) -> Iterator[Finding]:
    """Yield what is wrong with the graph of a workflow.

    Args:
        workflow: the readable part of a file.
        present: the names of the special rules that the file holds.
    """
    plain = _mended(edges.plain(workflow))
    every = plain + _mended(edges.of_rules(workflow, present))
    roles = workflow.roles()
    yield from _silent(every, roles)
    yield from _unreached(every, roles)
    yield from _stuck(workflow, plain, roles)
    yield from _unguided(workflow, every)
    yield from _unmerged(workflow)
    yield from _unbounded(workflow, plain)


def _mended(given: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """Edges to real roles only. A misspelt role is reported once, as such; a spawned validator leads nowhere."""
    return tuple(
        edge._replace(target=target)
        for edge in given
        if (target := lenient.resolve(edge.target, REPORTING_ROLES)) is not None
        and (target != VALIDATOR or edge.kind == edges.VALIDATE)
    )


def _silent(every: tuple[Edge, ...], roles: tuple[str, ...]) -> Iterator[Finding]:
    missing: dict[str, Path] = {} if PROJECT_MANAGER in roles else {PROJECT_MANAGER: ()}
    for edge in every:
        if edge.target not in roles:
            missing.setdefault(edge.target, (edge.source, edge.status))
    for role, path in missing.items():
        message = f"{role} may be started, but has no statuses to answer with."
        yield Finding("W303", path, message, f"Add a block {role!r}, or send reports elsewhere.")


def _unreached(every: tuple[Edge, ...], roles: tuple[str, ...]) -> Iterator[Finding]:
    # Nobody is returned to who was not started before, so the way back makes no role reachable.
    reached = edges.reach((PROJECT_MANAGER,), (edge for edge in every if edge.kind != edges.RETURN))
    for role in roles:
        if role not in reached:
            hint = "Send reports to it from a reachable role, or remove its block."
            if role == VALIDATOR:
                hint = "Give the project manager a status with action 'validate_then_end'."
            yield Finding("W301", (role,), f"Nothing leads to {role}.", hint)


def _stuck(workflow: Workflow, plain: tuple[Edge, ...], roles: tuple[str, ...]) -> Iterator[Finding]:
    ending = {t.role for t in workflow.transitions.values() if _leads_out(t)}
    free = edges.reach(ending, edges.turned(plain))
    for role in roles:
        if role not in free:
            message = f"From {role} no end and no question can be reached."
            hint = "Give it a status that leads towards the project manager or asks a person."
            yield Finding("W302", (role,), message, hint)


def _leads_out(t: Transition) -> bool:
    if t.action in edges.ENDS:
        return True
    # A role nobody knows is reported by its name; whether it would have ended is not judged.
    known = (*REPORTING_ROLES, vocabulary.RETURN_TO_BLOCKED)
    return t.next_agent is not None and lenient.resolve(t.next_agent, known) is None


def _unguided(workflow: Workflow, every: tuple[Edge, ...]) -> Iterator[Finding]:
    guides = {t.role for t in workflow.transitions.values() if t.effect == "guide"}
    for role in edges.blockers(workflow):
        blocking = [t for t in workflow.transitions.values() if t.role == role and t.effect == "block"]
        lonely = [t for t in blocking if not _finds_help(t, guides, every)]
        if lonely:
            message = f"{role} can block, but no role reachable from there can give guidance."
            hint = "Route it to a role with a status of effect 'guide', or to a question for a person."
            yield Finding("W321", (role, lonely[0].status), message, hint)


def _finds_help(t: Transition, guides: set[str], every: tuple[Edge, ...]) -> bool:
    if t.action == vocabulary.PAUSE_FOR_USER:
        return True
    first = {edge.target for edge in every if (edge.source, edge.status) == (t.role, t.status)}
    return not guides.isdisjoint(edges.reach(first, every))


def _unmerged(workflow: Workflow) -> Iterator[Finding]:
    mergers = {t.role for t in workflow.transitions.values() if t.effect == "merge"}
    told: dict[str, Transition] = {}
    for t in workflow.transitions.values():
        target = lenient.resolve(t.next_agent or "", REPORTING_ROLES)
        if t.action == vocabulary.SPAWN_MERGE and target is not None:
            told.setdefault(target, t)
            if target == vocabulary.DEVELOPER and workflow.rules.security_force_agent is not None:
                told.setdefault(workflow.rules.security_force_agent, t)
    for role, t in told.items():
        if role not in mergers:
            message = f"{role} is told to merge by {t.role} {t.status}, but has no status with effect 'merge'."
            yield Finding("W322", (t.role, t.status), message, f"Add MERGE_SUCCESS and its failures to {role}.")


def _unbounded(workflow: Workflow, plain: tuple[Edge, ...]) -> Iterator[Finding]:
    free = tuple(edge for edge in plain if not _bounded(workflow.transitions[edge.source, edge.status]))
    for component in components(free):
        shortest = shortest_cycle(component)
        loops = [edge for edge in component if edge.source == edge.target and edge not in shortest]
        shown = [_walk(shortest), *(f"{edge.source} {edge.status} > {edge.target}" for edge in loops)]
        roles = ", ".join(dict.fromkeys(edge.source for edge in component))
        message = f"Only the loop guard ends cycles among {roles}, such as {'; '.join(shown)}."
        hint = "To limit the rounds, count them: escalation_check or iteration_budget_check."
        first = shortest[0]
        yield Finding("W323", (first.source, first.status), message, hint)


def _bounded(t: Transition) -> bool:
    # A batch starts each pending group once, so groups that run out bound it.
    counted = t.escalation_check and t.effect in vocabulary.COUNTED_EFFECTS
    return counted or t.iteration_budget_check or t.action == vocabulary.SPAWN_BATCH


def _walk(path: tuple[Edge, ...]) -> str:
    steps = [f"{edge.source} {edge.status}" for edge in path]
    return " > ".join([*steps, path[-1].target])


def components(given: tuple[Edge, ...]) -> list[tuple[Edge, ...]]:
    """The edges of each strongly connected part that holds a cycle, in the order of the first edge."""
    forth = {role: edges.reach((role,), given) for role in dict.fromkeys(edge.source for edge in given)}
    parts: dict[frozenset[str], list[Edge]] = {}
    for edge in given:
        if edge.source in forth.get(edge.target, ()):
            mutual = frozenset(role for role in forth[edge.source] if edge.source in forth.get(role, ()))
            parts.setdefault(mutual, []).append(edge)
    return [tuple(part) for part in parts.values()]


def shortest_cycle(component: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """A shortest cycle through more than one role, else through one."""
    several = tuple(edge for edge in component if edge.source != edge.target)
    found = [cycle for edge in several if (cycle := _back(edge, several))]
    return min(found, key=len) if found else component[:1]


def _back(first: Edge, given: tuple[Edge, ...]) -> tuple[Edge, ...]:
    queue: deque[tuple[Edge, ...]] = deque([(first,)])
    seen = {first.target}
    while queue:
        path = queue.popleft()
        for edge in given:
            if edge.source != path[-1].target:
                continue
            if edge.target == first.source:
                return (*path, edge)
            if edge.target not in seen:
                seen.add(edge.target)
                queue.append((*path, edge))
    return ()
