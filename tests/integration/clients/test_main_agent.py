"""A main agent over MCP: it takes turns, and reports for those alone, whichever role they are of."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import Orchestrator, bootstrap
from orchestrator.app.clients.main_agent import Director
from orchestrator.doors.mcp import prompts
from orchestrator.doors.mcp.tool_calls import Caller, Settings
from orchestrator.errors import OrchestratorError
from tests.cases import every

PLAN = {"groups": [{"id": "A", "name": "login"}, {"id": "B", "name": "reports"}]}
Answer = dict[str, Any]


def message(status: str, **details: Any) -> str:
    """An agent's last message."""
    return f"Done.\n```json\n{json.dumps({'status': status, 'summary': 'done', 'details': details})}\n```\n"


class Main:
    """A main agent's server without its protocol."""

    def __init__(self, path: pathlib.Path, agent: str | None = None) -> None:
        self.caller = Caller(Settings(agent, None, str(path)))
        self.caller.prepare()

    def ask(self, tool: str, **given: Any) -> Answer:
        return self.caller.call(self.caller.tools[tool], given).document

    def do(self, tool: str, **given: Any) -> Answer:
        found = self.ask(tool, **given)
        assert found["success"], found
        return found

    def refused(self, tool: str, **given: Any) -> Answer:
        found = self.ask(tool, **given)
        assert not found["success"], found
        return found

    def start(self, group: str | None = None, **given: Any) -> Answer:
        where = {"group_id": group} if group else {}
        return self.do("handoff", start=True, **where, **given)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("template") / "orchestrator.db"
    with Orchestrator.create(path):
        pass
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: pathlib.Path, template: bytes) -> pathlib.Path:
    found = tmp_path / "orchestrator.db"
    found.write_bytes(template)
    return found


@pytest.fixture
def main(path: pathlib.Path) -> Iterator[Main]:
    found = Main(path)
    found.do("create_session", id="S1", goal="Ship it")
    yield found
    found.caller.close()


@pytest.fixture
def planned(main: Main) -> Main:
    main.start()
    main.do("route", message=message("PLANNING_COMPLETE", plan=PLAN))
    return main


def test_one_server_takes_a_goal_to_its_verdict(planned: Main) -> None:
    for group in ("A", "B"):
        planned.start(group)
    for role, status in (
        ("developer", "READY_FOR_QA"), ("qa_expert", "PASS"), ("tech_lead", "APPROVED"), ("developer", "MERGE_SUCCESS"),
    ):  # fmt: skip
        for group in ("A", "B"):
            if role != "developer" or status == "MERGE_SUCCESS":
                planned.start(group)
            found = planned.do("route", message=message(status), group_id=group)
            assert found["current_agent"] == role
    (due,) = planned.do("get_next_action")["resume"]
    tool, _, given = due["command"].partition(" ")
    assert planned.do(tool, **json.loads(given))["handoff"]["role"] == "project_manager"
    planned.do("route", status="BAZINGA", summary="all is done")
    assert planned.do("get_next_action")["state"] == "validate"
    assert planned.do("validate_session")["verdict"] == "ACCEPT"
    assert planned.do("get_status")["state"] == "ended"


def test_a_start_gives_the_hand_off_of_an_agent_that_ends_with_its_report(main: Main) -> None:
    found = main.start()
    assert found["start"]["via"] == "mcp"
    assert found["start"]["state"] == "reserved"
    assert found["markdown"].startswith("[orchestrator S1 - turn 1 project_manager spawn]")
    assert "orchestrator route" not in found["markdown"].partition("## Your role")[0]
    (turn,) = main.do("get_status")["spawns"]
    assert turn["start"] == found["start"]
    assert [each["command"] for each in main.do("get_next_action")["resume"]] == [None]


