"""What the installed command shows at a terminal: its width, relative times, colour, one region that is drawn anew."""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

import pytest

from tests.conftest import clean_environment

Shown = Callable[..., str]
DEADLINE_S = 60.0


@pytest.fixture
def shown(script: pathlib.Path, database: pathlib.Path) -> Shown:
    """Run the command at a terminal and return what reached its screen.

    until: interrupt it once this many of `mark` were shown.
    """

    def call(*words: str, columns: int = 80, until: int = 0, mark: str = "", **more: str) -> str:
        environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
        argv = [sys.executable, str(script), *words]
        return at_terminal(argv, environment | more, columns=columns, until=until, mark=mark)

    return call


def at_terminal(
    argv: list[str], environment: dict[str, str], *, columns: int = 80, until: int = 0, mark: str = "",
    cwd: pathlib.Path | None = None,
) -> str:
    """Run a program at a terminal and return what reached its screen, as `shown`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    given = environment | {"TERM": "xterm", "LANG": "C.UTF-8"}
    given.pop("COLUMNS", None)
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=given, cwd=cwd) as process:
        os.close(theirs)
        text = _read(ours, process, until, mark)
    os.close(ours)
    return text.replace("\r\n", "\n")


def _read(screen: int, process: subprocess.Popen[bytes], until: int, mark: str) -> str:
    text, end, is_told = "", time.monotonic() + DEADLINE_S, False
    while time.monotonic() < end:
        if select.select([screen], [], [], 0.2)[0]:
            try:
                text += os.read(screen, 65_536).decode()
            except OSError:
                return text
        if until and not is_told and text.count(mark) >= until:
            process.send_signal(signal.SIGINT)
            is_told = True
    process.kill()
    raise AssertionError(text)


def bare(text: str) -> str:
    """A text without its styles."""
    return re.sub(r"\x1b\[\d*m", "", text)


def test_a_terminal_gets_width_colour_and_relative_times(shown: Shown) -> None:
    text = shown("status", "S1")
    assert "\x1b[1mGroups\x1b[0m" in text
    assert not re.search(r"\d{4}-\d\d-\d\dT", text)
    lines = [line for line in bare(text).splitlines() if "orchestrator " not in line]
    assert max(map(len, lines)) <= 80


def test_who_asks_for_no_colour_and_exact_times_gets_them(shown: Shown) -> None:
    text = shown("status", "S1", "--utc", NO_COLOR="1")
    assert "\x1b" not in text
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", text)


def test_json_is_the_same_at_a_terminal(shown: Shown) -> None:
    text = shown("status", "S1", "--json")
    assert "\x1b" not in text
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text)


def test_a_narrow_terminal_gets_fields_where_columns_do_not_fit(shown: Shown) -> None:
    text = shown("audit", "decisions", "-s", "S1", columns=40, NO_COLOR="1")
    assert text.startswith("DECISION: S1:D1\n")
    assert max(map(len, text.splitlines())) <= 40


def test_an_error_is_coloured_on_stderr(shown: Shown) -> None:
    assert shown("session", "pause", "S1").startswith("\x1b[31merror ACTOR_REQUIRED:\x1b[0m")


def test_a_watch_draws_one_region_anew(shown: Shown) -> None:
    text = shown("status", "S1", "--watch", "--interval", "1", until=2, mark="Session S1")
    assert text.count("Session S1") >= 2
    # Up to the region's first line, and clearing it: nothing is appended.
    assert re.search(r"\x1b\[1A\x1b\[2K", text)


def test_a_slow_command_shows_that_it_is_at_work_and_leaves_nothing(shown: Shown, database: pathlib.Path) -> None:
    slow = f'["{sys.executable}", "-c", "import time; time.sleep(2.5)"]'
    shown("criterion", "add", "C", "--text", "x", "--command", slow, "--by", "project_manager", "-s", "S1")
    text = shown("validate", "S1", "--dry-run", "--run-commands")
    assert re.search(r"\r\x1b\[Kvalidate: 0:0\d, running the command of criterion C", text)
    assert re.search(r"\r\x1b\[K(\x1b\[33m)?(warning|REJECT|\x1b)", text)
    assert "validate: 0:" not in text.rpartition("\x1b[K")[2]


def test_a_workflow_is_drawn_and_written_for_files_in_its_notation(shown: Shown) -> None:
    assert "└─> " in shown("workflow", "graph", "-s", "S1")
    assert shown("workflow", "graph", "--format", "dot").startswith("digraph")


def test_an_export_moves_no_cursor_and_turns_no_text_at_a_terminal(shown: Shown) -> None:
    words = "\x1b[31mred \x9b2J \u202eevil\u202c \u200b\rend"
    shown("session", "create", "S9", "--goal", words)
    for kind in ("jsonl", "csv"):
        text = shown("audit", "export", "S9", "--format", kind, NO_COLOR="1")
        assert "evil" in text
        assert "\x1b[31m" not in text
        assert not set("\x9b\u202e\u202c\u200b") & set(text)
        assert kind == "csv" or all(json.loads(line) for line in text.splitlines() if line.startswith("{"))
