"""The real Claude Code reaches a goal, from `install` over `/orchestrate` to the verdict, with a scripted model.

Source: spec 80, section 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.clients import house
from tests.clients.house import GOAL, ORCHESTRATE, SECOND_START, House, directs, heard, start
from tests.clients.scripted_model import Asked, Model, Said
from tests.integration.clients.test_install import tree

pytestmark = house.NEEDS_CLIENT



HELP = "Help, and let others help you."
"""What an agent is asked that plays no role and starts one that does."""


class Road(NamedTuple):
    """What was there before, the house, what the model heard, and the result."""

    before: dict[str, Any]
    house: House
    model: Model
    result: dict[str, Any]


class Errant:
    """A main agent that starts the wrong agents, starts one twice, and stops too early, each once."""

    def __init__(self) -> None:
        self.done: set[str] = set()

    def _first(self, what: str) -> bool:
        is_first = what not in self.done
        self.done.add(what)
        return is_first

    def __call__(self, asked: Asked) -> Said:
        if HELP in asked.first:
            return Said("Helped.") if asked.turns else Said(calls=(start("project_manager", "Plan for me."),))
        if asked.turns == 1 and self._first("wrong"):
            wrong = start("developer", "Build it."), start("general-purpose", HELP)
            twice = start("project_manager", "Plan it."), start("project_manager", "Plan it again.")
            return Said(calls=(*wrong, *twice))
        if "PLANNING_COMPLETE -> developer" in asked.last and self._first("planned"):
            return Said("I am done.")
        if "orchestrator validate S1" in asked.last and self._first("validate"):
            return Said("It is all finished.")
        return directs(asked)


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Road]:
    made = House(tmp_path_factory.mktemp("road"))
    (made.project / ".claude").mkdir()
    (made.project / ".claude/settings.local.json").write_text('{"model": "opus"}\n')
    before = tree(made.project)
    made.orchestrator("install", "claude-code")
    with made.played(Errant()) as model:
        yield Road(before, made, model, made.claude(ORCHESTRATE))


def test_a_goal_is_reached_from_the_skill_to_the_verdict(road: Road) -> None:
    status = road.house.orchestrator("status", "S1")
    assert (status["session"]["outcome"], status["goal"]) == ("accepted", GOAL)
    assert status["progress"]["by_status"] == {"completed": 2}
    assert road.result["subtype"] == "success"
    reports = road.house.orchestrator("audit", "decisions", "-s", "S1", "--limit", "100")["decisions"]
    assert [each["response_status"] for each in reports].count("MERGE_SUCCESS") == 2


def test_the_skill_is_typed_and_hides_itself_from_the_model(road: Road) -> None:
    first = road.model.heard[0][0].first
    assert f"<goal>\n{GOAL}\n</goal>" in first
    assert "Skill" not in road.model.heard[0][0].tools or "orchestrate:" not in first


def test_every_agent_was_told_the_frozen_hand_off(road: Road) -> None:
    told = [asked.first for asked, _ in road.model.heard if house.place_of(asked)]
    assert len(told) == 1 + 2 * 4 + 1
    for text in told:
        assert "## Your role" in text
        assert "orchestrator route --session-id" not in text.partition("## Your role")[0]
    assert sum("> Plan it" in text and "not an instruction" in text for text in told) == 1


def test_the_session_is_directed_by_the_client_that_created_it(road: Road) -> None:
    rows = road.house.orchestrator("audit", "query", "SELECT client FROM adoptions")["rows"]
    assert rows == [[road.result["session_id"]]]


def test_a_start_that_is_not_due_is_denied_and_so_is_a_second_one(road: Road) -> None:
    (told,) = heard(road.model, "developer has no open turn")
    assert "Due now:" in told
    assert re.search(SECOND_START, told)
    rows = road.house.orchestrator("audit", "query", "SELECT role, outcome FROM starts WHERE turn = 1")["rows"]
    assert rows == [["project_manager", None]]


def test_only_the_main_agent_starts_roles(road: Road) -> None:
    assert heard(road.model, "Only the main agent may start roles; a subagent tried to start project_manager")


def test_a_main_agent_that_stops_too_early_goes_on(road: Road) -> None:
    held = heard(road.model, "Nobody is working on this open work")
    assert len(held) == 2
    assert "start developer on A" in held[0]
    assert "orchestrator validate S1" in held[1]


def test_the_models_of_the_agents_are_those_of_their_turns(road: Road) -> None:
    by_role = {house.place_of(asked)[4]: asked.model for asked, _ in road.model.heard if house.place_of(asked)}
    assert "opus" in by_role["project_manager"]
    assert "sonnet" in by_role["developer"]


def test_what_the_agents_used_is_read_out_of_their_transcripts(road: Road) -> None:
    found = road.house.orchestrator("audit", "stats", "S1")["stats"]["starts"]
    counted = {(each["role"], each["group_id"]): each["input_tokens"] for each in found["by_role_and_group"]}
    assert counted["developer", "A"] >= 20, "ten tokens for each of two turns"
    assert all(counted.values())


def test_the_record_of_such_a_session_is_whole(road: Road) -> None:
    assert road.house.orchestrator("audit", "verify")["ok"] is True
    assert road.house.orchestrator("audit", "replay", "S1")["equal"] is True


def test_nothing_was_committed_or_written_by_the_way_and_uninstall_leaves_the_project_as_it_was(road: Road) -> None:
    road.house.orchestrator("install", "claude-code", "--uninstall")
    left = {path: at for path, at in tree(road.house.project).items() if not path.startswith(".orchestrator")}
    assert left == road.before
