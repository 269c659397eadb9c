"""Keys never reach the database: whatever a call says, they are masked before anything is recorded."""

from __future__ import annotations

import json
import pathlib
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.core import masking
from orchestrator.errors import OrchestratorError
from tests.integration.app.desk import Desk

OPENAI = "sk-" + "a1B2" * 10
ANTHROPIC = "sk-ant-api03-" + "x7Y9" * 10
SECRET = "a-value-that-no-pattern-knows"  # noqa: S105 - made up


WHERE: list[Callable[[str], Any]] = [
    lambda key: {"summary": f"used {key}."},
    lambda key: {"details": {"a": [{"b": f"used {key}."}]}},
    lambda key: {"details": {"a": {key: "is a name"}}},
]


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    desk = Desk(tmp_path)
    desk.planned("S1", "A")
    desk.context.secrets = (SECRET,)
    return desk


def everything(desk: Desk) -> bytes:
    """The whole file, the log beside it included; on a server every row."""
    if not isinstance(desk.context.connection, sqlite3.Connection):
        return bytes(desk.context.connection.serialize())
    return b"".join(path.read_bytes() for path in pathlib.Path(desk.context.path).parent.glob("*.db*"))


@pytest.mark.parametrize("said", WHERE, ids=["summary", "a value", "a name"])
@pytest.mark.parametrize("key", ['it\'s "this" one', "C:\\keys\\mine", "first line\nsecond"])
def test_p24_a_registered_value_is_found_as_it_is_written(desk: Desk, key: str, said: Callable[[str], Any]) -> None:
    desk.context.secrets = masking.registered({"A_KEY": key})[0]
    given = {"session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "READY_FOR_QA"}
    answer = desk.call("route", **given, **said(key))
    told = desk.context.reader.one("SELECT summary, details FROM agent_reports WHERE seq = :seq", seq=answer["seq"])
    assert told is not None
    assert "[MASKED:" in f"{told[0]} {told[1]}"
    found = everything(desk)
    for form in (key, *(json.dumps(key, ensure_ascii=ascii_)[1:-1] for ascii_ in (True, False))):
        assert form.encode() not in found


@pytest.mark.parametrize("key", [OPENAI, ANTHROPIC, SECRET])
def test_p24_a_report_with_a_key_keeps_none_of_it(desk: Desk, key: str) -> None:
    desk.call(
        "route", session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA",
        summary=f"used {key}.", details={"env": [key], key: 1},
    )
    found = everything(desk)
    assert key.encode() not in found
    assert b"[MASKED:" in found


def test_p24_a_refused_call_keeps_none_of_it_either(desk: Desk) -> None:
    said = f"I have {OPENAI}"
    with pytest.raises(OrchestratorError) as refused:
        desk.call("group set-status", id="A", status="completed", session_id="S1", by="developer", reason=said)
    assert refused.value.code
    assert OPENAI.encode() not in everything(desk)


def test_p24_a_request_is_known_again_by_its_masked_input(desk: Desk) -> None:
    given = {"session_id": "S1", "by": "project_manager", "reason": f"key {OPENAI}", "request_id": "R1"}
    desk.call("session pause", id="S1", **{k: v for k, v in given.items() if k != "session_id"})
    again = desk.call("session pause", id="S1", **{k: v for k, v in given.items() if k != "session_id"})
    assert again["repeated"] is True


def test_ordinary_text_stays_as_it_was(desk: Desk) -> None:
    said = "fixed in 14ae301c9b7f4d2e8a6c5b3d1f0e9a8b7c6d5e4f; password: required"
    desk.call(
        "route", session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA", summary=said
    )
    row = desk.context.connection.execute("SELECT summary FROM agent_reports ORDER BY seq DESC").fetchone()
    assert row == (said,)
