"""A client with hooks whose main agent uses the MCP server too: one start for a turn, and each report taken once."""

from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.app.clients.main_agent import Director
from orchestrator.runner import process_identity
from tests.integration.clients.test_hooks import CLIENT, Client, report
from tests.integration.clients.test_main_agent import Main

BUILT, FAILED = report("READY_FOR_QA"), report("FAIL")


class Both:
    """One main agent: its hooks, and a server that a process below its client serves."""

    def __init__(self, folder: pathlib.Path, process: subprocess.Popen[bytes]) -> None:
        self.hooks = Client(folder)
        self.process = process
        self.server = self.serving("mcp-own", process_identity.of(process.pid))
        self.hooks.planned()

    def serving(self, client: str, owner: str) -> Main:
        found = Main(self.hooks.desk.path)
        found.caller.director = Director(client, owner)
        return found

    def starts(self) -> list[tuple[Any, ...]]:
        return self.hooks.rows("SELECT via, outcome FROM starts WHERE group_id = 'A' ORDER BY seq")

    def reports(self) -> list[str]:
        rows = self.hooks.rows("SELECT response_status FROM agent_reports WHERE group_id = 'A' ORDER BY seq")
        return [str(row[0]) for row in rows]

    def first_line(self) -> str:
        spawn = self.hooks.spawn()
        return f"[orchestrator S1 A turn {spawn['turn']} {spawn['agent']} spawn]"

    def begun(self, role: str = "developer", worker: str = "a1") -> None:
        self.hooks.begun(role, self.first_line(), worker)


@pytest.fixture
def both(tmp_path: pathlib.Path) -> Iterator[Both]:
    process = subprocess.Popen(["sleep", "600"])
    found = Both(tmp_path, process)
    yield found
    found.server.caller.close()
    process.kill()
    process.wait()


def test_a_turn_taken_over_mcp_may_be_started_by_the_client_that_took_it(both: Both) -> None:
    prompt = both.server.start("A")["markdown"]
    assert both.hooks.begun("developer", prompt)["prompt"].startswith(both.first_line())
    assert both.starts() == [("mcp", "freed"), ("hook", None)]
    assert both.hooks.spawn()["start"]["client"] == CLIENT
    assert both.hooks.start("developer", both.first_line())["permissionDecision"] == "deny"
    assert both.server.refused("handoff", start=True, group_id="A")["code"] == "ALREADY_EXISTS"


def test_a_start_that_is_carried_out_outlives_the_server_that_took_its_turn(both: Both) -> None:
    both.server.start("A")
    both.begun()
    both.process.kill()
    both.process.wait()
    assert both.hooks.event("Stop") is not None, "B is due"
    assert both.starts() == [("mcp", "freed"), ("hook", None)]
    assert both.hooks.stops(BUILT) is None
    assert both.reports() == ["READY_FOR_QA"]


@pytest.mark.parametrize("owner", [process_identity.of(os.getppid()), process_identity.mine()], ids=["above", "same"])
def test_a_turn_taken_by_another_client_s_server_is_denied(both: Both, owner: str) -> None:
    other = both.serving("mcp-other", owner)
    other.start("A")
    found = both.hooks.start("developer", both.first_line())
    assert found["permissionDecision"] == "deny"
    assert both.starts() == [("mcp", None)]
    other.caller.close()


def test_a_report_that_a_hook_has_taken_is_answered_the_same_over_mcp(both: Both) -> None:
    both.server.start("A")
    both.begun()
    assert both.hooks.stops(BUILT) is None
    for given in ({}, {"group_id": "A"}, {"request_id": "r1"}):
        found = both.server.do("route", message=BUILT, **given)
        assert (found["repeated"], found["next_agent"]) == (True, "qa_expert")
    assert both.reports() == ["READY_FOR_QA"]


def test_a_report_taken_over_mcp_is_not_taken_again_by_the_hook(both: Both) -> None:
    both.begun()
    assert both.server.do("route", message=BUILT)["next_agent"] == "qa_expert"
    assert both.hooks.stops(BUILT) is None
    assert both.reports() == ["READY_FOR_QA"]
    assert both.hooks.rows("SELECT count(*) FROM refusals") == [(0,)]


def test_a_late_message_is_no_report_of_the_same_role_s_next_turn(both: Both) -> None:
    both.begun()
    both.hooks.stops(BUILT)
    both.begun("qa_expert", "a2")
    both.hooks.stops(FAILED, "a2")
    both.begun("developer", "a3")
    assert both.server.do("route", message=BUILT, group_id="A")["repeated"] is True
    assert both.reports() == ["READY_FOR_QA", "FAIL"]
    assert both.server.do("route", message=report("READY_FOR_QA", details={"fixed": 1}), group_id="A")["seq"]
    assert both.reports() == ["READY_FOR_QA", "FAIL", "READY_FOR_QA"]


def test_another_agent_s_stop_reports_for_the_turn_whose_hand_off_it_was_given(
    both: Both, tmp_path: pathlib.Path
) -> None:
    trace = tmp_path / "agent.jsonl"
    trace.write_text(both.server.start("A")["markdown"])
    assert both.hooks.stops("Built.", "g1", agent_transcript_path=str(trace)) is not None
    assert both.hooks.stops(BUILT, "g1", agent_transcript_path=str(trace)) is None
    assert both.server.do("route", message=BUILT)["repeated"] is True
    assert both.reports() == ["READY_FOR_QA"]


def test_a_turn_taken_over_mcp_without_an_agent_is_due_again_when_its_client_stops(both: Both) -> None:
    both.server.start("A")
    assert both.hooks.event("Stop", background_tasks=[{"id": "b1"}]) is not None, "B is due"
    assert both.starts() == [("mcp", None)]
    said = both.hooks.event("Stop")
    assert said is not None
    assert "start developer on A" in said["reason"]
    assert both.starts() == [("mcp", "freed")]


def test_what_was_taken_over_mcp_is_lost_where_the_conversation_is_forgotten(both: Both) -> None:
    both.server.start("A")
    both.hooks.event("SessionEnd", reason="clear")
    assert both.starts() == [("mcp", "lost")]
