"""Killed at any moment, a process leaves the whole step or none of it, and the step may be asked for again."""

from __future__ import annotations

import json
import pathlib
import random
import signal
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.app import setup
from tests.conftest import LONG
from tests.drills import field, worker
from tests.drills.field import AT, SESSION

pytestmark = pytest.mark.slow

KILLS = 200 if LONG else 12
EVERY = 1 if LONG else 20
"""At every so-manieth statement a process is killed."""


def _set_status(status: str) -> dict[str, Any]:
    given = {"id": "G0", "session_id": SESSION, "by": "project_manager", "status": status, "reason": "a reason"}
    return {**given, "request_id": "r"}


def _workflow() -> dict[str, Any]:
    """The active workflow with other words: rules are a person's to change while a session is open."""
    with tempfile.TemporaryDirectory() as folder:
        document = json.loads(field.endless(pathlib.Path(folder), 2).read_text("utf-8"))
    content = json.dumps({**document, "_description": "other words"})
    return {"content": content, "agent_texts": setup.agent_texts(), "request_id": "r"}


STEPS: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "route": ("route", lambda: field.partial("G0", request_id="r", details={"files": ["a"]})),
    "route that blocks": ("route", lambda: {**field.partial("G0", request_id="r"), "status": "BLOCKED"}),
    "cancel": ("group set-status", lambda: _set_status("cancelled")),
    "create a group": ("group create", lambda: {"id": "X", "session_id": SESSION, "request_id": "r"}),
    "load a workflow": ("workflow load", _workflow),
    "reject": ("validate", lambda: {"session_id": SESSION, "record": True, "request_id": "r"}),
}


@pytest.mark.parametrize(("words", "arguments"), list(STEPS.values()), ids=list(STEPS))
def test_a_step_killed_at_any_statement_is_whole_or_absent(
    tmp_path: pathlib.Path, words: str, arguments: Callable[[], dict[str, Any]]
) -> None:
    template = field.create(tmp_path / "template.db", groups=2)
    assert_whole_or_absent(template, words, arguments())


def test_an_accept_killed_at_any_statement_is_whole_or_absent(tmp_path: pathlib.Path) -> None:
    template = field.create(tmp_path / "template.db", groups=2)
    with field.opened(template) as context:
        given = {"session_id": SESSION, "id": "C1", "text": "it runs", "command": ("true",), "reason": "asked for"}
        field.call(context, "criterion add", **given)
        said = {"session_id": SESSION, "current_agent": "project_manager", "status": "BAZINGA"}
        field.call(context, "route", **said, acknowledge={"G0": "a prototype", "G1": "a prototype"})
    assert_whole_or_absent(template, "validate", {"session_id": SESSION, "request_id": "r"})
    with field.plain(tmp_path / "killed.db") as connection:
        assert connection.execute("SELECT outcome FROM sessions").fetchall() == [("accepted",)]
        assert connection.execute("SELECT DISTINCT status FROM task_groups").fetchall() == [("completed",)]
        assert connection.execute("SELECT count(*) FROM evidence").fetchall() == [(1,)]


def assert_whole_or_absent(template: pathlib.Path, words: str, given: dict[str, Any]) -> None:
    """Kill the step at one statement after the other, and ask for it again each time."""
    before = field.everything(template)
    path, statement = template.with_name("killed.db"), 1
    while (ended := killed_at(statement, copy(template, path), words, given)).signal == signal.SIGKILL:
        assert field.damages(path) == []
        applied = field.everything(path) != before
        assert answered_again(path, words, given) == applied
        assert steps_of_the_request(path) == 1
        statement += EVERY * (8 if words == "workflow load" else 1)
    assert (ended.signal, ended.error) == (None, None)
    assert statement > 10


def copy(template: pathlib.Path, path: pathlib.Path) -> pathlib.Path:
    """A copy of a database that nobody has open."""
    clear(path)
    path.write_bytes(template.read_bytes())
    return path


def clear(path: pathlib.Path) -> None:
    """Take a database away, its log included."""
    for left in path.parent.glob(f"{path.name}*"):
        left.unlink()


