"""Swimlanes as SVG: a lane for each group, a bar for each turn. Classes and attributes only, so that a strict content
security policy allows it; `STYLE` has the colours for light and dark.

Cold module.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from orchestrator.core import visible
from orchestrator.hints import Any

LETTERS = {
    "project_manager": "P", "developer": "D", "senior_software_engineer": "S", "qa_expert": "Q", "tech_lead": "T",
    "investigator": "I", "requirements_engineer": "R", "validator": "V", "orchestrator": "O", "user": "U",
}  # fmt: skip
"""The letter of each role, so that colour is never the only sign."""
OTHER = "X"
WIDTH, LABEL, LANE, BAR, TOP = 1200, 200, 26, 14, 28
"""Units of the drawing: its width, the part of it for names, a lane's and a bar's height, the room for the axis."""
TICKS, LEAST, LETTER = 6, 2, 12
"""Marks on the axis; the width of the shortest bar, and of the shortest that has room for its letter."""

_COLOURS = {
    "P": ("#5b4bb5", "#a99bf0"), "D": ("#0b63ce", "#6cb2ff"), "S": ("#0a4c96", "#8fc4ff"), "Q": ("#0f766e", "#4fd1c5"),
    "T": ("#9a3412", "#f6ad7b"), "I": ("#854d0e", "#e7c46a"), "R": ("#86198f", "#e08be8"), "V": ("#15803d", "#5fd38a"),
    "O": ("#4b5563", "#9ca3af"), "U": ("#4b5563", "#9ca3af"), OTHER: ("#4b5563", "#9ca3af"),
}  # fmt: skip


def _palette(which: int, *, ink: str, line: str, paper: str, stop: str, wait: str) -> str:
    bars = "".join(f".lanes .r{letter}{{fill:{pair[which]}}}" for letter, pair in _COLOURS.items())
    return (
        f".lanes text{{fill:{ink}}}.lanes .rule{{stroke:{line}}}.lanes .letter{{fill:{paper}}}"
        f".lanes .again{{stroke:{ink}}}.lanes .block{{fill:{stop}}}.lanes .pause{{fill:{wait}}}{bars}"
    )


STYLE = (
    ".lanes text{font:12px ui-sans-serif,system-ui,sans-serif}.lanes .letter{font-size:10px;font-weight:600}"
    ".lanes .again{stroke-width:1.5;stroke-dasharray:3 2}.lanes .replaced{opacity:.4}.lanes .open{opacity:.75}"
    f"{_palette(0, ink='#1f2430', line='#d5dae2', paper='#ffffff', stop='#be123c', wait='#b45309')}"
    "@media (prefers-color-scheme:dark){"
    f"{_palette(1, ink='#e8eaee', line='#3a424e', paper='#14171c', stop='#ff8098', wait='#f2b25c')}}}"
)

Hide = Callable[[str], str]


def drawn(answer: dict[str, Any], hide: Hide, link: Callable[[dict[str, Any]], str | None]) -> Iterator[str]:
    """The drawing, part by part.

    Args:
        answer: the lanes, as `app.audit.swimlanes.swimlanes` answers them.
        hide: masks a text.
        link: where a bar leads, if anywhere: an address that needs no escaping but that of HTML.
    """
    scale = _Scale(answer)
    height = TOP + LANE * len(answer["lanes"])
    about = _text(f"Turns of session {answer['session_id']} over time")
    yield f'<svg class="lanes" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{about}">\n'
    yield from scale.axis(height)
    for place, lane in enumerate(answer["lanes"]):
        yield from _lane(lane, TOP + LANE * place, scale, hide, link)
    yield "</svg>\n"


class _Scale:
    """Where on the drawing a time is."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self._start = _moment(answer["start"])
        self._length = max(_moment(answer["end"]) - self._start, 1e-6)

    def x(self, at: str | None) -> float:
        """Where a time is; the end for what is open."""
        share = 1.0 if at is None else (_moment(at) - self._start) / self._length
        return LABEL + min(max(share, 0.0), 1.0) * (WIDTH - LABEL)

    def span(self, each: dict[str, Any]) -> tuple[float, float]:
        """Where something begins, and how wide it is."""
        x = self.x(each["start"])
        return min(x, WIDTH - LEAST), max(self.x(each["end"]) - x, LEAST)

    def axis(self, height: int) -> Iterator[str]:
        """A line and the time that has passed, every so often."""
        for mark in range(TICKS):
            x = LABEL + (WIDTH - LABEL) * mark / TICKS
            yield f'<line class="rule" x1="{x:.1f}" y1="18" x2="{x:.1f}" y2="{height}"/>'
            yield f'<text x="{x + 3:.1f}" y="14">{passed(self._length * mark / TICKS)}</text>\n'


