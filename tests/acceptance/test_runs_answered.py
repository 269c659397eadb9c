"""What becomes of a session of runs when its last question is answered elsewhere: it ends, or says how it goes on."""

from __future__ import annotations

import json
import pathlib
import sqlite3
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.acceptance.replhouse import DEADLINE_S, House, Terminal


@pytest.fixture
def house(installed_house: House) -> House:
    return installed_house


class Person:
    """Answers at a terminal of its own, and looks."""

    def __init__(self, house: House, script: pathlib.Path) -> None:
        self.house, self.script = house, str(script)

    def looks(self, *words: str) -> dict[str, Any]:
        """What a command answers that only reads."""
        done = subprocess.run(
            [sys.executable, self.script, *words, "--json"], env=self.house.environment(), cwd=self.house.base,
            capture_output=True, check=False,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def answers(self, *words: str) -> None:
        """Answer the only question that there is."""
        question = self.looks("inbox")["questions"][0]["id"]
        argv = [sys.executable, self.script, "answer", question, *words]
        terminal = Terminal(argv, self.house.environment(), self.house.base)
        terminal.confirm()
        assert terminal.ends() == 0, terminal.shown

    def session(self) -> dict[str, Any]:
        """The newest session."""
        connection = sqlite3.connect(self.house.database)
        connection.row_factory = sqlite3.Row
        found = dict(connection.execute("SELECT * FROM sessions ORDER BY created_at DESC").fetchone())
        connection.close()
        return found


@pytest.fixture
def person(house: House, script: pathlib.Path) -> Person:
    return Person(house, script)


def test_the_answer_that_leaves_nothing_to_do_ends_the_session(house: House, person: Person) -> None:
    done = house.run("rm -rf build", command="run", executor="fake-success")
    assert (done.code, person.session()["status"]) == (2, "active")
    person.answers("--decision", "no")
    found = person.session()
    assert (found["status"], found["outcome"]) == ("ended", "closed")
    assert person.looks("audit", "verify")["success"]
    told = person.looks("audit", "replay", found["id"])
    assert told["success"], told


def test_a_session_that_a_loop_has_open_goes_on(house: House, person: Person) -> None:
    loop = house.start("--json", executor="fake-success")
    assert loop.stdin is not None
    loop.stdin.write(b"rm -rf build\n")
    loop.stdin.flush()
    until = time.monotonic() + DEADLINE_S
    while not person.looks("inbox")["questions"]:
        assert time.monotonic() < until
    person.answers("--decision", "no")
    assert person.session()["status"] == "active"
    loop.communicate(timeout=DEADLINE_S)
    assert person.session()["status"] == "ended"


def test_a_run_that_an_answer_queued_is_named_with_the_command_that_starts_it(house: House, person: Person) -> None:
    house.run("fix it", command="run", executor=house.program("echo x > notes.md; echo made"))
    person.answers("--decision", "continue", "--note", "change notes.md")
    session = person.session()["id"]
    queued = max(log["external_task_id"] for log in house.logs())
    status = person.looks("status", session)
    assert status["state"] == "person_awaited"
    following = status["next"][0]
    assert following.startswith(f"orchestrator repl --project {house.project}, then /continue task-")
    assert following.rpartition(" ")[2] > queued
    found = person.looks("next", "-s", session)
    assert (found["state"], [each["command"] for each in found["resume"]]) == ("resumable", [following])
    terminal = house.sit(executor=house.program("echo x > notes.md; echo made"))
    terminal.wait_for("orchestrator> ")
    terminal.type(f"{following.partition(', then ')[2]}\n")
    terminal.confirm()
    terminal.wait_for("[RESULT]  COMPLETE")
    terminal.type("/exit\n")
    assert terminal.ends() == 0
    assert person.session()["status"] == "ended"
