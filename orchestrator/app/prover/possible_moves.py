"""What may be tried in a state: one status for each meaning, by whoever is awaited, and all that the manager may do.

A status stands for every other one of its role with the same transition in all that the router reads. A failure is
tried below its threshold and at every rung of it; any report with the loop guard at each rung that would change where
it goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from orchestrator.app.prover.sandbox import BELOW, SESSION, Limit, Move, Op, World, answer, report
from orchestrator.app.prover.search_state import Marks, State
from orchestrator.core import questions
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import admission, rules
from orchestrator.core.routing.facts import MANAGER, PERSON
from orchestrator.core.workflow import vocabulary
from orchestrator.core.workflow.model import Transition, Workflow
from orchestrator.hints import Any

SMALL, LEAN, PLAIN, WIDE = "small", "lean", "plain", "wide"
MOST_BLOCKERS = {SMALL: 1, LEAN: 1, PLAIN: 1, WIDE: 2}
"""Open blockers of a group beyond which none is opened."""
REASON = "a reason"
EXTERNAL = {"external": True, "external_dependency": "the environment"}
BANDS = (1, 2, 3, 4)
_DEAD = ("cancelled", "deferred_external")


class Setting(NamedTuple):
    """What is searched: a session, its groups, and how much of what may happen is tried.

    slots: the workflow's `max_parallel`, where it is another; blockers: how many are open in all, at most.
    reach: `plain`, every meaning of a status, counters at every limit; `wide`, also first reports of groups that nobody
    started, interruptions, reports of the manager in a group before its time, the question at the end of each ladder,
    and two blockers; `lean`, of what moves a group from one agent to another only what brings it to its end or stops
    it. While an agent works on a group, other groups can tell nothing of it but that it has a slot; so what a plain
    search of one group shows need not be repeated for each state of the others; `small`, of that again only one way to
    each: who builds submits, merges or blocks, who reviews approves or guides (the external mark too), anybody else
    passes the work on, the manager plans, goes on, confirms, defers, resumes and orders rework.
    """

    name: str
    groups: tuple[dict[str, Any], ...]
    session: Mapping[str, Any] = MappingProxyType({})
    slots: int | None = None
    reach: str = PLAIN
    blockers: int | None = None

    @property
    def wide(self) -> bool:
        """Whether everything is tried."""
        return self.reach == WIDE

    def beginning(self) -> list[Op]:
        """The operations before the first state of the search."""
        groups = [Op("group create", {"session_id": SESSION, **group}) for group in self.groups]
        return [Op("session create", {"id": SESSION, **self.session}), *groups]

    def alike(self) -> dict[str, int]:
        """A number for each group, the same for groups that only their ids tell apart."""
        needed = {other for group in self.groups for other in group.get("depends_on", ())}
        kinds: list[Any] = []
        found = {}
        for place, group in enumerate(self.groups):
            tied = place if group["id"] in needed or group.get("depends_on") else None
            kind = ({name: value for name, value in group.items() if name != "id"}, tied)
            if kind not in kinds:
                kinds.append(kind)
            found[str(group["id"])] = kinds.index(kind)
        return found


def alphabet(workflow: Workflow, role: str) -> list[Transition]:
    """One transition of a role for each meaning."""
    found: dict[Any, Transition] = {}
    modes = workflow.rules.testing_modes.values()
    for (owner, status), transition in workflow.transitions.items():
        if owner == role:
            affected = tuple(status in mode.affected_statuses for mode in modes)
            plain = transition._replace(status="", include_context=(), model_override=None, description="")
            found.setdefault((plain, affected), transition)
    return list(found.values())


_STOPPING = frozenset(("block", "guide", "defer", "resume", "rework", "confirm", "plan", "continue", "clarify",
                       "end_research"))  # fmt: skip
_ENDING = frozenset(("submit_review", "approve", "merge"))


def _lean(workflow: Workflow, role: str) -> list[Transition]:
    """Of a role's transitions those that bring a group to its end or stop it; where it has none, one per target."""
    whole = alphabet(workflow, role)
    ending = [each for each in whole if each.effect in _ENDING]
    if not ending:
        ending = list({each.next_agent: each for each in whole[::-1] if each.effect not in _STOPPING}.values())
    return [*ending, *(each for each in whole if each.effect in _STOPPING)]


_MANAGING = frozenset(("plan", "continue", "confirm", "defer", "resume", "rework"))


