"""What the loop says of a database that is away: that it is, what else is the matter, and that it is over."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

pytest.importorskip("fastapi", reason="the application needs the extra `web`")

from orchestrator.app.running import loop
from tests.integration.web.asgi import Web


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_fault_is_told_once_then_what_changes_then_its_end(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LOOK_S", 0.01)
    looks = 0
    look = loop.Loop._look

    def counted(self: loop.Loop) -> None:
        nonlocal looks
        looks += 1
        look(self)

    def looked(more: int = 5) -> None:
        goal = looks + more
        wait_for(lambda: looks >= goal)

    monkeypatch.setattr(loop.Loop, "_look", counted)
    web.serve_runs()
    kept = web.database.with_name("kept")
    steps = []
    for _ in range(2):
        web.database.rename(kept)
        looked()
        steps.append([type(fault).__name__ for fault in web.faults])
        web.database.write_text("no database, " * 200)
        looked()
        steps.append([getattr(fault, "code", "") for fault in web.faults])
        web.database.unlink()
        kept.rename(web.database)
        looked()
        steps.append([type(fault).__name__ for fault in web.faults])
        web.faults.clear()
    once = [
        ["EnvironmentProblem"], ["NO_DATABASE", "CORRUPT"], ["EnvironmentProblem", "EnvironmentProblem", "Over"]
    ]  # fmt: skip
    assert steps == once * 2
