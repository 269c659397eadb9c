"""A workflow as an SVG picture, drawn here: no outside program, no script, no font to load.

Cold module. Light and dark follow the reader's system; every text is escaped; title and description say in words
what the picture shows.
"""

from __future__ import annotations

import html
import itertools
import re

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import layout, picture, svg_style, vocabulary
from orchestrator.core.workflow.layout import Cell, Chain, Placed
from orchestrator.core.workflow.model import Workflow
from orchestrator.core.workflow.picture import Label, Link, Node, Picture

GAPS = (38.0, 13.0)
MARGIN = 28.0
TOP = 76.0
LEGEND = 44.0
LINE = 15.0
CHAR = 6.7
TITLE_CHAR = 8.3
BOX = 176.0
PORT = 13.0

MIXED = "mixed"
_LEGEND = (
    (picture.WORK, "hand-over"),
    (picture.GOOD, "approved, passed, merged"),
    (picture.BAD, "failed, sent back"),
    (picture.STOP, "blocked, waits"),
    (picture.HELP, "guidance, resumed"),
)


def svg(
    workflow: Workflow, positions: picture.Positions | None = None, ways: picture.Ways | None = None, *,
    whole: bool = False,
) -> str:  # fmt: skip
    """The picture as the text of an SVG document.

    Args:
        workflow: the workflow.
        positions: role -> what of a session waits for it (group ids); drawn highlighted.
        ways: how often each role reported each status; only that way is drawn (default: the whole workflow).
        whole: with ways, draw what was not reported as well, faintly.
    """
    shown = picture.picture(workflow, positions)
    if ways is not None:
        shown = picture.gone(shown, ways, whole=whole)
    plan = _plan(shown, faint=bool(ways) and whole)
    width, height = round(max(plan.placed.width, _legend_end())), round(plan.placed.height + LEGEND)
    body = [*(_link(plan, index) for index in range(len(shown.links))), *(_node(plan, node) for node in shown.nodes)]
    return "\n".join([*_head(shown, width, height), *body, _legend(height), "</svg>"]) + "\n"


class Plan(NamedTuple):
    """A picture with its places. ports: (link, end) -> where it touches its box; end 0 is the source. faint: links
    that were never taken are drawn faintly."""

    shown: Picture
    cells: dict[str, Cell]
    chains: list[Chain]
    placed: Placed
    ports: dict[tuple[int, int], tuple[float, float]]
    faint: bool = False


def _plan(shown: Picture, *, faint: bool = False) -> Plan:
    columns = _columns(shown)
    chains, texts = [], []
    for index, link in enumerate(shown.links):
        inner = _inner(index, link, columns[link.source], columns[link.target])
        texts += inner
        chains.append(Chain(index, (link.source, *(cell.id for cell in inner), link.target)))
    ends = _count_ends(shown, columns)
    boxes = [_box(node, columns[node.id], ends) for node in shown.nodes]
    cells = [*boxes, *texts]
    placed = layout.lay_out(cells, chains, GAPS, MARGIN, TOP)
    plan = Plan(shown, {cell.id: cell for cell in cells}, chains, placed, {}, faint)
    return plan._replace(ports=_ports(plan))


_RANK = {**picture.RANK, vocabulary.VALIDATOR: -1, picture.PERSON: -1, picture.END: -1}


def _columns(shown: Picture) -> dict[str, int]:
    """Boxes stand in even columns, texts in odd ones. The way of work goes from left to right."""
    columns = {}
    for node in shown.nodes:
        owner = node.id.partition(":")[2]
        rank = _RANK.get(node.id, 1)
        if node.kind == picture.RETURN:
            # The way back goes to the left, as the way on goes to the right.
            rank = _RANK.get(owner, 1) - 1
        columns[node.id] = rank * 2
    return columns


def _inner(index: int, link: Link, start: int, end: int) -> list[Cell]:
    step = 1 if end >= start else -1
    width = max(len(label.text) for label in link.labels) * CHAR + 12
    text = Cell(f"text:{index}", start + step, width, len(link.labels) * LINE + 6)
    lanes = range(start + 2 * step, end, step) if start != end else ()
    return [text, *(Cell(f"lane:{index}:{column}", column, layout.LANE, layout.LANE) for column in lanes)]


def _count_ends(shown: Picture, columns: dict[str, int]) -> dict[tuple[str, int], int]:
    count: dict[tuple[str, int], int] = {}
    for link in shown.links:
        for node, side in _sides(link, columns):
            count[node, side] = count.get((node, side), 0) + 1
    return count


