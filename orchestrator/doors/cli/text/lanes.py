"""The swimlanes of a session in text: a line for each group, a letter where a turn of a role begins."""

from __future__ import annotations

from datetime import datetime

from orchestrator.core.control_characters import on_one_line
from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout
from orchestrator.hints import Any

Answer = dict[str, Any]

NARROW = 80
"""Columns where nothing says how many there are."""
LABEL, LEAST = 24, 16
"""Columns of a lane's name at most, and of its drawing at least."""
LETTERS = {
    "project_manager": "P", "developer": "D", "senior_software_engineer": "S", "qa_expert": "Q", "tech_lead": "T",
    "investigator": "I", "requirements_engineer": "R", "validator": "V",
}  # fmt: skip
OTHER = "X"
SEVERAL, WORKS, AGAIN, REPLACED, GOES_ON = "+", "=", "~", "-", ">"
BLOCKED, ASKED = "!", "?"
_MEANINGS = {
    WORKS: "at work", AGAIN: "rework", REPLACED: "given to another agent", GOES_ON: "still open",
    SEVERAL: "several turns", BLOCKED: "blocked", ASKED: "waits for a person",
}  # fmt: skip
_STYLES = {AGAIN: screen.YELLOW, ASKED: screen.YELLOW, BLOCKED: screen.RED, GOES_ON: screen.GREEN}
_TICK = 14


def lanes(answer: Answer) -> list[str]:
    """The answer of `audit timeline --lanes`, as wide as the screen is, or 80 columns."""
    rows = answer["lanes"]
    if not rows:
        return [_without_steps(answer) or "No groups.", *layout.more(answer)]
    names = [_label(row) for row in rows]
    label = max(map(layout.columns, names))
    scale = _Scale(answer, max((screen.width() or NARROW) - label - len(layout.INDENT), LEAST))
    drawn = [_drawn(row, scale) for row in rows]
    lines = [_head(answer), "", f"{'':{label}}{layout.INDENT}{scale.axis()}"]
    for name, parts in zip(names, drawn, strict=True):
        heads = (name + " " * (label - layout.columns(name)), *[" " * label] * (len(parts) - 1))
        lines += [f"{head}{layout.INDENT}{_painted(part)}".rstrip() for head, part in zip(heads, parts, strict=True)]
    legend = _legend(rows, "".join(part for parts in drawn for part in parts))
    return [*lines, "", legend, *filter(None, [_without_steps(answer)]), *layout.more(answer)]


def _without_steps(answer: Answer) -> str:
    """How many groups are not drawn, since nothing happened in them; empty where all are, or others were asked for."""
    number = answer["without_steps"]
    return f"{number} group{'s' if number > 1 else ''} without a step." if number else ""


def _head(answer: Answer) -> str:
    until = f"ended {screen.moment(answer['end'])}" if answer["ended"] else "still open"
    length = screen.span(int(_moment(answer["end"]) - _moment(answer["start"])))
    began = f"began {screen.moment(answer['start'])}"
    return on_one_line(f"Session {answer['session_id']}: {began}, {until}, {length} long")


def _label(row: Answer) -> str:
    name = on_one_line(str(row["group_id"] or "(session)"))
    return name if len(name) <= LABEL else f"{name[: LABEL - 3]}..."


class _Scale:
    """Which column stands for which time."""

    def __init__(self, answer: Answer, width: int) -> None:
        self.width = width
        self._start = _moment(answer["start"])
        self._length = max(_moment(answer["end"]) - self._start, 1e-6)

    def column(self, at: str | None) -> int:
        """The column of a time; the last one for what is open, or later than the end."""
        if at is None:
            return self.width - 1
        place = int((_moment(at) - self._start) / self._length * self.width)
        return min(max(place, 0), self.width - 1)

    def axis(self) -> str:
        """The time since the beginning, every so many columns."""
        marks = range(0, max(self.width - _TICK // 2, 1), _TICK)
        times = (_passed(self._length * mark / self.width) for mark in marks)
        return "".join(f"{'|' + time:<{_TICK}}" for time in times).rstrip()


def _drawn(row: Answer, scale: _Scale) -> list[str]:
    """The turns of a lane, and below them where it was blocked or waited for a person, if it ever did."""
    turns = [" "] * scale.width
    for bar in row["bars"]:
        _draw(turns, bar, scale)
    below = [" "] * scale.width
    for kind, mark in (("blocks", BLOCKED), ("pauses", ASKED)):
        for each in row[kind]:
            first, last = scale.column(each["start"]), scale.column(each["end"])
            below[first : last + 1] = mark * (last + 1 - first)
    return ["".join(turns), *(["".join(below)] if any(mark != " " for mark in below) else [])]


def _draw(turns: list[str], bar: Answer, scale: _Scale) -> None:
    first, last = scale.column(bar["start"]), scale.column(bar["end"])
    begins = turns[first] in (" ", WORKS, AGAIN, REPLACED)
    fill = REPLACED if bar["state"] == "replaced" else AGAIN if bar["rework"] else WORKS
    turns[first + 1 : last + 1] = fill * (last - first)
    if bar["state"] == "open" and last > first:
        turns[last] = GOES_ON
    turns[first] = LETTERS.get(bar["role"], OTHER) if begins else SEVERAL


def _painted(text: str) -> str:
    """A line with its marks in colour, where there are colours: equal marks that stand together at once."""
    found, at = [], 0
    while at < len(text):
        end = at + 1
        while end < len(text) and text[end] == text[at]:
            end += 1
        found.append(screen.paint(text[at:end], screen.BOLD if text[at].isalpha() else _STYLES.get(text[at])))
        at = end
    return "".join(found)


def _legend(rows: list[Answer], drawn: str) -> str:
    roles = dict.fromkeys(str(bar["role"]) for row in rows for bar in row["bars"])
    letters = [f"{LETTERS.get(role, OTHER)} {on_one_line(role)}" for role in roles]
    return ", ".join((*letters, *(f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if mark in drawn)))


def _passed(seconds: float) -> str:
    """A length of time in its largest unit of which there are two."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 or not seconds else f"{seconds:.1f} s"


def _moment(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