def test_a_turn_is_started_once_and_the_same_call_again_is_the_same_start(main: Main, path: pathlib.Path) -> None:
    first = main.start(request_id="r1")
    assert main.start(request_id="r1")["start"] == first["start"]
    assert main.refused("handoff", start=True, request_id="r2")["code"] == "ALREADY_EXISTS"
    other = Main(path)
    assert other.refused("handoff", start=True, request_id="r1")["code"] == "ALREADY_EXISTS"
    other.caller.close()


def test_a_hand_off_that_is_only_read_starts_nobody(main: Main) -> None:
    assert "start" not in main.do("handoff")
    assert "start" not in main.do("get_status")["spawns"][0]


@every(
    ("given", "code"),
    [
        ({"status": "READY_FOR_QA", "group_id": "A"}, "NOT_PERMITTED"),
        ({"message": message("READY_FOR_QA"), "group_id": "A"}, "NOT_PERMITTED"),
        ({"status": "READY_FOR_QA", "group_id": "B", "current_agent": "qa_expert"}, "NOT_PERMITTED"),
        ({"status": "READY_FOR_QA", "group_id": "B", "turn": 1}, "NOT_PERMITTED"),
        ({}, "USAGE"),
        ({"status": "PASS", "message": "PASS"}, "USAGE"),
        ({"message": message("PASS"), "summary": "done", "group_id": "B"}, "USAGE"),
        ({"message": 4}, "USAGE"),
        ({"status": "PASS", "agent_id": "developer"}, "USAGE"),
    ],
)  # fmt: skip
def test_a_report_is_taken_for_a_started_turn_only(started_by_another: Main, given: Answer, code: str) -> None:
    found = started_by_another.refused("route", **given)
    assert (found["code"], code == "USAGE" or "get_next_action" in found["suggestion"]) == (code, True)


@pytest.fixture
def started_by_another(planned: Main, path: pathlib.Path) -> Iterator[Main]:
    """A second server; turn of B is its own, that of A is the first one's."""
    planned.start("A")
    found = Main(path)
    found.start("B")
    yield found
    found.caller.close()


def test_a_report_without_a_start_is_on_record_as_refused(main: Main, path: pathlib.Path) -> None:
    main.refused("route", status="PLANNING_COMPLETE")
    with Orchestrator.open(path) as o:
        (row,) = o.audit_refusals(session_id="S1")["refusals"]
    assert (row["code"], row["door"]) == ("NOT_PERMITTED", "mcp")


def test_two_turns_under_way_are_told_apart_by_their_group(planned: Main) -> None:
    planned.start("A")
    planned.start("B")
    assert planned.refused("route", status="READY_FOR_QA")["code"] == "USAGE"
    assert planned.do("route", status="READY_FOR_QA", group_id="B")["next_agent"] == "qa_expert"


def test_a_message_without_a_report_says_what_to_send_back(planned: Main) -> None:
    planned.start("A")
    found = planned.refused("route", message="All is fine.")
    assert found["code"] == "AMBIGUOUS_REPORT"
    assert "READY_FOR_QA" in found["send_back"]
    assert "not a report yet" in found["send_back"]
    assert planned.do("route", message=message("READY_FOR_QA"))["next_agent"] == "qa_expert"


def test_a_gate_that_fails_says_what_to_send_back(main: Main, path: pathlib.Path) -> None:
    with Orchestrator.open(path) as o:
        o.criterion_add("C1", text="it builds", session_id="S1", command=("false",), at_status=("READY_FOR_QA",))
    main.start()
    main.do("route", message=message("PLANNING_COMPLETE", plan=PLAN))
    main.start("A")
    found = main.refused("route", message=message("READY_FOR_QA"), run_commands=True)
    assert (found["code"], "C1" in found["send_back"]) == ("GATE_FAILED", True)
    assert main.refused("route", status="READY_FOR_QA", run_commands=True)["code"] == "GATE_FAILED"
    assert main.do("route", status="READY_FOR_QA")["next_agent"] == "qa_expert"


