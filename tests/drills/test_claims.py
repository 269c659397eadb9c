"""Many processes claim at once: exactly one gets each task, all others learn who has it, and nothing breaks."""

from __future__ import annotations

import json
import os
import pathlib
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.errors import OrchestratorError
from tests.conftest import LONG
from tests.drills import field

pytestmark = pytest.mark.slow

SESSION = field.SESSION
ROUNDS, PROCESSES = (100, 100) if LONG else (4, 24)


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    """A database with a hundred agents."""
    path = field.create(tmp_path / "claims.db", groups=1)
    with field.opened(path, ORCHESTRATOR_SYNCHRONOUS="NORMAL") as context:
        for number in range(100):
            field.call(context, "agent register", id=f"dev-{number}", role="developer", parent="tech_lead")
    return path


def add(path: pathlib.Path, *ids: str) -> None:
    with field.opened(path, ORCHESTRATOR_SYNCHRONOUS="NORMAL") as context:
        for id in ids:
            field.call(context, "task create", id=id, session_id=SESSION, title=id, by="tech_lead")


def at_once(functions: list[Callable[[], Any]]) -> list[Any]:
    """Run each function in a process of its own; all begin when the last is there. No database may be open here."""
    gate, opener = os.pipe()
    running = [_started(function, gate, opener) for function in functions]
    os.close(gate)
    os.close(opener)
    found = []
    for child, source in running:
        with os.fdopen(source, "rb") as stream:
            found.append(json.loads(stream.read()))
        os.waitpid(child, 0)
    return found


def _started(function: Callable[[], Any], gate: int, opener: int) -> tuple[int, int]:
    source, sink = os.pipe()
    child = os.fork()
    if child:
        os.close(sink)
        return child, source
    os.close(opener)
    os.read(gate, 1)
    try:
        answer = function()
    except BaseException as problem:
        answer = ["broken", "".join(traceback.format_exception(problem))]
    os.write(sink, json.dumps(answer).encode())
    os._exit(0)


def claiming(path: pathlib.Path, agent: str, id: str | None, **more: Any) -> Callable[[], list[Any]]:
    """A claim that answers what it got, or with which code it was refused and who has the task."""

    def claim() -> list[Any]:
        with field.opened(path, ORCHESTRATOR_BUSY_TIMEOUT="60") as context:
            try:
                answer = field.call(context, "task claim", session_id=SESSION, agent_id=agent, id=id, **more)
            except OrchestratorError as problem:
                return [problem.code, problem.data.get("holder")]
        return ["won", answer["task"] and answer["task"]["id"], answer["claim"] and answer["claim"]["token"]]

    return claim


def holder(path: pathlib.Path, id: str) -> tuple[Any, ...]:
    with field.plain(path) as connection:
        found: tuple[Any, ...] = connection.execute(
            "SELECT status, claim_holder, claim_token FROM tasks WHERE id = ?", (id,)
        ).fetchone()
    return found


def test_of_many_processes_one_gets_the_task(path: pathlib.Path) -> None:
    add(path, "T")
    found = at_once([claiming(path, f"dev-{number}", "T") for number in range(PROCESSES)])
    status, winner, token = holder(path, "T")
    assert Counter(each[0] for each in found) == {"won": 1, "CLAIM_LOST": PROCESSES - 1}
    assert [each for each in found if each[0] == "won"] == [["won", "T", token]]
    assert {each[1] for each in found if each[0] == "CLAIM_LOST"} == {winner}
    assert status == "in_progress"
    assert field.damages(path) == []


def test_of_eight_processes_of_one_name_one_gets_the_task(path: pathlib.Path) -> None:
    add(path, "T")
    found = at_once([claiming(path, "dev-1", "T") for _ in range(8)])
    assert sorted(each[0] for each in found) == ["CLAIM_LOST"] * 7 + ["won"]


def test_two_agents_claim_one_task_again_and_again(path: pathlib.Path) -> None:
    for number in range(ROUNDS):
        id = f"T{number}"
        add(path, id)
        agents = [f"dev-{2 * number % 100}", f"dev-{(2 * number + 1) % 100}"]
        found = at_once([claiming(path, agent, id) for agent in agents])
        assert sorted(each[0] for each in found) == ["CLAIM_LOST", "won"], found
        with field.opened(path, ORCHESTRATOR_SYNCHRONOUS="NORMAL") as context:
            field.call(context, "task release", session_id=SESSION, id=id, claim_token=holder(path, id)[2])
            by = {"by": "project_manager", "reason": "next round"}
            field.call(context, "task set-status", session_id=SESSION, id=id, status="cancelled", **by)
    assert field.damages(path) == []


def test_two_agents_race_through_a_hundred_tasks(path: pathlib.Path) -> None:
    names = [f"T{number}" for number in range(100)]
    add(path, *names)
    with field.opened(path) as context:
        for agent in ("fast", "quick"):
            wide = {"role": "developer", "parent": "tech_lead", "max_parallel_tasks": 1000}
            field.call(context, "agent register", id=agent, **wide)

    def race(agent: str) -> Callable[[], list[Any]]:
        return lambda: [claiming(path, agent, id)() for id in names]

    first, second = at_once([race("fast"), race("quick")])
    assert [sorted((one[0], other[0])) for one, other in zip(first, second, strict=True)] == [
        ["CLAIM_LOST", "won"]
    ] * 100
    assert field.damages(path) == []


def test_who_asks_for_any_task_gets_another_one(path: pathlib.Path) -> None:
    names = [f"T{number}" for number in range(1, 21)]
    add(path, *names)
    found = at_once([claiming(path, f"dev-{number}", None) for number in range(30)])
    won = sorted((each[1] for each in found if each[1] is not None), key=lambda id: int(id[1:]))
    assert won == names
    assert [each for each in found if each[1] is None] == [["won", None, None]] * 10


def test_the_same_request_sent_at_once_is_one_claim(path: pathlib.Path) -> None:
    add(path, "T")
    found = at_once([claiming(path, "dev-1", "T", request_id="R1") for _ in range(8)])
    assert {json.dumps(each) for each in found} == {json.dumps(["won", "T", holder(path, "T")[2]])}


def test_only_one_takes_an_ended_lease_over(path: pathlib.Path) -> None:
    add(path, "T")
    with field.opened(path) as context:
        old = {"session_id": SESSION, "id": "T", "agent_id": "dev-99", "lease": 1}
        field.call(context, "task claim", **old, at="2026-01-01T00:00:00.000000Z")
    with field.plain(path) as connection:
        late = connection.execute("SELECT claim_until FROM tasks WHERE id = 'T'").fetchone()[0]
    at = f"{int(late[:4]) + 1}{late[4:]}"
    found = at_once([claiming(path, f"dev-{number}", "T", at=at) for number in range(8)])
    assert sorted(each[0] for each in found) == ["CLAIM_LOST"] * 7 + ["won"]
    assert field.damages(path) == []