def _lane(
    lane: dict[str, Any], y: int, scale: _Scale, hide: Hide, link: Callable[[dict[str, Any]], str | None]
) -> Iterator[str]:
    name = hide(str(lane["group_id"] or "(session)"))
    shown = name if len(name) <= 26 else f"{name[:25]}…"
    yield f'<text x="4" y="{y + 14}">{_text(shown)}<title>{_text(hide(lane["name"] or name))}</title></text>'
    yield f'<line class="rule" x1="0" y1="{y + LANE - 3}" x2="{WIDTH}" y2="{y + LANE - 3}"/>'
    for bar in lane["bars"]:
        yield _bar(bar, y + 3, scale, hide, link(bar))
    for kind, said in (("block", "reason"), ("pause", "text")):
        for each in lane[f"{kind}s"]:
            x, width = scale.span(each)
            about = _text(hide(f"{each['id']}: {each[said]}"))
            yield (
                f'<rect class="{kind}" x="{x:.1f}" y="{y + 18}" width="{width:.1f}" height="4"><title>{about}</title>'
                "</rect>"
            )
    yield "\n"


def _bar(bar: dict[str, Any], y: int, scale: _Scale, hide: Hide, address: str | None) -> str:
    x, width = scale.span(bar)
    letter = LETTERS.get(bar["role"], OTHER)
    classes = " ".join(("r" + letter, bar["state"], *(("again",) if bar["rework"] else ())))
    rect = (
        f'<rect class="{classes}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2">'
        f"<title>{_text(hide(_about(bar)))}</title></rect>"
    )
    if width >= LETTER:
        rect += f'<text class="letter" x="{x + 3:.1f}" y="{y + 11}">{letter}</text>'
    return f'<a href="{_text(address)}">{rect}</a>' if address else rect


def _about(bar: dict[str, Any]) -> str:
    """What happened in a turn, in words."""
    turn = f", turn {bar['turn']}" if bar["turn"] else ""
    said = f"{bar['response_status'] or bar['state']}{': ' + bar['summary'] if bar['summary'] else ''}"
    again = " (rework)" if bar["rework"] else ""
    led = f"; then {bar['action']} {bar['next_agent'] or ''}".rstrip() if bar["action"] else ""
    return f"{bar['agent_id'] or bar['role']}{turn}{again}: {said}{led}"


def legend(lanes: Iterable[dict[str, Any]]) -> str:
    """What the signs of a drawing of these lanes mean, in a sentence."""
    roles = dict.fromkeys(str(bar["role"]) for lane in lanes for bar in lane["bars"])
    letters = ", ".join(f"{LETTERS.get(role, OTHER)} {role}" for role in roles)
    return (
        f"Each bar is a turn; the letter is the role{f' ({letters})' if letters else ''}. A dashed outline is rework, a"
        " pale bar a turn given to another agent; a thin line below a bar is blocked time or a question to a person."
    )


def passed(seconds: float) -> str:
    """A length of time in its largest unit."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 or not seconds else f"{seconds:.1f} s"


def _text(text: object) -> str:
    return html.escape(visible.on_a_page(str(text)))


def _moment(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
