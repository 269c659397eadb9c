"""Starts of turns: taken once, bound once, ended once, and read off the record of turns where they were answered."""

from __future__ import annotations

import os
import pathlib
import sqlite3
import subprocess
from typing import Any

import pytest

from orchestrator.app import starts
from orchestrator.app.kernel import human, operations
from orchestrator.errors import Refused
from orchestrator.runner import process_identity
from orchestrator.store import queries
from tests.integration.app.desk import Desk

CLIENT = "client-1"


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    found = Desk(tmp_path)
    found.planned("S1", "A", "B")
    return found


def turn(desk: Desk, group: str | None = "A") -> int:
    row = desk.call("group show", id=group, session_id="S1")["group"] if group else desk.call(
        "session show", id="S1")["session"]
    return int(row["turn"])


def reserve(desk: Desk, group: str | None = "A", **more: Any) -> dict[str, Any]:
    given = {"turn": turn(desk, group) if "turn" not in more else 0, "via": "hook", "client": CLIENT, **more}
    found: dict[str, Any] = operations.ask(desk.context, starts.ReserveStart(session_id="S1", group_id=group, **given))[
        "start"
    ]
    return found


def refusal(call: Any, *arguments: Any, **named: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        call(*arguments, **named)
    return caught.value


def spawn(desk: Desk, group: str = "A") -> dict[str, Any]:
    (found,) = (each for each in desk.call("status", session_id="S1")["spawns"] if each["group_id"] == group)
    return dict(found)


def test_a_start_names_the_turn_the_role_and_the_client(desk: Desk) -> None:
    found = reserve(desk, call_id="toolu_1", owner=process_identity.mine(), isolation="none")
    assert {name: found[name] for name in ("session_id", "group_id", "turn", "role", "agent_id", "via", "client")} == {
        "session_id": "S1", "group_id": "A", "turn": turn(desk), "role": "developer", "agent_id": "developer@S1:A",
        "via": "hook", "client": CLIENT,
    }
    assert (found["state"], found["call_id"], found["isolation"]) == ("reserved", "toolu_1", "none")


def test_a_turn_is_never_started_twice(desk: Desk) -> None:
    first = reserve(desk, call_id="toolu_1")
    before = desk.events()
    assert reserve(desk, call_id="toolu_1") == first
    assert desk.events() == before
    for more in ({"call_id": "toolu_2"}, {"call_id": None}, {"call_id": "toolu_1", "client": "other"}):
        problem = refusal(reserve, desk, **more)
        assert (problem.code, problem.data["start"]["client"]) == ("ALREADY_EXISTS", CLIENT)
    starts.bind(desk.context, first, worker="a1")
    assert refusal(reserve, desk, call_id="toolu_2").data["start"]["state"] == "running"


def test_groups_of_one_batch_share_a_turn_and_start_apart(desk: Desk) -> None:
    assert turn(desk, "A") == turn(desk, "B")
    assert reserve(desk, "A")["group_id"] == "A"
    assert reserve(desk, "B")["group_id"] == "B"


def test_a_turn_of_the_session_has_no_group(tmp_path: pathlib.Path) -> None:
    desk = Desk(tmp_path)
    desk.session()
    found = reserve(desk, None)
    assert (found["group_id"], found["role"]) == (None, "project_manager")
    assert desk.call("status", session_id="S1")["spawns"][0]["start"]["client"] == CLIENT


@pytest.mark.parametrize("number", [1, 999])
def test_only_an_open_turn_is_started(desk: Desk, number: int) -> None:
    asked = starts.ReserveStart(session_id="S1", group_id="A", turn=number, via="hook", client=CLIENT)
    problem = refusal(operations.ask, desk.context, asked)
    assert (problem.code, problem.data["turn"]) == ("STALE_TURN", turn(desk))


def test_a_start_needs_a_group_that_exists(desk: Desk) -> None:
    given = {"session_id": "S1", "group_id": "NONE", "turn": 1, "via": "hook", "client": CLIENT}
    assert refusal(operations.ask, desk.context, starts.ReserveStart(**given)).code == "UNKNOWN_GROUP"


def test_what_awaits_a_person_is_not_started(desk: Desk) -> None:
    reviewed = {"status": "blocked", "requires_user_review": True, "review_reason": "look", "errors": []}
    desk.report("developer BLOCKED", "A", metadata=reviewed)
    given = {"session_id": "S1", "group_id": "A", "turn": 4, "via": "hook", "client": CLIENT}
    assert refusal(operations.ask, desk.context, starts.ReserveStart(**given)).data["turn"] is None


def test_a_start_is_bound_to_one_agent(desk: Desk) -> None:
    start = reserve(desk)
    found = starts.bind(desk.context, start, worker="a1", trace="/x/agent-a1.jsonl")["start"]
    assert (found["state"], found["worker"], found["trace"]) == ("running", "a1", "/x/agent-a1.jsonl")
    before = desk.events()
    starts.bind(desk.context, start, worker="a1")
    assert desk.events() == before
    assert refusal(starts.bind, desk.context, start, worker="a2").code == "UNKNOWN_ID"


@pytest.mark.parametrize("outcome", ["failed", "lost", "freed", "limited"])
def test_a_start_that_ended_frees_its_turn(desk: Desk, outcome: str) -> None:
    start = reserve(desk, call_id="toolu_1")
    found = starts.end(desk.context, start, outcome=outcome, reason="it broke", due_at="2025-01-02T00:00:00.000000Z")
    assert (found["start"]["state"], found["start"]["reason"]) == (outcome, "it broke")
    assert refusal(starts.end, desk.context, start, outcome="lost", reason="x").code == "UNKNOWN_ID"
    assert refusal(starts.bind, desk.context, start, worker="a1").code == "UNKNOWN_ID"
    assert "start" not in spawn(desk)
    assert reserve(desk, call_id="toolu_2")["state"] == "reserved"


def test_a_start_that_never_was_cannot_end(desk: Desk) -> None:
    start = {**reserve(desk), "seq": 999}
    assert refusal(starts.end, desk.context, start, outcome="lost", reason="x").code == "UNKNOWN_ID"


def test_status_and_next_say_who_is_at_work(desk: Desk, tmp_path: pathlib.Path) -> None:
    trace = tmp_path / "agent-a1.jsonl"
    trace.write_text("{}")
    os.utime(trace, (1_800_000_000, 1_800_000_000))
    starts.bind(desk.context, reserve(desk, owner=process_identity.mine()), worker="a1", trace=str(trace))
    found = spawn(desk)
    assert {**found["start"], "started_at": ""} == {
        "via": "hook", "client": CLIENT, "worker": "a1", "state": "running", "started_at": "", "isolation": None,
        "last_sign": "2027-01-15T08:00:00.000000Z",
    }
    status = desk.call("status", session_id="S1")
    assert [command for command in status["next"] if " A " in command or "-id A" in command] == []
    resume = {each["group_id"]: each["command"] for each in desk.call("next", session_id="S1")["resume"]}
    assert resume["A"] is None
    assert resume["B"].startswith("orchestrator handoff B")


def test_a_refused_second_start_is_told_again_after_the_process_of_the_first_has_ended(desk: Desk) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        reserve(desk, owner=process_identity.of(process.pid))
        assert "has already been started: reserved since" in refusal(reserve, desk).message
        process.kill()
    assert desk.call("audit replay", session_id="S1")["equal"] is True


def test_a_start_whose_process_is_gone_is_lost_and_names_the_command(desk: Desk) -> None:
    reserve(desk, owner=process_identity.mine().rpartition(":")[0] + ":1")
    found = spawn(desk)
    assert found["start"]["state"] == "lost"
    assert found["redispatch"] == "orchestrator redispatch A --session-id S1 --reason TEXT"
    assert found["redispatch"] in desk.call("status", session_id="S1")["next"]
    resume = {each["group_id"]: each["command"] for each in desk.call("next", session_id="S1")["resume"]}
    assert resume["A"] == found["redispatch"]


def test_a_report_by_hand_on_a_running_start_says_that_it_takes_the_turn_over(desk: Desk) -> None:
    start = reserve(desk)
    problem = desk.refused("route", session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA")
    assert (problem.code, problem.data["turn"]) == ("OUT_OF_TURN", turn(desk))
    assert "--interrupt" in problem.suggestion
    assert spawn(desk)["start"]["state"] == "reserved"
    assert desk.report("developer READY_FOR_QA", "A", interrupt=True)["next_agent"] == "qa_expert"
    assert start["state"] == "reserved"


def test_refusing_a_report_by_hand_counts_for_no_rung(desk: Desk) -> None:
    reserve(desk)
    for _ in range(8):
        desk.refused("route", session_id="S1", group_id="A", current_agent="developer", status="READY_FOR_QA")
    assert spawn(desk)["agent"] == "developer"


def test_a_report_for_the_start_is_taken(desk: Desk) -> None:
    desk.context.start = reserve(desk)["seq"]
    assert desk.report("developer READY_FOR_QA", "A")["next_agent"] == "qa_expert"
    assert "start" not in spawn(desk)


def test_a_report_for_another_start_is_not(desk: Desk) -> None:
    reserve(desk)
    desk.context.start = reserve(desk, "B")["seq"]
    given = {"session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "READY_FOR_QA"}
    assert desk.refused("route", **given).code == "OUT_OF_TURN"


def test_a_redispatch_ends_the_turn_of_a_start(desk: Desk) -> None:
    reserve(desk)
    desk.call("redispatch", session_id="S1", group_id="A", reason="it hangs")
    assert "start" not in spawn(desk)
    assert reserve(desk)["turn"] == turn(desk)


def test_starts_change_nothing_that_a_verdict_rests_on(desk: Desk) -> None:
    desk.report("project_manager BAZINGA")
    desk.call("validate", session_id="S1")
    assert desk.call("status", session_id="S1")["verdict"]["fresh"] is True
    start = reserve(desk)
    starts.bind(desk.context, start, worker="a1")
    starts.end(desk.context, start, outcome="failed", reason="x")
    operations.ask(desk.context, starts.AdoptSession(session_id="S1", client=CLIENT))
    assert desk.call("status", session_id="S1")["verdict"]["fresh"] is True


def test_starts_are_told_again_as_they_were(desk: Desk) -> None:
    start = reserve(desk, call_id="toolu_1")
    refusal(reserve, desk, call_id="toolu_2")
    starts.bind(desk.context, start, worker="a1")
    starts.end(desk.context, start, outcome="failed", reason="x")
    operations.ask(desk.context, starts.AdoptSession(session_id="S1", client=CLIENT))
    answer = desk.call("audit replay", session_id="S1")
    assert (answer["equal"], answer["count"]) == (True, 0), answer
    assert desk.call("audit verify", session_id="S1")["ok"] is True


# Which client directs a session


def adopted(desk: Desk, client: str | None) -> list[str]:
    return [row["session_id"] for row in queries.rows(desk.context.reader, queries.ADOPTED, client=client)]


def test_a_session_that_a_client_creates_is_directed_by_it(desk: Desk) -> None:
    desk.context.client = CLIENT
    desk.session("S2")
    desk.context.client = None
    assert adopted(desk, CLIENT) == ["S2"]


def test_another_client_may_take_a_session_on(desk: Desk) -> None:
    operations.ask(desk.context, starts.AdoptSession(session_id="S1", client="one"))
    operations.ask(desk.context, starts.AdoptSession(session_id="S1", client="two"))
    before = desk.events()
    operations.ask(desk.context, starts.AdoptSession(session_id="S1", client="two"))
    assert desk.events() == before
    assert (adopted(desk, "one"), adopted(desk, "two")) == ([], ["S1"])


def test_a_session_that_has_ended_is_directed_by_nobody(desk: Desk) -> None:
    operations.ask(desk.context, starts.AdoptSession(session_id="S1", client="one"))
    desk.context.credential = human.Credential(human.TERMINAL)
    desk.call("session end", id="S1", reason="moot", by="user")
    desk.context.credential = None
    assert adopted(desk, "one") == []
    assert (
        refusal(operations.ask, desk.context, starts.AdoptSession(session_id="S1", client="two")).code
        == "SESSION_CLOSED"
    )


# The database's own guards


FORGED = [
    ("UPDATE starts SET client = 'other'", "a start keeps its turn and who made it"),
    ("UPDATE starts SET role = 'tech_lead'", "a start keeps its turn and who made it"),
    ("UPDATE starts SET worker = 'a2'", "a start is bound to one agent"),
    ("UPDATE starts SET outcome = 'lost'", "a start ends once, with the step that does it"),
    ("UPDATE adoptions SET client = 'other'", "rows of adoptions stay as they were written"),
    ("UPDATE criteria SET approval = 'approved'", "an approved command needs"),
    ("UPDATE criteria SET group_id = 'B'", "a criterion keeps what it measures"),
    ("UPDATE criteria SET due_at = '[]'", "a criterion keeps what it measures"),
    ("UPDATE task_groups SET description = 'another'", "a group keeps its key and its origin"),
    (
        "INSERT INTO starts (session_id, group_id, turn, seq, role, agent_id, via, client, started_at)"
        " SELECT session_id, group_id, turn, seq + 1, role, agent_id, via, client, started_at FROM starts",
        "the turn is started already",
    ),
]


@pytest.mark.parametrize(("sql", "message"), FORGED)
def test_the_database_itself_refuses_it(desk: Desk, sql: str, message: str) -> None:
    starts.bind(desk.context, reserve(desk), worker="a1")
    operations.ask(desk.context, starts.AdoptSession(session_id="S1", client=CLIENT))
    criterion = {"id": "C", "text": "x", "command": ["true"]}
    desk.report("project_manager CONTINUE", details={"plan": {"criteria": [criterion]}}, summary="more")
    with pytest.raises(sqlite3.IntegrityError, match=message):
        desk.context.connection.execute(sql)


def test_a_start_that_has_ended_never_changes(desk: Desk) -> None:
    starts.end(desk.context, reserve(desk), outcome="failed", reason="x")
    with pytest.raises(sqlite3.IntegrityError, match="a start ends once"):
        desk.context.connection.execute("UPDATE starts SET reason = 'y'")
