"""Many writers on one file: nothing lost, nothing twice, nobody turned away, and a wait that ends with a reason."""

from __future__ import annotations

import collections
import json
import pathlib
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from orchestrator.errors import EnvironmentProblem
from tests.conftest import LONG, Command
from tests.drills import field

pytestmark = pytest.mark.slow

PROCESSES, GROUPS = 8, 20
COUNT = 500 if LONG else 60
SECONDS = 20.0 if LONG else 2.0


def test_eight_processes_route_at_once_and_nothing_is_lost(
    tmp_path: pathlib.Path, record_property: Callable[[str, object], None]
) -> None:
    path = field.create(tmp_path / "crowd.db", groups=GROUPS)
    before = events(path)
    lines = all_at_once([field.worker(path, f"p{n}", GROUPS, COUNT) for n in range(PROCESSES)])

    done = [line.split() for line in lines if line.startswith("done ")]
    assert len(done) == PROCESSES * COUNT
    decisions = [words[3] for words in done]
    assert len(set(decisions)) == len(decisions)
    assert field.damages(path) == []
    with field.plain(path) as connection:
        reports = connection.execute("SELECT summary, id FROM agent_reports WHERE role = 'developer'").fetchall()
    assert sorted(request for request, _ in reports) == sorted(words[1] for words in done)
    assert {report.replace(":R", ":D") for _, report in reports} == set(decisions)
    assert events(path) == before + len(done)
    worst = max(float(words[2]) for words in done)
    record_property("worst wait in milliseconds", worst)
    print(f"{len(done)} routes of {PROCESSES} processes; the longest took {worst} ms")


def test_most_verdicts_are_found_while_eight_processes_work_in_the_session(
    tmp_path: pathlib.Path, record_property: Callable[[str, object], None]
) -> None:
    path = field.create(tmp_path / "busy.db", groups=GROUPS)
    lines = all_at_once([field.mixed(path, f"p{n}", GROUPS, SECONDS) for n in range(PROCESSES)])
    came: collections.Counter[str] = collections.Counter()
    for line in lines:
        came.update(json.loads(line))
    verdicts = {words: count for words, count in came.items() if words.startswith("validates ")}
    assert sum(verdicts.values()) > 0
    assert came["reports respawn"] > 0
    assert came["strays OUT_OF_TURN"] > 0
    assert came["validates REJECT"] > 0.9 * sum(verdicts.values()), verdicts
    assert field.damages(path) == []
    record_property("what came of the verdicts", verdicts)
    print(f"{dict(came)} of {PROCESSES} processes in {SECONDS} seconds")


def all_at_once(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Let all workers begin at once, and return what they said."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=600)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return [line for text in said for line in text.splitlines()]


def events(path: pathlib.Path) -> int:
    with field.plain(path) as connection:
        return int(connection.execute("SELECT count(*) FROM audit_events").fetchone()[0])


INIT = """import sys
from orchestrator import bootstrap
from orchestrator.app import setup
sys.stdin.readline()
setup.create_database(sys.argv[1], bootstrap.now())
context = bootstrap.open_context(sys.argv[1], write=True, door="python")
print(setup.initialise(context)["loaded"])
"""


def test_eight_processes_initialise_at_once_and_it_is_done_once(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "new.db"
    argv = [sys.executable, "-c", INIT, str(path)]
    processes = [
        subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    time.sleep(0.5)
    said = sorted(process.communicate("go\n", timeout=120)[0].strip() for process in processes)

    assert said == ["False"] * (PROCESSES - 1) + ["True"]
    assert field.damages(path) == []
    with field.plain(path) as connection:
        kinds = [row[0] for row in connection.execute("SELECT kind FROM audit_events ORDER BY rowid")]
        versions = connection.execute("SELECT count(*) FROM workflow_versions").fetchone()
    assert kinds == ["migrate", "init", "workflow load"]
    assert versions == (1,)


@contextmanager
def held(path: pathlib.Path, seconds: float) -> Iterator[None]:
    """Somebody else holds the write lock for so long."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(seconds, connection.execute, ["ROLLBACK"])
    timer.start()
    try:
        yield
    finally:
        timer.join()
        connection.close()


def test_a_writer_waits_for_one_that_holds_the_lock(tmp_path: pathlib.Path) -> None:
    path = field.create(tmp_path / "held.db", groups=1)
    with field.opened(path) as context, held(path, 3.0):
        begun = time.monotonic()
        answer = field.call(context, "route", **field.partial("G0"))
        waited = time.monotonic() - begun
    assert answer["success"]
    assert waited > 2.0
    assert field.damages(path) == []


def test_a_writer_that_waited_too_long_is_told_so_and_nothing_is_written(tmp_path: pathlib.Path) -> None:
    path = field.create(tmp_path / "held.db", groups=1)
    before = field.everything(path)
    with (
        field.opened(path, ORCHESTRATOR_BUSY_TIMEOUT="0.2") as context,
        held(path, 1.5),
        pytest.raises(EnvironmentProblem) as caught,
    ):
        field.call(context, "route", **field.partial("G0"))
    assert (caught.value.code, caught.value.exit_code) == ("BUSY", 5)
    assert field.everything(path) == before


def test_the_command_that_waited_too_long_exits_with_5(
    command: Command, environment: dict[str, str], tmp_path: pathlib.Path
) -> None:
    path = field.create(pathlib.Path(environment["ORCHESTRATOR_DB"]), groups=1)
    before = field.everything(path)
    environment["ORCHESTRATOR_BUSY_TIMEOUT"] = "0.2"
    with held(path, 3.0):
        done = command("route", "developer", "PARTIAL", "-g", "G0", "--json")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (5, "BUSY")
    assert field.everything(path) == before


def test_a_reader_does_not_wait_for_a_writer(command: Command, environment: dict[str, str]) -> None:
    path = field.create(pathlib.Path(environment["ORCHESTRATOR_DB"]), groups=1)
    environment["ORCHESTRATOR_BUSY_TIMEOUT"] = "0"
    with held(path, 2.0):
        done = command("group", "show", "G0", "--json")
    assert (done.returncode, json.loads(done.stdout)["group"]["status"]) == (0, "in_progress")
