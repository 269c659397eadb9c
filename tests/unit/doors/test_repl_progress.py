"""The line of progress: on a terminal alone, drawn anew, and gone before anything else is written."""

from __future__ import annotations

import io
from typing import NamedTuple

import pytest

from orchestrator.doors.cli.repl import progress

XTERM = {"TERM": "xterm-256color"}


class Seen(NamedTuple):
    elapsed_ms: int
    silent_ms: int = 0
    bytes_out: int = 0


class Screen(io.StringIO):
    def __init__(self, *, tty: bool = True) -> None:
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        pytest.param(Seen(1_000), "  0:01 elapsed, last output 0:01 ago, 0 bytes", id="silent from the start"),
        pytest.param(Seen(61_900, 2_000, 512), "  1:01 elapsed, last output 0:02 ago, 512 bytes", id="some bytes"),
        pytest.param(Seen(3_600_000, 0, 5 << 20), "  60:00 elapsed, last output 0:00 ago, 5120 KiB", id="much"),
    ],
)
def test_how_a_run_is_going_fits_on_a_line(seen: Seen, words: str) -> None:
    seen = seen._replace(silent_ms=1_000) if seen.elapsed_ms == 1_000 else seen
    assert progress.text(seen) == words


def test_a_terminal_shows_one_line_that_is_drawn_anew_and_cleared() -> None:
    screen = Screen()
    line = progress.Line(screen, XTERM)
    line.watch(Seen(2_000))
    line.watch(Seen(2_500))
    line.clear()
    line.clear()
    assert screen.getvalue().count(progress.CLEAR) == 3
    assert screen.getvalue().endswith(progress.CLEAR)
    assert "\n" not in screen.getvalue()


@pytest.mark.parametrize(
    ("tty", "variables", "elapsed_ms"),
    [
        pytest.param(False, XTERM, 5_000, id="a pipe"),
        pytest.param(True, {"TERM": "dumb"}, 5_000, id="a terminal that cannot"),
        pytest.param(True, {}, 5_000, id="a terminal of which nothing is known"),
        pytest.param(True, XTERM, 999, id="work that is short"),
    ],
)
def test_elsewhere_nothing_is_written(tty: bool, variables: dict[str, str], elapsed_ms: int) -> None:
    screen = Screen(tty=tty)
    line = progress.Line(screen, variables)
    line.watch(Seen(elapsed_ms))
    line.clear()
    assert screen.getvalue() == ""


def test_a_terminal_that_is_gone_disturbs_nobody() -> None:
    screen = Screen()
    line = progress.Line(screen, XTERM)
    screen.close()
    line.watch(Seen(2_000))
    line.clear()