def _sides(link: Link, columns: dict[str, int]) -> tuple[tuple[str, int], tuple[str, int]]:
    """On which side (1 right, -1 left) a link leaves its source and meets its target."""
    leave = 1 if columns[link.target] >= columns[link.source] else -1
    meet = -leave if columns[link.target] != columns[link.source] else leave
    return (link.source, leave), (link.target, meet)


def _box(node: Node, column: int, ends: dict[tuple[str, int], int]) -> Cell:
    rows = len(node.loops) + (1 if node.marks else 0)
    ports = max(ends.get((node.id, 1), 0), ends.get((node.id, -1), 0))
    height = max((30 if node.kind != picture.ROLE else 44) + rows * LINE, ports * PORT + 18)
    texts = [len(node.title) * TITLE_CHAR, len(_marks(node)) * 7.0]
    texts += [(len(label.text) + 2) * CHAR for label in node.loops]
    return Cell(node.id, column, max(BOX if node.kind == picture.ROLE else 120, *(text + 28 for text in texts)), height)


def _marks(node: Node) -> str:
    shown = ", ".join(mark if len(mark) <= 16 else mark[:15] + "…" for mark in node.marks[:picture.MAX_MARKS])
    more = len(node.marks) - picture.MAX_MARKS
    return f"● {shown} +{more}" if more > 0 else f"● {shown}" if shown else ""


def _ports(plan: Plan) -> dict[tuple[int, int], tuple[float, float]]:
    columns = {cell.id: cell.column for cell in plan.cells.values()}
    touching: dict[tuple[str, int], list[tuple[float, int, int]]] = {}
    for chain in plan.chains:
        link = plan.shown.links[chain.link]
        nexts = (chain.cells[1], chain.cells[-2])
        for end, (node, side) in enumerate(_sides(link, columns)):
            touching.setdefault((node, side), []).append((plan.placed.centre[nexts[end]][1], chain.link, end))
    ports = {}
    for (node, side), touches in touching.items():
        x, y = plan.placed.centre[node]
        spread = min(PORT * 1.6, (plan.cells[node].height - 16) / len(touches))
        for rank, (_, link_index, end) in enumerate(sorted(touches)):
            offset = (rank - (len(touches) - 1) / 2) * spread
            ports[link_index, end] = (x + side * plan.cells[node].width / 2, y + offset)
    return ports


def _link(plan: Plan, index: int) -> str:
    link = plan.shown.links[index]
    tones = {label.tone for label in link.labels}
    tone = tones.pop() if len(tones) == 1 else MIXED
    path = f'<path class="line {tone}" d="{_path(plan, index)}" marker-end="url(#wf-{tone})"/>'
    x, y = plan.placed.centre[f"text:{index}"]
    cell = plan.cells[f"text:{index}"]
    tag = _rect("tag", x - cell.width / 2 + 1, y - cell.height / 2, cell.width - 2, cell.height, 4)
    first = y - (len(link.labels) - 1) * LINE / 2 + 4
    lines = "".join(_code(label, x, first + row * LINE) for row, label in enumerate(link.labels))
    name = "link faint" if plan.faint and not picture.is_gone(link.labels) else "link"
    return f'<g class="{name}"><title>{_escape(_sentence(link))}</title>{path}{tag}{lines}</g>'


