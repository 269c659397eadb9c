"""With which code a run does not wait for whom it would wait in vain. Acceptance tests meet it with real processes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.app.running import lock_acquisition, start_run
from orchestrator.errors import Refused
from orchestrator.runner import orphan_recovery, process_identity

RUN: Any = SimpleNamespace(id="R2")


@pytest.mark.parametrize(
    ("within", "gone", "code"),
    [
        pytest.param(True, False, "E403", id="its executor started this process"),
        pytest.param(True, True, "E405", id="its executor started this process, and its own is gone"),
        pytest.param(False, True, None, id="another's"),
    ],
)
def test_a_run_does_not_wait_for_whose_executor_started_it(
    within: bool, gone: bool, code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_run, "holders", lambda *_: [SimpleNamespace(id="R1", owner="somebody")])
    monkeypatch.setattr(orphan_recovery, "is_within", lambda _: within)
    monkeypatch.setattr(process_identity, "is_gone", lambda *_: gone)
    context: Any = SimpleNamespace(connection=None)
    found = None
    try:
        lock_acquisition.refuse_own(context, RUN)
    except Refused as problem:
        found = problem
    assert (found and found.code, found is None or "R1" in found.message) == (code, True)


@pytest.mark.parametrize(
    ("own", "left", "code"),
    [
        pytest.param(("R9",), (), "E403", id="one of another database has started this process"),
        pytest.param((), (("R9", ("42 sleep",)),), "E405", id="of one that is gone something lives on"),
    ],
)
def test_a_run_does_not_wait_in_vain_for_another_database(own: Any, left: Any, code: str) -> None:
    found = SimpleNamespace(taken=False, own=own, left=left, against=())
    place: Any = SimpleNamespace(root="/project", take=lambda: found)
    with pytest.raises(Refused) as problem:
        lock_acquisition._taken(RUN, place)
    assert (problem.value.code, "R9" in problem.value.message) == (code, True)
