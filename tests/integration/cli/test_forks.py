"""A call in a fork, as most tests of this folder make it, is the call that a user's shell makes."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests import forks
from tests.integration.cli.conftest import Run, clean_environment

TIMES = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ (ms|s)\b|[0-9a-f]{64}")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        pytest.param(("status", "S1"), b"", id="text"),
        pytest.param(("status", "S1", "--json"), b"", id="json"),
        pytest.param(("status", "S9"), b"", id="refused"),
        pytest.param(("stauts", "S1"), b"", id="misspelt"),
        pytest.param(("route", "--help"), b"", id="help"),
        pytest.param(("route", "developer", "READY_FOR_QA", "-g", "B", "-s", "S1", "--json"), b"", id="out of turn"),
        pytest.param(("group", "create", "C", "-s", "S1", "--name", "ü", "--json"), b"", id="written"),
        pytest.param(("batch",), b'{"op": "status", "args": {"session_id": "S1"}}\nno JSON\n', id="batch"),
        pytest.param(("doctor", "--json"), b"", id="doctor"),
        pytest.param(("workflow", "show", "--json"), b"", id="long"),
    ],
)
def test_it_answers_as_the_installed_command(
    words: tuple[str, ...], stdin: bytes, run: Run, installed: Run, database: pathlib.Path
) -> None:
    kept = shutil.copy(database, database.with_name("kept.db"))
    forked = run(*words, stdin=stdin)
    shutil.copy(kept, database)
    # What this machine has seen would say that the database went back.
    shutil.rmtree(pathlib.Path(os.environ["XDG_STATE_HOME"]) / "orchestrator", ignore_errors=True)
    started = installed(*words, stdin=stdin)
    assert [forked.returncode, *(TIMES.sub(b"", each) for each in (forked.stdout, forked.stderr))] == [
        started.returncode, *(TIMES.sub(b"", each) for each in (started.stdout, started.stderr))
    ]  # fmt: skip


def test_another_interpreter_is_none_of_its_forks(forked: forks.Forks, tmp_path: pathlib.Path) -> None:
    with pytest.raises(AssertionError):
        forked.run(["status"], stdin=b"", environment=clean_environment() | {"LC_ALL": "C"}, cwd=tmp_path)


def test_who_does_not_end_in_time_is_killed(forked: forks.Forks, database: pathlib.Path) -> None:
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    words = ("status", "S1", "--watch", "--interval", "60")
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(words, stdin=b"", environment=environment, cwd=database.parent, timeout=0.5)
    ended = forked.run(("status", "S1"), stdin=b"", environment=environment, cwd=database.parent)
    assert ended.returncode == 0


TALKS = """
import os, signal, sys, time
print(os.getcwd(), sys.argv[1:], sys.stdin.readline().strip(), os.environ.get("GIVEN"), flush=True)
if sys.argv[1] == "wait":
    time.sleep(60)
elif sys.argv[1] == "handle":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    print("ready", flush=True)
    time.sleep(60)
sys.exit("no" if sys.argv[1] == "text" else int(sys.argv[1]))
"""


@pytest.fixture
def talking(tmp_path: pathlib.Path) -> Iterator[tuple[pathlib.Path, pathlib.Path]]:
    """A script that says what it was given, and its stand-in."""
    script = tmp_path / "talks.py"
    script.write_text(TALKS, "utf-8")
    made = forks.Forks(script, clean_environment(), loaded=("json",))
    yield script, made.stand_in(tmp_path / "stand-in")
    made.close()


def started(path: pathlib.Path, word: str, **more: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, str(path), word, "ü", "\udcff"], stdin=pipe, stdout=pipe, stderr=pipe, cwd=path.parent,
        env=clean_environment() | {"GIVEN": "so"} | more,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"a line\n")
    process.stdin.flush()
    return process


@pytest.mark.parametrize("word", ["0", "3", "text"])
@pytest.mark.parametrize("more", [{}, {"LC_ALL": "C"}], ids=["in a fork", "as another interpreter"])
def test_a_stand_in_says_and_ends_as_the_script(
    talking: tuple[pathlib.Path, pathlib.Path], word: str, more: dict[str, str]
) -> None:
    found = []
    for path in talking:
        with started(path, word, **more) as process:
            found.append((*process.communicate(timeout=60), process.returncode))
    assert found[0] == found[1]
    assert b"a line" in found[0][0]


def test_a_stand_in_passes_signals_on(talking: tuple[pathlib.Path, pathlib.Path]) -> None:
    with started(talking[1], "handle") as process:
        assert process.stdout is not None
        while process.stdout.readline() != b"ready\n":
            pass
        process.terminate()
        assert process.wait(60) == 7


def test_a_stand_in_dies_of_what_the_script_dies_of(talking: tuple[pathlib.Path, pathlib.Path]) -> None:
    with started(talking[1], "wait") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM


def test_what_stands_behind_a_killed_stand_in_is_killed(talking: tuple[pathlib.Path, pathlib.Path]) -> None:
    with started(talking[1], "wait") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        begun = time.monotonic()
        # Its end is the end of the stream that it alone has still.
        assert process.stdout.read() == b""
        assert time.monotonic() - begun < 30
        assert process.wait(60) == -signal.SIGKILL
