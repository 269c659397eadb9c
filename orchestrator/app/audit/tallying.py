"""Counting a record in one pass: what was reported, what it used, and for how long each role had its turns.

Rows come in the order of the record, so that nothing is held but the counts and the turns that are open.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from orchestrator.app.kernel import moments
from orchestrator.core import strictjson
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.routing.rules import COUNTERS
from orchestrator.core.tuples import NamedTuple

TOKENS = ("input_tokens", "output_tokens")
"""What a report may say under `usage` in its details."""
MOST_TOKENS = 2**53
JUDGING = ("test_pass", "approve", "merge")
"""Effects of judgements that let work go on; those of `COUNTERS` send it back."""
_SESSION = ""


class Report(NamedTuple):
    """A report as `inquiries.REPORTS` reads it."""

    seq: int
    group_id: str
    role: str
    agent_id: str
    status: str
    effect: str
    turn: int | None
    at: str
    details: str | None
    confirmed: int = 0
    """Whether a person has let it go on, so that it was counted when it was given; only its effect is new."""


class Turn(NamedTuple):
    """A turn that is open, or was."""

    seq: int
    group_id: str
    role: str
    at: str


class Times:
    """How long each role had its turns, in whole seconds of each turn."""

    def __init__(self) -> None:
        self.turns: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.open: Counter[str] = Counter()
        self._open: dict[str, Turn] = {}

    def begin(self, turn: Turn) -> None:
        """A turn is given out; the one before it of the same group is over."""
        self._end(turn.group_id, turn.at)
        self._open[turn.group_id] = turn
        self.turns[turn.role] += 1

    def answer(self, report: Report) -> None:
        """A report is there: of the turn that it names, of the awaited role, or of the manager for the session."""
        turn = self._open.get(report.group_id)
        if turn is not None and (report.turn == turn.seq or report.role == turn.role):
            self._end(report.group_id, report.at)
        if report.role == MANAGER and report.group_id != _SESSION:
            self._end(_SESSION, report.at)

    def close(self, group: str | None, at: str) -> None:
        """A group is no longer in progress, or (None) the session has ended."""
        for each in [group] if group is not None else list(self._open):
            self._end(each, at)

    def stop(self, at: str) -> None:
        """The reading is over: what is open is counted as far as it came."""
        for group, turn in list(self._open.items()):
            self.open[turn.role] += 1
            self._end(group, at)

    def _end(self, group: str, at: str) -> None:
        turn = self._open.pop(group, None)
        if turn is not None:
            self.seconds[turn.role] += moments.seconds(turn.at, at) or 0


class Reports:
    """Reports by agent and status, what sent work back, and what they say was used."""

    def __init__(self) -> None:
        self.by_agent: Counter[tuple[str, str, str]] = Counter()
        self.effects: Counter[str] = Counter()
        self.reworked: set[str] = set()
        self.with_usage: Counter[str] = Counter()
        self.usage: Counter[tuple[str, str]] = Counter()

    def add(self, report: Report) -> None:
        """Count one report; one that a person has let go on has come before, without its effect."""
        if not report.confirmed:
            self.by_agent[report.role, report.agent_id, report.status] += 1
        self.effects[report.effect] += 1
        if report.effect in COUNTERS:
            self.reworked.add(report.group_id)
        used = {} if report.confirmed else usage(report.details)
        if used:
            self.with_usage[report.role] += 1
        for name, count in used.items():
            self.usage[report.role, name] += count


def usage(details: str | None) -> dict[str, int]:
    """What a report says it used: whole numbers from 0 to 2^53 under `usage`; anything else counts as absent."""
    if details is None:
        return {}
    found = strictjson.stored(details)
    used = found.get("usage") if isinstance(found, dict) else None
    if not isinstance(used, dict):
        return {}
    return {name: used[name] for name in TOKENS if _is_count(used.get(name))}


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_TOKENS


def count(
    turns: Iterable[tuple[Any, ...]], reports: Iterable[tuple[Any, ...]], closings: Iterable[tuple[Any, ...]]
) -> tuple[Reports, Times]:
    """Go through turns, reports and closings together, in the order of their steps.

    In one step a report comes first, then what it closes, then whom it starts.
    """
    counted, times = Reports(), Times()
    streams = (_placed(reports, 0), _placed(closings, 1), _placed(turns, 2))
    for _, kind, row in heapq.merge(*streams, key=lambda each: each[:2]):
        if kind == 0:
            report = Report(*row)
            counted.add(report)
            times.answer(report)
        elif kind == 1:
            times.close(row[1], row[2])
        else:
            times.begin(Turn(*row))
    return counted, times


def _placed(rows: Iterable[tuple[Any, ...]], kind: int) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    for row in rows:
        yield row[0], kind, row


def fired(rules: Iterable[str]) -> Counter[str]:
    """In how many decisions each rule fired, by their JSON lists of them."""
    found: Counter[str] = Counter()
    for text in rules:
        if text != "[]":
            found.update({rule["name"] for rule in strictjson.stored(text)})
    return found


def share(part: int, whole: int) -> str | None:
    """A part of a whole as a decimal text of four places, rounded half up; None of nothing."""
    if not whole:
        return None
    places = (part * 20_000 + whole) // (2 * whole)
    return f"{places // 10_000}.{places % 10_000:04d}"
