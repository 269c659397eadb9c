"""Every row of the table, in order. A new measure is a function of the number of rounds and one line here."""

from __future__ import annotations

from collections.abc import Iterator

from tools.benchmarks import (
    batches,
    certificate_checks,
    cold,
    crowd,
    durable,
    engines,
    frames,
    growth,
    judging,
    masking,
    snapshots,
    supervision,
    tools,
    turns,
    verified,
    web,
    work,
)
from tools.benchmarks.table import Figure, Row


def many(rounds: int) -> Iterator[Figure]:
    """Row 12, which has three parts."""
    yield from judging.validate(rounds)
    yield from work.next_action(rounds)
    yield from work.rings(rounds)


def longer(rounds: int) -> Iterator[Figure]:
    """Row 9, which has two parts."""
    yield from growth.route(rounds)
    yield from growth.standing(rounds)


def doors(rounds: int) -> Iterator[Figure]:
    """Row 17: HTTP, and the one thing that it has no endpoint for."""
    yield from web.rates(rounds)
    yield from tools.rates(rounds)


ROWS = (
    Row(1, "cold `route`", cold.route),
    Row(2, "other cold commands", cold.other_verbs),
    Row(3, "a peer's step", cold.peer_step),
    Row(4, "`--help`", cold.help_text),
    Row(5, "durable `route` in process", durable.rates),
    Row(6, "a step of other engines", engines.steps),
    Row(7, "`batch`", batches.batch),
    Row(8, "eight processes in a hot loop", crowd.hot_loop),
    Row(9, "one `route` and `status` after many steps", longer),
    Row(10, "lists at a million decisions", growth.lists),
    Row(11, "verifying the record and telling it again", verified.record),
    Row(12, "a verdict over many groups, `next` among many tasks", many),
    Row(13, "bytes grown per route", durable.sizes),
    Row(14, "running a program under supervision", supervision.supervised),
    Row(15, "between two turns of a driver", turns.between),
    Row(16, "masking", masking.mask),
    Row(17, "doors of a server", doors),
    Row(18, "looking at a tree of files", snapshots.looks),
    Row(19, "pages written by the commit of a `route`", frames.commit),
    Row(20, "checking a certificate", certificate_checks.checks),
)
