"""A lane of swimlanes as an SVG picture: bars by role, rework and blocked time marked, questions as pauses.

It stretches to the width that it is given, so nothing in it is text; each part says in its title what it is. No script,
no style: the colours of the classes are the page's.

Cold module.
"""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.workflow import vocabulary
from orchestrator.hints import Any

WIDTH, HEIGHT, LEAST = 1000, 24, 3
ROLES = (
    MANAGER, vocabulary.DEVELOPER, vocabulary.SENIOR, vocabulary.QA_EXPERT, vocabulary.TECH_LEAD,
    vocabulary.INVESTIGATOR, vocabulary.REQUIREMENTS_ENGINEER,
)  # fmt: skip
"""The roles that have a colour of their own."""
OTHER = "other"
MOST_SAID = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Window(NamedTuple):
    """The time that a picture shows: two moments in seconds since the epoch."""

    start: float
    end: float


def window(start: str, end: str) -> Window:
    """The time between two moments in UTC, ISO 8601; at least a second."""
    first, last = _seconds(start), _seconds(end)
    return Window(first, max(last, first + 1))


def part(whole: Window, zoom: int, at: int) -> Window:
    """One of `zoom` equal parts of a time, the first of which is 0."""
    length = (whole.end - whole.start) / zoom
    return Window(whole.start + at * length, whole.start + (at + 1) * length)


def moments(shown: Window) -> list[str]:
    """Five moments of a time, from its beginning to its end, in UTC, ISO 8601."""
    length = (shown.end - shown.start) / 4
    found = (_EPOCH + timedelta(seconds=shown.start + each * length) for each in range(5))
    return [moment.isoformat(timespec="seconds").replace("+00:00", "Z") for moment in found]


def tone(role: str) -> str:
    """The class that gives a role its colour."""
    return f"role-{(role if role in ROLES else OTHER).replace('_', '-')}"


def svg(lane: dict[str, Any], shown: Window, base: str = "") -> str:
    """A lane as the text of an SVG element.

    Args:
        lane: as `audit.swimlanes` gives it.
        shown: the time from the left edge to the right one.
        base: the address of the session's page; with it bars lead to decisions and hand-offs.
    """
    parts = [_bar(bar, lane, shown, base) for bar in lane["bars"]]
    parts += [_mark("pause", each, shown, 5, 14, f"{each['kind']}: {_short(each['text'])}") for each in lane["pauses"]]
    parts += [_mark("block", each, shown, 0, 3, f"blocked ({each['type']}): {_short(each['reason'])}")
              for each in lane["blocks"]]  # fmt: skip
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none"'
    return f'<svg class="lane" {size}>{"".join(parts)}</svg>'


def _bar(bar: dict[str, Any], lane: dict[str, Any], shown: Window, base: str) -> str:
    place = _place(bar["start"], bar["end"], shown)
    if place is None:
        return ""
    x, width = place
    drawn = f'<rect class="bar {tone(bar["role"])} {bar["state"]}" x="{x:.1f}" y="5" width="{width:.1f}" height="14"/>'
    if bar["rework"]:
        drawn += f'<rect class="again" x="{x:.1f}" y="20" width="{width:.1f}" height="3"/>'
    words = _escape(told(bar))
    target = address(bar, lane["group_id"], base)
    if not target:
        return f"<g><title>{words}</title>{drawn}</g>"
    return f'<a href="{_escape(target)}" tabindex="-1" aria-label="{words}"><title>{words}</title>{drawn}</a>'


def told(bar: dict[str, Any]) -> str:
    """What a bar stands for, in words."""
    turn = f"turn {bar['turn']}" if bar["turn"] is not None else "no turn"
    head = f"{bar['role'].replace('_', ' ')}, {turn}{', rework' if bar['rework'] else ''}"
    if bar["state"] == "open":
        return f"{head}: at work"
    if bar["state"] == "replaced":
        return f"{head}: no report; the turn was replaced"
    following = f" → {bar['next_agent'].replace('_', ' ')}" if bar["next_agent"] else ""
    said = f": {_short(bar['summary'])}" if bar["summary"] else ""
    return f"{head}: {bar['response_status']}{following}{said}"


def address(bar: dict[str, Any], group: str | None, base: str) -> str:
    """Where a bar leads: to the decision on its report, else to its hand-off; nowhere without a base."""
    if not base:
        return ""
    if bar["decision_id"]:
        return f"{base}/decisions/{bar['decision_id'].rpartition(':')[2]}"
    return f"{base}/handoffs/{bar['turn']}" + (f"?group={group}" if group else "")


def _mark(name: str, each: dict[str, Any], shown: Window, y: int, height: int, words: str) -> str:
    place = _place(each["start"], each["end"], shown)
    if place is None:
        return ""
    size = f'x="{place[0]:.1f}" y="{y}" width="{place[1]:.1f}" height="{height}"'
    return f'<rect class="{name}" {size}><title>{_escape(words)}</title></rect>'


def _place(start: str, end: str | None, shown: Window) -> tuple[float, float] | None:
    """Where a stretch of time begins and how wide it is; None where none of it is shown."""
    first, last = _seconds(start), shown.end if end is None else _seconds(end)
    if last < shown.start or first > shown.end:
        return None
    scale = WIDTH / (shown.end - shown.start)
    left = min((max(first, shown.start) - shown.start) * scale, WIDTH - LEAST)
    return left, max((min(last, shown.end) - shown.start) * scale - left - 1, LEAST)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _short(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= MOST_SAID else f"{said[: MOST_SAID - 1]}…"


def _escape(text: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", text))
