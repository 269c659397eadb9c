"""A workflow as a picture in four notations; a session's position can be shown on each.

Cold module.
"""

from __future__ import annotations

import re
import textwrap

from orchestrator.core import control_characters
from orchestrator.core.workflow import picture
from orchestrator.core.workflow.model import Workflow
from orchestrator.core.workflow.picture import Label, Node, Positions, Ways
from orchestrator.core.workflow.svg import svg as svg
from orchestrator.hints import Any

FORMATS = ("mermaid", "dot", "svg", "text")
WIDTH = 78
"""Columns of the picture as text."""


def draw(workflow: Workflow, notation: str, positions: Positions | None = None) -> str:
    """The picture in one of FORMATS.

    Args:
        workflow: the workflow.
        notation: "mermaid", "dot", "svg" or "text".
        positions: role -> what of a session waits for it (group ids); shown highlighted.

    Raises: KeyError, when the notation is none of FORMATS.
    """
    return {"mermaid": mermaid, "dot": dot, "svg": svg, "text": text}[notation](workflow, positions)


def way_gone(
    workflow: Workflow, positions: Positions, ways: Ways, *, whole: bool
) -> tuple[str, list[dict[str, Any]]]:
    """The way that was gone, as SVG and as `picture.ladder` tells it, JSON-like.

    Args:
        whole: with what was never reported.
    """
    shown = picture.gone(picture.picture(workflow, positions), ways, whole=whole)
    ladder = [{**each._asdict(), "ways": [way._asdict() for way in each.ways]} for each in picture.ladder(shown)]
    return svg(workflow, positions, ways, whole=whole), ladder


def mermaid(workflow: Workflow, positions: Positions | None = None) -> str:
    """The picture as a Mermaid flowchart."""
    shown = picture.picture(workflow, positions)
    names = {node.id: _plain_id(node.id) for node in shown.nodes}
    lines = ["flowchart LR"]
    for node in shown.nodes:
        left, right = ("[", "]") if node.kind == picture.ROLE else ("([", "])")
        lines.append(f'  {names[node.id]}{left}"{_mermaid_text(_lines_of(node))}"{right}')
        if node.loops:
            lines.append(f'  {names[node.id]} -->|"{_labels(node.loops)}"| {names[node.id]}')
    lines += [f'  {names[a]} -->|"{_labels(labels)}"| {names[b]}' for a, b, labels in shown.links]
    here = [names[node.id] for node in shown.nodes if node.marks]
    if here:
        lines += ["  classDef here stroke:#0b63ce,stroke-width:3px", f"  class {','.join(here)} here"]
    return "\n".join(lines) + "\n"


def dot(workflow: Workflow, positions: Positions | None = None) -> str:
    """The picture in Graphviz' language."""
    shown = picture.picture(workflow, positions)
    lines = ["digraph workflow {", "  rankdir=LR;", '  node [shape=box, style=rounded, fontname="Helvetica"];']
    lines.append('  edge [fontname="Helvetica", fontsize=10];')
    for node in shown.nodes:
        more = "" if node.kind == picture.ROLE else ", style=dashed"
        more += ', color="#0b63ce", penwidth=3' if node.marks else ""
        lines.append(f"  {_quoted([node.id])} [label={_quoted(_lines_of(node))}{more}];")
        if node.loops:
            lines.append(_dot_link(node.id, node.id, node.loops))
    lines += [_dot_link(*link) for link in shown.links]
    return "\n".join([*lines, "}"]) + "\n"


def text(workflow: Workflow, positions: Positions | None = None) -> str:
    """The picture for a terminal: each role, and below it where its statuses lead."""
    shown = picture.picture(workflow, positions)
    titles = {node.id: node.title for node in shown.nodes}
    lines: list[str] = []
    for node in shown.nodes:
        ways = [(titles[link.target], link.labels) for link in shown.links if link.source == node.id]
        ways += [(f"{node.title} again", node.loops)] if node.loops else []
        if not ways and not node.marks:
            continue
        lines += ["", node.title + (f"  <== {_marks(node)}" if node.marks else "")]
        for number, (target, labels) in enumerate(ways, 1):
            lines += _way(target, labels, is_last=number == len(ways))
    return "\n".join(lines[1:]) + "\n"


def _marks(node: Node) -> str:
    return control_characters.on_one_line(", ".join(node.marks))


def _way(target: str, labels: tuple[Label, ...], *, is_last: bool) -> list[str]:
    head, below = ("└─> ", "      ") if is_last else ("├─> ", "│     ")
    listed = f"{target}: {', '.join(label.text for label in labels)}"
    return textwrap.wrap(
        listed, WIDTH, initial_indent=head, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )


def _dot_link(source: str, target: str, labels: tuple[Label, ...]) -> str:
    return f"  {_quoted([source])} -> {_quoted([target])} [label={_quoted([label.text for label in labels])}];"


def _lines_of(node: Node) -> list[str]:
    return [node.title, *([", ".join(node.marks)] if node.marks else [])]


def _plain_id(node: str) -> str:
    # "end" alone is a keyword of Mermaid.
    return "n_" + re.sub(r"[^a-z0-9]", "_", node.lower())


def _labels(labels: tuple[Label, ...]) -> str:
    return _mermaid_text([label.text for label in labels])


def _mermaid_text(lines: list[str]) -> str:
    return "<br/>".join(re.sub(r"[^\w ,.:()+-]", lambda match: f"#{ord(match.group())};", line) for line in lines)


def _quoted(lines: list[str]) -> str:
    safe = (re.sub(r"[\x00-\x1f]", " ", line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(safe) + '"'
