"""Places boxes and links in columns, so that no text lies on another.

A link's text is a cell of its own in the column between its ends, and a link that passes a column keeps a free
lane there; cells are then ordered to cross little and moved towards what they are joined to.

Cold module. It works on numbers only; `svg` draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from orchestrator.core.named_tuple import NamedTuple

LANE = 12.0
SWEEPS = 40
STRAIGHT = 4.0

_Neighbours = dict[str, list[tuple[str, float]]]


class Cell(NamedTuple):
    """Something that takes room in a column: a box, a text, or a lane. Sizes in pixels."""

    id: str
    column: int
    width: float
    height: float


class Chain(NamedTuple):
    """One link: the cells it goes through, from its source to its target."""

    link: int
    cells: tuple[str, ...]


class Placed(NamedTuple):
    """The result: the middle of every cell, the middle of every column, and the size of the whole, in pixels."""

    centre: dict[str, tuple[float, float]]
    columns: dict[int, tuple[float, float]]
    width: float
    height: float


def lay_out(cells: list[Cell], chains: list[Chain], gaps: tuple[float, float], margin: float, top: float) -> Placed:
    """Place cells in their columns.

    Args:
        cells: what is to be placed, in an order that counts where nothing else decides.
        chains: which cells are joined.
        gaps: free room between columns, and between the cells of a column, in pixels.
        margin, top: free room around the whole and above it, in pixels.
    """
    neighbours = _neighbours(chains)
    columns: dict[int, list[Cell]] = {}
    for cell in cells:
        columns.setdefault(cell.column, []).append(cell)
    middle = _order(columns, neighbours, gaps[1])
    spans, width = _spans(columns, gaps[0], margin)
    low = min(middle[cell.id] - cell.height / 2 for cell in cells)
    high = max(middle[cell.id] + cell.height / 2 for cell in cells)
    centre = {cell.id: (_centre(spans[cell.column]), middle[cell.id] - low + top) for cell in cells}
    return Placed(centre, spans, width, high - low + top + margin)


def _centre(span: tuple[float, float]) -> float:
    return (span[0] + span[1]) / 2


def _neighbours(chains: list[Chain]) -> _Neighbours:
    joined: _Neighbours = {}
    for chain in chains:
        inner = chain.cells[1:-1]
        for a, b in itertools.pairwise(chain.cells):
            # A long link should run straight, so its own cells hold together more than boxes do.
            weight = STRAIGHT if a in inner and b in inner else 1.0
            joined.setdefault(a, []).append((b, weight))
            joined.setdefault(b, []).append((a, weight))
    return joined


def _spans(columns: dict[int, list[Cell]], gap: float, margin: float) -> tuple[dict[int, tuple[float, float]], float]:
    spans, x = {}, margin
    for index in sorted(columns):
        width = max(cell.width for cell in columns[index])
        spans[index] = (x, x + width)
        x += width + gap
    return spans, x - gap + margin


def _order(columns: dict[int, list[Cell]], neighbours: _Neighbours, gap: float) -> dict[str, float]:
    middle: dict[str, float] = {}
    for column in columns.values():
        middle.update(_stacked(column, gap, lambda _: 0.0))
    forth = sorted(columns)
    for sweep in range(SWEEPS):
        for index in forth if sweep % 2 == 0 else forth[::-1]:
            wish = _wish(middle, neighbours)
            # After half of the sweeps the order stands, and cells only move towards their neighbours.
            column = sorted(columns[index], key=wish) if sweep < SWEEPS // 2 else columns[index]
            columns[index] = column
            middle.update(_stacked(column, gap, wish))
    return middle


def _wish(middle: dict[str, float], neighbours: _Neighbours) -> Callable[[Cell], float]:
    known = dict(middle)

    def wish(cell: Cell) -> float:
        near = neighbours.get(cell.id, ())
        if not near:
            return known.get(cell.id, 0.0)
        return sum(known[other] * weight for other, weight in near) / sum(weight for _, weight in near)

    return wish


def _stacked(column: list[Cell], gap: float, wish: Callable[[Cell], float]) -> dict[str, float]:
    """Cells in order, each as near to its wish as its neighbours allow: blocks that collide move as one."""
    blocks: list[tuple[float, float, list[Cell]]] = []
    for cell in column:
        blocks.append((wish(cell), cell.height + gap, [cell]))
        while len(blocks) > 1 and blocks[-2][0] + blocks[-2][1] / 2 > blocks[-1][0] - blocks[-1][1] / 2:
            blocks[-2:] = [_joined(blocks[-2], blocks[-1])]
    middle = {}
    for centre, height, cells in blocks:
        y = centre - height / 2
        for cell in cells:
            middle[cell.id] = y + (cell.height + gap) / 2
            y += cell.height + gap
    return middle


def _joined(
    above: tuple[float, float, list[Cell]], below: tuple[float, float, list[Cell]]
) -> tuple[float, float, list[Cell]]:
    # Each block would like its own middle; the joined block takes the weighted mean of what that means for it.
    height = above[1] + below[1]
    wish_above = above[0] + below[1] / 2
    wish_below = below[0] - above[1] / 2
    weight_above, weight_below = len(above[2]), len(below[2])
    centre = (wish_above * weight_above + wish_below * weight_below) / (weight_above + weight_below)
    return centre, height, above[2] + below[2]