def test_a_report_sent_again_answers_the_same(planned: Main) -> None:
    turn = planned.start("A")["handoff"]["turn"]
    first = planned.do("route", message=message("READY_FOR_QA"), request_id="r1")
    again = planned.do("route", message=message("READY_FOR_QA"), group_id="A", turn=turn)
    assert (again["repeated"], again["decision_id"]) == (True, first["decision_id"])


def test_a_server_that_is_gone_has_lost_its_starts_and_the_next_takes_them(
    planned: Main, path: pathlib.Path
) -> None:
    gone = subprocess.Popen(["true"])
    owner = bootstrap.owner(gone.pid)
    gone.wait()
    planned.caller.director = Director("mcp-gone", owner)
    planned.start("A")
    found = Main(path)
    (lost,) = (each for each in found.do("get_status")["spawns"] if each["group_id"] == "A")
    assert lost["start"]["state"] == "lost"
    assert found.refused("route", status="READY_FOR_QA", group_id="A")["code"] == "NOT_PERMITTED"
    assert found.start("A")["start"]["client"] == found.caller.director.client
    assert found.do("route", status="READY_FOR_QA", group_id="A")["next_agent"] == "qa_expert"
    found.caller.close()


def test_a_report_on_a_later_turn_of_the_same_role_needs_a_start_of_its_own(planned: Main) -> None:
    planned.start("A")
    planned.do("route", status="READY_FOR_QA", group_id="A")
    planned.start("A")
    planned.do("route", status="FAIL", group_id="A", summary="a test fails")
    assert planned.refused("route", status="READY_FOR_QA", group_id="A")["code"] == "NOT_PERMITTED"
    planned.start("A")
    assert planned.do("route", status="READY_FOR_QA", group_id="A")["repeated"] is False


def test_a_replaced_agent_s_turn_is_over(planned: Main) -> None:
    turn = planned.start("A")["handoff"]["turn"]
    planned.do("redispatch", group_id="A", reason="it died")
    assert planned.refused("route", status="READY_FOR_QA", group_id="A", turn=turn)["code"] == "STALE_TURN"
    planned.start("A")
    planned.do("route", status="READY_FOR_QA", group_id="A")


def test_an_agent_with_a_server_of_its_own_reports_its_own_start_only(planned: Main, path: pathlib.Path) -> None:
    planned.start("A")
    agents = {name: Main(path, name) for name in ("developer@S1:A", "developer@S1:B", "developer")}
    given = {"status": "READY_FOR_QA", "group_id": "A"}
    assert agents["developer"].refused("route", **given)["code"] == "OUT_OF_TURN"
    assert agents["developer@S1:B"].refused("route", **given)["code"] == "OUT_OF_TURN"
    assert agents["developer@S1:A"].do("route", **given)["next_agent"] == "qa_expert"
    for each in agents.values():
        each.caller.close()


def test_a_manager_with_a_server_of_its_own_reports_its_start(main: Main, path: pathlib.Path) -> None:
    main.start()
    manager = Main(path, "project_manager@S1")
    assert manager.do("route", status="PLANNING_COMPLETE", details={"plan": PLAN})["planned"]["groups"] == ["A", "B"]
    manager.caller.close()


