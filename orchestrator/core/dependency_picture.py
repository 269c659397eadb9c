"""What tasks or groups depend on, as an SVG picture: each is a box to the right of everything it waits for.

It is drawn at full size, so that its texts can be read however many tasks there are, and whoever shows it lets it
scroll. No script, no style: the colours of the classes are the page's.

Cold module.
"""

from __future__ import annotations

import functools
import graphlib
import html
import itertools
import unicodedata
from collections.abc import Mapping, Sequence

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import layout
from orchestrator.core.workflow.layout import Cell, Chain, Placed

BOX, GAPS, MARGIN = (200.0, 44.0), (56.0, 14.0), 16.0
"""Width and height of a box; free room between columns and between boxes; room around all, in pixels."""
TITLE = 26
"""Columns of a title that stand in a box; a wide letter takes two."""
_MOST_LANES = 400
"""Places in between that lines are led through; where there would be more, lines pass behind boxes."""


class Box(NamedTuple):
    """One task or group; href: where it leads, or empty."""

    id: str
    title: str
    status: str
    href: str = ""


@functools.lru_cache(8)
def svg(tasks: tuple[Box, ...], edges: tuple[tuple[str, str], ...], named: str = "tasks") -> str:
    """Draw tasks or groups with what they depend on.

    The newest pictures are kept: an open page asks for the same one often.

    Args:
        tasks: at least one, each once.
        edges: a task, and one on which it depends; both are among `tasks`.
        named: what they are called.

    Returns:
        The picture; nothing where the edges close a ring, which no rule allows.
    """
    columns = _columns(tasks, edges)
    if columns is None:
        return ""
    boxes = [Cell(each.id, columns[each.id], *BOX) for each in tasks]
    lanes = _lanes(edges, columns)
    chains = [Chain(index, (on, *(cell.id for cell in lanes[index]), task)) for index, (task, on) in enumerate(edges)]
    placed = layout.lay_out([*boxes, *itertools.chain(*lanes)], chains, GAPS, MARGIN, MARGIN)
    width, height = round(placed.width), round(placed.height)
    lines = "".join(_line(chain, columns, placed) for chain in chains)
    drawn = "".join(_box(each, placed.centre[each.id]) for each in tasks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="deps" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="group" aria-label="Dependencies of {named}">{lines}{drawn}</svg>'
    )


def _columns(tasks: Sequence[Box], edges: Sequence[tuple[str, str]]) -> dict[str, int] | None:
    """The column of each task: one further than the last that it depends on."""
    waits: dict[str, list[str]] = {each.id: [] for each in tasks}
    for task, on in edges:
        waits[task].append(on)
    try:
        order = list(graphlib.TopologicalSorter(waits).static_order())
    except graphlib.CycleError:
        return None
    found: dict[str, int] = {}
    for task in order:
        found[task] = max((found[on] + 1 for on in waits[task]), default=0)
    return found


def _lanes(edges: Sequence[tuple[str, str]], columns: Mapping[str, int]) -> list[list[Cell]]:
    """What keeps room for a line in the columns that it passes."""
    passed = [range(columns[on] + 1, columns[task]) for task, on in edges]
    if sum(map(len, passed)) > _MOST_LANES:
        return [[] for _ in edges]
    return [
        [Cell(f"{index} {column}", column, layout.LANE, layout.LANE) for column in each]
        for index, each in enumerate(passed)
    ]  # fmt: skip


def _line(chain: Chain, columns: Mapping[str, int], placed: Placed) -> str:
    first, *inner, last = chain.cells
    (x, y), (to_x, to_y) = placed.centre[first], placed.centre[last]
    points = [(x + BOX[0] / 2, y)]
    for cell, column in zip(inner, itertools.count(columns[first] + 1)):
        left, right = placed.columns[column]
        points += [(left, placed.centre[cell][1]), (right, placed.centre[cell][1])]
    points.append((to_x - BOX[0] / 2 - 6, to_y))
    path = [f"M{points[0][0]:.0f},{points[0][1]:.0f}"]
    for (x1, y1), (x2, y2) in itertools.pairwise(points):
        bend = (x2 - x1) / 2
        path.append(f"C{x1 + bend:.0f},{y1:.0f} {x2 - bend:.0f},{y2:.0f} {x2:.0f},{y2:.0f}")
    head = f"M{to_x - BOX[0] / 2 - 7:.0f},{to_y - 4:.0f}l7,4l-7,4z"
    title = html.escape(f"{last} depends on {first}")
    return f'<g><title>{title}</title><path class="line" d="{" ".join(path)}"/><path class="head" d="{head}"/></g>'


def _box(task: Box, centre: tuple[float, float]) -> str:
    left, top = centre[0] - BOX[0] / 2, centre[1] - BOX[1] / 2
    said = task.status.replace("_", " ")
    title = html.escape(f"{task.id}, {said}: {task.title}")
    drawn = (
        f"<title>{title}</title>"
        f'<rect class="box task-{task.status}" x="{left:.0f}" y="{top:.0f}" width="{BOX[0]:.0f}" height="{BOX[1]:.0f}"'
        ' rx="7"/>'
        f'<text class="name" x="{left + 10:.0f}" y="{top + 18:.0f}">{html.escape(_cut(f"{task.id} · {said}"))}</text>'
        f'<text x="{left + 10:.0f}" y="{top + 35:.0f}">{html.escape(_cut(task.title))}</text>'
    )
    return f'<a href="{html.escape(task.href)}">{drawn}</a>' if task.href else f"<g>{drawn}</g>"


def _cut(text: str) -> str:
    """As much of a text as fits a box."""
    room = TITLE
    for place, letter in enumerate(text):
        room -= 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if room < 0:
            return f"{text[: place - 1].rstrip()}…"
    return text
