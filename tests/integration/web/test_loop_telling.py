"""What the loop says of a database that is away: that it is, what else is the matter, and that it is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

pytest.importorskip("fastapi", reason="the application needs the extra `web`")

from orchestrator import errors
from orchestrator.app.running import worker
from tests.integration.web.asgi import Web


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_fault_is_told_once_then_what_changes_then_its_end(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LOOK_S", 0.01)
    looks = 0
    look = worker.Loop._look
    between_looks = threading.Lock()

    def counted(self: worker.Loop) -> None:
        nonlocal looks
        with between_looks:
            looks += 1
            look(self)

    def looked(more: int = 5) -> None:
        goal = looks + more
        wait_for(lambda: looks >= goal)

    monkeypatch.setattr(worker.Loop, "_look", counted)
    web.serve_runs()
    kept = web.database.with_name("kept")
    steps = []
    for _ in range(2):
        with between_looks:
            web.database.rename(kept)
        looked()
        steps.append([type(fault).__name__ for fault in web.faults])
        with between_looks:
            web.database.write_text("no database, " * 200)
        looked()
        steps.append([getattr(fault, "code", "") for fault in web.faults])
        with between_looks:
            web.database.unlink()
            kept.rename(web.database)
        looked()
        steps.append([type(fault).__name__ for fault in web.faults])
        web.faults.clear()
    once = [
        ["EnvironmentProblem"], ["NO_DATABASE", "CORRUPT"], ["EnvironmentProblem", "EnvironmentProblem", "Over"]
    ]  # fmt: skip
    assert steps == once * 2


def test_a_fault_that_is_told_in_other_words_is_no_other_fault(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    busy, broken = (errors.EnvironmentProblem(code, "") for code in ("BUSY", "CORRUPT"))
    faults = [busy, errors.EnvironmentProblem("BUSY", "Still."), broken, ValueError("a"), ValueError("b"), busy]
    waiting = iter(faults)

    def failing(_: worker.Loop) -> None:
        for fault in waiting:
            raise fault

    monkeypatch.setattr(worker, "LOOK_S", 0.01)
    monkeypatch.setattr(worker.Loop, "_look", failing)
    web.serve_runs()
    wait_for(lambda: any(isinstance(fault, worker.Over) for fault in web.faults))
    assert web.faults[:-1] == [faults[0], *faults[2:]]
