"""How a text is fitted to where it is read: a terminal has a width, a person's time, and colour; a pipe has none.

In a pipe every text is plain and the same: exact times, no width, no colour. Whoever writes an answer calls `use`
first; the functions that make text ask this module alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import IO, Any

NARROWEST = 20
"""Columns: a terminal that says it has fewer is not believed."""
BOLD, DIM, RED, GREEN, YELLOW = "1", "2", "31", "32", "33"
_STYLES = {
    GREEN: ("completed", "done", "ACCEPT", "accepted", "met", "resolved", "satisfied"),
    YELLOW: ("in_progress", "deferred_external", "warning", "paused", "person_awaited", "waiting for a person"),
    RED: ("blocked", "BLOCKED", "REJECT", "ERROR", "OPEN", "OVERDUE", "STALLED", "FAIL", "not met"),
    DIM: ("-", "pending", "cancelled", "backlog", "todo", "ended", "info"),
}  # fmt: skip
_OF_WORD = {word: style for style, words in _STYLES.items() for word in words}
_UNITS = ((86_400, "day"), (3_600, "h"), (60, "min"))


class Screen(NamedTuple):
    """What a text is fitted to.

    width: columns; None does not bound it. colour: whether it may be coloured. now: the time by which others are told
    relatively, ISO 8601; None tells them exactly.
    """

    width: int | None = None
    colour: bool = False
    now: str | None = None


PLAIN = Screen()
_current = PLAIN


def use(screen: Screen) -> None:
    """Fit every later text to a screen."""
    global _current
    _current = screen


def width() -> int | None:
    """The columns that there are; None for as many as a text takes."""
    return _current.width


def of(stream: IO[str] | None, environment: Mapping[str, str], now: str, *, utc: bool, color: str | None) -> Screen:
    """The screen that a stream is.

    Args:
        environment: NO_COLOR, TERM and COLUMNS of it count.
        now: the time, ISO 8601.
        utc: times are wanted exactly.
        color: `always`, `never`, or `auto` and None for what the terminal can.
    """
    able = is_terminal(stream)
    coloured = color == "always" or (color != "never" and able and has_colours(environment))
    return Screen(_columns(stream, environment) if able else None, coloured, now if able and not utc else None)


def is_terminal(stream: Any) -> bool:
    """Whether a stream, which may be missing or closed, is a terminal."""
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:
        return False


def has_colours(environment: Mapping[str, str]) -> bool:
    """Whether a terminal has colours, and nobody asks it to do without."""
    return not environment.get("NO_COLOR") and moves_cursor(environment)


def moves_cursor(environment: Mapping[str, str]) -> bool:
    """Whether a terminal can draw over what stands there."""
    return environment.get("TERM", "") not in ("", "dumb")


def _columns(stream: Any, environment: Mapping[str, str]) -> int:
    named = environment.get("COLUMNS", "")
    if named.isascii() and named.isdigit() and int(named) >= NARROWEST:
        return int(named)
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 80
    return found if found >= NARROWEST else 80


def paint(text: str, style: str | None) -> str:
    """A text in a style, where there are colours; the style is none of the text's own width."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and text and _current.colour else text


def of_word(word: str) -> str | None:
    """The style of a status, verdict or level; None for any other word."""
    return _OF_WORD.get(word)


def status(word: str) -> str:
    """A status, verdict or level in its style."""
    return paint(word, of_word(word))


def when(at: str | None) -> str | None:
    """A time: `3 min ago` for a person at a terminal, as it stands elsewhere."""
    seconds = _since(at)
    if seconds is None or at is None:
        return at
    if abs(seconds) < 2:
        return "just now"
    return f"{span(seconds)} ago" if seconds > 0 else f"in {span(-seconds)}"


def is_relative(text: str) -> bool:
    """Whether a text is a time as `when` words it."""
    return (text.endswith(" ago") and len(text) < 12) or text == "just now"


def moment(at: str) -> str:
    """A time in a sentence: `3 min ago` for a person at a terminal, `at` the time elsewhere."""
    told = when(at)
    return f"at {at}" if told is None or told == at else told


def since(at: str | None) -> str:
    """Since when something is so: `for 3 min` for a person at a terminal, `since` the time elsewhere."""
    seconds = _since(at)
    return f"since {at}" if seconds is None else f"for {span(max(seconds, 0))}"


def timed(text: str) -> str:
    """A sentence that says `at` or `since` a time, with that as `moment` and `since` word it."""
    if _current.now is None:
        return text
    import re

    def worded(found: re.Match[str]) -> str:
        return moment(found["at"]) if found["word"] == "at" else since(found["at"])

    return re.sub(r"\b(?P<word>at|since) (?P<at>\d{4}-\d\d-\d\dT[\d:.]+Z)", worded, text)


def until(at: str) -> str:
    """Until when something is so: `for another 5 min` for a person at a terminal, `until` the time elsewhere."""
    seconds = _since(at)
    if seconds is None:
        return f"until {at}"
    return f"for another {span(-seconds)}" if seconds < 0 else f"until {span(seconds)} ago"


def span(seconds: int) -> str:
    """A length of time in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}" + ("s" if unit == "day" and count > 1 else "")
    return f"{seconds} s"


def _since(at: str | None) -> int | None:
    """Seconds from a time to now; None where times are told exactly, or it is none."""
    if _current.now is None or not at:
        return None
    from datetime import datetime

    try:
        return int((datetime.fromisoformat(_current.now) - datetime.fromisoformat(at)).total_seconds())
    except (ValueError, TypeError):
        return None
