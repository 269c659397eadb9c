"""A workflow as a picture in three notations; a session's position can be shown on each.

Cold module.
"""

from __future__ import annotations

import re

from orchestrator.core.workflow import picture
from orchestrator.core.workflow.model import Workflow
from orchestrator.core.workflow.picture import Label, Node, Positions
from orchestrator.core.workflow.svg import svg as svg

FORMATS = ("mermaid", "dot", "svg")


def draw(workflow: Workflow, notation: str, positions: Positions | None = None) -> str:
    """The picture in one of FORMATS.

    Args:
        workflow: the workflow.
        notation: "mermaid", "dot" or "svg".
        positions: role -> what of a session waits for it (group ids); shown highlighted.

    Raises: KeyError, when the notation is none of FORMATS.
    """
    return {"mermaid": mermaid, "dot": dot, "svg": svg}[notation](workflow, positions)


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
