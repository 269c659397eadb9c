"""`drive` as an installed command: the documentation's words, signals, and a call that cannot begin."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.integration.app.test_drive import BUILT, PLANNED, REST
from tests.integration.cli.test_terminal import at_terminal

REPOSITORY = pathlib.Path(__file__).parents[2]
BIN = pathlib.Path(sys.executable).parent


def command(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "orchestrator", *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def objects(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "project"
    folder.mkdir()
    assert command(folder, "init").returncode == 0
    return folder


def script(folder: pathlib.Path, *steps: dict[str, object]) -> str:
    path = folder.parent / "script.json"
    path.write_text(json.dumps(steps))
    return f"scripted:{path}"


def test_the_documentation_works_word_for_word(tmp_path: pathlib.Path) -> None:
    text = (REPOSITORY / "docs" / "autopilot.md").read_text("utf-8")
    (block,) = re.findall(r"```sh\n(.*?\n)```\n\n## Executors", text, re.DOTALL)
    done = subprocess.run(
        ["sh", "-e"], input=block, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["login"]), done.stdout + done.stderr
    assert "ACCEPT after 6 turns" in done.stdout


def test_the_demonstration_drives_a_team_to_accept(tmp_path: pathlib.Path) -> None:
    began = time.monotonic()
    done = command(tmp_path, "demo", "--drive", "--json")
    steps = json.loads(done.stdout)["steps"]
    assert (done.returncode, steps[-1]["outcome"]) == (0, "accepted")
    assert {"started", "sent_back", "reported", "verdict"} <= {each["event"] for each in steps}
    assert time.monotonic() - began < 120


def test_on_a_pipe_every_event_is_an_object_and_the_last_says_how_it_ended(project: pathlib.Path) -> None:
    done = command(project, "drive", "--goal", "x", "--json", "--executor", script(project, PLANNED, BUILT, *REST))
    told = objects(done.stdout)
    assert (done.returncode, told[-1]["event"], told[-1]["outcome"]) == (0, "ended", "accepted"), done.stderr
    assert all(each["success"] and each["schema"] for each in told)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(("--goal", "x", "--executor", "command:/no/program"), 5, "PREFLIGHT_FAILED", id="no program"),
        pytest.param(("--check", "--executor", "command:/no/program"), 5, "FAIL executor", id="checked"),
        pytest.param(("S9", "--executor", "command:/bin/sh"), 3, "UNKNOWN_SESSION", id="no such session"),
        pytest.param(("--executor", "command:/bin/sh"), 3, "UNKNOWN_SESSION", id="no session at all"),
        pytest.param(("--role", "cook=codex"), 64, "ROLE=EXECUTOR", id="no such role"),
    ],
)
def test_what_cannot_begin_says_why(project: pathlib.Path, words: tuple[str, ...], code: int, said: str) -> None:
    done = command(project, "drive", *words)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done.stdout + done.stderr


@pytest.mark.parametrize(("signals", "event"), [(1, "reported"), (2, "freed")], ids=["once", "twice"])
def test_an_interrupt_lets_what_runs_end_and_a_second_one_cancels_it(
    project: pathlib.Path, signals: int, event: str
) -> None:
    executor = script(project, {**PLANNED, "delay_ms": 2_000 if signals == 1 else 60_000})
    argv = [sys.executable, "-m", "orchestrator", "drive", "--goal", "x", "--json", "--executor", executor]
    driver = subprocess.Popen(argv, cwd=project, stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    while json.loads(driver.stdout.readline())["event"] != "started":
        pass
    for _ in range(signals):
        driver.send_signal(signal.SIGINT)
        time.sleep(0.3)
    rest = objects(driver.communicate(timeout=60)[0])
    assert (driver.returncode, [each["event"] for each in rest]) == (2, [event, "ended"])
    assert rest[-1]["outcome"] == "stopped"


def test_at_a_terminal_one_table_is_drawn_anew_and_an_interrupt_lets_what_runs_end(project: pathlib.Path) -> None:
    slow = script(project, {**PLANNED, "delay_ms": 2500}, BUILT)
    argv = [sys.executable, "-m", "orchestrator", "drive", "--goal", "Ship it", "--executor", slow]
    text = at_terminal(argv, os.environ | {"NO_COLOR": "1"}, cwd=project, until=1, mark="LAST SIGN")
    assert re.search(r"project_manager \(\w+\) +(reserved|running) ", text)
    # Up to the region's first line, and clearing it: nothing is appended.
    assert re.search(r"\x1b\[1A\x1b\[2K", text)
    assert "Stopping: running turns may finish. Press Ctrl-C again to cancel them." in text
    after = text.rpartition("\x1b[2K")[2].replace("\r", "")
    assert "project_manager reported PLANNING_COMPLETE" in after
    assert "Stopped after 1 turn" in after
    assert "drive: 0:" not in text
