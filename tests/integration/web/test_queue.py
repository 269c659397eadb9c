"""What a server's loop reads of a long queue, and that a long queue of one project holds up no other."""

from __future__ import annotations

import json
import pathlib
import types
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the application needs the extra `web`")

from orchestrator.app.running import start_run, worker
from orchestrator.core.running import locks
from orchestrator.runner import snapshot
from orchestrator.store import run_board, run_reader
from orchestrator.store.run_reader import Run
from tests.acceptance.replhouse import set_up
from tests.integration.web import story
from tests.integration.web.conftest import Make

SLOW = {"when": "slow", "status": "COMPLETE", "output": "x", "delay_ms": 20_000, "repeat": True}
QUICK = {"when": "", "status": "COMPLETE", "output": "It is so.", "repeat": True}
PLACES = locks.CAPACITIES[locks.EXECUTOR]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each reading of the queue gave."""
    counts: list[int] = []
    queued = run_board.queued

    def counted(*given: Any, **more: Any) -> list[Run]:
        found = queued(*given, **more)
        counts.append(len(found))
        return found

    monkeypatch.setattr(worker, "QUEUED", 4)
    monkeypatch.setattr(run_board, "queued", counted)
    return counts


def watched(monkeypatch: pytest.MonkeyPatch, module: types.ModuleType, name: str) -> list[tuple[Any, ...]]:
    """With what a function is called from now on."""
    calls: list[tuple[Any, ...]] = []
    act = getattr(module, name)

    def called(*given: Any, **more: Any) -> Any:
        calls.append(given)
        return act(*given, **more)

    monkeypatch.setattr(module, name, called)
    return calls


def test_a_long_queue_is_read_by_the_page_and_holds_up_no_other_project(
    make: Make, read: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    web = make(steps=json.dumps([SLOW, QUICK]))
    web.service.add_project(str(web.project), "long")
    web.service.add_project(str(set_up(tmp_path / "other")), "other")
    waiting = [str(web.service.chat("long", "Change the slow part of it", "one")["task_id"]) for _ in range(14)]
    other = str(web.service.chat("other", "Read the README and tell what it says", "two")["task_id"])
    waiting += [str(web.service.chat("long", "Change the slow part of it", "one")["task_id"]) for _ in range(3)]
    assert read == []
    wanted = watched(monkeypatch, start_run, "wants")
    web.serve_runs()
    story.wait(web, other, "COMPLETE")
    story.wait(web, waiting[0], "RUNNING")
    assert [story.state(web, id) for id in waiting] == ["RUNNING", *["QUEUED"] * 16]
    # Of 18 that wait, a look reads one page, and what is behind the project that is taken.
    assert read[:2] == [4, 1]
    assert max(read) <= 4
    # What the others need is not looked up: they wait, whatever it is.
    assert {run.id for _, run in wanted} <= {*waiting[:2], other}


def test_of_a_session_one_run_is_begun_at_a_time(make: Make) -> None:
    web = make(steps=json.dumps([{**SLOW, "when": "README"}]))
    web.service.add_project(str(web.project), "portal")
    first, second = [str(web.service.chat("portal", story.READ, "one")["task_id"]) for _ in range(2)]
    web.serve_runs()
    story.wait(web, first, "RUNNING")
    story.wait(web, str(web.service.chat("portal", story.READ, "two")["task_id"]), "QUEUED")
    assert story.state(web, second) == "QUEUED"
    assert web.rows("SELECT count(*) FROM audit_events WHERE kind = 'run wait'") == [(0,)]


def test_what_is_said_is_taken_without_reading_what_was_said_before_or_a_look_through_the_project(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = make()
    web.service.add_project(str(web.project), "portal")
    reads, looks = watched(monkeypatch, run_reader, "of_session"), watched(monkeypatch, snapshot, "take")
    for _ in range(2):
        assert web.service.chat("portal", story.READ, "one")["status"] == "QUEUED"
    assert (reads, looks) == ([], [])
    web.service.chat("portal", "Implement the export in src/app.py", "one")
    assert len(looks) == 1


def test_those_who_only_read_start_together_from_every_page(make: Make, read: list[int]) -> None:
    slow = {**SLOW, "when": "README"}
    web = make(steps=json.dumps([slow, QUICK]))
    web.service.add_project(str(web.project), "portal")
    ids = [str(web.service.chat("portal", story.READ, f"c{n}")["task_id"]) for n in range(6)]
    web.serve_runs()
    # As many as there are places, those that were queued first; which of them begins first is nobody's matter.
    for id in ids[:PLACES]:
        story.wait(web, id, "RUNNING")
    assert [story.state(web, id) for id in ids] == ["RUNNING"] * PLACES + ["QUEUED"] * 2


def test_the_queue_is_told_page_by_page_without_projects_that_are_taken(make: Make) -> None:
    web = make()
    web.service.add_project(str(web.project), "portal")
    ids = [str(web.service.chat("portal", story.READ, "one")["task_id"]) for _ in range(5)]
    root = web.rows("SELECT DISTINCT verification_root FROM runs")[0][0]

    def told(**more: Any) -> list[str]:
        with web.service.pool.lent() as context:
            return [run.id for run in run_board.queued(context.connection, "http", "page", **more)]

    assert told(limit=9) == ids
    assert told(limit=2) == ids[:2]
    assert told(limit=2, after=ids[1]) == ids[2:4]
    assert told(limit=9, after=ids[4]) == []
    assert told(limit=9, without=["/elsewhere"]) == ids
    assert told(limit=9, without=["/elsewhere", root]) == []
