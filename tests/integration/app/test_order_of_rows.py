"""No answer rests on the order of rows that a statement does not say: a server gives them in any order.

SQLite gives such rows in the opposite order where it is told to.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
from typing import Any

import pytest

from orchestrator.app import setup
from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.errors import OrchestratorError
from orchestrator.store import memory
from tests.integration.app.desk import Clock
from tests.integration.cli.test_postgresql import BATCH, told


def _context(*, is_reversed: bool) -> Context:
    connection = memory.connect()
    connection.execute(f"PRAGMA reverse_unordered_selects = {int(is_reversed)}")
    context = Context(connection, path=":memory:", clock=Clock(), door="test", channel="process", deadline_s=5.0)
    setup.initialise(context)
    return context


def _answer(context: Context, words: str, given: dict[str, Any]) -> dict[str, Any]:
    try:
        return operations.call(context, words, **arguments.complete(context, words, arguments.bind(words, given)))
    except OrchestratorError as problem:
        return {**operations.failure(problem, None), "refused": True}


@pytest.mark.sqlite("SQLite is told to turn orders round")
def test_every_operation_answers_the_same_whatever_the_order_of_rows(tmp_path: pathlib.Path) -> None:
    done = 0
    with contextlib.chdir(tmp_path):
        one, other = _context(is_reversed=False), _context(is_reversed=True)
        for words, given in BATCH:
            answers = [_answer(each, words, dict(given)) for each in (one, other)]
            first, second = (told(json.loads(json.dumps(each, default=str))) for each in answers)
            assert first == second, words
            done += "refused" not in answers[0]
    assert done > len(BATCH) // 2
    # The store's chain holds a token, which is drawn by lot.
    steps = "SELECT session_id, seq, hash FROM audit_events WHERE session_id <> '@store' ORDER BY 1, 2"
    assert one.connection.execute(steps).fetchall() == other.connection.execute(steps).fetchall()