def _small(workflow: Workflow, role: str) -> list[Transition]:
    """Of those again one for each effect; of the manager those that move groups; of who only passes work on, one.

    Where there are several, what goes back to who was blocked, or on to who approves, is the way that matters most.
    """
    approving = {owner for (owner, _), each in workflow.transitions.items() if each.effect == "approve"}
    ahead = (vocabulary.RETURN_TO_BLOCKED, *approving)
    lean = sorted(_lean(workflow, role), key=lambda each: each.effect != "block" and each.next_agent not in ahead)
    if role == MANAGER:
        lean = [each for each in lean if each.effect in _MANAGING]
    elif not any(each.effect in _ENDING for each in lean):
        return ([each for each in lean if each.effect not in _STOPPING] or lean)[:1]
    return list({each.effect: each for each in lean[::-1]}.values())[::-1]


_STATUSES: dict[tuple[str, str, str], list[Transition]] = {}


def statuses(workflow: Workflow, role: str, setting: Setting) -> list[Transition]:
    """The transitions of a role that are tried under a setting."""
    key = (workflow.hash, role, setting.reach)
    if key not in _STATUSES:
        _STATUSES[key] = {SMALL: _small, LEAN: _lean}.get(setting.reach, alphabet)(workflow, role)
    return _STATUSES[key]


def tried(workflow: Workflow, setting: Setting) -> dict[str, list[str]]:
    """Which statuses of each role are tried under a setting; each stands for those that mean the same."""
    found = {role: [each.status for each in statuses(workflow, role, setting)] for role in workflow.roles()}
    return {role: names for role, names in found.items() if names and role != vocabulary.VALIDATOR}


def moves(world: World, state: State, setting: Setting) -> Iterator[Move]:
    """Everything that is tried in a state; some of it will be refused."""
    if state.asks:
        # What agents do meanwhile is searched from where the answer leads; before it they change nothing but counts.
        yield from _answers(state.questions[0])
        return
    workflow = world.version.workflow
    called = state.session.awaited_role == MANAGER or any(m.awaited_role == MANAGER for m in state.groups)
    for transition in statuses(workflow, MANAGER, setting):
        if called or setting.reach != SMALL:
            yield from _of_manager(workflow, state, transition, called)
    for m in state.groups:
        yield from _by_hand(state, m, workflow, setting)
        if m.status == "in_progress" and m.running:
            yield from _of_awaited(workflow, state, m, setting)
        elif m.status == "pending" and setting.wide:
            yield from _of_anybody(workflow, state, m, setting)
        for transition in statuses(workflow, MANAGER, setting):
            yield from _of_manager_in(workflow, state, m, transition, setting)


class AtWork(NamedTuple):
    """A group that is passed from agent to agent, and all that may move it."""

    group: str
    moves: tuple[Move, ...]

    def has(self, state: State) -> bool:
        """Whether an agent has it in a state."""
        return any(m.id == self.group and m.status == "in_progress" and m.running for m in state.groups)


def working(world: World, state: State, setting: Setting) -> AtWork | None:
    """A group that is passed from one agent to another, and all that may move it; None where there is no such group.

    Until it is passed to somebody else than an agent nothing else can tell with which of them it is, and nothing that
    happens elsewhere changes what they may do: what happens to it in between can be moved together, and what else
    happens before or behind. Cancelling it leads from each of them to the same, and is tried while its builder works.
    """
    workflow = world.version.workflow
    for m in () if state.asks else state.groups:
        builds = m.builder is None or (m.awaited_role == m.builder and m.awaited_action != "spawn_merge")
        if m.status != "in_progress" or not m.running or builds:
            continue
        found = list(_of_awaited(workflow, state, m, setting))
        for transition in statuses(workflow, MANAGER, setting):
            found += _of_manager_in(workflow, state, m, transition, setting)
        return AtWork(m.id, tuple(found))
    return None


def _answers(question: tuple[Any, ...]) -> Iterator[Move]:
    """Every answer to the oldest open question; all those of a clarification mean the same."""
    kind = str(question[1])
    decisions = questions.DECISIONS[kind]
    for decision in decisions[:1] if kind == questions.CLARIFICATION else decisions:
        yield Move(answer(decision), awaited=True)