def _code(label: Label, x: float, y: float, prefix: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="middle"'
    return f'<text class="code {label.tone}" {place}>{prefix}{_escape(label.text)}</text>'


def _path(plan: Plan, index: int) -> str:
    chain = plan.chains[index]
    start, end = plan.ports[index, 0], plan.ports[index, 1]
    link = plan.shown.links[index]
    if plan.cells[link.source].column == plan.cells[link.target].column:
        return _turning(plan, index, start, end)
    ahead = 1 if end[0] > start[0] else -1
    points = [start]
    for cell_id in chain.cells[1:-1]:
        y = plan.placed.centre[cell_id][1]
        left, right = plan.placed.columns[plan.cells[cell_id].column]
        points += [(left, y), (right, y)] if ahead == 1 else [(right, y), (left, y)]
    # The arrow's head needs a straight bit to lie on.
    points += [(end[0] - ahead * 10, end[1]), end]
    return _smooth(points)


def _turning(plan: Plan, index: int, start: tuple[float, float], end: tuple[float, float]) -> str:
    x, y = plan.placed.centre[f"text:{index}"]
    inside = x - plan.cells[f"text:{index}"].width / 2 + 6
    there = _smooth([start, (inside, y - 3)])
    back = _smooth([(inside, y + 3), (end[0] + 10, end[1]), end])
    return f"{there} L{back[1:]}"


def _smooth(points: list[tuple[float, float]]) -> str:
    parts = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for (x1, y1), (x2, y2) in itertools.pairwise(points):
        if y1 == y2:
            parts.append(f"L{x2:.1f},{y2:.1f}")
        else:
            bend = (x2 - x1) / 2
            parts.append(f"C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}")
    return " ".join(parts)


def _node(plan: Plan, node: Node) -> str:
    x, y = plan.placed.centre[node.id]
    cell = plan.cells[node.id]
    classes = "node" + (" pill" if node.kind != picture.ROLE else "") + (" here" if node.marks else "")
    radius = 8 if node.kind == picture.ROLE else min(cell.height, 34) / 2
    parts = [_rect("box", x - cell.width / 2, y - cell.height / 2, cell.width, cell.height, radius)]
    rows = len(node.loops) + (1 if node.marks else 0)
    at = y - rows * LINE / 2 + 5
    parts.append(f'<text class="name" x="{x:.1f}" y="{at:.1f}" text-anchor="middle">{_escape(node.title)}</text>')
    for label in node.loops:
        at += LINE
        parts.append(_code(label, x, at, "↻ "))
    if node.marks:
        at += LINE + 1
        parts.append(f'<text class="mark" x="{x:.1f}" y="{at:.1f}" text-anchor="middle">{_escape(_marks(node))}</text>')
    return f'<g class="{classes}"><title>{_escape(_hover(node))}</title>{"".join(parts)}</g>'


def _hover(node: Node) -> str:
    return f"{node.title}: {', '.join(node.marks)}" if node.marks else node.title


def _rect(name: str, x: float, y: float, width: float, height: float, radius: float) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}" rx="{radius:.1f}"'
    return f'<rect class="{name}" x="{x:.1f}" y="{y:.1f}" {size}/>'


def _head(shown: Picture, width: int, height: int) -> list[str]:
    title = f"Workflow {shown.name}".strip()
    words = ". ".join(
        [*(_sentence(link) for link in shown.links), *(_standing(node) for node in shown.nodes if node.marks)]
    )
    markers = "".join(_marker(tone) for tone in svg_style.TONES)
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wf" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" aria-labelledby="wf-title wf-desc">',
        f'<title id="wf-title">{_escape(title)}</title>',
        f'<desc id="wf-desc">{_escape(words)}.</desc>',
        f"<style>{svg_style.STYLE}</style>",
        f"<defs>{markers}</defs>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        f'<text class="head" x="{MARGIN:.0f}" y="40">{_escape(title)}</text>',
    ]


def _sentence(link: Link) -> str:
    return f"{_name(link.source)} to {_name(link.target)}: {', '.join(label.text for label in link.labels)}"


def _standing(node: Node) -> str:
    return f"At {node.title}: {', '.join(node.marks)}"


def _name(node: str) -> str:
    return picture.TITLES.get(node.partition(":")[0], node.replace("_", " "))


def _marker(tone: str) -> str:
    shape = f'<path class="fill {tone}" d="M0,0 L9,4.5 L0,9 L2,4.5 z"/>'
    place = 'viewBox="0 0 9 9" refX="8.5" refY="4.5" markerWidth="9" markerHeight="9"'
    return f'<marker id="wf-{tone}" {place} markerUnits="userSpaceOnUse" orient="auto">{shape}</marker>'


def _step(words: str) -> float:
    """How much room an entry of the legend takes."""
    return 24 + len(words) * 6.4 + 26


def _legend_end() -> float:
    """How wide a drawing is at least, so that its legend is whole."""
    return MARGIN + sum(_step(words) for _, words in _LEGEND)


def _legend(height: int) -> str:
    x, y, parts = MARGIN, height - 22, []
    for tone, words in _LEGEND:
        parts.append(f'<rect class="fill {tone}" x="{x:.0f}" y="{y - 7}" width="18" height="4" rx="2"/>')
        parts.append(f'<text class="sub" x="{x + 24:.0f}" y="{y}">{words}</text>')
        x += _step(words)
    return f"<g>{''.join(parts)}</g>"


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _escape(text: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", text))
