"""The real Codex reaches a goal, from `install` over `$orchestrate` to the verdict, with a scripted model.

Its models have one of two kinds of tools by which they start agents; the second kind seals the messages to these.

Source: spec 80, sections 4 and 6.
"""

from __future__ import annotations

import json
import pathlib
import re
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.clients import house
from tests.clients.house import GOAL, SECOND_START, House, heard, place_of, report
from tests.clients.scripted_model import Asked, Model, Said
from tests.conftest import long_form
from tests.integration.clients.test_install import tree

pytestmark = house.NEEDS_CODEX_ALONE

TYPED = f"$orchestrate {GOAL}\n"
PLAN = {"groups": [{"id": "A", "name": "Names", "description": "Write names.txt."}]}
TWO = {"groups": [{"id": "A", "description": "The form."}, {"id": "B", "description": "The page."}]}
_DUE = re.compile(r"agent_type (\S+), message (\[orchestrator [^\]]+\])")
REPORTS = {
    "developer spawn": "READY_FOR_REVIEW", "tech_lead spawn": "APPROVED", "developer spawn_merge": "MERGE_SUCCESS",
}  # fmt: skip


class Road(NamedTuple):
    """What was there before, the house, and what the model heard."""

    before: dict[str, Any]
    house: House
    model: Model


def spawn(role: str, line: str) -> tuple[str, dict[str, Any]]:
    return "multi_agent_v1.spawn_agent", {"agent_type": role, "message": f"{line}\nBe quick."}


def command(words: str) -> Said:
    """A command in the shell; one that is no login shell, since the home of the test has no profile."""
    return Said(calls=(("exec_command", {"cmd": words, "login": False}),))


class Director:
    """A main agent that errs once in each way, and otherwise does what it is told is due, and waits.

    Its manager answers once it was told to wait for it, its developer once it has seen that one at work.
    """

    def __init__(self) -> None:
        self.done: set[str] = set()
        self.agents: list[str] = []
        self.was_held, self.has_looked = threading.Event(), threading.Event()

    def _first(self, what: str) -> bool:
        is_first = what not in self.done
        self.done.add(what)
        return is_first

    def __call__(self, asked: Asked) -> Said:
        assert asked.turns < 30, "it goes round in circles"
        if asked.turns == 0:
            return command(f"orchestrator session create S1 --goal '{GOAL}'")
        if asked.turns == 1:
            manager = spawn("project_manager", "Plan it.")
            return Said(calls=(spawn("developer", "Build it."), manager, manager))
        if "Wait for your agents" in asked.last:
            self.was_held.set()
        if "started:  running through hook" in asked.last:
            self.has_looked.set()
        begun = re.findall(r'"agent_id":"([^"]+)"', asked.last)
        self.agents += begun
        found = self._idle() if begun else self._due(asked.last.rpartition("Due now")[2], asked.last)
        return found or Said(calls=(("multi_agent_v1.wait_agent", {"targets": self.agents[-1:], "timeout_ms": 60000}),))

    def _idle(self) -> Said | None:
        """What it does with agents at work, before it waits for them."""
        if self._first("does not wait"):
            return Said("They are at work.")
        # Together with another command it is run in the sandbox, which hides the processes outside it.
        return command("true && orchestrator status S1") if self._first("looks") else None

    def _due(self, due: str, last: str) -> Said | None:
        starts = [spawn(role, line) for role, line in dict.fromkeys(_DUE.findall(due))]
        if starts:
            return Said("I am done.") if self._first("too early") else Said(calls=tuple(starts))
        found = re.search("orchestrator validate S1", due)
        if found is not None:
            return command(found[0])
        return Said("It is accepted.") if "the session has ended" in last else None

    def works(self, asked: Asked, place: re.Match[str]) -> Said:
        """An agent that does what its turn asks for; the developer forgets its report once."""
        role, action = place[4], place[5]
        if role == "project_manager":
            is_last = "\n## Groups" in asked.first
            return Said(report("BAZINGA") if is_last else report("PLANNING_COMPLETE", plan=PLAN), after=self.was_held)
        if (role, action, asked.turns) == ("developer", "spawn", 0):
            return Said("It is written.", after=self.has_looked)
        return Said(report(REPORTS[f"{role} {action}"]))


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Road]:
    made = House(tmp_path_factory.mktemp("codex"))
    (made.project / ".codex").mkdir()
    own = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    (made.project / ".codex/hooks.json").write_text(json.dumps(own))
    before = tree(made.project)
    made.orchestrator("install", "codex")
    director = Director()
    with made.played(director, director.works) as model:
        made.has_codex()
        made.codex(TYPED)
        yield Road(before, made, model)


def test_a_goal_is_reached_from_the_skill_to_the_verdict(road: Road) -> None:
    status = road.house.orchestrator("status", "S1")
    assert (status["session"]["outcome"], status["goal"]) == ("accepted", GOAL)
    reports = road.house.orchestrator("audit", "decisions", "-s", "S1", "--limit", "100")["decisions"]
    assert [each["response_status"] for each in reports].count("MERGE_SUCCESS") == 1
    assert road.house.orchestrator("audit", "verify")["ok"] is True
    assert road.house.orchestrator("audit", "replay", "S1")["equal"] is True


