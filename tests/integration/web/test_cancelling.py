"""A run that does not end within the time of an answer: it is told as RUNNING, and ends when it ends."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("fastapi", reason="the application needs the extra `web`")

from orchestrator import bootstrap
from orchestrator.doors.web import application, cancellation
from orchestrator.errors import Refused
from orchestrator.store import run_reader
from tests.integration.web import story
from tests.integration.web.asgi import HOST, TOKEN, Web
from tests.integration.web.conftest import Make

STEPS = json.dumps([{"when": "", "status": "COMPLETE", "output": "It is so.", "delay_ms": 25_000, "repeat": True}])


@pytest.fixture
def slow(make: Make, monkeypatch: pytest.MonkeyPatch) -> Web:
    """Runs take long, and an answer waits shortly."""
    web = make(steps=STEPS)
    monkeypatch.setattr(cancellation, "WAIT_S", 0.2)
    web.serve_runs()
    return web


def cancel(web: Web, id: str) -> tuple[int, dict[str, str]]:
    found = web._ask("POST", f"/api/tasks/{id}/cancel", b"", {"authorization": f"Bearer {TOKEN}"})
    return found.status, json.loads(found.text)


def test_what_takes_longer_is_answered_as_running(slow: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    id = story.run(slow, story.READ, until="RUNNING")
    with monkeypatch.context() as deaf:
        deaf.setattr(slow.service.loop, "cancel", lambda id: True)
        deaf.setattr(run_reader, "is_to_stop", lambda *asked: False)
        assert cancel(slow, id) == (200, {"task_id": id, "old_status": "RUNNING", "new_status": "RUNNING"})
        slow.come_in()
        assert slow.send(f"/tasks/{id}", f"/tasks/{id}/cancel").status == 303
    assert story.state(slow, id) == "RUNNING"
    monkeypatch.setattr(cancellation, "WAIT_S", 20.0)
    assert cancel(slow, id) == (200, {"task_id": id, "old_status": "RUNNING", "new_status": "CANCELLED"})
    assert cancel(slow, id)[1]["error"] == "ILLEGAL_MOVE"


def test_what_ended_while_it_was_to_be_stopped_is_told_so(web: Web) -> None:
    id = story.run(web, story.DANGEROUS)
    with pytest.raises(Refused) as caught:
        web.service.cancelled(id, "RUNNING")
    said = f"Task {id} is AWAITING_RESPONSE; it can no longer be cancelled."
    assert (caught.value.code, caught.value.message) == ("ILLEGAL_MOVE", said)


def test_what_has_been_cancelled_is_not_cancelled_again(slow: Web) -> None:
    id = story.run(slow, story.READ, until="RUNNING")
    slow.service.loop.cancel(id)
    story.wait(slow, id, "CANCELLED")
    assert slow.service.cancelled(id, "RUNNING")["new_status"] == "CANCELLED"
    assert cancel(slow, id)[0] == 409


def test_what_another_server_executes_is_stopped_by_it(slow: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    id = story.run(slow, story.READ, until="RUNNING")
    monkeypatch.setattr(cancellation, "WAIT_S", 20.0)
    script = slow.database.with_name("steps.json")
    other = bootstrap.open_service(
        database=str(slow.database), executor=f"scripted:{script}", environment={}, tell=slow.faults.append
    )
    app = application.create(other, slow.access, hosts=(HOST,))
    monkeypatch.setattr(slow, "app", app)
    try:
        assert cancel(slow, id) == (200, {"task_id": id, "old_status": "RUNNING", "new_status": "CANCELLED"})
    finally:
        other.pool.close()
    log = slow.rows(f"SELECT kind, text FROM run_events WHERE run_id = '{id}' AND kind = 'stopping'")
    assert [(kind, "the server's token" in text) for kind, text in log] == [("stopping", True)]
    assert slow.faults == []