def test_a_report_by_hand_on_a_started_turn_says_that_it_interrupts(planned: Main, path: pathlib.Path) -> None:
    planned.start("A")
    with Orchestrator.open(path) as o, pytest.raises(OrchestratorError) as caught:
        o.route(session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA")
    assert caught.value.code == "OUT_OF_TURN"
    assert "interrupt" in str(caught.value.suggestion)


def test_tasks_change_in_the_name_of_the_started_agent(planned: Main, path: pathlib.Path) -> None:
    with Orchestrator.open(path) as o:
        o.task_create("T", title="all", session_id="S1", group_id="A", assignee="developer@S1:A", by="tech_lead")
    assert planned.refused("update_task_status", id="T", status="in_progress")["code"] == "NOT_PERMITTED"
    planned.start("A")
    found = planned.do("update_task_status", id="T", status="in_progress", group_id="A")
    assert found["task"]["status"] == "in_progress"
    with Orchestrator.open(path) as o:
        assert o.audit_timeline(session_id="S1", order="desc", limit=1)["events"][0]["actor"] == "developer@S1:A"
    assert planned.do("report_completed")["task"]["status"] == "done"


def test_a_process_that_speaks_for_a_role_directs_nobody(
    main: Main, path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCHESTRATOR_AGENT", "developer")
    found = Main(path)
    assert found.refused("handoff", start=True)["code"] == "NOT_PERMITTED"
    monkeypatch.setenv("ORCHESTRATOR_AGENT", "orchestrator")
    found.caller.close()
    found = Main(path)
    assert found.start()["start"]["state"] == "reserved"
    found.caller.close()


# Prompts


def test_each_role_has_a_prompt_that_is_the_hand_off_of_its_turn(planned: Main) -> None:
    found = {each.name: each for each in prompts.listed(planned.caller)}
    assert {"project_manager", "developer", "qa_expert", "tech_lead", "report"} <= set(found)
    text = prompts.text(planned.caller, "developer", {"group_id": "A"})
    assert text.startswith("[orchestrator S1 A turn ")
    assert "start" not in planned.do("get_status")["spawns"][0], "a prompt starts nobody"
    said = prompts.text(planned.caller, "report", {"role": "developer", "status": "ready for qa", "group_id": "A"})
    assert '"status": "READY_FOR_QA"' in said


@every(
    ("name", "given", "code"),
    [
        ("developer", {}, "USAGE"),
        ("developer", {"group_id": "nowhere"}, "UNKNOWN_ID"),
        ("developer", {"turn": "many"}, "USAGE"),
        ("developer", {"turn": "999", "group_id": "A"}, "UNKNOWN_ID"),
        ("developer", {"session_id": "S9"}, "UNKNOWN_SESSION"),
        ("developer", {"status": "PASS"}, "USAGE"),
        ("tech_lead", {}, "UNKNOWN_ID"),
        ("report", {"role": "developer"}, "USAGE"),
        ("nobody", {}, "USAGE"),
    ],
)
def test_what_a_prompt_cannot_say(planned: Main, name: str, given: dict[str, str], code: str) -> None:
    with pytest.raises(OrchestratorError) as caught:
        prompts.text(planned.caller, name, given)
    assert caught.value.code == code


@every(
    ("of", "name", "begun", "given", "found"),
    [
        ("developer", "session_id", "", {}, ["S1"]),
        ("developer", "group_id", "", {}, ["A", "B"]),
        ("developer", "group_id", "b", {}, ["B"]),
        ("report", "status", "ready", {"role": "developer"}, ["READY_FOR_QA", "READY_FOR_REVIEW"]),
        ("report", "role", "dev", {}, ["developer"]),
        ("report", "status", "bazi", {}, ["BAZINGA"]),
        ("", "session_id", "S", {}, ["S1"]),
        ("", "name", "qa", {}, ["qa-expert"]),
        ("developer", "anything", "", {}, []),
    ],
)
def test_ids_and_statuses_are_completed(
    planned: Main, of: str, name: str, begun: str, given: dict[str, str], found: list[str]
) -> None:
    assert prompts.completed(planned.caller, of, name, begun, given) == found


def test_a_turn_is_completed_with_the_open_ones(planned: Main) -> None:
    turns = prompts.completed(planned.caller, "developer", "turn", "", {"group_id": "A"})
    assert turns == [str(planned.do("get_group", id="A")["group"]["turn"])]


def test_without_a_database_only_the_prompt_to_report_is_listed(tmp_path: pathlib.Path) -> None:
    caller = Caller(Settings(None, None, str(tmp_path / "nowhere.db")))
    assert [each.name for each in prompts.listed(caller)] == ["report"]
    assert os.listdir(tmp_path) == []
    caller.close()