def _of_manager(workflow: Workflow, state: State, transition: Transition, called: bool) -> Iterator[Move]:
    effect, status = transition.effect, transition.status
    # An investigation without a group makes a new one each time: there is no end to such states.
    if effect in (*admission.NEEDS_GROUP, "investigate") or (effect == "plan" and state.session.planned):
        return
    yield Move(report(MANAGER, status, summary=REASON), awaited=called)
    if effect == "confirm":
        for m in state.groups:
            if m.status == "in_progress" and m.awaited_role == MANAGER:
                yield Move(report(MANAGER, status, acknowledge={m.id: REASON}), awaited=called)


def _of_manager_in(
    workflow: Workflow, state: State, m: Marks, transition: Transition, setting: Setting
) -> Iterator[Move]:
    effect, status = transition.effect, transition.status
    if m.status == "deferred_external" and effect == "resume":
        yield Move(report(MANAGER, status, m.id, summary=REASON))
    mine = m.awaited_role == MANAGER
    if m.status != "in_progress" or not (mine or setting.wide or effect == "rework"):
        return
    if mine and effect in ("plan", "confirm", "end_research", "clarify") and not setting.wide:
        return
    more: dict[str, Any] = {} if mine else {"interrupt": True}
    given = report(MANAGER, status, m.id, summary=REASON, **more)
    for limit in _limits(workflow, transition, MANAGER, setting):
        yield Move(given, limit, awaited=mine)


def _of_awaited(workflow: Workflow, state: State, m: Marks, setting: Setting) -> Iterator[Move]:
    role = str(m.awaited_role)
    for transition in statuses(workflow, role, setting):
        effect = transition.effect
        if effect in ("merge", "merge_fail") and m.awaited_action != "spawn_merge":
            continue
        if effect == "block" and not _may_block(state, m, setting):
            continue
        for limit in _limits(workflow, transition, role, setting):
            yield Move(report(role, transition.status, m.id), limit, awaited=True)
        if effect == "guide":
            yield Move(report(role, transition.status, m.id, details=EXTERNAL), awaited=True)


def _may_block(state: State, m: Marks, setting: Setting) -> bool:
    """Whether one more blocker is opened."""
    own, in_all = len(state.blockers.get(m.id, ())), sum(map(len, state.blockers.values()))
    return own < MOST_BLOCKERS[setting.reach] and (setting.blockers is None or in_all < setting.blockers)


def _of_anybody(workflow: Workflow, state: State, m: Marks, setting: Setting) -> Iterator[Move]:
    for role in workflow.roles():
        if role in (MANAGER, vocabulary.VALIDATOR):
            continue
        for transition in alphabet(workflow, role):
            yield Move(report(role, transition.status, m.id))


def _limits(workflow: Workflow, transition: Transition, role: str, setting: Setting) -> Iterator[Limit]:
    yield BELOW
    if setting.reach in (SMALL, LEAN):
        return
    counted = transition.effect in rules.COUNTERS and transition.escalation_check
    if counted and workflow.rules.escalation_agent:
        yield from (Limit(band=band) for band in BANDS if setting.wide or band < BANDS[-1])
    if transition.iteration_budget_check:
        yield Limit(rounds=True)
    # A rung that is passed over gives what the next one gives.
    passed = (role, transition.next_agent)
    for number, rung in enumerate(workflow.rules.loop_on_exhausted, 1):
        asks = rung in (PERSON, vocabulary.QUESTION)
        if (asks and setting.wide) or (not asks and rung not in passed):
            yield Limit(rung=number)


def _by_hand(state: State, m: Marks, workflow: Workflow, setting: Setting) -> Iterator[Move]:
    if m.status in ("pending", "in_progress", "deferred_external"):
        yield _set(m, "cancelled")
    if m.status in ("completed", "deferred_external"):
        yield _set(m, "in_progress")
        for number, _ in enumerate(workflow.rules.loop_on_exhausted, 1):
            if setting.wide:
                yield Move(_set(m, "in_progress").op, Limit(rung=number))
    if m.status == "in_progress" and any(external for external, *_ in state.blockers.get(m.id, ())):
        yield _set(m, "deferred_external")
    closed = {other.id for other in state.groups if other.status in _DEAD}
    for group, on in state.edges:
        if group == m.id and on in closed:
            given = {"id": group, "on": on, "session_id": SESSION, "by": MANAGER, "reason": REASON}
            yield Move(Op("group undepend", given))


def _set(m: Marks, status: str) -> Move:
    given = {"id": m.id, "session_id": SESSION, "by": MANAGER, "status": status, "reason": REASON}
    return Move(Op("group set-status", given))
