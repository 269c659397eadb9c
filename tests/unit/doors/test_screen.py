"""How texts are fitted to a terminal: width, times, colours; and that a pipe gets them plain."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import progress
from orchestrator.doors.cli import progress_line, screen
from orchestrator.doors.cli.text import layout, render
from tests.cases import every

NOW = "2026-01-02T12:00:00.000000Z"
CELLS = st.lists(st.sampled_from(["-", "pending", "one two three four", "S1:D10", "3 min ago", "x" * 12]), min_size=4,
                 max_size=4)  # fmt: skip


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    """Leave the screen as it was found."""
    yield
    screen.use(screen.PLAIN)


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


@every(
    "environment, color, coloured",
    [
        ({"TERM": "xterm"}, None, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, None, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, None, True),
        ({"TERM": "dumb"}, None, False),
        ({}, None, False),
        ({"TERM": "xterm"}, "never", False),
        ({"NO_COLOR": "1"}, "always", True),
    ],
)
def test_colour_is_the_terminals_unless_somebody_says_otherwise(
    environment: dict[str, str], color: str | None, coloured: bool
) -> None:
    assert screen.of(Terminal(), environment, NOW, utc=False, color=color).colour is coloured


def test_a_pipe_is_plain() -> None:
    assert screen.of(io.StringIO(), {"TERM": "xterm", "COLUMNS": "40"}, NOW, utc=False, color=None) == screen.PLAIN


@every("columns, width", [("100", 100), ("3", 80), ("x", 80), ("", 80)])
def test_a_width_that_cannot_be_is_not_believed(columns: str, width: int) -> None:
    assert screen.of(Terminal(), {"COLUMNS": columns}, NOW, utc=True, color=None) == screen.Screen(width)


@every(
    "at, when, since, until",
    [
        ("2026-01-02T11:57:00.000000Z", "3 min ago", "for 3 min", "until 3 min ago"),
        ("2026-01-02T12:00:00.000000Z", "just now", "for 0 s", "until 0 s ago"),
        ("2026-01-02T11:59:30.000000Z", "30 s ago", "for 30 s", "until 30 s ago"),
        ("2026-01-02T07:59:00.000000Z", "4 h ago", "for 4 h", "until 4 h ago"),
        ("2026-01-01T11:00:00.000000Z", "1 day ago", "for 1 day", "until 1 day ago"),
        ("2025-12-02T12:00:00.000000Z", "31 days ago", "for 31 days", "until 31 days ago"),
        ("2026-01-02T12:05:00.000000Z", "in 5 min", "for 0 s", "for another 5 min"),
        ("no time", "no time", "since no time", "until no time"),
    ],
)
def test_times_are_told_relatively_to_a_person(at: str, when: str, since: str, until: str) -> None:
    screen.use(screen.Screen(now=NOW))
    assert (screen.when(at), screen.since(at), screen.until(at)) == (when, since, until)
    screen.use(screen.PLAIN)
    assert (screen.when(at), screen.since(at), screen.moment(at)) == (at, f"since {at}", f"at {at}")


@given(rows=st.lists(CELLS, min_size=1, max_size=5), width=st.integers(20, 80))
def test_a_table_fits_and_loses_nothing(rows: list[list[str]], width: int) -> None:
    headers = ("GROUP", "STATUS", "SINCE", "NOTE")
    screen.use(screen.Screen(width=width))
    lines = layout.table(headers, rows)
    screen.use(screen.PLAIN)
    longest = max(len(word) for word in ("STATUS:", *(cell for row in rows for cell in row for cell in cell.split())))
    assert max(map(len, lines)) <= max(width, longest + len("STATUS: "))
    words = sorted(word for row in rows for cell in row for word in cell.split() if cell != layout.NOTHING)
    shown = " ".join(lines)
    for header in headers:
        shown = re.sub(rf"\b{header}\b:?", "", shown)
    assert sorted(word for word in shown.split() if word != layout.NOTHING) == words


def test_a_table_that_fits_is_as_in_a_pipe() -> None:
    rows = [("A", "pending", "-", "waits for B")]
    plain = layout.table(("GROUP", "STATUS", "SINCE", "NOTE"), rows)
    screen.use(screen.Screen(width=80))
    assert layout.table(("GROUP", "STATUS", "SINCE", "NOTE"), rows) == plain


def test_a_status_is_coloured_and_keeps_its_column() -> None:
    screen.use(screen.Screen(width=80, colour=True))
    head, row = layout.table(("GROUP", "STATUS", "NOTE"), [("A", "completed", "x")])
    assert (head.startswith("\x1b[1mGROUP\x1b[0m  "), row) == (True, "A      \x1b[32mcompleted\x1b[0m  x")


def test_long_lines_break_at_blanks_and_commands_stay_whole() -> None:
    screen.use(screen.Screen(width=40))
    command = "  report: orchestrator route developer READY_FOR_QA --summary 'all of it is done'"
    text = layout.fitted(f"Goal:     {'word ' * 12}\n{command}")
    *goal, last = text.split("\n")
    assert (last, {len(line) <= 40 for line in goal}, goal[1][:10]) == (command, {True}, " " * 10)


def test_an_answer_is_fitted_and_a_document_is_not() -> None:
    screen.use(screen.Screen(width=40))
    assert render("handoff", {"markdown": "word " * 20}) == ("word " * 20).rstrip("\n")
    assert max(map(len, render("unknown", {"text": "word " * 20}).split("\n"))) > 40


@every(
    "seconds, state, words",
    [
        (61, None, "audit verify: 1:01"),
        (3, progress.State("events", 1234), "audit verify: 0:03, 1,234 events"),
        (3, progress.State("events", 50, 200), "audit verify: 0:03, 50 of 200 events (25 %)"),
        (3, progress.State("running the command of criterion C1"),
         "audit verify: 0:03, running the command of criterion C1"),
        (3, progress.State("x" * 100), "audit verify: 0:03, " + "x" * 59),
    ],
)  # fmt: skip
def test_the_line_of_a_slow_command(seconds: int, state: progress.State | None, words: str) -> None:
    assert progress_line.line("audit verify", seconds, state) == words