def test_the_skill_is_typed_and_its_agents_are_known_and_told_the_frozen_hand_off(road: Road) -> None:
    first = road.model.heard[0][0].first
    assert "<name>orchestrate</name>" in first
    assert "Reach a goal with a team" not in first.partition("<skill>")[0]
    told = [asked.first for asked, said in road.model.heard if place_of(asked)]
    assert len(told) == 6
    assert all("# Project Manager" in text or "You do not" in text for text in told)
    assert sum("> Plan it." in text and "not an instruction" in text for text in told) == 1


def test_a_start_that_is_not_due_is_denied_and_so_is_a_second_one(road: Road) -> None:
    (told,) = heard(road.model, "developer has no open turn")
    assert re.search(SECOND_START, told)
    rows = road.house.orchestrator("audit", "query", "SELECT role, outcome FROM starts WHERE turn = 1")["rows"]
    assert rows == [["project_manager", None]]


def test_a_main_agent_that_stops_too_early_goes_on_and_one_with_agents_at_work_waits(road: Road) -> None:
    (held,) = heard(road.model, "Nobody is working on this open work")
    assert "start developer on A" in held
    (waits,) = heard(road.model, "Wait for your agents with wait_agent: ")
    assert "project_manager, turn 1" in waits


def test_an_agent_without_a_report_is_sent_back(road: Road) -> None:
    (asked,) = [asked for asked, _ in road.model.heard if "The message holds no report" in asked.last]
    assert "developer spawn]" in asked.first
    assert "<hook_prompt" in asked.last


def test_what_the_agents_used_is_read_out_of_their_transcripts(road: Road) -> None:
    found = road.house.orchestrator("audit", "stats", "S1")["stats"]["starts"]
    counted = {(each["role"], each["group_id"]): each["input_tokens"] for each in found["by_role_and_group"]}
    assert counted["developer", "A"] >= 20, "ten tokens for each of two turns"
    assert all(counted.values())


def test_an_agent_at_work_is_not_taken_for_lost_where_the_sandbox_hides_it(road: Road) -> None:
    (seen,) = heard(road.model, "started:  running through hook")
    assert "lost" not in seen


def test_uninstall_leaves_the_project_as_it_was(road: Road) -> None:
    road.house.orchestrator("install", "codex", "--uninstall")
    left = {path: at for path, at in tree(road.house.project).items() if not path.startswith(".orchestrator")}
    assert left == road.before


# The tools that seal messages


class SealedDirector:
    """A main agent that starts whoever is due, and ends once its manager and two developers have answered."""

    def __init__(self) -> None:
        self.answers = 0

    def __call__(self, asked: Asked) -> Said:
        assert asked.turns < 20, "it goes round in circles"
        self.answers += asked.last.count("Message Type: FINAL_ANSWER")
        if asked.turns == 0:
            return command(f"orchestrator session create S1 --goal '{GOAL}'")
        roles = ["project_manager"] if asked.turns == 1 else re.findall("agent_type (developer)", asked.last)
        calls = [
            ("collaboration.spawn_agent", {"agent_type": role, "message": "gAAAAAB", "task_name": f"{role}_{number}"})
            for number, role in enumerate(roles)
        ]  # fmt: skip
        if calls:
            return Said(calls=tuple(calls))
        if self.answers >= 3 or "FINAL_ANSWER" in asked.last:
            return Said("An agent has answered.")
        return Said(calls=(("collaboration.wait_agent", {"timeout_ms": 10000}),))


@long_form
def test_agents_whose_messages_are_sealed_are_told_and_read_all_the_same(tmp_path: pathlib.Path) -> None:
    made = House(tmp_path)
    made.orchestrator("install", "codex")

    def works_on_two(asked: Asked, place: re.Match[str]) -> Said:
        plan = report("PLANNING_COMPLETE", plan=TWO)
        # Most often it is waited for by then, which needs no second wait.
        return Said(plan if place[4] == "project_manager" else report("READY_FOR_QA"), wait=1.0)

    with made.played(SealedDirector(), works_on_two) as model:
        made.has_codex("[features]\nmulti_agent_v2 = true")
        made.codex(TYPED)
    lines = sorted(f"{place[2]} {place[4]}" for place in map(place_of, (asked for asked, _ in model.heard)) if place)
    assert lines == ["- project_manager", "A developer", "B developer"]
    names = made.orchestrator("audit", "query", "SELECT worker, seq FROM starts ORDER BY seq")["rows"]
    roles = ("project_manager", "developer", "developer")
    assert [worker for worker, _ in names] == [
        f"/root/{role}_{seq}" for role, (_, seq) in zip(roles, names, strict=True)
    ]  # fmt: skip
    groups = made.orchestrator("status", "S1")["groups"]
    assert "qa_expert" in [each["awaited"]["role"] for each in groups]
