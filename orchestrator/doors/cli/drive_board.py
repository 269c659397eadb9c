"""The live table of `drive` on a terminal: who is at work, and below it what happened last.

It is drawn by a thread of its own, from fresh looks at the record, so that signs of life are seen between events too.
"""

from __future__ import annotations

import collections
import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence

from orchestrator import bootstrap
from orchestrator.app.audit import at_work
from orchestrator.app.kernel import operations
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.doors.cli import output, screen
from orchestrator.doors.cli.options import Given
from orchestrator.doors.cli.text import layout
from orchestrator.errors import OrchestratorError
from orchestrator.hints import Any

Answer = dict[str, Any]
EVERY_S = 1.0
"""Seconds between two looks while nothing happens."""
NEWEST = 8
"""How many of the newest events are shown, where there is room."""
_HEADERS = ("GROUP", "WHO", "STATE", "SINCE", "LAST SIGN", "COST")


class Standing(NamedTuple):
    """What one look has found: the session's id and goal, its state, its open turns, and what it has cost so far."""

    session: str
    goal: str
    state: str
    turns: Sequence[Answer]
    cost_usd: str | None


def is_drawn(given: Given) -> bool:
    """Whether there is a terminal on which a region can be drawn anew."""
    return not given.json and screen.is_terminal(sys.stdout) and screen.moves_cursor(os.environ)


def frame(standing: Standing, newest: Sequence[str], seconds: int, rows: int) -> list[str]:
    """The lines of the region, fitted to the screen.

    Args:
        newest: the newest events, a line each, the oldest first.
        seconds: how long the driver has been at work.
        rows: how many lines there may be.
    """
    spent = f", ${standing.cost_usd}" if standing.cost_usd else ""
    head = f"Session {standing.session}: {standing.state.replace('_', ' ')}, {_clock(seconds)}{spent}"
    lines = [screen.paint(head, screen.BOLD), *_one_line(standing.goal)]
    shown = [_row(each) for each in standing.turns]
    lines += ["", *(layout.table(_HEADERS, shown) if shown else ["Nobody is at work."])]
    room = max(0, min(NEWEST, rows - len(lines) - 2))
    told = [line for each in newest[-room:] for line in _one_line(each)] if room else []
    return [*lines, *(["", *told] if told else [])]


def _row(turn: Answer) -> tuple[object, ...]:
    model = f" ({turn['model']})" if turn["model"] else ""
    state = f"waits for a usage limit {screen.until(turn['due_at'])}" if turn["due_at"] else turn["state"]
    cost = f"${turn['cost_usd']}" if turn["cost_usd"] else None
    return (
        turn["group_id"], f"{turn['role']}{model}", state, screen.when(turn["since"]), screen.when(turn["last_sign"]),
        cost,
    )  # fmt: skip


def _one_line(text: str) -> list[str]:
    """A text in one line of the screen; none of nothing. What is cut off stands in the record."""
    said = layout.visible(" ".join(text.split())) if text.strip() else ""
    width = screen.width()
    if width is None or layout.columns(said) <= width:
        return [said] if said else []
    while layout.columns(said) > width - 1:
        said = said[:-1]
    return [f"{said}…"]


def _clock(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Board:
    """Draws the region while it is open.

    Args:
        given: the call of `drive`, which says how times and colours are shown.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        self._started = time.monotonic()
        self._newest: collections.deque[str] = collections.deque(maxlen=NEWEST)
        self._changed, self._over = threading.Event(), threading.Event()
        self._session: str | None = None
        self._db: str | None = None
        self._thread = threading.Thread(target=self._draw, name="board", daemon=True)

    def of(self, session: str, db: str | None) -> None:
        """Say which session is driven; from then on it is drawn."""
        self._session, self._db = session, db
        self._changed.set()

    def tell(self, line: str) -> None:
        """Show what happened."""
        self._newest.extend(line.split("\n"))
        self._changed.set()

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Draw while the block runs; the last look stays on the screen."""
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._changed.set()
            self._thread.join()

    def _draw(self) -> None:
        """The thread that draws. Where the record cannot be read just now the last look stays."""
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        console = Console(highlight=False)
        with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
            while True:
                is_last = self._over.is_set()
                self._changed.clear()
                with contextlib.suppress(OrchestratorError, OSError):
                    lines = self._lines()
                    if lines:
                        shown = output.text("\n".join(lines), sys.stdout).decode(sys.stdout.encoding)
                        live.update(Text.from_ansi(shown, no_wrap=True), refresh=True)
                if is_last:
                    return
                self._changed.wait(EVERY_S)

    def _lines(self) -> list[str]:
        if self._session is None:
            return []
        screen.use(screen.of(sys.stdout, os.environ, bootstrap.now(), utc=self._given.utc, color=self._given.color))
        size = shutil.get_terminal_size()
        return frame(self._look(), list(self._newest), int(time.monotonic() - self._started), size.lines - 1)

    def _look(self) -> Standing:
        context = bootstrap.open_context(self._db, write=False, door="cli")
        try:
            found = operations.call(context, "status", session_id=self._session, brief=True)
            turns = at_work.turns(context, str(self._session), found["spawns"])
            cost = at_work.cost(context, str(self._session))
            return Standing(str(self._session), found["goal"], found["state"], turns, cost)
        finally:
            context.connection.close()
