"""The real Claude Code where something goes wrong: each fact that the hooks lean on, with a scripted model.

Source: spec 80, section 6.
"""

from __future__ import annotations

import json
import pathlib
import re
import signal

import pytest

from tests.clients import house
from tests.clients.house import ORCHESTRATE, House, directs, heard, report, start, works
from tests.clients.scripted_model import Asked, Said
from tests.conftest import long_form

pytestmark = house.NEEDS_CLIENT


# Answers without a report, failures, refused starts


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A project in which everything is installed."""
    found = House(tmp_path_factory.mktemp("template"))
    found.orchestrator("install", "claude-code")
    return found.project


@pytest.fixture
def made(tmp_path: pathlib.Path, template: pathlib.Path) -> House:
    return House(tmp_path, template)


def until_planned(asked: Asked) -> Said:
    """A main agent that ends once there is a plan."""
    ends = asked.turns and re.search("PLANNING_COMPLETE ->|start developer", asked.last)
    return Said("That is all.") if ends else directs(asked)


def starts_of(made: House) -> list[tuple[str, str | None]]:
    rows = made.orchestrator("audit", "query", "SELECT role, outcome FROM starts ORDER BY seq")["rows"]
    return [(role, outcome) for role, outcome in rows]


@long_form
def test_an_answer_without_a_report_goes_back_three_times_then_another_agent_is_started(made: House) -> None:
    def mumbles(asked: Asked, place: re.Match[str]) -> Said:
        return Said("It is planned.") if place[3] == "1" else Said(report("PLANNING_COMPLETE", plan=house.PLAN))

    with made.played(until_planned, mumbles) as model:
        made.claude(ORCHESTRATE)
    told = heard(model, "Your last message is not a report yet")
    assert len(told) == 3
    assert "PLANNING_COMPLETE" in told[0]
    assert starts_of(made) == [("project_manager", "failed"), ("project_manager", None)]


@long_form
def test_an_agent_that_dies_of_its_service_is_started_again(made: House) -> None:
    noticed: list[Asked] = []

    def dies(_: Asked, __: re.Match[str]) -> Said:
        # The client asks again in another way before it gives up.
        is_alive = bool(noticed)
        plan = Said(report("PLANNING_COMPLETE", plan=house.PLAN))
        return plan if is_alive else Said("no such thing", status=400, error="invalid_request_error")

    def main(asked: Asked) -> Said:
        if "no such thing" in asked.last and not noticed:
            noticed.append(asked)
            return Said("Hm.")
        return until_planned(asked)

    with made.played(main, dies) as model:
        made.claude(ORCHESTRATE)
    assert heard(model, "Nobody is working on this open work")
    assert starts_of(made) == [("project_manager", "failed"), ("project_manager", None)]


@long_form
def test_a_start_that_the_client_refuses_is_free_at_the_next_stop(made: House) -> None:
    left = ["refused"]
    # Slow hooks are waited for.
    replaced(made, f"sleep 1; {house.ORCHESTRATOR} hook")

    def main(asked: Asked) -> Said:
        if left and asked.turns == 1:
            left.pop()
            return Said(calls=(("Agent", {"subagent_type": "project_manager", "prompt": "Plan.", "description": 7}),))
        return Said("Then not.") if asked.turns == 2 else until_planned(asked)

    with made.played(main) as model:
        made.claude(ORCHESTRATE)
    assert "InputValidationError" in model.heard[2][0].last
    assert heard(model, "Nobody is working on this open work")
    assert starts_of(made)[-1] == ("project_manager", None)


# In the background; killed; without the program


def test_agents_in_the_background_report_at_once_and_the_main_agent_is_told(made: House) -> None:
    def main(asked: Asked) -> Said:
        if asked.turns and "qa_expert" in asked.last:
            return Said("That is all.")
        if "Async agent launched" in asked.last:
            return Said("Waiting for both.")
        return directs(asked, background=True)

    def slowly(asked: Asked, place: re.Match[str]) -> Said:
        return works(asked, place)._replace(wait=1.0 if place[4] == "developer" else 0)

    with made.played(main, slowly) as model:
        made.claude(ORCHESTRATE)
    assert heard(model, "<task-notification>")
    assert starts_of(made) == [("project_manager", None), ("developer", None), ("developer", None)]
    roles = [each["agent"] for each in made.orchestrator("status", "S1")["spawns"]]
    assert roles == ["qa_expert", "qa_expert"]


def test_a_client_that_was_killed_goes_on_where_it_is_resumed(made: House) -> None:
    def hangs(asked: Asked, place: re.Match[str]) -> Said:
        return works(asked, place)._replace(wait=20.0)

    with made.played(worker=hangs) as model:
        process = made.begun(ORCHESTRATE)
        house.until(lambda: any(house.place_of(asked) for asked, _ in model.heard), "an agent")
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
    session = json.loads(out.splitlines()[0])["session_id"]
    (spawn,) = made.orchestrator("status", "S1")["spawns"]
    assert spawn["start"]["state"] == "lost"

    with made.played(until_planned) as model:
        assert made.claude("--continue", "Go on.")["session_id"] == session
    assert heard(model, "- lost: project_manager, turn 1: orchestrator redispatch --session-id S1 --reason")
    assert starts_of(made) == [("project_manager", "lost"), ("project_manager", None)]
    counted = "SELECT count(*) FROM router_decisions WHERE cause = 'redispatch'"
    rows = made.orchestrator("audit", "query", counted)["rows"]
    assert rows == [[1]]
    assert [each["agent"] for each in made.orchestrator("status", "S1")["spawns"]] == ["developer", "developer"]


def replaced(made: House, program: str) -> None:
    """Let the hooks call something else."""
    settings = made.project / ".claude/settings.local.json"
    settings.write_text(settings.read_text().replace(f"{house.ORCHESTRATOR} hook", program))


@pytest.mark.parametrize("program", ["/nowhere/orchestrator hook", "sh -c 'kill -9 $$'"], ids=["missing", "crashing"])
def test_without_the_program_no_agent_is_started(made: House, program: str) -> None:
    replaced(made, program)
    calls = [Said(calls=(start("general-purpose", "Help."),)), Said("Denied.")]
    with made.played(lambda _: calls.pop(0)) as model:
        made.claude("Start a helper.")
    (told,) = heard(model, "run orchestrator doctor")
    assert "the hook failed" in told
    assert [asked for asked, _ in model.heard if asked.turns == 0 and "Help." in asked.first] == []


def test_a_client_that_directs_nothing_is_left_alone(made: House) -> None:
    calls = [Said(calls=(start("general-purpose", "Help."),)), Said("Helped."), Said("Good.")]
    made.orchestrator("session", "create", "S1", "--goal", "x")
    events = made.orchestrator("audit", "head")
    with made.played(lambda _: calls.pop(0)) as model:
        made.claude("Start a helper.")
    assert len(model.heard) == 3
    assert made.orchestrator("audit", "head") == events


@long_form
def test_a_main_agent_may_use_the_server_beside_the_hooks(made: House) -> None:
    config = {"mcpServers": {"orchestrator": {"command": str(house.ORCHESTRATOR), "args": ["mcp"]}}}
    (made.project / "mcp.json").write_text(json.dumps(config))
    planned = report("PLANNING_COMPLETE", plan=house.PLAN)
    calls = [
        ("mcp__orchestrator__create_session", {"id": "S1", "goal": house.GOAL}),
        ("mcp__orchestrator__handoff", {"start": True}), start("project_manager", "Plan it."),
        ("mcp__orchestrator__route", {"message": planned}),
    ]  # fmt: skip
    with made.played(lambda _: Said(calls=(calls.pop(0),)) if calls else Said("That is all.")) as model:
        made.claude("--mcp-config", "mcp.json", "--allowedTools", "mcp__orchestrator", "--", "Plan it.")
    rows = made.orchestrator("audit", "query", "SELECT via, outcome FROM starts ORDER BY seq")["rows"]
    assert rows == [["mcp", "freed"], ["hook", None]]
    assert [asked for asked, _ in model.heard if house.place_of(asked)], "the agent has worked"
    (routed,) = heard(model, '"response_status":"PLANNING_COMPLETE"')
    assert '"repeated":true' in routed
    assert made.orchestrator("audit", "refusals", "-s", "S1")["refusals"] == []


@long_form
def test_a_clone_is_ready_where_the_shared_scope_alone_is_committed(tmp_path: pathlib.Path) -> None:
    first = House(tmp_path)
    (first.project / ".gitignore").write_text(".orchestrator/\n")
    first.orchestrator("install", "claude-code", "--scope", "project")
    first.git("add", ".")
    first.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Install")
    (tmp_path / "else where").mkdir()
    first.git("clone", "-q", str(first.project), str(tmp_path / "else where" / "project"))
    made = House(tmp_path / "else where", clone=True)
    made.orchestrator("init")
    with made.played(until_planned) as model:
        made.claude(ORCHESTRATE)
    assert starts_of(made) == [("project_manager", None)]
    assert heard(model, "PLANNING_COMPLETE -> developer")
    assert made.git("status", "--porcelain") == ""


@long_form
def test_both_scopes_together_answer_each_event_once(made: House) -> None:
    made.orchestrator("install", "claude-code", "--scope", "project")

    def mumbles(asked: Asked, place: re.Match[str]) -> Said:
        return Said("It is planned.") if asked.turns == 0 else Said(report("PLANNING_COMPLETE", plan=house.PLAN))

    with made.played(until_planned, mumbles):
        made.claude(ORCHESTRATE)
    refusals = made.orchestrator("audit", "refusals", "-s", "S1")["refusals"]
    assert len(refusals) == 1
    assert starts_of(made) == [("project_manager", None)]

