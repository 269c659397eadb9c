"""A batch whose lines share commits, killed or on a full disk: whole commits are lost, and none that was answered."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.doors.cli import batch, main
from orchestrator.store import sqlite
from tests.conftest import LONG
from tests.drills import field
from tests.drills.field import SESSION

pytestmark = pytest.mark.slow

EVERY = 3
LINES = 8
STRIDE = 1 if LONG else 23
"""At every so-manieth statement a process is killed."""
MORE, BYTES = 10, 250_000
"""Pages that the database may grow by, bytes that a file may have: enough for the first commit and not for all."""


def write_lines(path: pathlib.Path, length: int = 0) -> pathlib.Path:
    """Reports, a call that is refused among those of each commit."""
    groups = ["G0" if number % EVERY else "none" for number in range(LINES)]
    calls = [field.partial(group, summary=f"{number}{'x' * length}") for number, group in enumerate(groups)]
    path.write_text("".join(json.dumps({"op": "route", "args": each}) + "\n" for each in calls))
    return path


def run(database: pathlib.Path, lines: pathlib.Path, answers: pathlib.Path) -> int:
    """The batch in this process, its answers in a file."""
    batch.LOCK_S = 60.0
    os.environ["ORCHESTRATOR_DB"] = str(database)
    os.environ["XDG_STATE_HOME"] = str(database.parent / "state")
    descriptor = os.open(answers, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    return main.main(["batch", str(lines), "--commit-every", str(EVERY)])


def steps(database: pathlib.Path) -> int:
    with field.plain(database) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM audit_events WHERE session_id = ?", (SESSION,))
    return int(count)


def read(answers: pathlib.Path) -> list[dict[str, Any]]:
    """The answers that were written whole."""
    with contextlib.suppress(FileNotFoundError):
        return [json.loads(line) for line in answers.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    return []


def test_a_kill_loses_whole_commits_and_none_that_was_answered(tmp_path: pathlib.Path) -> None:
    template = field.create(tmp_path / "template.db", groups=1)
    lines, answers, path = write_lines(tmp_path / "lines"), tmp_path / "answers", tmp_path / "killed.db"
    before, statement, seen = steps(template), STRIDE, set[int]()

    def killed() -> int:
        field.die_at(statement)
        return run(path, lines, answers)

    while True:
        for left in (*tmp_path.glob("killed.db*"), answers):
            left.unlink(missing_ok=True)
        shutil.copy(template, path)
        ended = field.in_child(killed)
        assert field.damages(path) == []
        recorded = steps(path) - before
        # Each line leaves a step, a refused one as well.
        assert recorded % EVERY == 0 or recorded == LINES
        assert len(read(answers)) <= recorded
        seen.add(recorded)
        if ended.signal != signal.SIGKILL:
            break
        statement += STRIDE
    assert (ended.value, len(read(answers))) == (1, LINES)
    assert seen == {0, 3, 6, 8}


def few_pages() -> None:
    """Let the database grow by no more than some pages: a statement in the middle of a line fails."""
    prepare = sqlite.prepare

    def small(connection: Any, **more: Any) -> None:
        prepare(connection, **more)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages + MORE}")

    sqlite.prepare = small


def short_files() -> None:
    """Let no file of this process grow beyond a size: the commit fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES))


@pytest.mark.parametrize(("fill", "whole"), [(few_pages, False), (short_files, True)])
def test_on_a_full_disk_what_is_not_recorded_says_so(
    tmp_path: pathlib.Path, fill: Callable[[], None], whole: bool
) -> None:
    path = field.create(tmp_path / "full.db", groups=1)
    lines, answers, before = write_lines(tmp_path / "lines", 9000), tmp_path / "answers", steps(path)

    def filled() -> int:
        fill()
        return run(path, lines, answers)

    ended = field.in_child(filled)
    told = [answer.get("code") for answer in read(answers)]
    full = [number for number, code in enumerate(told) if code == "DISK_FULL"]
    assert (ended.error, ended.value) == (None, 1)
    assert field.damages(path) == []
    assert (len(told), steps(path) - before) == (LINES, LINES - len(full))
    assert 0 < len(full) < LINES
    assert not whole or full == list(range(full[0] // EVERY * EVERY, LINES))
