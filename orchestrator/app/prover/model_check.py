"""`prove`: search what can happen under a workflow, with the code that decides, for a state that must not be.

Each configuration is a small session: one, two or three groups, with and without dependencies, security, research and
a limit of running groups. Searched are all of its states under an abstraction that only adds to what can happen:

- each counter and the loop guard stand below their limit, or at any rung above it, at any counted report;
- states are compared by what deciding reads, not by the numbers of their steps (`search_state`);
- one status stands for all with the same transition, an acknowledgement names one group (`possible_moves`);
- an open question is answered before anything else happens, in every way that it may be; being asked is no loop.

So what is not found cannot happen within the searched sizes, with the reports that were tried, and, where a search was
cut, within the depth that it says. What is found is tried again with exact counters and comes as lines of
`orchestrator batch`, shortest first.

Sessions of two and three groups are searched with few reports (`small`), so that the search comes to its end: groups
that nothing but their ids tells apart change places, and a group that agents pass on to each other is gone on with
alone, since nobody else can tell with which of them it is. A move is made with the real use cases once for all that it
looks at, and what it did is remembered for all states in which that is the same (`move_memory`). More reports, and
more of what may happen, are searched when that is asked for.

Source: seed 004, Proposed Solution 1 (routing comes from the transitions file)
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from orchestrator.app.prover import possible_moves, state_search, trace_replay
from orchestrator.app.prover.possible_moves import LEAN, PLAIN, SMALL, WIDE, Setting
from orchestrator.app.prover.sandbox import Move, Op, World
from orchestrator.app.prover.search_state import Fault
from orchestrator.app.prover.state_search import Finding, Search
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

DEFAULT_SECONDS = 1800
DEFAULT_STATES = 200_000
GROUPS = (1, 2, 3)


class Searched(NamedTuple):
    """One configuration: how far it was searched.

    reach, blockers: how much was tried, and how many blockers were open at once at most, as `Setting` says; depth: the
    most moves to a state; complete: whether all was gone on from; cut: what ended it otherwise, `seconds` or `states`;
    whole: the depth up to which everything was tried; open: states that were reached and not gone on from; seconds:
    what it took.
    """

    name: str
    groups: int
    reach: str
    blockers: int | None
    states: int
    moves: int
    depth: int
    complete: bool
    cut: str | None
    whole: int
    open: int
    seconds: float


class Counterexample(NamedTuple):
    """How an invariant is broken.

    invariant: `stall`, `approval`, `blocked`, `security`, `slots`, `end`, `crash`, `no_end` or `loop`;
    lines: a batch file that shows it; replayed: whether these lines were run and showed it. Where they were not, a
    counter had to stand at its limit and no way to get it there was found.
    """

    invariant: str
    configuration: str
    message: str
    lines: tuple[str, ...]
    replayed: bool


class Proof(NamedTuple):
    """What a search showed: `ok` that nothing was found, `complete` that nothing was left out of what was to be tried;
    tried: for each reach the statuses of each role that stand for all."""

    ok: bool
    complete: bool
    states: int
    configurations: tuple[Searched, ...]
    counterexamples: tuple[Counterexample, ...]
    tried: dict[str, dict[str, list[str]]]

    def answer(self) -> dict[str, Any]:
        """The proof as a door prints it."""
        return {
            "ok": self.ok,
            "complete": self.complete,
            "states": self.states,
            "configurations": [each._asdict() for each in self.configurations],
            "tried": self.tried,
            "counterexamples": [{**each._asdict(), "lines": list(each.lines)} for each in self.counterexamples],
        }


def _group(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, **more}


_A, _B, _C = _group("A"), _group("B"), _group("C")
_ON_A, _ON_B = _group("B", depends_on=["A"]), _group("C", depends_on=["B"])
CONFIGURATIONS: tuple[Setting, ...] = (
    Setting("one code group", (_A,)),
    Setting("one security group", (_group("A", security_sensitive=True),)),
    Setting("one research group", (_group("A", kind="research"),)),
    Setting("two groups", (_A, _B), reach=SMALL),
    Setting("two groups, one slot", (_A, _B), {"mode": "simple"}, reach=SMALL),
    Setting("two groups, one after the other", (_A, _ON_A), reach=SMALL),
    Setting("a security and a research group", (_group("A", security_sensitive=True), _group("B", kind="research")),
            reach=SMALL),
    Setting("three groups, two slots", (_A, _B, _C), slots=2, reach=SMALL, blockers=1),
    Setting("three groups, two slots, security, research, a dependency",
            (_group("A", kind="research"), _group("B", security_sensitive=True), _group("C", depends_on=["A"])),
            slots=2, reach=SMALL, blockers=1),
    Setting("three groups in a row", (_A, _ON_A, _ON_B), reach=SMALL, blockers=1),
)  # fmt: skip
"""What is searched, smallest first."""


_REACHES = (SMALL, LEAN, PLAIN, WIDE)


def configurations(groups: tuple[int, ...], thorough: bool) -> Iterator[Setting]:
    """The configurations with these numbers of groups; the thorough ones also searched wide, and without QA."""
    for setting in CONFIGURATIONS:
        if len(setting.groups) not in groups:
            continue
        yield setting
        if thorough and setting.reach == PLAIN:
            yield setting._replace(name=f"{setting.name}, wide", reach=WIDE)
            yield setting._replace(name=f"{setting.name}, tested less", session={"testing_mode": "minimal"})
            without = {"testing_mode": "minimal", "disabled_roles": ["qa_expert"]}
            yield setting._replace(name=f"{setting.name}, without QA", session=without)
        elif thorough:
            yield setting._replace(name=f"{setting.name}, lean", reach=LEAN, blockers=None)
            if len(setting.groups) == 2:
                yield setting._replace(name=f"{setting.name}, plain", reach=PLAIN, blockers=None)


def prove(
    content: str,
    agent_texts: dict[str, str],
    *,
    groups: tuple[int, ...] = GROUPS,
    seconds: float = DEFAULT_SECONDS,
    states: int = DEFAULT_STATES,
    thorough: bool = False,
    settings: tuple[Setting, ...] | None = None,
) -> Proof:
    """Search what can happen under a workflow for a state that must not be.

    Args:
        content: the text of the transitions file.
        agent_texts: agent files by name.
        groups: the numbers of groups that sessions have.
        seconds: for all configurations together; what one leaves goes to the next.
        states: the most states of one configuration.
        thorough: search more configurations, in which more may happen; takes minutes to hours.
        settings: the configurations themselves, in place of those.

    Returns:
        The proof; `complete` is False where time or states ran out before all was searched.

    Raises:
        InvalidInput: WORKFLOW_INVALID with every problem, as `workflow load`.
    """
    chosen = settings if settings is not None else tuple(configurations(groups, thorough))
    # What takes least first: what it leaves of the time goes to the rest.
    chosen = tuple(sorted(chosen, key=lambda setting: (len(setting.groups) > 2, _REACHES.index(setting.reach))))
    until = time.monotonic() + seconds
    searched: list[Searched] = []
    found: list[Counterexample] = []
    for place, setting in enumerate(chosen):
        share = max(0.0, until - time.monotonic()) / (len(chosen) - place)
        own, examples = _search(content, agent_texts, setting, states, share)
        searched.append(own)
        found += examples
    return Proof(
        not found,
        all(each.complete for each in searched),
        sum(each.states for each in searched),
        tuple(searched),
        tuple(_shortest_first(found)),
        _tried(content, agent_texts, chosen),
    )


def _tried(content: str, texts: dict[str, str], chosen: tuple[Setting, ...]) -> dict[str, dict[str, list[str]]]:
    workflow = World(content, texts).version.workflow
    return {setting.reach: possible_moves.tried(workflow, setting) for setting in chosen}


def _search(
    content: str, texts: dict[str, str], setting: Setting, states: int, seconds: float
) -> tuple[Searched, list[Counterexample]]:
    limited = content if setting.slots is None else limit_slots(content, setting.slots)
    began = time.monotonic()
    search = Search(World(limited, texts), setting)
    # Of the time a part is kept for loops and for trying again what was found.
    search.run(states, seconds * 0.8)
    exact = World(limited, texts, exact=True)
    load = [] if setting.slots is None else [Op("workflow load", {"content": limited, "agent_texts": texts})]
    found = [_example(exact, search, finding, load) for finding in search.findings.values()]
    found += _without_end(exact, search, load)
    if len(setting.groups) == 1:
        found += _endless(exact, search, load)
    edges = sum(len(each) for each in search.edges.values())
    depth = max(node.depth for node in search.nodes)
    taken = round(time.monotonic() - began, 3)
    return Searched(
        setting.name, len(setting.groups), setting.reach, setting.blockers, len(search.nodes), edges, depth,
        search.complete, search.cut, search.depth(), search.open(), taken,
    ), found  # fmt: skip


def _example(exact: World, search: Search, finding: Finding, load: list[Op]) -> Counterexample:
    real = trace_replay.confirm(exact, search, finding.moves, finding.fault.invariant)
    return _counterexample(search, finding.fault, real or list(finding.moves), load, replayed=real is not None)


def _without_end(exact: World, search: Search, load: list[Op]) -> Iterator[Counterexample]:
    lost = state_search.stuck(search)
    if not lost:
        return
    moves = tuple(search.moves_to(lost[0]))
    awaited = [group[6] for group in search.nodes[lost[0]].key[5] if len(group) > 6 and group[6]]
    why = f"while {', '.join(awaited)} is awaited, no report leads to an end or a person, but for the loop guard"
    real = trace_replay.confirm(exact, search, moves, None)
    yield _counterexample(search, Fault("no_end", why), real or list(moves), load, replayed=real is not None)


def _endless(exact: World, search: Search, load: list[Op]) -> Iterator[Counterexample]:
    for message, moves in trace_replay.loops(exact, search):
        yield _counterexample(search, Fault("loop", message), moves, load, replayed=True)


def _counterexample(
    search: Search, fault: Fault, moves: list[Move], load: list[Op], *, replayed: bool
) -> Counterexample:
    lines = tuple(op.line() for op in (*load, *(move.op for move in moves)))
    return Counterexample(fault.invariant, search.setting.name, fault.message, lines, replayed)


def _shortest_first(found: list[Counterexample]) -> list[Counterexample]:
    """Shortest first, and of those that end with the same line, and break the same, only the first."""
    kept: dict[tuple[str, str], Counterexample] = {}
    for each in sorted(found, key=lambda each: (len(each.lines), not each.replayed)):
        kept.setdefault((each.invariant, each.lines[-1]), each)
    return list(kept.values())


def limit_slots(content: str, slots: int) -> str:
    """The workflow with another limit of running groups."""
    document = strict_json.stored(content.lstrip("\ufeff"))
    for role, block in document.items():
        if role.startswith("_") or not isinstance(block, dict):
            continue
        for status, entry in block.items():
            if not status.startswith("_") and entry.get("action") == "spawn_batch":
                entry["max_parallel"] = slots
    return json.dumps(document)
