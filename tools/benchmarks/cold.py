"""Whole processes, from the shell's call to the end: rows 1 to 4."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Iterator, Mapping

from tools.benchmarks import harness, workplace
from tools.benchmarks.table import Bound, Figure

# One step of a comparable tool took 340 ms where the anchor took 40: three processes, each heavier than the anchor.
PEER_STEP = 340 / 40

READS: dict[str, tuple[str, ...]] = {
    "status": ("status", "READ", "--json"),
    "group show": ("group", "show", "A", "--session-id", "READ", "--json"),
    "next": ("next", "--agent-id", "developer", "--session-id", "READ", "--json"),
    "audit decisions": ("audit", "decisions", "--session-id", "READ", "--json"),
}


def against_anchor(cases: Mapping[str, harness.Case], place: workplace.Workplace, rounds: int) -> dict[str, float]:
    """The time of each case as a multiple of the anchor process, all measured in one run."""
    seconds = harness.interleaved({"anchor": place.anchor(), **cases}, rounds)
    return {name: seconds[name] / seconds["anchor"] for name in cases}


def routes(place: workplace.Workplace, rounds: int, *, first: bool = False) -> harness.Case:
    """A case that routes a report of another session each time: one in the middle of its work, or the first one."""
    names = [f"{'F' if first else 'R'}{number}" for number in range(rounds + 1)]
    for name in names:
        workplace.session(place, name)
        if not first:
            place.command(*workplace.first_report(name))
    words = workplace.first_report if first else workplace.second_report
    calls: list[harness.Argv] = [(workplace.ORCHESTRATOR, *words(name)) for name in names]
    return harness.processes(calls, place.folder, place.environment)


def route(rounds: int) -> Iterator[Figure]:
    """Row 1: parse, find the database, decide, write durably, print."""
    with tempfile.TemporaryDirectory() as folder:
        place = workplace.create(pathlib.Path(folder))
        cases = {"route": routes(place, rounds), "first": routes(place, rounds, first=True)}
        ratios = against_anchor(cases, place, rounds)
    yield Figure("cold `route --json`", "process", ratios["route"], Bound(2.4, 1.8))
    started = "the first report of a group, which starts it: the state machine library is loaded"
    yield Figure("the same, moving a group", "process", ratios["first"], Bound(2.8, 2.0), started)


def other_verbs(rounds: int) -> Iterator[Figure]:
    """Row 2: what agents call between two reports."""
    with tempfile.TemporaryDirectory() as folder:
        place = workplace.create(pathlib.Path(folder))
        workplace.session(place, "READ")
        place.command(*workplace.first_report("READ"))
        place.command("task", "create", "T", "--session-id", "READ", "--title", "one change", "--by", "tech_lead")
        cases = {name: place.measured(*words) for name, words in READS.items()}
        for name, case in (*cases.items(), ("task set-status", _moves(place, rounds))):
            yield verb(name, case, place, rounds)


def _moves(place: workplace.Workplace, rounds: int) -> harness.Case:
    """A case that moves a task each time, there and back."""
    words = ("task", "set-status", "T", "--session-id", "READ", "--by", "tech_lead", "--json")
    calls: list[harness.Argv] = [
        (workplace.ORCHESTRATOR, *words, ("todo", "backlog")[number % 2 == 0]) for number in range(rounds + 1)
    ]
    return harness.processes(calls, place.folder, place.environment)


def verb(name: str, case: harness.Case, place: workplace.Workplace, rounds: int) -> Figure:
    """One command of row 2; one that fails costs its own line only."""
    try:
        ratio, note = against_anchor({name: case}, place, rounds)[name], ""
    except harness.CommandFailed as failure:
        ratio, note = None, str(failure)
    return Figure(f"cold `{name} --json`", "process", ratio, Bound(2.6, 1.8), note)


def peer_step(rounds: int) -> Iterator[Figure]:
    """Row 3: a tool that takes a router, a group update and an event as three processes."""
    with tempfile.TemporaryDirectory() as folder:
        place = workplace.create(pathlib.Path(folder))

        def three_processes() -> None:
            for _ in range(3):
                harness.call(workplace.ANCHOR, place.folder, place.environment)

        cases = {"three": three_processes, "route": routes(place, rounds)}
        ratios = against_anchor(cases, place, rounds)
    recorded = "from the recorded 8.5 anchors of a peer's step"
    yield Figure("a peer's step", "one cold `route`", PEER_STEP / ratios["route"], Bound(4, 6, at_least=True), recorded)
    bare = "a floor for any tool of three processes, not judged"
    yield Figure("three processes that only import", "one cold `route`", ratios["three"] / ratios["route"], None, bare)


def help_text(rounds: int) -> Iterator[Figure]:
    """Row 4."""
    with tempfile.TemporaryDirectory() as folder:
        place = workplace.create(pathlib.Path(folder))
        ratio = against_anchor({"help": place.measured("--help")}, place, rounds)["help"]
    yield Figure("`--help`", "process", ratio, Bound(3.5, 2.5))
