"""What it costs to mask what a program writes: row 16.

The anchor is one compiled pattern, in any case, over the same text, in which it finds nothing: the least that any
masking by patterns does, and it has some twenty things to look for.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator

from orchestrator.core import masking, masking_stream
from tools.benchmarks import harness
from tools.benchmarks.table import Bound, Figure

SIZE = int(os.environ.get("ORCHESTRATOR_BENCHMARK_MASKED", "10000000"))
"""How many characters are masked at once; fewer for a quick look."""
ANCHOR = re.compile(r"sk-nothing\s*[:=]\s*[A-Za-z0-9_-]{20,}", re.IGNORECASE)
PIECE = 4096
EVENTS = 10_000
EVENT = json.dumps({"op": "route", "session": "S1", "group": "G000001", "agent": "developer", "report": "done " * 40})

_LINE = (
    "2026-01-01T00:00:{second:02d}.{number:06d}Z INFO [worker-{worker}] request {number:08x} for "
    "/srv/app/src/module_{worker}/view.py:{second} finished with 200 in {second} ms, 12 tokens, key {number}\n"
)


def log(size: int) -> str:
    """Ordinary lines of a log, some of whose words come near to what is looked for."""
    lines = (_LINE.format(second=number % 60, number=number, worker=number % 7) for number in range(size // 150))
    return "".join(lines)


def document(size: int) -> str:
    """JSON in one line."""
    items = [
        {"id": number, "name": f"item {number}", "url": f"http://host:80/{number}"} for number in range(size // 64)
    ]
    return json.dumps(items, separators=(",", ":"))


def mask(rounds: int) -> Iterator[Figure]:
    """Row 16: a whole text, then pieces as a program writes them, then events one by one as they are stored."""
    texts = {"a log": log(SIZE), "JSON in one line": document(SIZE)}
    texts |= {f"`{sign}` alone": sign * SIZE for sign in ("=", " ", "a")}
    harness.keep_memory()
    for name, text in texts.items():
        cases = {"anchor": functools.partial(_anchor, text), "mask": functools.partial(masking.mask, text)}
        yield _figure(f"`mask` of {SIZE:,} characters: {name}", len(text), rounds, cases, Bound(10, 5))
    text = texts["a log"]
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    cases = {"anchor": functools.partial(_anchor, text), "mask": functools.partial(_streamed, pieces)}
    yield _figure(f"the same log in pieces of {PIECE}, keys alone", len(text), rounds, cases, Bound(10, 5))
    yield from _events(rounds)


def _events(rounds: int) -> Iterator[Figure]:
    cases = {
        "anchor": harness.loop(lambda _: ANCHOR.search(EVENT), EVENTS),
        "mask": harness.loop(lambda _: masking.mask_keys(EVENT), EVENTS),
    }
    yield _figure(
        f"`mask_keys` of an event of {len(EVENT)} characters", len(EVENT) * EVENTS, rounds, cases, Bound(3, 1)
    )


def _figure(what: str, size: int, rounds: int, cases: dict[str, harness.Case], bound: Bound) -> Figure:
    seconds = harness.interleaved(cases, min(rounds, harness.MINIMUM_ROUNDS))
    note = f"{seconds['mask'] / size * 1e9:.1f} ns a character"
    return Figure(what, "one pattern that finds nothing", seconds["mask"] / seconds["anchor"], bound, note)


def _anchor(text: str) -> None:
    if ANCHOR.search(text):
        raise harness.CommandFailed("the anchor's pattern should find nothing")


def _streamed(pieces: list[str]) -> str:
    stream = masking_stream.Stream(keys_only=True)
    return "".join([*map(stream.feed, pieces), stream.close()])