def killed_at(statement: int, path: pathlib.Path, words: str, given: dict[str, Any]) -> field.Ended:
    """Do a step in a process that is killed at a statement, if it comes so far."""

    def step() -> bool:
        field.die_at(statement)
        with field.opened(path) as context:
            return bool(field.call(context, words, **given)["success"])

    return field.in_child(step)


def answered_again(path: pathlib.Path, words: str, given: dict[str, Any]) -> bool:
    """Ask for the same step again; whether the answer was there already."""
    with field.opened(path) as context:
        return bool(field.call(context, words, **given).get("repeated"))


def steps_of_the_request(path: pathlib.Path) -> int:
    with field.plain(path) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM audit_events WHERE input LIKE '%\"request_id\":\"r\"%'")
        requests = connection.execute("SELECT count(*) FROM requests WHERE request_id = 'r'").fetchall()
    assert requests == [(1,)]
    return int(count)


def test_an_init_killed_at_any_statement_is_made_good_by_the_next_one(tmp_path: pathlib.Path) -> None:
    initialise(tmp_path / "whole.db")
    complete = counts(tmp_path / "whole.db")
    path, statement, killed = tmp_path / "new.db", 1, 0
    while (ended := field.in_child(lambda: initialise(path, statement))).signal == signal.SIGKILL:  # noqa: B023 - at once
        killed += 1
        initialise(path)
        assert field.damages(path) == []
        assert counts(path) == complete
        clear(path)
        statement += 1 if LONG else 100
    assert (ended.signal, ended.error) == (None, None)
    assert counts(path) == complete
    assert killed > 5


TABLES = ("sqlite_master", "agents", "workflow_versions", "workflow_activations", "audit_events")


def initialise(path: pathlib.Path, statement: int = 0) -> bool:
    if statement:
        field.die_at(statement)
    setup.create_database(path, AT)
    with field.opened(path) as context:
        return bool(setup.initialise(context)["success"])


def counts(path: pathlib.Path) -> dict[str, int]:
    with field.plain(path) as connection:
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}


def test_after_many_kills_every_answer_stands_and_every_step_is_whole(
    tmp_path: pathlib.Path, record_property: Callable[[str, object], None]
) -> None:
    path = field.create(tmp_path / "killed.db", groups=5)
    chance = random.Random(1)  # noqa: S311 - delays, no secret
    told: dict[str, str] = {}
    tried: list[str] = []
    for number in range(KILLS):
        lines = killed_after(path, f"w{number}", chance.uniform(0.0, 0.08))
        tried += [line.split()[1] for line in lines if line.startswith("try ")]
        told |= {line.split()[1]: line.split()[3] for line in lines if line.startswith("done ")}
        assert field.damages(path) == []
    assert_all_stand(path, tried, told)
    record_property("steps before kills", len(tried))


def killed_after(path: pathlib.Path, name: str, seconds: float) -> list[str]:
    """Start a worker, kill it after so long, and return its whole lines."""
    process = field.worker(path, name, groups=5, count=10_000)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("go\n")
    process.stdin.flush()
    time.sleep(seconds)
    process.kill()
    said = process.stdout.read()
    process.stdin.close()
    assert process.wait(timeout=60) == -signal.SIGKILL
    process.stdout.close()
    return said.splitlines()


def assert_all_stand(path: pathlib.Path, tried: list[str], told: dict[str, str]) -> None:
    """What was answered is there; what was tried and not answered is there once asked for again, and once only."""
    with field.plain(path) as connection:
        rows = dict(connection.execute("SELECT request_id, session_id || ':D' || seq FROM requests"))
    assert told.items() <= rows.items()
    assert set(rows) <= set(tried)
    with field.opened(path) as context:
        for request in tried:
            answer = field.call(context, "route", **worker.arguments(request, 5))
            assert answer.get("repeated", False) == (request in rows)
            assert answer["decision_id"] == rows.get(request, answer["decision_id"])
    with field.plain(path) as connection:
        reports = connection.execute("SELECT summary, count(*) FROM agent_reports WHERE role = 'developer' GROUP BY 1")
        assert dict(reports) == dict.fromkeys(tried, 1)
    assert field.damages(path) == []
