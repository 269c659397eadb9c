"""Two databases on one project, or on one within another: their runs go one after the other, as real processes."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shlex
import signal
import sqlite3
import subprocess
import time
from typing import Any

import pytest

from orchestrator.runner import folder_lock
from tests.acceptance.replhouse import DEADLINE_S, House, set_up
from tests.acceptance.webhouse import STEPS, WebHouse
from tests.integration.runner import supervised

pytestmark = pytest.mark.slow

ASK = ("explain the project", "--type", "READ_INFO")
ALONE = "if ! mkdir {base}/inside; then touch {base}/met; fi; sleep 0.3; {act}; rmdir {base}/inside"


@pytest.fixture
def house(installed_house: House) -> House:
    subprocess.run(["cp", installed_house.database, installed_house.base / "other.db"], check=True)
    return installed_house


def other(house: House) -> tuple[str, str]:
    return ("--db", str(house.base / "other.db"))


def begin(house: House, body: str, *words: str, **more: Any) -> subprocess.Popen[bytes]:
    executor = house.program(body)
    return house.start(
        *words, "--json", "--executor-timeout", "20000", command="run", executor=executor, installed=True, **more
    )


def ended(process: subprocess.Popen[bytes]) -> tuple[int, dict[str, Any], str]:
    out, err = process.communicate(timeout=DEADLINE_S)
    assert out, err
    run: dict[str, Any] = json.loads(out)["run"]
    return process.returncode, run, err.decode()


def until(path: pathlib.Path) -> None:
    last = time.monotonic() + DEADLINE_S
    while not path.exists():
        assert time.monotonic() < last, path
        time.sleep(0.02)


@pytest.mark.parametrize("words", [("create {name}",), ASK], ids=["writing", "asking"])
def test_p6_runs_of_two_databases_are_never_in_one_project_together(house: House, words: tuple[str, ...]) -> None:
    """Source: seed 001, Property 6."""
    found = []
    for name, database in (("a.md", ()), ("b.md", other(house))):
        act = ALONE.format(base=house.base, act=f"echo x > {name}; echo done")
        found.append(begin(house, act, *(word.format(name=name) for word in words), *database))
    runs = [ended(each) for each in found]
    assert [(code, [each["path"] for each in run["verified_files"]]) for code, run, _ in runs] == [
        (0, ["a.md"]), (0, ["b.md"])
    ], [(run["state"], run["why"]) for _, run, _ in runs]  # fmt: skip
    assert not (house.base / "met").exists()
    assert not list(house.project.glob(".orchestrator/locks/*.run"))


@pytest.mark.parametrize("first", ["outer", "inner"])
def test_p6_a_project_within_another_waits_for_it_and_the_other_way_round(house: House, first: str) -> None:
    inner = house.project / "packages/x"
    inner.mkdir(parents=True)
    set_up(inner)
    places = {"outer": ("--project", str(house.project)), "inner": ("--project", str(inner))}
    act = f"touch {house.base}/begun; while [ ! -e {house.base}/over ]; do sleep 0.02; done; echo x > a.md"
    holds = begin(house, act, "create a.md", place=places.pop(first))
    until(house.base / "begun")
    waits = begin(house, "echo x > b.md", "create b.md", *other(house), place=places.popitem()[1])
    time.sleep(1)
    assert not list(house.project.rglob("b.md"))
    (house.base / "over").touch()
    assert [ended(each)[0] for each in (holds, waits)] == [0, 0]


def test_p6_who_waits_is_told_for_whom_and_so_is_the_log(house: House) -> None:
    act = f"touch {house.base}/begun; while [ ! -e {house.base}/over ]; do sleep 0.02; done; echo x > a.md"
    holds = begin(house, act, "create a.md")
    until(house.base / "begun")
    waits = begin(house, "echo x > b.md", "create b.md", *other(house))
    assert waits.stderr is not None
    lines = iter(waits.stderr.readline, b"")
    said = next(line.decode() for line in lines if b"waits" in line)
    (house.base / "over").touch()
    first, second = ended(holds), ended(waits)
    assert [first[0], second[0]] == [0, 0]
    expected = (
        f"Runs of another database are in {house.project}, or above or below it: {first[1]['id']} of {house.database} "
        f"(running, process {holds.pid} on {os.uname().nodename})."
    )
    assert said == f"{second[1]['id']} waits: {expected}\n"
    with contextlib.closing(sqlite3.connect(house.base / "other.db")) as connection:
        assert connection.execute("SELECT text FROM run_events WHERE kind = 'waits'").fetchall() == [(expected,)]


def test_p6_after_kill_9_the_other_database_goes_on_once_what_was_left_is_ended(house: House) -> None:
    act = f"echo $$ > {house.base}/pid; trap '' TERM HUP; while :; do echo x > late.md; echo .; sleep 0.05; done"
    killed = begin(house, act, "create a.md")
    until(house.base / "pid")
    time.sleep(0.2)
    pid = int((house.base / "pid").read_text())
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    code, run, _ = ended(begin(house, "echo x > b.md", "create b.md", *other(house)))
    assert not supervised.alive(pid)
    assert (code, [each["path"] for each in run["verified_files"]]) == (0, ["b.md"])


def test_p12_a_run_within_a_run_by_another_database_is_refused_at_once(house: House) -> None:
    inner = shlex.join(
        house.argv("run", "create b.md", *other(house), executor=house.program("echo x > b.md"), installed=True)
    )
    begun = time.monotonic()
    code, run, _ = ended(begin(house, f"{inner} > {house.base}/inner.txt; echo x > a.md", "create a.md"))
    assert (code, [each["path"] for each in run["verified_files"]]) == (0, ["a.md"])
    assert "whose executor started this process" in (house.base / "inner.txt").read_text()
    assert time.monotonic() - begun < 20


def test_p1_an_executor_that_takes_the_guard_away_makes_its_run_invalid(house: House) -> None:
    code, run, _ = ended(begin(house, "rm -rf .orchestrator/locks; echo x > a.md", "create a.md"))
    assert (code, run["error_code"]) == (1, "E501")
    assert ".orchestrator/locks (deleted)" in run["why"]


def test_p6_a_server_leaves_queued_what_has_to_wait_for_another_database(web: WebHouse, tmp_path: pathlib.Path) -> None:
    server = web.serve(steps=STEPS)
    folder = web.folder()
    project = server.project(folder)
    other = tmp_path / "other.db"
    other.touch()
    place = folder_lock.Place(str(folder), str(other), "task-7")
    assert place.take().taken
    first, second = (server.chat(project, text)["task_id"] for text in ("hello", "create notes.md"))
    time.sleep(1.5)
    assert [server.task(each)["status"] for each in (first, second)] == ["QUEUED", "QUEUED"]
    place.leave()
    for each in (first, second):
        server.until(each, "COMPLETE", "ERROR", "INCOMPLETE")
    assert server.stop() == 0
