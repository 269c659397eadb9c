"""Refusals of long calls: kept cut, and told again as they were."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.app.audit import replay_events
from orchestrator.app.kernel import malformed_calls
from orchestrator.app.kernel.context import MAX_DETAIL, Context
from orchestrator.errors import InvalidInput, Refused
from orchestrator.store import memory
from tests.integration.app.table import SESSION, Table

LONG = "x" * (3 * MAX_DETAIL)


def last_event(table: Table) -> dict[str, Any]:
    ((text,),) = table.rows("SELECT input FROM audit_events WHERE kind = 'refusal' ORDER BY rowid DESC LIMIT 1")
    found: dict[str, Any] = json.loads(text)
    return found


def assert_told_again(table: Table) -> None:
    """A replay gives the same refusals and the same events, hashes included."""
    fresh = Context(memory.connect(), path="", clock=lambda: "", door="none", channel="none", deadline_s=1.0)
    replay_events.replay(fresh, replay_events.events(table.context))
    for name in ("refusals", "router_decisions", "audit_events"):
        recorded = table.rows(f"SELECT * FROM {name} ORDER BY rowid")
        assert fresh.connection.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall() == recorded


@pytest.mark.parametrize(
    ("more", "code"),
    [
        pytest.param({"summary": LONG}, "UNKNOWN_STATUS", id="summary"),
        pytest.param({"details": {"output": LONG, "share": 0.5}}, "UNKNOWN_STATUS", id="details"),
        pytest.param({"raw_text": LONG, "request_id": "once"}, "UNKNOWN_STATUS", id="message, with a request id"),
    ],
)
def test_a_long_text_of_a_refused_report_is_kept_cut(more: dict[str, Any], code: str) -> None:
    table = Table("A", plan=True)
    for _ in range(6):
        with pytest.raises(Refused) as caught:
            table.says("developer", "DONE", "A", **more)
        assert caught.value.code == code
    event = last_event(table)
    assert (event["cut"], event["refused"]["code"]) == (True, code)
    assert max(len(text) for text in event["input"].values() if isinstance(text, str)) == MAX_DETAIL
    assert table.awaited("A") == "tech_lead"
    assert_told_again(table)


def test_a_refused_workflow_is_kept_cut() -> None:
    table = Table()
    table.refusal("workflow load", content=LONG * 100, agent_texts={"a.md": LONG}, source="x.json")
    event = last_event(table)
    assert (len(event["input"]["content"]), len(event["input"]["agent_texts"]["a.md"])) == (MAX_DETAIL, MAX_DETAIL)
    assert_told_again(table)


def test_a_short_refusal_is_kept_whole_with_the_names_as_they_were_written() -> None:
    table = Table("A", plan=True)
    table.refused(" Dev\u00a0", "all done", "A")
    event = last_event(table)
    assert (event["input"]["current_agent"], event["input"]["status"], "cut" in event) == (
        " Dev\u00a0", "all done", False,
    )  # fmt: skip
    assert table.rows("SELECT role, status FROM refusals") == [("developer", "all done")]


def test_what_could_not_be_read_is_recorded_and_told_again() -> None:
    table = Table("A", plan=True)
    problem = InvalidInput("METADATA_INVALID", "--details is no JSON.", problems=[])
    given = {"session_id": SESSION, "current_agent": "dev", "status": "PARTIAL", "group_id": "A"}
    malformed_calls.record(table.context, "route", given, problem)
    assert table.rows("SELECT code, group_id, role, detail FROM refusals") == [
        ("METADATA_INVALID", "A", "dev", "--details is no JSON.")
    ]
    assert_told_again(table)


@pytest.mark.parametrize("given", [{"session_id": "S9"}, {"dry_run": True}], ids=["unknown session", "dry run"])
def test_what_belongs_to_no_known_session_is_not_recorded(given: dict[str, Any]) -> None:
    table = Table("A")
    malformed_calls.record(table.context, "route", given, InvalidInput("METADATA_INVALID", "no JSON"))
    assert table.count("refusals") == 0
