"""What the table says about each measure, and how a measured ratio is judged and printed."""

from __future__ import annotations

import datetime
import os
import platform
import sqlite3
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Bound(NamedTuple):
    """A limit of a ratio: at most it for costs, at least it for gains."""

    must: float
    goal: float
    at_least: bool = False

    def verdict(self, ratio: float) -> str:
        """`goal`, `must` or `missed`: the best that the ratio reaches."""
        for name, limit in (("goal", self.goal), ("must", self.must)):
            if ratio >= limit if self.at_least else ratio <= limit:
                return name
        return "missed"

    def words(self, limit: float) -> str:
        """A limit as the table shows it."""
        return f"{'≥' if self.at_least else '≤'} {limit:g}×"


class Figure(NamedTuple):
    """One line of the table: a ratio, or why there is none. Without a bound it is shown and not judged."""

    measure: str
    anchor: str
    ratio: float | None
    bound: Bound | None = None
    note: str = ""


Measure = Callable[[int], Iterable[Figure]]


class Row(NamedTuple):
    """A numbered row: what is measured and the function that does it, given the number of rounds."""

    number: int
    title: str
    measure: Measure


def machine() -> str:
    """The date and what the figures were measured on."""
    return (
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


HEAD = "| # | measure | anchor | ratio | must | goal | reached |\n| --- | --- | --- | --- | --- | --- | --- |"


def line(number: int, figure: Figure) -> str:
    """One line of Markdown."""
    bound, ratio = figure.bound, figure.ratio
    shown = "not measured" if ratio is None else f"{ratio:.2f}×"
    limits = (bound.words(bound.must), bound.words(bound.goal)) if bound else ("", "")
    reached = bound.verdict(ratio) if bound and ratio is not None else ""
    remark = "; ".join(filter(None, (reached, figure.note)))
    cells = [str(number), figure.measure, figure.anchor, shown, *limits, remark]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def missed(figure: Figure) -> bool:
    """Whether a figure could not be measured, or is worse than it must be."""
    if figure.ratio is None:
        return True
    return figure.bound is not None and figure.bound.verdict(figure.ratio) == "missed"
